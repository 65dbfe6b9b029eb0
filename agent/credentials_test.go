package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/agent/credential"
	"parley/agent/model"
	"parley/agent/monitor"
	"parley/persist"
	"parley/toolrt/approval"
)

// marker is a secret that must be found nowhere.
const marker = "S3CR3T-MARKER-0815"

// credentialProgram has a tool that needs a credential; %s is its reference. What the credential's
// tool gives stands in the file "answer", how it was run is noted in "runs".
const credentialProgram = `Name: main
Chat: true
Tools: use, check

main
---
Name: use
Param: stage: a stage
Credentials: key%s

#!/bin/sh
test -n "$GPTSCRIPT_EXISTING_CREDENTIAL" && echo leaked >> runs
echo "token=$TOKEN expires=$GPTSCRIPT_CREDENTIAL_EXPIRATION"
---
Name: check

#!/bin/sh
echo "token=$TOKEN"
---
Name: key
Param: stage: a stage

#!/bin/sh
echo "run,$STAGE,${GPTSCRIPT_EXISTING_CREDENTIAL:+refresh}" >> runs
cat answer
`

func credentialRig(t *testing.T, ref, answer string, calls ...string) *rig {
	t.Helper()
	var replies []model.Reply
	for _, c := range calls {
		replies = append(replies, calling(c), says("done"))
	}
	r := newRig(t, fmt.Sprintf(credentialProgram, ref), inOrder(map[string][]model.Reply{"main": replies}))
	r.answerWith(answer)
	return r
}

func (r *rig) answerWith(answer string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, "answer"), []byte(answer), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

const tokenAnswer = `{"env":{"TOKEN":"` + marker + `"},"refreshToken":"refresh-` + marker + `"}`

// keep gives the rig's sessions a store and a redactor, and a policy that is shared by them.
func (r *rig) keep(store credential.Store) {
	redactor := credential.NewRedactor()
	r.change = func(o *agent.Options) { o.Redactor, o.Credentials = redactor, store }
}

// A credential with an alias is made once and then taken from the store, also by other sessions; a
// new "checked with" value makes it again (5.10, Q26). Its value is never seen by the model.
func TestQ26CredentialIsKeptUnderItsAlias(t *testing.T) {
	store := &credential.Memory{}
	for i, ref := range []string{" as mine checked with v1", " as mine checked with v1", " as mine checked with v2"} {
		r := credentialRig(t, ref, tokenAnswer, "use {}", "use {}")
		r.keep(store)
		s := r.open()
		r.send(s, "go")
		r.send(s, "go")
		r.close(s)
		want := map[int]int{0: 1, 1: 0, 2: 1}[i]
		if got := r.ran("runs"); got["run,,"] != want || len(got) > 1 {
			t.Errorf("%s: the credential's tool ran %v, want %d times", ref, got, want)
		}
		c, ok, err := store.Get(t.Context(), nil, "mine")
		if err != nil || !ok || c.Env["TOKEN"] != marker || c.CheckParam != strings.Fields(ref)[4] || c.Type != "tool" {
			t.Errorf("stored %+v, %v, %v", c, ok, err)
		}
		if got := r.conversation("1"); !strings.Contains(got, "token=") || strings.Contains(got, marker) || strings.Contains(got, "token= ") {
			t.Errorf("conversation\n%s", got)
		}
	}
}

// Without an alias it is not stored, but asked for once in a process, with the arguments of the
// call's own input (Q15, Q25).
func TestQ25CredentialOncePerProcess(t *testing.T) {
	store := &credential.Memory{}
	r := credentialRig(t, " with ${stage} as stage", tokenAnswer, `use {"stage":"dev"}`, `use {"stage":"dev"}`, `use {"stage":7}`)
	r.keep(store)
	s := r.open()
	defer r.close(s)
	for range 3 {
		r.send(s, "go")
	}
	if got := fmt.Sprint(r.ran("runs")); got != "map[run,7,:1 run,dev,:1]" {
		t.Errorf("runs %s", got)
	}
	if list, _ := store.List(t.Context(), []string{"*"}); len(list) != 0 {
		t.Errorf("stored %+v", list)
	}
}

// An expired one is made again, and only that call is told of the old one; the nearest expiry
// reaches the tool (Q27).
func TestQ27RefreshOfAnExpiredCredential(t *testing.T) {
	store := &credential.Memory{}
	past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	if err := store.Put(t.Context(), credential.Credential{Context: "other", ToolName: "mine", Env: map[string]string{"TOKEN": "old-token-value"},
		ExpiresAt: &past}); err != nil {
		t.Fatal(err)
	}
	r := credentialRig(t, " as mine", `{"env":{"TOKEN":"`+marker+`"},"expiresAt":"`+future.Format(time.RFC3339)+`"}`, "use {}", "check {}")
	r.keep(store)
	change := r.change
	r.change = func(o *agent.Options) { change(o); o.CredentialContexts = []string{"first", "other"} }
	s := r.open()
	defer r.close(s)
	r.send(s, "go")
	r.send(s, "go")
	if got := fmt.Sprint(r.ran("runs")); got != "map[run,,refresh:1]" {
		t.Errorf("runs %s", got)
	}
	got := r.conversation("1")
	if !strings.Contains(got, "expires="+future.Format(time.RFC3339)) || !strings.Contains(got, "tool: token=\n") {
		t.Errorf("conversation\n%s", got)
	}
	c, ok, err := store.Get(t.Context(), []string{"other"}, "mine") // a refresh keeps its context
	if err != nil || !ok || c.Env["TOKEN"] != marker {
		t.Errorf("in its context: %+v, %v, %v", c, ok, err)
	}
}

func TestCredentialOverride(t *testing.T) {
	r := credentialRig(t, " as mine", tokenAnswer, "use {}")
	r.keep(nil)
	change := r.change
	r.change = func(o *agent.Options) {
		change(o)
		o.Credentials = nil
		o.Overrides = map[string]map[string]string{"mine": {"TOKEN": "from-the-command-line"}}
	}
	s := r.open()
	defer r.close(s)
	r.send(s, "go")
	if got := r.ran("runs"); len(got) != 0 {
		t.Errorf("the credential's tool ran: %v", got)
	}
	if got := r.conversation("1"); strings.Contains(got, "from-the-command-line") || strings.Contains(got, "token= ") {
		t.Errorf("conversation\n%s", got)
	}
}

// What a credential's tool gives ends the turn or counts as nothing, and its text is never shown.
func TestCredentialAnswers(t *testing.T) {
	for answer, want := range map[string]string{
		"":            "",
		`{"env":{}}`:  "",
		marker + " {": "failed to unmarshal credential tool key as mine response",
	} {
		r := credentialRig(t, " as mine", answer, "use {}")
		store := &credential.Memory{}
		r.keep(store)
		s := r.open()
		_, err := s.Send(t.Context(), "go")
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)), err != nil && strings.Contains(err.Error(), marker):
			t.Errorf("%q: got %v, want %q", answer, err, want)
		}
		if list, _ := store.List(t.Context(), []string{"*"}); len(list) != 0 {
			t.Errorf("%q: stored %+v", answer, list)
		}
		r.close(s)
	}
}

// A credential's tool that fails ends the turn; what it printed may hold the secret and stays
// unsaid (Q16). The chat is not lost.
func TestQ16FailingCredential(t *testing.T) {
	r := credentialRig(t, " as mine", marker, "use {}")
	r.source = strings.Replace(r.source, "cat answer\n", "cat answer\ncat answer >&2\nexit 3\n", 1)
	s := r.open()
	defer r.close(s)
	_, err := s.Send(t.Context(), "go")
	if err == nil || !strings.Contains(err.Error(), "key") || !strings.Contains(err.Error(), "exit status 3") || strings.Contains(err.Error(), marker) {
		t.Errorf("got %v", err)
	}
	r.model.answer = func(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
		return says("went on"), nil
	}
	r.goesOnWell(s)
}

// An agent that failed to get its credential in a later turn keeps its chat.
func TestCredentialFailsInALaterTurn(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\nCredentials: key\n\nmain\n---\nName: key\n\n#!/bin/sh\ncat answer\n", goesOn(
		map[string][]model.Reply{"main": {says("one")}}))
	r.answerWith(`{"env":{"TOKEN":"` + marker + `"},"expiresAt":"2001-01-01T00:00:00Z"}`)
	s := r.open()
	defer r.close(s)
	r.send(s, "go")
	r.answerWith("broken")
	if _, err := s.Send(t.Context(), "lost?"); err == nil {
		t.Fatal("the broken credential was taken")
	}
	r.answerWith(`{"env":{}}`)
	r.goesOnWell(s)
	if got, want := r.conversation("1"), "user: go\nassistant: one\nuser: lost?\nuser: next\nassistant: went on"; got != want {
		t.Errorf("conversation\n%s", got)
	}
}

// A secret of a credential or of a sensitive question is in nothing that is stored, emitted or sent
// (K-05).
func TestK05SecretIsNowhere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "parley.db")
	store, err := persist.Open(t.Context(), path, persist.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := credentialRig(t, " as mine", tokenAnswer, "use {}", "use {}", `prompt {"message":"pass?","fields":"pass","sensitive":"true"}`)
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}
	r.store = store
	r.source = strings.Replace(r.source, "Tools: use", "Tools: sys.prompt, use", 1)
	r.keep(&credential.Memory{})
	change := r.change
	r.change = func(o *agent.Options) { change(o); o.Prompter = tells{"pass": "typed-" + marker} }
	s := r.open()
	events := s.Events()
	for range 2 {
		r.send(s, "go")
	}
	r.send(s, "my own words hold "+marker+" too")
	r.close(s)
	seen := drain(t, events)
	for _, req := range r.model.requests() {
		seen += fmt.Sprintf("%+v", req)
		for _, m := range req.Messages {
			seen += line(m)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), marker) {
			t.Errorf("the secret stands in %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if i := strings.Index(seen, marker); i >= 0 {
		t.Errorf("the secret was emitted or sent: …%q…", seen[max(0, i-300):i+40])
	}
	if !strings.Contains(seen, "token=") {
		t.Error("the tool's output was not seen at all: nothing was tested")
	}
}

// tells answers every question with the same values.
type tells map[string]string

func (a tells) Prompt(context.Context, agent.InputQuestion) (agent.InputAnswer, error) {
	return agent.InputAnswer{Values: a}, nil
}

// drain is everything that a closed hub had for a reader, as text.
func drain(t *testing.T, r *monitor.Reader) string {
	t.Helper()
	var all strings.Builder
	for {
		list, err := r.Next(t.Context())
		for _, e := range list {
			text, err := json.Marshal(e)
			if err != nil {
				t.Error(err)
			}
			fmt.Fprintf(&all, "%s %s %+v %+v\n", text, e.Text, e.Messages, e.Calls)
			for _, m := range e.Messages {
				all.WriteString(line(m.Message))
			}
			if e.Delta != nil {
				all.WriteString(e.Delta.Text)
			}
		}
		if errors.Is(err, monitor.ErrClosed) {
			return all.String()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A turn with a credential is stopped after each of its commits. What the credential's tool gave is
// not in the record: it is fetched again, and the turn ends as if it had not been stopped.
func TestD01StopWithACredential(t *testing.T) {
	start := func() (*rig, *script) {
		r := credentialRig(t, " as mine", tokenAnswer, `use {"stage":"dev"}`)
		r.policy = approval.New(r.dir, r.dir, approval.ModeAsk)
		a := &script{answer: allow}
		r.change = func(o *agent.Options) { // each process has its own store: nothing was kept
			o.Redactor, o.Credentials, o.Authorizer = credential.NewRedactor(), &credential.Memory{}, a
		}
		return r, a
	}
	r, _ := start()
	m := &mortal{Journal: r.journal(), left: 1 << 20, cut: func() {}}
	s := r.openWith(m)
	r.send(s, "go")
	r.close(s)
	commits, want := 1<<20-m.left, r.conversation("1")
	if commits < 10 {
		t.Fatalf("the turn has only %d commits", commits)
	}
	for n := 1; n < commits; n++ {
		r, a := start()
		r.dieAfter(n)
		s := r.open()
		for _, o := range s.InDoubt() {
			if o.Call.Category != "" {
				t.Errorf("after %d: the credential's call is in doubt: it is fetched again anyway", n)
			}
			if err := s.Resolve(t.Context(), o.Key, agent.ResolveRerun, ""); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Resume(t.Context()); err != nil {
			t.Errorf("after %d: %v", n, err)
		}
		r.close(s)
		if got := r.conversation("1"); got != want {
			t.Errorf("after %d of %d:\n%s\nwant\n%s", n, commits, got, want)
		}
		if len(a.asked) > 3 {
			t.Errorf("after %d: asked %d times", n, len(a.asked))
		}
	}
}
