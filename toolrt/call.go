package toolrt

import (
	"context"
	"time"
)

// Call is one invocation of a tool, as the agent hands it to the runtime.
type Call struct {
	// ID is the call's path, unique within its session.
	ID string
	// OutputID names the file for the call's whole output: letters, digits, '.', '_' and '-' only.
	OutputID string
	// Turn is the number of the turn in which the call runs.
	Turn int
	// Index is the call's place in the model's reply.
	Index int
	// Name is the name by which the model called the tool.
	Name string
	// Label is the short number shown to people, e.g. "2.1".
	Label string
	// Arguments is the text exactly as the model wrote it.
	Arguments string
	// CutOff says that the model's reply ended at its length limit.
	CutOff bool
	// Tool is nil when no tool of that name exists in this scope.
	Tool Tool
	// Visible lists the names the model may use, for the answer to an unknown name.
	Visible []string
	// Category is "", "context", "credential", "input", "output" or "provider".
	Category string
	// Agents is the path of agent names that asks, outermost first.
	Agents []string
	// ScriptHash binds rules to a tool's text; empty for built-ins.
	ScriptHash string
	// Script is the text of a command tool as it will run, for questions; empty for built-ins.
	Script string

	// Refused, if not nil, ends the call before it is checked: the agent has seen that it goes round
	// in circles (4.1).
	Refused *Error

	// Whole says that the result must not be cut: the program's own result, or text that goes
	// through filters before it becomes a message. Calls with a Category are whole as well.
	Whole bool
	// Window is the context window in tokens of the model that reads the result. Zero takes the
	// runtime's.
	Window int

	Env       []string // environment of the call
	Dir       string   // working folder, absolute
	Workspace string   // workspace folder, absolute
	Host      Host     // may be nil
	// Denied reports whether a deny rule keeps the call's tool from the file at an absolute path.
	// Tools that walk a tree leave such files out, others refuse them at open (P-11). Nil denies
	// nothing. Safe for concurrent use.
	Denied func(path string) bool
}

// whole reports whether the call's result is passed on uncut.
func (c *Call) whole() bool { return c.Whole || c.Category != "" }

// secret reports whether the call's result is a secret: never shown, saved or redacted.
func (c *Call) secret() bool { return c.Category == "credential" }

// Status says where an execution is or how it ended. The values are stored; unknown ones are shown
// as they are.
type Status string

// The states of an execution: from Pending through Waiting and Running to one of the others.
const (
	StatusPending     Status = "pending"
	StatusWaiting     Status = "awaiting_approval"
	StatusRunning     Status = "running"
	StatusSuccess     Status = "success"
	StatusFailed      Status = "failed"
	StatusTimeout     Status = "timeout"
	StatusCancelled   Status = "cancelled"
	StatusDenied      Status = "denied"
	StatusSkipped     Status = "skipped"
	StatusInterrupted Status = "interrupted"
)

// Terminal reports whether s is an end state.
func (s Status) Terminal() bool {
	switch s {
	case StatusPending, StatusWaiting, StatusRunning:
		return false
	}
	return true
}

// Outcome is what became of one call. Each call of a batch gets exactly one, at its index.
type Outcome struct {
	Call *Call `json:"-"`
	// Output and Err: exactly one is set. Output.Text equals Message.
	Output *Output `json:"output,omitempty"`
	Err    *Error  `json:"err,omitempty"`
	// Message is the text that answers the model: cleaned, redacted, bounded.
	Message string `json:"message"`
	// Full is the whole text of a whole call (contexts, filters, credentials, the program's own
	// result), and empty for others. It equals Message, redacted, except for a credential's, which
	// is as the tool gave it: that one is never stored and empty on an outcome from the record.
	Full   string `json:"-"`
	Status Status `json:"status"`

	StartedAt  time.Time     `json:"startedAt,omitzero"`
	FinishedAt time.Time     `json:"finishedAt,omitzero"`
	Queue      time.Duration `json:"queue,omitempty"`
	Waited     time.Duration `json:"waited,omitempty"` // for approval
	Ran        time.Duration `json:"ran,omitempty"`    // at least 1 ms once it ran

	Truncated   bool   `json:"truncated,omitempty"`
	OutputBytes int64  `json:"outputBytes,omitempty"`
	OutputLines int64  `json:"outputLines,omitempty"`
	OutputID    string `json:"outputID,omitempty"` // set when the whole text was saved
	// Cut says which parts of Message are the output's own when Truncated is set.
	Cut       *Cut `json:"cut,omitempty"`
	Abandoned bool `json:"abandoned,omitempty"`
	// Hindered says that the call failed and may have done so on how it was confined.
	Hindered bool `json:"hindered,omitempty"`
	// Job is the number of the command that goes on in the background, "" when none does.
	Job string `json:"job,omitempty"`
	// Effective is the argument text used when it differs from the model's.
	Effective string    `json:"effective,omitempty"`
	Decision  *Decision `json:"decision,omitempty"`
	// Raised is set when the tool ended the chat or the run (4.7), so that an outcome taken from
	// the record ends it again.
	Raised *Raised `json:"raised,omitempty"`
	// Recorded says that the outcome was taken from the record and nothing ran.
	Recorded bool `json:"-"`
}

// Failed reports whether the outcome counts as a failure (R44).
func (o *Outcome) Failed() bool {
	return o.Err != nil || o.Output != nil && o.Output.IsError
}

// Raised is a control signal of a tool: exactly one field is set.
type Raised struct {
	Finish *ChatFinish `json:"finish,omitempty"`
	Abort  *Abort      `json:"abort,omitempty"`
}

// err returns the signal as the error that the runtime hands on, nil when there is none.
func (r *Raised) err() error {
	switch {
	case r == nil:
		return nil
	case r.Abort != nil:
		return r.Abort
	case r.Finish != nil:
		return r.Finish
	}
	return nil
}

// Decision is the answer to whether one call may run, and who gave it.
type Decision struct {
	Allow bool `json:"allow"`
	// By is "user", "rule", "mode", "safe", "flag", "hook", "nobody" (there was no person to ask)
	// or "unchecked" (the runtime has no Approver).
	By string `json:"by"`
	// Rule is the text of the rule that decided, or that the person made with the answer.
	Rule string `json:"rule,omitempty"`
	// Scope is "once", "session", "project" or "user".
	Scope string `json:"scope,omitempty"`
	// Reason says why it was asked or decided so.
	Reason string `json:"reason,omitempty"`
	// Note is the person's text for the model on a denial.
	Note string `json:"note,omitempty"`
	// Arguments holds the edited argument text, nil when unchanged.
	Arguments *string `json:"arguments,omitempty"`
	// Basis is the preview's basis that the answer was given on.
	Basis string `json:"basis,omitempty"`
	// Sandbox says in words how the command was confined, "" when it was not.
	Sandbox string `json:"sandbox,omitempty"`
	// Stop ends the turn (Ctrl+C on a question).
	Stop bool          `json:"stop,omitempty"`
	Wait time.Duration `json:"wait,omitempty"`
	At   time.Time     `json:"at,omitzero"`
}

// Approver decides whether a call may run. It may wait for a person, holds nothing meanwhile, and
// returns an error only when it cannot decide (the turn was cancelled, or the decision could not
// be recorded).
//
// The calls of a batch are put to it in call order. It calls [Asked] as soon as its question has
// its place in the queue of questions; only then, or when Approve returns, is the next call put
// to it. Call.Arguments are the model's; a Decision with Arguments replaces them.
type Approver interface {
	Approve(ctx context.Context, call *Call) (Decision, error)
}

// Recorder makes an execution durable. Do commits the begin of the execution, runs it and commits
// its end. If an outcome was recorded earlier for the same call, that outcome is returned and run
// is not called. The error is non-nil when the begin could not be committed, in which case nothing
// ran, or when the end could not.
type Recorder interface {
	Do(ctx context.Context, exec Execution, run func(ctx context.Context) *Outcome) (*Outcome, error)
}

// Execution is what is known of an execution when it begins.
type Execution struct {
	Call      *Call
	Spec      Spec
	Arguments string // the effective ones, redacted
	Decision  Decision
	Queue     time.Duration
}

// Observer sees executions as they go. Its methods must return quickly; they are called in order
// for each call.
type Observer interface {
	// Output receives cleaned, redacted output in pieces, at most ten a second and 64 KiB each: of
	// faster output only the last part of each tenth of a second is shown. A progress bar that
	// rewrites its line comes as one line for each piece. No piece comes after the call's outcome.
	Output(call *Call, chunk string)
}

// Redactor replaces secret values in text. Implementations are safe for concurrent use.
type Redactor interface {
	Redact(text string) string
	// Longest is the length in bytes of the longest value in any of its forms: a stream holds back
	// that much so that a value split over two pieces is still found.
	Longest() int
}
