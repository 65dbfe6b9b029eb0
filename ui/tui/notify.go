package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"parley/ui/tui/text"
)

// When the person is told by bell or notification that parley wants them.
const (
	NotifyUnfocused = "unfocused" // while the terminal says that another window has the focus
	NotifyAlways    = "always"
	NotifyOff       = "off"
)

// notifyEvery is how much time lies between two notifications at least.
const notifyEvery = 5 * time.Second

// attention is what is known of where the person looks.
type attention struct {
	away bool // another window has the focus
	last time.Time
}

// notify tells a person who looks elsewhere what has happened: by a notification where the terminal
// is known to show one, else by its bell. There is one per event, and not two within notifyEvery.
func (m *screen) notify(what string) tea.Cmd {
	now := m.opts.Now()
	switch {
	case m.opts.Notify == NotifyOff, m.opts.Notify != NotifyAlways && !m.attention.away:
		return nil
	case !m.attention.last.IsZero() && now.Sub(m.attention.last) < notifyEvery:
		return nil
	}
	m.attention.last = now
	if !showsNotifications(m.opts.Getenv) {
		return tea.Raw("\a")
	}
	return tea.Raw(ansi.Notify("parley: " + text.Cut(text.Line(what), 100, m.style.Glyphs.Ellipsis)))
}

// showsNotifications reports whether the terminal shows OSC 9 as a notification. Inside a multiplexer
// only the bell gets through.
func showsNotifications(getenv func(string) string) bool {
	if getenv("TMUX") != "" || getenv("STY") != "" {
		return false
	}
	switch getenv("TERM_PROGRAM") {
	case "iTerm.app", "WezTerm", "ghostty", "rio":
		return true
	}
	return strings.Contains(getenv("TERM"), "kitty")
}

// focused notes that the terminal's window has got or lost the focus.
func (m *screen) focused(has bool) {
	m.attention.away = !has
}
