package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"parley/ui/tui/text"
)

// class is how much room there is (spec/screen.md 1).
type class int

const (
	tooSmall class = iota
	narrow
	middle
	wide
)

// The sizes from which a class begins.
const (
	wideWidth, wideHeight     = 110, 28
	middleWidth, middleHeight = 80, 24
	smallWidth, smallHeight   = 20, 5
)

func (m *screen) class() class {
	switch {
	case m.w < smallWidth || m.h < smallHeight:
		return tooSmall
	case m.w >= wideWidth && m.h >= wideHeight:
		return wide
	case m.w >= middleWidth && m.h >= middleHeight:
		return middle
	}
	return narrow
}

// View draws the screen: what a message changed is drawn once.
func (m *screen) View() (v tea.View) {
	if !m.stale || m.failure != nil {
		return m.frame
	}
	defer m.fault(func() { v = m.frame; m.abort() })
	m.stale = false
	lines, cursor := m.draw()
	v = tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen = true
	v.ReportFocus = m.opts.Notify != NotifyOff
	v.WindowTitle = m.windowTitle()
	v.ProgressBar = m.progressBar()
	v.Cursor = cursor
	m.frame = v
	return v
}

func (m *screen) windowTitle() string {
	if t := text.Line(m.session.row.Title); t != "" {
		return "parley: " + text.Cut(t, 60, m.style.Glyphs.Ellipsis)
	}
	return "parley"
}

// draw returns exactly h lines of w columns, and where the cursor is, nil when it is hidden.
func (m *screen) draw() ([]string, *tea.Cursor) {
	if !m.sized || m.w <= 0 || m.h <= 0 {
		return nil, nil
	}
	if m.class() == tooSmall {
		return m.drawTooSmall(), nil
	}
	body := m.h - 2
	lines := make([]string, 0, m.h)
	lines = append(lines, m.statusLine(m.w))
	ruled := m.h >= 20
	if ruled {
		lines = append(lines, m.rule(m.w))
		body--
	}
	main, cursor := m.drawBody(m.w, body)
	switch {
	case m.choice != nil:
		cursor = nil
		main = overlay(main, m.choiceLines(m.w, max(min(len(main), 14), len(main)*2/3)))
	case m.leader.menu:
		main = overlay(main, m.leaderLines(m.w, len(main)))
	}
	if cursor != nil {
		cursor.Y += len(lines)
	}
	lines = append(lines, main...)
	return append(lines, m.hintLine(m.w)), cursor
}

func (m *screen) rule(w int) string {
	return m.style.Border.Render(strings.Repeat(m.style.Glyphs.Box.Top, w))
}

// drawTooSmall says so, and that something waits.
func (m *screen) drawTooSmall() []string {
	lines := make([]string, m.h)
	lines[0] = text.Cut("too small", m.w, "")
	if n := len(m.asking.prompts); n > 0 && m.h > 1 {
		lines[1] = text.Cut(fmt.Sprintf("%d ask", n), m.w, "")
	}
	return lines
}

// drawBody draws what is between the first line and the hints.
func (m *screen) drawBody(w, h int) ([]string, *tea.Cursor) {
	switch {
	case m.page == pageReader:
		return m.readerLines(w, h), nil
	case m.page == pageTimeline:
		note := m.noteLines(w, h/3)
		return append(m.timelineLines(w, h-len(note)), note...), nil
	case m.page == pagePicker:
		note := m.noteLines(w, h/3)
		m.picker.SetSize(w, h-len(note))
		return append(split(m.picker.View(), w, h-len(note)), note...), m.picker.Cursor()
	case m.reading():
		lines, cursor := m.drawPrompt(w, h)
		return pad(lines, w, h), cursor
	case !m.panelShown():
		return m.drawChat(w, h)
	}
	switch m.class() {
	case wide:
		return m.drawBeside(w, h)
	case middle:
		return m.drawOver(w, h)
	}
	return m.drawPanel(w, h)
}

// reading reports whether the question shown fills the screen. Once the person is back in the text,
// it does not.
func (m *screen) reading() bool {
	return m.asking.armed && m.prompt() != nil && m.prompt().FullScreen()
}

// drawPanel draws the panel over the whole body. That a question waits is said at its end.
func (m *screen) drawPanel(w, h int) ([]string, *tea.Cursor) {
	note := ""
	if n := len(m.asking.prompts); n > 0 && h > 4 {
		note = m.style.Warning.Render(text.Fit(fmt.Sprintf(" %s: Esc, then answer", count(n, "question")), w, ""))
		h--
	}
	m.panel.SetSize(w, h)
	lines := split(m.panel.View(), w, h)
	if note != "" {
		lines = append(lines, note)
	}
	return lines, m.panel.Cursor()
}

// drawBeside draws the chat at the left and the panel at the right of the whole body.
func (m *screen) drawBeside(w, h int) ([]string, *tea.Cursor) {
	pw := min(max(w*36/100, 38), 60)
	cw := w - pw - 1
	lines, cursor := m.drawChat(cw, h)
	m.panel.SetSize(pw, h)
	side := strings.Split(m.panel.View(), "\n")
	bar := m.style.Border.Render(m.style.Glyphs.Box.Left)
	for i := range lines {
		lines[i] += bar + side[i]
	}
	if c := m.panel.Cursor(); m.focus == onPanel {
		if c != nil {
			c.X += cw + 1
		}
		return lines, c
	}
	return lines, cursor
}

// drawOver draws the panel over the right two thirds of the chat; question and composer stay free.
func (m *screen) drawOver(w, h int) ([]string, *tea.Cursor) {
	lines, _ := m.drawChat(w, h)
	pw := w * 2 / 3
	ph := max(h-m.below(w, h), min(h, 6))
	m.panel.SetSize(pw-1, ph)
	side := split(m.panel.View(), pw-1, ph)
	bar := m.style.Border.Render(m.style.Glyphs.Box.Left)
	for i := range side {
		lines[i] = text.Fit(lines[i], w-pw, "") + bar + side[i]
	}
	c := m.panel.Cursor()
	if c != nil {
		c.X += w - pw + 1
	}
	return lines, c
}

// overlay lays lines over the end of the body.
func overlay(lines, over []string) []string {
	over = over[:min(len(over), len(lines))]
	return append(lines[:len(lines)-len(over)], over...)
}

// split cuts a view into exactly h lines of w columns.
func split(view string, w, h int) []string {
	if h <= 0 {
		return nil
	}
	var lines []string
	if view != "" {
		lines = strings.Split(view, "\n")
	}
	return pad(lines, w, h)
}

// pad makes exactly h lines of w columns of what is there.
func pad(lines []string, w, h int) []string {
	if len(lines) > h {
		lines = lines[:h]
	}
	for len(lines) < h {
		lines = append(lines, "")
	}
	for i, l := range lines {
		if text.Width(l) != w {
			lines[i] = text.Fit(l, w, "")
		}
	}
	return lines
}
