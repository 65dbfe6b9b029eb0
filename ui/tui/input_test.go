package tui

import (
	"strings"
	"testing"
	"time"
)

// What comes in is a paste when something follows a line end without a pause, however it is cut
// into reads (I-01).
func TestArrivals(t *testing.T) {
	const no, short, long = time.Duration(0), 50 * time.Microsecond, 20 * time.Millisecond
	for _, c := range []struct {
		name  string
		reads []string
		gap   time.Duration
		want  bool
	}{
		{"a key", []string{"a"}, no, false},
		{"Enter", []string{"\r"}, no, false},
		{"a line and Enter", []string{"hello\r"}, no, false},
		{"a line and CRLF", []string{"hello\r\n"}, no, false},
		{"two lines", []string{"one\rtwo"}, no, true},
		{"the last read of many lines", []string{"one\r", "two\r"}, short, true},
		{"one byte at a time", strings.Split("one\ntwo\n", ""), short, true},
		{"typed", strings.Split("one\rtwo\r", ""), long, false},
		{"Enter and a mouse move", []string{"\r\x1b[<35;4;5M"}, no, false},
		{"a marked paste and Enter", []string{"\x1b[200~one\ntwo", "three\n\x1b[201~\r"}, short, false},
	} {
		var a arrivals
		now := time.Unix(0, 0)
		for _, r := range c.reads {
			a.saw([]byte(r), now)
			now = now.Add(c.gap)
		}
		if got := a.pasting.Load(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
