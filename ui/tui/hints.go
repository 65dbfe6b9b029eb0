package tui

import (
	"fmt"
	"slices"

	"parley/ui/tui/keymap"
	"parley/ui/tui/prompt"
	"parley/ui/tui/text"
)

// hint is one key of the last line: "Ctrl+T calls", shorter "^T calls", at last "^T".
type hint struct{ key, short, word string }

func (h hint) form(n int) (key, word string) {
	switch n {
	case 0:
		return h.key, h.word
	case 1:
		return h.short, h.word
	}
	return h.short, ""
}

// firstHints are the hints that keep their words the longest.
const firstHints = 3

// hintLine draws the last line. All hints are long if there is room, else all short; then the less
// important ones are keys alone, then left out, and at last the first ones are keys alone too.
func (m *screen) hintLine(w int) string {
	hints := m.hints()
	right := m.hintFacts()
	form := shrinkHints(&hints, w-text.Width(right)-2)
	line := ""
	for i, h := range hints {
		key, word := h.form(form[i])
		line += " " + m.style.Key.Render(key)
		if word != "" {
			line += " " + m.style.Muted.Render(word)
		}
		line += "  "
	}
	return text.Spread(line, m.style.Muted.Render(right)+" ", w, "")
}

// shrinkHints drops hints and chooses the forms of the others so that they fit into room columns.
func shrinkHints(hints *[]hint, room int) []int {
	form := make([]int, len(*hints))
	fits := func() bool {
		n := 0
		for i, h := range *hints {
			key, word := h.form(form[i])
			n += text.Width(key) + 3
			if word != "" {
				n += text.Width(word) + 1
			}
		}
		return n <= room
	}
	shrink := func(to, from int) {
		for i := len(*hints) - 1; i >= from && !fits(); i-- {
			form[i] = to
		}
	}
	if !fits() {
		for i := range form {
			form[i] = 1
		}
	}
	shrink(2, firstHints)
	for len(*hints) > firstHints && !fits() {
		*hints = (*hints)[:len(*hints)-1]
	}
	shrink(2, 0)
	for len(*hints) > 1 && !fits() {
		*hints = (*hints)[:len(*hints)-1]
	}
	return form
}

// hintFacts stand at the right end of the hints.
func (m *screen) hintFacts() string {
	facts := ""
	if where := map[focus]string{onPanel: "panel", onChat: "chat"}[m.focus]; where != "" && m.page == pageChat && m.choice == nil {
		facts = "keys go to the " + where + "  "
		if m.w < 60 {
			facts = "keys: " + where + "  "
		}
	}
	if n := m.transcript.Below(); n > 0 {
		facts += fmt.Sprintf("%d new below  ", n)
	}
	if n := len(m.session.queue); n > 0 {
		facts += fmt.Sprintf("queued %d", n)
	}
	return facts
}

// hints are the keys that matter now, the most important first.
func (m *screen) hints() []hint {
	switch {
	case m.leader.on:
		return []hint{{"Esc", "Esc", "close"}}
	case m.choice != nil:
		return []hint{{"Enter", "Enter", "choose"}, {"Esc", "Esc", "close"}, {"Up/Down", "Up/Dn", "move"}}
	case m.page == pageReader:
		return []hint{{"Esc", "Esc", "back"}, {"PgUp/PgDn", "PgUp/Dn", "scroll"}}
	case m.page == pageTimeline:
		return slices.Concat(m.pair(keymap.TimeBack, keymap.TimeOn, "step"), m.pair(keymap.TimePrevTurn, keymap.TimeNextTurn, "turn"),
			m.of(keymap.TimeShow, keymap.TimeFork), []hint{{"Esc", "Esc", "back"}}, m.of(keymap.TimeDiff, keymap.TimePlay))
	case m.page == pagePicker && m.picker.Entering() == "delete":
		return []hint{{"y", "y", "delete"}, {"Esc", "Esc", "back to the list"}}
	case m.page == pagePicker && m.picker.Entering() != "":
		return []hint{{"Enter", "Enter", m.picker.Entering()}, {"Esc", "Esc", "back to the list"}}
	case m.page == pagePicker:
		return m.of(keymap.PickerOpen, keymap.PickerSearch, keymap.PickerAll, keymap.PickerPreview, keymap.PickerNew, keymap.PickerFork,
			keymap.PickerRename, keymap.PickerTimeline, keymap.PickerExport, keymap.PickerDelete, keymap.PickerSort, keymap.PickerBack)
	case m.find != nil:
		return []hint{{"Enter", "Enter", "search"}, {"Esc", "Esc", "close"}}
	case m.composer.Searching():
		return append([]hint{{"Enter", "Enter", "take"}, {"Esc", "Esc", "close"}}, m.of(keymap.History)...)
	case m.focus == onChat:
		return slices.Concat(m.pair(keymap.ChatDown, keymap.ChatUp, "move"), m.of(keymap.ChatToggle, keymap.ChatCopy, keymap.ChatSearch,
			keymap.ChatOpen, keymap.ChatShow), m.pair(keymap.ChatPrevUser, keymap.ChatNextUser, "you"), m.of(keymap.ChatEnd), []hint{{"Esc", "Esc", "text"}})
	case m.focus == onPanel:
		return slices.Concat(m.pair(keymap.PanelDown, keymap.PanelUp, "move"), m.pair(keymap.PanelFold, keymap.PanelUnfold, "fold"),
			m.of(keymap.PanelOpen), []hint{{"Esc", "Esc", "text"}}, m.of(keymap.PanelCancel, keymap.PanelFilter, keymap.PanelCopy,
				keymap.PanelFollow, keymap.PanelShow, keymap.PanelNextTab, keymap.PanelRerun, keymap.PanelBackground))
	}
	return m.writingHints()
}

// writingHints are those of the composer.
func (m *screen) writingHints() []hint {
	if m.suggest.open() {
		return []hint{{m.keys.Key(keymap.Next), m.keys.ShortKey(keymap.Next), "complete"}, {"Up/Down", "Up/Dn", "move"}, {"Esc", "Esc", "close"}}
	}
	var out []hint
	switch {
	case m.prompt() != nil:
		out = m.promptHints()
	case m.session.running:
		out = append(out, hint{"Esc", "Esc", "interrupt"})
		if !m.composer.Empty() {
			out = append(out, hint{m.keys.Key(keymap.Next), m.keys.ShortKey(keymap.Next), "queue"})
		}
	}
	out = append(out, m.of(keymap.Calls, keymap.Details)...)
	if m.composer.Empty() {
		out = append(out, m.of(keymap.HelpPage)...)
	}
	return append(out, m.of(keymap.Mode, keymap.Palette, keymap.History)...)
}

// promptHints are those while a question waits.
func (m *screen) promptHints() []hint {
	esc := hint{"Esc", "Esc", prompt.Escape(m.prompt())}
	if m.batchShown() {
		esc.word = "deny the rest"
	}
	next := hint{m.keys.Key(keymap.Next), m.keys.ShortKey(keymap.Next), "answer"}
	switch {
	case !m.asking.armed:
		return []hint{next, esc}
	case m.prompt().Kind() == prompt.Input:
		next.word = "next"
	default:
		next.word = "text"
	}
	return []hint{esc, next}
}

// pair makes one hint of two opposite actions.
func (m *screen) pair(a, b keymap.Action, word string) []hint {
	key := m.keys.Key(a) + "/" + m.keys.Key(b)
	if m.keys.Key(a) == "" || m.keys.Key(b) == "" {
		return m.of(a, b)
	}
	return []hint{{key, m.keys.ShortKey(a) + "/" + m.keys.ShortKey(b), word}}
}

// of makes hints of actions that have a key.
func (m *screen) of(actions ...keymap.Action) []hint {
	var out []hint
	for _, a := range actions {
		if k := m.keys.Key(a); k != "" {
			out = append(out, hint{k, m.keys.ShortKey(a), m.keys.Get(a).Hint})
		}
	}
	return out
}
