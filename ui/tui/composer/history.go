package composer

import (
	"slices"
	"strings"
)

// history is the list of earlier messages with the place in it. Place -1 is the draft.
type history struct {
	texts []string // newest first
	place int
	// kept has the text of each place that was changed or left, the draft's among them, so that
	// moving through the list loses nothing. It is forgotten when something is sent.
	kept map[int][]cell
}

func newHistory() history { return history{place: -1, kept: map[int][]cell{}} }

// add puts a text in front, unless it is there already.
func (h *history) add(text string) {
	if strings.TrimSpace(text) == "" || len(h.texts) > 0 && h.texts[0] == text {
		return
	}
	h.texts = slices.Insert(h.texts, 0, text)
}

func (h *history) reset() {
	h.place = -1
	clear(h.kept)
}

// SetHistory gives the messages of earlier sessions, newest first. Those of this one stay in front.
func (m *Model) SetHistory(texts []string) {
	m.hist.texts = append(m.hist.texts, texts...)
}

// AddHistory puts a text in front of the history.
func (m *Model) AddHistory(text string) {
	m.hist.add(text)
	m.hist.reset()
}

// recall shows the message one step earlier (1) or later (-1). It reports whether there is one.
func (m *Model) recall(step int) bool {
	next := m.hist.place + step
	if next < -1 || next >= len(m.hist.texts) {
		return false
	}
	m.hist.kept[m.hist.place] = slices.Clone(m.buf.cells)
	m.hist.place = next
	if cells, ok := m.hist.kept[next]; ok {
		m.buf.set(cells)
	} else {
		m.buf.set(m.fold(m.hist.texts[next]))
	}
	return true
}

// search is the state of the reverse search (Ctrl+R).
type search struct {
	query string
	found int // place in the history, -1 for none
}

// Searching reports whether the reverse search is open.
func (m *Model) Searching() bool { return m.search != nil }

// StartSearch opens the reverse search, or steps to the next earlier match when it is open.
func (m *Model) StartSearch() {
	if m.search == nil {
		m.search = &search{found: -1}
		m.find(0)
		return
	}
	m.find(m.search.found + 1)
}

// find looks for the query from a place on; without a match the last one stays.
func (m *Model) find(from int) {
	for i := max(from, 0); i < len(m.hist.texts); i++ {
		if strings.Contains(strings.ToLower(m.hist.texts[i]), strings.ToLower(m.search.query)) {
			m.search.found = i
			return
		}
	}
}

// EndSearch closes the reverse search and, if asked, takes its match as the text. The text that
// was there comes back by undo or, one step down, by the later key.
func (m *Model) EndSearch(take bool) {
	if m.search == nil {
		return
	}
	found := m.search.found
	m.search = nil
	if take && found >= 0 {
		m.recall(found - m.hist.place)
	}
}

// typeSearch changes the query.
func (m *Model) typeSearch(query string) {
	m.search.query = query
	m.search.found = -1
	m.find(0)
}

func (m *Model) searchMatch() string {
	if m.search.found < 0 {
		return ""
	}
	return m.hist.texts[m.search.found]
}
