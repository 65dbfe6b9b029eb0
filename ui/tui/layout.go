package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"parley/ui/tui/keymap"
	"parley/ui/tui/prompt"
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
	v.WindowTitle = m.windowTitle()
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
	if m.choice != nil {
		cursor = nil
		main = m.overlayChoice(main, m.w)
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
	case m.page == pageHelp:
		return m.helpLines(w, h), nil
	case m.page == pagePicker:
		note := m.noteLines(w, h/3)
		m.picker.SetSize(w, h-len(note))
		return append(split(m.picker.View(), w, h-len(note)), note...), m.picker.Cursor()
	case m.prompt() != nil && m.prompt().FullScreen():
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

// parts are what stands below the chat, from top to bottom.
type parts struct {
	prompt, note, queue, composer []string
	promptCursor                  *tea.Cursor
}

func (p parts) height() int {
	return len(p.prompt) + len(p.note) + len(p.queue) + len(p.composer)
}

// below is how many lines stand below the chat.
func (m *screen) below(w, h int) int { return m.parts(w, h).height() }

// parts draws what stands below the chat in h lines, of which the chat keeps at least one.
func (m *screen) parts(w, h int) parts {
	var p parts
	boxed := h >= 12
	rows := min(max(h/3, 1), 8)
	if m.prompt() != nil {
		rows = min(rows, max(h/5, 1))
	}
	m.composer.SetAgent(m.session.row.Agent)
	m.composer.SetSize(w, rows, boxed)
	p.composer = strings.Split(m.composer.View(), "\n")
	room := h - len(p.composer) - 1
	if m.prompt() != nil && room > 0 {
		p.prompt, p.promptCursor = m.drawPrompt(w, min(room, max((m.h+1)/2, 3)))
		room -= len(p.prompt)
	}
	p.note = m.noteLines(w, min(room, max(h/5, 1)))
	room -= len(p.note)
	p.queue = m.queueLines(w, min(room, max(h/8, 1)))
	return p
}

// drawChat draws conversation, question, note, queue and composer.
func (m *screen) drawChat(w, h int) ([]string, *tea.Cursor) {
	p := m.parts(w, h)
	top := max(h-p.height(), 0)
	m.transcript.SetSize(w, top)
	lines := m.chatLines(w, top)
	y := len(lines)
	lines = append(lines, p.prompt...)
	lines = append(lines, p.note...)
	lines = append(lines, p.queue...)
	composerY := len(lines)
	lines = append(lines, p.composer...)
	cursor := m.chatCursor(p, y, composerY)
	return pad(lines, w, h), cursor
}

// chatCursor is where one writes.
func (m *screen) chatCursor(p parts, promptY, composerY int) *tea.Cursor {
	var c *tea.Cursor
	switch {
	case m.find != nil:
		if c = m.find.Cursor(); c != nil {
			c.X += 3
			c.Y += promptY + len(p.prompt)
		}
	case m.focus != onComposer:
	case m.asking.armed && m.prompt() != nil:
		if c = p.promptCursor; c != nil {
			c.Y += promptY
		}
	default:
		if c = m.composer.Cursor(); c != nil {
			c.Y += composerY
		}
	}
	return c
}

// chatCache is the conversation as last drawn, cut into lines: it changes less often than the frame.
type chatCache struct {
	view  string
	w, h  int
	lines []string
}

// chatLines is the conversation in exactly h lines of w columns. The slice is the caller's.
func (m *screen) chatLines(w, h int) []string {
	c := &m.drawnChat
	if view := m.chatView(w, h); view != c.view || w != c.w || h != c.h {
		*c = chatCache{view, w, h, split(view, w, h)}
	}
	return slices.Clone(c.lines)
}

// chatView is the conversation, or the greeting as long as nothing was said.
func (m *screen) chatView(w, h int) string {
	if m.session.blank && !m.session.loading && m.session.chat != nil {
		if g := m.opts.Backend.Greeting(); g != "" {
			lines := text.Wrap(text.Clean(g), max(w-2, 1))
			for i := range lines {
				lines[i] = " " + lines[i]
			}
			return strings.Join(lines, "\n")
		}
	}
	return m.transcript.View()
}

// drawPrompt draws the question shown in at most h lines.
func (m *screen) drawPrompt(w, h int) ([]string, *tea.Cursor) {
	p := m.prompt()
	st := prompt.State{
		Armed: m.asking.armed, Composing: !m.asking.armed && !m.composer.Empty(),
		Place: m.asking.at + 1, Total: len(m.asking.prompts),
		QueuedBehind: len(m.asking.prompts) - m.asking.at - 1, Now: m.opts.Now(),
	}
	view := p.View(w, h, st, m.style)
	if view == "" {
		return nil, nil
	}
	lines := strings.Split(view, "\n")
	if len(lines) > h {
		lines = lines[:h]
	}
	for i := range lines {
		lines[i] = text.Fit(lines[i], w, "")
	}
	if !m.asking.armed {
		return lines, nil
	}
	c := p.Cursor(w, h, st, m.style)
	if c != nil && (c.X < 0 || c.X >= w || c.Y < 0 || c.Y >= len(lines)) {
		c = nil
	}
	return lines, c
}

// queueLines say what waits for the end of the turn or for the next model call.
func (m *screen) queueLines(w, h int) []string {
	var lines []string
	for _, s := range m.session.steered {
		lines = append(lines, text.Fit(m.style.Muted.Render(" handed over: "+text.Line(s)), w, m.style.Glyphs.Ellipsis))
	}
	for i, s := range m.session.queue {
		right := ""
		if i == len(m.session.queue)-1 {
			right = "  " + m.keys.Key(keymap.Dequeue) + " edit "
		}
		left := fmt.Sprintf(" queued %d: %s", i+1, text.Line(s))
		lines = append(lines, m.style.Muted.Render(text.Spread(left, right, w, m.style.Glyphs.Ellipsis)))
	}
	if len(lines) > h {
		lines = lines[len(lines)-max(h, 0):]
	}
	return lines
}

// overlayChoice lays the open choice over the end of the body.
func (m *screen) overlayChoice(lines []string, w int) []string {
	over := m.choiceLines(w, min(len(lines), 14))
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
