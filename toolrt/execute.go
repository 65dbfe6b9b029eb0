package toolrt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// ExecuteBatch runs the calls of one model reply and returns one outcome per call, at the call's
// index, whatever happens (R2). Each leaf call goes through the steps of [Runtime.Execute]; the
// questions of all are asked as soon as the batch begins, in call order. A delegating call takes
// part in the order only.
//
// An empty batch gives an empty list (R1). Cancelling ctx gives outcomes that say so and a nil
// error. The error is non-nil
//   - when a call raised [ChatFinish]: the running calls have ended, the others are skipped;
//   - when a call raised [Abort], a person stopped the turn on a question ([ErrStopped]), an
//     approval or outcome could not be recorded, or a delegating call failed with an error that is
//     no [Error]: the running calls were cancelled, the others did not start;
//   - as a [BatchError], when a call failed under Policy.StopOnFailure (R44).
//
// The error of the lowest index is returned, one of the second kind before others.
func (r *Runtime) ExecuteBatch(ctx context.Context, calls []*Call) ([]*Outcome, error) {
	if len(calls) == 0 {
		return []*Outcome{}, nil
	}
	b := r.newRun(ctx, calls)
	b.loop(ctx)
	r.fitBatch(b.calls, b.outcomes)
	return b.outcomes, b.result()
}

// batchRun drives a batch: it feeds the state machine and does what it says. Its fields belong to
// the goroutine of ExecuteBatch, except where noted.
type batchRun struct {
	r        *Runtime
	calls    []*Prepared
	outcomes []*Outcome
	errs     []error // to be handed on, by index
	order    *batch
	reason   string // why unstarted calls are skipped

	questions context.Context // ends when no further call may start
	mute      context.CancelFunc
	work      context.Context // ends when running calls are to end
	cancel    context.CancelCauseFunc

	inputs chan runInput // from the goroutines of the batch
	busy   sync.WaitGroup
}

// runInput is an input with what came of the call.
type runInput struct {
	input
	outcome *Outcome
	err     error
}

func (r *Runtime) newRun(ctx context.Context, calls []*Call) *batchRun {
	b := &batchRun{
		r:        r,
		calls:    make([]*Prepared, len(calls)),
		outcomes: make([]*Outcome, len(calls)),
		errs:     make([]error, len(calls)),
		inputs:   make(chan runInput, 2*len(calls)), // each call sends two at most: nobody waits
	}
	b.questions, b.mute = context.WithCancel(ctx)
	b.work, b.cancel = context.WithCancelCause(ctx)
	kinds := make([]slotKind, len(calls))
	seen := make(map[string]bool, len(calls))
	for i, call := range calls {
		b.calls[i], kinds[i] = b.receive(i, call, seen)
	}
	b.order = newBatch(kinds, batchRules{
		sequential:      r.policy.Sequential,
		concurrentFirst: r.policy.ConcurrentFirst,
		stopOnFailure:   r.policy.StopOnFailure,
		cancelOnStop:    r.policy.CancelOnStop,
	})
	return b
}

// receive checks one call and says how it takes part in the order.
func (b *batchRun) receive(i int, call *Call, seen map[string]bool) (*Prepared, slotKind) {
	repeated := call.ID == "" || seen[call.ID]
	seen[call.ID] = true
	p := &Prepared{r: b.r, call: call, received: b.r.opts.Now()}
	no := false
	switch {
	case i >= b.r.policy.MaxCalls:
		p.refuse(skipped(call, fmt.Sprintf("one reply may hold %d calls; send the rest in the next one", b.r.policy.MaxCalls)))
	case repeated && call.ID == "":
		p.refuse(&Error{Kind: KindInvalidCall, Message: "the call has no id and did not run", Retryable: &no})
	case repeated:
		p.refuse(&Error{Kind: KindInvalidCall, Message: "an earlier call of this reply has the same id; this one did not run", Retryable: &no})
	default:
		p = b.r.receive(call)
	}
	switch {
	case p.outcome != nil:
		return p, slotVoid
	case p.spec.Flags.parallel():
		return p, slotParallel
	}
	return p, slotExclusive
}

// loop runs the batch to its end: every call has its outcome and no goroutine is left.
func (b *batchRun) loop(ctx context.Context) {
	defer b.busy.Wait()
	defer b.cancel(nil)
	defer b.mute()
	b.busy.Go(func() { b.askFrom(0) })
	b.apply(b.order.begin())
	ended := ctx.Done()
	for !b.order.done() {
		select {
		case in := <-b.inputs:
			b.take(in)
		case <-ended:
			ended = nil
			b.reason = stopReason(ctx)
			b.next(input{kind: inCancel})
		}
	}
}

// askFrom puts the calls from index i on to the approver, one after the other. When the question
// of one has its place in the queue (see Asked), another goroutine goes on with the next.
func (b *batchRun) askFrom(i int) {
	for ; i < len(b.calls); i++ {
		p := b.calls[i]
		if p.outcome != nil {
			continue // it is void
		}
		var once sync.Once
		moved := false
		next := i + 1
		ctx := withAsked(b.questions, func() {
			once.Do(func() {
				moved = true
				b.busy.Go(func() { b.askFrom(next) })
			})
		})
		in := runInput{input: input{kind: inRefused, call: i}}
		b.guarded(p, &in, func() {
			if p.ask(ctx); p.outcome == nil {
				in.kind = inPrepared
			}
			in.outcome, in.err = p.outcome, p.err
		})
		once.Do(func() {}) // from here on Asked comes too late
		if moved {
			return
		}
	}
}

// guarded runs f, which fills in, and sends in even when f panics or ends its goroutine.
func (b *batchRun) guarded(p *Prepared, in *runInput, f func()) {
	ended := false
	defer func() {
		if v := recover(); v != nil || !ended {
			crash := &panicked{value: fmt.Sprint(v)}
			if v == nil {
				crash = errGoexit
			}
			b.r.logCrash(p.call, crash)
			in.outcome, in.err = p.failed(crashed(p.call, crash.value)), nil
		}
		in.failed = in.outcome != nil && in.outcome.Failed() && in.outcome.Status != StatusDenied
		b.inputs <- *in
	}()
	f()
	ended = true
}

// take records what came of a call and moves the batch on.
func (b *batchRun) take(in runInput) {
	if in.outcome != nil && b.outcomes[in.call] == nil {
		b.outcomes[in.call], b.errs[in.call] = in.outcome, in.err
	}
	var finish *ChatFinish
	name := b.calls[in.call].call.Name
	switch {
	case errors.As(in.err, &finish):
		b.stop("call " + name + " ended the chat")
	case in.err != nil:
		b.reason = "the turn was ended by call " + name
		if errors.Is(in.err, ErrStopped) {
			b.reason = "the user stopped the turn"
		}
		b.next(input{kind: inCancel})
	case in.outcome != nil && in.outcome.Output != nil && in.outcome.Output.StopTurn:
		b.stop("call " + name + " ended the turn")
	case in.failed && b.r.policy.StopOnFailure:
		b.reason = "call " + name + " failed before"
	}
	b.next(in.input)
}

func (b *batchRun) stop(reason string) {
	b.reason = reason
	b.next(input{kind: inStop})
}

func (b *batchRun) next(in input) {
	s, err := b.order.next(in)
	if err != nil {
		// A fault of this package: the calls still get their outcomes.
		b.r.log.Error("scheduling went wrong", "err", err)
		return
	}
	b.apply(s)
}

// apply does what the state machine says.
func (b *batchRun) apply(s step) {
	for _, i := range s.settle {
		p := b.calls[i]
		b.outcomes[i] = p.outcome
		if b.r.policy.StopOnFailure && b.reason == "" {
			b.reason = "call " + p.call.Name + " failed before"
		}
	}
	for _, i := range s.skip {
		b.unstarted(i, skipped(b.calls[i].call, b.reason))
	}
	for _, i := range s.abandon {
		b.unstarted(i, notStarted(b.calls[i].call, b.reason))
	}
	if len(s.skip)+len(s.abandon) > 0 {
		b.mute()
	}
	if s.cancel {
		b.cancel(stopCause(b.reason))
	}
	for _, i := range s.start {
		b.start(i)
	}
}

// unstarted gives a call that will not start its outcome, unless it is the very one that stopped
// the batch. What the call itself holds may still be in use by its question, so a fresh one makes
// the outcome.
func (b *batchRun) unstarted(i int, e *Error) {
	if b.outcomes[i] == nil {
		p := &Prepared{r: b.r, call: b.calls[i].call, received: b.calls[i].received}
		b.outcomes[i] = p.failed(e)
	}
}

func (b *batchRun) start(i int) {
	p := b.calls[i]
	p.line() // in order of the batch, whatever order the goroutines begin in
	b.busy.Go(func() {
		in := runInput{input: input{kind: inFinished, call: i}}
		b.guarded(p, &in, func() {
			defer p.giveUp() // should the recorder crash
			in.outcome, in.err = p.Run(b.work)
		})
	})
}

// result is the error of the batch.
func (b *batchRun) result() error {
	var finish *ChatFinish
	gentle := func(err error) bool { return errors.As(err, &finish) }
	for _, err := range b.errs {
		if err != nil && !gentle(err) {
			return err
		}
	}
	if i := slices.IndexFunc(b.errs, func(err error) bool { return err != nil }); i >= 0 {
		return b.errs[i]
	}
	if !b.r.policy.StopOnFailure {
		return nil
	}
	for i, o := range b.outcomes {
		if !o.Failed() || o.Status == StatusDenied || o.Status == StatusSkipped || o.Status == StatusCancelled {
			continue
		}
		failure := &BatchError{Index: i, Tool: o.Call.Name, Kind: KindExecutionFailed}
		if o.Err != nil {
			failure.Kind, failure.Err = o.Err.Kind, o.Err
		}
		return failure
	}
	return nil
}
