package composer

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"parley/themes"
	"parley/ui/tui/keymap"
	"parley/ui/tui/style"
)

func fresh(width int) *Model {
	m := New(style.New(themes.Theme{}, style.Options{NoColor: true}), keymap.Default())
	m.SetSize(width, MaxRows, true)
	m.SetAgent("planner")
	return m
}

var named = map[string]tea.KeyPressMsg{
	"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft},
	"right": {Code: tea.KeyRight}, "backspace": {Code: tea.KeyBackspace}, "delete": {Code: tea.KeyDelete},
	"home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd}, "alt+b": {Code: 'b', Mod: tea.ModAlt},
	"alt+d": {Code: 'd', Mod: tea.ModAlt}, "alt+y": {Code: 'y', Mod: tea.ModAlt}, "alt+f": {Code: 'f', Mod: tea.ModAlt},
	"alt+o": {Code: 'o', Mod: tea.ModAlt},
}

// keys types: "<name>" is a key, "^x" Ctrl and x, all else letters.
func keys(m *Model, script string) {
	for script != "" {
		if name, rest, ok := strings.Cut(strings.TrimPrefix(script, "<"), ">"); ok && script[0] == '<' {
			m.Key(named[name])
			script = rest
			continue
		}
		if script[0] == '^' {
			m.Key(tea.KeyPressMsg{Code: rune(script[1]), Mod: tea.ModCtrl})
			script = script[2:]
			continue
		}
		if script[0] == '\n' {
			m.Newline()
			script = script[1:]
			continue
		}
		r := []rune(script)[0]
		m.Key(tea.KeyPressMsg{Code: r, Text: string(r)})
		script = script[len(string(r)):]
	}
}

func TestEditing(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"insert in the middle", "helo<left>l", "hello"},
		{"start and end of line", "bc^aa^ed", "abcd"},
		{"lines have their own ends", "one\ntwo^aX<up><end>Y", "oneY\nXtwo"},
		{"backspace takes a grapheme", "a👨‍👩‍👧b<left><backspace>", "ab"},
		{"a combining sign is one with its letter", "xe\u0301<backspace>", "x"},
		{"backspace at the start does nothing", "a^a<backspace>", "a"},
		{"delete at the end does nothing", "a<delete>", "a"},
		{"delete joins lines", "a\nb<up><end>^d", "ab"},
		{"kill to the end", "one two<alt+b>^k", "one "},
		{"kill the line break", "one\ntwo<up><end>^k", "onetwo"},
		{"kill back to the line's start", "one\ntwo^u", "one\n"},
		{"kill a word of letters between spaces", "git --all/x^w", "git "},
		{"kill the next word", "one two<home><alt+d>", " two"},
		{"yank", "one two^w^y^y", "one twotwo"},
		{"kills in a row are one", "one two^w^w^y", "one two"},
		{"kills with a move between are two", "one two^w<left><right>^w^y", "one "},
		{"yank pop", "one two^w<left><right>^w^y<alt+y>", "two"},
		{"undo takes back words", "one two^_", "one "},
		{"undo twice", "one two^_^_", ""},
		{"undo a kill", "one two^u^_", "one two"},
		{"undo with nothing to undo", "^_", ""},
	} {
		m := fresh(80)
		keys(m, c.script)
		if got := m.Value(); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestI01PasteIsFoldedAndGoesOutWhole(t *testing.T) {
	line := strings.Repeat("x", 99)
	for _, c := range []struct{ name, sep string }{{"LF", "\n"}, {"CRLF", "\r\n"}, {"CR", "\r"}} {
		m := fresh(80)
		keys(m, "see: ")
		m.Update(tea.PasteMsg{Content: strings.Repeat(line+c.sep, 10_000)})
		keys(m, " end")
		if got := m.View(); !strings.Contains(got, "see: [pasted 10,000 lines #1] end") {
			t.Fatalf("%s: shows\n%s", c.name, got)
		}
		if got := m.Submit(); got != "see: "+strings.Repeat(line+"\n", 10_000)+" end" {
			t.Errorf("%s: %d bytes went out", c.name, len(got))
		}
	}
}

func TestPasteKeepsEachByte(t *testing.T) {
	for _, text := range []string{"a\tb", "tail \n", "\x1b[31mred", "zero\u200bwidth", "bad \xff byte", "e\u0301"} {
		m := fresh(80)
		m.Update(tea.PasteMsg{Content: text})
		if strings.ContainsAny(m.View(), "\x1b\u200b\t") {
			t.Errorf("%q is shown raw: %q", text, m.View())
		}
		if got := m.Submit(); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
}

// The token opens, deletes and undoes as one unit; text that looks like it is left alone (I-03).
func TestI03TokenIsOneUnit(t *testing.T) {
	big := strings.Repeat("line\n", 50)
	m := fresh(80)
	m.Paste(big)
	keys(m, "<backspace>")
	if !m.Empty() {
		t.Fatalf("after backspace: %q", m.Value())
	}
	keys(m, "^_")
	if m.Value() != big {
		t.Fatal("undo did not bring the paste back")
	}
	keys(m, "[pasted 50 lines #1]<home><right>|")
	if want := big + "|[pasted 50 lines #1]"; m.Value() != want {
		t.Fatalf("got %q", m.Value())
	}
	keys(m, "<left><alt+o>")
	if len(m.buf.cells) < len(big) {
		t.Fatal("the token did not open")
	}
	m.SetValue(m.Value())
	if m.Value() != big+"|[pasted 50 lines #1]" {
		t.Fatalf("after an editor: %q", m.Value())
	}
}

func TestI04DraftComesBack(t *testing.T) {
	m := fresh(80)
	m.SetHistory([]string{"second", "first"})
	draft := "one\ntwo\nthree"
	keys(m, draft)
	m.Clear()
	keys(m, "<up>")
	if m.Value() != draft {
		t.Errorf("up after clear: %q", m.Value())
	}
	m.Clear()
	keys(m, "^_")
	if m.Value() != draft {
		t.Errorf("undo after clear: %q", m.Value())
	}
	keys(m, "<up><up><up>") // through the lines to the edge, into the history
	if m.Value() == draft {
		t.Fatalf("up at the edge stayed at %q", m.Value())
	}
	keys(m, "<up><up>")
	if m.Value() != "first" {
		t.Fatalf("the oldest: %q", m.Value())
	}
	keys(m, "!<down>")
	if m.Value() != "second" {
		t.Fatalf("one later: %q", m.Value())
	}
	keys(m, "<up>")
	if m.Value() != "!first" && m.Value() != "first!" {
		t.Fatalf("a changed text was lost: %q", m.Value())
	}
	keys(m, "<down><down><down><down><down><down><down><down>")
	if m.Value() != draft {
		t.Errorf("back at the draft: %q", m.Value())
	}
}

func TestHistorySearch(t *testing.T) {
	m := fresh(80)
	m.SetHistory([]string{"run the tests", "read the notes", "run again"})
	keys(m, "draft")
	m.StartSearch()
	keys(m, "run")
	if !strings.Contains(m.View(), "history: run  run the tests") {
		t.Fatalf("shows\n%s", m.View())
	}
	m.StartSearch()
	m.EndSearch(true)
	if m.Value() != "run again" {
		t.Fatalf("took %q", m.Value())
	}
	keys(m, "^_")
	if m.Value() != "draft" {
		t.Fatalf("undo: %q", m.Value())
	}
	m.StartSearch()
	m.EndSearch(false)
	if m.Value() != "draft" {
		t.Fatalf("a cancelled search changed the text to %q", m.Value())
	}
}

func TestContinue(t *testing.T) {
	m := fresh(80)
	keys(m, `one\`)
	if !m.Continue() || m.Value() != "one\n" {
		t.Errorf("got %q", m.Value())
	}
	if m.Continue() {
		t.Error("a line break is no backslash")
	}
}

// The caret is where the next letter appears, with letters of two columns too (I-06).
func TestI06CursorFollowsWideLetters(t *testing.T) {
	m := fresh(40)
	keys(m, "한글 글자\n둘째 줄<up>") // 9 columns
	prefix := ansi.StringWidth("│ @planner ❯ ")
	for _, c := range []struct {
		key  string
		x, y int
	}{{"<end>", 9, 1}, {"<left>", 7, 1}, {"<left>", 5, 1}, {"<left>", 4, 1}, {"한", 6, 1}, {"<down><end>", 7, 2}} {
		keys(m, c.key)
		if cur := m.Cursor(); cur.X != prefix+c.x || cur.Y != c.y {
			t.Errorf("after %s: cursor at %d,%d, want %d,%d", c.key, cur.X, cur.Y, prefix+c.x, c.y)
		}
	}
}

func TestUpAndDownAimForAColumn(t *testing.T) {
	m := fresh(80)
	keys(m, "long line\nab\nlong line<left><left><up><up>|")
	if m.Value() != "long li|ne\nab\nlong line" {
		t.Errorf("got %q", m.Value())
	}
}

// Raw keys faster than anyone types are one paste (I-01).
func TestI01RawBurst(t *testing.T) {
	type result struct {
		value   string
		entered bool
	}
	run := func(text string, gap time.Duration, pasted bool) (r result) {
		m := fresh(80)
		now := time.Unix(0, 0)
		var cmds []tea.Cmd
		for _, c := range text {
			msg := tea.KeyPressMsg{Code: c, Text: string(c)}
			switch c {
			case '\r':
				msg = tea.KeyPressMsg{Code: tea.KeyEnter}
			case '\n':
				msg = tea.KeyPressMsg{Code: 'j', Mod: tea.ModCtrl}
			}
			cmd, took := m.Burst(msg, now, pasted)
			if cmd != nil {
				cmds = append(cmds, cmd)
			}
			if !took && c == '\r' {
				r.entered = true
			} else if !took {
				m.Key(msg)
			}
			now = now.Add(gap)
		}
		for len(cmds) > 0 {
			msg := cmds[0]()
			cmds = cmds[1:]
			if _, ok := msg.(Entered); ok {
				r.entered = true
			}
			if next := m.Update(msg); next != nil {
				cmds = append(cmds, next)
			}
		}
		r.value = m.Value()
		return r
	}
	long := strings.Repeat("a line of text\r", 3000)
	for _, c := range []struct {
		name, text string
		gap        time.Duration
		pasted     bool
		want       result
	}{
		{"many lines", long, time.Microsecond, false, result{strings.ReplaceAll(long, "\r", "\n"), false}},
		{"CRLF", "one\r\ntwo\r\n", time.Microsecond, false, result{"one\ntwo\n", false}},
		{"two lines", "one\rtwo", time.Microsecond, false, result{"one\ntwo", false}},
		{"a script's message and Enter", "hello\r", time.Microsecond, false, result{"hello", true}},
		{"a script's long message and Enter", strings.Repeat("word ", 20) + "\r", time.Microsecond, false, result{strings.Repeat("word ", 20), true}},
		{"many lines, handled slowly", long, time.Second, true, result{strings.ReplaceAll(long, "\r", "\n"), false}},
		{"one line and its end, known to be pasted", "one\r", time.Second, true, result{"one\n", false}},
		{"a person", "hello\r", 50 * time.Millisecond, false, result{"hello", true}},
	} {
		if got := run(c.text, c.gap, c.pasted); got != c.want {
			t.Errorf("%s: got %.40q %v, want %.40q %v", c.name, got.value, got.entered, c.want.value, c.want.entered)
		}
	}
}

// Whatever is typed at whatever size: no line is wider than the composer, the cursor is inside,
// and undo leads back to nothing.
func TestRandomEditing(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", " ", "한", "👨‍👩‍👧", "e\u0301", "\n", "long words here", "<up>", "<down>", "<left>", "<right>",
		"<backspace>", "<delete>", "^k", "^u", "^w", "^y", "^_", "<alt+y>", "<alt+b>", "<alt+f>", "<alt+o>", "<home>", "<end>"}
	for range 300 {
		m := fresh(80)
		for range 60 {
			switch rnd.IntN(12) {
			case 0:
				m.SetSize(rnd.IntN(60), rnd.IntN(10), rnd.IntN(2) == 0)
			case 1:
				m.Paste(strings.Repeat("p\t\x1b\u202e\n", rnd.IntN(12)))
			default:
				keys(m, pieces[rnd.IntN(len(pieces))])
			}
			check(t, m)
		}
		for len(m.buf.undos) > 0 {
			m.buf.undo()
		}
		if !m.Empty() {
			t.Fatalf("undo left %q", m.Value())
		}
	}
}

func check(t *testing.T, m *Model) {
	t.Helper()
	lines := strings.Split(m.View(), "\n")
	if len(lines) != m.Height() {
		t.Fatalf("%d lines, height %d", len(lines), m.Height())
	}
	for _, l := range lines {
		if w := ansi.StringWidth(l); w != m.width {
			t.Fatalf("a line of %d columns in %d: %q", w, m.width, l)
		}
	}
	if c := m.Cursor(); c != nil && (c.X < 0 || c.X >= m.width || c.Y < 0 || c.Y >= len(lines)) {
		t.Fatalf("cursor at %d,%d in %dx%d", c.X, c.Y, m.width, len(lines))
	}
}

func BenchmarkKey(b *testing.B) {
	m := fresh(120)
	b.ReportAllocs()
	for b.Loop() {
		keys(m, "a")
		_ = m.View()
		_ = m.Cursor()
		keys(m, "<backspace>")
	}
}
