package agent_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"parley/agent"
	"parley/agent/model"
	"parley/agent/monitor"
	"parley/toolrt"
	"parley/toolrt/approval"
)

// asker answers each question by a function.
type asker func(q agent.ApprovalQuestion) agent.ApprovalAnswer

func (a asker) Authorize(_ context.Context, q agent.ApprovalQuestion) (agent.ApprovalAnswer, error) {
	q.Placed()
	return a(q), nil
}

// Before the first call of a reply starts, or is asked about, the rows of all stand in the store, in
// call order (R51).
func TestR51PendingRowsInCallOrder(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\nTools: sys.exec\n\nmain", inOrder(map[string][]model.Reply{"main": {
		calling(`exec {"command":"echo a"}`, `exec {"command":"echo b"}`, `exec {"command":"echo c"}`), says("done")}}))
	r.policy.SetMode(approval.ModeAsk)
	var once sync.Once
	var rows []string
	r.change = func(o *agent.Options) {
		o.Authorizer = asker(func(agent.ApprovalQuestion) agent.ApprovalAnswer {
			once.Do(func() {
				calls, err := r.store.TurnCalls(context.Background(), "s1", 1, 1)
				if err != nil {
					t.Error(err)
				}
				for _, c := range calls {
					if c.Parent != "" {
						rows = append(rows, fmt.Sprintf("%d %s %s", c.Index, c.Status, c.Input))
					}
				}
			})
			return agent.ApprovalAnswer{Allow: true, Scope: "once"}
		})
	}
	s := r.open()
	defer r.close(s)
	r.send(s, "go")
	if got := strings.Join(rows, "\n"); got != `0 pending {"command":"echo a"}`+"\n"+`1 pending {"command":"echo b"}`+"\n"+`2 pending {"command":"echo c"}` {
		t.Errorf("at the first question:\n%s", got)
	}
}

// Each call that is known starts and finishes exactly once, in this order, whatever became of it
// (R39).
func TestR39EventsOfEachCall(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\nTools: sys.exec, bad, sys.time.now\n\nmain\n---\nName: bad\n\n#!/bin/sh\nexit 3",
		inOrder(map[string][]model.Reply{"main": {calling(`exec {"command":"echo a"}`, "bad {}", `exec {"command":"rm -r x"}`, "timeNow {}", "nope {}"), says("done")}}))
	rule, err := approval.ParseRule(approval.Deny, "sys.exec(rm **)", approval.Session)
	if err != nil {
		t.Fatal(err)
	}
	r.policy.Add(rule)
	s := r.open()
	events := s.Events()
	seen := map[string][]monitor.Type{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			batch, err := events.Next(context.Background())
			for _, e := range batch {
				if e.Type == monitor.CallStart || e.Type == monitor.CallFinish {
					seen[e.Path] = append(seen[e.Path], e.Type)
				}
			}
			if err != nil {
				return
			}
		}
	}()
	r.send(s, "go")
	r.close(s)
	<-done
	for _, path := range []string{"1", "1/1.0", "1/1.1", "1/1.2", "1/1.3"} {
		if got := fmt.Sprint(seen[path]); got != "[callStart callFinish]" {
			t.Errorf("call %s: %s", path, got)
		}
	}
}

// A reason in two lines reaches the model as that call's result, the others run, and no call is left
// without an answer; Esc is a plain denial (P-09, A13).
func TestP09A13Denials(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\nTools: sys.exec\n\nmain", inOrder(map[string][]model.Reply{"main": {
		calling(`exec {"command":"echo a"}`, `exec {"command":"echo b"}`, `exec {"command":"echo c"}`), says("done")}}))
	r.policy.SetMode(approval.ModeAsk)
	r.change = func(o *agent.Options) {
		o.Authorizer = asker(func(q agent.ApprovalQuestion) agent.ApprovalAnswer {
			switch q.Place {
			case 1:
				return agent.ApprovalAnswer{Note: "not this\nuse pnpm"}
			case 2:
				return agent.ApprovalAnswer{}
			}
			return agent.ApprovalAnswer{Allow: true, Scope: "once"}
		})
	}
	s := r.open()
	defer r.close(s)
	if resp := r.send(s, "go"); resp.Content != "done" {
		t.Errorf("got %+v", resp)
	}
	got := results(r)
	if len(got) != 3 || !strings.Contains(got[0], `"feedback":"not this\nuse pnpm"`) || got[1] != "Tool call request has been denied" || got[2] != "c" {
		t.Errorf("results %q", got)
	}
	r.wellFormed(r.model.requests()[1])
}

// In plan mode no sub-agent writes, by whatever tool, and none gets a rule of its own (P-10, A5).
func TestP10PlanModeBindsSubAgents(t *testing.T) {
	r := newRig(t, `Name: main
Chat: true
Tools: helper

main
---
Name: helper
Tools: sys.write, sys.exec, own, sys.ls

helper
---
Name: own
Meta Data: parley: read-only

#!/bin/sh
touch own-ran`,
		inOrder(map[string][]model.Reply{
			"main":   {calling("helper {}"), says("done")},
			"helper": {calling(`write {"filename":"a","content":"x"}`, `exec {"command":"touch b"}`, "own {}", `ls {"dir":"."}`), says("tried")},
		}))
	r.policy.SetMode(approval.ModePlan)
	r.change = func(o *agent.Options) {
		o.Authorizer = asker(func(agent.ApprovalQuestion) agent.ApprovalAnswer {
			return agent.ApprovalAnswer{Allow: true, Scope: "once"}
		})
	}
	s := r.open()
	defer r.close(s)
	r.send(s, "go")
	calls, err := r.store.TurnCalls(t.Context(), "s1", 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	status := map[string]toolrt.Status{}
	for _, c := range calls {
		status[c.Tool] = c.Status
	}
	for tool, want := range map[string]toolrt.Status{"sys.write": "denied", "sys.exec": "denied", "own": "denied", "sys.ls": "success"} {
		if status[tool] != want {
			t.Errorf("%s: %s, want %s", tool, status[tool], want)
		}
	}
	for _, name := range []string{"a", "b", "own-ran"} {
		if n := r.ran(name); len(n) > 0 {
			t.Errorf("%s was written", name)
		}
	}
}

// The question shows what A11 names: tool, agents, reason, command with its parts, folder, place and
// rules with the calls they would have matched (A11, A12).
func TestA11A12WhatAQuestionShows(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\nTools: sys.exec\n\nmain", inOrder(map[string][]model.Reply{"main": {
		calling(`exec {"command":"echo a"}`), calling(`exec {"command":"echo b"}`, `exec {"command":"echo a && git status"}`), says("done")}}))
	r.policy.SetMode(approval.ModeAsk)
	var mu sync.Mutex // the questions of a batch come from goroutines of their own
	var asked []agent.ApprovalQuestion
	r.change = func(o *agent.Options) {
		o.Authorizer = asker(func(q agent.ApprovalQuestion) agent.ApprovalAnswer {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, q)
			return agent.ApprovalAnswer{Allow: true, Scope: "once"}
		})
	}
	s := r.open()
	defer r.close(s)
	r.send(s, "go")
	if len(asked) != 3 {
		t.Fatalf("%d questions", len(asked))
	}
	q := asked[2]
	if q.Tool != "sys.exec" || q.Agents[0] != "main" || q.Dir != r.dir || q.Place != 2 || q.Batch != 2 || q.Reason == "" ||
		q.Preview.Command != "echo a && git status" || len(q.Parts) != 2 || q.Parts[0].Text != "echo a" || q.Parts[0].Covered {
		t.Errorf("asked %+v", q)
	}
	past := map[string]int{}
	for _, offer := range asked[1].Rules {
		past[offer.Text] = offer.Past
	}
	if len(asked[1].Rules) < 2 || len(asked[1].Rules) > 3 || past["sys.exec(echo b)"] != 0 || past["sys.exec(echo **)"] != 1 && past["sys.exec(echo *)"] != 1 {
		t.Errorf("offers %+v", asked[1].Rules)
	}
}

// A rule is offered with the earlier calls that it would have matched: neither the call itself nor a
// context that ran before counts.
func TestPastCallsAreOthers(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\nTools: sys.exec\nContext: sys.time.now\n\nmain", inOrder(map[string][]model.Reply{"main": {
		calling(`exec {"command":"echo a"}`), calling(`exec {"command":"echo a"}`), calling(`exec {"command":"date"}`), says("done")}}))
	r.policy.SetMode(approval.ModeAsk)
	var most []int
	r.change = func(o *agent.Options) {
		o.Authorizer = asker(func(q agent.ApprovalQuestion) agent.ApprovalAnswer {
			n := 0
			for _, offer := range q.Rules {
				n = max(n, offer.Past)
			}
			if q.Tool == "sys.exec" {
				most = append(most, n)
			}
			return agent.ApprovalAnswer{Allow: true, Scope: "once"}
		})
	}
	s := r.open()
	defer r.close(s)
	r.send(s, "go")
	if want := []int{0, 1, 0}; !slices.Equal(most, want) {
		t.Errorf("past calls %v, want %v", most, want)
	}
}

// Arguments over the limit are refused unread; the record keeps their beginning, length and hash (R10).
func TestR10TooLargeArguments(t *testing.T) {
	big := `{"path":"` + strings.Repeat("x", 3000) + `"}`
	r := newRig(t, "Name: main\nChat: true\nTools: sys.view\n\nmain", inOrder(map[string][]model.Reply{"main": {calling("view " + big), says("done")}}))
	r.change = func(o *agent.Options) { o.Runtime.MaxArgumentBytes = len(big) - 1 }
	s := r.open()
	defer r.close(s)
	r.send(s, "go")
	if got := results(r)[0]; !strings.Contains(got, "invalid_arguments") || !strings.Contains(got, fmt.Sprintf("%d bytes long", len(big))) {
		t.Errorf("the model reads %s", got)
	}
	call, err := r.store.Call(t.Context(), "s1", "1/1.0")
	if err != nil || !strings.Contains(call.Input, fmt.Sprintf("… [%d bytes, hash ", len(big))) || call.Error != "invalid_arguments" {
		t.Errorf("recorded %q, %v", call.Input, err)
	}
}
