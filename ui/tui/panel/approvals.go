package panel

import (
	"fmt"

	"parley/agent/record"
	"parley/toolrt/approval"
	"parley/ui/tui/text"
	"parley/ui/tui/transcript"
)

// SetRules says which rules are in force.
func (m *Model) SetRules(rules []approval.Rule) { m.rules, m.drawn = rules, "" }

// approvalRows lists the questions that wait, then the calls that were decided, newest first, then
// the rules in force.
func (m *Model) approvalRows() []row {
	var rows []row
	for _, w := range m.waiting {
		rows = append(rows, row{id: "waits " + w.ID, path: w.Path, turn: -1})
	}
	for i := len(m.tree.order) - 1; i >= 0; i-- {
		paths := m.tree.turns[m.tree.order[i]]
		for j := len(paths) - 1; j >= 0; j-- {
			c := m.tree.nodes[paths[j]].call
			if c.Decision != nil && m.filter.match(c) && (m.filter.on() || !automatic(c)) {
				rows = append(rows, row{id: c.Path, path: c.Path, turn: c.Turn})
			}
		}
	}
	rules := m.ruleRows()
	if len(rules) == 0 {
		return rows
	}
	return append(append(rows, row{id: "rules", left: "rules in force", head: true}), rules...)
}

// automatic reports whether a call was allowed by a rule of parley itself, as the contexts of its own
// program are: there was nothing to decide. A filter shows them.
func automatic(c record.Call) bool {
	return c.Category != "" && c.Decision.Allow && c.Decision.Scope == approval.Builtin.String()
}

// ruleRows are the rules in force, those of parley itself left out.
func (m *Model) ruleRows() []row {
	var rows []row
	for _, r := range m.rules {
		if r.Scope == approval.Builtin || !m.filter.holds(r.String()+" "+r.Effect.String()) {
			continue
		}
		word := "ok"
		switch r.Effect {
		case approval.Deny:
			word = "no"
		case approval.Ask:
			word = "ASK"
		}
		rows = append(rows, row{id: "rule " + r.ID, left: text.Line(text.ShortHash(r.String())), right: r.Scope.String(), word: word})
	}
	return rows
}

func (m *Model) approvalRow(r row) string {
	if r.turn < 0 {
		return m.waitingRow(r)
	}
	c := m.tree.nodes[r.path].call
	word := "ok"
	if !c.Decision.Allow {
		word = "no"
	}
	left := fmt.Sprintf(" %s %-3s %s", m.style.State(word).Render(fmt.Sprintf("%-4s", word)), text.Line(c.Label), transcript.Title(c))
	// What was decided about comes first, then how.
	room := max(m.w/2, m.w-text.Width(left))
	how := text.Cut("  "+text.Line(Decided(*c.Decision)), room-1, m.style.Glyphs.Ellipsis) + " "
	return text.Spread(left, m.style.Muted.Render(how), m.w, m.style.Glyphs.Ellipsis)
}

func (m *Model) waitingRow(r row) string {
	for _, w := range m.waiting {
		if "waits "+w.ID != r.id {
			continue
		}
		word := "ASK"
		if w.Input {
			word = "$"
		}
		left := fmt.Sprintf(" %s %-3s %s", m.style.State(word).Render(fmt.Sprintf("%-4s", word)), text.Line(w.Label), text.Line(w.Tool))
		return text.Spread(left, m.style.Muted.Render("  waits for you "), m.w, m.style.Glyphs.Ellipsis)
	}
	return ""
}
