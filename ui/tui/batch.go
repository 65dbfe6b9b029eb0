package tui

import (
	tea "charm.land/bubbletea/v2"

	"parley/ui/tui/prompt"
)

// openBatch shows all calls of the reply that the question on screen belongs to.
func (m *screen) openBatch() {
	p := m.prompt()
	if p == nil {
		return
	}
	m.asking.batch, m.asking.away = prompt.NewBatch(p, m.panel.Siblings(p.Path()), m.asking.prompts), false
}

// setBatch takes what has changed in rules and questions: it gives it to the panel and the open view,
// and closes it when nothing in it waits any more.
func (m *screen) setBatch() {
	if r, ok := m.session.chat.(Ruled); ok {
		m.panel.SetRules(r.Rules())
	}
	b := m.asking.batch
	if b == nil {
		return
	}
	if p := m.prompt(); p != nil {
		b.Set(m.panel.Siblings(b.Path()), m.asking.prompts)
	}
	if b.Undecided() == 0 {
		m.asking.batch, m.asking.away, m.asking.armed = nil, false, false
	}
}

// closeBatch goes back to the questions one by one. Each arms anew.
func (m *screen) closeBatch() tea.Cmd {
	m.asking.batch, m.asking.away = nil, false
	return m.rearm()
}

// batchShown reports whether the view of the batch stands in place of the question.
func (m *screen) batchShown() bool {
	return m.asking.batch != nil && !m.asking.away && m.asking.armed && m.prompt() != nil
}

// fromBatch shows a question of the batch in its own dialog, with the key that it was opened by.
func (m *screen) fromBatch(o prompt.BatchOpens) tea.Cmd {
	for i, p := range m.asking.prompts {
		if p.ID() == o.ID {
			m.asking.at, m.asking.away, m.asking.armed = i, true, true
			return m.toPrompt(o.Key)
		}
	}
	return nil
}

// toQuestion gives a key to the view of the batch if it is open, else to the question shown.
func (m *screen) toQuestion(msg tea.KeyPressMsg) tea.Cmd {
	if cmd, ok := m.batchKey(msg); ok {
		return cmd
	}
	return m.toPrompt(msg)
}

// batchKey takes a key while the view is open. It reports whether it belonged to it.
func (m *screen) batchKey(msg tea.KeyPressMsg) (tea.Cmd, bool) {
	if m.batchShown() {
		return m.asking.batch.Update(msg), true
	}
	if m.asking.batch == nil || !m.asking.away {
		return nil, false
	}
	cmd := m.toPrompt(msg)
	if prompt.AtRest(m.prompt()) { // back from it to the list
		m.asking.away = false
	}
	return cmd, true
}
