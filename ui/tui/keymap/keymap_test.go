package keymap

import (
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

func press(code rune, mod tea.KeyMod, text string) tea.KeyPressMsg {
	return tea.KeyPressMsg{Code: code, Mod: mod, Text: text}
}

func TestFind(t *testing.T) {
	m := Default()
	for _, c := range []struct {
		name string
		ctx  Context
		msg  tea.KeyPressMsg
		want Action
	}{
		{"enter sends", Composer, press(tea.KeyEnter, 0, ""), Send},
		{"shift enter is a new line (I-05)", Composer, press(tea.KeyEnter, tea.ModShift, ""), Newline},
		{"line feed is a new line (I-05)", Composer, press('j', tea.ModCtrl, ""), Newline},
		{"alt enter is a new line (I-05)", Composer, press(tea.KeyEnter, tea.ModAlt, ""), Newline},
		{"a letter has no action in the composer", Composer, press('y', 0, "y"), ""},
		{"the same key in another context", Chat, press('y', 0, "y"), ChatCopy},
		{"upper case", Chat, press('g', tea.ModShift, "G"), ChatEnd},
		{"undo as legacy terminals send it", Edit, press('_', tea.ModCtrl, ""), EditUndo},
	} {
		if got := m.Find(c.ctx, c.msg); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestDefaultHasNoConflicts(t *testing.T) {
	if _, err := Load("keys.json", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	for _, b := range Default().bindings {
		if b.Help == "" || b.Hint == "" || len(b.Keys()) == 0 {
			t.Errorf("%s: help %q, hint %q, keys %q", b.Action, b.Help, b.Hint, b.Keys())
		}
	}
}

// What screen.md leaves free on purpose must stay free.
func TestKeysLeftFree(t *testing.T) {
	for _, b := range Default().bindings {
		for _, k := range b.Keys() {
			switch k {
			case "ctrl+s", "ctrl+q", "ctrl+m", "ctrl+i", "ctrl+h", `ctrl+\`:
				t.Errorf("%s is bound to %s", b.Action, k)
			case "space", "1", "2", "enter":
				if b.Context == Approval {
					t.Errorf("%s would answer an authorization by %s", b.Action, k)
				}
			}
			if k == "ctrl+b" && b.Context != Edit {
				t.Errorf("%s is bound to %s outside the composer", b.Action, k)
			}
		}
	}
}

func TestLoad(t *testing.T) {
	m, err := Load("keys.json", []byte(`{"calls": ["Shift+Ctrl+y", "f2"], "mode": []}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Find(Global, press('y', tea.ModCtrl|tea.ModShift, "")); got != Calls {
		t.Errorf("rebound key: got %q", got)
	}
	if got := m.Find(Global, press('t', tea.ModCtrl, "")); got != "" {
		t.Errorf("the old key still is %q", got)
	}
	if got := m.Key(Mode); got != "" {
		t.Errorf("an unbound action has the key %q", got)
	}
}

func TestLoadFaultsHavePlaces(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unknown", "{\n  \"fly\": [\"f\"]\n}", `keys.json:2:3: unknown action "fly"; ? in the chat shows all names`},
		{"near", "{\n  \"composer.sned\": [\"f\"]\n}", `unknown action "composer.sned"; near it: composer.send`},
		{"conflict", "{\n\n \"mode\": [\"ctrl+t\"]}", `keys.json:3:2: Global: Ctrl+T is both "calls" and "mode"`},
		{"fixed", `{"approval.once": ["x"]}`, `keys.json:1:2: the keys of "approval.once" cannot be changed`},
		{"type", `{"mode": "ctrl+t"}`, `must be a list of strings`},
		{"syntax", "{\n\"mode\" [\n}", `keys.json:2:8: `},
		{"list", `[]`, `keys.json:1:1: expected`},
		{"empty", ``, `keys.json:1:1: EOF`},
	} {
		_, err := Load("keys.json", []byte(c.text))
		var place *Error
		if !errors.As(err, &place) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

func TestName(t *testing.T) {
	for in, want := range map[string]string{
		"ctrl+t": "Ctrl+T", "?": "?", "G": "G", "pgup": "PgUp", "shift+tab": "Shift+Tab", "ctrl++": "Ctrl++", "+": "+",
	} {
		if got := Name(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"calls": ["ctrl+y"], "mode": []}`))
	f.Add([]byte(`{"a":`))
	f.Add([]byte("\xff{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if m, err := Load("keys.json", text); (m == nil) == (err == nil) {
			t.Fatalf("map %v, error %v", m, err)
		}
	})
}
