package agent_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"parley/agent"
	"parley/agent/model"
	"parley/agent/monitor"
	"parley/agent/program"
	"parley/agent/record"
	"parley/persist"
	"parley/toolrt/approval"
	"parley/toolrt/mcp"
	"parley/toolrt/mcp/mcptest"
	"parley/toolrt/sys"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	goleak.VerifyTestMain(m)
}

// scripted is a model that answers by a function of the request, and keeps what it was asked.
type scripted struct {
	mu     sync.Mutex
	asked  []model.Request
	window int // of context, zero: unknown
	answer func(ctx context.Context, req model.Request, emit func(model.Delta)) (model.Reply, error)
}

func (m *scripted) Ref() string      { return "test/m" }
func (m *scripted) Info() model.Info { return model.Info{Ref: "test/m", ContextWindow: m.window} }

func (m *scripted) Stream(ctx context.Context, req model.Request, emit func(model.Delta)) (model.Reply, error) {
	m.mu.Lock()
	m.asked = append(m.asked, req)
	m.mu.Unlock()
	return m.answer(ctx, req, emit)
}

func (m *scripted) requests() []model.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.asked)
}

// says is a reply of text, calling is one with calls ("name args").
func says(text string) model.Reply {
	return model.Reply{Message: model.TextMessage(model.Assistant, text), Finish: model.FinishStop}
}

func calling(calls ...string) model.Reply {
	r := model.Reply{Message: model.Message{Role: model.Assistant}, Finish: model.FinishCalls}
	for i, c := range calls {
		name, args, _ := strings.Cut(c, " ")
		r.Message.Content = append(r.Message.Content, model.Part{ToolCall: &model.ToolCall{
			ID: fmt.Sprintf("c%d", i+1), Function: model.Function{Name: name, Arguments: args}}})
	}
	return r
}

// inOrder answers by how many replies the request holds, per system message: agents have their own.
func inOrder(replies map[string][]model.Reply) func(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
	return func(_ context.Context, req model.Request, emit func(model.Delta)) (model.Reply, error) {
		who, n := "", 0
		for _, m := range req.Messages {
			if m.Role == model.System {
				who = m.Text()
			}
			if m.Role == model.Assistant {
				n++
			}
		}
		for key, list := range replies {
			if strings.Contains(who, key) {
				if n >= len(list) {
					return model.Reply{}, fmt.Errorf("no reply %d for %q", n, key)
				}
				emit(model.Delta{Kind: model.DeltaText, Text: list[n].Message.Text()})
				return list[n], nil
			}
		}
		return model.Reply{}, fmt.Errorf("no replies for %q", who)
	}
}

// rig is a store, a program and a model around sessions that are opened one after the other.
type rig struct {
	t      testing.TB
	store  *persist.Store
	source string
	model  *scripted
	policy *approval.Policy
	dir    string
	hub    *monitor.Hub
	change func(*agent.Options)
	// servers are the MCP servers of the settings.
	servers map[string]mcp.Config
	row     record.Session

	session *agent.Session // the one opened last
	opened  agent.Journal  // its journal
}

func newRig(t testing.TB, source string, answer func(context.Context, model.Request, func(model.Delta)) (model.Reply, error)) *rig {
	t.Helper()
	store, err := persist.OpenMemory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	dir := t.TempDir()
	return &rig{t: t, store: store, source: source, model: &scripted{answer: answer}, dir: dir,
		policy: approval.New(dir, dir, approval.ModeAuto), row: record.Session{ID: "s1", Dir: dir, Workspace: dir, Model: "test/m", Mode: "ask"}}
}

func (r *rig) program(ctx context.Context) (*program.Program, error) {
	prg, _, err := program.LoadSource(ctx, "test.gpt", []byte(r.source), program.Options{Dir: r.dir, Builtins: func(name string) *program.Tool {
		tool, ok := sys.New(name)
		if !ok {
			return r.serverTool(name)
		}
		spec := tool.Spec()
		return &program.Tool{Name: name, Description: spec.Description, Arguments: spec.Parameters, Instructions: "#!" + name}
	}})
	return prg, err
}

// serverTool stands for the server of the settings that a name is, or begins with.
func (r *rig) serverTool(name string) *program.Tool {
	for server := range r.servers {
		if prefix := program.SettingsServerName(server); name == prefix || strings.HasPrefix(name, prefix+"_") {
			return &program.Tool{Name: prefix, Description: server, Instructions: mcp.SettingsBody(server)}
		}
	}
	return nil
}

// journal opens the session's journal, making the session at first.
func (r *rig) journal() agent.Journal {
	r.t.Helper()
	j, err := r.store.OpenSession(r.t.Context(), r.row.ID)
	if errors.Is(err, agent.ErrNotFound) {
		j, err = r.store.Create(r.t.Context(), r.row)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return j
}

func (r *rig) open() *agent.Session { r.t.Helper(); return r.openWith(r.journal()) }

func (r *rig) openWith(j agent.Journal) *agent.Session {
	r.t.Helper()
	r.hub = &monitor.Hub{}
	o := agent.Options{Servers: r.servers, Journal: j, Hub: r.hub, Program: r.program, Policy: r.policy, Dir: r.dir, Workspace: r.dir, Env: os.Environ(),
		OpenModel: func(string, string) (model.Model, error) { return r.model, nil }}
	if r.change != nil {
		r.change(&o)
	}
	s, err := agent.Open(r.t.Context(), o)
	if err != nil {
		r.t.Fatal(err)
	}
	r.session, r.opened = s, j
	return s
}

func (r *rig) close(s *agent.Session) {
	r.t.Helper()
	if err := s.Close(); err != nil {
		r.t.Error(err)
	}
	r.hub.Close()
}

// send sends to a session that must answer.
func (r *rig) send(s *agent.Session, text string) agent.Response {
	r.t.Helper()
	resp, err := s.Send(r.t.Context(), text)
	if err != nil {
		r.t.Fatalf("send %q: %v", text, err)
	}
	return resp
}

// conversation is a stored conversation as "role: text or calls", one a line.
func (r *rig) conversation(path string) string {
	r.t.Helper()
	rows, err := r.store.ConversationMessages(r.t.Context(), r.row.ID, path, 0, 1000)
	if err != nil {
		r.t.Fatal(err)
	}
	var lines []string
	for _, m := range rows {
		lines = append(lines, line(m.Message))
	}
	return strings.Join(lines, "\n")
}

func line(m model.Message) string {
	out := string(m.Role) + ":"
	if text := m.Text(); text != "" {
		out += " " + strings.TrimSpace(text)
	}
	for _, c := range m.Calls() {
		out += fmt.Sprintf(" [%s %s]", c.Function.Name, c.Function.Arguments)
	}
	if m.Aborted {
		out += " (aborted)"
	}
	return out
}

// wellFormed checks that every call of every reply has its answer, in order.
func (r *rig) wellFormed(req model.Request) {
	r.t.Helper()
	var open []string
	for _, m := range req.Messages {
		if m.Role == model.ToolRole {
			if len(open) == 0 || m.ToolCall == nil || m.ToolCall.ID != open[0] {
				r.t.Errorf("a tool message answers no call in order: %.200s", line(m))
				return
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			r.t.Errorf("calls %v have no answer before %s", open, line(m))
			return
		}
		for _, c := range m.Calls() {
			open = append(open, c.ID)
		}
	}
}

// ran reads how often each line was appended to a file in the rig's folder.
func (r *rig) ran(file string) map[string]int {
	data, err := os.ReadFile(filepath.Join(r.dir, file))
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	count := map[string]int{}
	for _, l := range strings.Fields(string(data)) {
		count[l]++
	}
	return count
}

// touch makes a file in the rig's folder; the function it returns removes it.
func (r *rig) touch(name string) func() {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		r.t.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			r.t.Error(err)
		}
	}
}
