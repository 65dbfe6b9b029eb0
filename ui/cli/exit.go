package cli

import (
	"errors"
	"fmt"
	"strings"

	"parley/agent"
	"parley/agent/program"
	"parley/agent/record"
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

// toldError is an error in words for the person at the command line.
type toldError struct {
	text string
	err  error
}

func (e *toldError) Error() string { return e.text }
func (e *toldError) Unwrap() error { return e.err }

// told puts the error of a turn into words: without secrets, and for a question that nobody was
// there to answer, with what answers it.
func (h *headless) told(err error, row record.Session) error {
	if err == nil {
		return nil
	}
	text := h.a.redactor.Redact(err.Error())
	var waits *agent.NobodyError
	switch isWaiting := errors.As(err, &waits); {
	case isWaiting && waits.Credential != "":
		variables := strings.Join(waits.Variables, " ")
		text = fmt.Sprintf("the credential %s is missing and nobody is there to ask; store it with: parley credentials set %s %s",
			waits.Credential, waits.Credential, firstSet(variables, "VARIABLE"))
	case isWaiting && h.a.notSaved != "":
		text = fmt.Sprintf("%q waits for an answer and nobody is there to ask; run it on a terminal", waits.Question)
	case isWaiting:
		text = fmt.Sprintf("%q waits for an answer and nobody is there to ask; to answer it: parley -r %s", waits.Question, row.ID)
	}
	return &toldError{text, err}
}

// exitCode is the exit code for what a command came to.
func exitCode(err error) int {
	var usage usageError
	var parse *program.ParseErrors
	var code codeError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case errors.Is(err, agent.ErrNobody):
		return exitWaits
	case errors.Is(err, errDenied), errors.Is(err, agent.ErrNotAllowed):
		return exitDenied
	case errors.As(err, &usage), errors.As(err, &parse), errors.Is(err, errProgram):
		return exitUsage
	}
	return exitFailed
}

// errProgram marks errors of a program that cannot be loaded.
var errProgram = errors.New("the program cannot be loaded")
