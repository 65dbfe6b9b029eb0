package tui

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"parley/themes"
)

func pageCommands() []command {
	return []command{
		{name: "tools", group: "program", help: "the tools of the program and their parameters", looks: true, run: (*screen).commandTools},
		{name: "init", group: "program", help: "ask for an AGENTS.md that describes this project", run: func(m *screen, _ string) tea.Cmd { return m.run(initMessage) }},
		{name: "history", group: "program", args: "[text]", help: "what tools have run, in all sessions", looks: true, run: (*screen).commandHistory},
		{name: "sql", group: "program", args: "SELECT …", help: "ask the record with SQL: parley sql --help names the views", looks: true, needs: true, run: func(m *screen, query string) tea.Cmd { return m.report("sql", "sql", query) }},
		{name: "diff", group: "program", help: "files that tools have changed in this session", looks: true, run: (*screen).commandDiff},
		{name: "search", group: "program", args: "text", help: "search in this chat", looks: true, needs: true, run: (*screen).commandSearch},
		{name: "theme", group: "program", args: "[name]", help: "the colours", looks: true, run: (*screen).commandTheme, complete: func(m *screen) []item { return plainItems(themes.Names(m.opts.ThemeDir)...) }},
		{name: "copy", group: "program", args: "[n]", help: "copy the newest reply, or the nth newest", looks: true, run: (*screen).commandCopy},
		{name: "editor", group: "program", help: "write in the external editor", looks: true, run: func(m *screen, _ string) tea.Cmd { return m.editDraft() }},
		{name: "status", group: "program", help: "session, model, mode, cost", looks: true, run: (*screen).commandStatus},
		{name: "config", group: "program", help: "the settings that hold", looks: true, run: func(m *screen, _ string) tea.Cmd { return m.report("settings", "config", "show") }},
		{name: "doctor", group: "program", help: "what parley finds on this system", looks: true, run: func(m *screen, _ string) tea.Cmd { return m.report("doctor", "doctor") }},
		{name: "help", aliases: []string{"keys"}, group: "program", help: "keys and commands", looks: true, run: func(m *screen, _ string) tea.Cmd { m.showHelp(); return nil }},
		{name: "quit", aliases: []string{"exit"}, group: "program", help: "leave", looks: true, run: func(m *screen, _ string) tea.Cmd { return m.leave("/quit") }},
	}
}

// initMessage asks for a description of the project that agents read.
const initMessage = "Look at this project and write AGENTS.md: what it is, how it is built and tested, how its folders are laid out, and which conventions its code follows. Keep it under 60 lines. If there is one already, correct and complete it."

// report shows what a command of the command line prints.
func (m *screen) report(title string, args ...string) tea.Cmd {
	r, ok := m.opts.Backend.(Reporter)
	if !ok {
		return m.cannot("show this")
	}
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		out, err := r.Report(ctx, args...)
		return reported{title, out, err}
	})
}

type reported struct {
	title, out string
	err        error
}

func (r reported) apply(m *screen) tea.Cmd {
	switch out := strings.TrimRight(r.out, "\n"); {
	case r.err != nil && out == "":
		m.trouble(r.title, r.err)
	case out == "":
		m.say(r.title + ": nothing to show")
	default:
		if r.err != nil {
			out += "\n\n" + r.err.Error()
		}
		m.read(reader{title: strings.ToUpper(r.title[:1]) + r.title[1:], body: m.clean(out)})
	}
	return nil
}

func (m *screen) commandTools(string) tea.Cmd {
	if program := m.session.row.Program; program != "" {
		return m.report("tools", "tools", program)
	}
	return m.report("tools", "tools")
}

func (m *screen) commandHistory(arg string) tea.Cmd {
	if arg != "" {
		return m.report("history", "history", "--text", arg)
	}
	return m.report("history", "history")
}

func (m *screen) commandSearch(arg string) tea.Cmd {
	m.setFocus(onChat)
	m.search(arg)
	return nil
}

type themeLoaded struct {
	theme themes.Theme
	err   error
}

// commandTheme sets the theme, or lists those there are: the one under the cursor is shown at once.
func (m *screen) commandTheme(arg string) tea.Cmd {
	if arg != "" {
		return m.loadTheme(arg)
	}
	dir, g, before := m.opts.ThemeDir, gen(m.session.gen), m.theme
	return m.tasks.cmd(func(context.Context) tea.Msg {
		c := newChoice("Theme", plainItems(themes.Names(dir)...), (*screen).loadTheme)
		c.moved = func(m *screen, name string) tea.Cmd {
			c := m.choice
			return m.tasks.cmd(func(context.Context) tea.Msg {
				t, err := themes.Load(name, dir)
				return themeTried{c, t, err}
			})
		}
		c.closed = func(m *screen) { m.setStyle(before) }
		return choiceLoaded{g, c, nil}
	})
}

// themeTried is the theme under the cursor of the list of themes.
type themeTried struct {
	choice *choice
	theme  themes.Theme
	err    error
}

func (t themeTried) apply(m *screen) tea.Cmd {
	if m.choice != t.choice {
		return nil // it was closed meanwhile
	}
	if t.err == nil {
		m.setStyle(t.theme)
	}
	return nil
}

// loadTheme reads a theme and stores the choice.
func (m *screen) loadTheme(name string) tea.Cmd {
	dir, backend := m.opts.ThemeDir, m.opts.Backend
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		t, err := themes.Load(name, dir)
		if err == nil {
			err = backend.SaveConfig(ctx, "theme", name)
		}
		return themeLoaded{t, err}
	})
}

func (t themeLoaded) apply(m *screen) tea.Cmd {
	if t.err != nil {
		m.trouble("the theme cannot be used", t.err)
		return nil
	}
	m.opts.AutoTheme = false
	m.setStyle(t.theme)
	return nil
}

// background takes the light theme on a light terminal, if none was chosen.
func (m *screen) background(msg tea.BackgroundColorMsg) tea.Cmd {
	if !m.opts.AutoTheme || msg.IsDark() {
		return nil
	}
	return m.tasks.cmd(func(context.Context) tea.Msg {
		t, err := themes.Load(themes.Light, "")
		return themeLoaded{t, err}
	})
}

func (m *screen) commandCopy(arg string) tea.Cmd {
	n := 1
	if arg != "" {
		var err error
		if n, err = strconv.Atoi(arg); err != nil || n < 1 {
			m.say("/copy takes a number: 1 is the newest reply")
			return nil
		}
	}
	r := m.session.replies
	if n > len(r) {
		m.say("there is no such reply here")
		return nil
	}
	return m.copyText(r[len(r)-n])
}

func (m *screen) commandStatus(string) tea.Cmd {
	r := m.session.row
	lines := []string{
		fmt.Sprintf("parley %s   session %s", m.opts.Version, r.ID),
		fmt.Sprintf("agent @%s   model %s   mode %s", r.Agent, r.Model, r.Mode),
		fmt.Sprintf("%s, %s, %s in all, $%.4f", count(r.Turns, "turn"), count(r.Calls, "call"), count(r.Usage.TotalTokens, "token"), float64(r.CostMicro)/1e6),
		"folder " + r.Dir,
	}
	if m.opts.StatusNote != "" {
		lines = append(lines, m.opts.StatusNote)
	}
	m.say(strings.Join(lines, "\n"))
	return nil
}
