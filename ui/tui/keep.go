package tui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
)

// kept is what is stored with a session so that it comes back: the draft, the queued messages and
// the panel.
type kept struct {
	draft string
	queue []string
	panel string
}

func (k kept) same(o kept) bool {
	return k.draft == o.draft && k.panel == o.panel && slices.Equal(k.queue, o.queue)
}

func (k kept) save(ctx context.Context, chat Chat) error {
	return chat.Keep(ctx, k.draft, k.queue, k.panel)
}

func (m *screen) kept() kept {
	return kept{draft: m.composer.Value(), queue: slices.Clone(m.session.queue), panel: m.panelKept()}
}

// keepDelay is how long after the last key the draft is stored.
const keepDelay = 300 * time.Millisecond

// keeper stores what is kept, one store at a time, so that an older draft never comes after a
// newer one.
type keeper struct {
	last    kept // as last stored
	waiting bool // a timer runs
	busy    bool // a store runs
	tag     int
}

// keepDue says that nothing was typed for keepDelay after the tag.
type keepDue struct {
	gen
	tag int
}

// keepDone is the end of a store.
type keepDone struct {
	gen
	what kept
	err  error
}

// keepSoon stores what changed once no key came for a moment.
func (m *screen) keepSoon() tea.Cmd {
	if m.session.chat == nil {
		return nil
	}
	k := &m.keep
	k.tag++
	if k.waiting || k.busy {
		return nil
	}
	k.waiting = true
	return m.tasks.after(keepDelay, keepDue{gen(m.session.gen), k.tag})
}

func (d keepDue) take(m *screen) tea.Cmd {
	k := &m.keep
	m.stale = false
	if d.tag != k.tag {
		return m.tasks.after(keepDelay, keepDue{gen(m.session.gen), k.tag})
	}
	k.waiting = false
	now := m.kept()
	if k.busy || now.same(k.last) {
		return nil
	}
	k.busy = true
	s := m.session
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		return keepDone{gen(s.gen), now, now.save(ctx, s.chat)}
	})
}

func (d keepDone) take(m *screen) tea.Cmd {
	k := &m.keep
	k.busy = false
	if d.err != nil {
		m.trouble("the draft cannot be stored", d.err)
		return nil
	}
	k.last = d.what
	if m.kept().same(k.last) {
		m.stale = false
		return nil
	}
	return m.keepSoon()
}

// finishTime is how long storing and closing may take at the end.
const finishTime = 10 * time.Second

// finish stores what is kept and closes the chat. It is called once, after the program has ended.
func (m *screen) finish() {
	// Last: a question that the chat's end withdraws is asked again when it is opened, one that nobody
	// answers is denied.
	defer m.opts.Questions.end()
	chat := m.session.chat
	if chat == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.tasks.ctx), finishTime)
	defer cancel()
	// The draft is worth a try, but leaving does not depend on it.
	_ = m.kept().save(ctx, chat)
	m.session.reader.Close()
	_ = chat.Close()
}
