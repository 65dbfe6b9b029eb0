package toolrt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// slow is a tool that writes text, then runs until its context ends.
func slow(text string) toolFunc {
	return func(ctx context.Context, inv *Invocation) (Output, error) {
		fmt.Fprint(inv.Out, text)
		<-ctx.Done()
		return Output{}, ctx.Err()
	}
}

// stubborn is a tool that does not react to its context, until release is closed.
func stubborn(release <-chan struct{}) toolFunc {
	return func(context.Context, *Invocation) (Output, error) { <-release; return Output{Text: "late"}, nil }
}

func withTimeout(c *Call, d time.Duration) *Call {
	c.Tool.(*FuncTool).SpecValue.Timeout = d
	return c
}

func TestR24R25TimeoutWithPartialOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		o := run(t, newRuntime(t, Options{}), withTimeout(call("slow", exclusive, slow("so far")), 3*time.Second))
		object := errorOf(t, o.Message)
		if o.Status != StatusTimeout || object["limit_ms"] != 3000.0 || object["partial_output"] != "so far" || !strings.Contains(object["error"].(string), "slow was stopped at its limit of 3s") {
			t.Errorf("status %s, message %s", o.Status, o.Message)
		}
		if time.Since(begin) != 3*time.Second || o.Ran != 3*time.Second {
			t.Errorf("took %v, ran %v", time.Since(begin), o.Ran)
		}
	})
}

func TestR24WhichLimit(t *testing.T) {
	r := newRuntime(t, Options{Policy: Policy{Timeout: 1, LongTimeout: 2, CommandTimeout: 3}})
	for _, c := range []struct {
		spec Spec
		want time.Duration
	}{
		{Spec{}, 1}, {Spec{Flags: Flags{LongRunning: true}}, 2}, {Spec{Source: "command"}, 3},
		{Spec{Source: "command", Timeout: 4}, 4}, {Spec{Timeout: -1}, -1},
	} {
		if got := r.timeout(c.spec); got != c.want {
			t.Errorf("%+v: %v, want %v", c.spec, got, c.want)
		}
	}
}

func TestR24NoLimitOnlyWhenSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := run(t, newRuntime(t, Options{}), withTimeout(call("long", exclusive, func(context.Context, *Invocation) (Output, error) {
			time.Sleep(24 * time.Hour)
			return Output{Text: "done"}, nil
		}), -1))
		if o.Message != "done" {
			t.Errorf("outcome %+v", o)
		}
	})
}

func TestR24WaitsDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRuntime(t, Options{Approver: approverFunc(func(context.Context, *Call) (Decision, error) {
			time.Sleep(5 * time.Second)
			return Decision{Allow: true, By: "user"}, nil
		})})
		other := call("other", parallel, says("ran meanwhile"))
		o := run(t, r, withTimeout(call("asks", exclusive, func(ctx context.Context, inv *Invocation) (Output, error) {
			time.Sleep(900 * time.Millisecond)
			resume := inv.Pause()
			got, err := r.Execute(ctx, other) // a paused call holds neither lock nor permit
			resume()
			resume() // once is enough
			if err != nil {
				return Output{}, err
			}
			time.Sleep(50 * time.Millisecond)
			return Output{Text: got.Message}, nil
		}), time.Second))
		if o.Message != "ran meanwhile" || o.Ran != 950*time.Millisecond || o.Waited != 5*time.Second || o.Queue != 0 {
			t.Errorf("message %q, ran %v, waited %v, queued %v", o.Message, o.Ran, o.Waited, o.Queue)
		}
	})
}

func TestR24ClockGoesOnAfterAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := run(t, newRuntime(t, Options{}), withTimeout(call("asks", exclusive, func(ctx context.Context, inv *Invocation) (Output, error) {
			first, second := inv.Pause(), inv.Pause()
			time.Sleep(time.Hour)
			first()
			time.Sleep(time.Hour)
			second()
			<-ctx.Done()
			return Output{}, ctx.Err()
		}), time.Second))
		if o.Status != StatusTimeout || o.Ran != time.Second {
			t.Errorf("status %s, ran %v", o.Status, o.Ran)
		}
	})
}

func TestR26OwnDeadlineIsAFailure(t *testing.T) {
	for _, err := range []error{context.DeadlineExceeded, context.Canceled} {
		o := run(t, newRuntime(t, Options{}), call("own", exclusive, fails(err)))
		if o.Err.Kind != KindExecutionFailed || o.Status != StatusFailed {
			t.Errorf("%v: %s/%s", err, o.Status, o.Err.Kind)
		}
	}
}

func TestR21R27R28Cancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r := newRuntime(t, Options{})
		started := make(chan string, 1)
		calls := []*Call{
			call("done", exclusive, says("kept")),
			call("running", exclusive, func(ctx context.Context, inv *Invocation) (Output, error) {
				fmt.Fprint(inv.Out, "half")
				return waits(started, nil, "")(ctx, inv)
			}),
			call("queued", exclusive, says("never")),
		}
		var got []*Outcome
		var err error
		var wg sync.WaitGroup
		wg.Go(func() { got, err = r.ExecuteBatch(ctx, calls) })
		<-started
		cancel()
		wg.Wait()
		checkOutcomes(t, calls, got)
		if want := "success cancelled cancelled"; statuses(got) != want || err != nil {
			t.Fatalf("statuses %q, want %q; error %v", statuses(got), want, err)
		}
		if got[0].Message != "kept" || got[1].Message != "half\n\nABORTED BY USER" || got[2].Ran != 0 {
			t.Errorf("messages %q", messages(got))
		}
		if object := errorOf(t, got[2].Message); object["error"] != "the call did not run: the user stopped the turn" {
			t.Errorf("message %s", got[2].Message)
		}
	})
}

func TestR27LateResultWithinGraceIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		o, err := newRuntime(t, Options{}).Execute(ctx, call("late", exclusive, func(ctx context.Context, _ *Invocation) (Output, error) {
			<-ctx.Done()
			time.Sleep(time.Second)
			return Output{Text: "made it"}, nil
		}))
		if o.Message != "made it" || o.Status != StatusSuccess || err != nil {
			t.Errorf("outcome %+v, error %v", o, err)
		}
	})
}

func TestR27OpenQuestionsEndWithTheBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		a, b := call("a", exclusive, says("")), call("b", exclusive, says(""))
		r := newRuntime(t, Options{Approver: newAsker(a, b)})
		var got []*Outcome
		var wg sync.WaitGroup
		wg.Go(func() { got, _ = r.ExecuteBatch(ctx, []*Call{a, b}) })
		synctest.Wait()
		cancel()
		wg.Wait()
		if want := "cancelled cancelled"; statuses(got) != want {
			t.Errorf("statuses %q, want %q", statuses(got), want)
		}
	})
}

func TestR29R30AbandonedCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Options{Policy: DefaultPolicy()})
		release := make(chan struct{})
		begin := time.Now()
		o := run(t, r, withTimeout(call("deaf", parallel, stubborn(release)), time.Second))
		if o.Status != StatusTimeout || !o.Abandoned || time.Since(begin) != 3*time.Second || !strings.Contains(o.Message, "may still be going on") {
			t.Fatalf("outcome %+v after %v", o, time.Since(begin))
		}
		for range 8 { // its slot is free: nine in all, with four slots
			run(t, r, withTimeout(call("deaf", parallel, stubborn(release)), time.Second))
		}
		if o := run(t, r, call("deaf", parallel, says("no"))); o.Err == nil || o.Err.Kind != KindUnavailable {
			t.Errorf("the tenth call: %+v", o)
		}
		if o := run(t, r, call("other", parallel, says("yes"))); o.Message != "yes" {
			t.Errorf("another tool: %+v", o)
		}
		if err := r.Close(); err == nil || err.Error() != "9 tool calls still running that did not react to being cancelled" {
			t.Errorf("Close: %v", err)
		}
		close(release)
		if err := r.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if o := run(t, r, call("deaf", parallel, says("back"))); o.Message != "back" {
			t.Errorf("after they ended: %+v", o)
		}
	})
}

func TestR30AbandonedExclusiveKeepsTheLockAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRuntime(t, Options{Policy: DefaultPolicy()})
		release := make(chan struct{})
		run(t, r, withTimeout(call("deaf", exclusive, stubborn(release)), time.Second))
		begin := time.Now()
		run(t, r, call("next", parallel, says("")))
		if waited := time.Since(begin); waited != 10*time.Second {
			t.Errorf("the next call waited %v, want 10s", waited)
		}
		close(release)
	})
}

func TestR32PanicsAreCaught(t *testing.T) {
	var log strings.Builder
	r := newRuntime(t, Options{Policy: DefaultPolicy(), Log: slog.New(slog.NewTextHandler(&log, nil))})
	bad := func(context.Context, *Invocation) (Output, error) { panic("first line\nsecond line") }
	got := runBatch(t, r,
		call("bad", parallel, bad), call("good", parallel, says("fine")), call("agent", Flags{Delegating: true}, bad), call("next", exclusive, says("ran")))
	if want := "failed/panic success failed/panic success"; statuses(got) != want {
		t.Fatalf("statuses %q, want %q", statuses(got), want)
	}
	for _, i := range []int{0, 2} {
		if m := got[i].Message; !strings.Contains(m, "first line") || strings.Contains(m, "second") || strings.Contains(m, ".go") || strings.Contains(m, "goroutine") {
			t.Errorf("message %s", m)
		}
	}
	if !strings.Contains(log.String(), "run_test.go") {
		t.Error("the stack is not in the log")
	}
}

// flagless is a tool whose description panics.
type flagless struct{ FuncTool }

func (*flagless) Spec() Spec { panic("no flags") }

func TestR32PanicInSpec(t *testing.T) {
	c := call("x", exclusive, says(""))
	c.Tool = &flagless{}
	if o := run(t, newRuntime(t, Options{}), c); o.Err == nil || o.Err.Kind != KindPanic {
		t.Errorf("outcome %+v", o)
	}
}

func TestR33GoexitIsLikeAPanic(t *testing.T) {
	exits := func(context.Context, *Invocation) (Output, error) { runtime.Goexit(); return Output{}, nil }
	got := runBatch(t, newRuntime(t, Options{}), call("leaf", exclusive, exits), call("agent", Flags{Delegating: true}, exits))
	if want := "failed/panic failed/panic"; statuses(got) != want {
		t.Errorf("statuses %q, want %q", statuses(got), want)
	}
}

func TestR34R35Outputs(t *testing.T) {
	three := 3
	for _, c := range []struct {
		name   string
		out    Output
		err    error
		want   string
		status Status
	}{
		{"empty stays empty", Output{}, nil, "", StatusSuccess},
		{"an error text as it stands", Output{Text: "ERROR: no\nsuch file", IsError: true, ExitCode: &three}, nil, "ERROR: no\nsuch file", StatusFailed},
		{"output beside an error", Output{Text: "half"}, errors.New("broke"), `{"error":"broke","kind":"execution_failed","tool":"x","partial_output":"half"}`, StatusFailed},
		{"a plain error", Output{}, &Error{Plain: true, Message: "own words"}, "own words", StatusFailed},
		{"a kind of its own", Output{}, fmt.Errorf("wrapped: %w", &Error{Kind: KindUnavailable, Message: "server down"}), `{"error":"server down","kind":"unavailable","tool":"x"}`, StatusFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := run(t, newRuntime(t, Options{}), call("x", exclusive, func(context.Context, *Invocation) (Output, error) { return c.out, c.err }))
			if o.Message != c.want || o.Status != c.status || !o.Failed() != (c.status == StatusSuccess) {
				t.Errorf("%s: message %q, want %q", o.Status, o.Message, c.want)
			}
			if o.Output != nil && o.Output.Text != o.Message {
				t.Errorf("output text %q", o.Output.Text)
			}
		})
	}
}

func TestR36StopTurn(t *testing.T) {
	stops := func(context.Context, *Invocation) (Output, error) { return Output{Text: "bye", StopTurn: true}, nil }
	got := runBatch(t, newRuntime(t, Options{}), call("a", exclusive, stops), call("b", exclusive, says("")), call("c", exclusive, says("")))
	if want := "success skipped skipped"; statuses(got) != want || !got[0].Output.StopTurn {
		t.Errorf("statuses %q, want %q", statuses(got), want)
	}
	if object := errorOf(t, got[1].Message); object["error"] != "the call did not run: call a ended the turn" {
		t.Errorf("message %s", got[1].Message)
	}
}

func TestR52TimesAreReal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		o := run(t, newRuntime(t, Options{}), call("x", exclusive, func(context.Context, *Invocation) (Output, error) {
			time.Sleep(50 * time.Millisecond)
			return Output{}, nil
		}))
		if o.Ran != 50*time.Millisecond || !o.StartedAt.Equal(begin) || o.FinishedAt.Sub(o.StartedAt) != o.Ran {
			t.Errorf("ran %v from %v to %v", o.Ran, o.StartedAt, o.FinishedAt)
		}
		if o := run(t, newRuntime(t, Options{}), call("quick", exclusive, says(""))); o.Ran != time.Millisecond {
			t.Errorf("a quick call ran %v", o.Ran)
		}
	})
}

func TestCancelOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRuntime(t, Options{Policy: DefaultPolicy()})
		started, release := make(chan string, 2), make(chan struct{})
		var got []*Outcome
		var wg sync.WaitGroup
		wg.Go(func() {
			got = runBatch(t, r, call("a", parallel, waits(started, release, "A")), call("b", parallel, waits(started, release, "B")))
		})
		<-started
		<-started
		if !r.Cancel("a") || r.Cancel("unknown") {
			t.Error("Cancel did not tell whether the call was running")
		}
		synctest.Wait()
		close(release)
		wg.Wait()
		if want := "cancelled success"; statuses(got) != want {
			t.Errorf("statuses %q, want %q", statuses(got), want)
		}
	})
}
