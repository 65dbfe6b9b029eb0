package tui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// turn is what runs in the chat on screen.
type turn struct {
	running     bool
	interrupted bool // the person interrupted it
	began       time.Time
	// sent is the text that started it; stored says that it has come back as a message, after
	// which it cannot be lost any more. turns is how many there were before it; joins says that an
	// unfinished one is gone on with, to which the text is handed over.
	sent   string
	stored bool
	turns  int
	joins  bool
	// queue has the messages for after the turn, steered those handed over to it that have not
	// entered yet.
	queue   []string
	steered []string
}

// turnEnded is the end of a turn.
type turnEnded struct {
	gen
	err error
}

// send is Enter: a command is carried out, a text starts a turn or is handed over to the one that
// runs.
func (m *screen) send() tea.Cmd {
	text := m.composer.Value()
	switch {
	case strings.TrimSpace(text) == "":
		return m.sendQueued()
	case m.session.chat == nil && m.session.opening && !isCommand(text):
		m.early = append(m.early, m.composer.Submit())
		m.say("sent as soon as the session is open")
		return nil
	case m.session.chat == nil:
		m.say("no session is open yet: your text stays here")
		return nil
	case isCommand(text):
		return m.command(text)
	case m.session.running:
		if _, ok := m.shellLine(text); ok {
			m.say("the command waits for the end of the turn")
			return m.enqueue()
		}
		return m.steer(m.composer.Submit())
	}
	return m.run(m.composer.Submit())
}

// shellLine is the command line of a text that is one, behind !: it runs in a turn of its own, judged,
// shown and kept as any other call, and the model is not asked.
func (m *screen) shellLine(text string) (string, bool) {
	_, able := m.session.chat.(ToolRunner)
	line, ok := strings.CutPrefix(text, "!")
	line = strings.TrimSpace(line)
	return line, ok && able && line != "" && !strings.Contains(line, "\n")
}

// run starts a turn with the text.
func (m *screen) run(text string) tea.Cmd {
	chat := m.session.chat
	do := func(ctx context.Context) error { return chat.Send(ctx, text) }
	if line, ok := m.shellLine(text); ok {
		do = func(ctx context.Context) error { return chat.(ToolRunner).RunShell(ctx, line) }
	}
	return m.runTurn(text, do)
}

// runTurn starts a turn of the person's; text is what is given back if it cannot begin.
func (m *screen) runTurn(text string, do func(ctx context.Context) error) tea.Cmd {
	cmd := tea.Cmd(nil)
	if m.resumeOpen() {
		cmd = m.removePrompt("resume") // sending answers "interrupted" for what is left
	}
	m.note = note{}
	m.transcript.End()
	return tea.Batch(cmd, m.startTurn(text, do))
}

// startTurn runs a turn in a command.
func (m *screen) startTurn(text string, do func(context.Context) error) tea.Cmd {
	s := &m.session
	s.running, s.interrupted, s.sent, s.stored, s.began = true, false, text, false, m.opts.Now()
	s.turns, s.joins = s.chat.Row().Turns, s.chat.Unfinished()
	if text != "" {
		s.blank = false
	}
	m.panel.Tick(s.began, true)
	g := gen(s.gen)
	return tea.Batch(m.startTick(), m.tasks.cmd(func(ctx context.Context) tea.Msg {
		return turnEnded{g, do(ctx)}
	}))
}

// steer hands a text over to the running turn. When it has just ended, the text is next in line.
func (m *screen) steer(text string) tea.Cmd {
	if m.session.chat.Steer(text) {
		m.session.steered = append(m.session.steered, text)
		return nil
	}
	m.session.queue = slices.Insert(m.session.queue, 0, text)
	return m.keepSoon()
}

// enqueue puts the text in line for after the turn.
func (m *screen) enqueue() tea.Cmd {
	m.session.queue = append(m.session.queue, m.composer.Submit())
	return m.keepSoon()
}

// dequeue takes the newest queued message back into the composer, above what is there.
func (m *screen) dequeue() {
	q := m.session.queue
	if len(q) == 0 {
		m.say("nothing is queued")
		return
	}
	text := q[len(q)-1]
	m.session.queue = q[:len(q)-1]
	if !m.composer.Empty() {
		text += "\n" + m.composer.Value()
	}
	m.composer.SetValue(text)
}

// sendQueued sends the first queued message, if no turn runs.
func (m *screen) sendQueued() tea.Cmd {
	if len(m.session.queue) == 0 || m.session.running || m.session.chat == nil {
		return nil
	}
	text := m.session.queue[0]
	if isCommand(text) {
		name, arg, _ := strings.Cut(text[1:], " ")
		if c, ok := m.findCommand(name); ok {
			m.session.queue = m.session.queue[1:]
			return tea.Batch(m.runCommand(c, strings.TrimSpace(arg)), m.sendQueued(), m.keepSoon())
		}
		if load, waits := m.awaitCustoms((*screen).sendQueued); waits {
			return load
		}
	}
	m.session.queue = m.session.queue[1:] // a command that is not known may be of another version
	return tea.Batch(m.run(text), m.keepSoon())
}

func (t turnEnded) take(m *screen) tea.Cmd {
	s := &m.session
	s.running = false
	m.panel.Tick(m.opts.Now(), false)
	s.row = s.chat.Row()
	interrupted := s.interrupted || errors.Is(t.err, context.Canceled)
	s.steered = nil
	m.giveBack(s.lost(t.err))
	usage := tea.Cmd(nil)
	if m.panel.ShowsUsage() {
		usage = m.loadUsage()
	}
	return tea.Batch(usage, m.tellEnd(interrupted, t.err), m.afterTurn(interrupted, t.err))
}

// tellEnd tells a person who looks elsewhere that the turn is over.
func (m *screen) tellEnd(interrupted bool, err error) tea.Cmd {
	switch {
	case interrupted:
		return nil // they did it
	case err != nil:
		return m.notify("the turn failed")
	}
	return m.notify("the turn is done")
}

// afterTurn says how a turn ended, and sends what is queued.
func (m *screen) afterTurn(interrupted bool, err error) tea.Cmd {
	s := &m.session
	switch {
	case interrupted:
		m.say("interrupted: what had come is kept" + m.queuedHint())
		return nil
	case err != nil:
		m.trouble("the turn failed", err)
		if len(s.queue) > 0 {
			m.note.text += m.queuedHint()
		}
		return nil
	}
	if m.note.text == goingOn {
		m.note = note{} // it has
	}
	return m.sendQueued()
}

// lost are the texts that went nowhere when a turn ended with err. The session knows what entered
// it: the event that says so may still be on its way.
func (s *session) lost(err error) []string {
	if s.chat.Unfinished() {
		return nil // they wait with the turn
	}
	lost := s.chat.LeftOver()
	if err != nil && s.sent != "" && !s.stored && !s.joins && s.row.Turns == s.turns {
		lost = append([]string{s.sent}, lost...)
	}
	return lost
}

// goingOn is said while a turn of an earlier process is taken up.
const goingOn = "going on with the turn that was interrupted"

func (m *screen) queuedHint() string {
	if len(m.session.queue) == 0 {
		return ""
	}
	return "; Enter sends the queued message"
}

// giveBack puts texts that went nowhere into the composer, before what is there.
func (m *screen) giveBack(texts []string) {
	if len(texts) == 0 {
		return
	}
	if !m.composer.Empty() {
		texts = append(texts, m.composer.Value())
	}
	m.composer.SetValue(strings.Join(texts, "\n"))
}

// interrupt cancels the running turn.
func (m *screen) interrupt() tea.Cmd {
	m.session.interrupted = true
	m.session.chat.Interrupt()
	m.say("interrupting" + m.style.Glyphs.Ellipsis)
	return nil
}
