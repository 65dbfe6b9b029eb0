package tui

import (
	"fmt"
	"strings"

	"parley/ui/tui/text"
)

// showHelp opens the page of keys and commands, which is made from the key map and the table of
// commands.
// signs are the states of calls as they are shown.
var signs = [...]struct{ word, meaning string }{
	{"ok", "done"}, {"run", "running"}, {"ASK", "asks for your say"}, {"$", "asks for a credential or a value"},
	{"--", "not started, or skipped"}, {"wait", "waits for another call"}, {"xx", "failed"}, {"no", "denied"},
	{"//", "cancelled or interrupted"}, {"=", "taken from the log, not run again"},
}

func (m *screen) showHelp() {
	title := "Keys and commands"
	if m.opts.Version != "" {
		title += "   parley " + m.opts.Version
	}
	m.read(reader{title: title, lines: m.helpText})
}

// helpText is the whole page for a width.
func (m *screen) helpText(w int) []string {
	var lines []string
	add := func(left, right string) {
		column := min(24, max(w/3, 8))
		for i, l := range text.Wrap(right, max(w-column-3, 10)) {
			head := text.Spaces(column)
			if i == 0 {
				head = text.Fit(left, column, m.style.Glyphs.Ellipsis)
			}
			lines = append(lines, "  "+m.style.Key.Render(head)+" "+l)
		}
	}
	section := func(title string) {
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, " "+m.style.Heading.Render(title))
	}
	for _, c := range m.keys.Contexts() {
		section(string(c))
		for _, b := range m.keys.Bindings(c) {
			if len(b.Keys()) > 0 {
				help := b.Help
				if !b.Fixed { // its name in keys.json
					help += "  " + m.style.Muted.Render(string(b.Action))
				}
				add(b.AllKeys(), help)
			}
		}
	}
	group := ""
	for _, c := range m.allCommands() {
		if c.group != group {
			group = c.group
			section("Commands: " + group)
		}
		add(strings.TrimSpace(fmt.Sprintf("/%s %s", c.name, c.args)), c.help)
	}
	section("Signs of a call")
	for _, s := range signs {
		add(s.word, s.meaning)
	}
	section("In the text")
	add("@", "a file, an agent or a tool by a part of its name; ./ and ../ list folders, ignored files too")
	add("/", "a command, on an empty line")
	add("!", "before a command line: it runs, judged as any other call, and the model is not asked")
	section("If the terminal is left in a strange state")
	add("reset", "the shell's command sets the terminal right again")
	return lines
}
