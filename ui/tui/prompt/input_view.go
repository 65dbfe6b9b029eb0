package prompt

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"parley/ui/tui/style"
	"parley/ui/tui/text"
)

// View draws the dialog.
func (in *input) View(width, maxHeight int, st State, s *style.Set) string {
	view, _ := in.paint(width, maxHeight, st, s)
	return view
}

// Cursor is where the value is typed.
func (in *input) Cursor(width, maxHeight int, st State, s *style.Set) *tea.Cursor {
	if !st.Armed {
		return nil
	}
	_, cursor := in.paint(width, maxHeight, st, s)
	return cursor
}

func (in *input) paint(width, maxHeight int, st State, s *style.Set) (string, *tea.Cursor) {
	f := frame{title: "asks you", right: "for call " + strictLine(in.q.Label) + " of " + asker(in.q.Agents, s), armed: st.Armed}
	if in.q.Path == "" && in.q.Label == "" {
		f.right = "" // the person's own command asks
	}
	decline := "Esc decline"
	if in.q.Credential != "" {
		f.title = "credential needed"
		decline = "Esc decline (the tool gets \"no credential\")"
	}
	if st.Total > 1 {
		f.title += fmt.Sprintf(" %s %d of %d waiting", s.Glyphs.Dot, st.Place, st.Total)
	}
	f.small = st.Composing && !st.Armed
	switch {
	case f.small:
		f.right = "press Tab to answer, or keep typing"
	case st.Armed:
		f.bottom = decline
	default:
		f.bottom = "Tab to answer"
	}
	return paint(width, maxHeight, s, f, func(c *canvas) {
		if f.small {
			c.cut(strictLine(orElse(in.q.Question.Message, in.subject())))
			return
		}
		in.body(c, st.Armed)
	})
}

// subject is what is asked for, when there is no message.
func (in *input) subject() string {
	if in.q.Credential != "" {
		return in.q.Credential + " for " + in.q.Tool
	}
	var names []string
	for _, r := range in.rows {
		names = append(names, r.spec.Name)
	}
	return in.q.Tool + ": " + strings.Join(names, ", ")
}

// body draws the rows, and above and below them as much of the rest as there is room for.
func (in *input) body(c *canvas, armed bool) {
	rows := max(len(in.rows), 1)
	if len(in.q.Keep) > 0 {
		rows++
	}
	above := sub(c, func(k *canvas) { in.head(k, false) })
	below := sub(c, in.foot)
	spare := c.h - rows
	if len(below) > 0 && spare >= len(below)+1 {
		spare -= len(below)
	} else {
		below = nil
	}
	if len(above) > spare { // what is asked comes before who asks: the frame names the agent
		above = sub(c, func(k *canvas) { in.head(k, true) })
	}
	if len(above) > spare {
		above = above[:max(spare, 0)]
		if len(above) > 0 {
			above[len(above)-1] = c.Warning.Render(fmt.Sprintf("%s more", c.Glyphs.Ellipsis))
		}
	}
	c.add(above...)
	from, to := 0, len(in.rows)
	if room := c.left() - len(below); len(in.q.Keep) > 0 && to > room-1 || to > room { // keep the chosen row in view
		n := max(room, 1)
		if len(in.q.Keep) > 0 {
			n = max(room-1, 1)
		}
		from = min(max(in.at-n+1, 0), max(to-n, 0))
		to = min(from+n, to)
	}
	for i := from; i < to; i++ {
		in.drawRow(c, i, armed)
	}
	if len(in.q.Keep) > 0 {
		in.drawKeep(c)
	}
	c.add(below...)
}

// head is what the question is about; short without what can be missed.
func (in *input) head(k *canvas, short bool) {
	q := in.q
	if q.Credential != "" {
		k.spread(k.Strong.Render(strictLine(q.Credential)), k.Muted.Render("for "+strictLine(q.Tool)))
		if len(q.Sets) > 0 {
			k.field("sets", strictLine(strings.Join(q.Sets, ", "))+" for "+strictLine(q.Tool)+" only")
		}
	} else if q.Tool != "" && (!short || q.Question.Message == "") {
		k.cut(k.Muted.Render("from " + strictLine(q.Tool)))
	}
	if q.Question.Message != "" {
		k.wrap(text.Strict(q.Question.Message))
	}
	if !short {
		k.add("")
	}
}

// foot says what becomes of the values, and the keys.
func (in *input) foot(k *canvas) {
	k.add("")
	if in.q.Credential != "" {
		k.wrap(k.Muted.Render("Never written down: sessions, logs and the model see <secret:" + strictLine(in.q.Credential) + ">."))
	}
	pairs := []string{"Enter", "use"}
	if in.at < in.last() {
		pairs = append(pairs, "Tab", "next field")
	} else {
		pairs = append(pairs, "Tab", "text")
	}
	if slices.ContainsFunc(in.rows, func(r *inputRow) bool { return r.field == nil }) || len(in.q.Keep) > 0 {
		pairs = append(pairs, "Left/Right", "choose")
	}
	if slices.ContainsFunc(in.rows, func(r *inputRow) bool { return r.secret }) {
		pairs = append(pairs, "Ctrl+R", "show 3s")
	}
	k.keys(append(pairs, "Ctrl+U", "clear")...)
}

// dots stands for a secret value, whatever its length.
const dots = 8

func (in *input) drawRow(c *canvas, i int, armed bool) {
	row := in.rows[i]
	mark := " "
	if i == in.at {
		mark = c.Accent.Render(c.Glyphs.Cursor)
	}
	width := 0
	for _, r := range in.rows {
		width = max(width, text.Width(strictLine(r.spec.Name)))
	}
	width = min(width, max(c.w/3, 4))
	head := mark + " " + c.Strong.Render(text.Fit(strictLine(row.spec.Name), width, c.Glyphs.Ellipsis)) + "  "
	switch {
	case row.field == nil:
		c.cut(head + options(c, row.spec.Options, row.choice, c.w-width-4))
	case row.secret && !in.shown:
		line := head
		if row.field.value() != "" {
			line += strings.Repeat(c.Glyphs.Mask, dots)
			c.spread(line, c.Muted.Render("filled"))
		} else {
			c.spread(line, c.Muted.Render(strictLine(row.spec.Description)))
		}
		if i == in.at && armed {
			c.cursor = tea.NewCursor(text.Width(line), len(c.lines)-1)
		}
	case row.field.value() == "" && row.spec.Description != "":
		c.cut(head + c.Muted.Render(strictLine(row.spec.Description)))
		if i == in.at && armed {
			c.cursor = tea.NewCursor(text.Width(head), len(c.lines)-1)
		}
	default:
		rows := 1
		if i == in.at {
			rows = max(1, min(4, c.left()-(len(in.rows)-i-1)-1))
		}
		row.field.draw(c, head, rows, i == in.at && armed)
	}
}

var keepNames = map[string]string{"call": "this call", "session": "this session", "keyring": "keychain", "file": "file"}

func (in *input) drawKeep(c *canvas) {
	var names []string
	for _, k := range in.q.Keep {
		names = append(names, orElse(keepNames[k], k))
	}
	mark := " "
	if in.row() == nil {
		mark = c.Accent.Render(c.Glyphs.Cursor)
	}
	c.cut(mark + " " + c.Muted.Render("keep it") + "  " + options(c, names, in.keep, c.w-11))
}

// options draws what can be chosen: all of it if it fits, else what is chosen and its number.
func options(c *canvas, names []string, chosen, width int) string {
	var parts []string
	for i, n := range names {
		sign := c.Glyphs.Off
		if i == chosen {
			sign = c.Glyphs.On
		}
		parts = append(parts, sign+" "+strictLine(n))
	}
	if all := strings.Join(parts, "  "); text.Width(all) <= width {
		return all
	}
	return fmt.Sprintf("< %s >  %d of %d", text.Cut(strictLine(names[chosen]), max(width-14, 4), c.Glyphs.Ellipsis), chosen+1, len(names))
}
