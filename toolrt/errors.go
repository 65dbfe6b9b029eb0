package toolrt

import (
	"errors"
	"fmt"
)

// Kind says how a call failed (runtime specification, 1.4).
type Kind string

// The kinds of failure.
const (
	KindNotFound         Kind = "not_found"
	KindInvalidArguments Kind = "invalid_arguments"
	KindInvalidCall      Kind = "invalid_call"
	KindDenied           Kind = "denied"
	KindExecutionFailed  Kind = "execution_failed"
	KindTimeout          Kind = "timeout"
	KindCancelled        Kind = "cancelled"
	KindPanic            Kind = "panic"
	KindSkipped          Kind = "skipped"
	KindUnavailable      Kind = "unavailable"
	KindNotImplemented   Kind = "not_implemented"
	KindLoopDetected     Kind = "loop_detected"
	KindInterrupted      Kind = "interrupted"
)

// Error is a failed call. It is a result for the model, not a failure of the runtime.
type Error struct {
	Kind    Kind   `json:"kind"`
	Tool    string `json:"tool,omitempty"`
	Message string `json:"message"` // one sentence
	// Plain says that the model reads Message as it stands instead of the error object of R48.
	Plain bool `json:"plain,omitempty"`

	Problems  []string `json:"problems,omitempty"`
	DidYou    []string `json:"didYouMean,omitempty"`
	Available []string `json:"available,omitempty"`
	LimitMS   int64    `json:"limitMS,omitempty"`
	Partial   string   `json:"partial,omitempty"`
	Feedback  string   `json:"feedback,omitempty"`
	Retryable *bool    `json:"retryable,omitempty"`

	// Cause is the error underneath, for logs and errors.Is; it is not stored.
	Cause error `json:"-"`
}

func (e *Error) Error() string {
	if e.Tool == "" {
		return fmt.Sprintf("%s: %s", e.Kind, e.Message)
	}
	return fmt.Sprintf("%s: %s: %s", e.Tool, e.Kind, e.Message)
}

func (e *Error) Unwrap() error { return e.Cause }

// ErrStopped says that a person stopped the turn on a question (Decision.Stop).
var ErrStopped = errors.New("stopped by the user")

// BatchError says which call stopped a batch under Policy.StopOnFailure (R44).
type BatchError struct {
	Index int
	Tool  string
	Kind  Kind
	Err   error // the call's error; nil when the tool reported a failed operation in its output
}

func (e *BatchError) Error() string {
	return fmt.Sprintf("call %d (%s) failed: %s", e.Index, e.Tool, e.Kind)
}

func (e *BatchError) Unwrap() error { return e.Err }

// ChatFinish is raised by a tool to end the enclosing chat with Message as its result (4.7).
type ChatFinish struct {
	Message string `json:"message"`
}

func (e *ChatFinish) Error() string { return "CHAT FINISH: " + e.Message }

// Abort is raised by a tool to end the whole run (sys.abort).
type Abort struct {
	Message string `json:"message"`
}

func (e *Abort) Error() string { return "ABORT: " + e.Message }

// ErrDeclined says that the person was asked and does not answer ([Host.Prompt]).
var ErrDeclined = errors.New("the user declined to answer")
