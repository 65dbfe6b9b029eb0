package panel

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"parley/agent/record"
	"parley/toolrt"
	"parley/ui/tui/transcript"
)

// filter is the text after "/": words that must all occur in a row. "tool:", "agent:" and "state:"
// look at that alone.
type filter struct {
	text   string
	typing bool
}

func (f filter) on() bool { return strings.TrimSpace(f.text) != "" }

func (f filter) match(c record.Call) bool {
	all := strings.ToLower(c.Label + " " + transcript.Title(c) + " " + transcript.Word(c))
	for _, word := range strings.Fields(strings.ToLower(f.text)) {
		where := all
		if key, value, ok := strings.Cut(word, ":"); ok {
			switch key {
			case "tool":
				where, word = strings.ToLower(c.Tool), value
			case "agent":
				where, word = "", value
				if c.Agent {
					where = strings.ToLower(c.Tool)
				}
			case "state":
				where, word = strings.ToLower(transcript.Word(c)), value
			}
		}
		if !strings.Contains(where, word) {
			return false
		}
	}
	return true
}

// holds reports whether all words occur in a text.
func (f filter) holds(s string) bool {
	s = strings.ToLower(s)
	for _, word := range strings.Fields(strings.ToLower(f.text)) {
		if !strings.Contains(s, word) {
			return false
		}
	}
	return true
}

// key takes a key while the filter is typed.
func (f *filter) key(msg tea.KeyPressMsg) bool {
	switch msg.Key().Code {
	case tea.KeyEnter, tea.KeyDown:
		f.typing = false
		return true
	case tea.KeyBackspace:
		if r := []rune(f.text); len(r) > 0 {
			f.text = string(r[:len(r)-1])
		}
		return true
	}
	f.text += msg.Text
	return msg.Text != ""
}

// Writing reports whether the filter is being written.
func (m *Model) Writing() bool { return m.filter.typing && m.filter.text != "" }

// Filter shows the calls that match the text, all for "".
func (m *Model) Filter(text string) {
	m.tab, m.full, m.filter, m.drawn = tabCalls, false, filter{text: text}, ""
}

// Find returns the path of the newest call with that label that has not ended.
func (m *Model) Find(label string) (path string, ok bool) {
	for i := len(m.tree.order) - 1; i >= 0 && label != ""; i-- {
		for _, p := range m.tree.turns[m.tree.order[i]] {
			if c := m.tree.nodes[p].call; c.Label == label && !c.Status.Terminal() {
				return p, true
			}
		}
	}
	return "", false
}

// Label returns the path of the newest call with that label.
func (m *Model) Label(label string) (path string, ok bool) {
	for _, c := range m.Newest(1 << 20) {
		if c.Label == label && label != "" {
			return c.Path, true
		}
	}
	return "", false
}

// Running lists the calls that run, the one that began last first.
func (m *Model) Running() []record.Call {
	calls := slices.DeleteFunc(m.Newest(1<<20), func(c record.Call) bool { return c.Status != toolrt.StatusRunning })
	slices.SortStableFunc(calls, func(x, y record.Call) int { return y.Started.Compare(x.Started) })
	return calls
}

// Newest lists up to limit calls, those of the newest turn first.
func (m *Model) Newest(limit int) []record.Call {
	var out []record.Call
	for i := len(m.tree.order) - 1; i >= 0; i-- {
		for _, p := range m.tree.turns[m.tree.order[i]] {
			if len(out) == limit {
				return out
			}
			out = append(out, m.tree.nodes[p].call)
		}
	}
	return out
}
