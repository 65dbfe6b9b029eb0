package tui

import (
	"reflect"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// The frame clock is found by name: an upgrade of the library that renames it must be noticed.
func TestFrameClockIsFound(t *testing.T) {
	field, ok := reflect.TypeFor[tea.Program]().FieldByName("ticker")
	if !ok || field.Type != reflect.TypeFor[*time.Ticker]() {
		t.Fatal("Bubble Tea has no *time.Ticker named ticker any more: an idle chat would tick")
	}
}
