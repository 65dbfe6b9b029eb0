package sys

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// cellMax is the width in cells up to which a table is drawn. A table with wider cells arranges
	// a page rather than data, and its contents are written one after the other.
	cellMax = 80
	// columnsMax and rowsMax bound what is drawn; the rest of such a table is written plainly too.
	columnsMax = 50
	rowsMax    = 5000
)

// table draws a table, or writes its contents as blocks where a drawing would not be readable.
func (w *textWriter) table(n *html.Node) {
	rows, ok := tableRows(n)
	if !ok {
		w.children(n)
		return
	}
	widths := columnWidths(rows)
	if len(widths) == 0 {
		return
	}
	var line strings.Builder
	for _, width := range widths {
		line.WriteString("+" + strings.Repeat("-", width+2))
	}
	line.WriteByte('+')
	w.block(line.String())
	for _, row := range rows {
		w.block(drawRow(row, widths))
		w.block(line.String())
	}
}

// tableRows returns the texts of the cells, false if the table is not one of data.
func tableRows(table *html.Node) (rows [][]string, ok bool) {
	for n := range table.Descendants() {
		switch n.DataAtom {
		case atom.Table:
			return nil, false // a table within the table
		case atom.Tr:
			var row []string
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				if c.DataAtom == atom.Td || c.DataAtom == atom.Th {
					row = append(row, inner(c))
				}
			}
			if len(row) > 0 {
				rows = append(rows, row)
			}
			if len(row) > columnsMax || len(rows) > rowsMax {
				return nil, false
			}
		case atom.Caption:
			return nil, false // belongs above the drawing; written plainly
		}
	}
	for _, row := range rows {
		for _, cell := range row {
			for line := range strings.SplitSeq(cell, "\n") {
				if ansi.StringWidth(line) > cellMax {
					return nil, false
				}
			}
		}
	}
	return rows, true
}

func columnWidths(rows [][]string) []int {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			for line := range strings.SplitSeq(cell, "\n") {
				widths[i] = max(widths[i], ansi.StringWidth(line))
			}
		}
	}
	return widths
}

// drawRow returns the lines of one row.
func drawRow(row []string, widths []int) string {
	cells := make([][]string, len(widths))
	height := 1
	for i := range row {
		cells[i] = strings.Split(row[i], "\n")
		height = max(height, len(cells[i]))
	}
	var out strings.Builder
	for y := range height {
		if y > 0 {
			out.WriteByte('\n')
		}
		for i, width := range widths {
			text := ""
			if y < len(cells[i]) {
				text = cells[i][y]
			}
			out.WriteString("| " + text + strings.Repeat(" ", width-ansi.StringWidth(text)+1))
		}
		out.WriteByte('|')
	}
	return out.String()
}
