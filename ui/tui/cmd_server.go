package tui

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"parley/toolrt/mcp"
	"parley/ui/tui/text"
)

func serverCommands() []command {
	return []command{
		{name: "mcp", group: "program", args: "[reconnect|enable|disable] [server]", help: "the MCP servers and their state", looks: true, run: (*screen).commandServers, complete: serverItems},
		{name: "hooks", group: "program", help: "your own commands around calls, and what they said last", looks: true, run: (*screen).commandHooks},
	}
}

// serverItems are the words of /mcp with the servers that each may mean.
func serverItems(m *screen) []item {
	items := []item{{value: "reconnect", detail: "all that failed"}}
	s, ok := m.session.chat.(ServerChat)
	if !ok {
		return items
	}
	for _, st := range s.Servers() {
		words := []string{"reconnect", "disable"}
		if st.Status == mcp.Disabled {
			words = []string{"enable"}
		}
		for _, w := range words {
			items = append(items, item{value: w + " " + st.Name, detail: text.Line(st.String())})
		}
	}
	return items
}

// commandServers lists the MCP servers, or changes the state of one.
func (m *screen) commandServers(arg string) tea.Cmd {
	s, ok := m.session.chat.(ServerChat)
	if !ok {
		return m.cannot("look at MCP servers")
	}
	word, name, _ := strings.Cut(arg, " ")
	name = strings.TrimSpace(name)
	switch {
	case word == "reconnect":
		return m.changeServer(cmp.Or(name, "every server that failed")+": connected again when it is needed next", func() error { return s.ReconnectServer(name) })
	case name != "" && word == "enable":
		return m.changeServer(name+" is on", func() error { return s.EnableServer(name, true) })
	case name != "" && word == "disable":
		return m.changeServer(name+" is off in this session", func() error { return s.EnableServer(name, false) })
	case word != "":
		m.say("/mcp lists the servers; /mcp reconnect [NAME], enable NAME and disable NAME change one")
		return nil
	}
	states := s.Servers()
	if len(states) == 0 {
		m.say("no MCP servers: the settings have none (key mcp), and the program has used none yet")
		return nil
	}
	m.choice = newChoice("MCP servers", stateItems(states), func(m *screen, name string) tea.Cmd { return m.serverChosen(s, name) })
	return nil
}

func stateItems(states []mcp.State) []item {
	var items []item
	for _, st := range states {
		items = append(items, item{value: st.Name, detail: text.Line(st.String())})
	}
	return items
}

// serverChosen tells about one server and says what can be done with it.
func (m *screen) serverChosen(s ServerChat, name string) tea.Cmd {
	for _, st := range s.Servers() {
		if st.Name != name {
			continue
		}
		title := name + ": " + text.Line(st.String()) + " (" + text.Line(st.Line) + ")"
		for _, r := range st.Remarks {
			title += "\n" + text.Line(r)
		}
		items := []item{{value: "leave", label: "leave it as it is"}, {value: "reconnect", label: "connect again"}, {value: "disable", label: "switch it off for this session"}}
		if st.Status == mcp.Disabled {
			items = []item{{value: "leave", label: "leave it as it is"}, {value: "enable", label: "switch it on"}}
		}
		m.choice = newChoice(title, items, func(m *screen, word string) tea.Cmd {
			if word == "leave" {
				return nil
			}
			return m.commandServers(word + " " + name)
		})
	}
	return nil
}

// changeServer does what may wait for a server to end, and says so.
func (m *screen) changeServer(said string, do func() error) tea.Cmd {
	g := gen(m.session.gen)
	return m.tasks.cmd(func(context.Context) tea.Msg { return serverChanged{g, said, do()} })
}

type serverChanged struct {
	gen
	said string
	err  error
}

func (c serverChanged) take(m *screen) tea.Cmd {
	if c.err != nil {
		m.trouble("the server stays as it is", c.err)
		return nil
	}
	m.say(c.said)
	return nil
}

// commandHooks shows the hooks and what they said last.
func (m *screen) commandHooks(string) tea.Cmd {
	h, ok := m.session.chat.(Hooked)
	if !ok {
		return m.cannot("look at hooks")
	}
	states := h.HookStates()
	if len(states) == 0 {
		m.say("no hooks: the settings' key hooks holds commands that run before and after calls")
		return nil
	}
	var lines []string
	for _, s := range states {
		when := "before"
		if s.After {
			when = "after"
		}
		last := "has not run in this process"
		if s.Runs > 0 {
			last = count(s.Runs, "run") + ", the last for " + text.Line(s.Last)
		}
		lines = append(lines, fmt.Sprintf("%s %s: %s", when, text.Line(cmp.Or(s.Tool, "every tool")), text.Line(s.Command)), "  "+last, "")
	}
	m.read(reader{title: "Hooks", body: strings.TrimRight(strings.Join(lines, "\n"), "\n")})
	return nil
}
