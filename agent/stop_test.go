package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"parley/agent"
	"parley/agent/model"
	"parley/agent/record"
	"parley/toolrt/approval"
)

// stopProgram has what a turn can hold: a context, an input filter, commands of which some may run
// in parallel, a sub-agent with a command of its own.
const stopProgram = `Name: main
Chat: true
Context: place
Input Filters: shout
Tools: add, side
Agents: helper

main agent

---
Name: place

#!/bin/sh
echo here

---
Name: shout
Param: input: the text

#!/bin/sh
printf '%s!' "$INPUT"

---
Name: add
Param: id: a line

#!/bin/sh
echo "$ID" >> lines
echo "added $ID"

---
Name: side
Param: id: a line
Meta Data: parley: parallel

#!/bin/sh
echo "$ID" >> lines
echo "added $ID"

---
Name: helper
Tools: add

helper agent
`

func stopReplies() map[string][]model.Reply {
	return map[string][]model.Reply{
		"main agent": {
			calling(`add {"id":"a"}`),
			calling(`add {"id":"b"}`, `side {"id":"c"}`, `side {"id":"d"}`, `helper {"defaultPromptParameter":"help"}`),
			says("all done"),
		},
		"helper agent": {calling(`add {"id":"h"}`), says("helped")},
	}
}

var errDied = errors.New("the process has died")

// mortal is a journal whose process dies after so many commits: nothing is written any more.
type mortal struct {
	agent.Journal
	mu   sync.Mutex
	left int // commits
	cut  context.CancelFunc
}

// commit reports whether this commit still happens.
func (m *mortal) commit() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left--
	if m.left == 0 {
		m.cut() // whatever runs is gone with the process
	}
	return m.left >= 0
}

func (m *mortal) dead() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.left < 0
}

func (m *mortal) BeginTurn(ctx context.Context, t record.Turn, rows record.Rows) error {
	if !m.commit() {
		return errDied
	}
	return m.Journal.BeginTurn(context.WithoutCancel(ctx), t, rows)
}

func (m *mortal) EndTurn(ctx context.Context, t record.Turn, rows record.Rows) error {
	if !m.commit() {
		return errDied
	}
	return m.Journal.EndTurn(ctx, t, rows)
}

func (m *mortal) Begin(ctx context.Context, e *record.Entry, rows record.Rows) error {
	if !m.commit() {
		return errDied
	}
	return m.Journal.Begin(context.WithoutCancel(ctx), e, rows)
}

func (m *mortal) Finish(ctx context.Context, e *record.Entry, rows record.Rows) error {
	if !m.commit() {
		return errDied
	}
	return m.Journal.Finish(ctx, e, rows)
}

func (m *mortal) SaveSession(ctx context.Context, s record.Session) error {
	if m.dead() {
		return errDied
	}
	return m.Journal.SaveSession(ctx, s)
}

// person answers every question with yes and counts them.
type person struct {
	mu    sync.Mutex
	asked map[string]int // by tool and arguments
}

func (p *person) Authorize(ctx context.Context, q agent.ApprovalQuestion) (agent.ApprovalAnswer, error) {
	q.Placed()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked[q.Tool+q.Arguments]++
	return agent.ApprovalAnswer{Allow: true, Scope: "once"}, ctx.Err()
}

// A turn that is stopped after any of its commits and gone on with ends as if it had not been
// stopped; nothing that had finished runs again (D-01).
func TestD01StopAfterEveryCommit(t *testing.T) {
	want, commits := uncut(t)
	if commits < 20 {
		t.Fatalf("the turn has only %d commits: it does not test much", commits)
	}
	for n := 1; n <= commits; n++ {
		t.Run(fmt.Sprintf("after %d of %d", n, commits), func(t *testing.T) { stopAfter(t, n, want) })
	}
}

func stopRig(t *testing.T) (*rig, *person) {
	r := newRig(t, stopProgram, inOrder(stopReplies()))
	r.policy = approval.New(r.dir, r.dir, approval.ModeAsk)
	p := &person{asked: map[string]int{}}
	r.change = func(o *agent.Options) { o.Authorizer = p }
	return r, p
}

// uncut returns the conversations of a turn that is not stopped, and how many commits it has.
func uncut(t *testing.T) (string, int) {
	r, _ := stopRig(t)
	m := &mortal{Journal: r.journal(), left: 1 << 20, cut: func() {}}
	s := r.openWith(m)
	r.send(s, "go")
	r.close(s)
	return r.both(), 1<<20 - m.left
}

// both is the main conversation, the helper's, and the rows of all calls.
func (r *rig) both() string {
	return r.conversation("1") + "\n--\n" + r.conversation("1/2.3") + "\n--\n" + r.rows()
}

// rows is how every call stands.
func (r *rig) rows() string {
	r.t.Helper()
	calls, err := r.store.TurnCalls(r.t.Context(), "s1", 1, 1)
	if err != nil {
		r.t.Fatal(err)
	}
	var lines []string
	for _, c := range calls {
		lines = append(lines, fmt.Sprintf("%s %s %s %s %q", c.Path, c.Label, c.Tool, c.Status, c.Result))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func stopAfter(t *testing.T, n int, want string) {
	r, p := stopRig(t)
	ctx, cut := context.WithCancel(t.Context())
	defer cut()
	s := r.openWith(&mortal{Journal: r.journal(), left: n, cut: cut})
	_, err := s.Send(ctx, "go")
	t.Logf("stopped: %v", err)
	_ = s.Close() // a dead process says nothing
	r.hub.Close()
	before := len(r.model.requests())

	s = r.open()
	unfinished := s.Unfinished()
	doubts := s.InDoubt()
	for _, o := range doubts {
		if err := s.Resolve(t.Context(), o.Key, agent.ResolveRerun, ""); err != nil {
			t.Fatal(err)
		}
	}
	resp, err := s.Resume(t.Context())
	if err != nil {
		t.Fatalf("resume: %v", err)
	}
	r.close(s)
	if unfinished && resp.Content != "all done" {
		t.Errorf("the turn ended with %q", resp.Content)
	}
	if got := r.both(); got != want {
		t.Errorf("conversations\n got %s\nwant %s", got, want)
	}
	r.onlyOnce(t, doubts)
	for what, times := range p.asked {
		if times > 2 {
			t.Errorf("%s was asked for %d times", what, times)
		}
	}
	// Every reply is asked for once, one that was under way at the stop twice.
	if all := len(r.model.requests()); all > 6 || all < 5 || before > all {
		t.Errorf("%d requests before the stop, %d in all: want 5, or 6 with one asked again", before, all)
	}
}

// onlyOnce checks that every line was appended once, one in doubt at most twice (it was run again).
func (r *rig) onlyOnce(t *testing.T, doubts []agent.OpenCall) {
	t.Helper()
	doubtful := ""
	for _, o := range doubts {
		doubtful += o.Call.Input
	}
	for _, id := range []string{"a", "b", "c", "d", "h"} {
		times, most := r.ran("lines")[id], 1
		if strings.Contains(doubtful, `"id":"`+id+`"`) {
			most = 2
		}
		if times < 1 || times > most {
			t.Errorf("line %s was appended %d times (in doubt: %s)", id, times, doubtful)
		}
	}
}
