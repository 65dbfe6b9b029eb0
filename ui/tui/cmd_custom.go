package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// CustomCommand is a command of the person's own, which sends a text, or of the program, which runs a
// tool.
type CustomCommand struct {
	Name, Help string
	// Args is what may follow the name, as the help shows it; "" where nothing may.
	Args string
	// Text is sent as a message; see [Expand].
	Text string
	// Tool is the id of the tool that it runs, "" where Text is sent. Param is the parameter that
	// takes what follows the name, "" where that must be a JSON object.
	Tool, Param string
}

// Customized is a Chat with commands beside the screen's own.
type Customized interface {
	// CustomCommands reads them. What can be read is returned with the error too.
	CustomCommands(ctx context.Context) ([]CustomCommand, error)
}

var argumentPlace = regexp.MustCompile(`\$(ARGUMENTS|[1-9])`)

// Expand fills the places of a command's text: $ARGUMENTS with all that follows the command's name, $1
// to $9 with its words. Arguments that have no place come after the text.
func Expand(text, args string) string {
	args = strings.TrimSpace(args)
	words := strings.Fields(args)
	if !argumentPlace.MatchString(text) {
		if args != "" {
			text = strings.TrimRight(text, "\n") + "\n\n" + args
		}
		return text
	}
	return argumentPlace.ReplaceAllStringFunc(text, func(found string) string {
		n, err := strconv.Atoi(found[1:])
		switch {
		case err != nil:
			return args
		case n <= len(words):
			return words[n-1]
		}
		return ""
	})
}

// customCommands are those of the session that were read, as commands of the screen.
func (m *screen) customCommands() []command {
	var out []command
	for _, c := range m.session.customs {
		out = append(out, command{name: c.Name, group: "your own and the program's", args: c.Args, help: c.Help,
			run: func(m *screen, arg string) tea.Cmd { return m.runCustom(c, arg) }})
	}
	return out
}

func (m *screen) runCustom(c CustomCommand, arg string) tea.Cmd {
	if c.Tool == "" {
		return m.run(Expand(c.Text, arg))
	}
	runner, ok := m.session.chat.(ToolRunner)
	if !ok {
		return m.cannot("run tools by a command")
	}
	args := "{}"
	switch {
	case strings.HasPrefix(arg, "{") && json.Valid([]byte(arg)):
		args = arg
	case arg != "" && c.Param == "":
		m.say(fmt.Sprintf("/%s takes a JSON object: /%s %s", c.Name, c.Name, c.Args))
		return nil
	case arg != "":
		data, err := json.Marshal(map[string]string{c.Param: arg})
		if err != nil {
			m.trouble("the arguments cannot be given", err)
			return nil
		}
		args = string(data)
	}
	return m.runTurn("", func(ctx context.Context) error { return runner.RunTool(ctx, c.Tool, args) })
}

// awaitCustoms has then wait until the session's own commands are read. False means that they are, or
// that there are none: nothing is to be waited for.
func (m *screen) awaitCustoms(then func(m *screen) tea.Cmd) (tea.Cmd, bool) {
	if _, ok := m.session.chat.(Customized); !ok || m.session.customsRead {
		return nil, false
	}
	m.session.customsThen = then
	return m.loadCustoms(), true
}

// loadCustoms reads the session's own commands, once.
func (m *screen) loadCustoms() tea.Cmd {
	c, ok := m.session.chat.(Customized)
	if !ok || m.session.customsAsked {
		return nil
	}
	m.session.customsAsked = true
	g := gen(m.session.gen)
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		list, err := c.CustomCommands(ctx)
		return customsLoaded{g, list, err}
	})
}

type customsLoaded struct {
	gen
	list []CustomCommand
	err  error
}

func (l customsLoaded) take(m *screen) tea.Cmd {
	for _, c := range l.list {
		if _, taken := findCommand(c.Name); !taken { // the screen's own stay what they are
			m.session.customs = append(m.session.customs, c)
		}
	}
	slices.SortFunc(m.session.customs, func(a, b CustomCommand) int { return strings.Compare(a.Name, b.Name) })
	if l.err != nil {
		m.trouble("a command cannot be read", l.err)
	}
	then := m.session.customsThen
	m.session.customsRead, m.session.customsThen = true, nil
	if then != nil {
		return then(m)
	}
	m.suggest.token = ""
	return m.suggestNow()
}
