package markdown

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

	"parley/ui/tui/text"
)

// list draws a list: each item by itself, beside its sign, so that its lines hang.
func (r *Renderer) list(list *ast.List, s, defs string, width, depth int) []string {
	var lines []string
	number := list.Start
	for n := list.FirstChild(); n != nil; n = n.NextSibling() {
		item, ok := n.(*ast.ListItem)
		if !ok {
			continue
		}
		end := len(s)
		if next := n.NextSibling(); next != nil {
			end = lineStart(s, next.Pos())
		}
		start := lineStart(s, item.Pos())
		content := dedent(s[start:end], item.Offset)
		sign := "• "
		if r.style.Options.ASCII {
			sign = "- "
		}
		if list.IsOrdered() {
			sign = strconv.Itoa(number) + string(list.Marker) + " "
			number++
		}
		if rest, box := task(content); box != "" {
			content, sign = rest, box
		}
		w := text.Width(sign)
		drawn := r.blocks(content, defs, width-w, depth+1)
		if len(lines) > 0 && blankBefore(s, start) {
			lines = append(lines, "")
		}
		lines = append(lines, hang(sign, drawn)...)
	}
	return lines
}

// task takes the box of a task from the beginning of an item.
func task(content string) (rest, box string) {
	for _, mark := range []string{"[ ] ", "[x] ", "[X] "} {
		if rest, ok := strings.CutPrefix(content, mark); ok {
			return rest, strings.ToLower(mark)
		}
	}
	return content, ""
}

// hang puts a sign before the first line and the others below its text.
func hang(sign string, lines []string) []string {
	if len(lines) == 0 {
		return []string{strings.TrimRight(sign, " ")}
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		switch {
		case i == 0:
			out[i] = sign + line
		case line != "":
			out[i] = text.Spaces(text.Width(sign)) + line
		}
	}
	return out
}

// dedent takes an item's sign from its first line and its indentation from the others.
func dedent(s string, n int) string {
	var b strings.Builder
	first := true
	for line := range strings.Lines(s) {
		if first {
			line = line[min(n, len(strings.TrimRight(line, "\n"))):]
			first = false
		} else {
			line = line[min(n, len(line)-len(strings.TrimLeft(line, " "))):]
		}
		b.WriteString(line)
	}
	return b.String()
}

// quote draws a quotation beside a line.
func (r *Renderer) quote(s, defs string, width, depth int) []string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		trimmed := strings.TrimLeft(line, " ")
		if rest, ok := strings.CutPrefix(trimmed, ">"); ok && len(line)-len(trimmed) <= 3 {
			line = strings.TrimPrefix(rest, " ")
		}
		b.WriteString(line)
	}
	bar := r.style.Border.Render(r.style.Glyphs.Tree) + " "
	lines := r.blocks(b.String(), defs, width-2, depth+1)
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.TrimRight(bar+line, " ")
	}
	return out
}

// minColumn is the least width of a table's column before the table is shown as a list.
const minColumn = 12

// stack turns a table that is too wide into Markdown with a list for each row; "" when the table
// fits.
func (r *Renderer) stack(t *extast.Table, s string, width int) string {
	var head []string
	var b strings.Builder
	for row := t.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, strings.TrimSpace(string(c.Lines().Value([]byte(s)))))
		}
		if head == nil {
			if head = cells; len(head)*minColumn <= width {
				return ""
			}
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		for i, c := range cells {
			if i < len(head) && head[i] != "" {
				b.WriteString("**" + head[i] + "** ")
			}
			b.WriteString(c + "\n")
		}
	}
	return b.String()
}
