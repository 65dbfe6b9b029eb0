package prompt

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"parley/agent"
	"parley/toolrt"
	"parley/ui/tui/style"
	"parley/ui/tui/text"
)

// input is the dialog that asks for values.
type input struct {
	q      agent.InputQuestion
	rows   []*inputRow
	at     int // the row that gets keys; len(rows) is the row of where to keep the values
	keep   int
	shown  bool // sensitive values are shown for a moment
	shows  int  // which moment: a late end of an earlier one is ignored
	closed bool
}

// inputRow is one value asked for.
type inputRow struct {
	spec   toolrt.Field
	secret bool
	field  *field // nil when one of options is chosen
	choice int
}

// showFor is how long Ctrl+R shows sensitive values.
const showFor = 3 * time.Second

// hide ends the moment in which values are shown.
type hide struct {
	id string
	n  int
}

// NewInput returns the dialog of an input question.
func NewInput(q agent.InputQuestion) Prompt {
	in := &input{q: q}
	for _, f := range q.Question.Fields {
		row := &inputRow{spec: f, secret: q.Question.Sensitive}
		if f.Sensitive != nil {
			row.secret = *f.Sensitive
		}
		if len(f.Options) == 0 {
			row.field = newField("")
		}
		in.rows = append(in.rows, row)
	}
	return in
}

func (in *input) ID() string       { return in.q.ID }
func (in *input) Kind() Kind       { return Input }
func (in *input) Path() string     { return in.q.Path }
func (in *input) FullScreen() bool { return false }
func (in *input) Editing() bool    { return in.row() != nil && in.row().field != nil }

// row is the row that gets keys, nil when it is the one of where to keep the values.
func (in *input) row() *inputRow {
	if in.at < len(in.rows) {
		return in.rows[in.at]
	}
	return nil
}

// last is the number of the last row.
func (in *input) last() int {
	if len(in.q.Keep) > 0 {
		return len(in.rows)
	}
	return max(len(in.rows)-1, 0)
}

// Update takes keys while the dialog is armed.
func (in *input) Update(msg tea.Msg) (Prompt, tea.Cmd) {
	if in.closed {
		return in, nil
	}
	switch msg := msg.(type) {
	case hide:
		if msg.id == in.q.ID && msg.n == in.shows {
			in.shown = false
		}
	case Edited:
		if row := in.row(); msg.ID == in.q.ID && row != nil && row.field != nil {
			row.field.area.SetValue(strings.TrimRight(msg.Text, "\n"))
		}
	case tea.PasteMsg:
		if row := in.row(); row != nil && row.field != nil {
			if row.secret { // what is pasted into a secret is one line: its end is not meant
				msg.Content = strings.TrimRight(msg.Content, "\r\n")
			}
			return in, row.field.update(msg)
		}
	case tea.KeyPressMsg:
		return in, in.key(msg)
	default:
		if row := in.row(); row != nil && row.field != nil {
			return in, row.field.update(msg)
		}
	}
	return in, nil
}

func (in *input) key(msg tea.KeyPressMsg) tea.Cmd {
	row := in.row()
	switch k := msg.String(); k {
	case "esc", "ctrl+c":
		in.closed = true
		return send(InputAnswered{ID: in.q.ID, Answer: agent.InputAnswer{Declined: true}})
	case "enter":
		if in.at >= len(in.rows)-1 {
			return in.use()
		}
		in.at++
	case "tab":
		in.at = (in.at + 1) % (in.last() + 1)
	case "shift+tab":
		in.at = (in.at + in.last()) % (in.last() + 1)
	case "ctrl+r":
		in.shows++
		in.shown = true
		return tea.Tick(showFor, func(n int) func(time.Time) tea.Msg {
			return func(time.Time) tea.Msg { return hide{in.q.ID, n} }
		}(in.shows))
	case "up", "down":
		return in.vertical(k, msg)
	case "left", "right":
		return in.sideways(k, msg)
	case "ctrl+g":
		if row != nil && row.field != nil && !row.secret {
			return send(WantEditor{ID: in.q.ID, Text: row.field.value(), Name: "answer.txt"})
		}
	default:
		if row != nil && row.field != nil {
			return row.field.update(msg)
		}
	}
	return nil
}

// vertical moves between rows, or between the lines of a long value.
func (in *input) vertical(k string, msg tea.KeyPressMsg) tea.Cmd {
	if row := in.row(); row != nil && row.field != nil && row.field.area.LineCount() > 1 {
		line := row.field.area.Line()
		if k == "up" && line > 0 || k == "down" && line < row.field.area.LineCount()-1 {
			return row.field.update(msg)
		}
	}
	if k == "up" {
		in.at = max(in.at-1, 0)
	} else {
		in.at = min(in.at+1, in.last())
	}
	return nil
}

// sideways chooses among options, or moves in a text.
func (in *input) sideways(k string, msg tea.KeyPressMsg) tea.Cmd {
	by := 1
	if k == "left" {
		by = -1
	}
	row := in.row()
	switch {
	case row == nil && len(in.q.Keep) > 0:
		in.keep = min(max(in.keep+by, 0), len(in.q.Keep)-1)
	case row != nil && row.field == nil:
		row.choice = min(max(row.choice+by, 0), len(row.spec.Options)-1)
	case row != nil:
		return row.field.update(msg)
	}
	return nil
}

// use sends the values.
func (in *input) use() tea.Cmd {
	in.closed = true
	a := agent.InputAnswer{Values: map[string]string{}}
	for _, row := range in.rows {
		if row.field == nil {
			a.Values[row.spec.Name] = row.spec.Options[row.choice]
		} else {
			a.Values[row.spec.Name] = row.field.value()
		}
	}
	if len(in.q.Keep) > 0 {
		a.Keep = in.q.Keep[in.keep]
	}
	return send(InputAnswered{ID: in.q.ID, Answer: a})
}

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
	above := sub(c, in.head)
	below := sub(c, in.foot)
	spare := c.h - rows
	if len(below) > 0 && spare >= len(below)+1 {
		spare -= len(below)
	} else {
		below = nil
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

// head is what the question is about.
func (in *input) head(k *canvas) {
	q := in.q
	if q.Credential != "" {
		k.spread(k.Strong.Render(strictLine(q.Credential)), k.Muted.Render("for "+strictLine(q.Tool)))
		if len(q.Sets) > 0 {
			k.field("sets", strictLine(strings.Join(q.Sets, ", "))+" for "+strictLine(q.Tool)+" only")
		}
	} else {
		k.cut(k.Muted.Render("from " + strictLine(q.Tool)))
	}
	if q.Question.Message != "" {
		k.wrap(text.Strict(q.Question.Message))
	}
	k.add("")
}

// foot says what becomes of the values, and the keys.
func (in *input) foot(k *canvas) {
	k.add("")
	if in.q.Credential != "" {
		k.wrap(k.Muted.Render("Never written down: sessions, logs and the model see <secret:" + strictLine(in.q.Credential) + ">."))
	}
	pairs := []string{"Enter", "use"}
	if in.last() > 0 {
		pairs = append(pairs, "Tab", "next field")
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
