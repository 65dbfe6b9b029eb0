package panel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"parley/agent/model"
	"parley/agent/monitor"
	"parley/agent/record"
	"parley/themes"
	"parley/toolrt"
	"parley/toolrt/approval"
	"parley/ui/tui/keymap"
	"parley/ui/tui/style"
)

var epoch = time.Date(2026, 11, 30, 10, 2, 0, 0, time.UTC)

func fresh(w, h int) *Model {
	m := New(style.New(themes.Theme{}, style.Options{NoColor: true, ASCII: true}), keymap.Default())
	m.SetSize(w, h)
	m.Focus()
	m.Tick(epoch.Add(10*time.Second), true)
	return m
}

func call(path, parent string, turn int, label, tool string, status toolrt.Status) record.Call {
	c := record.Call{Path: path, Parent: parent, Turn: turn, Label: label, Tool: tool, Status: status, Created: epoch}
	if status != toolrt.StatusPending {
		c.Started = epoch
	}
	if status.Terminal() {
		c.Finished = epoch.Add(time.Second)
	}
	return c
}

func agentCall(c record.Call, chat bool) record.Call {
	c.Agent, c.Chat = true, chat
	c.Usage = model.Usage{TotalTokens: 9100}
	return c
}

// session has two turns of a chat, in the second of which an agent was called.
func session() []record.Call {
	return []record.Call{
		agentCall(call("0", "", 1, "", "planner", toolrt.StatusRunning), true),
		call("0/1.0", "0", 1, "1", "sys.read", toolrt.StatusSuccess),
		call("0/2.0", "0", 2, "1", "sys.find", toolrt.StatusSuccess),
		agentCall(call("0/2.1", "0", 2, "2", "tester", toolrt.StatusRunning), false),
		call("0/2.1/1.0", "0/2.1", 2, "2.1", "sys.exec", toolrt.StatusRunning),
		call("0/2.2", "0", 2, "3", "github.create_issue", toolrt.StatusPending),
	}
}

func press(m *Model, names ...string) (last tea.Msg) {
	special := map[string]rune{"enter": tea.KeyEnter, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "backspace": tea.KeyBackspace}
	for _, name := range names {
		msg := tea.KeyPressMsg{Text: name}
		if code, ok := special[name]; ok {
			msg = tea.KeyPressMsg{Code: code}
		}
		if cmd, _ := m.Key(msg); cmd != nil {
			last = cmd()
		}
	}
	return last
}

// shown are the rows, without what stands at their right.
func shown(m *Model) []string {
	var out []string
	for _, r := range m.rows() {
		line := fmt.Sprintf("%d turn %d", r.depth, r.turn)
		if n := m.tree.nodes[r.path]; n != nil {
			line = fmt.Sprintf("%d %s", r.depth, n.call.Tool)
		}
		out = append(out, line)
	}
	return out
}

func TestTreeOverTurns(t *testing.T) {
	m := fresh(60, 30)
	m.Reset(session())
	want := []string{"0 turn 2", "1 planner", "2 sys.find", "2 tester", "3 sys.exec", "2 github.create_issue", "0 turn 1"}
	if got := shown(m); !slices.Equal(got, want) {
		t.Fatalf("got %q", got)
	}
	if got := m.Working(); got != 2 {
		t.Errorf("%d calls run", got)
	}
	// The cursor follows what began to run last.
	if n := m.selected(); n == nil || n.call.Tool != "sys.exec" {
		t.Errorf("the cursor is on %+v", n)
	}
	press(m, "g", "h") // to the newest turn, and fold it
	if got := shown(m); !slices.Equal(got, []string{"0 turn 2", "0 turn 1"}) {
		t.Fatalf("folded: %q", got)
	}
	press(m, "l", "down", "down", "down", "h")
	if got := shown(m); !slices.Equal(got, []string{"0 turn 2", "1 planner", "2 sys.find", "2 tester", "2 github.create_issue", "0 turn 1"}) {
		t.Fatalf("agent folded: %q", got)
	}
	press(m, "h") // what is folded leads to the row above it
	if n := m.selected(); n.call.Tool != "planner" {
		t.Errorf("the cursor is on %s", n.call.Tool)
	}
	if !m.Select("0/2.1/1.0") || m.selected().call.Tool != "sys.exec" {
		t.Error("Select did not unfold what the call is in")
	}
	if m.Select("nowhere") {
		t.Error("an unknown call was selected")
	}
}

func TestRowsAreUpdatedInPlace(t *testing.T) {
	m := fresh(60, 30)
	m.Reset(session())
	done := call("0/2.1/1.0", "0/2.1", 2, "2.1", "sys.exec", toolrt.StatusSuccess)
	done.Result = "all tests pass"
	m.Apply([]monitor.Event{
		{Type: monitor.CallProgress, Path: done.Path, Delta: &monitor.Delta{Kind: monitor.PieceOutput, Text: "live\n"}},
	})
	if v := m.View(); !strings.Contains(v, "(live)") || !strings.Contains(v, "live") {
		t.Fatalf("no live output:\n%s", v)
	}
	m.Apply([]monitor.Event{{Type: monitor.RowsChanged, Calls: []record.Call{done}}})
	if got := len(m.rows()); got != 7 {
		t.Errorf("%d rows", got)
	}
	if v := m.View(); !strings.Contains(v, "all tests pass") || strings.Contains(v, "(live)") {
		t.Errorf("the result is not shown:\n%s", v)
	}
	if m.Working() != 1 {
		t.Errorf("%d calls run", m.Working())
	}
}

func TestKeysSayWhatIsWanted(t *testing.T) {
	m := fresh(60, 30)
	m.Reset(session())
	for _, c := range []struct {
		keys []string
		want tea.Msg
	}{
		{[]string{"x"}, CancelCall{"0/2.1/1.0"}},
		{[]string{"."}, ShowInChat{"0/2.1/1.0"}},
		{[]string{"y"}, Copy{"sys.exec \n"}},
		{[]string{"g", "down", "down", "enter"}, WantOutput{"0/2.0"}},
		{[]string{"tab", "tab", "tab", "tab"}, Leave{}},
	} {
		if got := press(m, c.keys...); got != c.want {
			t.Errorf("%q: got %#v, want %#v", c.keys, got, c.want)
		}
	}
	m.Select("0/2.0")
	if got := press(m, "x"); got != nil {
		t.Errorf("a call that has ended was cancelled: %#v", got)
	}
}

func TestFilter(t *testing.T) {
	m := fresh(60, 30)
	m.Reset(session())
	for filter, want := range map[string][]string{
		"exec":         {"0 turn 2", "1 planner", "2 tester", "3 sys.exec"},
		"tool:sys":     {"0 turn 2", "1 planner", "2 sys.find", "2 tester", "3 sys.exec", "0 turn 1", "1 planner", "2 sys.read"},
		"agent:tester": {"0 turn 2", "1 planner", "2 tester"},
		"2.1 exec":     {"0 turn 2", "1 planner", "2 tester", "3 sys.exec"},
		"nothing here": nil,
	} {
		m.Filter(filter)
		if got := shown(m); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", filter, got, want)
		}
	}
	m.Filter("")
	press(m, "/", "e", "x", "x", "backspace", "enter")
	if m.filter.text != "ex" || m.filter.typing {
		t.Errorf("typed filter: %+v", m.filter)
	}
	if !m.Escape() || m.filter.on() {
		t.Error("Escape does not end the filter")
	}
}

func TestApprovals(t *testing.T) {
	m := fresh(80, 30)
	m.Reset(session())
	decided := call("0/2.0", "0", 2, "1", "sys.find", toolrt.StatusDenied)
	decided.Decision = &toolrt.Decision{By: "user", Scope: "once", Note: "not \x1b[2Jthat"}
	m.Add([]record.Call{decided})
	m.SetWaiting([]Waiting{{ID: "q1", Path: "0/2.2", Label: "3", Tool: "github.create_issue"}, {ID: "q2", Tool: "provider key", Input: true}})
	press(m, "2")
	v := m.View()
	for _, want := range []string{"ASK", "github.create_issue", "$", "provider key", "waits for you", "denied by you, once"} {
		if !strings.Contains(v, want) {
			t.Errorf("%q is missing:\n%s", want, v)
		}
	}
	if strings.Contains(v, "\x1b[2J") {
		t.Error("a control sequence reached the screen")
	}
	if got := press(m, "g", "."); got != (ShowInChat{"0/2.2"}) {
		t.Errorf("got %#v", got)
	}
}

func TestStateComesBack(t *testing.T) {
	m := fresh(60, 30)
	press(m, "2", "f")
	again := fresh(60, 30)
	again.Restore(m.State())
	if again.tab != tabApprovals || again.follow {
		t.Errorf("tab %d, follow %v", again.tab, again.follow)
	}
	again.Restore([]byte("{broken"))
	again.Restore([]byte(`{"tab": 99}`))
	if again.tab != tabs-1 {
		t.Errorf("tab %d", again.tab)
	}
}

func TestArgumentsKeepTheModelsOrder(t *testing.T) {
	for in, want := range map[string][]string{
		`{"b":"two\nlines","a":{"x":[1, 2]},"n":null}`: {"b: two\nlines", `a: {"x":[1,2]}`, "n: null"},
		`plain text`:      {"plain text"},
		`{"broken": `:     {`{"broken": `},
		`{"a":1} trailer`: {`{"a":1} trailer`},
		``:                nil,
		`[1,2]`:           {"[1,2]"},
	} {
		if got := arguments(in); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}

func TestTailIsBounded(t *testing.T) {
	var tl tail
	for i := range 100_000 {
		tl.add(fmt.Sprintf("line %d\n", i))
	}
	if n := len(tl.text); n > 2*tailBytes {
		t.Errorf("%d bytes kept", n)
	}
	if !strings.HasSuffix(string(tl.text), "line 99999\n") || !strings.HasPrefix(string(tl.text), "line ") {
		t.Errorf("kept %.20q...", tl.text)
	}
}

func FuzzArguments(f *testing.F) {
	f.Add(`{"a":"b"}`)
	f.Add("{\"\x1b[2J\": [")
	f.Fuzz(func(t *testing.T, in string) {
		if got := arguments(in); strings.TrimSpace(in) != "" && len(got) == 0 && strings.TrimSpace(in)[0] != '{' {
			t.Errorf("%q is not shown", in)
		}
	})
}

// Whatever is pressed at whatever size, each line is as wide as the panel and nothing panics.
func TestRandomKeysAndSizes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	keys := []string{"j", "k", "h", "l", "g", "G", "f", "/", "e", "enter", "tab", "1", "2", "3", "4", "R", "b", "x", "y", ".", "backspace", "up", "down"}
	for range 40 {
		m := fresh(60, 20)
		m.Reset(session())
		for i := range 120 {
			switch rnd.IntN(8) {
			case 0:
				m.SetSize(rnd.IntN(80), rnd.IntN(40))
			case 1:
				c := call(fmt.Sprintf("0/9.%d", i), "0", rnd.IntN(4), fmt.Sprint(i), "tool\x1b[2J\n漢字", toolrt.StatusFailed)
				c.Result, c.Input, c.Error = "out\x1b]0;t\a\n漢字", `{"k\n":"v\u202e"}`, "timeout"
				m.Apply([]monitor.Event{{Calls: []record.Call{c}}})
			case 2:
				m.Escape()
			default:
				press(m, keys[rnd.IntN(len(keys))])
			}
			v := m.View()
			if m.w == 0 || m.h == 0 {
				continue
			}
			lines := strings.Split(v, "\n")
			if len(lines) != m.h {
				t.Fatalf("%d lines in %dx%d", len(lines), m.w, m.h)
			}
			for _, l := range lines {
				if w := ansi.StringWidth(l); w != m.w {
					t.Fatalf("%d columns in %dx%d: %q", w, m.w, m.h, l)
				}
			}
		}
	}
}

// The journal and what comes live are listed newest first, can be narrowed, and copied as JSON.
func TestEvents(t *testing.T) {
	m := fresh(60, 30)
	m.Reset(session())
	m.Apply([]monitor.Event{
		{Type: monitor.CallStart, Time: epoch, Path: "0/2.0"},
		{Type: monitor.CallProgress, Delta: &monitor.Delta{Kind: monitor.PieceText, Text: "x"}},
		{Type: monitor.Notice, Time: epoch, Text: "the server is busy"},
	})
	press(m, "3")
	if turn, ok := m.WantsJournal(); !ok || turn != 2 {
		t.Fatalf("wants %d %v", turn, ok)
	}
	m.SetJournal(2, []record.Entry{
		{Key: record.Key{Turn: 2, Path: "0/2.0"}, Seq: 7, Kind: record.EntryExecution, Finished: true, Started: epoch, Ended: epoch.Add(time.Second)},
		{Key: record.Key{Turn: 2, Path: "0/2.1/1.0"}, Seq: 9, Kind: record.EntryExecution, Started: epoch},
	})
	view := ansi.Strip(m.View())
	for _, want := range []string{"live", "notice", "the server is busy", "start     1 sys.find", "journal of turn 2", "run  ", "2.1 sys.exec", "seq 9", "seq 7 1.0s"} {
		if !strings.Contains(view, want) {
			t.Errorf("%q is not in\n%s", want, view)
		}
	}
	if strings.Index(view, "seq 9") > strings.Index(view, "seq 7") {
		t.Errorf("the newest does not come first:\n%s", view)
	}
	if msg, ok := press(m, "/", "s", "e", "q", "enter", "y").(Copy); !ok || !strings.Contains(msg.Text, `"Seq": 9`) {
		t.Errorf("copied %+v", msg)
	}
	if turn, ok := m.WantsJournal(); !ok || turn != 1 {
		t.Errorf("at the end wants %d %v", turn, ok)
	}
}

func TestUsage(t *testing.T) {
	m := fresh(50, 30)
	m.Reset(session())
	if _, ok := press(m, "4").(WantUsage); !ok || !m.ShowsUsage() {
		t.Fatal("usage is not asked for")
	}
	m.SetUsage(record.Session{ID: "s", Turns: 2, CostMicro: 370_000, Usage: model.Usage{TotalTokens: 9100}}, []record.Spent{
		{By: record.SpentAgent, Name: "planner", Count: 3, Usage: model.Usage{TotalTokens: 9100}},
		{By: record.SpentModel, Name: "openai/gpt-x", Count: 3, Usage: model.Usage{TotalTokens: 9100}, Time: 5 * time.Second},
		{By: record.SpentTool, Name: "sys.exec", Count: 4, Failed: 1, Time: 61 * time.Second},
	})
	view := ansi.Strip(m.View())
	for _, want := range []string{"$0.37", "@planner", "openai/gpt-x", "5.0s", "sys.exec", "1m01s", "by tool"} {
		if !strings.Contains(view, want) {
			t.Errorf("%q is not in\n%s", want, view)
		}
	}
}

// Rules in force stand below the decisions.
func TestApprovalsTabShowsRules(t *testing.T) {
	rule, err := approval.ParseRule(approval.Deny, "sys.exec(rm *)", approval.Project)
	if err != nil {
		t.Fatal(err)
	}
	m := fresh(60, 20)
	m.Reset(session())
	m.SetRules([]approval.Rule{rule})
	press(m, "2")
	if view := ansi.Strip(m.View()); !strings.Contains(view, "rules in force") || !strings.Contains(view, "no   sys.exec(rm *)") || !strings.Contains(view, "project") {
		t.Errorf("shows\n%s", view)
	}
}
