package tui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"parley/agent/record"
	"parley/toolrt"
	"parley/ui/tui/text"
	"parley/ui/tui/transcript"
)

// callItems are the calls of the newest turns, runningItems those that run.
func callItems(m *screen) []item { return m.callList(func(record.Call) bool { return true }) }

func runningItems(m *screen) []item {
	return m.callList(func(c record.Call) bool { return c.Status == toolrt.StatusRunning })
}

func (m *screen) callList(wanted func(record.Call) bool) []item {
	var out []item
	for _, c := range m.panel.Newest(suggestLimit) {
		if c.Label != "" && wanted(c) {
			out = append(out, item{value: c.Label, detail: transcript.Word(c) + "  " + transcript.Title(c)})
		}
	}
	return out
}

func filterItems(*screen) []item {
	return plainItems("state:run", "state:ASK", "state:xx", "tool:", "agent:")
}

func (m *screen) commandCall(arg string) tea.Cmd {
	path, ok := m.panel.Label(arg)
	if !ok {
		m.say(fmt.Sprintf("no call %q in the newest turns: the call panel shows their numbers", arg))
		return nil
	}
	return m.showInPanel(path)
}

func (m *screen) commandRerun(arg string) tea.Cmd {
	for _, c := range m.panel.Newest(1 << 20) {
		if c.Label == arg {
			return m.rerun(c)
		}
	}
	m.say(fmt.Sprintf("no call %q: the call panel shows their numbers", arg))
	return nil
}

// commandBackground lists the commands in the background, or moves a call there.
func (m *screen) commandBackground(arg string) tea.Cmd {
	b, ok := m.session.chat.(Backgrounder)
	if !ok {
		return m.cannot("run commands in the background")
	}
	if arg != "" {
		path, ok := m.panel.Find(arg)
		if !ok {
			m.say(fmt.Sprintf("no running call %q: the call panel shows their numbers", arg))
			return nil
		}
		m.toBackground(path)
		return nil
	}
	var items []item
	for _, j := range b.Jobs() {
		state := "runs since " + j.Started.Local().Format("15:04:05")
		if !j.Running() {
			state = j.State
		}
		items = append(items, item{value: j.ID, label: j.ID + "  " + j.Command, detail: state})
	}
	if len(items) == 0 {
		m.say("no command runs in the background: b in the call panel moves one there")
		return nil
	}
	m.choice = newChoice("In the background", items, (*screen).jobChosen)
	return nil
}

func (m *screen) jobChosen(id string) tea.Cmd {
	m.choice = newChoice("Job "+id, []item{{value: "show", label: "show what it has printed"}, {value: "end", label: "end it", detail: "TERM, then KILL"}},
		func(m *screen, what string) tea.Cmd {
			b, ok := m.session.chat.(Backgrounder)
			if !ok {
				return nil
			}
			g := gen(m.session.gen)
			return m.tasks.cmd(func(ctx context.Context) tea.Msg {
				if what == "end" {
					return jobDone{g, id, "", b.EndJob(ctx, id)}
				}
				out, err := b.JobOutput(id)
				return jobDone{g, id, out, err}
			})
		})
	return nil
}

type jobDone struct {
	gen
	id, out string
	err     error
}

func (j jobDone) take(m *screen) tea.Cmd {
	switch {
	case j.err != nil:
		m.trouble("job "+j.id, j.err)
	case j.out == "":
		m.say("job " + j.id + " has ended, or has printed nothing")
	default:
		m.read(reader{title: "Job " + j.id, body: m.clean(j.out)})
		m.reader.top = 1 << 20
	}
	return nil
}

// clean is text of a tool for a page.
func (m *screen) clean(s string) string {
	if m.style.Options.NoColor {
		return text.StripSGR(s)
	}
	return text.CleanSGR(s)
}
