package tui

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"parley/agent"
	"parley/agent/monitor"
	"parley/agent/record"
	"parley/ui/tui/prompt"
)

// session is the chat on screen.
type session struct {
	chat   Chat
	gen    int // counts the chats of this screen: answers for an earlier one are dropped
	row    record.Session
	reader *monitor.Reader

	opening bool // another chat is being opened
	loading bool // messages are being loaded
	older   bool // calls of earlier turns are being loaded
	blank   bool // nothing was said yet: the greeting is shown
	replies []string
	// customs are the commands of the person's own and of the program, once they were asked for.
	customs      []CustomCommand
	customsAsked bool
	customsRead  bool
	customsThen  func(m *screen) tea.Cmd // what waits for them, nil for nothing

	turn
}

// sessionMsg is an answer about a chat; one about an earlier chat is dropped.
type sessionMsg interface {
	of() int
	take(m *screen) tea.Cmd
}

type gen int

func (g gen) of() int { return int(g) }

// sessionUpdate takes an answer about the chat on screen.
func (m *screen) sessionUpdate(msg sessionMsg) tea.Cmd {
	if msg.of() != m.session.gen {
		return nil
	}
	return msg.take(m)
}

// chatOpened is the answer to open.
type chatOpened struct {
	chat Chat
	err  error
	from int // the chat on screen when it was asked for
}

func (o chatOpened) of() int { return o.from }

// open opens another chat in place of the one on screen, which stays until that has succeeded.
func (m *screen) open(how func(context.Context) (Chat, error)) tea.Cmd {
	if m.session.opening {
		return nil
	}
	if m.session.running {
		m.say("a turn runs here: Esc interrupts it, then the session can be left")
		return nil
	}
	m.session.opening = true
	from := m.session.gen
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		chat, err := how(ctx)
		return chatOpened{chat, err, from}
	})
}

func (o chatOpened) take(m *screen) tea.Cmd {
	m.session.opening = false
	if o.err != nil {
		m.trouble("the session cannot be opened", o.err)
		if m.session.chat == nil && m.page != pagePicker {
			return m.showPicker("")
		}
		return nil
	}
	leave := m.leaveChat()
	early := ""
	if m.session.chat == nil {
		early = m.composer.Value() // what was typed while the first session was being opened
	}
	m.adopt(o.chat)
	if early != "" {
		m.composer.Paste(early)
	}
	return tea.Batch(leave, m.waitEvents(), m.loadShown(0), m.openTimeline())
}

// leaveChat keeps and closes the chat on screen.
func (m *screen) leaveChat() tea.Cmd {
	s := m.session
	if s.chat == nil {
		return nil
	}
	s.reader.Close()
	kept := m.kept()
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		err := kept.save(ctx, s.chat)
		if closeErr := s.chat.Close(); err == nil {
			err = closeErr
		}
		return chatLeft{err}
	})
}

type chatLeft struct{ err error }

func (c chatLeft) apply(m *screen) tea.Cmd {
	if c.err != nil {
		m.trouble("the session before was not saved whole", c.err)
	}
	return nil
}

// adopt makes the chat the one on screen.
func (m *screen) adopt(chat Chat) {
	m.session = session{chat: chat, gen: m.session.gen + 1, row: chat.Row(), reader: chat.Events(), blank: true}
	m.session.queue = m.session.row.Queue
	m.page, m.choice, m.find, m.note = pageChat, nil, nil, note{}
	m.suggest = suggest{tag: m.suggest.tag + 1, index: m.suggest.index, walked: m.suggest.walked, busy: m.suggest.busy}
	m.asking = asking{tag: m.asking.tag + 1}
	m.setFocus(onComposer)
	m.composer.Reset(m.session.row.Draft)
	m.transcript.Reset(nil, nil)
	m.panel.Reset(nil)
	m.restorePanel(m.session.row.Panel)
	m.setBatch()
	m.keep = keeper{last: m.kept()}
	if len(m.session.queue) > 0 {
		m.say(count(len(m.session.queue), "message") + " queued before: Enter sends the first one")
	}
}

// begin goes on where the session stopped, once its messages are there.
func (m *screen) begin() tea.Cmd {
	first := !m.started
	m.started = true
	switch {
	case first && (m.opts.InitialMessage != "" || m.opts.SendInitial):
		return m.run(m.opts.InitialMessage)
	case len(m.early) > 0:
		text := m.early[0]
		m.session.queue = append(m.session.queue, m.early[1:]...)
		m.early = nil
		return m.run(text)
	case !m.session.chat.Unfinished():
		return nil
	}
	return m.goOn()
}

// resumeInfo is what the resume dialog says about the calls it does not ask for.
const resumeInfo = "What had finished is not run again. What waited for you is asked again."

// goOn takes up the unfinished turn: what may have run is put to the person first.
func (m *screen) goOn() tea.Cmd {
	s := m.session
	return m.tasks.cmd(func(context.Context) tea.Msg { return doubtsRead{gen(s.gen), s.chat.InDoubt()} })
}

// doubtsRead has the calls that the resume dialog asks for.
type doubtsRead struct {
	gen
	open []agent.OpenCall
}

func (d doubtsRead) take(m *screen) tea.Cmd {
	chat := m.session.chat
	switch {
	case m.session.running || !chat.Unfinished():
		return nil // a message has answered it meanwhile
	case len(d.open) == 0:
		m.say(goingOn)
		return m.startTurn("", chat.Resume)
	case m.resumeOpen():
		return nil
	}
	m.asking.prompts = append([]prompt.Prompt{prompt.NewResume(d.open, resumeInfo)}, m.asking.prompts...)
	m.asking.at = 0
	m.asking.held = false
	return tea.Batch(m.rearm(), m.lookAgain(d.open))
}

// lookEvery is how often the processes of the resume dialog are looked at, as long as one runs.
const lookEvery = time.Second

// lookAgain looks a moment later whether the processes still run, if one did.
func (m *screen) lookAgain(open []agent.OpenCall) tea.Cmd {
	if !slices.ContainsFunc(open, func(o agent.OpenCall) bool { return o.Alive }) {
		return nil
	}
	return m.tasks.after(lookEvery, lookDue{gen(m.session.gen)})
}

type lookDue struct{ gen }

func (lookDue) take(m *screen) tea.Cmd {
	if !m.resumeOpen() {
		return nil
	}
	s := m.session
	return m.tasks.cmd(func(context.Context) tea.Msg { return doubtsSeen{gen(s.gen), s.chat.InDoubt()} })
}

// doubtsSeen has the open calls as they are now.
type doubtsSeen struct {
	gen
	open []agent.OpenCall
}

func (d doubtsSeen) take(m *screen) tea.Cmd {
	return tea.Batch(m.toPrompts(prompt.Looked{Open: d.open}), m.lookAgain(d.open))
}

// resumeOpen reports whether the resume dialog is there.
func (m *screen) resumeOpen() bool {
	for _, p := range m.asking.prompts {
		if p.Kind() == prompt.Resume {
			return true
		}
	}
	return false
}

// resolve answers one call of the resume dialog.
func (m *screen) resolve(msg prompt.ResumeResolved) tea.Cmd {
	s := m.session
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		return resolved{gen(s.gen), s.chat.Resolve(ctx, msg.Key, msg.Resolution, msg.Text)}
	})
}

// endProcess ends the process group of a call that still runs.
func (m *screen) endProcess(key record.Key) tea.Cmd {
	s := m.session
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		err := s.chat.EndProcess(ctx, key)
		return processEnded{gen(s.gen), prompt.Ended{Key: key, Open: s.chat.InDoubt(), Err: err}}
	})
}

type processEnded struct {
	gen
	what prompt.Ended
}

func (p processEnded) take(m *screen) tea.Cmd { return m.toPrompts(p.what) }

// resolved says that a call of the resume dialog was answered.
type resolved struct {
	gen
	err error
}

func (r resolved) take(m *screen) tea.Cmd {
	cmd := m.removePrompt("resume")
	if r.err != nil {
		m.trouble("the call cannot be answered", r.err)
	}
	if m.session.running || !m.session.chat.Unfinished() {
		return cmd
	}
	return tea.Batch(cmd, m.goOn())
}

// panelState is what is kept of the call panel.
type panelState struct {
	Open  bool            `json:"open"`
	Panel json.RawMessage `json:"panel,omitempty"`
}

func (m *screen) panelKept() string {
	s, err := json.Marshal(panelState{Open: m.panelOpen, Panel: m.panel.State()})
	if err != nil {
		return ""
	}
	return string(s)
}

func (m *screen) restorePanel(kept string) {
	st := panelState{Open: true}
	if kept != "" && json.Unmarshal([]byte(kept), &st) != nil {
		st = panelState{Open: true} // of another version: the panel begins as in a new session
	}
	m.panelOpen = st.Open
	if st.Panel != nil {
		m.panel.Restore(st.Panel)
	}
}
