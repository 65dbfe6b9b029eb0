package text

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Width is how many cells a line takes. Sequences take none.
func Width(s string) int {
	if ascii(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

// ascii reports whether each byte of s is one cell.
func ascii(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// Cut returns a line of at most width cells, with tail at its end if something was cut off. Looks
// that are on where it is cut are reset by the sequences behind the cut, which stay.
func Cut(s string, width int, tail string) string {
	if width <= 0 {
		return ""
	}
	if Width(s) <= width {
		return s
	}
	if Width(tail) > width {
		tail = ""
	}
	return ansi.Truncate(s, width, tail)
}

// Fit returns a line of exactly width cells: cut with tail, or filled with spaces.
func Fit(s string, width int, tail string) string {
	s = Cut(s, width, tail)
	return s + Spaces(width-Width(s))
}

// Spread returns a line of exactly width cells with left at its start and right at its end. Left
// is cut when there is not room for both.
func Spread(left, right string, width int, tail string) string {
	r := Width(right)
	if r >= width {
		return Fit(right, width, tail)
	}
	return Fit(left, width-r, tail) + right
}

const blank = "                                                                                "

// Spaces returns n spaces, "" for n <= 0.
func Spaces(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(blank) {
		return blank[:n]
	}
	return strings.Repeat(" ", n)
}

// Wrap breaks text into lines of at most width cells, at spaces where there are some. Looks go on
// over the breaks and each line is whole by itself.
func Wrap(s string, width int) []string {
	if width <= 0 {
		return nil
	}
	return wrapWith(s, width, func(line string) string {
		if strings.IndexByte(line, 0x1b) >= 0 {
			return lipgloss.Wrap(line, width, "")
		}
		return ansi.Wrap(line, width, "")
	})
}

// Hard breaks text into lines of at most width cells without regard to words: every space stays
// in its place. Looks are not carried over the breaks: it is for text without them.
func Hard(s string, width int) []string {
	if width <= 0 {
		return nil
	}
	return wrapWith(s, width, func(line string) string { return ansi.Hardwrap(line, width, true) })
}

func wrapWith(s string, width int, wrap func(string) string) []string {
	var lines []string
	for line := range strings.SplitSeq(Expand(s, 4), "\n") {
		if Width(line) <= width {
			lines = append(lines, line)
			continue
		}
		for part := range strings.SplitSeq(wrap(line), "\n") {
			lines = append(lines, Cut(part, width, ""))
		}
	}
	return lines
}

// Expand replaces tabs by spaces up to the next multiple of stop cells.
func Expand(s string, stop int) string {
	if strings.IndexByte(s, '\t') < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 32)
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		column := 0
		for j, part := range strings.Split(line, "\t") {
			if j > 0 {
				n := stop - column%stop
				b.WriteString(Spaces(n))
				column += n
			}
			b.WriteString(part)
			column += Width(part)
		}
	}
	return b.String()
}
