package tui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"parley/agent"
	"parley/agent/model"
	"parley/agent/record"
	"parley/toolrt"
	"parley/toolrt/mcp"
	"parley/toolrt/undo"
)

// ableChat is a fakeChat that knows servers, hooks, changes of files and efforts.
type ableChat struct {
	*fakeChat
	servers []mcp.State
	changes []undo.Difference
	hooks   []agent.HookState

	did []string // guarded by fakeChat.mu
}

func (c *ableChat) note(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.did = append(c.did, what)
}

func (c *ableChat) Servers() []mcp.State { return c.servers }
func (c *ableChat) ReconnectServer(name string) error {
	c.note("reconnect " + name)
	if name == "nope" {
		return errors.New("no such server")
	}
	return nil
}

func (c *ableChat) EnableServer(name string, on bool) error {
	c.note(map[bool]string{true: "enable ", false: "disable "}[on] + name)
	return nil
}

func (c *ableChat) Background(path string) bool {
	if path != "0/2.0" {
		return false // not a command
	}
	c.note("background " + path)
	return true
}
func (c *ableChat) Jobs() []toolrt.Job                   { return nil }
func (c *ableChat) JobOutput(string) (string, error)     { return "", nil }
func (c *ableChat) EndJob(context.Context, string) error { return nil }

func (c *ableChat) HookStates() []agent.HookState { return c.hooks }
func (c *ableChat) FileChanges(context.Context) ([]undo.Difference, error) {
	return c.changes, nil
}

func (c *ableChat) SetEffort(e model.Effort) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.row.Effort = e
	return nil
}

// ableBackend is a fakeBackend that keeps credentials, reports and puts sessions away.
type ableBackend struct {
	*fakeBackend
	questions *Questions

	mu       sync.Mutex // guards what follows
	secrets  []Secret
	stored   []string
	reports  []string
	archived []string
}

func (b *ableBackend) Report(_ context.Context, args ...string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reports = append(b.reports, strings.Join(args, " "))
	return "what " + args[0] + " prints", nil
}

func (b *ableBackend) Secrets(context.Context) ([]Secret, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.secrets), nil
}

func (b *ableBackend) StoreSecret(ctx context.Context, name string, _ ...string) (string, error) {
	q := agent.InputQuestion{ID: "x"}
	q.Question = toolrt.Question{Message: "The key of " + name, Sensitive: true, Fields: []toolrt.Field{{Name: "KEY"}}}
	a, err := b.questions.Prompt(ctx, q)
	if err != nil || a.Declined {
		return "", errors.Join(err, errors.New("nothing was given"))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, v := range a.Values {
		b.stored = append(b.stored, name+"="+v)
	}
	return "stored " + name, nil
}

func (b *ableBackend) DeleteSecret(_ context.Context, s Secret) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.secrets = slices.DeleteFunc(b.secrets, func(o Secret) bool { return o == s })
	return nil
}

func (b *ableBackend) Providers(context.Context) ([]Provider, error) {
	return []Provider{{Name: "openai", Key: "no key"}, {Name: "anthropic", Key: "key from the keyring"}}, nil
}

func (b *ableBackend) Archive(_ context.Context, id string, _ bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.archived = append(b.archived, id)
	return nil
}

func (b *ableBackend) Archived(context.Context, bool, string) ([]record.Session, error) {
	return nil, nil
}

func (b *ableBackend) SandboxFacts() []string { return []string{"profile: workspace-write"} }

func (c *ableChat) CustomCommands(context.Context) ([]CustomCommand, error) {
	return []CustomCommand{
		{Name: "review", Help: "look at a file", Args: "FILE", Text: "Review $1, all of: $ARGUMENTS"},
		{Name: "deploy", Help: "run the tool", Args: "[where]", Tool: "p.gpt:deploy", Param: "where"},
		{Name: "quit", Help: "hides the screen's own", Text: "x"},
	}, nil
}

func newAble() (*ableBackend, *ableChat) {
	b := &ableBackend{fakeBackend: newBackend(), questions: NewQuestions(), secrets: []Secret{{Name: "sys.openai", Context: "default", Detail: "OPENAI_API_KEY"}, {Name: "weather", Context: "default"}}}
	chat := &ableChat{fakeChat: newChat("s1"), servers: []mcp.State{{Name: "db", Status: mcp.Failed, Detail: "exit 1: no such file", Line: "db-server --stdio"}, {Name: "web", Status: mcp.Ready, Tools: 4, Line: "http://127.0.0.1:9/mcp"}},
		hooks:   []agent.HookState{{Hook: agent.Hook{Tool: "sys.*", Command: "check-call"}, Runs: 2, Last: "call 1.0, sys.exec: allow"}, {Hook: agent.Hook{Command: "log-call"}, After: true}},
		changes: []undo.Difference{{Path: "/work/notes.md", Before: undo.State{Kind: undo.File, Hash: "a"}, Now: undo.State{Kind: undo.File, Hash: "b"}, Was: "old line\n", Is: "new line\n", Text: true}}}
	chat.row.Dir = "/work"
	return b, chat
}

func TestPagesOfAbilities(t *testing.T) {
	b, chat := newAble()
	term := start(t, 120, 36, Options{Backend: b, Chat: chat, Questions: b.questions})
	term.shows("@planner")
	for _, c := range []struct{ typed, shows string }{
		{"/mcp<enter>", "failed: exit 1: no such file"},
		{"<esc>/mcp reconnect<enter>", "every server that failed: connected again when it is needed next"},
		{"/mcp reconnect nope<enter>", "the server stays as it is: no such server"},
		{"/mcp disable web<enter>", "web is off in this session"},
		{"/mcp nonsense<enter>", "/mcp lists the servers"},
		{"/hooks<enter>", "2 runs, the last for call 1.0, sys.exec: allow"},
		{"<esc>/diff<enter>", "notes.md  changed"},
		{"<esc>/sql SELECT 1<enter>", "what sql prints"},
		{"<esc>/replay 2<enter>", "what replay prints"},
		{"<esc>/sandbox<enter>", "profile: workspace-write"},
		{"<esc>/creds context<enter>", "what credentials prints"},
		{"<esc>/effort high<enter>", "effort high from the next turn on"},
		{"<alt+.>", "effort high is the last one this way"},
		{"<alt+,>", "effort medium from the next turn on"},
		{"/effort much<enter>", `there is no effort "much"`},
	} {
		term.typed(c.typed)
		term.shows(c.shows)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if want := []string{"sql SELECT 1", "replay s1 --from 2", "credentials list --all-contexts"}; !slices.Equal(b.reports, want) {
		t.Errorf("reports %q", b.reports)
	}
	chat.mu.Lock()
	defer chat.mu.Unlock()
	if want := []string{"reconnect ", "reconnect nope", "disable web"}; !slices.Equal(chat.did, want) {
		t.Errorf("did %q", chat.did)
	}
}

func TestLoginNeverShowsTheKey(t *testing.T) {
	b, chat := newAble()
	term := start(t, 100, 30, Options{Backend: b, Chat: chat, Questions: b.questions})
	term.shows("@planner")
	term.typed("/login<enter>")
	term.shows("Store the key of which provider?", "key from the keyring")
	term.typed("<enter>")
	term.shows("The key of sys.openai")
	term.hides("for call") // no tool asks, but the person's own command
	term.hides("│ from")
	term.typed("<tab>hunter2")
	term.shows("•••••••")
	term.typed("<enter>")
	term.shows("stored sys.openai")
	term.hides("hunter2")
	term.typed("/logout<enter>")
	term.shows("Delete which key?", "sys.openai")
	term.hides("weather")
	term.typed("<enter>")
	term.shows("no, keep it")
	term.typed("<down><enter>")
	term.shows("deleted sys.openai")
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Equal(b.stored, []string{"sys.openai=hunter2"}) || len(b.secrets) != 1 {
		t.Errorf("stored %q, left %v", b.stored, b.secrets)
	}
}

// The leader's b moves a running command to the background; with none it lists what runs there.
func TestLeaderMovesTheRunningCommand(t *testing.T) {
	b, chat := newAble()
	done := leaf(1, 0, "sys.exec", `{"command":"true"}`, toolrt.StatusSuccess)
	runs := leaf(2, 0, "sys.exec", `{"command":"sleep 9"}`, toolrt.StatusRunning)
	fetch := leaf(3, 0, "sys.http.get", `{"url":"http://x"}`, toolrt.StatusRunning)
	fetch.Started = runs.Started.Add(1)
	chat.message(model.Assistant, "three", done, runs, fetch)
	term := start(t, 120, 36, Options{Backend: b, Chat: chat, Questions: b.questions})
	term.shows("sleep 9")
	term.typed("<ctrl+x>b")
	term.shows("goes on in the background")
	chat.mu.Lock()
	defer chat.mu.Unlock()
	if !slices.Equal(chat.did, []string{"background 0/2.0"}) {
		t.Errorf("did %q", chat.did)
	}
}

func TestLeaderListsJobsWhereNothingRuns(t *testing.T) {
	b, chat := newAble()
	term := start(t, 100, 30, Options{Backend: b, Chat: chat, Questions: b.questions})
	term.shows("@planner")
	term.typed("<ctrl+x>b")
	term.shows("no command runs in the background")
}

func TestArchiveStartsAnew(t *testing.T) {
	b, chat := newAble()
	term := start(t, 100, 30, Options{Backend: b, Chat: chat, Questions: b.questions})
	term.shows("@planner")
	term.typed("/archive<enter>")
	term.until("the session is put away and another one open", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		chat.mu.Lock()
		defer chat.mu.Unlock()
		return slices.Equal(b.archived, []string{"s1"}) && chat.closed
	})
}

// Commands of the person's own send their text, those of the program run a tool, and none takes the
// place of the screen's own.
func TestCustomCommands(t *testing.T) {
	b, chat := newAble()
	term := start(t, 100, 30, Options{Backend: b, Chat: chat, Questions: b.questions})
	term.shows("@planner")
	term.typed("/rev")
	term.shows("/review FILE", "look at a file")
	term.typed("iew a.go b.go<enter>")
	term.until("the text", chat.hasSent("Review a.go, all of: a.go b.go"))
	term.typed("/deploy north side<enter>")
	term.until("the call", chat.hasRun(`p.gpt:deploy {"where":"north side"}`))
	term.typed(`/deploy {"where":"south"}<enter>`)
	term.until("the call", chat.hasRun(`p.gpt:deploy {"where":"north side"}`, `p.gpt:deploy {"where":"south"}`))
	term.typed("/unheard of<enter>")
	term.shows("there is no command /unheard")
	term.typed("<ctrl+u><ctrl+u>/help<enter>")
	term.shows("Keys and commands")
	term.typed("<esc>/quit<enter>")
	if err := term.end(); err != nil {
		t.Error(err)
	}
}

// A command that is sent at once, before the list of them was read, is carried out when it is there.
func TestCustomCommandTypedAtOnce(t *testing.T) {
	b, chat := newAble()
	term := start(t, 100, 30, Options{Backend: b, Chat: chat, Questions: b.questions})
	term.shows("@planner")
	term.paste("/review x")
	term.typed("<enter>")
	term.until("the text", chat.hasSent("Review x, all of: x"))
}

func TestExpand(t *testing.T) {
	for _, c := range [][3]string{
		{"Do it", "", "Do it"}, {"Do it\n", "now", "Do it\n\nnow"}, {"A $1 B $2 C $9", "x y", "A x B y C "},
		{"All: $ARGUMENTS!", " x  y ", "All: x  y!"}, {"$10 costs $1", "x", "x0 costs x"}, {"$1", "$ARGUMENTS", "$ARGUMENTS"},
	} {
		if got := Expand(c[0], c[1]); got != c[2] {
			t.Errorf("%q with %q: got %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

// A command that was queued before a restart is carried out, though the list of them is not read yet.
func TestCustomCommandInTheQueue(t *testing.T) {
	b, chat := newAble()
	chat.row.Queue = []string{"/review x"}
	term := start(t, 100, 30, Options{Backend: b, Chat: chat, Questions: b.questions})
	term.shows("queued 1: /review x")
	term.typed("<enter>")
	term.until("the text", chat.hasSent("Review x, all of: x"))
}
