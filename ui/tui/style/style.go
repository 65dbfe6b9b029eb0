// Package style turns a theme into what the screen is drawn with: Lip Gloss styles and glyphs by
// meaning ("muted", "success", the sign of a folded call). It is the only place that knows both
// the theme's tokens and the terminal's abilities; components ask it for a meaning and never name
// a colour or a box character. Start from [New].
package style

import (
	"sync"

	"charm.land/lipgloss/v2"
	"github.com/alecthomas/chroma/v2"

	"parley/themes"
)

// Options say what the terminal can show and what the person wants.
type Options struct {
	// NoColor leaves all colours out (NO_COLOR); bold, underline and reverse stay.
	NoColor bool
	// ASCII replaces box characters and signs by ASCII ones.
	ASCII bool
	// ReducedMotion stops spinners.
	ReducedMotion bool
}

// Set is everything a component draws with. A Set is never changed after [New], so it may be
// compared by address to see whether cached lines are still right, and shared.
type Set struct {
	Theme   themes.Theme
	Options Options
	Glyphs  Glyphs

	Text      lipgloss.Style // running text
	Strong    lipgloss.Style // text that stands out
	Muted     lipgloss.Style
	Accent    lipgloss.Style
	Title     lipgloss.Style // titles of panels and dialogs
	Key       lipgloss.Style // a key in a hint
	Success   lipgloss.Style
	Warning   lipgloss.Style
	Error     lipgloss.Style
	Running   lipgloss.Style
	Border    lipgloss.Style
	Selection lipgloss.Style // the chosen line; reverse where there is no colour
	User      lipgloss.Style
	Agent     lipgloss.Style
	Reasoning lipgloss.Style
	Link      lipgloss.Style
	Heading   lipgloss.Style
	Code      lipgloss.Style

	DiffAdd    lipgloss.Style
	DiffRemove lipgloss.Style
	DiffHunk   lipgloss.Style

	chroma func() *chroma.Style
}

// New makes the styles of a theme.
func New(t themes.Theme, o Options) *Set {
	fg := func(token string) lipgloss.Style {
		st := lipgloss.NewStyle()
		if c := t.Color(token); c != "" && !o.NoColor {
			st = st.Foreground(lipgloss.Color(c))
		}
		return st
	}
	s := &Set{
		Theme: t, Options: o, Glyphs: glyphs(o),
		Text:       fg(themes.Text),
		Strong:     fg(themes.Text).Bold(true),
		Muted:      fg(themes.Muted),
		Accent:     fg(themes.Accent),
		Title:      fg(themes.Accent).Bold(true),
		Key:        fg(themes.Accent).Bold(true),
		Success:    fg(themes.Success),
		Warning:    fg(themes.Warning).Bold(true),
		Error:      fg(themes.Error),
		Running:    fg(themes.Running),
		Border:     fg(themes.Border),
		User:       fg(themes.User).Bold(true),
		Agent:      fg(themes.Agent).Bold(true),
		Reasoning:  fg(themes.Muted).Italic(true),
		Link:       fg(themes.Link).Underline(true),
		Heading:    fg(themes.Heading).Bold(true),
		Code:       fg(themes.Code),
		DiffAdd:    fg(themes.DiffAdd),
		DiffRemove: fg(themes.DiffRemove),
		DiffHunk:   fg(themes.DiffHunk),
	}
	s.Selection = selection(t, o)
	s.chroma = sync.OnceValue(func() *chroma.Style { return chromaStyle(t, o) })
	return s
}

// selection is a background where there are colours, else reverse.
func selection(t themes.Theme, o Options) lipgloss.Style {
	bg, text := t.Color(themes.Selection), t.Color(themes.Selected)
	if o.NoColor || bg == "" {
		return lipgloss.NewStyle().Reverse(true)
	}
	st := lipgloss.NewStyle().Background(lipgloss.Color(bg))
	if text != "" {
		st = st.Foreground(lipgloss.Color(text))
	}
	return st
}

// State returns the style of a state word ("ok", "run", "ASK", "xx", ...). A word without a style
// of its own is muted.
func (s *Set) State(word string) lipgloss.Style {
	switch word {
	case "ok", "idle", "done":
		return s.Success
	case "run":
		return s.Running
	case "ask", "ASK", "CRED", "$":
		return s.Warning
	case "xx", "no", "ERR", "STOP":
		return s.Error
	}
	return s.Muted
}
