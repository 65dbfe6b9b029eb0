// Package diff draws the difference between two texts: in two columns where there is room, else as a
// unified diff. Nothing is cut: a long line goes on in the next row. Text is hostile and drawn with
// every sign of it shown.
package diff

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"parley/ui/tui/style"
	"parley/ui/tui/text"
)

// MinColumns is the width from which both sides stand beside each other.
const MinColumns = 96

// Of returns the unified diff of two texts, "" when they are equal.
func Of(name, before, after string) string {
	return udiff.Unified(name, name, before, after)
}

// Lines draws a unified diff in w cells.
func Lines(unified string, w int, s *style.Set) []string {
	unified = strings.TrimRight(unified, "\n")
	if unified == "" || w <= 0 {
		return nil
	}
	if w >= MinColumns {
		return columns(unified, w, s)
	}
	var out []string
	for l := range strings.SplitSeq(unified, "\n") {
		out = append(out, drawn(l, w, s)...)
	}
	return out
}

// drawn is one line of a unified diff with its looks; without colours its sign tells enough.
func drawn(l string, w int, s *style.Set) []string {
	rows := text.Hard(text.Strict(l), w)
	for i, r := range rows {
		switch {
		case header(l):
			rows[i] = s.Strong.Render(r)
		case strings.HasPrefix(l, "@@"):
			rows[i] = s.DiffHunk.Render(r)
		case strings.HasPrefix(l, "+"):
			rows[i] = s.DiffAdd.Render(r)
		case strings.HasPrefix(l, "-"):
			rows[i] = s.DiffRemove.Render(r)
		}
	}
	return rows
}

func header(l string) bool { return strings.HasPrefix(l, "+++ ") || strings.HasPrefix(l, "--- ") }

// columns draws what was removed beside what came in its place.
func columns(unified string, w int, s *style.Set) []string {
	half := (w - 3) / 2
	bar := " " + s.Border.Render(s.Glyphs.Box.Left) + " "
	var out, old, fresh []string
	flush := func() {
		for i := range max(len(old), len(fresh)) {
			left, right := cell(old, i, half), cell(fresh, i, half)
			for n := range max(len(left), len(right)) {
				out = append(out, s.DiffRemove.Render(row(left, n, half))+bar+s.DiffAdd.Render(row(right, n, half)))
			}
		}
		old, fresh = nil, nil
	}
	for l := range strings.SplitSeq(unified, "\n") {
		switch {
		case header(l) || strings.HasPrefix(l, "@@"):
			flush()
			out = append(out, drawn(l, w, s)...)
		case strings.HasPrefix(l, "-"):
			if len(fresh) > 0 {
				flush()
			}
			old = append(old, l)
		case strings.HasPrefix(l, "+"):
			fresh = append(fresh, l)
		default:
			flush()
			same := cell([]string{l}, 0, half)
			for n := range same {
				out = append(out, row(same, n, half)+bar+row(same, n, half))
			}
		}
	}
	flush()
	return out
}

// cell is line i broken into rows, none when there is no such line.
func cell(lines []string, i, w int) []string {
	if i >= len(lines) {
		return nil
	}
	return text.Hard(text.Strict(lines[i]), w)
}

func row(rows []string, n, w int) string {
	if n >= len(rows) {
		return text.Spaces(w)
	}
	return text.Fit(rows[n], w, "")
}
