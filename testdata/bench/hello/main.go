// Hello is the floor that parley's screen is measured against: the least that a full screen program
// with a text area does with the same libraries at the same frame rate.
package main

import (
	"fmt"
	"os"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
)

type hello struct{ area textarea.Model }

func (h hello) Init() tea.Cmd { return nil }

func (h hello) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if size, ok := msg.(tea.WindowSizeMsg); ok {
		h.area.SetWidth(size.Width)
	}
	var cmd tea.Cmd
	h.area, cmd = h.area.Update(msg)
	return h, cmd
}

func (h hello) View() tea.View {
	v := tea.NewView(h.area.View())
	v.AltScreen = true
	v.Cursor = h.area.Cursor()
	return v
}

func main() {
	area := textarea.New()
	area.Prompt = "❯ "
	area.SetVirtualCursor(false)
	area.Focus() // its command blinks the virtual cursor
	if _, err := tea.NewProgram(hello{area}, tea.WithFPS(120)).Run(); err != nil {
		fmt.Fprintln(os.Stderr, "hello:", err)
		os.Exit(1)
	}
}
