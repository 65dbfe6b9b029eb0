package program

import (
	"strings"
	"unicode/utf8"
)

// value is the text of a directive with the places of its parts.
type value struct {
	// text is all of it: the rest of the directive's line and every line that continues it, each
	// after one space (1.6).
	text     string
	segments []segment

	// The last place that was asked for. Lists ask in rising order, and counting characters from
	// the start each time would take quadratic time on long lines.
	current, offset, col int
}

// segment is the part of a value that stands on one line.
type segment struct {
	line, col int // where the part begins
	start     int // byte of the value's text at which it begins
	text      string
}

func newValue(segments []segment) *value {
	parts := make([]string, len(segments))
	start := 0
	for i := range segments {
		segments[i].start = start
		parts[i] = segments[i].text
		start += len(parts[i]) + 1
	}
	return &value{text: strings.Join(parts, " "), segments: segments, col: segments[0].col}
}

func (v *value) trimmed() string { return strings.TrimSpace(v.text) }

// at returns the place of a byte of the text.
func (v *value) at(offset int) pos {
	if offset < v.segments[v.current].start+v.offset {
		v.current, v.offset, v.col = 0, 0, v.segments[0].col
	}
	for v.current+1 < len(v.segments) && offset >= v.segments[v.current+1].start {
		v.current++
		v.offset, v.col = 0, v.segments[v.current].col
	}
	s := v.segments[v.current]
	within := min(offset-s.start, len(s.text))
	v.col += utf8.RuneCountInString(s.text[v.offset:within])
	v.offset = within
	return pos{s.line, v.col}
}

// start returns the place of the value's first visible character.
func (v *value) start() pos {
	trimmed := v.trimmed()
	if trimmed == "" {
		return v.at(0)
	}
	return v.at(strings.Index(v.text, trimmed))
}
