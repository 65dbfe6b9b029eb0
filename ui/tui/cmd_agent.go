package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"parley/ui/tui/text"
)

func agentCommands() []command {
	return []command{
		{name: "agents", group: "agents", help: "the agents of the program", looks: true, run: (*screen).commandAgents},
		{name: "agent", group: "agents", args: "name", help: "start a new session with this agent", needs: true, run: (*screen).commandNew, complete: agentItems},
		{name: "handoff", group: "agents", args: "@name [text]", help: "ask the agent you talk to to hand over", needs: true, run: (*screen).commandHandoff, complete: handoffItems},
		{name: "back", group: "agents", args: "[text]", help: "end the inner chat with the text as its result", run: (*screen).commandBack},
		{name: "program", group: "agents", args: "file", help: "start a new session of another program", needs: true, run: (*screen).commandProgram},
		{name: "check", group: "agents", args: "[file]", help: "look for mistakes in the program", looks: true, run: (*screen).commandCheck},
	}
}

func (m *screen) commandBack(arg string) tea.Cmd {
	chat := m.session.chat
	return m.startTurn("", func(ctx context.Context) error { return chat.Back(ctx, arg) })
}

// agentItems are the agents of the program, as far as they are known.
func agentItems(m *screen) []item {
	var out []item
	for _, n := range m.suggest.names {
		if kind, about, _ := strings.Cut(n.detail, " "); kind == "agent" {
			out = append(out, item{value: n.value, label: n.label, detail: strings.TrimSpace(about)})
		}
	}
	return out
}

func handoffItems(m *screen) []item {
	items := agentItems(m)
	for i := range items {
		items[i].value = "@" + items[i].value
	}
	return items
}

// commandAgents lists the agents; one that is chosen can be handed over to or started with.
func (m *screen) commandAgents(string) tea.Cmd {
	p, ok := m.session.chat.(Programmed)
	if !ok {
		return m.cannot("list the program's agents")
	}
	g, talking := gen(m.session.gen), m.session.row.Agent
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		parts, err := p.ProgramParts(ctx)
		var items []item
		for _, part := range parts {
			if !part.Agent {
				continue
			}
			detail := part.Description
			switch {
			case part.Name == talking:
				detail = "you talk to it   " + detail
			case part.Entry:
				detail = "the program begins with it   " + detail
			}
			items = append(items, item{value: part.Name, label: "@" + part.Name, detail: detail})
		}
		c := newChoice("Agents", items, (*screen).agentChosen)
		c.empty = "the program has no agents"
		return choiceLoaded{g, c, err}
	})
}

func (m *screen) agentChosen(name string) tea.Cmd {
	if name == m.session.row.Agent {
		m.say("you talk to @" + text.Line(name) + " already")
		return nil
	}
	m.choice = newChoice("@"+name, []item{
		{value: "hand", label: "ask for a hand-over", detail: "the agent you talk to decides"},
		{value: "new", label: "start a new session with it"},
	}, func(m *screen, what string) tea.Cmd {
		c, _ := findCommand(map[string]string{"hand": "handoff", "new": "agent"}[what])
		return m.runCommand(c, "@"+name)
	})
	return nil
}

func (m *screen) commandHandoff(arg string) tea.Cmd {
	name, about, _ := strings.Cut(strings.TrimPrefix(arg, "@"), " ")
	message := "Please hand over to @" + name + "."
	if about = strings.TrimSpace(about); about != "" {
		message += " " + about
	}
	return m.run(message)
}

func (m *screen) commandProgram(arg string) tea.Cmd {
	s, ok := m.opts.Backend.(Starter)
	if !ok {
		return m.cannot("open programs")
	}
	return m.open(func(ctx context.Context) (Chat, error) { return s.NewProgram(ctx, arg) })
}

func (m *screen) commandCheck(arg string) tea.Cmd {
	if arg == "" {
		arg = m.session.row.Program
	}
	if arg == "" {
		m.say("this is parley's own program: /check FILE looks at another one")
		return nil
	}
	return m.report("check "+arg, "check", arg)
}
