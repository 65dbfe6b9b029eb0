package toolrt

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// parallel and exclusive are the two ways for a tool to take part in the order.
var (
	parallel  = Flags{Parallel: true}
	exclusive = Flags{}
)

type toolFunc = func(ctx context.Context, inv *Invocation) (Output, error)

// call returns a call of a tool that does f.
func call(name string, flags Flags, f toolFunc) *Call {
	return &Call{ID: name, OutputID: name, Name: name, Arguments: "{}", Tool: &FuncTool{Spec{Name: name, Flags: flags, Source: "command"}, f}}
}

// says is a tool that returns text.
func says(text string) toolFunc {
	return func(context.Context, *Invocation) (Output, error) { return Output{Text: text}, nil }
}

// fails is a tool that returns that error.
func fails(err error) toolFunc {
	return func(context.Context, *Invocation) (Output, error) { return Output{}, err }
}

// waits is a tool that tells of its start and runs until release is closed or its context ends.
func waits(started chan<- string, release <-chan struct{}, text string) toolFunc {
	return func(ctx context.Context, inv *Invocation) (Output, error) {
		started <- inv.Call.Name
		select {
		case <-release:
			return Output{Text: text}, nil
		case <-ctx.Done():
			return Output{}, ctx.Err()
		}
	}
}

// newRuntime returns a runtime that the test closes.
func newRuntime(t *testing.T, o Options) *Runtime {
	t.Helper()
	r := New(o)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return r
}

// batch runs calls and fails the test on an error.
func runBatch(t *testing.T, r *Runtime, calls ...*Call) []*Outcome {
	t.Helper()
	outcomes, err := r.ExecuteBatch(t.Context(), calls)
	if err != nil {
		t.Fatalf("ExecuteBatch: %v", err)
	}
	checkOutcomes(t, calls, outcomes)
	return outcomes
}

// checkOutcomes holds what is true of every batch: one whole outcome per call, at its index (R2).
func checkOutcomes(t *testing.T, calls []*Call, outcomes []*Outcome) {
	t.Helper()
	if len(outcomes) != len(calls) {
		t.Fatalf("%d outcomes for %d calls", len(outcomes), len(calls))
	}
	for i, o := range outcomes {
		switch {
		case o == nil:
			t.Fatalf("no outcome for call %d", i)
		case o.Call != calls[i]:
			t.Errorf("outcome %d belongs to call %q", i, o.Call.ID)
		case (o.Output == nil) == (o.Err == nil):
			t.Errorf("outcome %d: output %v and error %v", i, o.Output, o.Err)
		case !o.Status.Terminal():
			t.Errorf("outcome %d: status %q", i, o.Status)
		}
	}
}

func run(t *testing.T, r *Runtime, c *Call) *Outcome {
	t.Helper()
	return runBatch(t, r, c)[0]
}

// statuses are the statuses of outcomes, for comparing.
func statuses(outcomes []*Outcome) string {
	s := ""
	for i, o := range outcomes {
		if i > 0 {
			s += " "
		}
		s += string(o.Status)
		if o.Err != nil && Status(o.Err.Kind) != o.Status {
			s += "/" + string(o.Err.Kind)
		}
	}
	return s
}

func messages(outcomes []*Outcome) []string {
	var all []string
	for _, o := range outcomes {
		all = append(all, o.Message)
	}
	return all
}

// errorOf is the error object in a message.
func errorOf(t *testing.T, message string) map[string]any {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal([]byte(message), &object); err != nil {
		t.Fatalf("message is no JSON object: %v\n%s", err, message)
	}
	return object
}

// meter counts how many calls overlap.
type meter struct {
	mu          sync.Mutex
	now, most   int
	overlapping []string
}

func (m *meter) enter(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now++
	m.most = max(m.most, m.now)
	if m.now > 1 {
		m.overlapping = append(m.overlapping, name)
	}
}

func (m *meter) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now--
}

// approverFunc is an Approver made of a function.
type approverFunc func(ctx context.Context, call *Call) (Decision, error)

func (f approverFunc) Approve(ctx context.Context, call *Call) (Decision, error) { return f(ctx, call) }

// recorderFunc is a Recorder made of a function.
type recorderFunc func(ctx context.Context, exec Execution, run func(context.Context) *Outcome) (*Outcome, error)

func (f recorderFunc) Do(ctx context.Context, exec Execution, run func(context.Context) *Outcome) (*Outcome, error) {
	return f(ctx, exec, run)
}

// observed keeps the pieces that each call showed.
type observed struct {
	mu     sync.Mutex
	pieces map[string][]string
}

func (o *observed) Output(call *Call, chunk string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.pieces == nil {
		o.pieces = map[string][]string{}
	}
	o.pieces[call.Name] = append(o.pieces[call.Name], chunk)
}

func names(n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("t%02d", i))
	}
	return all
}
