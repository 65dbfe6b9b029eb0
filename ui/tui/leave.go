package tui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"parley/ui/tui/keymap"
	"parley/ui/tui/prompt"
)

// leaves reports whether a key is the one that leaves, in a place where nothing is being written that it
// would edit.
func (m *screen) leaves(msg tea.KeyPressMsg) bool {
	if m.keys.Find(keymap.Global, msg) != keymap.Leave {
		return false
	}
	switch p := m.prompt(); {
	case m.choice != nil, m.find != nil:
		return false
	case m.page == pageReader, m.page == pageTimeline:
		return true
	case m.page == pagePicker:
		return !m.picker.Writing()
	case !m.composer.Empty(), m.focus == onPanel && m.panel.Writing():
		return false
	case m.asking.armed && p != nil:
		return !p.FullScreen() && !prompt.Written(p)
	}
	return true
}

// leaveAsked is how long it counts that the person was told what leaving would end.
const leaveAsked = 10 * time.Second

// leave ends the screen. While commands run, which end with it, it says so once.
func (m *screen) leave(how string) tea.Cmd {
	now, n := m.opts.Now(), m.commands()
	if n == 0 || now.Before(m.endAt) {
		return tea.Quit
	}
	m.endAt = now.Add(leaveAsked)
	m.page = pageChat
	verb, them := "commands are", "them"
	if n == 1 {
		verb, them = "command is", "it"
	}
	m.say(fmt.Sprintf("%d %s running: %s again leaves and ends %s", n, verb, how, them))
	return nil
}

// commands counts the commands that would end with the chat.
func (m *screen) commands() int {
	n := 0
	if m.session.running {
		n = m.panel.Commands()
	}
	if b, ok := m.session.chat.(Backgrounder); ok {
		for _, j := range b.Jobs() {
			if j.Running() && !j.Keep {
				n++
			}
		}
	}
	return n
}
