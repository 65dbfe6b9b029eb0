package tui

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// echoes reports how a terminal is set.
func echoes(t *testing.T, tty *os.File) (echo, raw bool) {
	t.Helper()
	st, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return st.Lflag&unix.ECHO != 0, st.Lflag&unix.ICANON == 0
}
