package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"parley/agent/model"
	"parley/agent/monitor"
)

const twoChats = `Name: planner
Chat: true
Tools: tester, writer

planner here
---
Name: tester
Chat: true
Tools: sys.chat.finish

tester here
---
Name: writer
Chat: true
Tools: sys.chat.finish

writer here
`

// Several chats called in one reply: all start, the first talks to the person; when it ends the next
// shows what it had said, and only then does the caller go on (5.5).
func TestTwoChatsInOneReply(t *testing.T) {
	r := newRig(t, twoChats, inOrder(map[string][]model.Reply{
		"planner here": {calling(`tester {"defaultPromptParameter":"a"}`, `writer {"defaultPromptParameter":"b"}`), says("both done")},
		"tester here":  {says("tester asks"), calling(`chatFinish {"return":"tested"}`)},
		"writer here":  {says("writer asks"), calling(`chatFinish {"return":"written"}`)},
	}))
	for i, step := range []struct{ send, want, agent string }{
		{"hello", "tester asks", "tester"}, {"one", "writer asks", "writer"}, {"two", "both done", "planner"},
	} {
		s := r.open() // each turn in a process of its own
		if resp := r.send(s, step.send); resp.Content != step.want || resp.Agent != step.agent {
			t.Errorf("turn %d: %+v, want %q of %s", i+1, resp, step.want, step.agent)
		}
		r.close(s)
	}
	if got := r.conversation("1"); !strings.HasSuffix(got, "tool: tested\ntool: written\nassistant: both done") {
		t.Errorf("conversation\n%s", got)
	}
}

// A call that failed beside an inner chat is answered as cut off; the chat goes on and hands back.
func TestFailureBesideAnInnerChat(t *testing.T) {
	r := newRig(t, strings.Replace(twoChats, "Name: writer\nChat: true", "Name: writer", 1), inOrder(map[string][]model.Reply{
		"planner here": {calling(`tester {}`, `writer {"defaultPromptParameter":"b"}`), says("went on")},
		"tester here":  {says("tester asks"), calling(`chatFinish {"return":"tested"}`)},
		"writer here":  {},
	}))
	s := r.open()
	defer r.close(s)
	if _, err := s.Send(t.Context(), "hello"); err == nil || !strings.Contains(err.Error(), "no reply 0") {
		t.Fatalf("got %v", err)
	}
	if resp := r.send(s, "one"); resp.Content != "went on" || resp.Agent != "planner" {
		t.Errorf("got %+v", resp)
	}
	got := r.conversation("1")
	if !strings.Contains(got, "tool: tested\ntool: {") || !strings.Contains(got, "cut off") {
		t.Errorf("conversation\n%s", got)
	}
}

// A reply with text and a call of a chat: the text is shown once, then the inner chat's (Q13).
func TestQ13TextBesideAHandOff(t *testing.T) {
	handOff := calling(`tester {"defaultPromptParameter":"x"}`)
	handOff.Message.Content = append([]model.Part{{Text: "I hand you over"}}, handOff.Message.Content...)
	r := newRig(t, handOffProgram, inOrder(map[string][]model.Reply{
		"planner here": {handOff}, "tester here": {says("I am the tester"), says("and still am")}}))
	s := r.open()
	defer r.close(s)
	for _, want := range []string{"I am the tester", "and still am"} {
		if resp := r.send(s, "hello"); resp.Content != want || !strings.HasSuffix(resp.ToolID, ":tester") {
			t.Errorf("got %+v, want %q", resp, want)
		}
	}
}

// A program of agents only: the first takes the entry's place, and the others are its group; each
// sees its own agents and the group without itself (3.4, 5.6).
func TestAgentsOnlyProgramAndGroups(t *testing.T) {
	r := newRig(t, `Agents: one, two

---
Name: one
Chat: true

agent one
---
Name: two
Chat: true
Agents: three

agent two
---
Name: three
Chat: true

agent three
`, inOrder(map[string][]model.Reply{
		"agent one":   {calling(`two {"defaultPromptParameter":"x"}`)},
		"agent two":   {calling(`three {"defaultPromptParameter":"y"}`)},
		"agent three": {says("three here")},
	}))
	s := r.open()
	events := s.Events()
	if resp := r.send(s, "hello"); resp.Content != "three here" || resp.Agent != "three" {
		t.Errorf("got %+v", resp)
	}
	r.close(s)
	var offered []string
	for _, req := range r.model.requests() {
		names := req.Messages[0].Text() + ":"
		for _, tool := range req.Tools {
			names += " " + tool.Name
		}
		offered = append(offered, names)
	}
	want := "agent one: two|agent two: three one|agent three:"
	if got := strings.Join(offered, "|"); got != want {
		t.Errorf("offered %q, want %q", got, want)
	}
	groups := map[string]string{}
	collect(t, events, func(e monitor.Event) {
		if e.Type != monitor.CallStart {
			return
		}
		var names []string
		for _, ref := range e.CallContext.AgentGroup {
			names = append(names, ref.Named)
		}
		groups[e.Path] = strings.Join(names, " ") + ", current " + e.CallContext.CurrentAgent.Named
	})
	wantGroups := "map[1:one two, current one 1/1.0:one two, current two 1/1.0/1.0:three, current three]"
	if got := fmt.Sprint(groups); got != wantGroups {
		t.Errorf("groups %s, want %s", got, wantGroups)
	}
}

// collect calls f with every event of a closed hub.
func collect(t *testing.T, r *monitor.Reader, f func(monitor.Event)) {
	t.Helper()
	for {
		list, err := r.Next(t.Context())
		for _, e := range list {
			f(e)
		}
		if errors.Is(err, monitor.ErrClosed) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The vectors "Messages" of section 11: {} as input of an entry that is no chat is kept in the
// conversation; a chat has no user message at all, so nothing is asked.
func TestV11_5EmptyObjectAsInput(t *testing.T) {
	for kind, want := range map[string]string{"": "user: {}\nassistant: ok", "Chat: true\n": "assistant: ok"} {
		r := newRig(t, "Name: main\n"+kind+"\nhi", inOrder(map[string][]model.Reply{"hi": {says("ok")}}))
		s := r.open()
		r.send(s, "{}")
		r.close(s)
		if got := r.conversation("1"); got != want {
			t.Errorf("%q: conversation\n%s\nwant\n%s", kind, got, want)
		}
	}
}

// The vector "Sharing" of section 11.
func TestV11_10SharingAsRequested(t *testing.T) {
	r := newRig(t, `Name: main
Chat: true
Tools: a
Agents: b

hi
---
Name: a
Share Tools: x
Share Context: c

#!/bin/true
---
Name: x

#!/bin/true
---
Name: c
Share Tools: z
Share Context: c2

#!/bin/sh
echo C1
---
Name: c2

#!sys.echo
C2
---
Name: z

#!/bin/true
---
Name: b
Chat: true
Share Tools: y

agent b
---
Name: y

#!/bin/true
`, inOrder(map[string][]model.Reply{"hi": {says("ok")}}))
	s := r.open()
	defer r.close(s)
	r.send(s, "x")
	req := r.model.requests()[0]
	var names []string
	for _, tool := range req.Tools {
		names = append(names, tool.Name)
	}
	if got := strings.Join(names, " "); got != "a z x y b" {
		t.Errorf("tools %s", got)
	}
	if got := req.Messages[0].Text(); got != "C2\nC1\n\nhi" { // sh's echo ends its line: C1⏎
		t.Errorf("system text %q", got)
	}
}

// A context or filter that prints a chat finish ends nothing (Q35).
func TestQ35ChatFinishOfAContextIsText(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\nContext: c\n\nhi\n---\nName: c\n\n#!/bin/sh\necho 'CHAT FINISH: bye'\n",
		inOrder(map[string][]model.Reply{"hi": {says("ok")}}))
	s := r.open()
	defer r.close(s)
	if resp := r.send(s, "x"); resp.Done || resp.Content != "ok" {
		t.Errorf("got %+v", resp)
	}
	if got := r.model.requests()[0].Messages[0].Text(); got != "CHAT FINISH: bye\n\nhi" {
		t.Errorf("system text %q", got)
	}
}

// A command that prints a chat finish ends the chat around it, however deep it stands.
func TestChatFinishTravelsUp(t *testing.T) {
	r := newRig(t, `Name: main
Chat: true
Agents: helper

main agent
---
Name: helper
Tools: end

helper agent
---
Name: end

#!/bin/sh
printf 'CHAT FINISH: the end'
`, inOrder(map[string][]model.Reply{"main agent": {calling("helper {}")}, "helper agent": {calling("end {}")}}))
	s := r.open()
	events := s.Events()
	if resp := r.send(s, "x"); !resp.Done || resp.Content != "the end" {
		t.Errorf("got %+v", resp)
	}
	r.close(s)
	open := map[string]int{}
	collect(t, events, func(e monitor.Event) {
		switch e.Type {
		case monitor.CallStart:
			open[e.Path]++
		case monitor.CallFinish:
			open[e.Path]--
		}
	})
	for path, n := range open { // Q32
		if n != 0 {
			t.Errorf("call %s has %d starts more than ends", path, n)
		}
	}
}

// A failure ends every open call with an event that says so (Q32).
func TestQ32CallsEndWithTheirError(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\nAgents: helper\n\nmain agent\n---\nName: helper\n\nhelper agent", inOrder(map[string][]model.Reply{
		"main agent": {calling(`helper {"defaultPromptParameter":"x"}`)}, "helper agent": {}}))
	s := r.open()
	events := s.Events()
	if _, err := s.Send(t.Context(), "go"); err == nil {
		t.Fatal("no error")
	}
	r.close(s)
	var ends []string
	collect(t, events, func(e monitor.Event) {
		if e.Type == monitor.CallFinish || e.Type == monitor.RunFinish {
			ends = append(ends, fmt.Sprintf("%s %v", e.Path, strings.Contains(e.Error+e.Err, "no reply 0")))
		}
	})
	if got := strings.Join(ends, ", "); got != "1/1.0 true, 1 true,  true" {
		t.Errorf("ends %q", got)
	}
}

// A prompt reached by #!sys.call goes on with its own conversation over its tool rounds (Q44).
func TestQ44SysCallOfAPrompt(t *testing.T) {
	r := newRig(t, `Name: main
Tools: caller

main
---
Name: caller
Tools: target

#!sys.call target
---
Name: target
Tools: sys.time.now

target here
`, inOrder(map[string][]model.Reply{"main": {calling("caller {}"), says("done")},
		"target here": {calling("timeNow {}"), says("it is late")}}))
	s := r.open()
	defer r.close(s)
	if resp := r.send(s, "go"); resp.Content != "done" {
		t.Errorf("got %+v", resp)
	}
	if got := r.conversation("1"); !strings.Contains(got, "tool: it is late") {
		t.Errorf("conversation\n%s", got)
	}
	if got := r.conversation("1/1.0"); strings.Count(got, "user: ") != 1 || !strings.HasSuffix(got, "assistant: it is late") {
		t.Errorf("the target's conversation\n%s", got)
	}
}

// A command with Chat: true runs anew in each turn with the person's text.
func TestChatCommand(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\n\n#!/bin/sh\nprintf 'got %s' \"$GPTSCRIPT_INPUT\"\n", nil)
	for _, text := range []string{"one", "two"} {
		s := r.open()
		if resp := r.send(s, text); resp.Content != "got "+text || resp.Done {
			t.Errorf("got %+v", resp)
		}
		r.close(s)
	}
}

// A turn that goes on with an inner chat is walked again like the first one: after each of its
// commits.
func TestD01StopInALaterTurn(t *testing.T) {
	replies := map[string][]model.Reply{
		"planner here": {calling(`tester {"defaultPromptParameter":"x"}`), calling("timeNow {}"), says("planner again")},
		"tester here":  {says("I am the tester"), calling("timeNow {}"), calling(`chatFinish {"return":"tested"}`)},
	}
	source := strings.Replace(strings.Replace(handOffProgram, "Agents: tester", "Agents: tester\nTools: sys.time.now", 1),
		"sys.chat.finish", "sys.chat.finish, sys.time.now", 1)
	want := ""
	for n, last := 1<<10, 1<<10; n > 0; n-- {
		r := newRig(t, source, inOrder(replies))
		s := r.open()
		r.send(s, "hello")
		r.close(s)
		ctx, cut := context.WithCancel(t.Context())
		m := &mortal{Journal: r.journal(), left: n, cut: cut}
		s = r.openWith(m)
		_, _ = s.Send(ctx, "go")
		_ = s.Close() // a dead process says nothing
		r.hub.Close()
		cut()
		if n == last {
			n, want = last-m.left, r.shape()
			if n < 8 {
				t.Fatalf("the turn has only %d commits", n)
			}
			last = 0
		}
		s = r.open()
		resp, err := s.Resume(t.Context())
		if err != nil || s.Unfinished() {
			t.Errorf("after %d commits: %+v, %v", n, resp, err)
		}
		r.close(s)
		if got := r.shape(); got != want {
			t.Errorf("after %d commits\n%s\nwant\n%s", n, got, want)
		}
	}
}

// shape is both conversations of handOffProgram without the clock's times.
func (r *rig) shape() string {
	r.t.Helper()
	var lines []string
	for _, l := range strings.Split(r.conversation("1")+"\n--\n"+r.conversation("1/1.0"), "\n") {
		if strings.HasPrefix(l, "tool: 20") {
			l = "tool: (time)"
		}
		lines = append(lines, l)
	}
	return strings.Join(lines, "\n")
}
