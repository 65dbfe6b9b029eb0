package prompt

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"parley/agent"
	"parley/toolrt"
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
		if in.at < in.last() {
			in.at++
			return nil
		}
		in.at = 0
		return send(WantText{})
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
	case len(in.q.Keep) > 0 && (row == nil || row.secret && row.field != nil): // in dots no cursor moves
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
