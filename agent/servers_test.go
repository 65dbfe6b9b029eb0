package agent_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/agent"
	"parley/agent/credential"
	"parley/agent/model"
	"parley/agent/monitor"
	"parley/toolrt/approval"
	"parley/toolrt/mcp"
	"parley/toolrt/mcp/mcptest"
)

// mcpBody is the body of a server that is the test binary.
func mcpBody(mode string, more ...string) string {
	env := fmt.Sprintf("%q: %q", mcptest.Variable, mode)
	for _, kv := range more {
		key, value, _ := strings.Cut(kv, "=")
		env += fmt.Sprintf(", %q: %q", key, value)
	}
	return fmt.Sprintf("#!mcp\n{\"command\": %q, \"env\": {%s}, \"startTimeout\": \"20s\"}", os.Args[0], env)
}

func mcpConfig(mode string) mcp.Config {
	return mcp.Config{Command: os.Args[0], Env: []string{mcptest.Variable + "=" + mode}, StartTimeout: 20 * time.Second}
}

// offeredIn are the names of the tools of a request.
func offeredIn(req model.Request) string {
	var names []string
	for _, t := range req.Tools {
		names = append(names, t.Name)
	}
	return strings.Join(names, " ")
}

// lastResult is what the model read of the last call of a request.
func lastResult(req model.Request) string { return req.Messages[len(req.Messages)-1].Text() }

// people answers approvals by the tool's name, and inputs by a function, and keeps what was asked.
type people struct {
	mu     sync.Mutex
	asked  []agent.ApprovalQuestion
	deny   string // the tool that is denied
	inputs []agent.InputQuestion
	answer func(q agent.InputQuestion) map[string]string
}

func (p *people) Authorize(_ context.Context, q agent.ApprovalQuestion) (agent.ApprovalAnswer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, q)
	return agent.ApprovalAnswer{Allow: q.Tool != p.deny, Scope: "once"}, nil
}

func (p *people) Prompt(_ context.Context, q agent.InputQuestion) (agent.InputAnswer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inputs = append(p.inputs, q)
	return agent.InputAnswer{Values: p.answer(q)}, nil
}

// withPeople asks p from a session in the mode ask.
func (r *rig) withPeople(p *people) {
	r.policy = approval.New(r.dir, r.dir, approval.ModeAsk)
	before := r.change
	r.change = func(o *agent.Options) {
		if before != nil {
			before(o)
		}
		o.Authorizer, o.Prompter = p, p
	}
}

// notices collects what is said in a session until it is closed.
func (r *rig) notices(s *agent.Session) func() []string {
	reader := s.Events()
	var said []string
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			events, err := reader.Next(context.Background())
			for _, e := range events {
				if e.Type == monitor.Notice {
					said = append(said, e.Text)
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return func() []string { <-done; return said }
}

// 8.3: starting a server is asked for like a command; its tools are offered, and each call is asked
// for by itself.
func TestMCPServerIsAskedFor8_3(t *testing.T) {
	source := "Tools: db\n\nmain\n---\nName: db\n\n" + mcpBody("good")
	r := newRig(t, source, inOrder(map[string][]model.Reply{"main": {calling(`echo {"text":"a"}`), says("done")}}))
	p := &people{}
	r.withPeople(p)
	s := r.open()
	r.send(s, "go")
	r.close(s)
	if len(p.asked) != 2 || p.asked[0].Tool != "db" || p.asked[0].Preview.Command != os.Args[0] || p.asked[0].Category != "server" ||
		p.asked[1].Tool != "echo" || p.asked[1].Source != "mcp:db" {
		t.Errorf("%+v", p.asked)
	}
	requests := r.model.requests()
	if got := offeredIn(requests[0]); got != "ask die echo env grow skyView refuse steps wait" {
		t.Error(got)
	}
	if got := lastResult(requests[1]); got != `{"isError":false,"content":[{"type":"text","text":"you said a"}]}` {
		t.Error(got)
	}
}

// A server that is not allowed to start has no tools, and the turn goes on.
func TestMCPServerDenied(t *testing.T) {
	source := "Tools: db, sys.time.now\n\nmain\n---\nName: db\n\n" + mcpBody("good")
	r := newRig(t, source, inOrder(map[string][]model.Reply{"main": {says("done")}}))
	p := &people{deny: "db"}
	r.withPeople(p)
	s := r.open()
	said := r.notices(s)
	for range 2 { // the second time it is not asked about
		if got := r.send(s, "go").Content; got != "done" {
			t.Error(got)
		}
	}
	if len(p.asked) != 1 {
		t.Errorf("%d questions", len(p.asked))
	}
	if err := s.ReconnectServer(""); err != nil {
		t.Error(err)
	}
	if r.send(s, "go"); len(p.asked) != 2 {
		t.Errorf("%d questions", len(p.asked))
	}
	r.close(s)
	if got := offeredIn(r.model.requests()[0]); got != "timeNow" {
		t.Error(got)
	}
	if lines := said(); len(lines) != 2 || !strings.Contains(lines[0], "the MCP server db") {
		t.Error(lines)
	}
}

// M-02: servers that time out together are told in one line, once, and the turn goes on at once from
// then on. The tools of the settings' servers carry the server's name (1.6), and starting those is
// nobody's question.
func TestM02OneLineForAll(t *testing.T) {
	source := "Chat: true\nTools: mcp_a, mcp_b, mcp_c, mcp_d, mcp_e, mcp_good, mcp_good_echo\n\nmain"
	r := newRig(t, source, inOrder(map[string][]model.Reply{"main": {calling(`mcp_good_echo {"text":"a"}`), says("one"), says("two")}}))
	servers := map[string]mcp.Config{"good": mcpConfig("good")}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		silent := mcpConfig("silent")
		silent.StartTimeout = 300 * time.Millisecond
		servers[name] = silent
	}
	r.servers = servers
	p := &people{}
	r.withPeople(p)
	s := r.open()
	said := r.notices(s)
	r.send(s, "go")
	began := time.Now()
	r.send(s, "again")
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the second turn took %v", took)
	}
	states := map[string]string{}
	for _, st := range s.Servers() {
		states[st.Name] = st.String()
	}
	r.close(s)
	if states["a"] != "failed: no answer within 300ms" || states["good"] != "ready, 9 tools" {
		t.Error(states)
	}
	want := "5 MCP servers cannot be used (a, b, c, d, e): no answer within 300ms; /mcp reconnect tries again"
	if lines := said(); !slices.Equal(lines, []string{want}) {
		t.Errorf("%q", lines)
	}
	requests := r.model.requests()
	if got := offeredIn(requests[0]); !strings.HasPrefix(got, "mcp_good_echo mcp_good_ask mcp_good_die ") || strings.Count(got, "mcp_good_echo") != 1 {
		t.Error(got)
	}
	if got := lastResult(requests[1]); !strings.Contains(got, "you said a") {
		t.Error(got)
	}
	if len(p.asked) != 1 || p.asked[0].Tool != "mcp_good_echo" || p.asked[0].Source != "mcp:good" {
		t.Errorf("%+v", p.asked)
	}
}

// Tools of the same name are kept apart by server, and a file's own tool keeps its name.
func TestMCPNamesApart8_3(t *testing.T) {
	source := "Tools: one, two, wait\n\nmain\n---\nName: one\n\n" + mcpBody("good", "WHO=first") + "\n---\nName: two\n\n" + mcpBody("good", "WHO=second") +
		"\n---\nName: wait\n\n#!/bin/sh\necho own"
	r := newRig(t, source, inOrder(map[string][]model.Reply{"main": {
		calling(`env {"text":"WHO"}`, `env0 {"text":"WHO"}`, `wait {}`, `wait0 {"text":"x","more":1}`), says("done")}}))
	s := r.open()
	r.send(s, "go")
	r.close(s)
	var results []string
	for _, m := range r.model.requests()[1].Messages {
		if m.Role == model.ToolRole {
			results = append(results, strings.TrimSpace(m.Text()))
		}
	}
	if len(results) != 4 || !strings.Contains(results[0], "WHO=first") || !strings.Contains(results[1], "WHO=second") || results[2] != "own" ||
		!strings.Contains(results[3], "invalid_arguments") {
		t.Errorf("%q", results)
	}
}

// Started lazily: an agent that is never asked starts no server.
func TestMCPServerIsStartedLazily(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	source := "Agents: other\n\nmain\n---\nName: other\nTools: db\n\nother\n---\nName: db\n\n" + mcpBody("good", mcptest.Variable+"_PID="+pid)
	r := newRig(t, source, inOrder(map[string][]model.Reply{"main": {says("done")}}))
	s := r.open()
	r.send(s, "go")
	r.close(s)
	if _, err := os.Stat(pid); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the server was started: %v", err)
	}
	r.model.answer = inOrder(map[string][]model.Reply{"main": {calling(`other {"defaultPromptParameter":"x"}`), says("done")}, "other": {says("hi")}})
	s = r.open()
	r.send(s, "go")
	r.close(s)
	if _, err := os.Stat(pid); err != nil {
		t.Error(err)
	}
}

// A turn that is walked again offers the tools that were recorded, and starts the server only for a
// call that has yet to be made.
func TestMCPTurnIsWalkedAgain(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	source := "Tools: db\n\nmain\n---\nName: db\n\n" + mcpBody("good", mcptest.Variable+"_PID="+pid)
	stop := make(chan struct{})
	r := newRig(t, source, nil)
	r.model.answer = func(ctx context.Context, req model.Request, _ func(model.Delta)) (model.Reply, error) {
		switch len(req.Messages) {
		case 2:
			return calling(`echo {"text":"one"}`), nil
		case 4:
			select {
			case <-stop:
				return calling(`echo {"text":"two"}`), nil
			default:
				go func() { _ = r.session.Close() }()
				<-ctx.Done()
				return model.Reply{}, ctx.Err()
			}
		}
		return says("done"), nil
	}
	s := r.open()
	if _, err := s.Send(t.Context(), "go"); err == nil {
		t.Fatal("the turn did not stop")
	}
	r.close(s)
	if err := os.Remove(pid); err != nil {
		t.Fatal(err)
	}
	close(stop)
	s = r.open()
	if _, err := s.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.close(s)
	requests := r.model.requests()
	if len(requests) != 4 || offeredIn(requests[2]) != offeredIn(requests[1]) || !strings.Contains(lastResult(requests[3]), "you said two") {
		t.Errorf("%d requests, the last read %s", len(requests), lastResult(requests[len(requests)-1]))
	}
	if _, err := os.Stat(pid); err != nil {
		t.Errorf("the server was not started again for the second call: %v", err)
	}
}

// A list of tools that changes in a turn is offered in its next request.
func TestMCPListChanges(t *testing.T) {
	source := "Tools: db\n\nmain\n---\nName: db\n\n" + mcpBody("good")
	r := newRig(t, source, nil)
	r.model.answer = func(_ context.Context, req model.Request, _ func(model.Delta)) (model.Reply, error) {
		switch {
		case len(req.Messages) == 2:
			return calling(`grow {"text":""}`), nil
		case strings.Contains(offeredIn(req), "late"):
			return says("grown"), nil
		case len(req.Messages) > 60:
			return says("never"), nil
		}
		return calling(fmt.Sprintf(`echo {"text":"%d"}`, len(req.Messages))), nil
	}
	s := r.open()
	if got := r.send(s, "go").Content; got != "grown" {
		t.Error(got)
	}
	r.close(s)
}

// A question of a server stands before the person under the name of the call.
func TestMCPElicitation(t *testing.T) {
	source := "Tools: db\n\nmain\n---\nName: db\n\n" + mcpBody("good")
	r := newRig(t, source, inOrder(map[string][]model.Reply{"main": {calling(`ask {"text":"Which city?"}`), says("done")}}))
	p := &people{answer: func(agent.InputQuestion) map[string]string { return map[string]string{"city": "Bern"} }}
	r.withPeople(p)
	s := r.open()
	r.send(s, "go")
	r.close(s)
	if len(p.inputs) != 1 || p.inputs[0].Tool != "ask" || p.inputs[0].Label != "1" || p.inputs[0].Question.Message != "Which city?" || len(p.inputs[0].Question.Fields) != 2 {
		t.Errorf("%+v", p.inputs)
	}
	if got := lastResult(r.model.requests()[1]); !strings.Contains(got, `accept {\"city\":\"Bern\"}`) {
		t.Error(got)
	}
}

// Keys of model providers and what belongs to parley are not in a server's environment; what a
// credential of the server gives is.
func TestMCPServerEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", marker)
	source := "Tools: db\n\nmain\n---\nName: db\nCredentials: key as dbkey\n\n" + mcpBody("good") + "\n---\nName: key\n\n#!/bin/sh\necho '{\"env\":{\"DB_KEY\":\"k-0815-4711\"}}'"
	r := newRig(t, source, inOrder(map[string][]model.Reply{"main": {calling(`env {"text":"DB_KEY"}`, `env {"text":"OPENAI_API_KEY"}`), says("done")}}))
	r.change = func(o *agent.Options) { o.Env, o.Redactor = nil, credential.NewRedactor() }
	s := r.open()
	r.send(s, "go")
	r.close(s)
	messages := r.model.requests()[1].Messages
	if got := messages[len(messages)-1].Text(); !strings.Contains(got, `"text":"OPENAI_API_KEY="`) {
		t.Error(got)
	}
	if got := messages[len(messages)-2].Text(); !strings.Contains(got, "DB_KEY=‹secret:dbkey›") {
		t.Error(got)
	}
}

// 8.2: the secret of an operation is asked for once, kept under its alias, and not asked for where
// the environment has it; it is never seen.
func TestOpenAPISecret8_2(t *testing.T) {
	var sent []string
	var mu sync.Mutex
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, r.Header.Get("X-Key"))
		fmt.Fprint(w, "key "+r.Header.Get("X-Key"))
	}))
	defer web.Close()
	source := "Tools: ./api.json\n\nmain"
	r := newRig(t, source, inOrder(map[string][]model.Reply{"main": {says("done")}}))
	api := `{"openapi":"3.0.0","info":{"title":"T","version":"1"},"servers":[{"url":"` + web.URL + `"}],"paths":{"/a":{"get":{"operationId":"getA"}}},
		"security":[{"k":[]}],"components":{"securitySchemes":{"k":{"type":"apiKey","in":"header","name":"X-Key"}}}}`
	if err := os.WriteFile(filepath.Join(r.dir, "api.json"), []byte(api), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &people{answer: func(q agent.InputQuestion) map[string]string { return map[string]string{"X-Key": marker} }}
	r.withPeople(p)
	before := r.change
	r.change = func(o *agent.Options) { before(o); o.Redactor = credential.NewRedactor() }
	r.model.answer = inOrder(map[string][]model.Reply{"main": {calling("getA {}", "getA {}"), says("done")}})
	s := r.open()
	r.send(s, "go")
	r.close(s)
	if len(p.inputs) != 1 || p.inputs[0].Credential != "127.0.0.1k" || !p.inputs[0].Question.Sensitive {
		t.Errorf("%+v", p.inputs)
	}
	if got := lastResult(r.model.requests()[1]); got != "key ‹secret:127.0.0.1k›" {
		t.Error(got)
	}
	r.change = func(o *agent.Options) {
		before(o)
		o.Env = append(os.Environ(), "GPTSCRIPT_127_0_0_1_K=from-environment")
	}
	r.row.ID = "s2"
	s = r.open()
	r.send(s, "go")
	r.close(s)
	if len(p.inputs) != 1 || !slices.Equal(sent, []string{marker, marker, "from-environment", "from-environment"}) {
		t.Errorf("%d questions, sent %q", len(p.inputs), sent)
	}
}
