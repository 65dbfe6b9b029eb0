// Package composer is the box one writes in: several lines of text with a native cursor, readline
// keys, undo and a kill ring, the history of earlier messages, and large pastes folded into one
// cell. It knows nothing of sessions: whoever owns it decides when [Model.Submit] is called.
//
// It has a text buffer of its own because the textarea of bubbles turns tabs into spaces, stops at
// 10,000 lines, has neither undo nor a kill ring, and cannot hold a folded paste as one unit.
package composer

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"parley/ui/tui/keymap"
	"parley/ui/tui/style"
)

// MaxRows is how many rows of text the composer grows to.
const MaxRows = 8

// Model is the composer. It is used by one goroutine, the screen's.
type Model struct {
	style *style.Set
	keys  *keymap.Map

	width   int
	maxRows int
	boxed   bool
	agent   string
	focused bool

	buf    buffer
	pastes int // number of the last folded paste
	hist   history
	search *search
	burst  burst

	goal int // column that moves up and down aim for, -1 for the cursor's own
	top  int // first row shown

	rows     []span // cache of wrap, for rowsRev and rowsWidth
	rowsRev  int
	rowsWide int
}

// New returns an empty, focused composer. It draws nothing before SetSize.
func New(s *style.Set, keys *keymap.Map) *Model {
	return &Model{style: s, keys: keys, maxRows: 1, focused: true, hist: newHistory(), goal: -1}
}

// SetStyle changes what it is drawn with.
func (m *Model) SetStyle(s *style.Set) { m.style = s }

// SetAgent names the agent that the text goes to; "" shows none.
func (m *Model) SetAgent(name string) { m.agent = name }

// SetSize sets the width in columns, how many rows of text are shown at most (at least 1), and
// whether a box is drawn around them.
func (m *Model) SetSize(width, maxRows int, boxed bool) {
	m.width, m.maxRows, m.boxed = max(width, 0), min(max(maxRows, 1), MaxRows), boxed
}

// Focus and Blur say whether keys come here, which decides how the box looks.
func (m *Model) Focus() { m.focused = true }

// Blur takes the focus away.
func (m *Model) Blur() { m.focused = false }

// Value is the whole text, folded pastes opened.
func (m *Model) Value() string { return expand(m.buf.cells) }

// Empty reports whether there is no text at all.
func (m *Model) Empty() bool { return len(m.buf.cells) == 0 && m.burst.text.Len() == 0 }

// SetValue replaces the text, which undo brings back. The cursor stands behind it.
func (m *Model) SetValue(value string) {
	value = Lines(value)
	if value == m.Value() {
		return
	}
	m.buf.set(m.fold(value))
	m.moved()
}

// Paste puts text in at the cursor, folded into one cell when it is large.
func (m *Model) Paste(value string) {
	if value = Lines(value); value == "" {
		return
	}
	m.buf.replace(m.buf.cursor, m.buf.cursor, m.fold(value), false)
	m.moved()
}

// Clear empties the composer. The text is the newest of the history, and undo brings it back.
func (m *Model) Clear() {
	m.AddHistory(m.Value())
	m.buf.set(nil)
	m.moved()
}

// Reset forgets the text and its undo list, for another session's draft.
func (m *Model) Reset(draft string) {
	m.buf, m.search = buffer{rev: m.buf.rev + 1}, nil
	m.hist.reset()
	if draft != "" {
		m.buf.cells = m.fold(Lines(draft))
		m.buf.cursor = len(m.buf.cells)
	}
	m.moved()
}

// Submit returns the text and empties the composer; the text is in the history.
func (m *Model) Submit() string {
	value := m.Value()
	m.Clear()
	return value
}

// Continue turns a backslash before the cursor into a line break. It reports whether there was one.
func (m *Model) Continue() bool {
	if c := m.buf.before(); c.text != `\` || c.paste != nil {
		return false
	}
	m.buf.replace(m.buf.cursor-1, m.buf.cursor, []cell{{text: "\n"}}, false)
	m.moved()
	return true
}

// Newline puts a line break in.
func (m *Model) Newline() {
	m.buf.replace(m.buf.cursor, m.buf.cursor, []cell{{text: "\n"}}, false)
	m.moved()
}

// Update takes pastes and the ends of bursts. Keys are given to Key.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.PasteMsg:
		if m.search != nil {
			m.typeSearch(m.search.query + msg.Content)
			return nil
		}
		m.Paste(msg.Content)
	case burstOver:
		return m.endBurst(msg)
	}
	return nil
}

// maxBefore is how much Before gives: words to complete are shorter.
const maxBefore = 512

// Before is the text before the cursor, and whether the cursor is at the end of the text. Folded
// pastes count as one space: nothing is completed in them. Of a long text it is the end, behind a
// line break.
func (m *Model) Before() (before string, atEnd bool) {
	var b strings.Builder
	from := max(m.buf.cursor-maxBefore, 0)
	if from > 0 {
		b.WriteByte('\n')
	}
	for _, c := range m.buf.cells[from:m.buf.cursor] {
		if c.paste != nil {
			b.WriteByte(' ')
		} else {
			b.WriteString(c.text)
		}
	}
	return b.String(), m.buf.cursor == len(m.buf.cells)
}

// Complete puts a text in place of word, if that stands before the cursor. A space that follows
// already is not doubled.
func (m *Model) Complete(word, with string) {
	before, _ := m.Before()
	if !strings.HasSuffix(before, word) {
		return
	}
	from := m.buf.cursor - len(graphemes(word))
	if next := m.buf.cursor; next < len(m.buf.cells) && m.buf.cells[next].text == " " {
		with = strings.TrimSuffix(with, " ")
	}
	m.buf.replace(from, m.buf.cursor, graphemes(with), false)
	m.moved()
}
