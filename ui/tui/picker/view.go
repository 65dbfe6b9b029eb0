package picker

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"parley/agent/record"
	"parley/ui/tui/text"
)

// minTwoColumns is the width from which the facts stand beside the list.
const minTwoColumns = 100

func (m *Model) twoColumns() bool { return m.w >= minTwoColumns }

// headLines are above the list: the title, the search line and a rule.
const headLines = 3

func (m *Model) listHeight() int { return max(m.h-headLines-1, 0) }

// View draws the list: exactly the size that was set.
func (m *Model) View() string {
	if m.w == 0 || m.h == 0 {
		return ""
	}
	rule := m.style.Border.Render(strings.Repeat(m.style.Glyphs.Box.Top, m.w))
	lines := []string{m.titleLine(), m.searchLine(), rule}
	h := m.listHeight()
	switch {
	case m.twoColumns():
		left := m.w * 58 / 100
		list, facts := m.list(left, h), m.facts(m.w-left-3, h)
		bar := m.style.Border.Render(m.style.Glyphs.Box.Left)
		for i := range h {
			lines = append(lines, text.Fit(list[i], left, "")+" "+bar+" "+facts[i])
		}
	case m.preview:
		lines = append(lines, m.facts(m.w, h)...)
	default:
		lines = append(lines, m.list(m.w, h)...)
	}
	lines = append(lines, m.noticeLine())
	for len(lines) < m.h {
		lines = append(lines, "")
	}
	lines = lines[:m.h]
	for i := range lines {
		lines[i] = text.Fit(lines[i], m.w, "")
	}
	return strings.Join(lines, "\n")
}

func (m *Model) titleLine() string {
	here, all := "[this folder]", " all "
	if m.all {
		here, all = " this folder ", "[all]"
	}
	left := " " + m.style.Title.Render("Sessions") + "   " + m.style.Accent.Render(here+" "+all)
	if m.w >= 60 {
		left += m.style.Muted.Render("   sort: " + m.order.String())
	}
	right := fmt.Sprintf("%d shown ", len(m.sessions))
	if len(m.found) > len(m.sessions) {
		right = fmt.Sprintf("%d shown / %d ", len(m.sessions), len(m.found))
	}
	if m.loading && len(m.sessions) == 0 {
		right = "reading " + m.style.Glyphs.Ellipsis + " "
	}
	return text.Spread(left, m.style.Muted.Render(right), m.w, "")
}

func (m *Model) searchLine() string {
	switch m.entry {
	case entrySearch:
		m.input.SetSize(max(m.w-3, 1), 1, false)
		return " / " + m.input.View()
	case entryRename:
		m.input.SetSize(max(m.w-9, 1), 1, false)
		return " rename: " + m.input.View()
	}
	if m.text != "" {
		return " / " + text.Line(m.text)
	}
	return text.Fit(m.style.Muted.Render(" / title, program, text   agent: state: before: tool: file: id:"), m.w, "")
}

// Cursor is where the caret stands while a line is typed, nil otherwise.
func (m *Model) Cursor() *tea.Cursor {
	x := 0
	switch m.entry {
	case entrySearch:
		x = 3
	case entryRename:
		x = 9
	default:
		return nil
	}
	c := m.input.Cursor()
	if c == nil || m.h < 2 || m.w == 0 {
		return nil
	}
	c.X, c.Y = min(c.X+x, m.w-1), 1
	return c
}

func (m *Model) noticeLine() string {
	if m.entry == entryDelete {
		title := ""
		if s := m.chosen(); s != nil {
			title = name(*s)
		}
		return m.style.Warning.Render(" delete " + title + "?  y yes   n no")
	}
	return m.style.Warning.Render(" " + text.Line(m.notice))
}

func (m *Model) list(w, h int) []string {
	lines := make([]string, 0, h)
	if len(m.sessions) == 0 && !m.loading {
		lines = append(lines, "", m.style.Muted.Render(" "+m.emptyText()))
	}
	at := m.index(m.cursor)
	m.top = max(min(m.top, at, max(len(m.sessions)-h, 0)), at-h+1, 0)
	for i := m.top; i < min(m.top+h, len(m.sessions)); i++ {
		line := text.Fit(m.row(m.sessions[i], w-2), w-2, "")
		if i == at {
			line = m.style.Accent.Render(m.style.Glyphs.Cursor+" ") + m.style.Selection.Render(line)
		} else {
			line = "  " + line
		}
		lines = append(lines, line)
	}
	for len(lines) < h {
		lines = append(lines, "")
	}
	return lines[:h]
}

func (m *Model) emptyText() string {
	switch {
	case m.text != "":
		return "no session holds this text"
	case !m.all:
		return "no sessions in this folder yet: Tab shows all, n starts one"
	}
	return "no sessions yet: n starts one"
}

// row is a session in one line: title, agent and program, age, state.
func (m *Model) row(s record.Session, w int) string {
	state := State(s.State)
	right := fmt.Sprintf("%4s  ", age(m.now.Sub(s.Updated))) + m.style.State(state).Render(fmt.Sprintf("%-4s", state)) + " "
	if w >= 56 {
		right = m.style.Muted.Render(text.Fit(who(s), 22, m.style.Glyphs.Ellipsis)) + " " + right
	}
	return text.Spread(name(s), " "+right, w, m.style.Glyphs.Ellipsis)
}

func name(s record.Session) string {
	switch {
	case s.Title != "":
		return text.Line(s.Title)
	case s.Name != "":
		return text.Line(s.Name)
	}
	return "(no message yet)"
}

func who(s record.Session) string {
	program := "parley"
	if s.Program != "" {
		program = filepath.Base(s.Program)
	}
	if s.Agent == "" {
		return text.Line(program)
	}
	return text.Line("@" + s.Agent + " " + program)
}

// State is a session's state as it is shown.
func State(s record.SessionState) string {
	switch s {
	case record.StateAsk, record.StateCred, record.StateStop, record.StateErr:
		return strings.ToUpper(string(s))
	}
	return string(s)
}

// age is a duration in its largest unit.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d < 100*24*time.Hour:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	}
	return fmt.Sprintf("%dy", max(d/(365*24*time.Hour), 1))
}

// facts are what is known of the chosen session.
func (m *Model) facts(w, h int) []string {
	var lines []string
	if s := m.chosen(); s != nil {
		lines = m.factLines(*s, w)
		if more := m.previewLines(*s, w, h-len(lines)-1); len(more) > 0 {
			lines = append(append(lines, ""), more...)
		}
	}
	for len(lines) < h {
		lines = append(lines, "")
	}
	return lines[:h]
}

func (m *Model) factLines(s record.Session, w int) []string {
	lines := []string{text.Spread(m.style.Strong.Render(name(s)), m.style.Muted.Render(" "+shortID(s.ID)), w, m.style.Glyphs.Ellipsis)}
	dot := " " + m.style.Glyphs.Dot + " "
	facts := []string{plural(s.Turns, "turn"), plural(s.Calls, "call")}
	if s.CostMicro > 0 {
		facts = append(facts, fmt.Sprintf("$%.2f", float64(s.CostMicro)/1e6))
	}
	if s.Usage.TotalTokens > 0 {
		facts = append(facts, fmt.Sprintf("%.1fk tokens", float64(s.Usage.TotalTokens)/1000))
	}
	add := func(label, value string) {
		if value != "" {
			lines = append(lines, m.style.Muted.Render(fmt.Sprintf("%-9s", label))+text.Line(value))
		}
	}
	lines = append(lines, strings.Join(facts, dot), "")
	add("started", s.Created.Format("2006-01-02 15:04"))
	add("updated", s.Updated.Format("2006-01-02 15:04"))
	add("agent", who(s))
	add("model", s.Model)
	add("folder", s.Dir)
	if len(s.Queue) > 0 {
		add("queued", plural(len(s.Queue), "message"))
	}
	if s.Draft != "" {
		add("draft", s.Draft)
	}
	if say := stateSentence(s.State); say != "" {
		lines = append(lines, "")
		for _, l := range text.Wrap(say, max(w, 1)) {
			lines = append(lines, m.style.Warning.Render(l))
		}
	}
	for i := range lines {
		lines[i] = text.Cut(lines[i], w, m.style.Glyphs.Ellipsis)
	}
	return lines
}

// stateSentence says what will happen when a session is resumed, "" when there is nothing to say.
func stateSentence(s record.SessionState) string {
	switch s {
	case record.StateRun:
		return "runs in another process: it can be opened there only"
	case record.StateAsk:
		return "stopped while a call waited for you: it is asked again"
	case record.StateCred:
		return "stopped while a tool waited for values: they are asked for again"
	case record.StateStop:
		return "stopped inside a turn: it goes on from there, and what may have run is put to you first"
	case record.StateErr:
		return "the last turn failed"
	case record.StateDone:
		return "the program is done: the next message starts it afresh"
	}
	return ""
}

func shortID(id string) string {
	if len(id) <= 10 {
		return text.Line(id)
	}
	return text.Line(id[:4] + ".." + id[len(id)-4:])
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
