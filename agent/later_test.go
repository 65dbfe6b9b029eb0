package agent_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/agent"
	"parley/agent/model"
)

// A context that fails in a later turn ends it; the message and the chat are kept.
func TestContextFailsInALaterTurn(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\nContext: c\n\nmain\n---\nName: c\n\n#!/bin/sh\ntest ! -e broken\n", goesOn(
		map[string][]model.Reply{"main": {says("one")}}))
	s := r.open()
	defer r.close(s)
	r.send(s, "go")
	broken := r.touch("broken")
	if _, err := s.Send(t.Context(), "lost?"); err == nil {
		t.Fatal("the broken context was taken")
	}
	broken()
	r.goesOnWell(s)
	if got, want := r.conversation("1"), "user: go\nassistant: one\nuser: lost?\nuser: next\nassistant: went on"; got != want {
		t.Errorf("conversation\n%s", got)
	}
}

const nestedProgram = `Name: planner
Chat: true
Context: place
Agents: tester
Tools: note

planner here
---
Name: tester
Chat: true
Context: place
Tools: sys.chat.finish, note

tester here
---
Name: place

#!sys.echo
here
---
Name: note

#!/bin/sh
echo noted
`

// later answers nestedProgram: the first turn hands over to tester, the second one comes back.
func later() func(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
	return goesOn(map[string][]model.Reply{
		"planner here": {calling(`tester {"defaultPromptParameter":"x"}`), calling("note {}"), says("planner again")},
		"tester here":  {says("I am the tester"), calling("note {}", "note {}"), calling(`chatFinish {"return":"tested"}`)},
	})
}

// laterTurn runs the first turn, and the second with a function before each of its commits.
func laterTurn(t *testing.T, before func(s *agent.Session, n int) error) (*rig, *agent.Session, int, error) {
	t.Helper()
	r := newRig(t, nestedProgram, later())
	var s *agent.Session
	h := &hooked{Journal: r.journal()}
	h.before = func(int) error { return nil }
	s = r.openWith(h)
	r.send(s, "hello")
	h.n = 0
	h.before = func(n int) error { return before(s, n) }
	_, err := s.Send(t.Context(), "go")
	n := h.n
	h.before = func(int) error { return nil }
	return r, s, n, err
}

// A turn of an inner chat that is interrupted, or cannot be stored, at any commit leaves a chat that
// goes on: with the inner agent or with the outer one.
func TestCutOffInALaterTurn(t *testing.T) {
	r, s, commits, err := laterTurn(t, func(*agent.Session, int) error { return nil })
	if err != nil || commits < 12 {
		t.Fatal(commits, err)
	}
	r.close(s)
	full := errors.New("the disk is full")
	for n := 2; n <= commits; n++ {
		for name, stop := range map[string]func(s *agent.Session) error{
			"interrupted": func(s *agent.Session) error { s.Interrupt(); return nil },
			"full":        func(*agent.Session) error { return full },
		} {
			t.Run(fmt.Sprintf("%s at %d of %d", name, n, commits), func(t *testing.T) {
				t.Parallel()
				r, s, _, err := laterTurn(t, func(s *agent.Session, i int) error {
					if i == n {
						return stop(s)
					}
					return nil
				})
				defer r.close(s)
				if err != nil && !errors.Is(err, full) {
					t.Fatal(err)
				}
				if resp := r.send(s, "next"); resp.Content != "went on" && resp.Content != "planner again" {
					t.Errorf("got %+v", resp)
				}
				for _, req := range r.model.requests() {
					r.wellFormed(req)
				}
				all := r.conversation("1") + "\n" + r.conversation("1/1.0")
				if strings.Count(all, "user: go") != 1 || strings.Count(all, "user: next") != 1 {
					t.Errorf("conversations\n%s", all)
				}
			})
		}
	}
}

// The person may let an agent go on over the limit of replies with calls.
func TestLimitCanBeExtended(t *testing.T) {
	for answer, want := range map[string]int{"go on": 5, "stop": 3} {
		r := newRig(t, "Name: main\nChat: true\nTools: sys.time.now\n\nmain", nil)
		r.model.answer = func(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
			if len(r.model.requests()) == 5 {
				return says("done"), nil
			}
			return calling("timeNow {}"), nil
		}
		r.change = func(o *agent.Options) { o.MaxToolRounds, o.Prompter = 2, tells{"answer": answer} }
		s := r.open()
		resp := r.send(s, "go")
		if n := len(r.model.requests()); n != want || (resp.Content == "done") != (answer == "go on") {
			t.Errorf("%s: %d requests, %+v", answer, n, resp)
		}
		r.close(s)
	}
}

// A request tool that fails is answered like a command that does; the turn goes on (Q30).
func TestQ30FailedRequestIsAnAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "out of order", http.StatusTeapot)
	}))
	defer server.Close()
	r := newRig(t, "Name: main\nChat: true\nTools: post, sys.time.now\n\nmain\n---\nName: post\n\n#!"+server.URL+"\n",
		inOrder(map[string][]model.Reply{"main": {calling("post {}", "timeNow {}"), says("done")}}))
	s := r.open()
	defer r.close(s)
	if resp := r.send(s, "go"); resp.Content != "done" {
		t.Errorf("got %+v", resp)
	}
	if got := r.conversation("1"); !strings.Contains(got, "tool: ERROR: got (") {
		t.Errorf("conversation\n%s", got)
	}
}

// A nested call that never ends is stopped at the depth of the house.
func TestAgentsThatCallThemselves(t *testing.T) {
	r := newRig(t, "Name: main\nAgents: again\n\nmain\n---\nName: again\nAgents: again\n\nagain",
		func(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
			return calling(`again {"defaultPromptParameter":"x"}`), nil
		})
	s := r.open()
	defer r.close(s)
	if _, err := s.Send(t.Context(), "go"); err == nil || !strings.Contains(err.Error(), "nested more than 32 deep") {
		t.Errorf("got %v", err)
	}
}
