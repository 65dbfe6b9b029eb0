package tui

import (
	"errors"
	"fmt"
	"runtime/debug"

	tea "charm.land/bubbletea/v2"
)

// ErrPanic says that the screen ended by a fault of its own. The terminal was restored.
var ErrPanic = errors.New("the screen ended by a fault of its own")

// PanicError is the fault: what was raised, and where. It wraps [ErrPanic].
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("%v: %v", ErrPanic, e.Value) }

func (e *PanicError) Unwrap() error { return ErrPanic }

// Faults are caught here and not by Bubble Tea: the program then ends as by a quit key, with the
// terminal restored and its input reader at rest, which its own way out of a panic does not do.

// fault keeps the first panic of the screen. It is deferred around whatever draws or decides.
func (m *screen) fault(ended func()) {
	v := recover()
	if v == nil {
		return
	}
	if m.failure == nil {
		m.failure = &PanicError{Value: v, Stack: debug.Stack()}
	}
	ended()
}

// faulted says that a command panicked.
type faulted struct{ err *PanicError }

func (f faulted) apply(m *screen) tea.Cmd {
	if m.failure == nil {
		m.failure = f.err
	}
	return tea.Quit
}
