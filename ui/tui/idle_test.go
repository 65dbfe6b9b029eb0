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

// A screen on which nothing happens is not woken, and a key after a pause is drawn at once (S-01).
func TestS01FrameClockRests(t *testing.T) {
	var m *screen
	tm := startWith(t, 80, 24, Options{Backend: newBackend(), Chat: newChat("s1")}, func(s *screen) { m = s })
	tm.shows("@planner")
	rests := func() bool { m.clock.mu.Lock(); defer m.clock.mu.Unlock(); return m.clock.phase == resting }
	tm.until("rest", rests)
	tm.typed("a")
	tm.shows("❯ a")
	tm.until("rest after a key", rests)
}
