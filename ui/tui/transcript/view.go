package transcript

import "strings"

// anchor is a line of the conversation that holds still: the off-th line of a block, told by the
// unit it belongs to, so that what grows above it in the same block does not move it.
type anchor struct {
	block *block
	unit  string
	sub   int // line within the unit
	of    int // lines the unit had, to keep the place when the width changes
}

// mark is where the conversation ended at some time.
type mark struct {
	block *block
	rows  int
}

// len is the number of blocks, the passing notice included.
func (m *Model) len() int {
	if m.notice != nil {
		return len(m.blocks) + 1
	}
	return len(m.blocks)
}

func (m *Model) at(i int) *block {
	if i == len(m.blocks) {
		return m.notice
	}
	return m.blocks[i]
}

// place returns where a block stands, -1 when it is gone.
func (m *Model) place(b *block) int {
	switch {
	case b == nil:
		return -1
	case b == m.notice:
		return len(m.blocks)
	case b.pos < len(m.blocks) && m.blocks[b.pos] == b:
		return b.pos
	}
	return -1
}

// first returns the first line in view: block and line within it.
func (m *Model) first() (pos, off int) {
	if !m.follow {
		if pos := m.place(m.top.block); pos >= 0 {
			return m.resolve(pos, m.top)
		}
	}
	rows := 0
	for i := m.len() - 1; i >= 0; i-- {
		if rows += m.height(i); rows >= m.h {
			return i, rows - m.h
		}
	}
	return 0, 0
}

// Rows is how many lines the whole conversation takes in w columns, counted up to limit.
func (m *Model) Rows(w, limit int) int {
	m.SetSize(w, m.h)
	if m.w == 0 {
		return 0
	}
	rows := 0
	for i := m.len() - 1; i >= 0 && rows < limit; i-- {
		rows += m.height(i)
	}
	return min(rows, max(limit, 0))
}

// resolve finds an anchor's line in its block.
func (m *Model) resolve(pos int, a anchor) (int, int) {
	lines := m.lines(pos)
	start, n := unitRange(lines, a.unit)
	if n == 0 {
		return pos, 0
	}
	return pos, start + min(a.sub, n-1)
}

// unitRange is where a unit's lines begin, and how many there are up to its last.
func unitRange(lines *drawing, unit string) (start, n int) {
	start = -1
	for i := range lines.len() {
		if lines.at(i).unit == unit {
			if start < 0 {
				start = i
			}
			n = i - start + 1
		}
	}
	return max(start, 0), n
}

// anchorAt remembers a line.
func (m *Model) anchorAt(pos, off int) anchor {
	lines := m.lines(pos)
	off = min(off, lines.len()-1)
	unit := lines.at(off).unit
	start, n := unitRange(lines, unit)
	return anchor{block: m.at(pos), unit: unit, sub: off - start, of: n}
}

// keepPlace runs a change of how everything is drawn and stays at the same place in the text.
func (m *Model) keepPlace(change func()) {
	if m.follow || m.place(m.top.block) < 0 || m.w == 0 {
		change()
		m.mark = mark{}
		return
	}
	a := m.top
	below := m.mark.block != nil
	change()
	if m.w == 0 {
		return
	}
	pos := m.place(a.block)
	if _, n := unitRange(m.lines(pos), a.unit); a.of > 0 && n != a.of {
		a.sub = a.sub * n / a.of
	}
	a.of = 0
	m.top = a
	if below {
		m.mark.rows = min(m.mark.rows, m.markHeight())
	}
}

func (m *Model) markHeight() int {
	if pos := m.place(m.mark.block); pos >= 0 {
		return m.height(pos)
	}
	return 0
}

// Scroll moves the view by lines, negative towards the beginning.
func (m *Model) Scroll(lines int) {
	if m.w == 0 || m.h == 0 || m.len() == 0 {
		return
	}
	pos, off := m.first()
	off += lines
	for off < 0 && pos > 0 {
		pos--
		off += m.height(pos)
	}
	off = max(off, 0)
	for pos < m.len()-1 && off >= m.height(pos) {
		off -= m.height(pos)
		pos++
	}
	m.goTo(pos, min(off, m.height(pos)-1))
}

// goTo shows a line at the top of the view, or as near to it as the end allows.
func (m *Model) goTo(pos, off int) {
	rows := -off
	for i := pos; i < m.len() && rows <= m.h; i++ {
		rows += m.height(i)
	}
	if rows <= m.h {
		m.End()
		return
	}
	if m.follow {
		last := m.len() - 1
		m.mark = mark{block: m.at(last), rows: m.height(last)}
	}
	m.follow = false
	m.top = m.anchorAt(pos, off)
}

// Page moves the view by a page in direction dir, leaving two lines for the eye.
func (m *Model) Page(dir int) { m.Scroll(dir * max(m.h-2, 1)) }

// Home moves the view to the oldest loaded line.
func (m *Model) Home() {
	if m.w > 0 && m.h > 0 && m.len() > 0 {
		m.goTo(0, 0)
	}
}

// End moves the view to the newest line and follows it.
func (m *Model) End() { m.follow, m.top, m.mark = true, anchor{}, mark{} }

// Following reports whether the view stays at the newest line.
func (m *Model) Following() bool { return m.follow }

// Below counts the lines that have come at the end since the view was scrolled up.
func (m *Model) Below() int {
	if m.follow || m.w == 0 {
		return 0
	}
	pos := m.place(m.mark.block)
	if pos < 0 {
		return 0
	}
	n := m.height(pos) - m.mark.rows
	for i := pos + 1; i < len(m.blocks); i++ {
		n += m.height(i)
	}
	return max(n, 0)
}

// View draws exactly the height given with SetSize, each line at most its width. It is "" when
// either is 0.
func (m *Model) View() string {
	if m.w == 0 || m.h == 0 {
		return ""
	}
	pos, off := m.first()
	m.cool(pos)
	var out strings.Builder
	rows := 0
	for ; pos < m.len() && rows < m.h; pos++ {
		lines := m.lines(pos)
		for i := min(off, lines.len()); i < lines.len() && rows < m.h; i++ {
			if rows > 0 {
				out.WriteByte('\n')
			}
			m.writeLine(&out, m.at(pos), lines, i)
			rows++
		}
		off = 0
	}
	if !m.follow && rows < m.h { // what was below has shrunk: it is the end now
		m.End()
		return m.View()
	}
	for ; rows < m.h; rows++ {
		if rows > 0 {
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// writeLine writes line i of a block behind the column that shows what is chosen.
func (m *Model) writeLine(out *strings.Builder, b *block, lines *drawing, i int) {
	edge := " "
	if m.focused && m.chosen(b, lines, i) {
		edge = m.style.Accent.Render(m.style.Glyphs.Cursor)
	}
	out.WriteString(edge)
	if m.w > 1 {
		s := lines.at(i).text
		if m.query != "" {
			s = m.found(s)
		}
		out.WriteString(s)
	}
}

const (
	warmBlocks = 96 // drawn blocks that are kept
	nearBlocks = 24 // around the view, these are always among them
)

// cool forgets the lines of blocks far from the view when many are kept.
func (m *Model) cool(pos int) {
	if len(m.warm) <= warmBlocks {
		return
	}
	kept := m.warm[:0]
	for _, b := range m.warm {
		at := m.place(b)
		if at >= pos-nearBlocks && at <= pos+2*nearBlocks && b.drawn.lines != nil {
			kept = append(kept, b)
			continue
		}
		b.drawn.lines = nil
		if !b.live {
			b.doc.Drop()
		}
	}
	clear(m.warm[len(kept):])
	m.warm = kept
}
