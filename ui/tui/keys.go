package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"parley/ui/tui/keymap"
	"parley/ui/tui/prompt"
)

// key gives a key to whom it belongs: what lies over the screen first, then the question that is
// armed, then the pane with the focus, then everywhere.
func (m *screen) key(msg tea.KeyPressMsg) tea.Cmd {
	a := m.keys.Find(keymap.Global, msg)
	if m.leader.on && a != keymap.Interrupt && a != keymap.Cancel && a != keymap.Redraw {
		return m.leaderKey(msg)
	}
	switch a {
	case keymap.Interrupt:
		return m.escape(msg)
	case keymap.Cancel:
		return m.cancel(msg)
	case keymap.Redraw:
		return tea.ClearScreen
	case keymap.Suspend:
		return m.suspend()
	}
	switch {
	case m.leaves(msg):
		return m.leave(m.keys.Key(keymap.Leave))
	case m.choice != nil:
		return m.choiceKey(msg)
	case m.page == pageReader:
		return m.readerKey(msg)
	case m.page == pagePicker:
		return m.pickerKey(msg)
	case m.page == pageTimeline:
		return m.timelineKey(msg)
	case a == keymap.LeaderKey:
		return m.startLeader()
	case m.find != nil:
		return m.findKey(msg)
	case m.asking.armed && m.prompt() != nil && m.focus == onComposer:
		return m.promptKey(a, msg)
	}
	if cmd, ok := m.focusKey(msg); ok {
		return cmd
	}
	if m.focus != onComposer && a == "" && msg.Text != "" { // somebody types: it is text
		m.leavePane()
		cmd, _ := m.composerKey(msg)
		return cmd
	}
	return m.globalKey(a)
}

// focusKey gives a key to the pane with the focus. It reports whether it had a meaning there.
func (m *screen) focusKey(msg tea.KeyPressMsg) (tea.Cmd, bool) {
	switch m.focus {
	case onChat:
		return m.chatKey(msg)
	case onPanel:
		return m.panel.Key(msg)
	}
	return m.composerKey(msg)
}

// globalKey does what a key does wherever the focus is.
func (m *screen) globalKey(a keymap.Action) tea.Cmd {
	switch a {
	case keymap.Calls:
		return m.togglePanel()
	case keymap.Details:
		m.transcript.ToggleDetails()
		return m.loadInner()
	case keymap.Mode:
		return m.cycleMode()
	case keymap.Palette:
		return m.palette()
	case keymap.Model:
		return m.commandModel("")
	case keymap.ThinkLess:
		return m.stepEffort(-1)
	case keymap.ThinkMore:
		return m.stepEffort(1)
	case keymap.PageUp:
		m.transcript.Page(-1)
	case keymap.PageDown:
		m.transcript.Page(1)
	case keymap.ScrollUp:
		m.transcript.Scroll(-1)
	case keymap.ScrollDn:
		m.transcript.Scroll(1)
	case keymap.Follow:
		m.transcript.End()
	}
	return nil
}

// composerKey takes a key while one writes.
func (m *screen) composerKey(msg tea.KeyPressMsg) (tea.Cmd, bool) {
	burst, took := m.composer.Burst(msg, m.typedAt(), m.pasting())
	if took {
		m.stale = false // nothing of it is shown before the burst ends
		return burst, true
	}
	cmd, ok := m.writtenKey(msg)
	return tea.Batch(burst, cmd), ok
}

// writtenKey takes a key that is no part of a paste.
func (m *screen) writtenKey(msg tea.KeyPressMsg) (tea.Cmd, bool) {
	if cmd, ok := m.suggestKey(msg); ok {
		return cmd, true
	}
	if cmd, ok := m.writingKey(msg); ok {
		return cmd, true
	}
	return nil, m.composer.Key(msg)
}

// enterHeld does what an Enter does that had to wait until it was sure that nothing follows it.
func (m *screen) enterHeld() tea.Cmd {
	m.stale = true
	cmd, _ := m.writtenKey(tea.KeyPressMsg{Code: tea.KeyEnter})
	return cmd
}

// writingKey takes the keys of the composer that do more than edit.
func (m *screen) writingKey(msg tea.KeyPressMsg) (tea.Cmd, bool) {
	if m.composer.Empty() && m.keys.Find(keymap.Composer, msg) == keymap.HelpPage {
		m.showHelp()
		return nil, true
	}
	switch m.keys.Find(keymap.Composer, msg) {
	case keymap.Send:
		return m.enter(), true
	case keymap.Next:
		return m.tabKey(), true
	case keymap.Newline:
		m.composer.EndSearch(true)
		m.composer.Newline()
	case keymap.Dequeue:
		m.dequeue()
	case keymap.History:
		m.composer.StartSearch()
	case keymap.Editor:
		return m.editDraft(), true
	default:
		return nil, false
	}
	return nil, true
}

func (m *screen) enter() tea.Cmd {
	if m.composer.Searching() {
		m.composer.EndSearch(true)
		return nil
	}
	if m.composer.Continue() {
		return nil
	}
	return m.send()
}

// tabKey is Tab in the composer: a waiting question takes the keys, else text is queued while a turn runs, else the focus goes on.
func (m *screen) tabKey() tea.Cmd {
	switch {
	case m.prompt() != nil:
		m.asking.armed, m.asking.held = true, false
	case m.session.running && !m.composer.Empty():
		return m.enqueue()
	default:
		m.setFocus(onChat)
	}
	return nil
}

// promptKey takes a key while a question is armed. Tab goes back to the text; where the question has
// fields of its own, after the last of them.
func (m *screen) promptKey(a keymap.Action, msg tea.KeyPressMsg) tea.Cmd {
	p := m.prompt()
	if m.keys.Find(keymap.Composer, msg) == keymap.Next && p.Kind() != prompt.Input {
		m.asking.armed, m.asking.held = false, true
		return nil
	}
	if cmd, ok := m.batchKey(msg); ok {
		return cmd
	}
	if p.Editing() || p.FullScreen() || p.Kind() == prompt.Input {
		return m.toPrompt(msg)
	}
	switch a {
	case keymap.Calls, keymap.Details, keymap.Mode, keymap.PageUp, keymap.PageDown, keymap.Palette:
		return m.globalKey(a)
	}
	return m.toPrompt(msg)
}

// escape goes in the safe direction: close, else deny, else interrupt, else nothing.
func (m *screen) escape(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case m.leader.on:
		m.leader.on, m.leader.menu = false, false
	case m.choice != nil:
		m.closeChoice()
	case m.page == pageReader:
		return m.closeReader()
	case m.page == pageTimeline && m.timeline.full:
		m.timeline.full = false
	case m.page == pageTimeline:
		m.page, m.timeline.playing = pageChat, false
		return m.rearm()
	case m.page == pagePicker:
		return m.pickerKey(msg)
	case m.find != nil:
		m.closeFind()
	case m.composer.Searching():
		m.composer.EndSearch(false)
	case m.shutSuggest():
	case m.focus != onComposer:
		if m.focus != onPanel || !m.panel.Escape() {
			m.leavePane()
		}
	case m.prompt() != nil:
		return m.toQuestion(msg)
	case m.session.running:
		return m.interrupt()
	default:
		return m.escapeNothing()
	}
	return nil
}

// rewindTwice is how long the first Esc of two counts.
const rewindTwice = 600 * time.Millisecond

// escapeNothing is Esc where there is nothing to close, deny or interrupt: twice on an empty composer
// it opens the timeline.
func (m *screen) escapeNothing() tea.Cmd {
	m.note = note{}
	now := m.opts.Now()
	again := now.Before(m.rewindAt)
	m.rewindAt = time.Time{}
	switch {
	case m.session.chat == nil || !m.composer.Empty():
	case again:
		return m.commandTimeline("")
	default:
		m.rewindAt = now.Add(rewindTwice)
	}
	return nil
}

// leaveTwice is how long the first Ctrl+C of two counts.
const leaveTwice = 2 * time.Second

// cancel is Ctrl+C: close, else clear the text, else deny and stop, else interrupt, else twice to
// leave.
func (m *screen) cancel(msg tea.KeyPressMsg) tea.Cmd {
	now := m.opts.Now()
	again := now.Before(m.leaveAt)
	m.leaveAt = time.Time{}
	switch {
	case again:
		return tea.Quit
	case m.leader.on, m.choice != nil, m.page == pageReader, m.page == pageTimeline, m.find != nil, m.composer.Searching():
		return m.escape(msg)
	case m.page == pageChat && !m.asking.armed && !m.composer.Empty():
		m.composer.Clear()
		m.say("cleared: Up or undo brings the text back")
		return nil
	case m.prompt() != nil:
		return m.toQuestion(msg)
	case m.page == pageChat && m.session.running:
		return m.interrupt()
	}
	m.leaveAt = now.Add(leaveTwice)
	m.say(keymap.Name("ctrl+c") + " again to leave")
	return nil
}

// suspend stops the process, if there is a shell that brings it back.
func (m *screen) suspend() tea.Cmd {
	if m.opts.Input == nil && !jobControl() {
		m.say("nothing here could bring parley back: it was not started as a job of a shell")
		return nil
	}
	return tea.Suspend
}

// paste gives pasted text to the line that is being written.
func (m *screen) paste(msg tea.PasteMsg) tea.Cmd {
	switch {
	case m.choice != nil, m.page == pageReader, m.page == pageTimeline:
	case m.page == pagePicker:
		return m.picker.Update(msg)
	case m.find != nil:
		return m.find.Update(msg)
	case m.asking.armed && m.prompt() != nil && m.prompt().Editing():
		return m.toPrompt(msg)
	default:
		m.setFocus(onComposer)
		m.asking.armed = false
		return m.composer.Update(msg)
	}
	return nil
}

// afterKey does what follows from any key: the draft is kept a moment later, and a question that
// is not armed waits anew.
func (m *screen) afterKey() tea.Cmd {
	cmds := []tea.Cmd{m.keepSoon(), m.loadOlder()}
	if m.prompt() != nil && !m.asking.armed {
		cmds = append(cmds, m.rearm())
	}
	return tea.Batch(cmds...)
}

// setFocus moves the keys to a pane.
func (m *screen) setFocus(f focus) {
	m.focus = f
	m.composer.Blur()
	m.panel.Blur()
	m.transcript.Blur()
	switch f {
	case onComposer:
		m.composer.Focus()
	case onChat:
		m.transcript.Focus()
	case onPanel:
		m.panel.Focus()
	}
	if f != onComposer {
		m.asking.armed = false
	}
}

// leavePane gives the keys back to the composer. A panel that lies over the chat closes.
func (m *screen) leavePane() {
	if m.focus == onPanel && m.class() != wide {
		m.panelOpen = false
	}
	m.setFocus(onComposer)
}

// togglePanel shows the call panel with the focus in it, or hides it.
func (m *screen) togglePanel() tea.Cmd {
	if m.panelShown() {
		m.panelOpen = false
		m.setFocus(onComposer)
	} else {
		m.panelOpen = true
		m.setFocus(onPanel)
	}
	return m.keepSoon()
}

// panelShown says whether the panel is on screen. Beside the chat it stays without the focus; over
// the chat it is there only while it has it.
func (m *screen) panelShown() bool {
	return m.panelOpen && (m.class() == wide || m.focus == onPanel)
}
