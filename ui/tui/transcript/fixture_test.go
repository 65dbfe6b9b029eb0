package transcript

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"parley/agent/model"
	"parley/agent/record"
	"parley/themes"
	"parley/toolrt"
	"parley/ui/tui/style"
)

var start = time.Date(2026, 5, 4, 10, 2, 11, 0, time.UTC)

func at(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }

func set(t testing.TB, name string, o style.Options) *style.Set {
	t.Helper()
	theme, err := themes.Load(name, "")
	if err != nil {
		t.Fatal(err)
	}
	return style.New(theme, o)
}

func plainSet(t testing.TB) *style.Set {
	return set(t, "mono", style.Options{ASCII: true, NoColor: true})
}

const entry = "0"

func user(seq int64, index, turn int, text string) record.Message {
	return record.Message{Seq: seq, Conversation: entry, Index: index, Turn: turn, Agent: "planner", Shown: true,
		Message: model.TextMessage(model.User, text), Time: at(0)}
}

// reply is a message of the agent with calls "id:name:arguments".
func reply(seq int64, index, turn int, text string, calls ...string) record.Message {
	msg := model.Message{Role: model.Assistant}
	if text != "" {
		msg.Content = append(msg.Content, model.Part{Text: text})
	}
	for i, c := range calls {
		f := strings.SplitN(c, ":", 3)
		msg.Content = append(msg.Content, model.Part{ToolCall: &model.ToolCall{Index: &i, ID: f[0], Function: model.Function{Name: f[1], Arguments: f[2]}}})
	}
	return record.Message{Seq: seq, Conversation: entry, Index: index, Turn: turn, Agent: "planner", Shown: true, Message: msg, Time: at(1)}
}

func call(path, parent string, round, index int, id, label, tool, input string, status toolrt.Status) record.Call {
	c := record.Call{Path: path, Parent: parent, Round: round, Index: index, WireID: id, Label: label, Tool: tool,
		Input: input, Status: status, Turn: 1, Created: at(1)}
	if status != toolrt.StatusPending && status != toolrt.StatusWaiting {
		c.Started = at(2)
	}
	if status.Terminal() {
		c.Finished = at(2.1)
	}
	return c
}

// loginBug is the conversation of the sketches.
func loginBug() ([]record.Message, []record.Call) {
	msgs := []record.Message{
		user(1, 0, 4, "Find out why login fails on main and open an issue if it is a bug."),
		reply(2, 1, 4, "I will look at the failing test first, then compare with the last green commit.\n\n```go\n// auth/login.go:41\nif tok.Expiry.Before(now) { return ErrExpired }\n```",
			"a:find:{\"pattern\":\"**/*login*_test.go\"}", "b:tester:run the login tests", "c:create_issue:{\"owner\":\"acme\",\"repo\":\"shop\"}", "d:exec:{\"command\":\"git diff HEAD~3\"}"),
	}
	find := call("0/1.0", entry, 1, 0, "a", "1", "sys.find", `{"pattern":"**/*login*_test.go"}`, toolrt.StatusSuccess)
	find.Result, find.OutputLines = "auth/login_test.go\nauth/relogin_test.go\nweb/login_test.go\n", 3
	tester := call("0/1.1", entry, 1, 1, "b", "2", "tester", "run the login tests", toolrt.StatusRunning)
	tester.Agent, tester.Started = true, at(2)
	read := call("0/1.1/1.0", "0/1.1", 1, 0, "x", "2.1", "sys.read", `{"filename":"auth/login_test.go"}`, toolrt.StatusSuccess)
	read.OutputLines = 88
	run := call("0/1.1/1.1", "0/1.1", 1, 1, "y", "2.2", "sys.exec", `{"command":"go test ./auth -run Login"}`, toolrt.StatusRunning)
	run.Started = at(4.7)
	issue := call("0/1.2", entry, 1, 2, "c", "3", "github.create_issue", `{"owner":"acme","repo":"shop"}`, toolrt.StatusWaiting)
	diff := call("0/1.3", entry, 1, 3, "d", "4", "sys.exec", `{"command":"git diff HEAD~3"}`, toolrt.StatusPending)
	diff.Waits = "3"
	return msgs, []record.Call{find, tester, issue, diff, read, run}
}

// screen is the view without looks, checked for its size.
func screen(t testing.TB, m *Model, w, h int) string {
	t.Helper()
	view := m.View()
	if w == 0 || h == 0 {
		if view != "" {
			t.Fatalf("view of %dx%d is %q", w, h, view)
		}
		return ""
	}
	lines := strings.Split(view, "\n")
	if len(lines) != h {
		t.Fatalf("%d lines in a view of %d", len(lines), h)
	}
	for i, l := range lines {
		if got := ansi.StringWidth(l); got > w {
			t.Fatalf("line %d is %d cells in a view of %d: %q", i, got, w, l)
		}
		lines[i] = strings.TrimRight(ansi.Strip(l), " ")
	}
	return strings.Join(lines, "\n")
}

// long makes a session of n turns.
func long(n int) ([]record.Message, []record.Call) {
	var msgs []record.Message
	var calls []record.Call
	for i := range n {
		seq := int64(i*4 + 1)
		msgs = append(msgs, user(seq, i*4, i+1, fmt.Sprintf("question %d", i)),
			reply(seq+1, i*4+1, i+1, fmt.Sprintf("answer %d with **some** words", i), "w:exec:{\"command\":\"ls\"}"))
		c := call(fmt.Sprintf("0/%d.0", i+1), entry, i+1, 0, "w", "1", "sys.exec", `{"command":"ls"}`, toolrt.StatusSuccess)
		c.Turn = i + 1
		calls = append(calls, c)
	}
	return msgs, calls
}
