package transcript

import (
	"time"

	"parley/agent/record"
)

// Word is the state of a call in a word or sign: ok run ASK wait -- xx no // = $.
func Word(c record.Call) string { return string(c.Status) }

// Title is a call in one clean line without its state: "sys.find **/*.go", "@tester run the tests".
func Title(c record.Call) string { return c.Tool }

// Elapsed is how long a call has run, or ran: "0.1s", "1m04s"; "" when it has not started.
func Elapsed(c record.Call, now time.Time) string { return "" }
