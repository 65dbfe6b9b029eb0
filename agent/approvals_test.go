package agent_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"parley/agent"
	"parley/agent/model"
	"parley/agent/record"
	"parley/toolrt"
	"parley/toolrt/approval"
)

// script answers questions by a function and keeps them.
type script struct {
	mu     sync.Mutex
	asked  []agent.ApprovalQuestion
	answer func(n int, q agent.ApprovalQuestion) agent.ApprovalAnswer
}

func (a *script) Authorize(ctx context.Context, q agent.ApprovalQuestion) (agent.ApprovalAnswer, error) {
	q.Placed()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, q)
	return a.answer(len(a.asked), q), ctx.Err()
}

// askRig is a rig in which everything is asked.
func askRig(t *testing.T, source string, replies map[string][]model.Reply, answer func(n int, q agent.ApprovalQuestion) agent.ApprovalAnswer) (*rig, *script) {
	t.Helper()
	r := newRig(t, source, inOrder(replies))
	r.policy = approval.New(r.dir, r.dir, approval.ModeAsk)
	a := &script{answer: answer}
	r.change = func(o *agent.Options) { o.Authorizer = a }
	return r, a
}

func allow(int, agent.ApprovalQuestion) agent.ApprovalAnswer {
	return agent.ApprovalAnswer{Allow: true, Scope: "once"}
}

const writeProgram = "Name: main\nChat: true\nTools: sys.write, sys.exec\n\nmain"

// decision is what the row of a call says about its decision.
func (r *rig) decision(path string) *toolrt.Decision {
	r.t.Helper()
	call, err := r.store.Call(r.t.Context(), "s1", path)
	if err != nil {
		r.t.Fatal(err)
	}
	if call.Decision == nil {
		r.t.Fatalf("no decision is stored of call %s", path)
	}
	return call.Decision
}

// A preview whose file has changed since is shown again, and only the second answer counts (A15).
func TestA15ChangedPreviewIsAskedAgain(t *testing.T) {
	var file string
	r, a := askRig(t, writeProgram, map[string][]model.Reply{"main": {calling(`write {"filename":"f","content":"new"}`), says("done")}},
		func(n int, _ agent.ApprovalQuestion) agent.ApprovalAnswer {
			if n == 1 {
				if err := os.WriteFile(file, []byte("changed meanwhile"), 0o600); err != nil {
					t.Error(err)
				}
			}
			return allow(n, agent.ApprovalQuestion{})
		})
	file = filepath.Join(r.dir, "f")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := r.open()
	defer r.close(s)
	r.send(s, "go")
	if len(a.asked) != 2 || a.asked[0].Again != "" || !strings.Contains(a.asked[1].Again, "changed") ||
		!strings.Contains(a.asked[1].Preview.Diff, "changed meanwhile") {
		t.Fatalf("asked %+v", a.asked)
	}
	if got, _ := os.ReadFile(file); string(got) != "new" {
		t.Errorf("the file holds %q", got)
	}
}

// The person may change the arguments first: the changed call runs, the model is told, and what ran
// is in the record.
func TestA14EditedArguments(t *testing.T) {
	edited := `{"command":"echo safe"}`
	r, _ := askRig(t, writeProgram, map[string][]model.Reply{"main": {calling(`exec {"command":"echo dangerous"}`), says("done")}},
		func(int, agent.ApprovalQuestion) agent.ApprovalAnswer {
			return agent.ApprovalAnswer{Allow: true, Scope: "once", Arguments: &edited}
		})
	s := r.open()
	defer r.close(s)
	r.send(s, "go")
	if got := r.conversation("1"); strings.Contains(got, "tool: dangerous") || !strings.Contains(got, "safe") {
		t.Errorf("conversation\n%s", got)
	}
	if d := r.decision("1/1.0"); d.By != "user" || d.Arguments == nil || *d.Arguments != edited {
		t.Errorf("decision %+v", d)
	}
	if call, _ := r.store.Call(t.Context(), "s1", "1/1.0"); call.Input != edited {
		t.Errorf("the row's input is %s", call.Input)
	}
}

// An edited call is put to the person again, as it would run now; a protected target in it is said,
// and denying then runs neither version.
func TestA14EditIsAskedAgain(t *testing.T) {
	edited := `{"command":"touch .git/hooks/pre-commit"}`
	var second agent.ApprovalQuestion
	r, a := askRig(t, writeProgram, map[string][]model.Reply{"main": {calling(`exec {"command":"echo first > ran"}`), says("done")}},
		func(n int, q agent.ApprovalQuestion) agent.ApprovalAnswer {
			if !strings.Contains(q.Arguments, "touch") {
				return agent.ApprovalAnswer{Allow: true, Scope: "once", Arguments: &edited}
			}
			second = q
			return agent.ApprovalAnswer{}
		})
	s := r.open()
	defer r.close(s)
	r.send(s, "go")
	if second.Arguments != edited || !second.Protected || second.Again == "" || second.Preview.Command != "touch .git/hooks/pre-commit" {
		t.Errorf("second question %+v", second)
	}
	if n := len(a.asked); n != 2 {
		t.Errorf("asked %d times: want 2", n)
	}
	for _, file := range []string{"ran", ".git/hooks/pre-commit"} {
		if _, err := os.Stat(filepath.Join(r.dir, file)); err == nil {
			t.Errorf("%s is there: a call ran that was denied", file)
		}
	}
}

// An edit that a deny rule forbids does not run.
func TestA14EditIsJudgedAgain(t *testing.T) {
	edited := `{"command":"touch forbidden"}`
	r, _ := askRig(t, writeProgram, map[string][]model.Reply{"main": {calling(`exec {"command":"echo a"}`), says("done")}},
		func(int, agent.ApprovalQuestion) agent.ApprovalAnswer {
			return agent.ApprovalAnswer{Allow: true, Scope: "once", Arguments: &edited}
		})
	rule, err := approval.ParseRule(approval.Deny, "sys.exec(touch *)", approval.User)
	if err != nil {
		t.Fatal(err)
	}
	r.policy.Add(rule)
	s := r.open()
	defer r.close(s)
	r.send(s, "go")
	if _, err := os.Stat(filepath.Join(r.dir, "forbidden")); err == nil {
		t.Error("the forbidden edit ran")
	}
	if got := r.conversation("1"); !strings.Contains(got, "the edited call is denied") {
		t.Errorf("conversation\n%s", got)
	}
}

// --yes answers what rules and mode leave open, and no deny rule.
func TestYesAnswersOpenQuestionsOnly(t *testing.T) {
	r := newRig(t, writeProgram, inOrder(map[string][]model.Reply{"main": {
		calling(`exec {"command":"echo a"}`, `exec {"command":"touch forbidden"}`), says("done")}}))
	r.policy = approval.New(r.dir, r.dir, approval.ModeAsk)
	rule, err := approval.ParseRule(approval.Deny, "sys.exec(touch *)", approval.User)
	if err != nil {
		t.Fatal(err)
	}
	r.policy.Add(rule)
	r.change = func(o *agent.Options) { o.Yes = true }
	s := r.open()
	defer r.close(s)
	if resp := r.send(s, "go"); resp.Denied {
		t.Error("a rule's denial counts as one for want of a person")
	}
	if d := r.decision("1/1.0"); !d.Allow || d.By != "flag" {
		t.Errorf("decision %+v", d)
	}
	if d := r.decision("1/1.1"); d.Allow || d.By != "rule" || d.Rule == "" {
		t.Errorf("decision %+v", d)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "forbidden")); err == nil {
		t.Error("the forbidden command ran")
	}
}

// One yes covers a context's runs of the turn, and no other turn's (design, Approvals).
func TestContextIsAskedForOncePerTurn(t *testing.T) {
	r, a := askRig(t, "Name: main\nChat: true\nContext: place\nTools: sys.time.now\n\nmain\n---\nName: place\n\n#!/bin/sh\necho here >> lines\necho place\n",
		map[string][]model.Reply{"main": {calling("timeNow {}"), says("one"), says("two")}}, allow)
	s := r.open()
	defer r.close(s)
	r.send(s, "go")
	if len(a.asked) != 1 || a.asked[0].Category != "context" || a.asked[0].Script == "" {
		t.Errorf("asked %+v", a.asked)
	}
	r.send(s, "again")
	if len(a.asked) != 2 || r.ran("lines")["here"] != 3 {
		t.Errorf("asked %d times, ran %d times: want 2 and 3", len(a.asked), r.ran("lines")["here"])
	}
}

// A denied context or filter ends the turn instead of feeding its denial to the model (Q14).
func TestQ14DeniedContextAndFilterAreErrors(t *testing.T) {
	for _, role := range []string{"Context", "Input Filters", "Output Filters", "Credentials"} {
		r, _ := askRig(t, "Name: main\nChat: true\n"+role+": f\n\nmain\n---\nName: f\n\n#!/bin/sh\necho '{\"env\":{}}'\n",
			map[string][]model.Reply{"main": {says("one")}}, func(int, agent.ApprovalQuestion) agent.ApprovalAnswer { return agent.ApprovalAnswer{} })
		s := r.open()
		if _, err := s.Send(t.Context(), "go"); err == nil || !strings.Contains(err.Error(), "denied") {
			t.Errorf("%s: got %v", role, err)
		}
		for _, req := range r.model.requests() {
			if text := fmt.Sprintf("%+v", req.Messages); strings.Contains(text, "denied") {
				t.Errorf("%s: the model read %s", role, text)
			}
		}
		r.close(s)
	}
}

// A question that was answered before the program ended is not decided again: neither by a mode
// that would allow what the person denied, nor without the edit she made.
func TestAnswersHoldAfterACrash(t *testing.T) {
	edited := `{"command":"echo edited >> lines"}`
	for name, c := range map[string]struct {
		answer agent.ApprovalAnswer
		ran    string
	}{
		"denied": {agent.ApprovalAnswer{Note: "never"}, "map[]"},
		"edited": {agent.ApprovalAnswer{Allow: true, Scope: "once", Arguments: &edited}, "map[edited:1]"},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := askRig(t, writeProgram, map[string][]model.Reply{"main": {calling(`exec {"command":"echo first >> lines"}`), says("done")}},
				func(int, agent.ApprovalQuestion) agent.ApprovalAnswer { return c.answer })
			ctx, cut := context.WithCancel(t.Context())
			defer cut()
			m := &mortal{Journal: r.journal(), left: 1 << 20, cut: cut}
			s := r.openWith(dyingAfter{m, record.EntryApproval})
			_, _ = s.Send(ctx, "go")
			_ = s.Close() // a dead process says nothing
			r.hub.Close()
			r.policy = approval.New(r.dir, r.dir, approval.ModeAuto)
			s = r.open()
			defer r.close(s)
			if !s.Unfinished() {
				t.Fatal("the turn had ended")
			}
			if _, err := s.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(r.ran("lines")); got != c.ran {
				t.Errorf("ran %s, want %s\n%s", got, c.ran, r.conversation("1"))
			}
		})
	}
}

// dyingAfter dies when an effect of the kind has finished.
type dyingAfter struct {
	*mortal
	kind record.EntryKind
}

func (d dyingAfter) Finish(ctx context.Context, e *record.Entry, rows record.Rows) error {
	err := d.mortal.Finish(ctx, e, rows)
	if e.Kind == d.kind {
		d.mu.Lock()
		d.left = 0
		d.mu.Unlock()
		d.cut()
	}
	return err
}

// With nobody at all, a question to the person leaves the turn open; somebody who comes later
// answers it and the turn goes on.
func TestPromptWithNobodyWaits(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\nTools: sys.prompt\n\nmain", inOrder(map[string][]model.Reply{"main": {
		calling(`prompt {"message":"your name?","fields":"name"}`), says("done")}}))
	s := r.open()
	_, err := s.Send(t.Context(), "go")
	if nobody := (*agent.NobodyError)(nil); !errors.As(err, &nobody) || nobody.Question != "your name?" {
		t.Fatalf("got %v", err)
	}
	r.close(s)
	r.change = func(o *agent.Options) { o.Prompter = tells{"name": "Ada"} }
	s = r.open()
	defer r.close(s)
	if len(s.InDoubt()) != 0 {
		t.Errorf("a question is in doubt: %+v", s.InDoubt())
	}
	resp, err := s.Resume(t.Context())
	if err != nil || resp.Content != "done" || !strings.Contains(r.conversation("1"), "Ada") {
		t.Errorf("got %+v, %v\n%s", resp, err, r.conversation("1"))
	}
}
