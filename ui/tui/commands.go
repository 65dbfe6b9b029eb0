package tui

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"parley/themes"
	"parley/ui/tui/text"
)

// command is one slash command.
type command struct {
	name    string
	aliases []string
	args    string // as the help shows them
	help    string
	run     func(m *screen, arg string) tea.Cmd
}

// commands returns the slash commands in the order of the help.
func commands() []command {
	return []command{
		{"new", nil, "", "start a new session", func(m *screen, _ string) tea.Cmd { return m.open(m.opts.Backend.New) }},
		{"resume", []string{"sessions"}, "[text]", "choose a session to go on with", (*screen).commandResume},
		{"rename", nil, "title", "give the session a title", (*screen).commandRename},
		{"back", nil, "[text]", "end the inner chat with the text as its result", (*screen).commandBack},
		{"compact", nil, "[hint]", "sum up the older part of the chat for the model", (*screen).commandCompact},
		{"calls", nil, "[filter]", "show the call panel", (*screen).commandCalls},
		{"cancel", nil, "2.1", "cancel a running call", (*screen).commandCancel},
		{"queue", nil, "[clear]", "show or clear the queued messages", (*screen).commandQueue},
		{"mode", nil, "ask|edits|plan|auto", "what is asked before it runs", (*screen).commandMode},
		{"model", nil, "[provider/name]", "the model, from the next turn on", (*screen).commandModel},
		{"theme", nil, "[name]", "the colours", (*screen).commandTheme},
		{"copy", nil, "[n]", "copy the newest reply, or the nth newest", (*screen).commandCopy},
		{"status", nil, "", "session, model, mode, cost", (*screen).commandStatus},
		{"help", []string{"keys"}, "", "keys and commands", func(m *screen, _ string) tea.Cmd { m.showHelp(); return nil }},
		{"quit", []string{"exit"}, "", "leave", func(*screen, string) tea.Cmd { return tea.Quit }},
	}
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
	c, ok := findCommand(strings.TrimSpace(name))
	if !ok {
		m.say("there is no command /" + name + ": /help lists them; a space before the slash sends it as text")
		return nil
	}
	m.composer.Submit()
	m.note = note{}
	return tea.Batch(c.run(m, strings.TrimSpace(arg)), m.keepSoon())
}

// matchingCommands are the commands that what is being written may become, nil when it is none.
func (m *screen) matchingCommands() []command {
	s := m.composer.Value()
	if !strings.HasPrefix(s, "/") || strings.ContainsAny(s, " \n") {
		return nil
	}
	var out []command
	for _, c := range commands() {
		if strings.HasPrefix(c.name, s[1:]) {
			out = append(out, c)
		}
	}
	return out
}

// completeCommand writes out the name of a command as far as it is clear. It reports whether
// there was one to complete.
func (m *screen) completeCommand() bool {
	found := m.matchingCommands()
	if len(found) == 0 {
		return false
	}
	common := found[0].name
	for _, c := range found[1:] {
		for !strings.HasPrefix(c.name, common) {
			common = common[:len(common)-1]
		}
	}
	if len(found) == 1 {
		common += " "
	}
	m.composer.SetValue("/" + common)
	return true
}

func (m *screen) commandResume(arg string) tea.Cmd {
	if arg == "" && m.session.chat.Unfinished() && !m.session.running {
		return m.goOn()
	}
	return m.showPicker(arg)
}

func (m *screen) commandRename(arg string) tea.Cmd {
	if arg == "" {
		m.say("/rename needs the new title")
		return nil
	}
	return m.rename(m.session.row.ID, arg)
}

func (m *screen) commandBack(arg string) tea.Cmd {
	if m.session.running {
		m.say("a turn runs: Esc interrupts it, then /back works")
		return nil
	}
	chat := m.session.chat
	return m.startTurn("", func(ctx context.Context) error { return chat.Back(ctx, arg) })
}

func (m *screen) commandCompact(arg string) tea.Cmd {
	if m.session.running {
		m.say("a turn runs: Esc interrupts it, then /compact works")
		return nil
	}
	chat := m.session.chat
	return m.startTurn("", func(ctx context.Context) error { return chat.Compact(ctx, arg) })
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

// modes are what Shift+Tab goes through; auto is reached by /mode alone.
var modes = [...]string{"ask", "edits", "plan"}

func (m *screen) cycleMode() tea.Cmd {
	if m.session.chat == nil {
		return nil
	}
	i := slices.Index(modes[:], m.session.row.Mode)
	m.setMode(modes[(i+1)%len(modes)])
	return nil
}

func (m *screen) setMode(mode string) {
	if err := m.session.chat.SetMode(mode); err != nil {
		m.trouble("the mode cannot be changed", err)
		return
	}
	m.session.row = m.session.chat.Row()
	m.session.row.Mode = mode // auto is not kept in the row
	m.say("mode " + mode + ": " + modeHelp(mode))
}

func modeHelp(mode string) string {
	switch mode {
	case "ask":
		return "what only reads in the working folder runs, all else asks"
	case "edits":
		return "changes of files in the working folder run too"
	case "plan":
		return "nothing that changes anything runs"
	case "auto":
		return "everything runs unless a rule denies it or asks"
	}
	return ""
}

func (m *screen) commandMode(arg string) tea.Cmd {
	switch {
	case arg == "":
		m.say("mode " + m.session.row.Mode + ": " + modeHelp(m.session.row.Mode))
	case arg == "auto":
		m.choice = newChoice("Run everything without asking, for this process? Deny rules still hold.",
			[]string{"no, keep asking", "yes, run everything"}, func(m *screen, answer string) tea.Cmd {
				if strings.HasPrefix(answer, "yes") {
					m.setMode("auto")
				}
				return nil
			})
	case modeHelp(arg) == "":
		m.say(fmt.Sprintf("no mode %q: ask, edits, plan or auto", arg))
	default:
		m.setMode(arg)
	}
	return nil
}

func (m *screen) commandModel(arg string) tea.Cmd {
	if arg != "" {
		m.setModel(arg)
		return nil
	}
	backend := m.opts.Backend
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		names, err := backend.Models(ctx)
		return choicesLoaded{"Model from the next turn on", names, err, func(m *screen, name string) tea.Cmd {
			m.setModel(name)
			return nil
		}}
	})
}

func (m *screen) setModel(ref string) {
	if err := m.session.chat.SetModel(ref); err != nil {
		m.trouble("the model cannot be changed", err)
		return
	}
	m.session.row = m.session.chat.Row()
	m.say("model " + ref + " from the next turn on")
}

func (m *screen) commandTheme(arg string) tea.Cmd {
	if arg != "" {
		return m.loadTheme(arg)
	}
	dir := m.opts.ThemeDir
	return m.tasks.cmd(func(context.Context) tea.Msg {
		return choicesLoaded{"Theme", themes.Names(dir), nil, func(m *screen, name string) tea.Cmd { return m.loadTheme(name) }}
	})
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

type themeLoaded struct {
	theme themes.Theme
	err   error
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

// commandHints shows the commands that what is written may become, in place of the hints.
func (m *screen) commandHints() []hint {
	var out []hint
	for _, c := range m.matchingCommands() {
		out = append(out, hint{key: "/" + c.name, short: "/" + c.name, word: c.help})
	}
	if len(out) > 1 {
		for i := range out {
			out[i].word = ""
		}
	}
	return out
}
