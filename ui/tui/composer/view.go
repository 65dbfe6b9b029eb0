package composer

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"parley/ui/tui/text"
)

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
