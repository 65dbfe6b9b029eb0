package tui

import (
	"os"
	"syscall"
)

// endSignals end the screen with the terminal restored.
var endSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

// jobControl reports whether a shell looks after this process as one of its jobs: there are none.
func jobControl() bool { return false }
