package toolrt

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// Prepared is a call that has been checked and asked for, or one that ended at that. Run is to be
// called once.
type Prepared struct {
	r        *Runtime
	call     *Call
	spec     Spec
	args     string // what the tool gets
	decision Decision
	received time.Time
	waited   time.Duration // for the approver
	ticket   *ticket       // a place at the gate taken already, nil otherwise
	group    atomic.Int64  // the process group that it started last

	outcome *Outcome // set when the call has ended
	err     error    // to be handed on with it
}

type askedKey struct{}

// Asked tells the runtime that the question about the call of ctx has its place in the queue of
// questions, so that the next call of the batch can be put to the [Approver]. An Approver calls it
// before it waits for a person. It does nothing the second time, or outside a batch.
func Asked(ctx context.Context) {
	if f, ok := ctx.Value(askedKey{}).(func()); ok {
		f()
	}
}

func withAsked(ctx context.Context, f func()) context.Context {
	return context.WithValue(ctx, askedKey{}, f)
}

// Prepare does the first half of [Runtime.Execute]: it checks the call and asks for it, which may
// take as long as a person takes. It holds nothing meanwhile (R20).
func (r *Runtime) Prepare(ctx context.Context, call *Call) *Prepared {
	p := r.receive(call)
	p.ask(ctx)
	return p
}

// receive resolves and checks a call, without asking.
func (r *Runtime) receive(call *Call) *Prepared {
	p := &Prepared{r: r, call: call, received: r.opts.Now()}
	if call.Refused != nil {
		e := *call.Refused
		return p.refuse(&e)
	}
	if call.Tool == nil {
		return p.refuse(unknownTool(call))
	}
	if err := p.guard(func() error { p.spec = call.Tool.Spec(); return nil }); err != nil {
		return p.refuse(crashed(call, err.Error()))
	}
	p.spec.SecretArgs = p.spec.Secrets()
	args, e := r.checkArguments(call, p.spec, call.Arguments)
	if e != nil {
		return p.refuse(e)
	}
	p.args = args
	return p
}

// refuse ends the call before it runs.
func (p *Prepared) refuse(e *Error) *Prepared {
	p.outcome = p.failed(e)
	return p
}

// ask puts the call to the approver, or lets a delegating tool ask its own questions.
func (p *Prepared) ask(ctx context.Context) {
	if p.outcome != nil {
		return
	}
	if p.spec.Flags.Delegating {
		p.askDelegating(ctx)
		return
	}
	if p.r.opts.Approver == nil {
		p.decision = Decision{Allow: true, By: "unchecked", At: p.r.opts.Now()}
		return
	}
	p.approve(ctx)
}

func (p *Prepared) approve(ctx context.Context) {
	begin := p.r.opts.Now()
	d, err := p.r.opts.Approver.Approve(ctx, p.call)
	now := p.r.opts.Now()
	p.waited += now.Sub(begin)
	switch {
	case err != nil && ctx.Err() != nil:
		p.refuse(p.neverRan(ctx))
		return
	case err != nil:
		p.refuse(unavailable(p.call, "the call did not run: its approval could not be decided", err))
		p.err = fmt.Errorf("approve %s: %w", p.call.Name, err)
		return
	}
	if d.At.IsZero() {
		d.At = now
	}
	p.decision = d
	if !d.Allow {
		p.refuse(DenialError(p.call.Name, d))
		if d.Stop {
			p.err = ErrStopped
		}
		return
	}
	args := p.call.Arguments
	if d.Arguments != nil {
		args = *d.Arguments
	}
	args, e := p.r.checkArguments(p.call, p.spec, args)
	if e != nil {
		p.refuse(e)
		return
	}
	p.args = args
}

func (p *Prepared) askDelegating(ctx context.Context) {
	tool, ok := p.call.Tool.(Preparer)
	if !ok {
		return
	}
	begin := p.r.opts.Now()
	err := p.guard(func() error { return tool.Prepare(ctx) })
	p.waited = p.r.opts.Now().Sub(begin)
	if err != nil {
		p.outcome, p.err = p.delegatedError(ctx, Output{}, err)
	}
}

// neverRan is the error of a call that ctx ended before it ran.
func (p *Prepared) neverRan(ctx context.Context) *Error {
	return notStarted(p.call, stopReason(ctx))
}

// stopCause is why a batch ends its running calls itself.
type stopCause string

func (s stopCause) Error() string { return string(s) }

// stopReason says why ctx ended.
func stopReason(ctx context.Context) string {
	var cause stopCause
	if errors.As(context.Cause(ctx), &cause) {
		return string(cause)
	}
	return "the user stopped the turn"
}

// panicked is a panic of a tool, or the end of its goroutine, as an error.
type panicked struct {
	value string
	stack []byte
}

func (p *panicked) Error() string { return p.value }

// guard calls a tool's f and turns a panic into an error; the stack goes to the log only (R32).
func (p *Prepared) guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			crash := &panicked{value: fmt.Sprint(v), stack: debug.Stack()}
			p.r.logCrash(p.call, crash)
			err = crash
		}
	}()
	return f()
}

func (r *Runtime) logCrash(call *Call, crash *panicked) {
	r.log.Error("tool crashed", "call", call.ID, "tool", call.Name, "panic", crash.value, "stack", string(crash.stack))
}

// stale reports whether what the person was shown has changed since the answer (A15).
func (p *Prepared) stale(ctx context.Context) bool {
	tool, ok := p.call.Tool.(Previewer)
	if !ok || p.decision.Basis == "" {
		return false
	}
	shown := *p.call
	shown.Arguments = p.args
	var now Preview
	err := p.guard(func() (err error) { now, err = tool.Preview(ctx, &shown); return err })
	return err != nil || now.Basis != p.decision.Basis
}
