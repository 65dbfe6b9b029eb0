package transcript

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"parley/ui/tui/text"
)

// Search looks for text, ignoring case, selects the newest block that holds it, and returns how
// many loaded ones do. An empty text ends the search.
func (m *Model) Search(q string) int {
	m.query = strings.ToLower(q)
	if m.query == "" {
		return 0
	}
	n, newest := 0, -1
	for i, b := range m.blocks {
		if m.holds(b) {
			n++
			newest = i
		}
	}
	if newest >= 0 {
		m.choose(newest, "")
	}
	return n
}

// SearchNext goes to the next (+1: newer, -1: older) block that holds the text.
func (m *Model) SearchNext(dir int) {
	if m.query == "" {
		return
	}
	pos := m.place(m.selected.block)
	if pos < 0 {
		pos = len(m.blocks)
	}
	for pos += sign(dir); pos >= 0 && pos < len(m.blocks); pos += sign(dir) {
		if m.holds(m.blocks[pos]) {
			m.choose(pos, "")
			return
		}
	}
}

// holds reports whether a block's text or the lines of its calls hold what is searched.
func (m *Model) holds(b *block) bool {
	if strings.Contains(strings.ToLower(b.doc.Source()), m.query) || strings.Contains(strings.ToLower(b.msg.Notice), m.query) {
		return true
	}
	return m.callsHold(b.calls)
}

func (m *Model) callsHold(nodes []*node) bool {
	for _, n := range nodes {
		if strings.Contains(strings.ToLower(Title(n.call)), m.query) || m.callsHold(n.children) {
			return true
		}
	}
	return false
}

// found marks what is searched in a drawn line.
func (m *Model) found(s string) string {
	plain := strings.ToLower(ansi.Strip(s))
	if !strings.Contains(plain, m.query) {
		return s
	}
	var ranges []lipgloss.Range
	for from := 0; ; {
		i := strings.Index(plain[from:], m.query)
		if i < 0 {
			break
		}
		start := text.Width(plain[:from+i])
		ranges = append(ranges, lipgloss.NewRange(start, start+text.Width(m.query), m.style.Selection))
		from += i + len(m.query)
	}
	return lipgloss.StyleRanges(s, ranges...)
}
