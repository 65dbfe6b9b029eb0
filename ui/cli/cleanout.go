package cli

import (
	"io"
	"unicode/utf8"

	"parley/ui/tui/text"
)

// cleaned is a stream for text of foreign origin: on a terminal, control sequences in it are made
// visible; a file or a pipe gets it as it is.
func cleaned(out io.Writer) io.Writer {
	if !isTerminal(out) {
		return out
	}
	return &visibleWriter{w: out}
}

// visibleWriter cleans what is written to it. A character that comes in two pieces waits for its rest.
type visibleWriter struct {
	w    io.Writer
	rest []byte
}

// Write implements io.Writer.
func (c *visibleWriter) Write(p []byte) (int, error) {
	data := append(c.rest, p...)
	whole := len(data)
	for back := 1; back < utf8.UTFMax && back <= len(data); back++ {
		if b := data[len(data)-back]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(data[len(data)-back:]) {
				whole = len(data) - back
			}
			break
		}
	}
	// A carriage return may be the first half of a line's end.
	if whole > 0 && whole == len(data) && data[whole-1] == '\r' {
		whole--
	}
	c.rest = append([]byte(nil), data[whole:]...)
	if _, err := io.WriteString(c.w, text.Clean(string(data[:whole]))); err != nil {
		return 0, err
	}
	return len(p), nil
}
