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

// parts are what stands below the chat, from top to bottom.
type parts struct {
	prompt, note, queue, suggest, composer []string
	promptCursor                           *tea.Cursor
}

func (p parts) height() int {
	return len(p.prompt) + len(p.note) + len(p.queue) + len(p.suggest) + len(p.composer)
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
		// Half of the height, and what the chat leaves empty.
		free := room + 1 - m.transcript.Rows(w, room)
		p.prompt, p.promptCursor = m.drawPrompt(w, min(room, max((m.h+1)/2, 3, free)))
		room -= len(p.prompt)
	}
	p.suggest = m.suggestLines(w, min(room, max(h/3, 1)))
	room -= len(p.suggest)
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
	lines = append(lines, p.suggest...)
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
	view := ""
	if m.batchShown() {
		view = m.asking.batch.View(w, h, m.style)
	} else {
		view = p.View(w, h, st, m.style)
	}
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
	if !m.asking.armed || m.batchShown() {
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
