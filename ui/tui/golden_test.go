package tui

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/agent/model"
	"parley/agent/record"
	"parley/toolrt"
)

// sizes are those at which screens are compared.
var sizes = []struct{ w, h int }{{120, 36}, {80, 24}, {60, 20}, {40, 12}}

// scene is a session in the middle of a turn: calls done, running, waiting and denied.
func scene() (*fakeBackend, *fakeChat, chan struct{}) {
	b := newBackend()
	chat := newChat("01J8M3TT0000000000000000Q4")
	chat.row.Turns = 2
	hold := make(chan struct{})
	old := []record.Call{
		leaf(2, 0, "sys.read", `{"filename":"auth/login.go"}`, toolrt.StatusSuccess),
		leaf(2, 1, "sys.remove", `{"location":"tmp/"}`, toolrt.StatusDenied),
	}
	old[1].Decision = &toolrt.Decision{By: "user", Scope: "once", Note: "keep the cache"}
	old[1].Result = "denied by the user"
	chat.calls = append(chat.calls, entry(1))
	chat.message(model.User, "Is the cache in the way?")
	chat.message(model.Assistant, "Let me look.", old...)
	chat.message(model.Assistant, "No, the cache is fine. The **clock** is the suspect:\n\n```go\nif tok.Expiry.Before(now) { return ErrExpired }\n```\n")
	chat.turn = func(ctx context.Context, c *fakeChat, _ string) error {
		find := leaf(3, 0, "sys.find", `{"pattern":"**/*login*_test.go"}`, toolrt.StatusSuccess)
		run := leaf(3, 1, "sys.exec", `{"command":"go test ./auth -run Login","directory":"."}`, toolrt.StatusRunning)
		run.Decision = &toolrt.Decision{Allow: true, By: "rule", Rule: "sys.exec(go test *)", Scope: "project"}
		issue := leaf(3, 2, "github.create_issue", `{"owner":"acme","repo":"shop","title":"Login test uses real clock"}`, toolrt.StatusPending)
		diff := leaf(3, 3, "sys.exec", `{"command":"git diff HEAD~3"}`, toolrt.StatusPending)
		diff.Waits = "3"
		c.message(model.Assistant, "I will look at the failing test first, then compare with the last green commit.", find, run, issue, diff)
		c.output("0/3.1", "=== RUN   TestLogin\n    login_test.go:52: token expired\n--- FAIL: TestLogin\n")
		select {
		case <-hold:
		case <-ctx.Done():
		}
		return ctx.Err()
	}
	b.fresh = chat
	return b, chat, hold
}

func approval(id, label, tool string) agent.ApprovalQuestion {
	return agent.ApprovalQuestion{
		ID: id, Turn: 3, Path: "0/3.2", Label: label, Agents: []string{"planner"}, Tool: tool, Source: "openapi:github",
		Arguments: `{"owner":"acme","repo":"shop","title":"Login test uses real clock"}`,
		Preview:   toolrt.Preview{Summary: "POST https://api.github.com/repos/acme/shop/issues", URL: "https://api.github.com/repos/acme/shop/issues"},
		Dir:       "/home/me/shop", Reason: "it sends data to api.github.com", Place: 3, Batch: 4,
		Rules: []agent.RuleOffer{{Text: tool + "(owner=acme, repo=shop)"}, {Text: tool, Past: 2}},
	}
}

func credential(id string) agent.InputQuestion {
	secret := true
	return agent.InputQuestion{
		ID: id, Path: "0/3.2", Label: "3", Agents: []string{"planner"}, Tool: "github.create_issue", Credential: "github",
		Sets: []string{"GITHUB_TOKEN"}, Keep: []string{"session", "call"},
		Question: toolrt.Question{
			Message: "Create a token with the issues scope",
			Fields:  []toolrt.Field{{Name: "token", Sensitive: &secret}, {Name: "host", Sensitive: new(bool)}},
		},
	}
}

// ask puts a question to the person in the background until the test ends; the answer goes to the
// channel.
func ask(t *testing.T, q *Questions, a agent.ApprovalQuestion) chan agent.ApprovalAnswer {
	out := make(chan agent.ApprovalAnswer, 1)
	go func() {
		if answer, err := q.Authorize(t.Context(), a); err == nil {
			out <- answer
		}
	}()
	return out
}

func TestScreens(t *testing.T) {
	for _, size := range sizes {
		name := func(scene string) string { return fmt.Sprintf("%s_%dx%d", scene, size.w, size.h) }
		t.Run(name("chat"), func(t *testing.T) {
			b, _, _ := scene()
			term := start(t, size.w, size.h, Options{Backend: b})
			term.shows("mode", "login-bug")
			term.typed("Find out why login fails<enter>")
			term.shows("run", "git diff", "TestLogin")
			term.typed("also check the refresh path")
			term.shows("refresh path")
			term.golden(name("chat"))
		})
		t.Run(name("approval"), func(t *testing.T) {
			b, _, _ := scene()
			q := NewQuestions()
			term := start(t, size.w, size.h, Options{Backend: b, Questions: q})
			term.typed("Find out why login fails<enter>")
			term.shows("1 run")
			ask(t, q, approval("q1", "3", "github.create_issue"))
			term.shows("1 ask")
			term.armed()
			term.golden(name("approval"))
		})
		t.Run(name("credential"), func(t *testing.T) {
			b, _, _ := scene()
			q := NewQuestions()
			term := start(t, size.w, size.h, Options{Backend: b, Questions: q})
			term.typed("Find out why login fails<enter>")
			term.shows("1 run")
			go func() { _, _ = q.Prompt(t.Context(), credential("q1")) }()
			term.shows("1 ask")
			term.until("the dialog armed", func() bool {
				s := term.text()
				return strings.Contains(s, "decline") && !strings.Contains(s, "Tab answer")
			})
			term.typed("secret")
			term.shows("•")
			term.golden(name("credential"))
		})
		t.Run(name("picker"), func(t *testing.T) {
			b, _, _ := scene()
			b.sessions = sessions()
			term := start(t, size.w, size.h, Options{Backend: b, StartPicker: true})
			term.shows("flaky ci")
			term.typed("<down>")
			term.golden(name("picker"))
		})
		t.Run(name("resume"), func(t *testing.T) {
			b, chat, _ := scene()
			chat.open, chat.doubt = true, doubt()
			term := start(t, size.w, size.h, Options{Backend: b})
			term.shows("resume")
			term.armed()
			term.golden(name("resume"))
		})
	}
}

// The views that open over the chat, at each size.
func TestViews(t *testing.T) {
	for _, view := range []struct {
		name, typed string
		shows       []string
	}{
		{"palette", "\x10", []string{"Commands", "/new"}},
		{"palette_narrowed", "\x10mod", []string{"/mode", "/model"}},
		{"complete", "/", []string{"/new", "complete"}},
		{"leader", "\x18", []string{"then"}},
		{"modes", "/mode<enter>", []string{"Mode, now ask"}},
		{"usage", "/cost<enter>", []string{"$0.3700", "by agent"}},
		{"events", "/calls<enter>3", []string{"journal of turn 4"}},
		{"context", "/context<enter>", []string{"Context of", "in all"}},
		{"search", "<tab>/clock<enter>", []string{"1 place"}},
		{"help", "?", []string{"Keys and commands", "0%"}},
		{"approvals", "/calls<enter>2", []string{"[2]", "no "}},
		{"details", "/call 2<enter>", []string{"sys.remove", "j/k move"}},
		{"themes", "/theme<enter>", []string{"Theme", "dracula"}},
		{"models", "/model<enter>", []string{"Model from", "offline/guide"}},
		{"effort", "/effort<enter>", []string{"Thinking from", "medium"}},
		{"status", "/status<enter>", []string{"01J8M3TT"}},
	} {
		for _, size := range sizes {
			name := fmt.Sprintf("%s_%dx%d", view.name, size.w, size.h)
			t.Run(name, func(t *testing.T) {
				b, chat, _ := scene()
				chat.entries = map[int][]record.Entry{4: {
					{Key: record.Key{Turn: 4, Path: "0/2.0"}, Seq: 7, Kind: record.EntryExecution, Finished: true, Started: epoch, Ended: epoch.Add(time.Second)},
					{Key: record.Key{Turn: 4, Path: "0"}, Seq: 9, Kind: record.EntryCompletion, Started: epoch.Add(time.Second)},
				}}
				chat.row.Turns = 4
				for i := range chat.calls {
					chat.calls[i].Turn = 4
				}
				term := start(t, size.w, size.h, Options{Backend: b})
				term.shows("suspect")
				term.typed(view.typed)
				term.shows(view.shows...)
				term.golden(name)
			})
		}
	}
}

// The pages of what a session can do beside talking, at each size.
func TestPages(t *testing.T) {
	for _, view := range []struct {
		name, typed string
		shows       []string
	}{
		{"servers", "/mcp<enter>", []string{"db", "Esc"}},
		{"hooks", "/hooks<enter>", []string{"check-call", "Esc"}},
		{"sandbox", "/sandbox<enter>", []string{"profile: workspace-write", "Esc"}},
		{"credentials", "/creds<enter>", []string{"sys.openai", "weather"}},
		{"login", "/login<enter>", []string{"anthropic"}},
		{"changes", "/diff<enter>", []string{"notes.md", "new line", "Esc"}},
	} {
		for _, size := range sizes {
			name := fmt.Sprintf("%s_%dx%d", view.name, size.w, size.h)
			t.Run(name, func(t *testing.T) {
				b, chat := newAble()
				term := start(t, size.w, size.h, Options{Backend: b, Chat: chat, Questions: b.questions})
				term.shows("@planner")
				term.typed(view.typed)
				term.shows(view.shows...)
				term.golden(name)
			})
		}
	}
}

// A whole batch, a form of a program's own, and the questions at a limit, at each size.
func TestQuestions(t *testing.T) {
	form := agent.InputQuestion{ID: "f1", Path: "0/3.2", Label: "3", Agents: []string{"planner"}, Tool: "sys.prompt",
		Question: toolrt.Question{Message: "Where shall it go, and who signs it?", Fields: []toolrt.Field{
			{Name: "place", Options: []string{"north", "south"}}, {Name: "name", Sensitive: new(bool), Description: "as it stands in the book"}}}}
	for _, view := range []struct {
		name  string
		ask   func(t *testing.T, term *terminal, q *Questions)
		typed string
		shows string
	}{
		{"batch", func(t *testing.T, term *terminal, q *Questions) {
			ask(t, q, approval("q1", "3", "github.create_issue"))
			term.shows("1 ask")
			ask(t, q, approval("q2", "4", "github.close_issue"))
			term.shows("2 ask")
		}, "b", "batch 3.1"},
		{"form", func(t *testing.T, _ *terminal, q *Questions) { go func() { _, _ = q.Prompt(t.Context(), form) }() }, "", "Where shall it go"},
	} {
		for _, size := range sizes {
			name := fmt.Sprintf("%s_%dx%d", view.name, size.w, size.h)
			t.Run(name, func(t *testing.T) {
				b, _, _ := scene()
				q := NewQuestions()
				term := start(t, size.w, size.h, Options{Backend: b, Questions: q})
				term.typed("Find out why login fails<enter>")
				term.shows("1 run")
				view.ask(t, term, q)
				term.shows(" ask")
				if view.typed != "" {
					term.armed()
					term.typed(view.typed)
				} else {
					term.shows(view.shows)
					term.until("the form armed", func() bool {
						s := term.text()
						return strings.Contains(s, "decline") && !strings.Contains(s, "Tab answer")
					})
				}
				term.shows(view.shows)
				term.golden(name)
			})
		}
	}
}

func doubt() []agent.OpenCall {
	call := leaf(2, 2, "sys.exec", `{"command":"go test ./auth -run Login"}`, toolrt.StatusRunning)
	return []agent.OpenCall{{
		Key: record.Key{Turn: 2, Path: call.Path}, Call: call, Started: epoch, Printed: "=== RUN   TestLogin\n", Effects: "may change something",
	}}
}

func sessions() []record.Session {
	at := epoch.Add(9 * time.Second)
	mk := func(id, title, agent, program string, ago time.Duration, st record.SessionState) record.Session {
		return record.Session{
			ID: id, Title: title, Agent: agent, Program: program, Dir: "/home/me/shop", State: st, Model: "openai/gpt-x",
			Created: at.Add(-ago - time.Hour), Updated: at.Add(-ago), Turns: 4, Calls: 23, CostMicro: 370_000,
			Usage: model.Usage{TotalTokens: 82_000},
		}
	}
	return []record.Session{
		mk("01J8M3TT0000000000000000Q4", "login-bug", "planner", "/p/triage.gpt", 2*time.Minute, record.StateAsk),
		mk("01J8M3TT0000000000000000Q5", "release notes 2.3", "writer", "/p/notes.gpt", 3*time.Hour, record.StateIdle),
		mk("01J8M3TT0000000000000000Q6", "flaky ci", "tester", "/p/ci.gpt", 26*time.Hour, record.StateStop),
		mk("01J8M3TT0000000000000000Q7", "petstore import 漢字", "planner", "", 49*time.Hour, record.StateDone),
	}
}
