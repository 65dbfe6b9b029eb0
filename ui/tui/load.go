package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"parley/agent/record"
)

// pageSize is how many messages are loaded at once.
const pageSize = 60

// shownLoaded is the answer to loadShown.
type shownLoaded struct {
	gen
	before int64
	msgs   []record.Message
	calls  []record.Call
	err    error
}

// loadShown loads the messages before a seq, 0 for the newest.
func (m *screen) loadShown(before int64) tea.Cmd {
	m.session.loading = true
	s := m.session
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		msgs, calls, err := s.chat.Shown(ctx, before, pageSize)
		return shownLoaded{gen(s.gen), before, msgs, calls, err}
	})
}

// loadOlder loads what the chat or the panel wants and does not have.
func (m *screen) loadOlder() tea.Cmd {
	if m.session.chat == nil {
		return nil
	}
	var cmds []tea.Cmd
	if before, ok := m.transcript.WantsOlder(); ok && !m.session.loading {
		cmds = append(cmds, m.loadShown(before))
	}
	if turn, ok := m.panel.WantsOlder(); ok && !m.session.older {
		m.session.older = true
		s := m.session
		cmds = append(cmds, m.tasks.cmd(func(ctx context.Context) tea.Msg {
			calls, err := s.chat.Calls(ctx, max(turn-10, 1), turn-1)
			return callsLoaded{gen(s.gen), calls, err}
		}))
	}
	return tea.Batch(append(cmds, m.loadJournal())...)
}

// loadJournal loads the part of the journal that the panel wants.
func (m *screen) loadJournal() tea.Cmd {
	s := m.session
	journaled, ok := s.chat.(Journaled)
	if !ok || !m.panelShown() {
		return nil
	}
	turn, ok := m.panel.WantsJournal()
	if !ok {
		return nil
	}
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		entries, err := journaled.Entries(ctx, turn)
		return journalLoaded{gen(s.gen), turn, entries, err}
	})
}

type journalLoaded struct {
	gen
	turn    int
	entries []record.Entry
	err     error
}

func (j journalLoaded) take(m *screen) tea.Cmd {
	if j.err != nil {
		m.trouble("the journal cannot be read", j.err)
		return nil
	}
	m.panel.SetJournal(j.turn, j.entries)
	return nil
}

func (l shownLoaded) take(m *screen) tea.Cmd {
	m.session.loading = false
	if l.err != nil {
		m.trouble("the messages cannot be read", l.err)
		return nil
	}
	m.panel.Add(l.calls)
	if l.before > 0 {
		m.transcript.Prepend(l.msgs, l.calls)
	} else {
		m.transcript.Reset(l.msgs, l.calls)
		m.session.noteReplies(l.msgs)
	}
	if len(l.msgs) > 0 {
		m.session.blank = false
	}
	if len(l.msgs) < pageSize {
		m.transcript.SetComplete()
	}
	if l.before > 0 {
		return nil
	}
	return m.begin()
}

type callsLoaded struct {
	gen
	calls []record.Call
	err   error
}

func (c callsLoaded) take(m *screen) tea.Cmd {
	m.session.older = false
	if c.err != nil {
		m.trouble("earlier calls cannot be read", c.err)
		return nil
	}
	m.panel.Add(c.calls)
	return nil
}

// loadInner loads the conversations inside agents' calls that were unfolded.
func (m *screen) loadInner() tea.Cmd {
	var cmds []tea.Cmd
	s := m.session
	for _, path := range m.transcript.WantsInner() {
		cmds = append(cmds, m.tasks.cmd(func(ctx context.Context) tea.Msg {
			msgs, err := s.chat.Inner(ctx, path)
			return innerLoaded{gen(s.gen), path, msgs, err}
		}))
	}
	return tea.Batch(cmds...)
}

type innerLoaded struct {
	gen
	path string
	msgs []record.Message
	err  error
}

func (i innerLoaded) take(m *screen) tea.Cmd {
	if i.err != nil {
		m.trouble("the conversation inside the call cannot be read", i.err)
		return nil
	}
	m.transcript.SetInner(i.path, i.msgs)
	return nil
}

// historyLoaded has the messages of earlier sessions.
type historyLoaded struct {
	texts []string
	err   error
}

// historySize is how many earlier messages can be reached.
const historySize = 500

func (m *screen) loadHistory() tea.Cmd {
	backend := m.opts.Backend
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		texts, err := backend.History(ctx, historySize)
		return historyLoaded{texts, err}
	})
}

func (h historyLoaded) apply(m *screen) tea.Cmd {
	if h.err != nil {
		m.trouble("earlier messages cannot be read", h.err)
	}
	m.composer.SetHistory(h.texts)
	return nil
}
