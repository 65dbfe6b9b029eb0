package prompt

import (
	tea "charm.land/bubbletea/v2"

	"parley/agent"
)

// seen says how much of a question stood on screen. Nothing is allowed of which a part was never shown
// (P-08): the key opens the whole of it instead, and allows once its end was reached.
type seen struct {
	box   bool // everything fits into the box, as it was last drawn
	whole bool // the whole text was read to its end
}

func (s seen) all() bool { return s.box || s.whole }

// allow answers with yes, or shows what was not seen yet.
func (a *approval) allow(ans agent.ApprovalAnswer) tea.Cmd {
	switch {
	case a.seen.all():
		return a.answer(ans)
	case a.stage == reading && a.pager.key == "v":
		a.note = "more below: PgDn or End first"
	default:
		a.read("v", a.whole())
		a.note = "read to its end, then answer"
	}
	return nil
}

// Written reports whether text stands in a field of the question that keys would change.
func Written(p Prompt) bool {
	switch p := p.(type) {
	case *approval:
		return p.field != nil && p.field.value() != ""
	case *input:
		row := p.row()
		return row != nil && row.field != nil && row.field.value() != ""
	case *resume:
		return p.field != nil && p.field.value() != ""
	}
	return false
}

// Escape says in a word or two what Esc does in a question.
func Escape(p Prompt) string {
	switch p := p.(type) {
	case *approval:
		if p.stage == asking {
			return "deny"
		}
	case *input:
		return "decline"
	case *resume:
		if p.field == nil && p.pager == nil {
			return "leave stopped"
		}
	}
	return "back"
}
