// Package composer is the box one writes in: several lines of text with a native cursor, readline
// keys, undo and a kill ring, the history of earlier messages, and large pastes folded into one
// cell. It knows nothing of sessions: whoever owns it decides when [Model.Submit] is called.
//
// It has a text buffer of its own because the textarea of bubbles turns tabs into spaces, stops at
// 10,000 lines, has neither undo nor a kill ring, and cannot hold a folded paste as one unit.
package composer

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"parley/ui/tui/keymap"
	"parley/ui/tui/style"
	"parley/ui/tui/text"
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
		return m.endBurst(msg.tag)
	}
	return nil
}

// Key takes a key of editing or a letter. It reports whether it had a meaning.
func (m *Model) Key(msg tea.KeyPressMsg) bool {
	if m.search != nil {
		return m.searchKey(msg)
	}
	if a := m.keys.Find(keymap.Edit, msg); a != "" {
		m.edit(a)
		return true
	}
	if msg.Text == "" {
		return false
	}
	m.buf.insert(msg.Text)
	m.moved()
	return true
}

// searchKey takes the keys of the reverse search. Those that it has no meaning for end it.
func (m *Model) searchKey(msg tea.KeyPressMsg) bool {
	switch m.keys.Find(keymap.Edit, msg) {
	case keymap.EditBackspace:
		if g := graphemes(m.search.query); len(g) > 0 {
			m.typeSearch(expand(g[:len(g)-1]))
		}
		return true
	case keymap.EditKillBack:
		m.typeSearch("")
		return true
	}
	if msg.Text != "" {
		m.typeSearch(m.search.query + msg.Text)
		return true
	}
	m.EndSearch(true)
	return false
}

// moved ends what only the next key may continue: a cut, a yank, a column aimed for.
func (m *Model) moved() {
	m.goal, m.buf.killing, m.buf.yanked = -1, false, [2]int{}
}

func (m *Model) edit(a keymap.Action) {
	b := &m.buf
	switch a {
	case keymap.EditUp, keymap.EditDown:
		m.vertical(a)
		return
	case keymap.EditKillLine, keymap.EditKillBack, keymap.EditKillWord, keymap.EditKillNext:
		m.cut(a)
		return
	case keymap.EditYank:
		m.moved()
		b.yank()
		return
	case keymap.EditYankPop:
		b.yankPop()
		return
	}
	m.moved()
	switch a {
	case keymap.EditLeft:
		b.cursor = max(b.cursor-1, 0)
	case keymap.EditRight:
		b.cursor = min(b.cursor+1, len(b.cells))
	case keymap.EditWordLeft:
		b.cursor = b.wordLeft()
	case keymap.EditWordRight:
		b.cursor = b.wordRight()
	case keymap.EditLineStart:
		b.cursor = b.lineStart()
	case keymap.EditLineEnd:
		b.cursor = b.lineEnd()
	case keymap.EditStart:
		b.cursor = 0
	case keymap.EditEnd:
		b.cursor = len(b.cells)
	case keymap.EditBackspace:
		b.replace(b.cursor-1, b.cursor, nil, false)
	case keymap.EditDelete:
		at := b.cursor
		b.replace(at, at+1, nil, false)
	case keymap.EditUndo:
		b.undo()
	case keymap.EditUnfold:
		m.unfold()
	}
}

func (m *Model) cut(a keymap.Action) {
	b := &m.buf
	killing := b.killing
	m.moved()
	b.killing = killing
	switch a {
	case keymap.EditKillLine:
		end := b.lineEnd()
		if end == b.cursor && end < len(b.cells) {
			end++ // at the end of a line its break is cut
		}
		b.kill(b.cursor, end)
	case keymap.EditKillBack:
		b.kill(b.lineStart(), b.cursor)
	case keymap.EditKillWord:
		b.kill(b.spaceLeft(), b.cursor)
	case keymap.EditKillNext:
		b.kill(b.cursor, b.wordRight())
	}
}

// vertical moves a row up or down, and through the history at the edges.
func (m *Model) vertical(a keymap.Action) {
	rows := m.wrapped()
	row := rowOf(rows, m.buf.cursor)
	goal := m.goal
	if goal < 0 {
		goal = column(m.buf.cells, rows[row], m.buf.cursor)
	}
	m.moved()
	next := row + 1
	if a == keymap.EditUp {
		next = row - 1
	}
	switch {
	case next < 0:
		if m.recall(1) {
			m.buf.cursor = 0 // so that the next press goes one further
		}
	case next >= len(rows):
		m.recall(-1)
	default:
		m.buf.cursor = at(m.buf.cells, rows, next, goal)
		m.goal = goal
	}
}

// prefix stands before the text: the agent where there is room for its name.
func (m *Model) prefix() string {
	sign := m.style.Glyphs.Prompt + " "
	if m.agent == "" {
		return sign
	}
	name := "@" + text.Line(m.agent) + " "
	if text.Width(name+sign)*3 > m.width {
		return sign
	}
	return name + sign
}

// frame is how many columns the box takes on each side.
func (m *Model) frame() int {
	if m.boxed {
		return 2
	}
	return 0
}

func (m *Model) textWidth() int {
	return max(m.width-2*m.frame()-text.Width(m.prefix()), 2)
}

func (m *Model) wrapped() []span {
	if w := m.textWidth(); m.rows == nil || m.rowsRev != m.buf.rev || m.rowsWide != w {
		m.rows, m.rowsRev, m.rowsWide = wrap(m.buf.cells, w), m.buf.rev, w
	}
	return m.rows
}

// Height is how many lines View has.
func (m *Model) Height() int {
	rows := 1
	if m.search == nil {
		rows = min(len(m.wrapped()), m.maxRows)
	}
	if m.boxed {
		return rows + 2
	}
	return rows
}

// window is the part of the rows that is shown, with the cursor in it.
func (m *Model) window(rows []span) (from, to int) {
	row := rowOf(rows, m.buf.cursor)
	m.top = min(m.top, row, max(len(rows)-m.maxRows, 0))
	m.top = max(m.top, row-m.maxRows+1, 0)
	return m.top, min(m.top+m.maxRows, len(rows))
}

// View draws the composer, each line exactly as wide as was set.
func (m *Model) View() string {
	var lines []string
	if m.search != nil {
		lines = []string{m.searchLine()}
	} else {
		lines = m.textLines()
	}
	if !m.boxed {
		for i := range lines {
			lines[i] = text.Fit(lines[i], m.width, "")
		}
		return strings.Join(lines, "\n")
	}
	border := m.style.Border
	if m.focused {
		border = m.style.Accent
	}
	box := m.style.Glyphs.Box
	side := border.Render(box.Left)
	inner := max(m.width-4, 0)
	for i, l := range lines {
		lines[i] = text.Cut(side+" "+text.Fit(l, inner, "")+" "+side, m.width, "")
	}
	edge := func(left, right string) string {
		line := left + strings.Repeat(box.Top, max(m.width-2, 0)) + right
		return border.Render(text.Cut(line, m.width, ""))
	}
	lines = slices.Insert(lines, 0, edge(box.TopLeft, box.TopRight))
	return strings.Join(append(lines, edge(box.BottomLeft, box.BottomRight)), "\n")
}

func (m *Model) textLines() []string {
	rows := m.wrapped()
	from, to := m.window(rows)
	prefix := m.prefix()
	indent := strings.Repeat(" ", text.Width(prefix))
	lines := make([]string, 0, to-from)
	for i := from; i < to; i++ {
		head := indent
		if i == from {
			head = m.style.Accent.Render(prefix)
		}
		lines = append(lines, head+m.drawRow(rows[i]))
	}
	return lines
}

func (m *Model) drawRow(r span) string {
	var b strings.Builder
	for _, c := range m.buf.cells[r.start:r.end] {
		switch s := shown(c); {
		case c.paste != nil, s != c.text:
			b.WriteString(m.style.Muted.Render(text.Cut(s, m.textWidth()-1, "")))
		default:
			b.WriteString(s)
		}
	}
	return b.String()
}

func (m *Model) searchLine() string {
	match := m.searchMatch()
	if match == "" {
		match = "no such message"
	}
	return m.style.Accent.Render(m.searchHead()) + m.style.Muted.Render("  "+text.Line(match))
}

// searchHead is the label and the query, of which the end is kept when it is long.
func (m *Model) searchHead() string {
	query := text.Line(m.search.query)
	return "history: " + ansi.TruncateLeft(query, max(text.Width(query)-max(m.width/2, 1), 0), "")
}

// Cursor is where the caret stands within View, nil when there is no room for it.
func (m *Model) Cursor() *tea.Cursor {
	x, y := 0, 0
	if m.search != nil {
		x = text.Width(m.searchHead())
	} else {
		rows := m.wrapped()
		from, _ := m.window(rows)
		row := rowOf(rows, m.buf.cursor)
		x = text.Width(m.prefix()) + column(m.buf.cells, rows[row], m.buf.cursor)
		y = row - from
	}
	if m.boxed {
		x, y = x+2, y+1
	}
	if m.width == 0 {
		return nil
	}
	return tea.NewCursor(min(x, m.width-1), y)
}
