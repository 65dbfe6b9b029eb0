package toolrt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"
)

var (
	errLimit  = errors.New("time limit passed")
	errGoexit = &panicked{value: "its goroutine ended without a result"}
)

const (
	// lockKept is how long an abandoned exclusive call keeps the lock (R30).
	lockKept = 10 * time.Second
	// maxStale bounds how often a call is asked for again because its preview changed.
	maxStale = 3
)

// Run does the second half of [Runtime.Execute]. It returns at once when the call has ended
// already.
func (p *Prepared) Run(ctx context.Context) (*Outcome, error) {
	if p.outcome == nil && p.spec.Flags.Delegating {
		return p.delegate(ctx)
	}
	if p.outcome == nil {
		p.enter(ctx)
	}
	if p.outcome != nil {
		p.giveUp()
		return p.outcome, p.err
	}
	return p.record(ctx)
}

// line takes a place at the gate without waiting, so that calls pass it in the order of line.
func (p *Prepared) line() {
	if p.ticket == nil && !p.spec.Flags.Delegating {
		p.ticket = p.r.gate.join(!p.spec.Flags.parallel())
	}
}

func (p *Prepared) giveUp() {
	if p.ticket != nil {
		p.r.gate.leave(p.ticket)
		p.ticket = nil
	}
}

// enter passes the gate, or ends the call. A call whose preview has changed leaves the gate, is
// asked for again, and waits anew.
func (p *Prepared) enter(ctx context.Context) {
	for range maxStale {
		if p.line(); p.r.gate.wait(ctx, p.ticket) != nil {
			p.refuse(p.neverRan(ctx))
			return
		}
		if n := p.r.aliveCalls(p.call.Name); n > 0 {
			p.refuse(unavailable(p.call, fmt.Sprintf("the tool is not available: %s of it did not end when stopped and may still be going on", plural(n, "call")), nil))
			return
		}
		if !p.stale(ctx) {
			return
		}
		p.giveUp()
		if p.approve(ctx); p.outcome != nil {
			return
		}
	}
	p.refuse(unavailable(p.call, "the call did not run: what it would change keeps changing while it is being approved", nil))
}

// record runs the call through the recorder, which may have its outcome already.
func (p *Prepared) record(ctx context.Context) (*Outcome, error) {
	queue := max(p.r.opts.Now().Sub(p.received)-p.waited, 0)
	p.applied()
	ran := false
	run := func(ctx context.Context) *Outcome {
		ran = true
		return p.run(ctx, queue)
	}
	if p.r.opts.Recorder == nil {
		o := run(ctx)
		return o, o.Raised.err()
	}
	o, err := p.r.opts.Recorder.Do(ctx, Execution{
		Call: p.call, Spec: p.spec, Arguments: p.storedArguments(p.args), Decision: p.decision, Queue: queue,
	}, run)
	if !ran {
		p.giveUp()
	}
	switch {
	case err != nil && o == nil && ctx.Err() != nil:
		return p.failed(p.neverRan(ctx)), nil
	case err != nil:
		if o == nil {
			o = p.failed(unavailable(p.call, "the call did not run: its start could not be recorded", err))
		}
		return o, fmt.Errorf("record %s: %w", p.call.Name, err)
	case o == nil:
		return p.failed(unavailable(p.call, "the call has no recorded outcome", nil)), fmt.Errorf("record %s: no outcome", p.call.Name)
	case !ran:
		o = p.restored(o)
	}
	return o, o.Raised.err()
}

// restored completes an outcome taken from the record: what is not stored twice is filled in.
func (p *Prepared) restored(recorded *Outcome) *Outcome {
	o := *recorded
	o.Call, o.Recorded = p.call, true
	if o.Output != nil {
		out := *o.Output
		out.Text, o.Output = o.Message, &out
		if p.call.whole() && !p.call.secret() {
			o.Full = o.Message
		}
	}
	return &o
}

// storedArguments is args fit for records (R56, R70).
func (p *Prepared) storedArguments(args string) string {
	return p.r.redact(MaskArguments(args, p.spec.SecretArgs))
}

// result is what a tool gave back.
type result struct {
	out       Output
	err       error
	abandoned bool
}

// run runs the tool past the gate and shapes its outcome.
func (p *Prepared) run(ctx context.Context, queue time.Duration) *Outcome {
	started := p.r.opts.Now()
	runCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := p.limit()
	move := p.detaching()
	lease := &lease{
		gate: p.r.gate, exclusive: !p.spec.Flags.parallel(), now: p.r.opts.Now,
		expire: func() { p.expire(move, limit, func() { cancel(errLimit) }) },
	}
	out := p.newStream()
	inv := &Invocation{
		Call:     p.call,
		Args:     p.args,
		Out:      out,
		Sandbox:  p.sandbox(),
		Pause:    func() func() { return lease.pause(runCtx) },
		Process:  p.noteProcess,
		Seen:     &p.r.seen,
		Jobs:     p.r,
		Changes:  p.r.opts.Changes,
		outputs:  p.r.opts.OutputDir,
		captures: p.captureOptions(),
	}
	h := handle{cancel: cancel, pause: inv.Pause}
	if move != nil {
		inv.Background, h.detach = move.asked, move.ask
	}
	defer p.r.reachable(p.call.ID, h)()
	lease.start(p.ticket, limit)
	p.ticket = nil
	res := p.supervise(runCtx, inv, lease)
	var o *Outcome
	if move != nil && res.out.Detached != nil && res.err == nil {
		o = p.detached(res.out, out, move.reason())
	} else {
		out.close()
		o = p.shape(runCtx, res, out, limit)
		p.forgetProcesses()
	}
	o.StartedAt, o.Queue, o.Ran = started, queue, lease.elapsed()
	return o
}

// limit is how long the call may run: what its arguments name, else its tool's (R24).
func (p *Prepared) limit() time.Duration {
	limit := time.Duration(0)
	if tool, ok := p.call.Tool.(Limiter); ok {
		_ = p.guard(func() error { limit = tool.Limit(p.args); return nil })
	}
	if limit > 0 {
		return limit
	}
	return p.r.timeout(p.spec)
}

// detaching is how the call can be moved to the background, nil when it cannot.
func (p *Prepared) detaching() *detaching {
	if !p.spec.Detaches || p.call.whole() || p.call.secret() {
		return nil
	}
	return newDetaching()
}

// expire does what is to be done at the call's limit: end it, or move it to the background.
func (p *Prepared) expire(move *detaching, limit time.Duration, end func()) {
	if move == nil || !p.r.policy.DetachAtLimit {
		end()
		return
	}
	move.ask(fmt.Sprintf("it was at its limit of %v", limit))
}

// supervise runs the tool in a goroutine of its own, guarded against panics and Goexit (R32, R33),
// and gives it the grace period once ctx has ended. A tool that is still going on then is left
// alone (R29).
func (p *Prepared) supervise(ctx context.Context, inv *Invocation, lease *lease) result {
	done := make(chan result, 1)
	go func() {
		res := result{err: errGoexit}
		defer func() {
			if v := recover(); v != nil {
				res = result{err: &panicked{value: fmt.Sprint(v), stack: debug.Stack()}}
			}
			done <- res
		}()
		out, err := p.call.Tool.Run(ctx, inv)
		res = result{out: out, err: err}
	}()
	res, ok := await(ctx, done, p.r.policy.CancelGrace)
	t := lease.end()
	if !ok {
		p.abandon(done, t)
		return result{err: context.Cause(ctx), abandoned: true}
	}
	if t != nil {
		p.r.gate.leave(t)
	}
	return res
}

// await returns the result, or false when none has come within grace after the end of ctx.
func await(ctx context.Context, done <-chan result, grace time.Duration) (result, bool) {
	select {
	case res := <-done:
		return res, true
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case res := <-done:
		return res, true
	case <-timer.C:
		return result{}, false
	}
}

// abandon gives up waiting for the tool. A permit is free at once; the lock of an exclusive call
// stays taken for a while, since the tool may still be changing things (R30).
func (p *Prepared) abandon(done <-chan result, t *ticket) {
	name := p.call.Name
	p.r.mu.Lock()
	p.r.abandoned[name]++
	p.r.alive++
	p.r.mu.Unlock()
	p.r.log.Warn("a tool does not react to being stopped; it may still be going on", "call", p.call.ID, "tool", name)
	if t != nil && !t.exclusive {
		p.r.gate.leave(t)
		t = nil
	}
	p.r.late.Go(func() {
		timer := time.NewTimer(lockKept)
		defer timer.Stop()
		var res result
		select {
		case res = <-done:
		case <-timer.C:
			if t != nil {
				p.r.gate.leave(t)
				p.r.log.Warn("the lock of a tool that does not end is released; it may still change things", "call", p.call.ID, "tool", name)
			}
			res = <-done
		}
		if t != nil {
			p.r.gate.leave(t)
		}
		p.r.mu.Lock()
		p.r.abandoned[name]--
		p.r.alive--
		p.r.mu.Unlock()
		p.r.log.Info("an abandoned tool has ended", "call", p.call.ID, "tool", name, "err", res.err)
	})
}

// aliveCalls returns how many abandoned calls of the tool are alive if that forbids a further one
// (R30), else 0.
func (r *Runtime) aliveCalls(name string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.alive <= r.policy.MaxAbandoned {
		return 0
	}
	return r.abandoned[name]
}

// delegate runs a tool that runs calls of its own: no gate, no limit, no record, nothing cut.
func (p *Prepared) delegate(ctx context.Context) (*Outcome, error) {
	started := p.r.opts.Now()
	inv := &Invocation{
		Call: p.call, Args: p.args, Out: io.Discard,
		Pause:   func() func() { return func() {} },
		Process: func(int, time.Time) {},
	}
	var out Output
	err := p.guard(func() (err error) { out, err = p.call.Tool.Run(ctx, inv); return err })
	var o *Outcome
	if err != nil {
		o, err = p.delegatedError(ctx, out, err)
	} else {
		o = p.delegated(out)
	}
	o.StartedAt = started
	o.Ran = max(o.FinishedAt.Sub(started), time.Millisecond)
	o.Queue = max(started.Sub(p.received)-p.waited, 0)
	return o, err
}

// parallel reports whether the call may overlap others.
func (f Flags) parallel() bool { return f.Parallel || f.ReadOnly }
