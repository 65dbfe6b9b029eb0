package toolrt

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Options configure a Runtime. Zero fields take the defaults named with them.
type Options struct {
	Policy Policy
	// Approver decides about each leaf call; nil allows all ("unchecked").
	Approver Approver
	// Recorder makes executions durable; nil just runs them.
	Recorder Recorder
	// Observer sees output as it comes; may be nil.
	Observer Observer
	// Redactor takes secrets out of everything but what the tool itself gets; may be nil.
	Redactor Redactor
	// OutputDir is the folder for whole outputs, "" when they are not kept. It is made when needed.
	OutputDir string
	// Changes keeps what files were before tools change them; nil keeps nothing.
	Changes Changes
	// ReadTool is the name by which the model calls the tool that reads saved outputs. Empty: the
	// marker of a cut output names the output only.
	ReadTool string
	// Applied says in words what of a Sandbox can be done here; nil: nothing is said.
	Applied func(Sandbox) string
	// OnJob is told when a command goes to the background and when it has ended; may be nil. It must
	// return quickly.
	OnJob func(Job)
	// Now is the clock of stored times; time.Now.
	Now func() time.Time
	// Log gets what neither the model nor the person is told, such as stacks; nil drops it.
	Log *slog.Logger
	// Window is the context window in tokens of the model that reads the results; 128,000.
	Window int
}

const defaultWindow = 128_000

// Runtime runs tool calls. It belongs to one workspace: all its batches, those of sub-agents
// included, share one gate (R17, R18). Safe for concurrent use.
type Runtime struct {
	opts     Options
	policy   Policy
	log      *slog.Logger
	redactor Redactor
	gate     *gate
	schemas  *schemas
	seen     Seen
	late     sync.WaitGroup // abandoned tools that still run
	jobs     jobs           // commands in the background

	mu        sync.Mutex     // guards the fields below
	abandoned map[string]int // live abandoned calls by tool
	alive     int            // their sum
	running   map[string]handle
}

// New returns a runtime. The caller closes it when its last batch has ended.
func New(o Options) *Runtime {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Window <= 0 {
		o.Window = defaultWindow
	}
	if o.Redactor != nil {
		o.Redactor = checkedRedactor{o.Redactor, o.Log}
	}
	policy := o.Policy.WithDefaults()
	return &Runtime{
		opts:      o,
		policy:    policy,
		log:       o.Log,
		redactor:  o.Redactor,
		gate:      newGate(policy.MaxConcurrency),
		schemas:   newSchemas(o.Log),
		abandoned: map[string]int{},
		running:   map[string]handle{},
	}
}

// Close ends the commands in the background, those to be kept aside. It waits, at most the grace
// period, for tools that did not end when they were cancelled, and reports how many are still
// running then.
func (r *Runtime) Close() error {
	r.closeJobs()
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.late.Wait()
		r.schemas.busy.Wait()
	}()
	timer := time.NewTimer(r.policy.CancelGrace)
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-timer.C:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Errorf("%s still running that did not react to being cancelled", plural(r.alive, "tool call"))
}

// Execute runs one call: it is checked, asked for, waits at the gate, is recorded, runs and is
// shaped. A call that fails, is denied, times out or is cancelled gives an Outcome and a nil error.
//
// The outcome is never nil. The error is non-nil when the caller must act on it: [ChatFinish] or
// [Abort] raised by the tool, [ErrStopped] when a person stopped the turn on the question, an
// error of the Approver, or of the Recorder, which then has not recorded the outcome.
func (r *Runtime) Execute(ctx context.Context, call *Call) (*Outcome, error) {
	return r.Prepare(ctx, call).Run(ctx)
}

// windowBytes is how much of a model's window one tool message may take (design, Compatibility).
func (r *Runtime) windowBytes(call *Call) int {
	window := r.opts.Window
	if call.Window > 0 {
		window = call.Window
	}
	return window / 5 * 38 / 10
}

// limits are those of the message of a call. The defaults grow with the model's window, lines in
// proportion; values set otherwise stay as they are.
func (r *Runtime) limits(call *Call, spec Spec) Limits {
	l := Limits{Lines: r.policy.MaxOutputLines, Bytes: r.policy.MaxOutputBytes, Head: r.policy.HeadShare}
	if spec.HeadShare > 0 {
		l.Head = spec.HeadShare
	}
	if grown := r.windowBytes(call); l.Bytes == defaultOutputBytes && grown > l.Bytes {
		if l.Lines == defaultOutputLines {
			l.Lines = l.Lines * grown / l.Bytes
		}
		l.Bytes = grown
	}
	return l.normal()
}

// batchBytes bounds the messages of one batch together (R66); it grows like limits.
func (r *Runtime) batchBytes(call *Call) int {
	limit := r.policy.MaxBatchBytes
	if grown := r.windowBytes(call); limit == defaultBatchBytes && grown > defaultOutputBytes {
		return limit / defaultOutputBytes * grown
	}
	return limit
}

// timeout is how long a leaf may run, negative without limit (R24).
func (r *Runtime) timeout(spec Spec) time.Duration {
	switch {
	case spec.Timeout != 0:
		return spec.Timeout
	case spec.Flags.LongRunning:
		return r.policy.LongTimeout
	case spec.Source == "command":
		return r.policy.CommandTimeout
	}
	return r.policy.Timeout
}
