package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"parley/agent"
	"parley/agent/model"
	"parley/agent/monitor"
	"parley/agent/record"
	"parley/toolrt"
)

const handOffProgram = `Name: planner
Chat: true
Agents: tester

planner here

---
Name: tester
Chat: true
Tools: sys.chat.finish

tester here
`

// An inner chat takes the conversation over until it finishes; then the outer one goes on.
func TestHandOffAndBack(t *testing.T) {
	r := newRig(t, handOffProgram, inOrder(map[string][]model.Reply{
		"planner here": {calling(`tester {"defaultPromptParameter":"take over"}`), says("planner again")},
		"tester here":  {says("I am the tester"), says("still me"), calling(`chatFinish {"return":"tested"}`)},
	}))
	s := r.open()
	if resp := r.send(s, "hello"); resp.Content != "I am the tester" || resp.Agent != "tester" {
		t.Errorf("hand-off gave %+v", resp)
	}
	if resp := r.send(s, "who are you"); resp.Content != "still me" {
		t.Errorf("the inner chat answered %q", resp.Content)
	}
	r.close(s)
	s = r.open() // the open inner chat survives
	resp := r.send(s, "finish")
	if resp.Content != "planner again" || resp.Agent != "planner" || resp.Done {
		t.Errorf("after the finish: %+v", resp)
	}
	r.close(s)
	want := `user: hello
assistant: [tester {"defaultPromptParameter":"take over"}]
tool: tested
assistant: planner again`
	if got := r.conversation("1"); got != want {
		t.Errorf("conversation\n%s\nwant\n%s", got, want)
	}
	shown, err := r.store.ShownMessages(t.Context(), "s1", 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var notices []string
	for _, m := range shown {
		if m.Notice != "" {
			notices = append(notices, m.Notice)
		}
	}
	if want := []string{"now with @tester, for @planner", "@tester is done, now with @planner"}; fmt.Sprint(notices) != fmt.Sprint(want) {
		t.Errorf("notices %q, want %q", notices, want)
	}
}

func TestBackEndsTheInnerChat(t *testing.T) {
	r := newRig(t, handOffProgram, inOrder(map[string][]model.Reply{
		"planner here": {calling(`tester {}`), says("planner again")},
		"tester here":  {says("I am the tester")},
	}))
	s := r.open()
	defer r.close(s)
	if _, err := s.Back(t.Context(), "x"); err == nil {
		t.Error("there is no inner chat, but /back works")
	}
	r.send(s, "hello")
	resp, err := s.Back(t.Context(), "enough")
	if err != nil || resp.Content != "planner again" {
		t.Errorf("back gave %+v, %v", resp, err)
	}
	if got := r.conversation("1"); !strings.Contains(got, "tool: enough") {
		t.Errorf("conversation\n%s", got)
	}
}

// The vectors of section 11: a chat finish ends a chat with its message; without a chat the whole
// run ends with the prefix.
func TestV11_9ChatFinish(t *testing.T) {
	for kind, want := range map[string]string{"Chat: true": "bye", "": "CHAT FINISH: bye"} {
		r := newRig(t, "Name: main\n"+kind+"\nTools: sys.chat.finish\n\nmain", inOrder(map[string][]model.Reply{
			"main": {calling(`chatFinish {"return":"bye"}`)}}))
		s := r.open()
		if resp := r.send(s, "x"); !resp.Done || resp.Content != want {
			t.Errorf("%q: %+v, want done with %q", kind, resp, want)
		}
		r.close(s)
	}
}

// A model that always calls a tool is called 51 times; then the limit's text is the reply and the
// chat stays open.
func TestV11_9LimitOfToolRounds(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\nTools: sys.time.now\n\nmain",
		func(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
			return calling("timeNow {}"), nil
		})
	s := r.open()
	defer r.close(s)
	resp := r.send(s, "go")
	if want := "We cannot continue because the number of consecutive tool calls is limited to 50."; resp.Content != want || resp.Done {
		t.Errorf("got %+v", resp)
	}
	if n := len(r.model.requests()); n != 51 {
		t.Errorf("the model was called %d times: want 51", n)
	}
}

// Unknown tools, duplicate ids and broken arguments each get one answer, and the turn goes on (T-10,
// Q11, Q46).
func TestT10BadCallsAreAnswered(t *testing.T) {
	reply := calling("nope {}", "one {}", `one {"id": "cut`, "ONE {}")
	for i := range reply.Message.Content {
		reply.Message.Content[i].ToolCall.ID = "same"
	}
	r := newRig(t, "Name: main\nChat: true\nTools: one\n\nmain\n---\nName: one\nParam: id: x\n\n#!/bin/sh\necho ran\n",
		inOrder(map[string][]model.Reply{"main": {reply, says("done")}}))
	s := r.open()
	defer r.close(s)
	if resp := r.send(s, "go"); resp.Content != "done" {
		t.Errorf("got %+v", resp)
	}
	last := r.model.requests()[1]
	r.wellFormed(last)
	var results []string
	for _, m := range last.Messages {
		if m.Role == model.ToolRole {
			results = append(results, strings.TrimSpace(m.Text()))
		}
	}
	if len(results) != 4 || !strings.HasPrefix(results[0], "ERROR: can not call unknown tool named [nope]") || results[1] != "ran" ||
		!strings.Contains(results[2], "invalid_arguments") || results[3] != "ran" {
		t.Errorf("results %q", results)
	}
}

// What the filters get (5.8, Q42): turn 2 maps the new text.
func TestQ42OutputFilterArguments(t *testing.T) {
	r := newRig(t, `Name: main
Chat: true
Output Filters: f with ${zip} as zip

main
---
Name: f
Param: zip: z

#!/bin/sh
printf '%s' "$GPTSCRIPT_INPUT"
`, inOrder(map[string][]model.Reply{"main": {says("x"), says("y")}}))
	s := r.open()
	defer r.close(s)
	for turn, zip := range []string{"z", "w"} {
		resp := r.send(s, fmt.Sprintf(`{"zip":%q}`, zip))
		var got map[string]any
		if err := json.Unmarshal([]byte(resp.Content), &got); err != nil || got["zip"] != zip || got["chat"] != true || got["continuation"] != true {
			t.Errorf("turn %d: the filter got %s, %v", turn+1, resp.Content, err)
		}
	}
	// The conversation keeps the reply as it was.
	if got := r.conversation("1"); !strings.Contains(got, "assistant: x") {
		t.Errorf("conversation\n%s", got)
	}
}

func TestV11_5MessagesV11_7InputFilters(t *testing.T) {
	r := newRig(t, `Name: main
Chat: true
Context: c2, c1
Input Filters: f

hi
---
Name: c1

#!/bin/sh
echo C1
---
Name: c2

#!sys.echo
C2
---
Name: f

#!/bin/sh
printf '%s' "$GPTSCRIPT_INPUT"
`, inOrder(map[string][]model.Reply{"hi": {says("ok")}}))
	s := r.open()
	defer r.close(s)
	r.send(s, `{"a":1,"input":"q"}`)
	req := r.model.requests()[0]
	if got := req.Messages[0].Text(); got != "C2\nC1\n\nhi" {
		t.Errorf("system text %q", got)
	}
	if got, want := req.Messages[1].Text(), `{"a":1,"input":"{\"a\":1,\"input\":\"q\"}"}`; got != want {
		t.Errorf("filtered input %s, want %s", got, want)
	}
}

func TestV11_8SysCall(t *testing.T) {
	r := newRig(t, `Name: main
Tools: caller

main
---
Name: caller
Tools: t
Param: q: q

#!sys.call t a b with ${q} as z
B
---
Name: t
Param: z: z

#!/bin/sh
printf '%s' "$GPTSCRIPT_INPUT"
`, inOrder(map[string][]model.Reply{"main": {calling(`caller {"q":"1"}`), says("done")}}))
	s := r.open()
	defer r.close(s)
	r.send(s, "go")
	msgs := r.model.requests()[1].Messages
	if got, want := msgs[len(msgs)-1].Text(), `{"TOOL_CALL_ARGS":"a b","TOOL_CALL_BODY":"B","q":"1","z":"1"}`; got != want {
		t.Errorf("target got %s, want %s", got, want)
	}
}

// A model that fails in the middle of a turn loses nothing: the next message goes on from there.
func TestNextMessageGoesOnAfterAFailure(t *testing.T) {
	fail := true
	r := newRig(t, "Name: main\nChat: true\nTools: sys.time.now\n\nmain", nil)
	r.model.answer = func(_ context.Context, req model.Request, _ func(model.Delta)) (model.Reply, error) {
		switch {
		case req.Messages[len(req.Messages)-1].Role == model.ToolRole && fail:
			fail = false
			return model.Reply{}, &model.Error{Provider: "test", Status: 500, Message: "broken"}
		case req.Messages[len(req.Messages)-1].Text() == "again":
			return says("here"), nil
		}
		return calling("timeNow {}"), nil
	}
	s := r.open()
	defer r.close(s)
	if _, err := s.Send(t.Context(), "go"); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Fatalf("got %v", err)
	}
	if st := s.Row().State; st != record.StateErr {
		t.Errorf("state %s", st)
	}
	if resp := r.send(s, "again"); resp.Content != "here" {
		t.Errorf("got %+v", resp)
	}
	reqs := r.model.requests()
	r.wellFormed(reqs[len(reqs)-1])
	if n := len(reqs[len(reqs)-1].Messages); n != 5 {
		t.Errorf("the last request has %d messages: want system, user, reply, result, user", n)
	}
}

// Esc while the model streams: what had come is kept and marked, and the next message goes on.
func TestEffortHoldsFromTheNextTurnOn(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\n\nmain", inOrder(map[string][]model.Reply{"main": {says("one"), says("two"), says("three")}}))
	s := r.open()
	r.send(s, "a")
	if err := s.SetEffort(model.EffortHigh); err != nil {
		t.Fatal(err)
	}
	r.send(s, "b")
	r.close(s)
	again := r.open()
	defer r.close(again)
	r.send(again, "c")
	var got []model.Effort
	for _, req := range r.model.requests() {
		got = append(got, req.Effort)
	}
	if !slices.Equal(got, []model.Effort{"", model.EffortHigh, model.EffortHigh}) {
		t.Errorf("efforts %q", got)
	}
}

// The effort may change while a turn runs. The turn keeps its own, also when it is walked again after
// the process has ended in it, and when it is played.
func TestEffortOfATurnStaysWhenItIsWalkedAgain(t *testing.T) {
	asked := make(chan struct{}, 1)
	r := newRig(t, "Name: main\nChat: true\nTools: sys.time.now\n\nmain", nil)
	r.model.answer = func(ctx context.Context, req model.Request, _ func(model.Delta)) (model.Reply, error) {
		switch len(r.model.requests()) {
		case 1:
			return calling("time_now {}"), nil
		case 2:
			asked <- struct{}{}
			<-ctx.Done()
			return model.Reply{}, context.Cause(ctx)
		}
		return says("done"), nil
	}
	s := r.open()
	if err := s.SetEffort(model.EffortLow); err != nil {
		t.Fatal(err)
	}
	done := r.sendInBackground(s, "go")
	<-asked
	if err := s.SetEffort(model.EffortHigh); err != nil {
		t.Fatal(err)
	}
	r.close(s)
	<-done
	s = r.open()
	defer r.close(s)
	if resp, err := s.Resume(t.Context()); err != nil || resp.Content != "done" {
		t.Fatalf("got %+v, %v", resp, err)
	}
	r.send(s, "again")
	var got []model.Effort
	for _, req := range r.model.requests() {
		got = append(got, req.Effort)
	}
	if want := []model.Effort{model.EffortLow, model.EffortLow, model.EffortLow, model.EffortHigh}; !slices.Equal(got, want) {
		t.Errorf("efforts %q", got)
	}
	rec, err := r.store.Record(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	replay, err := agent.NewReplay(t.Context(), agent.Options{Program: r.program,
		OpenModel: func(string, string) (model.Model, error) { return r.model, nil }, Policy: r.policy, Dir: r.dir}, rec, agent.ReplayOptions{Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = replay.Close() }()
	for turn := 1; turn <= 2; turn++ {
		if _, _, err := replay.Turn(t.Context(), turn); err != nil {
			t.Errorf("turn %d: %v", turn, err)
		}
	}
}

func TestInterruptKeepsWhatHadCome(t *testing.T) {
	streaming := make(chan struct{})
	r := newRig(t, "Name: main\nChat: true\n\nmain", nil)
	r.model.answer = func(ctx context.Context, req model.Request, emit func(model.Delta)) (model.Reply, error) {
		if req.Messages[len(req.Messages)-1].Text() != "go" {
			return says("fine"), nil
		}
		emit(model.Delta{Kind: model.DeltaText, Text: "half of it"})
		close(streaming)
		<-ctx.Done()
		return says("half of it"), context.Cause(ctx)
	}
	s := r.open()
	defer r.close(s)
	done := make(chan agent.Response, 1)
	go func() {
		resp, err := s.Send(context.WithoutCancel(t.Context()), "go")
		if err != nil {
			t.Error(err)
		}
		done <- resp
	}()
	<-streaming
	s.Interrupt()
	if resp := <-done; resp.Content != "half of it\n\nABORTED BY USER" {
		t.Errorf("got %q", resp.Content)
	}
	if s.LastStatus() != record.TurnAborted {
		t.Errorf("status %s", s.LastStatus())
	}
	if resp := r.send(s, "next"); resp.Content != "fine" {
		t.Errorf("got %+v", resp)
	}
	if got, want := r.conversation("1"), "user: go\nassistant: half of it (aborted)\nuser: next\nassistant: fine"; got != want {
		t.Errorf("conversation\n%s\nwant\n%s", got, want)
	}
}

// Esc while a command runs ends it; its call and those behind it have an answer.
func TestInterruptDuringACommand(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\nTools: slow\n\nmain\n---\nName: slow\n\n#!/bin/sh\necho started\nsleep 60\n",
		inOrder(map[string][]model.Reply{"main": {calling("slow {}", "slow {}"), says("went on")}}))
	s := r.open()
	defer r.close(s)
	events := s.Events()
	defer events.Close()
	done := make(chan error, 1)
	go func() {
		_, err := s.Send(context.WithoutCancel(t.Context()), "go")
		done <- err
	}()
	waitFor(t, events, func(e monitor.Event) bool { return e.Delta != nil && e.Delta.Kind == monitor.PieceOutput })
	s.Interrupt()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if resp := r.send(s, "next"); resp.Content != "went on" {
		t.Errorf("got %+v", resp)
	}
	reqs := r.model.requests()
	r.wellFormed(reqs[len(reqs)-1])
	if got := r.conversation("1"); !strings.Contains(got, "tool: started\n\n\nABORTED BY USER\ntool: {\"error\":\"the call did not run") {
		t.Errorf("conversation\n%s", got)
	}
}

// waitFor reads events until one is as wanted.
func waitFor(t *testing.T, r *monitor.Reader, want func(monitor.Event) bool) {
	t.Helper()
	for {
		events, err := r.Next(t.Context())
		for _, e := range events {
			if want(e) {
				return
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A message handed over while the turn runs enters before the next model call.
func TestSteerEntersTheRunningTurn(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\nTools: sys.time.now\n\nmain", nil)
	var s *agent.Session
	r.model.answer = func(_ context.Context, req model.Request, _ func(model.Delta)) (model.Reply, error) {
		switch req.Messages[len(req.Messages)-1].Text() {
		case "go":
			if !s.Steer("by the way") {
				t.Error("no turn runs")
			}
			return calling("timeNow {}"), nil
		case "by the way":
			return says("noted"), nil
		}
		return says("lost"), nil
	}
	s = r.open()
	defer r.close(s)
	if resp := r.send(s, "go"); resp.Content != "noted" {
		t.Errorf("got %+v", resp)
	}
	if s.Steer("too late") {
		t.Error("a message was taken with no turn running")
	}
}

// The state for scripts goes out and comes in again (5.5).
func TestStateJSONRoundTrip(t *testing.T) {
	replies := map[string][]model.Reply{
		"planner here": {calling(`tester {"defaultPromptParameter":"x"}`), says("planner again")},
		"tester here":  {says("I am the tester"), calling(`chatFinish {"return":"tested"}`)},
	}
	r := newRig(t, handOffProgram, inOrder(replies))
	s := r.open()
	r.send(s, "hello")
	state, err := s.StateJSON(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.close(s)
	r2 := newRig(t, handOffProgram, inOrder(replies))
	s = r2.open()
	defer r2.close(s)
	if err := s.Import(t.Context(), state); err != nil {
		t.Fatal(err)
	}
	again, err := s.StateJSON(t.Context())
	if err != nil || string(again) != string(state) {
		t.Errorf("state\n%s\ncame back as\n%s, %v", state, again, err)
	}
	if resp := r2.send(s, "finish"); resp.Content != "planner again" {
		t.Errorf("got %+v", resp)
	}
	for _, bad := range []string{`{}`, `{"continuation":{},"subCallID":"x"}`, `[]`} {
		r3 := newRig(t, handOffProgram, inOrder(replies))
		s := r3.open()
		if err := s.Import(t.Context(), json.RawMessage(bad)); err == nil {
			t.Errorf("state %s was taken", bad)
		}
		r3.close(s)
	}
}

// A denial is an answer for the model and nothing else stops; with nobody to ask it says so.
func TestA13A17R46Denials(t *testing.T) {
	program := "Name: main\nChat: true\nTools: one, sys.time.now\n\nmain\n---\nName: one\n\n#!/bin/sh\necho ran >> lines\n"
	for name, c := range map[string]struct {
		ask    agent.Authorizer
		want   string
		denied bool
	}{
		"nobody": {nil, "Tool call request has been denied", true},
		"plain":  {answering{}, "Tool call request has been denied", false},
		"note":   {answering{Note: "use pnpm"}, "use pnpm", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, program, inOrder(map[string][]model.Reply{"main": {calling("one {}", "timeNow {}"), says("done")}}))
			r.policy.SetMode("ask")
			r.change = func(o *agent.Options) { o.Authorizer = c.ask }
			s := r.open()
			defer r.close(s)
			resp := r.send(s, "go")
			if resp.Content != "done" || resp.Denied != c.denied {
				t.Errorf("got %+v", resp)
			}
			msgs := r.model.requests()[1].Messages
			if got := msgs[3].Text(); !strings.Contains(got, c.want) {
				t.Errorf("the model read %q, want %q", got, c.want)
			}
			if r.ran("lines")["ran"] != 0 {
				t.Error("the denied command ran")
			}
			call, err := r.store.Call(t.Context(), "s1", "1/1.0")
			if err != nil || call.Status != toolrt.StatusDenied {
				t.Errorf("row %+v, %v", call, err)
			}
		})
	}
}

// answering gives the same answer to every question.
type answering agent.ApprovalAnswer

func (a answering) Authorize(ctx context.Context, q agent.ApprovalQuestion) (agent.ApprovalAnswer, error) {
	q.Placed()
	return agent.ApprovalAnswer(a), ctx.Err()
}

// "session" on the first question answers the third, which its rule covers, and not the second
// (P-06).
func TestA5P06SessionRuleAnswersWaitingQuestions(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\nTools: sys.exec\n\nmain", inOrder(map[string][]model.Reply{"main": {
		calling(`exec {"command":"echo a"}`, `exec {"command":"echo b"}`, `exec {"command":"echo a"}`), says("done")}}))
	r.policy.SetMode("ask")
	w := &waiting{open: make(chan *waitingQuestion, 3)}
	r.change = func(o *agent.Options) { o.Authorizer = w }
	s := r.open()
	defer r.close(s)
	done := make(chan error, 1)
	go func() {
		_, err := s.Send(context.WithoutCancel(t.Context()), "go")
		done <- err
	}()
	var qs []*waitingQuestion
	for range 3 {
		qs = append(qs, <-w.open)
	}
	for i, want := range []string{"echo a", "echo b", "echo a"} {
		if !strings.Contains(qs[i].q.Arguments, want) {
			t.Fatalf("question %d is about %s, want %s", i, qs[i].q.Arguments, want)
		}
	}
	qs[0].answer <- agent.ApprovalAnswer{Allow: true, Scope: "session", Rule: qs[0].q.Rules[0].Text}
	<-qs[2].gone // answered by the rule
	select {
	case <-qs[1].gone:
		t.Error("the second question was answered by a rule that does not cover it")
	default:
	}
	qs[1].answer <- agent.ApprovalAnswer{}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := r.conversation("1"); !strings.Contains(got, "tool: a\ntool: Tool call request has been denied\ntool: a") {
		t.Errorf("conversation\n%s", got)
	}
}

// waiting hands questions to the test.
type waiting struct{ open chan *waitingQuestion }

type waitingQuestion struct {
	q      agent.ApprovalQuestion
	answer chan agent.ApprovalAnswer
	gone   chan struct{} // closed when it needs no answer any more
}

func (w *waiting) Authorize(ctx context.Context, q agent.ApprovalQuestion) (agent.ApprovalAnswer, error) {
	one := &waitingQuestion{q: q, answer: make(chan agent.ApprovalAnswer, 1), gone: make(chan struct{})}
	w.open <- one
	q.Placed()
	select {
	case a := <-one.answer:
		return a, nil
	case <-ctx.Done():
		close(one.gone)
		return agent.ApprovalAnswer{}, ctx.Err()
	}
}

// Leaving in the middle of a turn leaves it open; coming back goes on with it.
func TestCloseLeavesTheTurnOpen(t *testing.T) {
	asked := make(chan struct{}, 2)
	r := newRig(t, "Name: main\nChat: true\n\nmain", nil)
	first := true
	r.model.answer = func(ctx context.Context, _ model.Request, _ func(model.Delta)) (model.Reply, error) {
		asked <- struct{}{}
		if !first {
			return says("back again"), nil
		}
		first = false
		<-ctx.Done()
		return model.Reply{}, context.Cause(ctx)
	}
	s := r.open()
	done := make(chan error, 1)
	go func() {
		_, err := s.Send(context.WithoutCancel(t.Context()), "go")
		done <- err
	}()
	<-asked
	r.close(s)
	if err := <-done; err == nil {
		t.Error("the turn that was left ended well")
	}
	s = r.open()
	defer r.close(s)
	if !s.Unfinished() {
		t.Fatal("the turn is not open any more")
	}
	resp, err := s.Resume(t.Context())
	if err != nil || resp.Content != "back again" {
		t.Errorf("got %+v, %v", resp, err)
	}
	if got, want := r.conversation("1"), "user: go\nassistant: back again"; got != want {
		t.Errorf("conversation\n%s", got)
	}
}

// A program that changed between two turns is said; one that lost the agent the chat is with goes
// on as it was.
func TestChangedProgram(t *testing.T) {
	r := newRig(t, handOffProgram, inOrder(map[string][]model.Reply{
		"planner here": {calling(`tester {}`)}, "tester here": {says("one"), says("two"), says("three")}}))
	s := r.open()
	defer r.close(s)
	r.send(s, "hello")
	r.source = strings.Replace(handOffProgram, "planner here", "planner here, changed", 1)
	r.send(s, "a")
	r.source = "Name: other\nChat: true\n\nother"
	if resp := r.send(s, "b"); resp.Content != "three" {
		t.Errorf("got %+v", resp)
	}
	shown, err := r.store.ShownMessages(t.Context(), "s1", 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for _, m := range shown {
		all += m.Notice + "\n"
	}
	for _, want := range []string{"the program has changed since the last turn", "the chat goes on with the last one"} {
		if !strings.Contains(all, want) {
			t.Errorf("notices %q lack %q", all, want)
		}
	}
}

// The events of one turn come in the order of the package comment.
func TestEventOrder(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\nTools: sys.time.now\n\nmain",
		inOrder(map[string][]model.Reply{"main": {calling("timeNow {}"), says("done")}}))
	s := r.open()
	events := s.Events()
	r.send(s, "go")
	r.close(s)
	var got []string
	for {
		list, err := events.Next(t.Context())
		for _, e := range list {
			if e.Type != monitor.RowsChanged && e.Type != monitor.CallProgress {
				got = append(got, string(e.Type))
			}
		}
		if errors.Is(err, monitor.ErrClosed) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want := "runStart callStart callChat callChat callSubCalls callStart callFinish callContinue callChat callChat callFinish runFinish"
	if strings.Join(got, " ") != want {
		t.Errorf("events\n%s\nwant\n%s", strings.Join(got, " "), want)
	}
}
