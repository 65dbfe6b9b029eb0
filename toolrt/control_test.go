package toolrt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

func TestR44StopOnFailure(t *testing.T) {
	r := newRuntime(t, Options{Policy: Policy{StopOnFailure: true}})
	calls := []*Call{call("a", exclusive, says("")), call("b", exclusive, fails(errors.New("no"))), call("c", exclusive, says(""))}
	got, err := r.ExecuteBatch(t.Context(), calls)
	checkOutcomes(t, calls, got)
	var failed *BatchError
	if !errors.As(err, &failed) || failed.Index != 1 || failed.Tool != "b" || failed.Kind != KindExecutionFailed {
		t.Errorf("error %v", err)
	}
	if want := "success failed/execution_failed skipped"; statuses(got) != want {
		t.Errorf("statuses %q, want %q", statuses(got), want)
	}
	if object := errorOf(t, got[2].Message); object["error"] != "the call did not run: call b failed before" {
		t.Errorf("message %s", got[2].Message)
	}
}

func TestR44LowestIndexIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := make(chan struct{})
		r := newRuntime(t, Options{Policy: Policy{MaxConcurrency: 4, StopOnFailure: true}})
		_, err := r.ExecuteBatch(t.Context(), []*Call{
			call("a", parallel, func(context.Context, *Invocation) (Output, error) { <-first; return Output{IsError: true}, nil }),
			call("b", parallel, func(context.Context, *Invocation) (Output, error) { close(first); return Output{}, errors.New("no") }),
		})
		var failed *BatchError
		if !errors.As(err, &failed) || failed.Index != 0 {
			t.Errorf("error %v", err)
		}
	})
}

func TestR14R44UnknownToolStopsOnlyWhatFollows(t *testing.T) {
	r := newRuntime(t, Options{Policy: Policy{MaxConcurrency: 1, StopOnFailure: true}})
	calls := []*Call{call("a", parallel, says("")), call("b", parallel, says("")), {ID: "c", Name: "c"}, call("d", exclusive, says(""))}
	got, err := r.ExecuteBatch(t.Context(), calls)
	checkOutcomes(t, calls, got)
	var failed *BatchError
	if want := "success success failed/not_found skipped"; statuses(got) != want || !errors.As(err, &failed) || failed.Index != 2 {
		t.Errorf("statuses %q, want %q; error %v", statuses(got), want, err)
	}
}

func TestR44CancelOnStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := make(chan string, 1)
		r := newRuntime(t, Options{Policy: Policy{MaxConcurrency: 4, StopOnFailure: true, CancelOnStop: true}})
		got, err := r.ExecuteBatch(t.Context(), []*Call{
			call("a", parallel, waits(started, nil, "")),
			call("b", parallel, func(context.Context, *Invocation) (Output, error) { <-started; return Output{}, errors.New("no") }),
			call("c", exclusive, says("")),
		})
		if want := "cancelled failed/execution_failed skipped"; statuses(got) != want {
			t.Errorf("statuses %q, want %q", statuses(got), want)
		}
		var failed *BatchError
		if !errors.As(err, &failed) || failed.Index != 1 {
			t.Errorf("error %v: the cancelled call did not fail by itself", err)
		}
		if object := errorOf(t, got[0].Message); object["kind"] != "cancelled" {
			t.Errorf("message %s", got[0].Message)
		}
	})
}

func TestR46DenialTouchesItsOwnCall(t *testing.T) {
	for _, c := range []struct {
		name     string
		decision Decision
		want     string
	}{
		{"without a note", Decision{By: "user"}, "Tool call request has been denied"},
		{"with a note", Decision{By: "user", Note: "use \"pnpm\"\n<really>"},
			`{"error":"the call was denied by the user and did not run; follow the feedback","kind":"denied","tool":"b","retryable":true,"feedback":"use \"pnpm\"\n<really>"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRuntime(t, Options{Policy: Policy{StopOnFailure: true}, Approver: approverFunc(func(_ context.Context, call *Call) (Decision, error) {
				if call.ID == "b" {
					return c.decision, nil
				}
				return Decision{Allow: true, By: "rule"}, nil
			})})
			got := runBatch(t, r, call("a", exclusive, says("")), call("b", exclusive, says("")), call("c", exclusive, says("")))
			if want := "success denied success"; statuses(got) != want || got[1].Message != c.want {
				t.Errorf("statuses %q, want %q; message %s", statuses(got), want, got[1].Message)
			}
			if d := got[1].Decision; d == nil || d.Allow || d.By != "user" {
				t.Errorf("decision %+v", d)
			}
		})
	}
}

func TestStopOnAQuestionEndsTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := make(chan string, 1)
		a, b, c := call("a", parallel, waits(started, nil, "")), call("b", parallel, says("")), call("c", exclusive, says(""))
		ask := newAsker(a, b, c)
		r := newRuntime(t, Options{Approver: ask})
		calls := []*Call{a, b, c}
		var got []*Outcome
		var err error
		var wg sync.WaitGroup
		wg.Go(func() { got, err = r.ExecuteBatch(t.Context(), calls) })
		ask.answers["a"] <- Decision{Allow: true, By: "user"}
		<-started
		ask.answers["b"] <- Decision{By: "user", Stop: true}
		wg.Wait()
		checkOutcomes(t, calls, got)
		if want := "cancelled denied cancelled"; statuses(got) != want || !errors.Is(err, ErrStopped) {
			t.Errorf("statuses %q, want %q; error %v", statuses(got), want, err)
		}
	})
}

func TestChatFinishLetsRunningCallsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started, release := make(chan string, 1), make(chan struct{})
		calls := []*Call{
			call("a", parallel, waits(started, release, "A")),
			call("finish", parallel, func(context.Context, *Invocation) (Output, error) {
				<-started
				defer close(release)
				return Output{}, fmt.Errorf("wrapped: %w", &ChatFinish{Message: "bye"})
			}),
			call("c", exclusive, says("")),
		}
		got, err := newRuntime(t, Options{Policy: DefaultPolicy()}).ExecuteBatch(t.Context(), calls)
		checkOutcomes(t, calls, got)
		var finish *ChatFinish
		if want := "success success skipped"; statuses(got) != want || !errors.As(err, &finish) || finish.Message != "bye" {
			t.Errorf("statuses %q, want %q; error %v", statuses(got), want, err)
		}
		if got[1].Message != "bye" {
			t.Errorf("message %q", got[1].Message)
		}
	})
}

func TestAbortCancelsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, flags := range []Flags{parallel, {Parallel: true, Delegating: true}} {
			started := make(chan string, 1)
			calls := []*Call{
				call("a", parallel, waits(started, nil, "")),
				call("abort", flags, func(context.Context, *Invocation) (Output, error) { <-started; return Output{}, &Abort{Message: "now"} }),
				call("c", exclusive, says("")),
			}
			got, err := newRuntime(t, Options{Policy: DefaultPolicy()}).ExecuteBatch(t.Context(), calls)
			checkOutcomes(t, calls, got)
			var abort *Abort
			if !errors.As(err, &abort) || got[0].Status != StatusCancelled || got[2].Status != StatusCancelled || got[1].Message != "ABORT: now" {
				t.Errorf("statuses %q, messages %q, error %v", statuses(got), messages(got), err)
			}
		}
	})
}

func TestDelegatingErrorsEndTheBatch(t *testing.T) {
	cause := errors.New("failed calling model for completion")
	r := newRuntime(t, Options{})
	got, err := r.ExecuteBatch(t.Context(), []*Call{call("agent", Flags{Delegating: true}, fails(cause)), call("b", exclusive, says(""))})
	if want := "failed/execution_failed cancelled"; statuses(got) != want || !errors.Is(err, cause) {
		t.Errorf("statuses %q, want %q; error %v", statuses(got), want, err)
	}
	got, err = r.ExecuteBatch(t.Context(), []*Call{call("agent", Flags{Delegating: true}, fails(&Error{Kind: KindExecutionFailed, Message: "a result"})), call("b", exclusive, says(""))})
	if want := "failed/execution_failed success"; statuses(got) != want || err != nil {
		t.Errorf("statuses %q, want %q; error %v", statuses(got), want, err)
	}
}

func TestA14EditedArguments(t *testing.T) {
	edited := `{"path":"b","key":"hush"}`
	var asked []string
	r := newRuntime(t, Options{Approver: approverFunc(func(_ context.Context, c *Call) (Decision, error) {
		asked = append(asked, c.Arguments)
		return Decision{Allow: true, By: "user", Arguments: &edited}, nil
	})})
	c := call("x", exclusive, func(_ context.Context, inv *Invocation) (Output, error) { return Output{Text: "got " + inv.Args}, nil })
	c.Arguments = `{"path":"a"}`
	c.Tool.(*FuncTool).SpecValue.SecretArgs = []string{"key"}
	o := run(t, r, c)
	masked := `{"path":"b","key":"‹secret:key›"}`
	if want := "[The user changed the arguments of this call to: " + masked + "]\ngot " + edited; o.Message != want {
		t.Errorf("message %q, want %q", o.Message, want)
	}
	if o.Effective != masked || *o.Decision.Arguments != masked || !slices.Equal(asked, []string{`{"path":"a"}`}) {
		t.Errorf("effective %q, decision %+v, asked %q", o.Effective, o.Decision, asked)
	}
	edited = `{"path":`
	if o := run(t, r, c); o.Err == nil || o.Err.Kind != KindInvalidArguments {
		t.Errorf("a broken edit: %+v", o)
	}
}

// previewing is a tool whose preview stands on a state of the world.
type previewing struct {
	FuncTool
	basis func() string
}

func (p *previewing) Preview(_ context.Context, c *Call) (Preview, error) {
	return Preview{Summary: c.Arguments, Basis: p.basis()}, nil
}

func TestA15ChangedPreviewIsAskedAgain(t *testing.T) {
	state := "1"
	c := call("edit", exclusive, says("edited"))
	tool := &previewing{*c.Tool.(*FuncTool), func() string { return state }}
	c.Tool = tool
	asked := 0
	r := newRuntime(t, Options{Approver: approverFunc(func(ctx context.Context, c *Call) (Decision, error) {
		asked++
		p, err := tool.Preview(ctx, c)
		if asked == 1 {
			state = "2" // the file changes after the answer
		}
		return Decision{Allow: true, By: "user", Basis: p.Basis}, err
	})})
	if o := run(t, r, c); o.Message != "edited" || asked != 2 {
		t.Errorf("asked %d times: %+v", asked, o)
	}
	n := 0
	tool.basis = func() string { n++; return fmt.Sprint(n) }
	if o := run(t, r, c); o.Err == nil || o.Err.Kind != KindUnavailable {
		t.Errorf("a file that keeps changing: %+v", o)
	}
}

func TestSandboxedUnlessAPersonAllowedIt(t *testing.T) {
	for by, want := range map[string]bool{"user": false, "flag": false, "rule": true, "mode": true, "safe": true} {
		r := newRuntime(t, Options{Approver: approverFunc(func(context.Context, *Call) (Decision, error) { return Decision{Allow: true, By: by}, nil })})
		o := run(t, r, call("x", exclusive, func(_ context.Context, inv *Invocation) (Output, error) {
			return Output{Text: fmt.Sprint(inv.Sandbox.On())}, nil
		}))
		if o.Message != fmt.Sprint(want) {
			t.Errorf("%s: sandboxed %s", by, o.Message)
		}
	}
}

func TestApproverThatCannotDecide(t *testing.T) {
	cause := errors.New("disk full")
	r := newRuntime(t, Options{Approver: approverFunc(func(context.Context, *Call) (Decision, error) { return Decision{}, cause })})
	got, err := r.ExecuteBatch(t.Context(), []*Call{call("a", exclusive, says("")), call("b", exclusive, says(""))})
	if !errors.Is(err, cause) || got[0].Err.Kind != KindUnavailable || got[1].Status != StatusCancelled {
		t.Errorf("statuses %q, error %v", statuses(got), err)
	}
}

// TestStopEndsOpenQuestions: while running calls finish, nobody is asked about calls that will not
// start.
func TestStopEndsOpenQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started, release := make(chan string, 1), make(chan struct{})
		a, b, c := call("a", parallel, waits(started, release, "A")), call("b", parallel, fails(errors.New("no"))), call("c", exclusive, says(""))
		ask := newAsker(a, b, c)
		open := true
		r := newRuntime(t, Options{Policy: Policy{MaxConcurrency: 4, StopOnFailure: true}, Approver: approverFunc(func(ctx context.Context, call *Call) (Decision, error) {
			d, err := ask.Approve(ctx, call)
			if call.ID == "c" {
				open = false
			}
			return d, err
		})})
		var got []*Outcome
		var wg sync.WaitGroup
		wg.Go(func() { got, _ = r.ExecuteBatch(t.Context(), []*Call{a, b, c}) })
		ask.answers["a"] <- Decision{Allow: true}
		<-started
		ask.answers["b"] <- Decision{Allow: true}
		synctest.Wait()
		if open {
			t.Error("the question of a skipped call is still open")
		}
		close(release)
		wg.Wait()
		if want := "success failed/execution_failed skipped"; statuses(got) != want {
			t.Errorf("statuses %q, want %q", statuses(got), want)
		}
	})
}
