package tui

import (
	"errors"
	"fmt"
	"strings"

	"parley/agent"
	"parley/ui/tui/text"
)

// note is what the screen itself has to say, above the composer, until the next one or Esc.
type note struct {
	text  string
	fault bool
}

// say shows a line.
func (m *screen) say(line string) { m.note = note{text: line} }

// trouble shows what went wrong, and what to do about it where that is known.
func (m *screen) trouble(what string, err error) {
	line := what + ": " + err.Error()
	if errors.Is(err, agent.ErrLeased) {
		line = what + ": it is open in another parley"
	}
	if todo := remedy(err); todo != "" {
		line += "\n" + todo
	}
	m.note = note{text: line, fault: true}
}

// remedy says what a person can do about an error, "" when nothing is known.
func remedy(err error) string {
	switch {
	case errors.Is(err, agent.ErrLeased):
		return "Leave it there first, or fork it: f in the list begins a copy; parley sessions show reads it."
	case errors.Is(err, agent.ErrNotFound):
		return "/resume lists the sessions there are."
	}
	return ""
}

// noteLines draws the note in at most h lines.
func (m *screen) noteLines(w, h int) []string {
	if m.find != nil {
		m.find.SetSize(w-3, 1, false)
		return []string{text.Fit(" / "+m.find.View(), w, "")}
	}
	if m.note.text == "" || h <= 0 {
		return nil
	}
	st := m.style.Muted
	if m.note.fault {
		st = m.style.Error
	}
	lines := text.Wrap(text.Clean(strings.TrimSpace(m.note.text)), max(w-2, 1))
	if len(lines) > h {
		lines = lines[:h]
		lines[h-1] = text.Cut(lines[h-1], max(w-4, 0), "") + m.style.Glyphs.Ellipsis
	}
	for i, l := range lines {
		lines[i] = text.Fit(" "+st.Render(l), w, "")
	}
	return lines
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
