package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"parley/ui/tui/keymap"
	"parley/ui/tui/text"
)

// choice is a short list over the screen, to choose one of.
type choice struct {
	title  string
	items  []string
	filter string
	at     int
	done   func(m *screen, item string) tea.Cmd
}

func newChoice(title string, items []string, done func(m *screen, item string) tea.Cmd) *choice {
	return &choice{title: title, items: items, done: done}
}

// choicesLoaded opens a choice with what was asked for.
type choicesLoaded struct {
	title string
	items []string
	err   error
	done  func(m *screen, item string) tea.Cmd
}

func (c choicesLoaded) apply(m *screen) tea.Cmd {
	switch {
	case c.err != nil:
		m.trouble("the list cannot be read", c.err)
	case len(c.items) == 0:
		m.say("there is nothing to choose from")
	default:
		m.choice = newChoice(c.title, c.items, c.done)
	}
	return nil
}

// shown are the items that hold what was typed.
func (c *choice) shown() []string {
	if c.filter == "" {
		return c.items
	}
	var out []string
	for _, item := range c.items {
		if strings.Contains(strings.ToLower(item), strings.ToLower(c.filter)) {
			out = append(out, item)
		}
	}
	return out
}

// choiceKey takes a key while a choice is open: letters narrow it, Enter takes the chosen item.
func (m *screen) choiceKey(msg tea.KeyPressMsg) tea.Cmd {
	c := m.choice
	items := c.shown()
	switch a := m.keys.Find(keymap.Edit, msg); {
	case m.keys.Find(keymap.Composer, msg) == keymap.Send:
		m.choice = nil
		if c.at < len(items) {
			return c.done(m, items[c.at])
		}
	case a == keymap.EditUp:
		c.at = max(c.at-1, 0)
	case a == keymap.EditDown:
		c.at = min(c.at+1, max(len(items)-1, 0))
	case a == keymap.EditBackspace:
		if r := []rune(c.filter); len(r) > 0 {
			c.filter, c.at = string(r[:len(r)-1]), 0
		}
	case msg.Text != "":
		c.filter += msg.Text
		c.at = 0
	}
	return nil
}

// choiceLines draws the choice in w columns and at most h lines.
func (m *screen) choiceLines(w, h int) []string {
	c := m.choice
	items := c.shown()
	rows := min(len(items), max(h-3, 1))
	top := max(min(c.at-rows/2, len(items)-rows), 0)
	box, border := m.style.Glyphs.Box, m.style.Accent
	inner := max(w-4, 0)
	edge := func(l, r string) string {
		return border.Render(text.Cut(l+strings.Repeat(box.Top, max(w-2, 0))+r, w, ""))
	}
	side := border.Render(box.Left)
	line := func(s string) string {
		return text.Cut(side+" "+text.Fit(s, inner, m.style.Glyphs.Ellipsis)+" "+side, w, "")
	}
	title := m.style.Title.Render(c.title)
	if c.filter != "" {
		title += m.style.Accent.Render("  /" + text.Line(c.filter))
	}
	lines := []string{edge(box.TopLeft, box.TopRight), line(title)}
	for i := top; i < top+rows; i++ {
		item := "  " + text.Line(items[i])
		if i == c.at {
			item = m.style.Selection.Render(text.Fit(m.style.Glyphs.Cursor+" "+text.Line(items[i]), inner, m.style.Glyphs.Ellipsis))
		}
		lines = append(lines, line(item))
	}
	lines = append(lines, edge(box.BottomLeft, box.BottomRight))
	return lines[:min(len(lines), max(h, 0))]
}
