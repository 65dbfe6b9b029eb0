package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"parley/ui/tui/files"
	"parley/ui/tui/keymap"
	"parley/ui/tui/text"
)

// item is one line of a choice.
type item struct {
	value  string // what is chosen
	label  string // as it is shown; the value when empty
	detail string // what else is known of it, at the right
}

func (i item) name() string {
	if i.label != "" {
		return i.label
	}
	return i.value
}

// plainItems are items without details.
func plainItems(values ...string) []item {
	out := make([]item, len(values))
	for i, v := range values {
		out[i] = item{value: v}
	}
	return out
}

// choice is a list over the screen, to choose one of: letters narrow it.
type choice struct {
	title  string
	items  []item
	filter string
	at     int
	done   func(m *screen, value string) tea.Cmd
	// moved is told what is under the cursor, closed that nothing was chosen; both may be nil.
	moved  func(m *screen, value string) tea.Cmd
	closed func(m *screen)
	empty  string // said when there is nothing
}

func newChoice(title string, items []item, done func(m *screen, value string) tea.Cmd) *choice {
	return &choice{title: title, items: items, done: done}
}

// choiceLoaded opens a choice with what was asked for.
type choiceLoaded struct {
	gen
	choice *choice
	err    error
}

func (c choiceLoaded) take(m *screen) tea.Cmd {
	switch {
	case c.err != nil:
		m.trouble("the list cannot be read", c.err)
	case len(c.choice.items) == 0 && c.choice.empty != "":
		m.say(c.choice.empty)
	case len(c.choice.items) == 0:
		m.say("there is nothing to choose from")
	default:
		m.choice = c.choice
	}
	return nil
}

// shown are the items that fit what was typed, the best first.
func (c *choice) shown() []item {
	query := strings.ToLower(strings.TrimSpace(c.filter))
	if query == "" {
		return c.items
	}
	type scored struct {
		item
		score int
	}
	var found []scored
	for _, it := range c.items {
		score, ok := files.Score(it.name(), query)
		if ok {
			score += 1000
		} else if i := strings.Index(strings.ToLower(it.detail), query); i >= 0 {
			score, ok = -i, true
		}
		if ok {
			found = append(found, scored{it, score})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return b.score - a.score })
	out := make([]item, len(found))
	for i, f := range found {
		out[i] = f.item
	}
	return out
}

// choiceKey takes a key while a choice is open.
func (m *screen) choiceKey(msg tea.KeyPressMsg) tea.Cmd {
	c := m.choice
	items := c.shown()
	before := c.at
	switch a := m.keys.Find(keymap.Lists, msg); {
	case a == keymap.ListTake:
		m.choice = nil
		if c.at < len(items) {
			return c.done(m, items[c.at].value)
		}
		if c.closed != nil {
			c.closed(m)
		}
		return nil
	case a != "":
		c.at = min(max(c.at+listStep(a, 8), 0), max(len(items)-1, 0))
	case m.keys.Find(keymap.Edit, msg) == keymap.EditBackspace:
		if r := []rune(c.filter); len(r) > 0 {
			c.filter, c.at = string(r[:len(r)-1]), 0
		}
	case m.keys.Find(keymap.Edit, msg) == keymap.EditKillBack:
		c.filter, c.at = "", 0
	case msg.Text != "":
		c.filter += msg.Text
		c.at = 0
	}
	if items = c.shown(); c.moved != nil && c.at < len(items) && (c.at != before || msg.Text != "") {
		return c.moved(m, items[c.at].value)
	}
	return nil
}

// listStep is how far a key moves in a list with pages of that many rows.
func listStep(a keymap.Action, page int) int {
	switch a {
	case keymap.ListDown:
		return 1
	case keymap.ListUp:
		return -1
	case keymap.ListPgDown:
		return page
	case keymap.ListPgUp:
		return -page
	case keymap.ListTop:
		return -1 << 30
	case keymap.ListEnd:
		return 1 << 30
	}
	return 0
}

// closeChoice closes the open choice with nothing chosen.
func (m *screen) closeChoice() {
	c := m.choice
	m.choice = nil
	if c != nil && c.closed != nil {
		c.closed(m)
	}
}

// choiceLines draws the choice in w columns and at most h lines.
func (m *screen) choiceLines(w, h int) []string {
	c := m.choice
	items := c.shown()
	rows := min(len(items), max(h-3, 1))
	top := max(min(c.at-rows/2, len(items)-rows), 0)
	box, border := m.style.Glyphs.Box, m.style.Accent
	inner := max(w-4, 0)
	edge := func(l, r string) string {
		return border.Render(text.Cut(l+strings.Repeat(box.Top, max(w-2, 0))+r, w, ""))
	}
	side := border.Render(box.Left)
	line := func(s string) string {
		return text.Cut(side+" "+text.Fit(s, inner, m.style.Glyphs.Ellipsis)+" "+side, w, "")
	}
	title := m.style.Title.Render(text.Line(c.title))
	if c.filter != "" {
		title += m.style.Accent.Render("  /" + text.Line(c.filter))
	}
	right := ""
	if len(items) > rows {
		right = m.style.Muted.Render(place(c.at+1, len(items)))
	}
	lines := []string{edge(box.TopLeft, box.TopRight), line(text.Spread(title, right, inner, m.style.Glyphs.Ellipsis))}
	for i := top; i < top+rows; i++ {
		lines = append(lines, line(m.choiceRow(items[i], i == c.at, inner)))
	}
	if len(items) == 0 {
		lines = append(lines, line(m.style.Muted.Render("  nothing fits")))
	}
	lines = append(lines, edge(box.BottomLeft, box.BottomRight))
	return lines[:min(len(lines), max(h, 0))]
}

// choiceRow is one item, in columns where there is room for what else is known of it.
func (m *screen) choiceRow(it item, chosen bool, w int) string {
	name, detail := text.Line(it.name()), text.Line(it.detail)
	if column := min(w*2/5, 30); detail != "" && w >= 50 {
		name = text.Fit(name, max(column, min(text.Width(name), w*3/5)), m.style.Glyphs.Ellipsis) + "  "
	} else {
		detail = ""
	}
	if chosen {
		return m.style.Selection.Render(text.Fit(m.style.Glyphs.Cursor+" "+name+detail, w, m.style.Glyphs.Ellipsis))
	}
	return text.Cut("  "+name+m.style.Muted.Render(detail), w, m.style.Glyphs.Ellipsis)
}
