package transcript

import (
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"parley/agent/model"
	"parley/ui/tui/markdown"
	"parley/ui/tui/text"
)

// unit is something that can be chosen: a message, a code block in it, a call.
type unit struct {
	block *block
	name  string
}

// units lists what can be chosen in a block, in order of the screen.
func (m *Model) units(pos int) []string {
	b := m.at(pos)
	if b.msg.Notice != "" {
		return nil
	}
	names := []string{""}
	if !b.live && b.msg.Message.Role == model.Assistant {
		for i := range markdown.Blocks(b.doc.Source()) {
			names = append(names, codeUnit(i))
		}
	}
	lines := m.lines(pos)
	for _, l := range slices.Concat(lines.head, lines.tail) {
		switch {
		case l.unit == "" || slices.Contains(names, l.unit):
		case l.unit == reasoningUnit:
			names = slices.Insert(names, 1, l.unit)
		default:
			names = append(names, l.unit)
		}
	}
	return names
}

// chosen reports whether line i of a block belongs to what is selected.
func (m *Model) chosen(b *block, lines *drawing, i int) bool {
	if m.selected.block != b {
		return false
	}
	if n, ok := strings.CutPrefix(m.selected.name, "code "); ok {
		k, _ := strconv.Atoi(n)
		start, end := codeLines(b, lines, k)
		return i >= start && i < end
	}
	l := lines.at(i)
	return l.unit == m.selected.name && (i > 0 || l.text != "")
}

// codeLines finds where code block k of a message was drawn: by its text, which is drawn line by
// line behind an indentation.
func codeLines(b *block, lines *drawing, k int) (start, end int) {
	at, n := 0, lines.len()
	for i, c := range markdown.Blocks(b.doc.Source()) {
		if i > k {
			break
		}
		start = -1
		for l := range strings.Lines(c.Text) {
			want := strings.TrimSpace(text.Expand(text.Clean(l), 4))
			if want == "" {
				continue
			}
			for at < n && !drawnFrom(lines.at(at), want) {
				at++
			}
			if at == n {
				return 0, 0
			}
			if start < 0 {
				start = at
			}
			at++
			end = at
		}
	}
	return max(start, 0), end
}

// drawnFrom reports whether a line shows the beginning of a line of code.
func drawnFrom(l line, want string) bool {
	got := strings.TrimSpace(ansi.Strip(l.text))
	got = strings.TrimLeft(got, "│| ")
	want = strings.TrimLeft(want, "│| ")
	return got == want || got != "" && l.unit == "" && strings.HasPrefix(want, got) && text.Width(got) >= 8
}

// Focus marks something as selected: what was, or the newest message in view.
func (m *Model) Focus() {
	m.focused = true
	if m.place(m.selected.block) >= 0 || m.w == 0 || m.h == 0 || m.len() == 0 {
		return
	}
	pos, off := m.first()
	rows := -off
	last := -1
	for ; pos < len(m.blocks) && rows < m.h; pos++ {
		if len(m.units(pos)) > 0 {
			last = pos
		}
		rows += m.height(pos)
	}
	if last >= 0 {
		m.selected = unit{block: m.blocks[last]}
	}
}

// Blur takes the selection mark away.
func (m *Model) Blur() { m.focused = false }

// Move moves the selection by one message, code block or call in direction dir.
func (m *Model) Move(dir int) {
	pos := m.place(m.selected.block)
	if pos < 0 || pos >= len(m.blocks) || m.w == 0 || m.h == 0 {
		m.Focus()
		return
	}
	names := m.units(pos)
	i := slices.Index(names, m.selected.name) + sign(dir)
	if i >= 0 && i < len(names) {
		m.choose(pos, names[i])
		return
	}
	for pos += sign(dir); pos >= 0 && pos < len(m.blocks); pos += sign(dir) {
		if names := m.units(pos); len(names) > 0 {
			name := names[0]
			if dir < 0 {
				name = names[len(names)-1]
			}
			m.choose(pos, name)
			return
		}
	}
	m.Scroll(sign(dir))
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

// choose selects a unit and brings it into view.
func (m *Model) choose(pos int, name string) {
	m.selected = unit{block: m.blocks[pos], name: name}
	if m.w == 0 || m.h == 0 {
		return
	}
	lines := m.lines(pos)
	first, last := -1, 0
	for i := range lines.len() {
		if m.chosen(m.blocks[pos], lines, i) {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	m.reveal(pos, max(first, 0), last)
}

// reveal scrolls as little as needed to show lines first to last of a block, the first above all.
func (m *Model) reveal(pos, first, last int) {
	topPos, topOff := m.first()
	if pos < topPos || pos == topPos && first < topOff {
		m.goTo(pos, first)
		return
	}
	row := first - topOff
	for i := topPos; i < pos; i++ {
		row += m.height(i)
		if row-first > 2*m.h {
			m.goTo(pos, first)
			return
		}
	}
	if over := row + (last - first) - (m.h - 1); over > 0 {
		m.Scroll(min(over, row))
	}
}

// NextUser selects the next message of the person in direction dir.
func (m *Model) NextUser(dir int) {
	pos := m.place(m.selected.block)
	if pos < 0 {
		pos, _ = m.first()
		if dir < 0 {
			pos++
		}
	}
	for pos += sign(dir); pos >= 0 && pos < len(m.blocks); pos += sign(dir) {
		if b := m.blocks[pos]; b.msg.Notice == "" && b.msg.Message.Role == model.User && !b.msg.ByCaller() {
			m.choose(pos, "")
			m.goTo(pos, 0)
			return
		}
	}
	if dir > 0 {
		m.End()
	}
}

// SelectedPath is the path of the selected call, "" when none is selected.
func (m *Model) SelectedPath() string {
	path, _ := strings.CutPrefix(m.selected.name, "call ")
	if path == m.selected.name {
		return ""
	}
	return path
}

// Select selects a call and shows it; false when it is not loaded.
func (m *Model) Select(path string) bool {
	n := m.nodes[path]
	if n == nil || m.place(n.owner) < 0 {
		return false
	}
	for parent := m.nodes[n.call.Parent]; parent != nil && parent.owner == n.owner; parent = m.nodes[parent.call.Parent] {
		if !m.open(parent) {
			m.folds[callUnit(parent.call.Path)] = false
		}
	}
	n.owner.rev++
	m.choose(n.owner.pos, callUnit(path))
	return true
}

// ToggleSelected folds or unfolds the selected call or reasoning.
func (m *Model) ToggleSelected() {
	b, name := m.selected.block, m.selected.name
	if m.place(b) < 0 {
		return
	}
	n := m.nodes[m.SelectedPath()]
	switch {
	case n != nil && n.call.Agent:
		m.folds[name] = m.open(n)
	case n != nil:
		m.folds[name] = m.unfolded(n)
	case name == reasoningUnit:
		m.folds[foldID(b, name)] = !m.folded(b, name)
	default:
		return
	}
	b.rev++
	m.choose(b.pos, name)
}

// ToggleDetails unfolds the details of all calls, or folds them again.
func (m *Model) ToggleDetails() {
	m.keepPlace(func() {
		m.details = !m.details
		clear(m.folds)
		m.epoch++
	})
}

// FileName is a name for what Copy gives, with the end that tells an editor its language.
func (m *Model) FileName() string {
	b, name := m.selected.block, m.selected.name
	if m.place(b) >= 0 && strings.HasPrefix(name, "code ") {
		for i, c := range markdown.Blocks(b.doc.Source()) {
			if codeUnit(i) == name && len(c.Language) > 0 && len(c.Language) < 12 && !strings.ContainsAny(c.Language, `/\. `) {
				return "code." + c.Language
			}
		}
	}
	return "message.md"
}

// Copy returns the source text of what is selected: a message, a code block as the model wrote it,
// or a call's result.
func (m *Model) Copy() string {
	b, name := m.selected.block, m.selected.name
	if m.place(b) < 0 {
		return ""
	}
	if n := m.nodes[m.SelectedPath()]; n != nil {
		return n.call.Result
	}
	if name == reasoningUnit {
		return b.thought
	}
	if strings.HasPrefix(name, "code ") {
		for i, c := range markdown.Blocks(b.doc.Source()) {
			if codeUnit(i) == name {
				return c.Text
			}
		}
	}
	return b.doc.Source()
}
