package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"parley/agent/model"
)

// taskProgram is no chat: its chat talks to the person through a helper that is none either.
const taskProgram = `Name: task
Tools: helper

task here

---
Name: helper
Tools: talker

helper here

---
Name: talker
Chat: true
Tools: sys.chat.finish

talker here
`

// taskRig answers for taskProgram; fail makes the next reply of the talker an error.
func taskRig(t *testing.T) (r *rig, fail *bool) {
	fail = new(bool)
	script := inOrder(map[string][]model.Reply{
		"task here":   {calling(`helper {"defaultPromptParameter":"find out"}`), says("task done")},
		"helper here": {calling(`talker {"defaultPromptParameter":"ask them"}`), says("it is Ada")},
		"talker here": {says("who are you?"), says("sure?"), calling(`chatFinish {"return":"Ada"}`)},
	})
	r = newRig(t, taskProgram, func(ctx context.Context, req model.Request, emit func(model.Delta)) (model.Reply, error) {
		if *fail && strings.Contains(req.Messages[0].Text(), "talker here") {
			*fail = false
			return model.Reply{}, errors.New("the network is down")
		}
		return script(ctx, req, emit)
	})
	return r, fail
}

// What the person says to a chat, and hears from it, is the conversation on screen, also when the
// agents that called it are no chats.
func TestChatBelowAgentsThatAreNone(t *testing.T) {
	r, _ := taskRig(t)
	s := r.open()
	for _, text := range []string{"begin", "I am Ada"} {
		if resp := r.send(s, text); resp.Done || resp.Agent != "talker" {
			t.Errorf("%s: %+v", text, resp)
		}
	}
	r.close(s)
	s = r.open()
	defer r.close(s)
	if resp := r.send(s, "yes"); !resp.Done || resp.Content != "task done" {
		t.Errorf("got %+v", resp)
	}
	shown, err := r.store.ShownMessages(t.Context(), "s1", 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range shown {
		if m.Notice != "" {
			got = append(got, m.Notice)
		} else if text := m.Message.Text(); text != "" && m.Message.Role != model.ToolRole {
			got = append(got, line(m.Message))
		}
	}
	want := `user: begin
now with @talker, for @helper
user: {"defaultPromptParameter":"ask them"}
assistant: who are you?
user: I am Ada
assistant: sure?
user: yes
@talker is done, now with @helper
assistant: task done`
	if strings.Join(got, "\n") != want {
		t.Errorf("shown\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

// A turn that fails before its first reply has none: not that of the turn before.
func TestFailedTurnHasNoReply(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\n\nmain", inOrder(map[string][]model.Reply{"main": {says("one")}}))
	s := r.open()
	defer r.close(s)
	r.send(s, "a")
	resp, err := s.Send(t.Context(), "b")
	if err == nil {
		t.Fatal("there is no second reply, but the turn ended well")
	}
	last, lastErr := r.opened.LastTurn(t.Context())
	if resp.Content != "" || lastErr != nil || last.Output != "" {
		t.Errorf("reply %q, stored %q, %v", resp.Content, last.Output, lastErr)
	}
}

// A chat goes on after a failure also when the agents that called it are no chats.
func TestFailureInAChatBelowAgentsThatAreNone(t *testing.T) {
	r, fail := taskRig(t)
	s := r.open()
	r.send(s, "begin")
	*fail = true
	if resp, err := s.Send(t.Context(), "I am Ada"); err == nil || !strings.Contains(err.Error(), "the network is down") || resp.Content != "" {
		t.Fatalf("got %+v, %v", resp, err)
	}
	r.close(s)
	s = r.open()
	defer r.close(s)
	if resp := r.send(s, "hello?"); resp.Content != "sure?" || resp.Agent != "talker" {
		t.Errorf("after the failure: %+v", resp)
	}
	if resp := r.send(s, "yes"); !resp.Done || resp.Content != "task done" {
		t.Errorf("at the end: %+v", resp)
	}
	got := r.conversation("1/1.0/1.0")
	if !strings.Contains(got, "user: I am Ada\nuser: hello?\nassistant: sure?") {
		t.Errorf("conversation\n%s", got)
	}
}
