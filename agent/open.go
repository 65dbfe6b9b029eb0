package agent

import (
	"errors"
	"fmt"
	"time"

	"parley/agent/record"
)

// ErrNobody says that an approval or an input was needed and nobody is there to give it.
var ErrNobody = errors.New("nobody is there to ask")

// ErrNotAllowed says that a turn has ended because a context, filter or credential was denied for want
// of a person. Unlike ErrNobody it leaves nothing open.
var ErrNotAllowed = errors.New("nobody was there to allow it")

// NobodyError is the question that nobody was there to answer. It is ErrNobody.
type NobodyError struct {
	Question   string   // what was asked
	Credential string   // the credential whose value was asked for, "" for other questions
	Variables  []string // that the credential must set; may be empty
}

// Error returns the question in a sentence.
func (e *NobodyError) Error() string {
	if e.Credential != "" {
		return fmt.Sprintf("%v: the credential %s is missing (%q)", ErrNobody, e.Credential, e.Question)
	}
	return fmt.Sprintf("%v: %q waits for an answer", ErrNobody, e.Question)
}

// Unwrap returns ErrNobody.
func (e *NobodyError) Unwrap() error { return ErrNobody }

// OpenCall is a call that had begun when the last process ended.
type OpenCall struct {
	Key     record.Key
	Call    record.Call
	Started time.Time
	// Printed is the end of what the command had printed, "" when nothing was kept.
	Printed string
	// Alive says that its process group still runs, as Pgid.
	Alive bool
	Pgid  int
	// Effects says what kind of call it is, in words: "may change something", ...
	Effects string
}
