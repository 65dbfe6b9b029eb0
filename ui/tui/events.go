package tui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	llm "parley/agent/model"
	"parley/agent/monitor"
	"parley/agent/record"
)

// eventsCame has all events of a chat that waited.
type eventsCame struct {
	gen
	events []monitor.Event
}

// eventPause is left between two deliveries: what comes meanwhile is joined, and a reply that
// streams is drawn 30 times a second, a quarter less work than 60 and as smooth to read.
const eventPause = 33 * time.Millisecond

// waitEvents returns a command that waits for events of the chat on screen.
func (m *screen) waitEvents() tea.Cmd {
	g, reader := gen(m.session.gen), m.session.reader
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		events, err := reader.Next(ctx)
		if err != nil {
			return nil // the chat was closed, or the screen ends
		}
		return eventsCame{g, events}
	})
}

// moreEvents waits for events after a pause.
func (m *screen) moreEvents() tea.Cmd {
	wait := m.waitEvents()
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		timer := time.NewTimer(eventPause)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil
		}
		return wait()
	})
}

// events shows what happened.
func (m *screen) events(msg eventsCame) tea.Cmd {
	if msg.of() != m.session.gen {
		return nil
	}
	m.transcript.Tick(m.opts.Now())
	m.transcript.Apply(msg.events)
	want := m.panel.Apply(msg.events)
	pieces := true
	for _, e := range msg.events {
		pieces = pieces && e.Type == monitor.CallProgress
		// What concerns a call (a retry) stands in the conversation until it is over.
		if e.Type == monitor.Notice && e.Text != "" && e.Path == "" {
			m.say(e.Text)
		}
		m.session.noteMessages(e.Messages)
	}
	if !pieces {
		m.panel.Tick(m.opts.Now(), m.session.running)
		m.session.row = m.session.chat.Row()
		m.setBatch()
	}
	if len(msg.events) > 0 {
		m.session.blank = false
	}
	return tea.Batch(want, m.moreEvents(), m.startTick(), m.loadOlder(), m.loadInner())
}

// noteMessages learns from committed messages what has arrived where it should.
func (s *session) noteMessages(msgs []record.Message) {
	for _, msg := range msgs {
		if msg.Message.Role != llm.User {
			continue
		}
		text := msg.Message.Text()
		if text == s.sent {
			s.stored = true
		}
		if i := slices.Index(s.steered, text); i >= 0 {
			s.steered = slices.Delete(s.steered, i, i+1)
		}
	}
	s.noteReplies(msgs)
}

// maxReplies is how many replies /copy reaches back.
const maxReplies = 20

// noteReplies remembers the newest replies for /copy.
func (s *session) noteReplies(msgs []record.Message) {
	for _, msg := range msgs {
		if text := msg.Message.Text(); msg.Shown && msg.Message.Role == llm.Assistant && text != "" {
			s.replies = append(s.replies, text)
		}
	}
	if n := len(s.replies); n > maxReplies {
		s.replies = slices.Clone(s.replies[n-maxReplies:])
	}
}

// tick is the clock of what is measured while it runs. Nothing ticks when nothing runs.
type tick struct{}

const (
	tickFast = 250 * time.Millisecond // something runs, and a sign may move
	tickSlow = time.Second
)

// startTick starts the clock unless it runs, or nothing changes with time.
func (m *screen) startTick() tea.Cmd {
	if m.ticking || !m.session.running {
		return nil
	}
	m.ticking = true
	every := tickFast
	if m.opts.ReducedMotion || len(m.asking.prompts) > 0 {
		every = tickSlow
	}
	return m.tasks.after(every, tick{})
}

func (m *screen) tick(tick) tea.Cmd {
	m.ticking = false
	m.beat++
	m.panel.Tick(m.opts.Now(), m.session.running)
	m.transcript.Tick(m.opts.Now())
	return m.startTick()
}
