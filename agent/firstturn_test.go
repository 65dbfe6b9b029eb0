package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"parley/agent/model"
	"parley/agent/monitor"
)

// An input filter or a credential that fails in a chat's very first turn leaves a chat that goes on: with
// the message where no filter was to change it, and always with a state.
func TestFirstTurnFails(t *testing.T) {
	for role, want := range map[string]string{
		"Input Filters": "user: NEXT\nassistant: went on",
		"Credentials":   "user: lost?\nuser: next\nassistant: went on",
		"Context":       "user: lost?\nuser: next\nassistant: went on",
	} {
		t.Run(role, func(t *testing.T) {
			r := newRig(t, "Name: main\nChat: true\n"+role+": f\n\nmain\n---\nName: f\n\n#!/bin/sh\ntest ! -e broken && "+
				map[string]string{"Input Filters": "printf NEXT", "Credentials": "true", "Context": "true"}[role],
				inOrder(map[string][]model.Reply{"main": {says("went on")}}))
			s := r.open()
			defer r.close(s)
			mended := r.touch("broken")
			if _, err := s.Send(t.Context(), "lost?"); err == nil {
				t.Fatal("the failure was taken")
			}
			mended()
			if st, err := s.StateJSON(t.Context()); err != nil || st == nil {
				t.Errorf("state %s, %v", st, err)
			}
			if resp := r.send(s, "next"); resp.Done || resp.Content != "went on" {
				t.Errorf("got %+v", resp)
			}
			if got := r.conversation("1"); got != want {
				t.Errorf("conversation\n%s", got)
			}
		})
	}
}

// The run of a command is told by two callChat events (5.11); of a credential's only that it ran and how
// it ended (Q16).
func TestCommandEvents5_11(t *testing.T) {
	r := newRig(t, "Name: main\nTools: ok, bad\n\nmain\n---\nName: ok\nParam: a: x\n\n#!/bin/sh -e\necho out $A\n"+
		"---\nName: bad\nCredentials: c\n\n#!/bin/sh\necho err >&2; exit 3\n---\nName: c\n\n#!/bin/sh\necho '{\"env\":{\"K\":\"topsecretvalue\"}}'\n",
		inOrder(map[string][]model.Reply{"main": {calling(`ok {"a":"1"}`, `bad {}`), says("done")}}))
	s := r.open()
	reader := s.Events()
	r.send(s, "go")
	r.close(s)
	var got []string
	for {
		events, err := reader.Next(t.Context())
		for _, e := range events {
			if e.Type != monitor.CallChat || e.CallContext.Tool.Name == "main" {
				continue
			}
			text, err := json.Marshal(map[string]any{"request": e.ChatRequest, "response": e.ChatResponse})
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e.CallContext.Tool.Name+" "+e.ChatCompletionID+" "+string(text))
		}
		if err != nil {
			break
		}
	}
	want := []string{
		`ok 1/1.0#1 {"request":{"command":["/bin/sh","-e"],"input":"{\"a\":\"1\"}"},"response":null}`,
		`ok 1/1.0#1 {"request":null,"response":{"output":"out 1\n","fullOutput":"out 1\n"}}`,
		`c 1/1.1/k1.0#1 {"request":{"command":null,"input":""},"response":null}`,
		`c 1/1.1/k1.0#1 {"request":null,"response":{"output":"","fullOutput":""}}`,
		`bad 1/1.1#1 {"request":{"command":["/bin/sh"],"input":"{}"},"response":null}`,
		`bad 1/1.1#1 {"request":null,"response":{"output":"ERROR: got (exit status 3) while running tool, OUTPUT: err\n","fullOutput":"ERROR: got (exit status 3) while running tool, OUTPUT: err\n","err":"exit status 3"}}`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
