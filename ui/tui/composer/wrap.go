package composer

import (
	"fmt"
	"strings"

	"parley/ui/tui/text"
)

// span is one row on screen: cells[start:end]. A line break belongs to no row.
type span struct{ start, end int }

// wrap cuts cells into rows of at most width-1 columns, at spaces where there are any: the last
// column is left for the cursor behind a full row.
func wrap(cells []cell, width int) []span {
	limit := max(width-1, 1)
	var rows []span
	start, x, space := 0, 0, -1
	for i, c := range cells {
		if c.newline() {
			rows = append(rows, span{start, i})
			start, x, space = i+1, 0, -1
			continue
		}
		w := min(cellWidth(c), limit)
		if x+w > limit && i > start {
			end := i
			if space > start {
				end = space
			}
			rows = append(rows, span{start, end})
			start, x, space = end, 0, -1
			for _, moved := range cells[start:i] {
				x += cellWidth(moved)
			}
		}
		x += w
		if c.paste == nil && c.text == " " {
			space = i + 1
		}
	}
	return append(rows, span{start, len(cells)})
}

// rowOf is the row in which the cursor stands.
func rowOf(rows []span, cursor int) int {
	for i := len(rows) - 1; i > 0; i-- {
		if rows[i].start <= cursor {
			return i
		}
	}
	return 0
}

// column is the screen column of the cell at index i within its row.
func column(cells []cell, row span, i int) int {
	x := 0
	for _, c := range cells[row.start:min(i, row.end)] {
		x += cellWidth(c)
	}
	return x
}

// at is the index of the cell at column x of a row, or the row's end.
func at(cells []cell, rows []span, row, x int) int {
	r := rows[row]
	for i := r.start; i < r.end; i++ {
		w := cellWidth(cells[i])
		if x < (w+1)/2 {
			return i
		}
		x -= w
	}
	if row+1 < len(rows) && rows[row+1].start == r.end && r.end > r.start {
		return r.end - 1 // the row's end is the next row's start
	}
	return r.end
}

func cellWidth(c cell) int {
	if len(c.text) == 1 && c.paste == nil && c.text[0] >= ' ' && c.text[0] < 0x7f {
		return 1
	}
	return text.Width(shown(c))
}

// shown is how a cell looks: letters as they are, what has no picture of its own as an escape. The
// text that goes out is not changed.
func shown(c cell) string {
	switch {
	case c.paste != nil:
		return c.paste.label()
	case c.text == "\t":
		return "    "
	case text.Width(c.text) == 0:
		var b strings.Builder
		for _, r := range c.text {
			if s := text.Clean(string(r)); text.Width(s) > 0 {
				b.WriteString(s)
			} else {
				fmt.Fprintf(&b, "<U+%04X>", r)
			}
		}
		return b.String()
	}
	return text.Clean(c.text)
}
