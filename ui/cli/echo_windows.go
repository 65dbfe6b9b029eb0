package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// hideTyping stops a console from showing what is typed, until restore is called.
func hideTyping(in *os.File) (restore func(), err error) {
	handle := windows.Handle(in.Fd())
	var was uint32
	if err := windows.GetConsoleMode(handle, &was); err != nil {
		return nil, err
	}
	if err := windows.SetConsoleMode(handle, was&^windows.ENABLE_ECHO_INPUT); err != nil {
		return nil, err
	}
	return func() { _ = windows.SetConsoleMode(handle, was) }, nil // the console may be gone
}
