package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"parley/ui/tui/text"
)

// command is one slash command.
type command struct {
	name    string
	aliases []string
	group   string
	args    string // as the help shows them
	help    string
	// looks says that it may be carried out while a turn runs; others wait for its end.
	looks bool
	// needs says that it means nothing without an argument.
	needs bool
	run   func(m *screen, arg string) tea.Cmd
	// complete gives what the argument may be; nil when nothing is known.
	complete func(m *screen) []item
}

// commands returns the slash commands in the order of the help.
func commands() []command {
	return slices.Concat(sessionCommands(), agentCommands(), callCommands(), ruleCommands(), secretCommands(), modelCommands(), serverCommands(), pageCommands())
}

func callCommands() []command {
	return []command{
		{name: "calls", group: "calls", args: "[filter]", help: "show the call panel", looks: true, run: (*screen).commandCalls, complete: filterItems},
		{name: "call", group: "calls", args: "2.1", help: "show one call", looks: true, needs: true, run: (*screen).commandCall, complete: callItems},
		{name: "cancel", group: "calls", args: "2.1", help: "cancel a running call", looks: true, needs: true, run: (*screen).commandCancel, complete: runningItems},
		{name: "rerun", group: "calls", args: "2.1", help: "run a call again; it is judged as any other", needs: true, run: (*screen).commandRerun, complete: callItems},
		{name: "bg", group: "calls", args: "[2.1]", help: "commands in the background, or move a call there", looks: true, run: (*screen).commandBackground, complete: runningItems},
		{name: "queue", group: "calls", args: "[clear]", help: "show or clear the queued messages", looks: true, run: (*screen).commandQueue, complete: words("clear")},
	}
}

// words completes an argument that is one of a few words.
func words(values ...string) func(*screen) []item {
	return func(*screen) []item { return plainItems(values...) }
}

// findCommand returns the command of a name or alias.
func findCommand(name string) (command, bool) {
	for _, c := range commands() {
		if c.name == name || slices.Contains(c.aliases, name) {
			return c, true
		}
	}
	return command{}, false
}

// allCommands are the screen's own commands and those of the session.
func (m *screen) allCommands() []command { return append(commands(), m.customCommands()...) }

// findCommand returns the command of a name or alias, the session's own included.
func (m *screen) findCommand(name string) (command, bool) {
	if c, ok := findCommand(name); ok {
		return c, true
	}
	for _, c := range m.customCommands() {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

// isCommand reports whether a text is meant as a command: a slash and a word on one line. A path
// such as /etc/hosts is text.
func isCommand(s string) bool {
	name, ok := strings.CutPrefix(s, "/")
	name, _, _ = strings.Cut(name, " ")
	return ok && name != "" && !strings.ContainsAny(name, "/.\n")
}

// command carries out what stands in the composer. What is not known stays there.
func (m *screen) command(s string) tea.Cmd {
	name, arg, _ := strings.Cut(strings.TrimPrefix(s, "/"), " ")
	c, ok := m.findCommand(strings.TrimSpace(name))
	if !ok {
		again := func(m *screen) tea.Cmd {
			if m.composer.Value() != s {
				return nil
			}
			return m.command(s)
		}
		if load, waits := m.awaitCustoms(again); waits {
			return load
		}
		m.say("there is no command /" + text.Line(name) + ": /help lists them; a space before the slash sends it as text")
		return nil
	}
	if m.session.running && !c.looks {
		cmd := m.enqueue()
		m.say("/" + c.name + " waits for the end of the turn")
		return cmd
	}
	m.composer.Submit()
	return tea.Batch(m.runCommand(c, strings.TrimSpace(arg)), m.keepSoon())
}

// runCommand carries out a command. What waits for the end of a turn does so, however it is asked for.
func (m *screen) runCommand(c command, arg string) tea.Cmd {
	m.note = note{}
	if m.session.running && !c.looks {
		m.session.queue = append(m.session.queue, strings.TrimSpace("/"+c.name+" "+arg))
		m.say("/" + c.name + " waits for the end of the turn")
		return m.keepSoon()
	}
	if c.needs && arg == "" {
		m.say(fmt.Sprintf("/%s needs more: /%s %s", c.name, c.name, c.args))
		return nil
	}
	return c.run(m, arg)
}

func (m *screen) commandCalls(arg string) tea.Cmd {
	m.panelOpen = true
	m.setFocus(onPanel)
	m.panel.Filter(arg)
	return nil
}

func (m *screen) commandCancel(arg string) tea.Cmd {
	path, ok := m.panel.Find(arg)
	if !ok {
		m.say(fmt.Sprintf("no running call %q: the call panel shows their numbers", arg))
		return nil
	}
	m.session.chat.CancelCall(path)
	return nil
}

func (m *screen) commandQueue(arg string) tea.Cmd {
	q := m.session.queue
	switch {
	case len(q) == 0:
		m.say("nothing is queued")
	case arg == "clear":
		for _, t := range q {
			m.composer.AddHistory(t)
		}
		m.session.queue = nil
		m.say(count(len(q), "message") + " taken off the queue: Up brings them back")
	default:
		lines := make([]string, len(q))
		for i, t := range q {
			lines[i] = fmt.Sprintf("%d: %s", i+1, text.Line(t))
		}
		m.say(strings.Join(lines, "\n"))
	}
	return nil
}
