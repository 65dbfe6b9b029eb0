package tui

import (
	tea "charm.land/bubbletea/v2"
)

func (m *screen) commandTimeline(string) tea.Cmd { return nil }
