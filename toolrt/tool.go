package toolrt

import (
	"context"
	"encoding/json"
	"io"
	"time"
)

// Tool is a named capability that the runtime can run. Its methods may be called from several
// goroutines at once and are guarded against panics by the runtime.
type Tool interface {
	// Spec describes the tool. It must return the same value each time.
	Spec() Spec
	// Run does the work of one call. A failed operation that the tool has words for is an Output
	// with IsError set; an error says that the tool could not do its work, and the Output beside it
	// is what there was until then (R34). Run must return soon after ctx ends and must have ended
	// every process and goroutine it started by then. If ctx ended its work early it returns ctx's
	// error, or an Output with IsError: either becomes "timeout" or "cancelled" with the text as
	// partial output. A good Output that came too late is kept as the result (R27).
	//
	// The error of a delegating tool that is no [Error] ends the batch and is handed on to its
	// caller. [ChatFinish] and [Abort] are handed on for every tool.
	Run(ctx context.Context, inv *Invocation) (Output, error)
}

// Preparer is a delegating Tool whose questions can be asked as soon as its batch begins, before
// its turn in the order. Prepare is called once, in call order: the next call's begins when this
// one returned or its question was placed (see [Asked]). It holds no lock and no permit; it may
// wait for a person. Its error ends the call: an [Error] (see [DenialError]) is the call's result,
// any other is handed on like one of Run.
type Preparer interface {
	Prepare(ctx context.Context) error
}

// Previewer is a Tool that can show what a call would do before it is allowed.
type Previewer interface {
	// Preview returns what an approval question shows. It must not change anything.
	Preview(ctx context.Context, call *Call) (Preview, error)
}

// Preview is what an approval question shows beside the arguments.
type Preview struct {
	Summary string   // one line, e.g. "Running `ls`"
	Command string   // the shell text that will run, if any
	Diff    string   // a unified diff of the file change, if any
	Paths   []string // files the call would touch
	URL     string   // where a request would go, if anywhere
	// Basis identifies the state the preview was built on (for example a hash of the file's
	// bytes). When it differs at the time the call starts, the question is asked again.
	Basis string
}

// Flags say how a tool may be ordered and repeated. They guide order and resume, never approval.
type Flags struct {
	ReadOnly    bool // changes nothing outside the process; implies Parallel
	Parallel    bool // may overlap other parallel calls; otherwise the call is exclusive
	Idempotent  bool // running twice equals running once
	Destructive bool // may delete what cannot be restored; never together with ReadOnly
	External    bool // talks to the network
	LongRunning bool // takes the long timeout
	// Delegating marks a tool that runs calls of its own (an agent, or a command with contexts,
	// credentials or filters). It holds neither permit nor lock, has no timeout, is not recorded
	// as an execution and its result is passed whole.
	Delegating bool
}

// Spec describes a tool to the runtime, the model and the person.
type Spec struct {
	Name        string // canonical name for rules and records, e.g. "sys.exec"
	Description string
	// Parameters is the JSON Schema of the arguments; its root describes an object. Empty means
	// any object.
	Parameters json.RawMessage
	// Validate says that arguments are checked against Parameters before the call runs. It is set
	// only for schemas with real types.
	Validate bool
	Flags    Flags
	// Timeout bounds one execution, not counting waits. Zero takes the policy's; negative is none.
	Timeout time.Duration
	// Source says where the tool comes from: "builtin", "command", "http", "openapi:<server>",
	// "mcp:<server>".
	Source string
	// Form says what the output is, and so what is taken out of it before the model reads it (R57).
	Form TextForm
	// HeadShare is the share of the line budget kept from the start of a cut output (R60). Zero
	// takes the policy's.
	HeadShare float64
	// Detaches says that calls can go on in the background: Run watches [Invocation.Background] and
	// gives what goes on as [Output.Detached].
	Detaches bool
	// Confines says that the tool runs commands, which it confines as [Invocation.Sandbox] says.
	Confines bool
	// SecretArgs names top-level arguments that are never shown or stored in clear (R70).
	SecretArgs []string
}

// Invocation is what a running tool sees of its call.
type Invocation struct {
	Call *Call
	// Args is the argument text the tool must use: the model's, or the person's after an edit.
	Args string
	// Out takes output as it comes, for progress and for the call's output file. Safe for
	// concurrent use; writes never fail, wait when they come faster than they can be saved, and
	// are dropped once the call has ended. With Output.FromOut what was written here is the
	// result. Tools that return their whole text at once need not write to it.
	Out io.Writer
	// Sandbox is how commands are to be confined; it confines nothing where a person allowed this
	// very call.
	Sandbox Sandbox
	// Pause stops the call's clock, while a person is asked, until the returned function runs.
	Pause func() (resume func())
	// Process tells the runtime of a started process group, so that a crash can find it.
	Process func(pgid int, started time.Time)
	// Background is closed when the call is to go on in the background: Run then returns soon, with
	// what was printed so far and Output.Detached. Nil when the call cannot.
	Background <-chan struct{}
	// Jobs are the commands in the background of this session; nil when there is no runtime.
	Jobs Jobs
	// Seen remembers what files held when the runtime's tools last read or wrote them; nil
	// remembers nothing.
	Seen *Seen

	// Changes keeps what files were before a tool changes them, so that the turn can be taken back;
	// nil keeps nothing.
	Changes Changes

	// outputs is the folder of whole outputs, "" when they are not kept.
	outputs string
	// captures configures NewCapture; the zero value serves tests that build an Invocation.
	captures CaptureOptions
}

// NewCapture returns a buffer for a part of the output that is to be the result, such as stdout
// without stderr: write to it and to Out, and return it as Output.Capture.
func (inv *Invocation) NewCapture() *Capture { return NewCapture(inv.captures) }

// OpenOutput opens the whole output of an earlier call of the same session (R64). The error is
// fs.ErrNotExist when there is none of that id. The caller closes it.
func (inv *Invocation) OpenOutput(id string) (*SavedOutput, error) {
	return OpenOutput(inv.outputs, id)
}

// Jobs is what a tool may ask of the commands in the background; a [Runtime] has them.
type Jobs interface {
	// Jobs lists them, oldest first, with the last ones that have ended.
	Jobs() []Job
	// JobOutput returns the last part of what one has printed.
	JobOutput(id string) (string, error)
	// WaitJob waits until one has ended or ctx ends, and says how it stands.
	WaitJob(ctx context.Context, id string) (Job, error)
	// EndJob ends one and returns when it is gone.
	EndJob(ctx context.Context, id string) error
}

// Limiter is a Tool whose calls may name a time limit of their own.
type Limiter interface {
	// Limit returns the limit that the arguments name, zero for none.
	Limit(arguments string) time.Duration
}

// Changes keeps what files were before a call changes them.
type Changes interface {
	// Begin notes what stands at the paths, absolute and with their folders resolved, before the
	// call changes them. The returned function must be called once the change was made or has
	// failed. An error says that it cannot be kept: the call must not make the change.
	Begin(call *Call, paths ...string) (done func(), err error)
}

// Host is what a tool may ask of the program around it.
type Host interface {
	// Prompt asks the person and returns the answers by field name.
	Prompt(ctx context.Context, q Question) (map[string]string, error)
	// History returns the conversations of all callers, outermost first, as JSON.
	History(ctx context.Context) (json.RawMessage, error)
	// Current returns the conversation of the calling tool as JSON, {} if there is none.
	Current(ctx context.Context) (json.RawMessage, error)
	// Context returns the program and the call context as JSON.
	Context(ctx context.Context) (json.RawMessage, error)
}

// Question is one request for a person's input (sys.prompt).
type Question struct {
	Message   string            `json:"message,omitempty"`
	Fields    []Field           `json:"fields,omitempty"`
	Sensitive bool              `json:"sensitive,omitempty"`
	Metadata  map[string]string `json:"metadata,omitempty"`
}

// Field is one value asked for by a Question.
type Field struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Sensitive   *bool    `json:"sensitive,omitempty"` // nil: as the question says
	Options     []string `json:"options,omitempty"`
}

// Output is what a tool gives back.
type Output struct {
	// Text is the result. It is stored once, as the outcome's message.
	Text string `json:"-"`
	// FromOut says that the result is Text followed by everything written to Invocation.Out.
	FromOut bool `json:"-"`
	// Capture, if not nil, says that the result is Text followed by what the capture holds.
	Capture *Capture `json:"-"`
	// IsError says that the tool worked but reports a failed operation: the model reads Text as it
	// stands, statistics count a failure (R35).
	IsError bool
	// ExitCode is the exit code of the command that ran, nil when there was none.
	ExitCode *int
	// FilesTouched names files the call changed.
	FilesTouched []string
	// Total counts the bytes of the output when Text holds only its head and tail, else zero.
	Total int64
	// Lines counts the lines of the whole output when Total is set.
	Lines int64
	// Detached is what goes on in the background after the call. It is taken only from calls whose
	// Invocation has Background.
	Detached Detached `json:"-"`
	// StopTurn ends the turn after the calls already running (R36).
	StopTurn bool
	// Secret marks text that must not be stored, shown or sent to events (a credential tool's).
	Secret bool
	// Meta is for the screen only, never for the model.
	Meta json.RawMessage
}
