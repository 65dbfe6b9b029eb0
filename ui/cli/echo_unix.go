//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// hideTyping stops a terminal from showing what is typed, until restore is called. Lines are still put
// together by the terminal, and Ctrl+C still interrupts.
func hideTyping(in *os.File) (restore func(), err error) {
	fd := int(in.Fd())
	was, err := unix.IoctlGetTermios(fd, getTerminal)
	if err != nil {
		return nil, err
	}
	hidden := *was
	hidden.Lflag &^= unix.ECHO
	if err := unix.IoctlSetTermios(fd, setTerminal, &hidden); err != nil {
		return nil, err
	}
	return func() { _ = unix.IoctlSetTermios(fd, setTerminal, was) }, nil // the terminal may be gone
}
