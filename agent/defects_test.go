package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/agent"
	"parley/agent/model"
	"parley/agent/record"
)

// The rows of section 10 of the specification that belong to the runner and have no test elsewhere.

// Max Tokens bounds the reply and not the memory: a chat with a small one sends its whole history.
func TestQ12MaxTokensDoesNotForget(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\nMax Tokens: 5\n\nmain", inOrder(map[string][]model.Reply{"main": {says(strings.Repeat("long ", 200)), says("two")}}))
	s := r.open()
	defer r.close(s)
	r.send(s, strings.Repeat("question ", 200))
	r.send(s, "and?")
	req := r.model.requests()[1]
	if req.MaxTokens != 5 || len(req.Messages) != 4 {
		t.Errorf("max tokens %d, %d messages: want 5 and 4", req.MaxTokens, len(req.Messages))
	}
}

// A credential's argument whose input is no string is passed as its text.
func TestQ15CredentialArgumentThatIsNoString(t *testing.T) {
	r := newRig(t, `Name: main
Tools: user

main
---
Name: user
Param: n: n
Param: o: o
Credentials: cred with ${n} as num and ${o} as obj and ${none} as missing

#!/bin/sh
echo "$GOT"
---
Name: cred
Param: num: n
Param: obj: o
Param: missing: m

#!/bin/sh
printf '{"env":{"GOT":"%s %s %s"}}' "$NUM" "$(printf %s "$OBJ" | sed 's/"/\\"/g')" "$MISSING"
`, inOrder(map[string][]model.Reply{"main": {calling(`user {"n":1.50,"o":{"b":[true,null]}}`), says("done")}}))
	r.change = func(o *agent.Options) { o.Redactor = nil }
	s := r.open()
	defer r.close(s)
	r.send(s, "go")
	if got, want := r.conversation("1"), "tool: 1.50 {\"b\":[true,null]} ${none}"; !strings.Contains(got, want) {
		t.Errorf("conversation\n%s\nwant %s", got, want)
	}
}

// Contexts run again before each model call, those of one call side by side, and each is told with its
// times; the state keeps none of them.
func TestQ29ContextsRunAgainSideBySide(t *testing.T) {
	meet := func(own, other string) string {
		return fmt.Sprintf("#!/bin/sh\ntouch %s\nfor i in $(seq 500); do [ -e %s ] && break; sleep 0.01; done\n[ -e %[2]s ] && echo met; echo run >> runs\n", own, other)
	}
	r := newRig(t, "Name: main\nChat: true\nContext: a, b\nTools: sys.time.now\n\nmain\n---\nName: a\n\n"+meet("a.there", "b.there")+"---\nName: b\n\n"+meet("b.there", "a.there"),
		inOrder(map[string][]model.Reply{"main": {calling("timeNow {}"), says("done")}}))
	r.change = func(o *agent.Options) { o.Runtime.MaxConcurrency = 4 }
	s := r.open()
	defer r.close(s)
	r.send(s, "go")
	if n := r.ran("runs")["run"]; n != 4 {
		t.Errorf("contexts ran %d times in two rounds: want 4", n)
	}
	if got := r.model.requests()[0].Messages[0].Text(); got != "met\n\nmet\n\nmain" {
		t.Errorf("they did not run side by side: %q", got)
	}
	for _, path := range []string{"1/c0.0", "1/c1.1"} {
		if c, err := r.store.Call(t.Context(), "s1", path); err != nil || c.Started.IsZero() || c.Finished.Before(c.Started) {
			t.Errorf("call %s: %v from %v to %v, %v", path, c.Status, c.Started, c.Finished, err)
		}
	}
	if state, err := s.StateJSON(t.Context()); err != nil || strings.Contains(string(state), "inputContexts") || strings.Contains(string(state), "met") {
		t.Errorf("state %s, %v", state, err)
	}
}

// A state whose calls have no index, or a wrong one, resumes by their ids.
func TestQ31StateWithoutIndexes(t *testing.T) {
	const state = `{"continuation":{"state":{"completion":{"messages":[{"role":"user","content":[{"text":"hi"}]},
	  {"role":"assistant","content":[{"toolCall":{"id":"c1","function":{"name":"x","arguments":"{}"}}},{"toolCall":{"index":7,"id":"c2","function":{"name":"tester","arguments":"{}"}}}]}],"chat":true},
	  "pending":{"c2":{"id":"c2","function":{"name":"tester","arguments":"{}"}},"c1":{"id":"c1","function":{"name":"x","arguments":"{}"}}}},
	  "calls":{"c2":{"toolID":"test.gpt:tester","input":"{}"},"c1":{"missing":true,"input":"{}"}}},
	"subCalls":[{"callId":"c1","state":{"result":"no x here"}},{"toolId":"test.gpt:tester","callId":"c2","state":{
	  "continuation":{"state":{"completion":{"messages":[{"role":"assistant","content":[{"text":"Yes?"}]}],"chat":true}},"result":"Yes?"},
	  "continuationToolID":"test.gpt:tester"}}],
	"subCallID":"c2"}`
	r := newRig(t, handOffProgram, inOrder(map[string][]model.Reply{"planner here": {{}, says("both known")}, "tester here": {{}, calling(`chatFinish {"return":"tested"}`)}}))
	s := r.open()
	defer r.close(s)
	if err := s.Import(t.Context(), json.RawMessage(state)); err != nil {
		t.Fatal(err)
	}
	if resp := r.send(s, "go"); resp.Content != "both known" {
		t.Errorf("got %+v", resp)
	}
	if got := r.conversation("1"); !strings.Contains(got, "tool: no x here\ntool: tested\n") {
		t.Errorf("conversation\n%s", got)
	}
}

// Text that has yet to go through output filters is neither streamed nor shown: the person sees what
// the filters leave, live and afterwards. The model's history keeps the reply.
func TestQ36FilteredTextIsNotStreamed(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\nOutput Filters: mask\nTools: sys.time.now\n\nmain\n---\nName: mask\n\n#!/bin/sh\necho \"$OUTPUT\" | sed s/raw/clean/\n",
		inOrder(map[string][]model.Reply{"main": {calling("timeNow {}"), says("raw answer"), says("raw again")}}))
	s := r.open()
	reader := s.Events()
	r.send(s, "go")
	r.send(s, "more")
	var shown []string
	rows, err := r.store.ShownMessages(t.Context(), "s1", 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range rows {
		if m.Message.Role == model.Assistant {
			shown = append(shown, m.Message.Text())
		}
	}
	if got := strings.Join(shown, "|"); got != "|clean answer\n|clean again\n" {
		t.Errorf("shown %q", got)
	}
	if got := r.conversation("1"); !strings.Contains(got, "assistant: raw answer") {
		t.Errorf("conversation\n%s", got)
	}
	r.close(s)
	for {
		events, err := reader.Next(t.Context())
		for _, e := range events {
			if e.Delta != nil && strings.Contains(e.Delta.Text, "raw") && e.CallContext.ToolName != "mask" {
				t.Errorf("streamed %q", e.Delta.Text)
			}
		}
		if err != nil {
			return
		}
	}
}

// A question of a credential is made of data, not of text put together: quotes and lines come through.
func TestQ37QuotesInAQuestion(t *testing.T) {
	message := "Key for \"acme\"\\ \n{now}?"
	arguments, err := json.Marshal(map[string]string{"message": message, "fields": `the "key"`, "sensitive": "true"})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, "Name: main\nTools: sys.prompt\n\nmain", inOrder(map[string][]model.Reply{"main": {calling("prompt " + string(arguments)), says("done")}}))
	var asked agent.InputQuestion
	r.change = func(o *agent.Options) {
		o.Prompter = prompterFunc(func(q agent.InputQuestion) agent.InputAnswer {
			asked = q
			return agent.InputAnswer{Values: map[string]string{`the "key"`: "a \"quoted\" value"}}
		})
		o.PassSecrets = true
	}
	s := r.open()
	defer r.close(s)
	r.send(s, "go")
	if asked.Question.Message != message || asked.Question.Fields[0].Name != `the "key"` {
		t.Errorf("asked %+v", asked.Question)
	}
	var answer map[string]string
	msgs := r.model.requests()[1].Messages
	if err := json.Unmarshal([]byte(msgs[len(msgs)-1].Text()), &answer); err != nil || answer[`the "key"`] != "a \"quoted\" value" {
		t.Errorf("answer %v, %v", answer, err)
	}
}

// prompterFunc answers questions by a function.
type prompterFunc func(q agent.InputQuestion) agent.InputAnswer

func (f prompterFunc) Prompt(_ context.Context, q agent.InputQuestion) (agent.InputAnswer, error) {
	return f(q), nil
}

// What a command had printed when it was cut off is marked as such (4.6), and no success.
func TestQ38CancelledOutputIsMarked(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\nTools: slow\n\nmain\n---\nName: slow\n\n#!/bin/sh\necho half; touch started; sleep 100\n",
		inOrder(map[string][]model.Reply{"main": {calling("slow {}"), says("on")}}))
	s := r.open()
	defer r.close(s)
	var stopping sync.WaitGroup
	defer stopping.Wait()
	stopping.Go(func() {
		for !fileThere(filepath.Join(r.dir, "started")) && t.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
		s.Interrupt()
	})
	if _, err := s.Send(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	if s.LastStatus() != record.TurnAborted {
		t.Errorf("the turn is %s", s.LastStatus())
	}
	r.send(s, "next")
	if got := r.conversation("1"); !strings.Contains(got, "half") || !strings.Contains(got, "ABORTED BY USER") {
		t.Errorf("conversation\n%s", got)
	}
}

func fileThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// A credential may be named by the whole grammar of references: from a file, with spaces, with an alias.
func TestQ43CredentialNames(t *testing.T) {
	r := newRig(t, "Name: main\nTools: user\n\nmain\n---\nName: user\nCredentials: my key with x as y, other from ./lib.gpt, third from ./lib.gpt as Third\n\n#!/bin/sh\necho $A $B $C\n"+
		"---\nName: my key\nParam: y: y\n\n#!/bin/sh\necho '{\"env\":{\"A\":\"first-value\"}}'\n",
		inOrder(map[string][]model.Reply{"main": {calling("user {}"), says("done")}}))
	lib := "Name: lib\nlib\n---\nName: other\n\n#!/bin/sh\necho '{\"env\":{\"B\":\"second-value\"}}'\n---\nName: third\n\n#!/bin/sh\necho '{\"env\":{\"C\":\"third-value\"}}'\n"
	if err := os.WriteFile(filepath.Join(r.dir, "lib.gpt"), []byte(lib), 0o600); err != nil {
		t.Fatal(err)
	}
	r.change = func(o *agent.Options) {
		o.Overrides = map[string]map[string]string{"other from ./lib.gpt": {"B": "by-its-name"}, "Third": {"C": "by-its-alias"}}
	}
	s := r.open()
	defer r.close(s)
	r.send(s, "go")
	if got := r.conversation("1"); !strings.Contains(got, "tool: first-value by-its-name by-its-alias") {
		t.Errorf("conversation\n%s", got)
	}
}

// The name is compared without regard to case, and stays in the history as the model spelt it (4.4).
func TestNamesOfCalls4_4(t *testing.T) {
	r := newRig(t, "Name: main\nTools: sys.exec\n\nmain", inOrder(map[string][]model.Reply{"main": {
		calling(`EXEC {"command":"echo one"}`, `namespace.Exec {"command":"echo two"}`, `@exec {"command":"echo three"}`, `ex-ec {}`), says("done")}}))
	s := r.open()
	defer r.close(s)
	r.send(s, "go")
	want := `user: go
assistant: [EXEC {"command":"echo one"}] [Exec {"command":"echo two"}] [exec {"command":"echo three"}] [ex-ec {}]
tool: one
tool: two
tool: three
tool: ERROR: can not call unknown tool named [exEc]`
	if got := r.conversation("1"); !strings.HasPrefix(got, want) {
		t.Errorf("conversation\n%s", got)
	}
}

// What output filters get, without arguments and with them.
func TestV11_7OutputFilters(t *testing.T) {
	r := newRig(t, "Name: main\nOutput Filters: f\nInternal Prompt: false\n\nmain\n---\nName: f\n\n#!/bin/sh\nprintf '%s' \"$GPTSCRIPT_INPUT\"\n",
		inOrder(map[string][]model.Reply{"main": {says("x")}}))
	s := r.open()
	defer r.close(s)
	if resp, want := r.send(s, "go"), `{"chat":false,"continuation":false,"output":"x"}`; resp.Content != want {
		t.Errorf("the filter got %s, want %s", resp.Content, want)
	}
}
