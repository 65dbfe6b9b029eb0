package cli

import (
	"errors"

	"parley/agent"
	"parley/agent/program"
)

// The exit codes, as documented in the README.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitDenied      = 3 // done, but a call was denied for want of a person
	exitWaits       = 4 // waits for a person
	exitInterrupted = 130
)

// errInterrupted says that the person interrupted a run without a screen.
var errInterrupted = errors.New("interrupted")

// errDenied says that the run is done but a call was denied because nobody could be asked.
var errDenied = errors.New("a call was denied because nobody could be asked")

// exitCode is the exit code for what a command came to.
func exitCode(err error) int {
	var usage usageError
	var parse *program.ParseErrors
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case errors.Is(err, agent.ErrNobody):
		return exitWaits
	case errors.Is(err, errDenied):
		return exitDenied
	case errors.As(err, &usage), errors.As(err, &parse), errors.Is(err, errProgram):
		return exitUsage
	}
	return exitFailed
}

// errProgram marks errors of a program that cannot be loaded.
var errProgram = errors.New("the program cannot be loaded")
