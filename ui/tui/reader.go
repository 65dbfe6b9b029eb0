package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"parley/ui/tui/keymap"
	"parley/ui/tui/text"
)

// reader is a page of text that scrolls: the help, the context, what a command has to tell.
type reader struct {
	title string
	body  string // clean text, may hold looks; for copying and for lines
	// lines, unless nil, makes the lines for a width in place of body.
	lines func(w int) []string
	top   int
	back  page // what comes when it is closed; the chat unless said

	width int // what follows is of that width
	drawn []string
}

// read opens a page over the chat.
func (m *screen) read(r reader) {
	m.page, m.reader = pageReader, r
}

// readerKey scrolls the page; what has no meaning here closes it.
func (m *screen) readerKey(msg tea.KeyPressMsg) tea.Cmd {
	page := max(m.h-4, 1)
	r := &m.reader
	switch a := m.keys.Find(keymap.Chat, msg); {
	case a == keymap.ChatDown:
		r.top++
	case a == keymap.ChatUp:
		r.top--
	case a == keymap.ChatTop:
		r.top = 0
	case a == keymap.ChatEnd:
		r.top = 1 << 20
	case a == keymap.ChatCopy && r.body != "":
		return m.copyText(r.body)
	case m.keys.Find(keymap.Global, msg) == keymap.PageDown, msg.String() == "space":
		r.top += page
	case m.keys.Find(keymap.Global, msg) == keymap.PageUp:
		r.top -= page
	default:
		return m.closeReader()
	}
	return nil
}

// closeReader goes back to what was there before.
func (m *screen) closeReader() tea.Cmd {
	m.page = m.reader.back
	return m.rearm()
}

// readerLines draws the page in h lines.
func (m *screen) readerLines(w, h int) []string {
	r := &m.reader
	if r.drawn == nil || r.width != w {
		r.width = w
		if r.lines != nil {
			r.drawn = r.lines(w)
		} else {
			r.drawn = nil
			for _, l := range text.Wrap(r.body, max(w-2, 1)) {
				r.drawn = append(r.drawn, " "+l)
			}
		}
	}
	room := max(h-2, 1)
	r.top = max(min(r.top, len(r.drawn)-room), 0)
	right := ""
	if hidden := len(r.drawn) - room; hidden > 0 {
		right = m.style.Muted.Render(fmt.Sprintf("%d%% ", r.top*100/hidden))
	}
	out := []string{text.Spread(" "+m.style.Title.Render(text.Line(r.title)), right, w, m.style.Glyphs.Ellipsis), ""}
	for i := r.top; i < len(r.drawn) && len(out) < h; i++ {
		out = append(out, text.Fit(r.drawn[i], w, ""))
	}
	return pad(out, w, h)
}
