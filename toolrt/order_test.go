package toolrt

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestR2R43EveryCallHasItsOutcome(t *testing.T) {
	got := runBatch(t, newRuntime(t, Options{}),
		call("a", exclusive, says("one")), call("b", exclusive, fails(errors.New("no"))), call("c", exclusive, says("three")))
	if want := "success failed/execution_failed success"; statuses(got) != want {
		t.Errorf("statuses %q, want %q", statuses(got), want)
	}
}

func TestR3TooManyCallsAreSkipped(t *testing.T) {
	var calls []*Call
	for _, n := range names(200) {
		calls = append(calls, call(n, parallel, says("ok")))
	}
	got := runBatch(t, newRuntime(t, Options{Policy: DefaultPolicy()}), calls...)
	for i, o := range got {
		if want := i < 64; (o.Status == StatusSuccess) != want || !want && o.Err.Kind != KindSkipped {
			t.Fatalf("call %d: %s", i, o.Status)
		}
	}
}

func TestR4RepeatedAndEmptyIDs(t *testing.T) {
	var ran atomic.Int32
	counts := func(context.Context, *Invocation) (Output, error) { ran.Add(1); return Output{}, nil }
	a, b, c, d := call("a", exclusive, counts), call("a", exclusive, counts), call("a", exclusive, counts), call("b", exclusive, counts)
	c.ID = ""
	got := runBatch(t, newRuntime(t, Options{}), a, b, c, d)
	if want := "success failed/invalid_call failed/invalid_call success"; statuses(got) != want || ran.Load() != 2 {
		t.Errorf("statuses %q, want %q; ran %d", statuses(got), want, ran.Load())
	}
	errorOf(t, got[1].Message)
	errorOf(t, got[2].Message)
}

func TestR15ResultsInCallOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls []*Call
		var finished []string
		var mu sync.Mutex
		for i, n := range names(4) {
			calls = append(calls, call(n, parallel, func(_ context.Context, inv *Invocation) (Output, error) {
				time.Sleep(time.Duration(4-i) * time.Second)
				mu.Lock()
				defer mu.Unlock()
				finished = append(finished, inv.Call.Name)
				return Output{Text: inv.Call.Name}, nil
			}))
		}
		got := runBatch(t, newRuntime(t, Options{Policy: DefaultPolicy()}), calls...)
		if want := names(4); !slices.Equal(messages(got), want) {
			t.Errorf("outcomes %q, want %q", messages(got), want)
		}
		if slices.Reverse(finished); !slices.Equal(finished, names(4)) {
			t.Errorf("the calls did not finish in reverse: %q", finished)
		}
	})
}

func TestR16InOrderAndConcurrentFirst(t *testing.T) {
	for first, want := range map[bool]string{false: "written", true: "old"} {
		value := "old"
		write := call("write", exclusive, func(context.Context, *Invocation) (Output, error) { value = "written"; return Output{}, nil })
		read := call("read", Flags{ReadOnly: true}, func(context.Context, *Invocation) (Output, error) { return Output{Text: value}, nil })
		got := runBatch(t, newRuntime(t, Options{Policy: Policy{ConcurrentFirst: first}}), write, read)
		if got[1].Message != want {
			t.Errorf("concurrent first %v: read %q, want %q", first, got[1].Message, want)
		}
	}
}

func TestR16R17WriteOverlapsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reads, writes meter
		work := func(m *meter) toolFunc {
			return func(_ context.Context, inv *Invocation) (Output, error) {
				m.enter(inv.Call.Name)
				defer m.leave()
				time.Sleep(time.Second)
				if m == &writes && reads.now > 0 {
					t.Error("a read ran beside the write")
				}
				return Output{}, nil
			}
		}
		begin := time.Now()
		runBatch(t, newRuntime(t, Options{Policy: DefaultPolicy()}),
			call("r1", parallel, work(&reads)), call("r2", parallel, work(&reads)), call("w", exclusive, work(&writes)), call("r3", parallel, work(&reads)))
		if reads.most != 2 || time.Since(begin) != 3*time.Second {
			t.Errorf("%d reads at once, %v in all; want 2 and 3s", reads.most, time.Since(begin))
		}
	})
}

func TestR18ConcurrencyIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m meter
		var calls []*Call
		for _, n := range names(20) {
			calls = append(calls, call(n, parallel, func(context.Context, *Invocation) (Output, error) {
				m.enter("")
				defer m.leave()
				time.Sleep(time.Second)
				return Output{}, nil
			}))
		}
		runBatch(t, newRuntime(t, Options{Policy: DefaultPolicy()}), calls...)
		if m.most != 4 {
			t.Errorf("%d at once, want 4", m.most)
		}
	})
}

func TestR18OneSlotKeepsCallOrder(t *testing.T) {
	var order []string
	var calls []*Call
	for _, n := range names(20) {
		calls = append(calls, call(n, parallel, func(_ context.Context, inv *Invocation) (Output, error) {
			order = append(order, inv.Call.Name)
			return Output{}, nil
		}))
	}
	runBatch(t, newRuntime(t, Options{Policy: Policy{MaxConcurrency: -3}}), calls...)
	if !slices.Equal(order, names(20)) {
		t.Errorf("ran in order %q", order)
	}
}

func TestR17TwoBatchesShareTheGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running atomic.Int32
		alone := func(context.Context, *Invocation) (Output, error) {
			if running.Add(1) != 1 {
				t.Error("something runs beside an exclusive call of another batch")
			}
			time.Sleep(time.Second)
			running.Add(-1)
			return Output{}, nil
		}
		shares := func(context.Context, *Invocation) (Output, error) {
			running.Add(1)
			time.Sleep(time.Second)
			running.Add(-1)
			return Output{}, nil
		}
		r := newRuntime(t, Options{Policy: DefaultPolicy()})
		var wg sync.WaitGroup
		wg.Go(func() { runBatch(t, r, call("w1", exclusive, alone), call("w2", exclusive, alone)) })
		wg.Go(func() {
			runBatch(t, r, call("r1", parallel, shares), call("r2", parallel, shares), call("r3", parallel, shares))
		})
		wg.Wait()
	})
}

func TestR19ExclusiveIsNotStarved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRuntime(t, Options{Policy: Policy{MaxConcurrency: 2}})
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for _, n := range names(4) { // an endless supply of parallel calls
			wg.Go(func() {
				for ctx.Err() == nil {
					r.Execute(ctx, call(n, parallel, func(context.Context, *Invocation) (Output, error) {
						time.Sleep(time.Second)
						return Output{}, nil
					}))
				}
			})
		}
		time.Sleep(500 * time.Millisecond)
		begin := time.Now()
		run(t, r, call("w", exclusive, says("")))
		// Two are running and two are waiting when it arrives.
		if waited := time.Since(begin); waited > 1500*time.Millisecond {
			t.Errorf("the exclusive call waited %v", waited)
		}
		stop()
		wg.Wait()
	})
}

func TestR20DelegatingCallsHoldNothing(t *testing.T) {
	r := newRuntime(t, Options{Policy: Policy{MaxConcurrency: 1}})
	var nested func(depth int) toolFunc
	nested = func(depth int) toolFunc {
		return func(ctx context.Context, inv *Invocation) (Output, error) {
			flags, inner := Flags{Delegating: true}, nested(depth-1)
			if depth == 0 {
				flags, inner = exclusive, says("leaf")
			}
			got, err := r.ExecuteBatch(ctx, []*Call{call("x", flags, inner), call("y", parallel, says("!"))})
			if err != nil {
				return Output{}, err
			}
			return Output{Text: got[0].Message + got[1].Message}, nil
		}
	}
	got := run(t, r, call("agent", Flags{Delegating: true}, nested(8)))
	if want := "leaf" + strings.Repeat("!", 9); got.Message != want {
		t.Errorf("message %q, want %q", got.Message, want)
	}
}

func TestR21QueuedCallEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRuntime(t, Options{})
		started, release := make(chan string, 1), make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() { run(t, r, call("busy", exclusive, waits(started, release, ""))) })
		<-started
		ctx, cancel := context.WithCancel(t.Context())
		ran := false
		var o *Outcome
		wg.Go(func() {
			o, _ = r.Execute(ctx, call("queued", exclusive, func(context.Context, *Invocation) (Output, error) {
				ran = true
				return Output{}, nil
			}))
		})
		synctest.Wait()
		begin := time.Now()
		cancel()
		synctest.Wait()
		if o == nil || o.Status != StatusCancelled || ran || !time.Now().Equal(begin) {
			t.Errorf("outcome %+v, ran %v", o, ran)
		}
		close(release)
		wg.Wait()
	})
}

// asker is an approver like a person at a screen: questions queue in order and are answered by the
// test.
type asker struct {
	mu      sync.Mutex
	asked   []string
	answers map[string]chan Decision
}

func newAsker(calls ...*Call) *asker {
	a := &asker{answers: map[string]chan Decision{}}
	for _, c := range calls {
		a.answers[c.ID] = make(chan Decision, 1)
	}
	return a
}

func (a *asker) Approve(ctx context.Context, call *Call) (Decision, error) {
	a.mu.Lock()
	a.asked = append(a.asked, call.ID)
	a.mu.Unlock()
	Asked(ctx)
	select {
	case d := <-a.answers[call.ID]:
		return d, nil
	case <-ctx.Done():
		return Decision{}, ctx.Err()
	}
}

func TestR20R22QuestionsInCallOrderAndEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := make(chan string, 3)
		done := make(chan struct{})
		close(done)
		a := call("a", exclusive, waits(started, done, "A"))
		b := call("b", parallel, waits(started, done, "B"))
		c := call("c", parallel, waits(started, done, "C"))
		ask := newAsker(a, b, c)
		r := newRuntime(t, Options{Approver: ask})
		var got []*Outcome
		var wg sync.WaitGroup
		wg.Go(func() { got = runBatch(t, r, a, b, c) })
		synctest.Wait()
		if want := []string{"a", "b", "c"}; !slices.Equal(ask.asked, want) {
			t.Fatalf("asked %q as the batch began, want %q", ask.asked, want)
		}
		ask.answers["c"] <- Decision{Allow: true, By: "user"}
		synctest.Wait()
		if len(started) != 0 {
			t.Fatal("a call started before its turn")
		}
		ask.answers["a"] <- Decision{Allow: true, By: "user"}
		synctest.Wait()
		// c has run while b waits for its answer: waiting holds no slot.
		if first, second := <-started, <-started; first != "a" || second != "c" {
			t.Fatalf("started %s, %s", first, second)
		}
		ask.answers["b"] <- Decision{Allow: true, By: "user"}
		wg.Wait()
		if statuses(got) != "success success success" {
			t.Errorf("statuses %q", statuses(got))
		}
	})
}

// TestR22WithoutAskedOneAfterTheOther: an approver that does not say when its question stands is
// asked about the next call only when it has decided.
func TestR22WithoutAskedOneAfterTheOther(t *testing.T) {
	var asking atomic.Int32
	var order []string
	r := newRuntime(t, Options{Policy: DefaultPolicy(), Approver: approverFunc(func(_ context.Context, c *Call) (Decision, error) {
		if asking.Add(1) != 1 {
			t.Error("two questions at once")
		}
		order = append(order, c.ID)
		asking.Add(-1)
		return Decision{Allow: true, By: "rule"}, nil
	})})
	var calls []*Call
	for _, n := range names(10) {
		calls = append(calls, call(n, parallel, says("")))
	}
	runBatch(t, r, calls...)
	if !slices.Equal(order, names(10)) {
		t.Errorf("asked in order %q", order)
	}
}

// preparing is a delegating tool with questions of its own.
type preparing struct {
	FuncTool
	prepare func(ctx context.Context) error
}

func (p *preparing) Prepare(ctx context.Context) error { return p.prepare(ctx) }

func TestR22DelegatingCallsPrepareInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string
		answer := make(chan struct{})
		delegating := func(name string, prepare func(ctx context.Context) error) *Call {
			c := call(name, Flags{Delegating: true, Parallel: true}, says(name))
			c.Tool = &preparing{*c.Tool.(*FuncTool), func(ctx context.Context) error {
				order = append(order, name)
				return prepare(ctx)
			}}
			return c
		}
		r := newRuntime(t, Options{})
		var got []*Outcome
		var wg sync.WaitGroup
		wg.Go(func() {
			got = runBatch(t, r,
				delegating("a", func(ctx context.Context) error { Asked(ctx); <-answer; return nil }),
				delegating("b", func(context.Context) error { return DenialError("b", Decision{By: "user"}) }),
				delegating("c", func(context.Context) error { panic("boom") }),
				delegating("d", func(context.Context) error { return nil }))
		})
		synctest.Wait()
		if want := []string{"a", "b", "c", "d"}; !slices.Equal(order, want) {
			t.Errorf("prepared %q before the first answer, want %q", order, want)
		}
		close(answer)
		wg.Wait()
		if want := "success denied failed/panic success"; statuses(got) != want {
			t.Errorf("statuses %q, want %q", statuses(got), want)
		}
	})
}

func TestSequentialPolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m meter
		slow := func(context.Context, *Invocation) (Output, error) {
			m.enter("")
			defer m.leave()
			time.Sleep(time.Second)
			return Output{}, nil
		}
		runBatch(t, newRuntime(t, Options{Policy: Policy{MaxConcurrency: 4, Sequential: true}}),
			call("a", parallel, slow), call("b", Flags{Delegating: true, Parallel: true}, slow), call("c", parallel, slow))
		if m.most != 1 {
			t.Errorf("%d at once", m.most)
		}
	})
}
