package tui

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	tea "charm.land/bubbletea/v2"

	"parley/agent/record"
	"parley/ui/tui/panel"
	"parley/ui/tui/picker"
	"parley/ui/tui/transcript"
)

// panelMessage takes what the call panel says. It reports whether it was one of its messages.
func (m *screen) panelMessage(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case panel.CancelCall:
		m.session.chat.CancelCall(msg.Path)
		m.say("cancelling the call")
	case panel.ShowInChat:
		return m.showInChat(msg.Path), true
	case panel.Copy:
		return m.copyText(msg.Text), true
	case panel.WantOutput:
		s := m.session
		return m.tasks.cmd(func(ctx context.Context) tea.Msg {
			out, err := s.chat.Output(ctx, msg.Path)
			return outputLoaded{gen(s.gen), msg.Path, out, err}
		}), true
	case panel.WantUsage:
		return m.loadUsage(), true
	case panel.WantBackground:
		m.toBackground(msg.Path)
	case panel.WantRerun:
		return m.rerun(msg.Call), true
	case panel.Leave:
		m.leavePane()
	default:
		return nil, false
	}
	return nil, true
}

// loadUsage asks for what the session has used.
func (m *screen) loadUsage() tea.Cmd {
	s := m.session
	spender, ok := s.chat.(Spender)
	if !ok {
		m.panel.SetUsage(s.row, nil)
		return nil
	}
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		spent, err := spender.Spent(ctx)
		return usageLoaded{gen(s.gen), spent, err}
	})
}

type usageLoaded struct {
	gen
	spent []record.Spent
	err   error
}

func (u usageLoaded) take(m *screen) tea.Cmd {
	if u.err != nil {
		m.trouble("the usage cannot be read", u.err)
	}
	m.panel.SetUsage(m.session.row, u.spent)
	return nil
}

// toBackground moves a running call to the background.
func (m *screen) toBackground(path string) {
	b, ok := m.session.chat.(Backgrounder)
	if !ok || !b.Background(path) {
		m.say("this call cannot go on in the background")
		return
	}
	m.say("it goes on in the background: /bg lists what runs there")
}

// newestToBackground moves the running command that began last to the background. It reports whether
// there was one that can go on there.
func (m *screen) newestToBackground() bool {
	b, ok := m.session.chat.(Backgrounder)
	if !ok {
		return false
	}
	for _, c := range m.panel.Running() {
		if b.Background(c.Path) {
			m.say(c.Label + " " + transcript.Title(c) + " goes on in the background: /bg lists what runs there")
			return true
		}
	}
	return false
}

// rerun writes a message that asks for a call again. The person sends it, and the call is judged as
// any other.
func (m *screen) rerun(c record.Call) tea.Cmd {
	runner, ok := m.session.chat.(ToolRunner)
	switch {
	case !ok:
		return m.cannot("run a call again")
	case m.session.running:
		m.say("a call runs again when the turn is over")
		return nil
	case c.ToolID == "":
		m.say("call " + c.Label + " was of a tool that is not there")
		return nil
	case c.Input != "" && !json.Valid([]byte(c.Input)) || strings.Contains(c.Input, "‹secret"):
		m.say("call " + c.Label + " cannot run again: its arguments are not kept whole")
		return nil
	}
	args := cmp.Or(c.Input, "{}")
	return m.runTurn("", func(ctx context.Context) error { return runner.RunTool(ctx, c.ToolID, args) })
}

// outputLoaded has the whole output of a call.
type outputLoaded struct {
	gen
	path, output string
	err          error
}

func (o outputLoaded) take(m *screen) tea.Cmd {
	if o.err != nil {
		m.trouble("the output cannot be read", o.err)
		return nil
	}
	m.panel.SetOutput(o.path, o.output)
	return nil
}

func (m *screen) showInPanel(path string) tea.Cmd {
	if path == "" || !m.panel.Select(path) {
		m.say("the call panel does not know this")
		return nil
	}
	m.panelOpen = true
	m.setFocus(onPanel)
	return nil
}

func (m *screen) showInChat(path string) tea.Cmd {
	if !m.transcript.Select(path) {
		m.say("this call is further up than what is loaded: PgUp in the chat loads more")
		return nil
	}
	m.leavePane()
	m.setFocus(onChat)
	return nil
}

// showPicker shows the list of sessions, of those that hold the text.
func (m *screen) showPicker(text string) tea.Cmd {
	m.page = pagePicker
	cmd := m.picker.Start(m.opts.Now(), m.session.row.ID)
	if text != "" {
		cmd = m.picker.Search(text)
	}
	return cmd
}

func (m *screen) pickerKey(msg tea.KeyPressMsg) tea.Cmd {
	cmd, _ := m.picker.Key(msg)
	return cmd
}

// pickerMessage takes what the list of sessions says. It reports whether it was one of its messages.
func (m *screen) pickerMessage(msg tea.Msg) (tea.Cmd, bool) {
	backend := m.opts.Backend
	switch msg := msg.(type) {
	case picker.Query:
		return m.tasks.cmd(func(ctx context.Context) tea.Msg {
			list, err := backend.Sessions(ctx, msg.All, msg.Text)
			return sessionsListed{msg.Tag, list, err}
		}), true
	case picker.Open:
		if m.session.chat != nil && msg.ID == m.session.row.ID {
			m.page = pageChat
			return nil, true
		}
		return m.open(func(ctx context.Context) (Chat, error) { return backend.Open(ctx, msg.ID) }), true
	case picker.Fork:
		return m.fork(msg.ID, 0), true
	case picker.Timeline:
		m.timelineAfter = true
		if m.session.chat != nil && msg.ID == m.session.row.ID {
			m.page = pageChat
			return m.openTimeline(), true
		}
		return m.open(func(ctx context.Context) (Chat, error) { return backend.Open(ctx, msg.ID) }), true
	case picker.Export:
		if e, ok := backend.(Exporter); ok {
			return m.export(e, msg.Session, e.ExportFormats()[0]), true
		}
		return m.cannot("write sessions to files"), true
	case picker.Preview:
		return m.preview(msg.ID), true
	case picker.New:
		return m.open(backend.New), true
	case picker.Back:
		if m.session.chat == nil {
			return tea.Quit, true
		}
		m.page = pageChat
		return m.rearm(), true
	case picker.Rename:
		return m.rename(msg.ID, msg.Title), true
	case picker.Delete:
		return m.change(func(ctx context.Context) error { return backend.Delete(ctx, msg.ID) }), true
	case picker.Undelete:
		return m.change(func(ctx context.Context) error { return backend.Undelete(ctx, msg.ID) }), true
	}
	return nil, false
}

// openTimeline opens the timeline if that was what the session was opened for.
func (m *screen) openTimeline() tea.Cmd {
	if !m.timelineAfter {
		return nil
	}
	m.timelineAfter = false
	return m.commandTimeline("")
}

// previewMessages is how many messages of a session its preview shows at most.
const previewMessages = 8

// preview reads the end of a session's conversation.
func (m *screen) preview(id string) tea.Cmd {
	p, ok := m.opts.Backend.(Previewer)
	if !ok {
		return nil
	}
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		messages, err := p.Preview(ctx, id, previewMessages)
		return previewRead{id, messages, err}
	})
}

type previewRead struct {
	id       string
	messages []record.Message
	err      error
}

func (p previewRead) apply(m *screen) tea.Cmd {
	if p.err == nil { // a session that has gone is told of when it is opened
		m.picker.SetPreview(p.id, p.messages)
	}
	return nil
}

type sessionsListed struct {
	tag  int
	list []record.Session
	err  error
}

func (s sessionsListed) apply(m *screen) tea.Cmd {
	return m.picker.SetSessions(s.tag, s.list, s.err)
}

// rename gives a session a title.
func (m *screen) rename(id, title string) tea.Cmd {
	backend := m.opts.Backend
	return m.change(func(ctx context.Context) error { return backend.Rename(ctx, id, title) })
}

// change changes a saved session, after which the list is asked for again.
func (m *screen) change(do func(context.Context) error) tea.Cmd {
	return m.tasks.cmd(func(ctx context.Context) tea.Msg { return sessionChanged{do(ctx)} })
}

type sessionChanged struct{ err error }

func (s sessionChanged) apply(m *screen) tea.Cmd {
	if m.session.chat != nil {
		m.session.row = m.session.chat.Row()
	}
	if m.page == pagePicker {
		return m.picker.Changed(s.err)
	}
	if s.err != nil {
		m.trouble("the session cannot be changed", s.err)
	}
	return nil
}
