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
			says("went on"), // to a message sent after the stop
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
		t.Run(fmt.Sprintf("after %d of %d", n, commits), func(t *testing.T) {
			t.Parallel()
			stopAfter(t, n, want)
		})
	}
}

// stopRig has a person who allows everything, and says something while the first reply comes.
func stopRig(t *testing.T) (*rig, *person) {
	r := newRig(t, stopProgram, nil)
	script := inOrder(stopReplies())
	r.model.answer = func(ctx context.Context, req model.Request, emit func(model.Delta)) (model.Reply, error) {
		if len(req.Messages) == 2 && !r.steered() {
			r.session.Steer("by the way")
		}
		return script(ctx, req, emit)
	}
	r.policy = approval.New(r.dir, r.dir, approval.ModeAsk)
	p := &person{asked: map[string]int{}}
	r.change = func(o *agent.Options) { o.Authorizer = p }
	return r, p
}

// steered reports whether the store has what the person says in stopRig.
func (r *rig) steered() bool {
	var entries []record.Entry
	for turn := 1; turn <= 2; turn++ {
		list, err := r.opened.Entries(context.Background(), turn)
		if err != nil {
			r.t.Error(err)
		}
		entries = append(entries, list...)
	}
	return slices.ContainsFunc(entries, func(e record.Entry) bool { return e.Kind == record.EntrySteer && string(e.Result) == `"by the way"` })
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

// dieAfter runs the turn in a process that dies after n commits.
func (r *rig) dieAfter(n int) {
	r.t.Helper()
	ctx, cut := context.WithCancel(r.t.Context())
	defer cut()
	s := r.openWith(&mortal{Journal: r.journal(), left: n, cut: cut})
	_, err := s.Send(ctx, "go")
	r.t.Logf("stopped: %v", err)
	_ = s.Close() // a dead process says nothing
	r.hub.Close()
}

func stopAfter(t *testing.T, n int, want string) {
	r, p := stopRig(t)
	r.dieAfter(n)
	before := len(r.model.requests())

	s := r.open()
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

// A message sent instead of an answer about the calls in doubt: they count as interrupted, nothing
// runs twice, and the message enters the turn once.
func TestD01SendAfterEveryStop(t *testing.T) {
	_, commits := uncut(t)
	for n := 1; n < commits; n++ {
		t.Run(fmt.Sprintf("after %d of %d", n, commits), func(t *testing.T) {
			t.Parallel()
			r, _ := stopRig(t)
			r.dieAfter(n)
			s := r.open()
			doubts := s.InDoubt()
			resp, err := s.Send(t.Context(), "and then")
			if err != nil { // a context in doubt has no result to go on with: the turn ends there
				if len(doubts) == 0 || !strings.Contains(err.Error(), "parley ended while this tool ran") {
					t.Fatal(err)
				}
				resp = r.send(s, "once more")
			}
			r.close(s)
			if resp.Content != "went on" && resp.Content != "all done" {
				t.Errorf("got %+v", resp)
			}
			got := r.conversation("1") + r.conversation("2") // the turn began anew if its filter was in doubt
			if strings.Count(got, "user: and then") != 1 || strings.Count(got, "user: by the way") != 1 {
				t.Errorf("conversation\n%s", got)
			}
			reqs := r.model.requests()
			r.wellFormed(reqs[len(reqs)-1])
			for id, times := range r.ran("lines") {
				if times > 1 {
					t.Errorf("line %s was appended %d times", id, times)
				}
			}
			if cut := strings.Count(got, "the program ended while this call ran"); cut > len(doubts) {
				t.Errorf("%d calls were told to be cut off, %d were in doubt\n%s", cut, len(doubts), got)
			}
		})
	}
}

// The answers of the resume dialog about a call that had begun (D-01 c).
func TestD01AnswersAboutACallInDoubt(t *testing.T) {
	for how, want := range map[agent.Resolution]string{
		agent.ResolveRerun:       "tool: added a",
		agent.ResolveResult:      "tool: by hand",
		agent.ResolveInterrupted: `tool: {"error":"the program ended while this call ran`,
	} {
		t.Run(string(how), func(t *testing.T) {
			r, _ := stopRig(t)
			doubt := r.dieInDoubt()
			s := r.open()
			if err := s.Resolve(t.Context(), record.Key{Turn: 1, Path: "9"}, how, ""); err == nil {
				t.Error("a call that is not in doubt was answered for")
			}
			if err := s.Resolve(t.Context(), doubt.Key, how, "by hand"); err != nil {
				t.Fatal(err)
			}
			if left := s.InDoubt(); len(left) != 0 {
				t.Errorf("still in doubt: %+v", left)
			}
			if _, err := s.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
			r.close(s)
			if got := r.conversation("1"); !strings.Contains(got, want) {
				t.Errorf("conversation\n%s\nlacks %s", got, want)
			}
			call, err := r.store.Call(t.Context(), "s1", doubt.Call.Path)
			wantStatus := map[agent.Resolution]string{agent.ResolveRerun: "success", agent.ResolveResult: "success", agent.ResolveInterrupted: "interrupted"}[how]
			if err != nil || string(call.Status) != wantStatus {
				t.Errorf("row %+v, %v", call, err)
			}
		})
	}
}

// dieInDoubt lets the process die as soon as the first command that changes something has begun,
// and returns what is in doubt then.
func (r *rig) dieInDoubt() agent.OpenCall {
	r.t.Helper()
	ctx, cut := context.WithCancel(r.t.Context())
	defer cut()
	m := &mortal{Journal: r.journal(), left: 1 << 20, cut: cut}
	s := r.openWith(dyingIn{m, "add"})
	_, _ = s.Send(ctx, "go")
	_ = s.Close() // a dead process says nothing
	r.hub.Close()
	s = r.open()
	defer r.close(s)
	doubts := s.InDoubt()
	if len(doubts) != 1 || doubts[0].Call.Tool != "add" || doubts[0].Started.IsZero() {
		r.t.Fatalf("in doubt: %+v", doubts)
	}
	return doubts[0]
}

// dyingIn dies when an execution of the tool has begun.
type dyingIn struct {
	*mortal
	tool string
}

func (d dyingIn) Begin(ctx context.Context, e *record.Entry, rows record.Rows) error {
	err := d.mortal.Begin(ctx, e, rows)
	if e.Kind == record.EntryExecution && strings.Contains(string(e.Request), `"tool":"`+d.tool+`"`) {
		d.mu.Lock()
		d.left = 0
		d.mu.Unlock()
		d.cut()
	}
	return err
}
