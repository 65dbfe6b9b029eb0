package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"parley/agent"
	"parley/agent/model"
	"parley/agent/monitor"
	"parley/agent/record"
	"parley/toolrt/approval"
)

// hooked calls a function before every commit of a turn, numbered from 1; its error is the commit's.
type hooked struct {
	agent.Journal
	mu     sync.Mutex
	n      int
	before func(n int) error
}

func (h *hooked) next() error {
	h.mu.Lock()
	h.n++
	n := h.n
	h.mu.Unlock()
	return h.before(n)
}

func (h *hooked) BeginTurn(ctx context.Context, t record.Turn, rows record.Rows) error {
	if err := h.next(); err != nil {
		return err
	}
	return h.Journal.BeginTurn(ctx, t, rows)
}

func (h *hooked) EndTurn(ctx context.Context, t record.Turn, rows record.Rows) error {
	if err := h.next(); err != nil {
		return err
	}
	return h.Journal.EndTurn(ctx, t, rows)
}

func (h *hooked) Begin(ctx context.Context, e *record.Entry, rows record.Rows) error {
	if err := h.next(); err != nil {
		return err
	}
	return h.Journal.Begin(ctx, e, rows)
}

func (h *hooked) Finish(ctx context.Context, e *record.Entry, rows record.Rows) error {
	if err := h.next(); err != nil {
		return err
	}
	return h.Journal.Finish(ctx, e, rows)
}

// goesOn answers as the script does, until the person has said "next".
func goesOn(replies map[string][]model.Reply) func(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
	script := inOrder(replies)
	return func(ctx context.Context, req model.Request, emit func(model.Delta)) (model.Reply, error) {
		if err := ctx.Err(); err != nil {
			return model.Reply{}, err
		}
		if last := req.Messages[len(req.Messages)-1]; strings.HasPrefix(last.Text(), "next") {
			return says("went on"), nil
		}
		return script(ctx, req, emit)
	}
}

// commitsOf is how many commits the turn has when nobody is asked.
func commitsOf(t *testing.T) int {
	r := newRig(t, stopProgram, goesOn(stopReplies()))
	h := &hooked{Journal: r.journal(), before: func(int) error { return nil }}
	s := r.openWith(h)
	r.send(s, "go")
	r.close(s)
	return h.n
}

// Wherever a turn is interrupted, the next message goes on with a conversation that is whole: it
// begins with what the person said, and every call has its answer (P-09).
func TestInterruptAtEveryCommit(t *testing.T) {
	commits := commitsOf(t)
	for n := 2; n <= commits; n++ {
		t.Run(fmt.Sprintf("before %d of %d", n, commits), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, stopProgram, goesOn(stopReplies()))
			var s *agent.Session
			s = r.openWith(&hooked{Journal: r.journal(), before: func(i int) error {
				if i == n {
					s.Interrupt()
				}
				return nil
			}})
			defer r.close(s)
			if _, err := s.Send(t.Context(), "go"); err != nil {
				t.Fatalf("an interrupted turn is no error: %v", err)
			}
			r.goesOnWell(s)
		})
	}
}

// A commit that fails ends the turn and loses nothing that the next one can still store.
func TestStoreFailsOnceAtEveryCommit(t *testing.T) {
	commits := commitsOf(t)
	for n := 2; n <= commits; n++ {
		t.Run(fmt.Sprintf("at %d of %d", n, commits), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, stopProgram, goesOn(stopReplies()))
			full := errors.New("the disk is full")
			s := r.openWith(&hooked{Journal: r.journal(), before: func(i int) error {
				if i == n {
					return full
				}
				return nil
			}})
			defer r.close(s)
			if _, err := s.Send(t.Context(), "go"); !errors.Is(err, full) {
				t.Fatalf("got %v", err)
			}
			r.goesOnWell(s)
		})
	}
}

// goesOnWell sends "next" and checks the conversation that the model gets and the stored one.
func (r *rig) goesOnWell(s *agent.Session) {
	r.t.Helper()
	resp, err := s.Send(r.t.Context(), "next")
	if err != nil || resp.Content != "went on" {
		r.t.Errorf("the next message: %+v, %v", resp, err)
	}
	reqs := r.model.requests()
	last := reqs[len(reqs)-1]
	r.wellFormed(last)
	var sent []string
	for _, m := range last.Messages {
		if m.Role != model.System {
			sent = append(sent, line(m))
		}
	}
	sent = append(sent, "assistant: went on")
	if stored := r.conversation("1"); stored != strings.Join(sent, "\n") && !strings.HasPrefix(sent[0], "user: next") {
		r.t.Errorf("stored\n%s\nsent\n%s", stored, strings.Join(sent, "\n"))
	}
}

// The person denies a call and stops the turn: the others of the reply are answered too.
func TestDenyAndStop(t *testing.T) {
	r := newRig(t, stopProgram, goesOn(stopReplies()))
	r.policy = approval.New(r.dir, r.dir, approval.ModeAsk)
	r.change = func(o *agent.Options) { o.Authorizer = stopsAt{"side"} }
	s := r.open()
	defer r.close(s)
	if _, err := s.Send(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	if s.LastStatus() != record.TurnAborted {
		t.Errorf("status %s", s.LastStatus())
	}
	if n := r.ran("lines")["c"]; n != 0 {
		t.Errorf("the denied call ran %d times", n)
	}
	r.goesOnWell(s)
}

// stopsAt denies the calls of one tool and stops the turn; it allows all others.
type stopsAt struct{ tool string }

func (a stopsAt) Authorize(ctx context.Context, q agent.ApprovalQuestion) (agent.ApprovalAnswer, error) {
	q.Placed()
	if q.Tool == a.tool {
		return agent.ApprovalAnswer{Stop: true}, ctx.Err()
	}
	return agent.ApprovalAnswer{Allow: true, Scope: "once"}, ctx.Err()
}

// Esc while a question is open ends the question and the turn.
func TestInterruptDuringAnApproval(t *testing.T) {
	r := newRig(t, stopProgram, goesOn(stopReplies()))
	r.policy = approval.New(r.dir, r.dir, approval.ModeAsk)
	w := &waiting{open: make(chan *waitingQuestion, 9)}
	r.change = func(o *agent.Options) { o.Authorizer = w }
	s := r.open()
	defer r.close(s)
	done := r.sendInBackground(s, "go")
	(<-w.open).answer <- agent.ApprovalAnswer{Allow: true, Scope: "once"} // the input filter
	(<-w.open).answer <- agent.ApprovalAnswer{Allow: true, Scope: "once"} // the context
	q := <-w.open
	if st := s.Row().State; st != record.StateAsk {
		t.Errorf("state %s while a question is open", st)
	}
	s.Interrupt()
	<-q.gone
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if len(r.ran("lines")) != 0 {
		t.Errorf("ran %v", r.ran("lines"))
	}
	r.change = nil
	r.policy.SetMode(approval.ModeAuto)
	r.goesOnWell(s)
}

func (r *rig) sendInBackground(s *agent.Session, text string) chan error {
	done := make(chan error, 1)
	go func() {
		_, err := s.Send(context.WithoutCancel(r.t.Context()), text)
		done <- err
	}()
	return done
}

// Esc while an agent inside the turn streams: its call is cancelled, what it had said stays in its
// conversation, and its caller has an answer.
func TestInterruptDuringASubAgent(t *testing.T) {
	streaming := make(chan struct{})
	r := newRig(t, "Name: main\nChat: true\nAgents: helper\n\nmain agent\n---\nName: helper\n\nhelper agent", nil)
	r.model.answer = func(ctx context.Context, req model.Request, emit func(model.Delta)) (model.Reply, error) {
		switch last := req.Messages[len(req.Messages)-1].Text(); {
		case strings.Contains(req.Messages[0].Text(), "helper agent"):
			emit(model.Delta{Kind: model.DeltaText, Text: "half"})
			close(streaming)
			<-ctx.Done()
			return says("half"), context.Cause(ctx)
		case strings.HasPrefix(last, "next"):
			return says("went on"), nil
		}
		return calling("helper {}"), nil
	}
	s := r.open()
	defer r.close(s)
	done := r.sendInBackground(s, "go")
	<-streaming
	s.Interrupt()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := r.conversation("1/1.0"); !strings.HasSuffix(got, "assistant: half (aborted)") {
		t.Errorf("the helper's conversation\n%s", got)
	}
	if call, err := r.store.Call(t.Context(), "s1", "1/1.0"); err != nil || call.Status != "cancelled" {
		t.Errorf("row %+v, %v", call, err)
	}
	r.goesOnWell(s)
}

// One of two calls that run side by side is cancelled; the other and the turn go on.
func TestCancelOneCall(t *testing.T) {
	r := newRig(t, `Name: main
Chat: true
Tools: slow, quick

main
---
Name: slow
Meta Data: parley: parallel

#!/bin/sh
echo started
sleep 60
---
Name: quick
Meta Data: parley: parallel

#!/bin/sh
echo quick
`, inOrder(map[string][]model.Reply{"main": {calling("slow {}", "quick {}"), says("done")}}))
	s := r.open()
	defer r.close(s)
	events := s.Events()
	defer events.Close()
	done := r.sendInBackground(s, "go")
	waitFor(t, events, printed("started"))
	s.CancelCall("1/1.0")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	last := r.model.requests()[1]
	r.wellFormed(last)
	got := r.conversation("1")
	if !strings.Contains(got, "tool: quick\nassistant: done") || !strings.Contains(got, "the user stopped this call") || !strings.Contains(got, "started") {
		t.Errorf("conversation\n%s", got)
	}
	if s.LastStatus() != record.TurnDone {
		t.Errorf("status %s", s.LastStatus())
	}
}

// printed says whether a command has printed the text.
func printed(text string) func(monitor.Event) bool {
	return func(e monitor.Event) bool {
		return e.Delta != nil && e.Delta.Kind == monitor.PieceOutput && strings.Contains(e.Delta.Text, text)
	}
}
