package toolrt

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// The tests of the seed's tool_runtime.rs, one by one.

func seedEcho(args string) *Call {
	c := call("echo", exclusive, func(_ context.Context, inv *Invocation) (Output, error) {
		var in struct {
			Message string `json:"message"`
		}
		err := json.Unmarshal([]byte(inv.Args), &in)
		return Output{Text: in.Message}, err
	})
	c.Arguments = args
	tool := c.Tool.(*FuncTool)
	tool.SpecValue.Validate = true
	tool.SpecValue.Parameters = json.RawMessage(`{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`)
	return c
}

func TestSeedRunsToolsInParallel(t *testing.T) {
	r := newRuntime(t, Options{Policy: Policy{MaxConcurrency: 2}})
	a, b := seedEcho(`{"message":"hello"}`), seedEcho(`{"message":"world"}`)
	a.ID, b.ID = "call_1", "call_2"
	got := runBatch(t, r, a, b)
	if got[0].Message != "hello" || got[1].Message != "world" || got[0].Failed() || got[1].Failed() {
		t.Errorf("messages %q", messages(got))
	}
}

func TestSeedHandlesUnknownTool(t *testing.T) {
	o := run(t, newRuntime(t, Options{}), &Call{ID: "call_1", Name: "unknown", Arguments: "{}"})
	if o.Err == nil || o.Err.Kind != KindNotFound || o.Status != StatusFailed {
		t.Errorf("outcome %+v", o)
	}
}

func TestSeedValidatesSchema(t *testing.T) {
	o := run(t, newRuntime(t, Options{}), seedEcho(`{"message":123}`))
	if o.Err == nil || o.Err.Kind != KindInvalidArguments {
		t.Fatalf("outcome %+v", o)
	}
	problems := errorOf(t, o.Message)["problems"].([]any)
	if want := `/message: expected string, got number 123; write "123" with quotes`; len(problems) != 1 || problems[0] != want {
		t.Errorf("problems %q, want %q", problems, want)
	}
}

func TestSeedRecordsExecution(t *testing.T) {
	var recorded []Execution
	var outcome *Outcome
	r := newRuntime(t, Options{Recorder: recorderFunc(func(ctx context.Context, e Execution, run func(context.Context) *Outcome) (*Outcome, error) {
		recorded = append(recorded, e)
		outcome = run(ctx)
		return outcome, nil
	})})
	run(t, r, seedEcho(`{"message":"test"}`))
	if len(recorded) != 1 || recorded[0].Spec.Name != "echo" || recorded[0].Arguments != `{"message":"test"}` {
		t.Fatalf("recorded %+v", recorded)
	}
	if outcome.Message != "test" || outcome.Status != StatusSuccess || outcome.Ran < time.Millisecond {
		t.Errorf("recorded outcome %+v", outcome)
	}
}

func TestSeedHandlesToolFailure(t *testing.T) {
	o := run(t, newRuntime(t, Options{}), call("fail", exclusive, fails(errors.New("intentional failure"))))
	if o.Err == nil || o.Err.Kind != KindExecutionFailed || errorOf(t, o.Message)["error"] != "intentional failure" {
		t.Errorf("outcome %+v", o)
	}
}

func TestR1SeedEmptyBatchReturnsEmpty(t *testing.T) {
	got, err := newRuntime(t, Options{}).ExecuteBatch(t.Context(), nil)
	if got == nil || len(got) != 0 || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestSeedPartitionsConcurrentAndExclusive(t *testing.T) {
	var ran [2]atomic.Bool
	sets := func(i int) toolFunc {
		return func(context.Context, *Invocation) (Output, error) { ran[i].Store(true); return Output{}, nil }
	}
	r := newRuntime(t, Options{Policy: DefaultPolicy()})
	got := runBatch(t, r, call("concurrent", parallel, sets(0)), call("exclusive", exclusive, sets(1)))
	if statuses(got) != "success success" || !ran[0].Load() || !ran[1].Load() {
		t.Errorf("statuses %q, ran %v %v", statuses(got), ran[0].Load(), ran[1].Load())
	}
}

func TestSeedPreservesResultOrder(t *testing.T) {
	got := runBatch(t, newRuntime(t, Options{Policy: DefaultPolicy()}), call("a", parallel, says("A")), call("b", exclusive, says("B")))
	if got[0].Message != "A" || got[1].Message != "B" {
		t.Errorf("messages %q", messages(got))
	}
}

func TestSeedPropagatesToolFailureWhenContinueDisabled(t *testing.T) {
	cause := errors.New("intentional failure")
	_, err := newRuntime(t, Options{Policy: Policy{StopOnFailure: true}}).ExecuteBatch(t.Context(), []*Call{call("fail", exclusive, fails(cause))})
	var failed *BatchError
	if !errors.As(err, &failed) || failed.Kind != KindExecutionFailed || !errors.Is(err, cause) {
		t.Errorf("error %v", err)
	}
}

func TestSeedPropagatesInvalidArgumentsWhenContinueDisabled(t *testing.T) {
	_, err := newRuntime(t, Options{Policy: Policy{StopOnFailure: true}}).ExecuteBatch(t.Context(), []*Call{seedEcho(`{"message":123}`)})
	var failed *BatchError
	if !errors.As(err, &failed) || failed.Kind != KindInvalidArguments {
		t.Errorf("error %v", err)
	}
}

func TestSeedZeroConcurrencyDoesNotHang(t *testing.T) {
	o := run(t, New(Options{Policy: Policy{MaxConcurrency: 0}}), seedEcho(`{"message":"hello"}`))
	if o.Message != "hello" {
		t.Errorf("message %q", o.Message)
	}
}
