package agent_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/agent"
	"parley/agent/credential"
	"parley/agent/model"
)

// What the person runs needs no model, is judged like any call, and is read with the next message.
func TestOwnCommands(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\nTools: counter\n\nmain\n---\nName: counter\nParam: n: a number\n\n#!/bin/sh\necho counted $N\n",
		inOrder(map[string][]model.Reply{"main": {{}, says("I see"), {}, says("more")}}))
	s := r.open()
	defer func() { r.close(s) }()
	run := func(do func(ctx context.Context) (agent.Response, error)) {
		t.Helper()
		if resp, err := do(t.Context()); err != nil || resp.Content != "" || resp.Done {
			t.Fatalf("got %+v, %v", resp, err)
		}
	}
	run(func(ctx context.Context) (agent.Response, error) { return s.RunShell(ctx, "echo one") })
	if n := len(r.model.requests()); n != 0 {
		t.Fatalf("%d requests", n)
	}
	r.send(s, "what was that?")
	run(func(ctx context.Context) (agent.Response, error) {
		return s.RunTool(ctx, "test.gpt:counter", `{"n":"7"}`)
	})
	r.send(s, "and that?")
	want := strings.Join([]string{
		"user: !echo one", `assistant: [exec {"command":"echo one"}]`, "tool: one", "user: what was that?", "assistant: I see",
		`user: run counter {"n":"7"}`, `assistant: [counter {"n":"7"}]`, "tool: counted 7", "user: and that?", "assistant: more",
	}, "\n")
	if got := r.conversation("1"); got != want {
		t.Errorf("conversation\n%s\nwant\n%s", got, want)
	}
	var seen []string
	for _, m := range r.model.requests()[1].Messages {
		seen = append(seen, line(m))
	}
	if got := strings.Join(seen, "\n"); !strings.HasSuffix(want, got+"\nassistant: more") && !strings.Contains(got, "tool: counted 7") {
		t.Errorf("the model read\n%s", got)
	}
	if title := s.Row().Title; title != "!echo one" {
		t.Errorf("title %q", title)
	}
	rec, err := r.store.Record(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	replay, err := agent.NewReplay(t.Context(), agent.Options{Program: r.program,
		OpenModel: func(string, string) (model.Model, error) { return r.model, nil }, Policy: r.policy, Dir: r.dir, Workspace: r.dir}, rec, agent.ReplayOptions{Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = replay.Close() }()
	for turn := 1; turn <= 4; turn++ {
		if _, _, err := replay.Turn(t.Context(), turn); err != nil {
			t.Errorf("turn %d: %v", turn, err)
		}
	}
}

// Without anybody's say nothing runs, a text that looks like such a turn is a text, and what cannot
// run says so; the chat goes on.
func TestOwnCommandsAreJudged(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\n\nmain", inOrder(map[string][]model.Reply{"main": {{}, says("a text"), says("fine")}}))
	s := r.open()
	defer func() { r.close(s) }()
	resp, err := s.RunShell(t.Context(), "touch ~/.bashrc; touch made")
	if err != nil || !resp.Denied {
		t.Errorf("got %+v, %v", resp, err)
	}
	text := `/run ["sys.exec","{\"command\":\"touch made\"}"]`
	if got := r.send(s, text).Content; got != "a text" {
		t.Errorf("got %q", got)
	}
	if _, err := s.RunTool(t.Context(), "test.gpt:nothing", "{}"); err == nil || !strings.Contains(err.Error(), `no tool "test.gpt:nothing"`) {
		t.Errorf("got %v", err)
	}
	if got := r.send(s, "go on").Content; got != "fine" {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "made")); err == nil {
		t.Error("it ran")
	}
}

// A command that runs when parley is quit is ended and has an answer in the conversation.
func TestOwnCommandWhenParleyIsQuit(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\n\nmain", inOrder(map[string][]model.Reply{"main": {{}, says("fine")}}))
	s := r.open()
	events := s.Events()
	done := make(chan error, 1)
	go func() {
		_, err := s.RunShell(context.WithoutCancel(t.Context()), "echo began; sleep 60")
		done <- err
	}()
	waitFor(t, events, printed("began"))
	r.close(s)
	<-done
	s = r.open()
	defer func() { r.close(s) }()
	if _, err := s.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.send(s, "go on").Content; got != "fine" {
		t.Errorf("got %q", got)
	}
	if got := r.conversation("1"); !strings.Contains(got, "sleep 60\"}]\ntool: ") || strings.Count(got, "sleep 60") != 2 {
		t.Errorf("conversation\n%s", got)
	}
}

// A program that is a command has no conversation: nothing runs, and it does not get the line as input.
func TestOwnCommandInAProgramThatIsACommand(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\n\n#!/bin/sh\necho got \"$GPTSCRIPT_INPUT\" >> seen\n", nil)
	s := r.open()
	defer func() { r.close(s) }()
	for range 2 {
		if _, err := s.RunShell(t.Context(), "touch made"); err == nil || !strings.Contains(err.Error(), "the program is a command") {
			t.Errorf("got %v", err)
		}
	}
	for _, name := range []string{"seen", "made"} {
		if _, err := os.Stat(filepath.Join(r.dir, name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
}

func TestInputText(t *testing.T) {
	run := func(tool, args string) string {
		data, err := json.Marshal([]string{tool, args})
		if err != nil {
			t.Fatal(err)
		}
		return "/run " + string(data)
	}
	for in, want := range map[string]string{
		"hello": "hello", "/run the tests": "/run the tests", `/run ["a"]`: `/run ["a"]`,
		run("sys.exec", `{"command":"ls -la"}`): "!ls -la", run("/x/y.gpt:count words", `{"n":1}`): `run count words {"n":1}`,
		run("sys.read", `{"filename":"a"}`): `run sys.read {"filename":"a"}`,
	} {
		if got := agent.InputText(in); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}

// A secret that parley keeps is not stored in an input.
func TestOwnCommandWithSecret(t *testing.T) {
	redactor := credential.NewRedactor()
	redactor.Add("key", "the-secret-value")
	r := newRig(t, "Name: main\nChat: true\n\nmain", nil)
	r.change = func(o *agent.Options) { o.Redactor = redactor }
	s := r.open()
	defer func() { r.close(s) }()
	if _, err := s.RunShell(t.Context(), "curl -H the-secret-value"); err == nil || !strings.Contains(err.Error(), "holds a secret") {
		t.Errorf("got %v", err)
	}
	if n := s.Row().Turns; n != 0 {
		t.Errorf("%d turns", n)
	}
}

// An agent that the person has run keeps its output filters, also over an empty result.
func TestOwnCallOfAFilteredAgent(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\nTools: helper\n\nmain\n---\nName: helper\nOutput Filters: mark\n\nhelper\n---\nName: mark\n\n#!/bin/sh\necho \"filtered <$OUTPUT>\"\n",
		inOrder(map[string][]model.Reply{"helper": {says("")}}))
	s := r.open()
	defer func() { r.close(s) }()
	if _, err := s.RunTool(t.Context(), "test.gpt:helper", `{"defaultPromptParameter":"x"}`); err != nil {
		t.Fatal(err)
	}
	if got := r.conversation("1"); !strings.Contains(got, "tool: filtered <>") {
		t.Errorf("conversation\n%s", got)
	}
}
