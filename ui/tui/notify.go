package tui

import (
	"strconv"
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
	if multiplexed(getenv) {
		return false
	}
	switch getenv("TERM_PROGRAM") {
	case "iTerm.app", "WezTerm", "ghostty", "rio":
		return true
	}
	return strings.Contains(getenv("TERM"), "kitty")
}

// multiplexed reports whether a multiplexer stands before the terminal.
func multiplexed(getenv func(string) string) bool { return getenv("TMUX") != "" || getenv("STY") != "" }

// progressBar is what the terminal shows of the turn in its tab or in the task bar, nil for nothing:
// that one runs, or that it waits for the person.
func (m *screen) progressBar() *tea.ProgressBar {
	switch {
	case !m.session.running || !m.showsProgress:
		return nil
	case len(m.asking.prompts) > 0:
		return tea.NewProgressBar(tea.ProgressBarWarning, 100)
	}
	return tea.NewProgressBar(tea.ProgressBarIndeterminate, 0)
}

// showsProgress reports whether the terminal shows OSC 9;4 as progress: others show it as a
// notification, and inside a multiplexer it gets lost.
func showsProgress(getenv func(string) string) bool {
	if multiplexed(getenv) {
		return false
	}
	switch getenv("TERM_PROGRAM") {
	case "WezTerm", "ghostty":
		return true
	}
	vte, err := strconv.Atoi(getenv("VTE_VERSION"))
	return err == nil && vte >= 7900 || getenv("WT_SESSION") != "" || getenv("ConEmuANSI") == "ON"
}

// focused notes that the terminal's window has got or lost the focus.
func (m *screen) focused(has bool) {
	m.attention.away = !has
}
