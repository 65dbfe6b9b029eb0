package tui

import (
	tea "charm.land/bubbletea/v2"

	"parley/ui/tui/composer"
	"parley/ui/tui/keymap"
)

// chatKey takes a key while the focus is in the chat.
func (m *screen) chatKey(msg tea.KeyPressMsg) (tea.Cmd, bool) {
	t := m.transcript
	switch m.keys.Find(keymap.Chat, msg) {
	case keymap.ChatDown:
		t.Move(1)
	case keymap.ChatUp:
		t.Move(-1)
	case keymap.ChatTop:
		t.Home()
	case keymap.ChatEnd:
		t.End()
	case keymap.ChatPrevUser:
		t.NextUser(-1)
	case keymap.ChatNextUser:
		t.NextUser(1)
	case keymap.ChatSearch:
		m.openFind()
	case keymap.ChatNext:
		t.SearchNext(-1)
	case keymap.ChatPrev:
		t.SearchNext(1)
	case keymap.ChatToggle:
		t.ToggleSelected()
		return m.loadInner(), true
	case keymap.ChatCopy:
		return m.copyText(t.Copy()), true
	case keymap.ChatOpen:
		return m.openSelected(), true
	case keymap.ChatShow:
		return m.showInPanel(t.SelectedPath()), true
	case keymap.ChatLeave:
		if m.panelOpen && m.class() == wide {
			m.setFocus(onPanel)
		} else {
			m.setFocus(onComposer)
		}
	default:
		return nil, false
	}
	return nil, true
}

// openFind opens the search line of the chat.
func (m *screen) openFind() {
	m.find = composer.New(m.style, m.keys)
}

func (m *screen) closeFind() {
	m.find = nil
	m.transcript.Search("")
}

// findKey takes a key while the search line is open.
func (m *screen) findKey(msg tea.KeyPressMsg) tea.Cmd {
	if m.keys.Find(keymap.Composer, msg) != keymap.Send {
		m.find.Key(msg)
		return nil
	}
	query := m.find.Value()
	m.find = nil
	m.search(query)
	return nil
}

// search looks for a text in the chat.
func (m *screen) search(query string) {
	switch n := m.transcript.Search(query); {
	case query == "":
	case n == 0:
		m.say("not found here: older messages are searched when they are loaded (PgUp)")
	default:
		m.say(count(n, "place") + ": n older, N newer")
	}
}
