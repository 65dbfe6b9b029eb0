package picker

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"parley/agent/model"
	"parley/agent/record"
	"parley/ui/tui/text"
)

// Preview asks for the end of a session's conversation, to be given to SetPreview.
type Preview struct{ ID string }

// previewDue says that the cursor has rested on a session.
type previewDue struct{ id string }

// previewWait is how long the cursor must rest before a session is looked into.
const previewWait = 150 * time.Millisecond

// SetPreview gives the end of a session's conversation, oldest first.
func (m *Model) SetPreview(id string, messages []record.Message) {
	m.previewOf, m.messages = id, messages
}

// wantPreview asks for the preview of the chosen session a moment later, unless it is there.
func (m *Model) wantPreview() tea.Cmd {
	s := m.chosen()
	if s == nil || s.ID == m.previewOf || !m.preview && !m.twoColumns() {
		return nil
	}
	id := s.ID
	return tea.Tick(previewWait, func(time.Time) tea.Msg { return previewDue{id} })
}

// previewLines are the last messages of the chosen session, at most h lines.
func (m *Model) previewLines(s record.Session, w, h int) []string {
	if s.ID != m.previewOf || h <= 0 {
		return nil
	}
	var lines []string
	for _, msg := range m.messages {
		who, said := "@"+msg.Agent, msg.Message.Text()
		switch {
		case msg.Notice != "":
			who, said = "", msg.Notice
		case msg.Message.Role == model.User:
			who = "you"
		case msg.Message.Role != model.Assistant:
			continue
		}
		said = strings.TrimSpace(said)
		for _, c := range msg.Message.Calls() {
			said += " [" + c.Function.Name + "]"
		}
		if said == "" {
			continue
		}
		head := text.Fit(text.Line(who), 10, m.style.Glyphs.Ellipsis) + " "
		for i, l := range text.Wrap(text.Line(said), max(w-len("0123456789 "), 8)) {
			if i == 2 {
				lines[len(lines)-1] += m.style.Glyphs.Ellipsis
				break
			}
			if i == 0 {
				lines = append(lines, m.style.Muted.Render(head)+l)
			} else {
				lines = append(lines, text.Spaces(11)+l)
			}
		}
	}
	return lines[max(len(lines)-h, 0):]
}
