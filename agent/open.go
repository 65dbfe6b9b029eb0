package agent

import (
	"errors"
	"time"

	"parley/agent/record"
)

// ErrNobody says that an approval or an input was needed and nobody is there to give it.
var ErrNobody = errors.New("nobody is there to ask")

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
