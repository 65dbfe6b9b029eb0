package style

import "charm.land/lipgloss/v2"

// Glyphs are the signs the screen is drawn with, each one cell wide unless said otherwise.
type Glyphs struct {
	Folded   string // before what can be unfolded
	Unfolded string
	Pending  string // before a call that has not started
	Tree     string // the line beside what is nested
	Dot      string // between facts
	Ellipsis string // where text was cut; one cell, or three in ASCII
	Mask     string // stands for a secret's letters
	Prompt   string // before the composer's text
	Cursor   string // before the chosen line
	Up, Down string // more above, more below
	BarFull  string // of a gauge
	BarEmpty string
	On, Off  string // three cells: a chosen and an unchosen option
	// Spinner has the pictures of a spinner, one only when motion is reduced.
	Spinner []string
	Box     lipgloss.Border
}

func glyphs(o Options) Glyphs {
	g := Glyphs{
		Folded: "▸", Unfolded: "▾", Pending: "·", Tree: "│", Dot: "·", Ellipsis: "…", Mask: "•",
		Prompt: "❯", Cursor: "▌", Up: "↑", Down: "↓", BarFull: "█", BarEmpty: "░",
		On: "(•)", Off: "( )",
		Spinner: []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"},
		Box:     lipgloss.NormalBorder(),
	}
	if o.ASCII {
		g = Glyphs{
			Folded: ">", Unfolded: "v", Pending: "-", Tree: "|", Dot: ".", Ellipsis: "...", Mask: "*",
			Prompt: ">", Cursor: ">", Up: "^", Down: "v", BarFull: "#", BarEmpty: "-",
			On: "(*)", Off: "( )",
			Spinner: []string{"|", "/", "-", "\\"},
			Box:     lipgloss.ASCIIBorder(),
		}
	}
	if o.ReducedMotion {
		g.Spinner = []string{g.Dot}
	}
	return g
}
