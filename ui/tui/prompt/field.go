package prompt

import (
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"parley/ui/tui/text"
)

// field is a text being typed. A textarea also where one line is meant: its cursor is right with
// wide letters, and a pasted text of many lines stays whole.
type field struct{ area textarea.Model }

func newField(value string) *field {
	a := textarea.New()
	a.Prompt = ""
	a.ShowLineNumbers = false
	a.CharLimit = 0
	a.MaxHeight, a.MaxContentHeight = 0, 0
	a.DynamicHeight, a.MinHeight = true, 1
	a.EndOfBufferCharacter = ' '
	a.KeyMap.InsertNewline = key.NewBinding(key.WithKeys("ctrl+j", "shift+enter", "alt+enter"))
	a.SetVirtualCursor(false)
	a.SetStyles(textarea.Styles{})
	a.SetWidth(80)
	a.SetValue(value)
	a.MoveToEnd()
	a.Focus()
	return &field{area: a}
}

func (f *field) update(msg tea.Msg) tea.Cmd {
	if k, ok := msg.(tea.KeyPressMsg); ok && k.String() == "ctrl+u" {
		f.area.SetValue("")
		return nil
	}
	var cmd tea.Cmd
	f.area, cmd = f.area.Update(msg)
	return cmd
}

func (f *field) value() string { return f.area.Value() }

// draw adds the text, at most rows lines of it, behind indent cells, and sets the cursor if it is
// typed in.
func (f *field) draw(c *canvas, indent string, rows int, typing bool) {
	w := max(c.w-text.Width(indent)-1, 1)
	f.area.SetWidth(w) // the textarea is as high as its text: what is seen of it is decided here
	view := strings.Split(f.area.View(), "\n")
	cursor := f.area.Cursor()
	from := 0
	if cursor != nil {
		from = min(max(cursor.Y-rows+1, 0), max(len(view)-rows, 0))
	}
	for i, l := range view[from:min(from+max(rows, 1), len(view))] {
		if i == 1 {
			indent = text.Spaces(text.Width(indent))
		}
		c.add(text.Cut(indent+ansi.Strip(l), c.w, ""))
	}
	if typing && cursor != nil {
		cursor.X += text.Width(indent)
		cursor.Y += len(c.lines) - min(max(rows, 1), len(view)-from) - from
		c.cursor = cursor
	}
}
