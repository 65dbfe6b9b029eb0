package composer

import (
	tea "charm.land/bubbletea/v2"

	"parley/ui/tui/keymap"
)

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
