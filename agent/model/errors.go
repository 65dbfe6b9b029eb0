package model

import (
	"errors"
	"fmt"
	"time"
)

// ErrCutStream says that a stream ended without its end event: nothing of it may be acted on.
var ErrCutStream = errors.New("the model's reply was cut off before its end")

// ErrSilent says that nothing came from the model for too long.
var ErrSilent = errors.New("the model has been silent for too long")

// Error is a request that a provider refused or could not answer.
type Error struct {
	Provider string
	Status   int    // HTTP status, zero when there was no answer
	Code     string // the provider's word for it
	Message  string // the provider's text, already cleaned of control characters
	// RetryAfter is how long the provider asked to wait, zero when it did not say.
	RetryAfter time.Duration
	// Retryable says that the same request may succeed later.
	Retryable bool
	// Overflow says that the request is larger than the model's window.
	Overflow bool
	// NoKey says that a key is missing or was refused.
	NoKey bool
	Hint  string // what the person can do, may be empty
	Err   error
}

func (e *Error) Error() string {
	s := e.Provider + ": " + e.Message
	if e.Status != 0 {
		s = fmt.Sprintf("%s: %d: %s", e.Provider, e.Status, e.Message)
	}
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }
