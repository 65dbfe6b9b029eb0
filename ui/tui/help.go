package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"parley/ui/tui/keymap"
	"parley/ui/tui/text"
)

// help is the page of keys and commands.
type help struct{ top int }

func (m *screen) showHelp() {
	m.page, m.help = pageHelp, help{}
}

// helpKey scrolls the page; what has no meaning here closes it.
func (m *screen) helpKey(msg tea.KeyPressMsg) {
	page := max(m.h-3, 1)
	switch {
	case m.keys.Find(keymap.Chat, msg) == keymap.ChatDown:
		m.help.top++
	case m.keys.Find(keymap.Chat, msg) == keymap.ChatUp:
		m.help.top--
	case m.keys.Find(keymap.Chat, msg) == keymap.ChatTop:
		m.help.top = 0
	case m.keys.Find(keymap.Chat, msg) == keymap.ChatEnd:
		m.help.top = 1 << 20
	case m.keys.Find(keymap.Global, msg) == keymap.PageDown, msg.String() == "space":
		m.help.top += page
	case m.keys.Find(keymap.Global, msg) == keymap.PageUp:
		m.help.top -= page
	default:
		m.page = pageChat
	}
}

// helpLines draws the page in h lines.
func (m *screen) helpLines(w, h int) []string {
	lines := m.helpText(w)
	m.help.top = max(min(m.help.top, len(lines)-h), 0)
	lines = lines[m.help.top:]
	out := make([]string, 0, h)
	for i := 0; i < h; i++ {
		line := ""
		if i < len(lines) {
			line = lines[i]
		}
		out = append(out, text.Fit(line, w, ""))
	}
	return out
}

// helpText is the whole page, made from the key map and the table of commands.
func (m *screen) helpText(w int) []string {
	lines := []string{" " + m.style.Title.Render("Keys and commands")}
	if m.opts.Version != "" {
		lines[0] += m.style.Muted.Render("   parley " + m.opts.Version)
	}
	add := func(left, right string) {
		const column = 24
		for i, l := range text.Wrap(right, max(w-column-3, 10)) {
			head := text.Spaces(column)
			if i == 0 {
				head = text.Fit(left, column, m.style.Glyphs.Ellipsis)
			}
			lines = append(lines, "  "+m.style.Key.Render(head)+" "+l)
		}
	}
	section := func(title string) { lines = append(lines, "", " "+m.style.Heading.Render(title)) }
	for _, c := range m.keys.Contexts() {
		section(string(c))
		for _, b := range m.keys.Bindings(c) {
			if len(b.Keys()) > 0 {
				add(b.AllKeys(), b.Help)
			}
		}
	}
	section("Commands")
	for _, c := range commands() {
		left := strings.TrimSpace(fmt.Sprintf("/%s %s", c.name, c.args))
		add(left, c.help)
	}
	section("If the terminal is left in a strange state")
	add("reset", "the shell's command sets the terminal right again")
	return lines
}
