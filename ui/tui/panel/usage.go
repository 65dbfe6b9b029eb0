package panel

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"parley/agent/record"
	"parley/ui/tui/text"
	"parley/ui/tui/transcript"
)

// usage is what the session has used.
type usage struct {
	row   record.Session
	spent []record.Spent
}

// SetUsage says what the session has used, in all and by whom.
func (m *Model) SetUsage(row record.Session, spent []record.Spent) {
	m.usage, m.drawn = usage{row, spent}, ""
}

// ShowsUsage reports whether what was used is on screen.
func (m *Model) ShowsUsage() bool { return m.tab == tabUsage }

// ShowUsage shows what was used, and asks for it.
func (m *Model) ShowUsage() tea.Cmd {
	m.drawn = ""
	return m.switchTab(tabUsage)
}

// usageRows are the sums, then what each agent, model and tool has used.
func (m *Model) usageRows() []row {
	u := m.usage
	if u.row.ID == "" {
		return nil
	}
	total := u.row.Usage
	rows := []row{
		{id: "session", left: "session", right: fmt.Sprintf("$%.4f", float64(u.row.CostMicro)/1e6), head: true},
		{id: "tokens", left: "tokens", right: tokens(total.TotalTokens)},
		{id: "in", left: "  in", right: tokens(total.PromptTokens)},
		{id: "cached", left: "  of these cached", right: tokens(total.CachedTokens)},
		{id: "out", left: "  out", right: tokens(total.CompletionTokens)},
		{id: "turns", left: "turns", right: fmt.Sprint(u.row.Turns)},
		{id: "calls", left: "calls", right: fmt.Sprint(u.row.Calls)},
	}
	for _, group := range []struct{ by, title, columns string }{
		{record.SpentAgent, "by agent", "replies   tokens"},
		{record.SpentModel, "by model", "replies   tokens     time"},
		{record.SpentTool, "by tool", "calls failed     time"},
	} {
		at := len(rows)
		for i, s := range u.spent {
			if s.By == group.by && m.filter.holds(s.Name) {
				rows = append(rows, row{id: fmt.Sprintf("%s %d", s.By, i), left: spentName(s), right: spentFigures(s)})
			}
		}
		if len(rows) > at {
			rows = append(rows[:at:at], append([]row{{id: group.by, left: group.title, right: group.columns, head: true}}, rows[at:]...)...)
		}
	}
	return rows
}

func spentName(s record.Spent) string {
	name := text.Line(s.Name)
	if name == "" {
		name = "(no name)"
	}
	if s.By == record.SpentAgent {
		return "@" + name
	}
	return name
}

// spentFigures are in columns under those of the group's title.
func spentFigures(s record.Spent) string {
	switch s.By {
	case record.SpentAgent:
		return fmt.Sprintf("%7d %8s", s.Count, tokens(s.Usage.TotalTokens))
	case record.SpentModel:
		return fmt.Sprintf("%7d %8s %8s", s.Count, tokens(s.Usage.TotalTokens), transcript.Duration(s.Time))
	}
	failed := ""
	if s.Failed > 0 {
		failed = fmt.Sprint(s.Failed)
	}
	return fmt.Sprintf("%5d %6s %8s", s.Count, failed, transcript.Duration(s.Time))
}
