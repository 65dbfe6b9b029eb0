package tui

import (
	"os"
	"syscall"
)

// endSignals end the screen with the terminal restored.
var endSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}
