package picker

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"parley/agent/model"
	"parley/agent/record"
	"parley/themes"
	"parley/ui/tui/keymap"
	"parley/ui/tui/style"
)

var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.Local)

func fresh(w, h int) *Model {
	m := NewModel(style.New(themes.Theme{}, style.Options{NoColor: true, ASCII: true}), keymap.Default())
	m.SetSize(w, h)
	m.Start(now, "")
	mk := func(id, title, agent string, ago time.Duration, st record.SessionState) record.Session {
		return record.Session{ID: id, Title: title, Agent: agent, State: st, Updated: now.Add(-ago), Created: now.Add(-ago - time.Hour)}
	}
	m.SetSessions(m.tag, []record.Session{
		mk("a1", "Zebra", "planner", time.Minute, record.StateAsk),
		mk("b2", "apple", "tester", 48*time.Hour, record.StateIdle),
		mk("c3", "mango", "planner", 30*24*time.Hour, record.StateStop),
	}, nil)
	return m
}

func ids(m *Model) string {
	var out []string
	for _, s := range m.sessions {
		out = append(out, s.ID)
	}
	return strings.Join(out, " ")
}

func keyPress(k string) tea.KeyPressMsg {
	special := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "down": tea.KeyDown}
	if code, ok := special[k]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	return tea.KeyPressMsg{Text: k}
}

func press(m *Model, keys ...string) (msgs []tea.Msg) {
	for _, k := range keys {
		cmd, _ := m.Key(keyPress(k))
		msgs = append(msgs, told(cmd)...)
	}
	return msgs
}

// told runs a command and returns its messages, ticks left out.
func told(cmd tea.Cmd) []tea.Msg {
	if cmd == nil {
		return nil
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		var all []tea.Msg
		for _, c := range msg {
			all = append(all, told(c)...)
		}
		return all
	case previewDue, searchDue, nil:
		return nil
	default:
		return []tea.Msg{msg}
	}
}

// The search line narrows by words that look at one fact; the rest is looked for in the store.
func TestSearchNarrows(t *testing.T) {
	for line, want := range map[string]string{
		"agent:plan": "a1 c3", "agent:@tester": "b2", "state:ask": "a1", "state:STOP agent:planner": "c3", "before:2026-11": "c3",
		"before:2026-11-30": "b2 c3", "before:soon": "a1 b2 c3", "id:B": "b2", "": "a1 b2 c3",
	} {
		m := fresh(80, 20)
		m.text = line
		m.narrow()
		if got := ids(m); got != want {
			t.Errorf("%q: got %s, want %s", line, got, want)
		}
	}
	if text, conditions := split("login tool:sys.exec state:ask x:y"); text != "login sys.exec x:y" || len(conditions) != 1 {
		t.Errorf("split: %q %v", text, conditions)
	}
}

func TestSort(t *testing.T) {
	m := fresh(80, 20)
	press(m, "s", "s")
	if got := ids(m); got != "b2 c3 a1" {
		t.Errorf("by title: %s", got)
	}
	if view := ansi.Strip(m.View()); !strings.Contains(view, "sort: title") {
		t.Errorf("shows\n%s", view)
	}
}

func TestKeysSayWhatIsWanted(t *testing.T) {
	for key, want := range map[string]tea.Msg{"f": Fork{"b2"}, "t": Timeline{"b2"}, "enter": Open{"b2"}, "n": New{}, "esc": Back{}} {
		m := fresh(80, 20)
		if got := press(m, "down", key); !slices.Contains(got, want) {
			t.Errorf("%s: %+v, want %+v", key, got, want)
		}
	}
	m := fresh(80, 20)
	if got := press(m, "d", "n"); len(got) != 0 {
		t.Errorf("n deletes: %+v", got)
	}
	if got := press(m, "d", "y"); !slices.Contains(got, tea.Msg(Delete{"a1"})) {
		t.Errorf("y: %+v", got)
	}
}

// The preview asks for what stands under the cursor once, and shows hostile text clean.
func TestPreview(t *testing.T) {
	m := fresh(120, 30)
	if cmd := m.Update(previewDue{"a1"}); cmd == nil || cmd() != (Preview{"a1"}) {
		t.Fatal("no preview is asked for")
	}
	if cmd := m.Update(previewDue{"c3"}); cmd != nil {
		t.Error("asks for one that is not chosen")
	}
	m.SetPreview("a1", []record.Message{{Message: model.TextMessage(model.User, "hello \x1b]52;c;x\x07there")}, {Agent: "planner", Message: model.TextMessage(model.Assistant, "hi")}})
	view := m.View()
	if strings.Contains(view, "\x1b]") || !strings.Contains(ansi.Strip(view), "@planner") {
		t.Errorf("shows\n%q", view)
	}
	if m.wantPreview() != nil {
		t.Error("asks again for what is there")
	}
}

// The list keeps to its room after any keys.
func TestAnySize(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	keys := []string{"s", "f", "t", "e", "d", "y", "n", "/", "r", "x", "enter", "esc", "tab", "down", "j", "k", "G", " "}
	m := fresh(80, 20)
	for range 2000 {
		m.Key(keyPress(keys[rng.IntN(len(keys))])) // its commands would only wait
		w, h := rng.IntN(140), rng.IntN(40)
		m.SetSize(w, h)
		view := m.View()
		lines := strings.Split(view, "\n")
		if w > 0 && h > 0 && len(lines) != h {
			t.Fatalf("%d lines in %dx%d", len(lines), w, h)
		}
		for _, l := range lines {
			if ansi.StringWidth(l) > w {
				t.Fatalf("%d cells in %dx%d: %q", ansi.StringWidth(l), w, h, l)
			}
		}
	}
}
