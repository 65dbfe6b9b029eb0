package panel

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"parley/agent/record"
	"parley/ui/tui/text"
	"parley/ui/tui/transcript"
)

// View draws the panel: exactly the size that was set. It is drawn anew only when something has
// changed.
func (m *Model) View() string {
	if m.drawn == "" && m.w > 0 && m.h > 0 {
		m.drawn = m.draw()
	}
	return m.drawn
}

func (m *Model) draw() string {
	lines := []string{m.tabLine()}
	if m.h >= 8 {
		lines = append(lines, m.rule())
	}
	switch {
	case m.full && m.tab == tabEvents && m.event() != nil:
		lines = append(lines, m.eventLines(m.h-len(lines), true)...)
	case m.full && m.selected() != nil && m.tab != tabEvents:
		lines = append(lines, m.detailLines(m.h-len(lines), true)...)
	default:
		lines = append(lines, m.listLines(m.listHeight())...)
		if d := m.detailHeight(); d > 0 {
			lines = append(lines, m.rule())
			if m.tab == tabEvents {
				lines = append(lines, m.eventLines(d, false)...)
			} else {
				lines = append(lines, m.detailLines(d, false)...)
			}
		}
	}
	for len(lines) < m.h {
		lines = append(lines, "")
	}
	lines = lines[:m.h]
	for i := range lines {
		lines[i] = text.Fit(lines[i], m.w, "")
	}
	return strings.Join(lines, "\n")
}

func (m *Model) rule() string {
	return m.style.Border.Render(strings.Repeat(m.style.Glyphs.Box.Top, m.w))
}

// detailHeight is the room for the details below the list, 0 when there is too little.
func (m *Model) detailHeight() int {
	if m.h < 14 || m.tab == tabUsage {
		return 0
	}
	return min(m.h*2/5, 16)
}

func (m *Model) listHeight() int {
	h := m.h - 1
	if m.h >= 8 {
		h--
	}
	if d := m.detailHeight(); d > 0 {
		h -= d + 1
	}
	return max(h, 0)
}

// tabNames are the tabs' names, long with room between, long, short and shortest.
var tabNames = [][tabs]string{
	{"Calls", "Approvals", "Events", "Usage"},
	{"Calls", "Approvals", "Events", "Usage"},
	{"Calls", "Appr", "Events", "Usage"},
	{"Ca", "Ap", "Ev", "Us"},
}

func (m *Model) tabLine() string {
	right := ""
	switch {
	case m.filter.typing || m.filter.on():
		right = m.style.Accent.Render("/"+text.Line(m.filter.text)) + " "
	case m.follow && m.tab == tabCalls:
		right = m.style.Muted.Render("follow ")
	}
	line := ""
	for i, names := range tabNames {
		if line = m.tabParts(names, i == 0); text.Width(line) <= m.w {
			break
		}
	}
	if text.Width(line)+text.Width(right)+1 > m.w && !m.filter.typing {
		right = ""
	}
	return text.Spread(line, right, m.w, m.style.Glyphs.Ellipsis)
}

func (m *Model) tabParts(names [tabs]string, roomy bool) string {
	if len(m.waiting) > 0 {
		names[tabApprovals] += fmt.Sprintf(" %d", len(m.waiting))
	}
	line := " "
	for i, name := range names {
		if i == m.tab {
			line += m.style.Title.Render(fmt.Sprintf("[%d]%s", i+1, name))
		} else {
			if roomy {
				line += " "
			}
			line += m.style.Muted.Render(fmt.Sprintf("%d %s", i+1, name))
		}
		if i < tabs-1 {
			line += " "
		}
	}
	return line
}

// Cursor is where the caret stands while the filter is typed, nil otherwise.
func (m *Model) Cursor() *tea.Cursor {
	if !m.filter.typing || m.w < 2 {
		return nil
	}
	return tea.NewCursor(m.w-1, 0)
}

// listLines draws the rows around the cursor.
func (m *Model) listLines(h int) []string {
	rows := m.rows()
	if len(rows) == 0 {
		return padded([]string{"", m.style.Muted.Render(" " + m.emptyText())}, h)
	}
	at := m.index(rows)
	top := min(m.top[m.tab], at, max(len(rows)-h, 0))
	top = max(top, at-h+1, 0)
	m.top[m.tab] = top
	lines := make([]string, 0, h)
	for i := top; i < min(top+h, len(rows)); i++ {
		line := m.drawRow(rows[i])
		if i == at && m.focused {
			line = m.style.Selection.Render(text.Fit(line, m.w, ""))
		}
		lines = append(lines, line)
	}
	return padded(lines, h)
}

func (m *Model) emptyText() string {
	switch {
	case m.filter.on():
		return "nothing matches the filter"
	case m.tab == tabApprovals:
		return "nothing was asked yet"
	case m.tab == tabEvents:
		return "nothing has happened yet"
	case m.tab == tabUsage:
		return "nothing was used yet"
	}
	return "no calls yet"
}

func padded(lines []string, h int) []string {
	for len(lines) < h {
		lines = append(lines, "")
	}
	return lines[:max(h, 0)]
}

func (m *Model) drawRow(r row) string {
	switch {
	case r.left != "":
		return m.plainRow(r)
	case m.tab == tabApprovals:
		return m.approvalRow(r)
	case r.path == "":
		return m.turnRow(r)
	}
	c := m.asked(m.tree.nodes[r.path].call)
	word, facts := m.word(c), m.facts(c)
	if c.Chat && !c.Status.Terminal() && (!m.running || r.turn != m.tree.newest()) {
		word = "" // it stays open over turns, and is at work in the newest only
	}
	if c.Turn != r.turn {
		facts = ""
	}
	left := strings.Repeat("  ", max(r.depth, 0)) + m.foldSign(r) + " "
	left += m.style.State(word).Render(fmt.Sprintf("%-4s", word)) + " "
	if c.Label != "" {
		left += fmt.Sprintf("%-3s ", text.Line(c.Label))
	}
	if c.Chat {
		left += "@" + text.Line(c.Tool) // what started it is a message of the chat
	} else {
		left += transcript.Title(c)
	}
	return text.Spread(left, m.style.Muted.Render(" "+facts+" "), m.w, m.style.Glyphs.Ellipsis)
}

// plainRow draws a row that is no call.
func (m *Model) plainRow(r row) string {
	if r.head {
		return text.Spread(" "+m.style.Strong.Render(r.left), m.style.Muted.Render(" "+r.right+" "), m.w, m.style.Glyphs.Ellipsis)
	}
	word := ""
	if r.word != "" {
		word = m.style.State(r.word).Render(fmt.Sprintf("%-4s", r.word)) + " "
	}
	return text.Spread(" "+word+r.left, m.style.Muted.Render(" "+r.right+" "), m.w, m.style.Glyphs.Ellipsis)
}

func (m *Model) foldSign(r row) string {
	switch {
	case !r.foldable:
		return " "
	case r.folded:
		return m.style.Glyphs.Folded
	}
	return m.style.Glyphs.Unfolded
}

// asked is a call with the arguments that its question is about: a person may have changed them.
func (m *Model) asked(c record.Call) record.Call {
	for _, w := range m.waiting {
		if w.Path == c.Path && w.Arguments != "" {
			c.Input = w.Arguments
		}
	}
	return c
}

// word is the state of a call; one for which values are asked shows the sign of that.
func (m *Model) word(c record.Call) string {
	for _, w := range m.waiting {
		if w.Path == c.Path && w.Input {
			return "$"
		}
	}
	return transcript.Word(c)
}

// facts stand at the right of a call: how long, how many tokens, what it waits for.
func (m *Model) facts(c record.Call) string {
	if c.Waits != "" && c.Started.IsZero() && !c.Status.Terminal() {
		return "after " + text.Line(c.Waits)
	}
	facts := transcript.Elapsed(c, m.now)
	if n := c.Usage.TotalTokens; n > 0 {
		facts += fmt.Sprintf("%7s", tokens(n))
	}
	return facts
}

// tokens is a count of tokens in few letters.
func tokens(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 100_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1_000_000)
}

func (m *Model) turnRow(r row) string {
	sign := m.style.Glyphs.Unfolded
	if r.folded {
		sign = m.style.Glyphs.Folded
	}
	left := sign + " " + m.style.Strong.Render(turnID(r.turn))
	right := strings.Join(m.tree.counts(r.turn), " "+m.style.Glyphs.Dot+" ")
	return text.Spread(left, m.style.Muted.Render(" "+right+" "), m.w, m.style.Glyphs.Ellipsis)
}
