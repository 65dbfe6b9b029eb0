package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"parley/agent"
	"parley/agent/model"
	"parley/agent/monitor"
	"parley/agent/record"
)

// altered is a journal that says something else of an unfinished turn than was written.
type altered struct {
	agent.Journal
	turn  func(*record.Turn)
	entry func(*record.Entry)
}

func (a altered) LastTurn(ctx context.Context) (record.Turn, error) {
	t, err := a.Journal.LastTurn(ctx)
	if a.turn != nil {
		a.turn(&t)
	}
	return t, err
}

func (a altered) Entries(ctx context.Context, turn int) ([]record.Entry, error) {
	list, err := a.Journal.Entries(ctx, turn)
	for i := range list {
		if a.entry != nil {
			a.entry(&list[i])
		}
	}
	return list, err
}

// A turn that cannot be walked again closes as interrupted and says why; what it had is kept, its
// open calls are answered, and the next message goes on (design, "Checked").
func TestR45TurnThatCannotBeWalkedAgain(t *testing.T) {
	for name, alter := range map[string]altered{
		"another version": {turn: func(t *record.Turn) { t.Version++ }},
		"another request": {entry: func(e *record.Entry) {
			if e.Kind == record.EntryCompletion {
				e.Hash = "other"
			}
		}},
		"another kind": {entry: func(e *record.Entry) {
			if e.Kind == record.EntryCompletion {
				e.Kind = record.EntryExecution
				e.Request = json.RawMessage(`{}`)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := stopRig(t)
			script := r.model.answer
			r.model.answer = func(ctx context.Context, req model.Request, emit func(model.Delta)) (model.Reply, error) {
				if req.Messages[len(req.Messages)-1].Text() == "next!" {
					return says("went on"), nil
				}
				return script(ctx, req, emit)
			}
			r.dieAfter(22) // inside the calls of the second reply
			alter.Journal = r.journal()
			s := r.openWith(alter)
			before := len(r.ran("lines"))
			_, err := s.Resume(t.Context())
			if err == nil || !strings.Contains(err.Error(), "cannot be walked again") || s.LastStatus() != record.TurnInterrupted {
				t.Fatalf("got %v, %s", err, s.LastStatus())
			}
			if len(r.ran("lines")) != before {
				t.Error("something ran")
			}
			turn, err := r.store.Turn(t.Context(), "s1", 1)
			if err != nil || turn.Error == "" {
				t.Errorf("the turn says %q, %v", turn.Error, err)
			}
			if resp := r.send(s, "next"); resp.Content != "went on" {
				t.Errorf("got %+v", resp)
			}
			r.close(s)
			reqs := r.model.requests()
			r.wellFormed(reqs[len(reqs)-1])
			if got := r.conversation("1"); !strings.HasPrefix(got, "user: go!\nassistant: [add") || !strings.HasSuffix(got, "user: next!\nassistant: went on") {
				t.Errorf("conversation\n%s", got)
			}
		})
	}
}

// A program that cannot be read any more does not end the chat: the last one goes on, said so.
func TestBrokenProgramGoesOnAsItWas(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\n\nmain", inOrder(map[string][]model.Reply{"main": {says("one"), says("two")}}))
	s := r.open()
	defer r.close(s)
	r.send(s, "hello")
	r.source = "Name: main\nTools: nowhere\n\nmain"
	if resp := r.send(s, "again"); resp.Content != "two" {
		t.Errorf("got %+v", resp)
	}
	shown, err := r.store.ShownMessages(t.Context(), "s1", 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	if all := fmt.Sprintf("%+v", shown); !strings.Contains(all, "the program cannot be read, the chat goes on with the last one") {
		t.Errorf("nothing is said: %s", all)
	}
	s2 := newRig(t, r.source, nil)
	s3 := s2.open()
	defer s2.close(s3)
	if _, err := s3.Send(t.Context(), "x"); err == nil {
		t.Error("a first turn runs with a program that cannot be read")
	}
}

// A session that was done, or never began, has nothing to resume; a program that finished starts
// afresh.
func TestFinishedProgramStartsAfresh(t *testing.T) {
	r := newRig(t, "Name: main\n\nmain", inOrder(map[string][]model.Reply{"main": {says("answer")}}))
	s := r.open()
	defer r.close(s)
	if resp, err := s.Resume(t.Context()); err != nil || resp != (agent.Response{}) {
		t.Errorf("resume of nothing: %+v, %v", resp, err)
	}
	for turn := 1; turn <= 2; turn++ {
		if resp := r.send(s, "hello"); !resp.Done || resp.Content != "answer" || resp.ToolID != "" {
			t.Errorf("turn %d: %+v", turn, resp)
		}
		if got := r.conversation(fmt.Sprint(turn)); got != "user: hello\nassistant: answer" {
			t.Errorf("conversation %d\n%s", turn, got)
		}
	}
	if st, err := s.StateJSON(t.Context()); err != nil || st != nil {
		t.Errorf("state %s, %v", st, err)
	}
}

// The example and the errors of 5.5.
func TestStateOfAnotherProgram(t *testing.T) {
	const example = `{"continuation":{"state":{"input":"hi","completion":{"model":"m","messages":[
	  {"role":"system","content":[{"text":"planner here"}]},{"role":"user","content":[{"text":"hi"}]},
	  {"role":"assistant","content":[{"toolCall":{"index":0,"id":"c1","function":{"name":"tester","arguments":"{}"}}}]}],"chat":true},
	  "pending":{"c1":{"index":0,"id":"c1","function":{"name":"tester","arguments":"{}"}}}},
	  "calls":{"c1":{"toolID":"elsewhere/test.gpt:tester","input":"{}"}}},
	"subCalls":[{"toolId":"elsewhere/test.gpt:tester","callId":"c1","state":{
	  "continuation":{"state":{"completion":{"model":"m","messages":[{"role":"system","content":[{"text":"x"}]},
	    {"role":"assistant","content":[{"text":"How can I help?"}]}],"chat":true}},"result":"How can I help?"},
	  "continuationToolID":"elsewhere/test.gpt:tester"}}],
	"subCallID":"c1"}`
	replies := map[string][]model.Reply{
		"planner here": {{}, says("planner again")}, "tester here": {{}, calling(`chatFinish {"return":"helped"}`)}}
	r := newRig(t, handOffProgram, inOrder(replies))
	s := r.open()
	if err := s.Import(t.Context(), json.RawMessage(example)); err != nil {
		t.Fatal(err)
	}
	if resp := r.send(s, "thanks"); resp.Content != "planner again" || resp.Agent != "planner" {
		t.Errorf("got %+v", resp)
	}
	if err := s.Import(t.Context(), json.RawMessage(example)); err == nil {
		t.Error("a state was read into a session that had begun")
	}
	r.close(s)
	want := "user: hi\nassistant: [tester {}]\ntool: helped\nassistant: planner again"
	if got := r.conversation("1"); got != want {
		t.Errorf("conversation\n%s\nwant\n%s", got, want)
	}
	for state, want := range map[string]string{
		`{}`: "invalid state, resume should have Continuation data",
		`[]`: "failed to unmarshal chat state: ",
		strings.Replace(example, `"subCallID":"c1"`, `"subCallID":"c9"`, 1): "invalid state, failed to find subCall for subCallID [c9]",
	} {
		r := newRig(t, handOffProgram, nil)
		s := r.open()
		if err := s.Import(t.Context(), json.RawMessage(state)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.30s: got %v, want %s", state, err, want)
		}
		if s.Row().Turns != 0 {
			t.Error("a bad state left a turn")
		}
		r.close(s)
	}
}

// The events of a turn with everything in it come in the order of the package comment: what belongs
// to a call stands between its start and its end.
func TestEventTree(t *testing.T) {
	r := newRig(t, `Name: main
Chat: true
Context: place
Input Filters: shout
Output Filters: calm
Agents: helper

main agent
---
Name: place

#!sys.echo
here
---
Name: shout

#!/bin/sh
printf '%s' "$INPUT"
---
Name: calm

#!/bin/sh
printf '%s' "$OUTPUT"
---
Name: key

#!/bin/sh
echo '{"env":{}}'
---
Name: helper
Credentials: key

helper agent
`, inOrder(map[string][]model.Reply{"main agent": {calling(`helper {"defaultPromptParameter":"x"}`), says("done")}, "helper agent": {says("helped")}}))
	s := r.open()
	events := s.Events()
	r.send(s, "go")
	r.close(s)
	depth, lines := 0, []string{}
	add := func(text string) { lines = append(lines, strings.Repeat(" ", depth)+text) }
	collect(t, events, func(e monitor.Event) {
		switch e.Type {
		case monitor.RunStart, monitor.CallStart:
			add(strings.TrimSpace(string(e.Type) + " " + name(e)))
			depth++
		case monitor.RunFinish, monitor.CallFinish:
			depth--
			add(strings.TrimSpace(string(e.Type) + " " + name(e)))
		case monitor.CallChat:
			if e.ChatRequest != nil {
				add("request")
			} else {
				add("response")
			}
		case monitor.CallSubCalls, monitor.CallContinue:
			add(string(e.Type))
		}
	})
	want := `runStart
 callStart main
  callStart shout
   request
   response
  callFinish shout
  callStart place
  callFinish place
  request
  response
  callSubCalls
  callStart helper
   callStart key
    request
    response
   callFinish key
   request
   response
  callFinish helper
  callContinue
  callStart place
  callFinish place
  request
  response
  callStart calm
   request
   response
  callFinish calm
 callFinish main
runFinish`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("events\n%s\nwant\n%s", got, want)
	}
}

func name(e monitor.Event) string {
	if e.CallContext == nil {
		return ""
	}
	if e.CallContext.ToolName != "" {
		return e.CallContext.ToolName
	}
	return e.CallContext.Tool.Name
}

// Two turns at once, and a session that was closed.
func TestBusyAndClosed(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\n\nmain", nil)
	asked, goOn := make(chan struct{}), make(chan struct{})
	r.model.answer = func(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
		close(asked)
		<-goOn
		return says("done"), nil
	}
	s := r.open()
	done := r.sendInBackground(s, "go")
	<-asked
	if _, err := s.Send(t.Context(), "me too"); !errors.Is(err, agent.ErrBusy) {
		t.Errorf("got %v", err)
	}
	close(goOn)
	if err := <-done; err != nil {
		t.Error(err)
	}
	r.close(s)
	if _, err := s.Send(t.Context(), "late"); !errors.Is(err, agent.ErrClosed) {
		t.Errorf("got %v", err)
	}
}
