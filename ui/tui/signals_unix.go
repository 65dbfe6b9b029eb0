//go:build unix

package tui

import (
	"os"
	"syscall"
)

// endSignals end the screen with the terminal restored.
var endSignals = []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT}
