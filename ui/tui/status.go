package tui

import (
	"fmt"
	"path/filepath"
	"strings"

	"charm.land/lipgloss/v2"

	"parley/ui/tui/text"
)

// Windowed is a [Chat] that knows how many tokens its model takes; 0 is unknown. With it the first
// line shows how full the context is, without it how many tokens the last request had.
type Windowed interface{ Window() int }

// segment is one fact of the first line, in several forms from long to short; the last is "" when
// the fact may be left out.
type segment struct {
	forms []string
	style lipgloss.Style
	right bool
	// joined leaves out the line between this fact and the one before.
	joined bool
	// keep says how long the fact is kept whole when there is little room: higher is longer.
	keep int
}

// statusLine draws the first line: what is talked to on the left, what it costs and what runs on
// the right.
func (m *screen) statusLine(w int) string {
	segs := m.segments()
	form := make([]int, len(segs))
	for width(segs, form) > w {
		worst := -1
		for i, s := range segs {
			if form[i] < len(s.forms)-1 && (worst < 0 || s.keep < segs[worst].keep) {
				worst = i
			}
		}
		if worst < 0 {
			break
		}
		form[worst]++
	}
	left, right := "", ""
	for i, s := range segs {
		t := s.forms[form[i]]
		switch {
		case t == "":
		case s.right:
			right += s.style.Render(t) + "  "
		case left == "" || s.joined:
			left += " " + s.style.Render(t)
		default:
			left += " " + m.style.Border.Render(m.style.Glyphs.Tree) + " " + s.style.Render(t)
		}
	}
	return text.Spread(left, strings.TrimSuffix(right, " "), w, m.style.Glyphs.Ellipsis)
}

// width is how many columns the segments take in these forms, at most.
func width(segs []segment, form []int) int {
	n := 0
	for i, s := range segs {
		t := s.forms[form[i]]
		switch {
		case t == "":
		case s.right:
			n += text.Width(t) + 2
		case n == 0 || s.joined:
			n += text.Width(t) + 1
		default:
			n += text.Width(t) + 3
		}
	}
	return n
}

func (m *screen) segments() []segment {
	r, st := m.session.row, m.style
	bar := st.Border
	cut := func(s string, n int) string { return text.Cut(text.Line(s), n, st.Glyphs.Ellipsis) }
	segs := []segment{{forms: []string{"parley", ""}, style: st.Title, keep: 1}}
	switch {
	case m.session.chat == nil && !m.session.opening:
		return segs
	case m.session.chat == nil:
		return append(segs, segment{forms: []string{"opening" + st.Glyphs.Ellipsis}, style: st.Muted, keep: 9})
	}
	title := r.Title
	if title == "" {
		title = r.Name
	}
	if title == "" {
		title = "new session"
	}
	segs = append(segs,
		segment{forms: []string{cut(title, 40), cut(title, 20), cut(title, 12), ""}, style: st.Text, keep: 5},
		segment{forms: agentForms(r.Agent, cut), style: st.Agent, keep: 6})
	if r.Program != "" {
		segs = append(segs, segment{forms: []string{cut(filepath.Base(r.Program), 24), ""}, style: st.Muted, joined: true, keep: 1})
	}
	if m.opts.StatusNote != "" {
		segs = append(segs, segment{forms: []string{text.Line(m.opts.StatusNote), cut(m.opts.StatusNote, 12)}, style: st.Warning, right: true, keep: 8})
	}
	if c := m.contextForms(); c != nil {
		segs = append(segs, segment{forms: c, style: bar, right: true, keep: 3})
	}
	if r.CostMicro > 0 {
		segs = append(segs, segment{forms: []string{fmt.Sprintf("$%.2f", float64(r.CostMicro)/1e6), ""}, style: st.Muted, right: true, keep: 2})
	}
	if r.Model != "" {
		short, effort := r.Model[strings.LastIndexByte(r.Model, '/')+1:], ""
		if r.Effort != "" {
			effort = " " + r.Effort.String()
		}
		segs = append(segs, segment{forms: []string{cut(r.Model, 32) + effort, cut(short, 20) + effort, cut(short, 10), ""}, style: st.Muted, right: true, keep: 2})
	}
	segs = append(segs, segment{forms: []string{"mode " + r.Mode, r.Mode}, style: m.modeStyle(), right: true, keep: 4})
	return append(segs, m.workSegment()...)
}

func agentForms(agent string, cut func(string, int) string) []string {
	if agent == "" {
		return []string{""}
	}
	return []string{"@" + cut(agent, 24), "@" + cut(agent, 12), "@" + cut(agent, 8)}
}

func (m *screen) modeStyle() lipgloss.Style {
	switch m.session.row.Mode {
	case "auto":
		return m.style.Error
	case "edits":
		return m.style.Warning
	}
	return m.style.Muted
}

// contextForms says how full the model's context is.
func (m *screen) contextForms() []string {
	used, window := m.session.row.Context, 0
	if w, ok := m.session.chat.(Windowed); ok {
		window = w.Window()
	}
	switch {
	case used == 0:
		return nil
	case window <= 0:
		return []string{"ctx " + kilo(used), ""}
	}
	percent := min(used*100/window, 999)
	const cells = 10
	full := min((percent*cells+50)/100, cells)
	gauge := strings.Repeat(m.style.Glyphs.BarFull, full) + strings.Repeat(m.style.Glyphs.BarEmpty, cells-full)
	return []string{
		fmt.Sprintf("ctx %d%% %s %s/%s", percent, gauge, kilo(used), kilo(window)),
		fmt.Sprintf("ctx %d%% %s", percent, gauge),
		fmt.Sprintf("ctx %d%%", percent), "",
	}
}

func kilo(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%dk", n/1000)
}

// workSegment says what runs and what waits for the person.
func (m *screen) workSegment() []segment {
	var segs []segment
	running := m.panel.Working()
	if m.session.running {
		sign := m.style.Glyphs.Spinner[m.beat%len(m.style.Glyphs.Spinner)]
		forms := []string{sign + " working", sign}
		if running > 0 {
			forms = []string{fmt.Sprintf("%s %d run", sign, running), fmt.Sprintf("%drun", running)}
		}
		segs = append(segs, segment{forms: forms, style: m.style.Running, right: true, keep: 7})
	}
	if n := len(m.asking.prompts); n > 0 {
		segs = append(segs, segment{forms: []string{fmt.Sprintf("%d ask", n), fmt.Sprintf("%dask", n)}, style: m.style.Warning, right: true, keep: 8})
	}
	return segs
}
