//go:build unix

package tui

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// endSignals end the screen with the terminal restored.
var endSignals = []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT}

// jobControl reports whether a shell looks after this process as one of its jobs. The group of a
// session's leader, and one that nobody above belongs to the session, is stopped by nothing: the
// kernel drops the signal, and the screen would wait for ever for the one that continues it.
func jobControl() bool {
	group := unix.Getpgrp()
	session, err := unix.Getsid(0)
	if err != nil || group == session {
		return false
	}
	if group != os.Getpid() {
		return true // started by a script that is itself the job
	}
	above, err := unix.Getsid(os.Getppid())
	return err == nil && above == session
}
