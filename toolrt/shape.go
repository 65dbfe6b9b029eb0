package toolrt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// failed is the outcome of a call with that error: cleaned, with its message and status.
func (p *Prepared) failed(e *Error) *Outcome {
	if e.Tool == "" {
		e.Tool = p.call.Name
	}
	p.r.cleanError(e)
	if e.Plain && !p.call.whole() {
		e.Message = cutText(e.Message, p.r.limits(p.call, p.spec).Bytes)
	}
	o := p.blank()
	o.Err, o.Status = e, statusOf(e.Kind)
	o.Message = errorMessage(e, "", p.changedArguments(), p.r.policy.MaxErrorBytes)
	return o
}

// blank is an outcome with what is known of every call.
func (p *Prepared) blank() *Outcome {
	o := &Outcome{Call: p.call, FinishedAt: p.r.opts.Now(), Waited: p.waited}
	if p.decision.By != "" {
		d := p.decision
		d.Note = p.r.redact(d.Note)
		if d.Arguments != nil {
			args := p.storedArguments(*d.Arguments)
			d.Arguments = &args
		}
		o.Decision = &d
	}
	if p.args != "" && p.args != p.call.Arguments {
		o.Effective = p.storedArguments(p.args)
	}
	return o
}

func statusOf(k Kind) Status {
	switch k {
	case KindDenied:
		return StatusDenied
	case KindTimeout:
		return StatusTimeout
	case KindCancelled:
		return StatusCancelled
	case KindSkipped:
		return StatusSkipped
	case KindInterrupted:
		return StatusInterrupted
	}
	return StatusFailed
}

// changedArguments is what the model is told of a person's edit, "" if there was none (A14).
func (p *Prepared) changedArguments() string {
	if p.decision.Arguments == nil || *p.decision.Arguments == p.call.Arguments {
		return ""
	}
	const enough = 1024
	return cutText(p.storedArguments(*p.decision.Arguments), enough)
}

// shape turns what came of a run into its outcome. ctx is the run's; out is closed.
func (p *Prepared) shape(ctx context.Context, res result, out *stream, limit time.Duration) *Outcome {
	var finish *ChatFinish
	var abort *Abort
	var crash *panicked
	// A good result that came after the limit or a cancel is kept (R27).
	late := context.Cause(ctx) != nil && (res.err != nil || res.out.IsError)
	switch {
	case errors.As(res.err, &crash):
		p.r.logCrash(p.call, crash)
		return p.broken(crashed(p.call, crash.value), res.out, out)
	case errors.As(res.err, &finish):
		text := p.r.redact(cleanText(finish.Message, FormText))
		o := p.passed(Output{Text: text, StopTurn: true}, p.present(wholeText(text), out, false))
		o.Raised = &Raised{Finish: &ChatFinish{Message: text}}
		return o
	case errors.As(res.err, &abort):
		text := p.r.redact(cleanText(abort.Message, FormText))
		o := p.broken(&Error{Kind: KindExecutionFailed, Message: "ABORT: " + text, Plain: true, Cause: abort}, res.out, out)
		o.Raised = &Raised{Abort: &Abort{Message: text}}
		return o
	case late && errors.Is(context.Cause(ctx), errLimit):
		o := p.broken(timedOut(p.call, limit, "", res.abandoned), res.out, out)
		o.Abandoned = res.abandoned
		return o
	case late:
		o := p.cancelled(ctx, res, out)
		o.Abandoned = res.abandoned
		return o
	case res.err != nil:
		return p.broken(asError(p.call, res.err), res.out, out)
	}
	return p.finished(res.out, out)
}

// asError is a tool's error as the result of its call.
func asError(call *Call, err error) *Error {
	var known *Error
	if errors.As(err, &known) {
		e := *known // the tool may use the same value for every call
		if e.Kind == "" {
			e.Kind = KindExecutionFailed
		}
		return &e
	}
	return &Error{Kind: KindExecutionFailed, Tool: call.Name, Message: err.Error(), Cause: err}
}

// finished is the outcome of a tool that gave a result.
func (p *Prepared) finished(res Output, out *stream) *Outcome {
	if p.call.secret() || res.Secret {
		return p.finishedSecret(res, out)
	}
	text := p.resultText(res, out)
	if p.call.whole() {
		p.dropFile(out)
		if limit := p.r.policy.MaxWholeBytes; !text.whole || text.bytes > int64(limit) {
			return p.failed(tooLarge(p.call, limit))
		}
		o := p.passed(res, presented{text: text.head, excerpt: text})
		o.Full = o.Message
		return o
	}
	shown := p.present(text, out, res.FromOut || res.Capture != nil)
	hindered := p.hindered(res, text)
	if hindered {
		shown = shown.with(p.hinderedNote())
	}
	o := p.passed(res, shown)
	o.Hindered = hindered
	return o
}

// finishedSecret hands the text on as it is, and nowhere else.
func (p *Prepared) finishedSecret(res Output, out *stream) *Outcome {
	p.dropFile(out)
	text := wholeText(res.Text)
	switch {
	case res.Capture != nil:
		text = res.Capture.excerpt().after(res.Text)
	case res.FromOut:
		text = out.excerpt().after(res.Text)
	}
	if limit := p.r.policy.MaxWholeBytes; !text.whole || text.bytes > int64(limit) {
		return p.failed(tooLarge(p.call, limit))
	}
	res.Secret = true
	o := p.passed(res, presented{})
	o.Full = text.head
	return o
}

func tooLarge(call *Call, limit int) *Error {
	return &Error{
		Kind: KindExecutionFailed, Tool: call.Name,
		Message: fmt.Sprintf("the output of %s is larger than %s bytes, the most that can be passed on whole", call.Name, grouped(int64(limit))),
	}
}

// resultText is the text of a result, cleaned and redacted.
func (p *Prepared) resultText(res Output, out *stream) excerpt {
	text := p.r.redact(cleanText(res.Text, p.form()))
	switch {
	case res.Capture != nil:
		return res.Capture.excerpt().after(text)
	case res.FromOut:
		return out.excerpt().after(text)
	}
	e := wholeText(text)
	if res.Total > e.bytes { // the tool has cut the text itself
		e.whole, e.tail, e.headPart, e.tailPart = false, e.head, true, true
		e.bytes, e.lines = res.Total, max(res.Lines, e.lines)
	}
	return e
}

// after is e with text before it.
func (e excerpt) after(text string) excerpt {
	if text == "" {
		return e
	}
	e.head = text + e.head
	feeds := int64(strings.Count(text, "\n"))
	e.lines += feeds
	if e.bytes == 0 && !strings.HasSuffix(text, "\n") {
		e.lines++
	}
	e.bytes += int64(len(text))
	return e
}

// passed is the outcome of a result with that text.
func (p *Prepared) passed(res Output, text presented) *Outcome {
	o := p.blank()
	res.Text, res.Capture, res.FromOut, res.Detached = text.text, nil, false, nil
	if res.Meta = json.RawMessage(p.r.redact(string(res.Meta))); !json.Valid(res.Meta) {
		res.Meta = nil // it could not be stored
	}
	res.FilesTouched = slices.Clone(res.FilesTouched)
	for i, name := range res.FilesTouched {
		res.FilesTouched[i] = p.r.redact(name)
	}
	o.Output, o.Message, o.Status = &res, text.text, StatusSuccess
	if res.IsError {
		o.Status = StatusFailed
	}
	text.describe(o)
	return o
}

// broken is the outcome of a run that failed; what it printed until then is its partial output
// (R34).
func (p *Prepared) broken(e *Error, res Output, out *stream) *Outcome {
	if p.call.secret() || res.Secret {
		p.dropFile(out)
		return p.failed(e)
	}
	text, printed := p.partialText(res, out)
	var id string
	if e.Partial == "" && !e.Plain {
		e.Partial = cutStart(lastPart(text), p.r.policy.MaxErrorBytes/2)
	}
	if e.Plain || int64(len(e.Partial)) >= text.bytes {
		p.dropFile(out)
	} else {
		id, _ = p.keepFile(text, out, printed)
	}
	o := p.failed(e)
	o.OutputID, o.OutputBytes, o.OutputLines = id, text.bytes, text.lines
	o.Message = errorMessage(e, id, p.changedArguments(), p.r.policy.MaxErrorBytes)
	return o
}

// partialText is the best that is known of a failed run's output, and whether it is what was
// written to Out.
func (p *Prepared) partialText(res Output, out *stream) (excerpt, bool) {
	if res.Text != "" || res.Capture != nil || res.FromOut {
		if text := p.resultText(res, out); text.bytes > 0 {
			return text, res.FromOut || res.Capture != nil
		}
	}
	return out.excerpt(), true
}

func lastPart(e excerpt) string {
	if e.whole {
		return e.head
	}
	return e.tail
}

// cancelled is the outcome of a call that was running when its batch was cancelled. GPTScript's
// words follow what it had printed (4.6), if a person did it.
func (p *Prepared) cancelled(ctx context.Context, res result, out *stream) *Outcome {
	if cause := stopCause(""); errors.As(context.Cause(ctx), &cause) || res.abandoned {
		message := "the call was stopped while it ran: " + stopReason(ctx) + "; what it did until then may have taken effect"
		if res.abandoned {
			message = "the call does not react to being stopped (" + stopReason(ctx) + "): it may still be going on"
		}
		no := false
		return p.broken(&Error{Kind: KindCancelled, Tool: p.call.Name, Message: message, Retryable: &no}, res.out, out)
	}
	e := &Error{Kind: KindCancelled, Tool: p.call.Name, Message: "the user stopped it while it ran", Plain: true}
	if p.call.secret() || res.out.Secret {
		p.dropFile(out)
		return p.failed(e)
	}
	text, printed := p.partialText(res.out, out)
	shown := p.present(text, out, printed)
	o := p.failed(e)
	shown.describe(o)
	o.Message, o.Cut = shown.text+abortedText, nil
	return o
}

// delegated is the outcome of a delegating call: its result is passed whole.
func (p *Prepared) delegated(out Output) *Outcome {
	if limit := p.r.policy.MaxWholeBytes; len(out.Text) > limit {
		return p.failed(tooLarge(p.call, limit))
	}
	text := wholeText(p.r.redact(cleanText(out.Text, FormText)))
	o := p.passed(out, presented{text: text.head, excerpt: text})
	o.Full = o.Message
	return o
}

// delegatedError is the outcome of a delegating call that failed, and the error to hand on.
func (p *Prepared) delegatedError(ctx context.Context, out Output, err error) (*Outcome, error) {
	var known *Error
	var crash *panicked
	var finish *ChatFinish
	var abort *Abort
	switch {
	case errors.As(err, &crash):
		return p.failed(crashed(p.call, crash.value)), nil
	case errors.As(err, &finish):
		out.Text, out.StopTurn = finish.Message, true
		return p.delegated(out), err
	case errors.As(err, &abort), errors.Is(err, ErrStopped):
		return p.failed(&Error{Kind: KindCancelled, Message: err.Error(), Plain: true, Cause: err}), err
	case errors.As(err, &known):
		e := *known
		return p.failed(&e), nil
	case context.Cause(ctx) != nil:
		return p.failed(notStarted(p.call, stopReason(ctx))), nil
	}
	return p.failed(asError(p.call, err)), err
}
