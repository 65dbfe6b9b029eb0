package markdown

import (
	"strings"

	"parley/ui/tui/text"
)

// fence is a code block that has been opened by a line of backquotes or tildes and not closed.
type fence struct {
	sign  byte
	count int
	// scanned is how much of the block was looked through for its end, lines how that much looks.
	scanned int
	lines   []string
}

// openFence reads the first line of a block; nil when it opens no code block.
func openFence(line string) *fence {
	line = strings.TrimRight(line, "\n")
	trimmed := strings.TrimLeft(line, " ")
	if len(line)-len(trimmed) > 3 || trimmed == "" || (trimmed[0] != '`' && trimmed[0] != '~') {
		return nil
	}
	f := &fence{sign: trimmed[0]}
	for f.count < len(trimmed) && trimmed[f.count] == f.sign {
		f.count++
	}
	if f.count < 3 || f.sign == '`' && strings.IndexByte(trimmed[f.count:], '`') >= 0 {
		return nil
	}
	return f
}

// closes reports whether a line ends the block.
func (f *fence) closes(line string) bool {
	trimmed := strings.TrimLeft(line, " ")
	if len(line)-len(trimmed) > 3 {
		return false
	}
	rest := strings.TrimLeft(trimmed, string(f.sign))
	return len(trimmed)-len(rest) >= f.count && strings.TrimSpace(rest) == ""
}

// end returns where the block that begins block ends, after its closing line; 0 when it is open.
func (f *fence) end(block string) int {
	at := max(f.scanned, strings.IndexByte(block, '\n')+1)
	for at < len(block) {
		n := strings.IndexByte(block[at:], '\n')
		if n < 0 {
			break
		}
		if f.closes(block[at : at+n]) {
			return at + n + 1
		}
		at += n + 1
	}
	return 0
}

// plain draws the open block without colours by its kind: only the lines that are new cost
// anything.
func (f *fence) plain(r *Renderer, block, partial string, width int) []string {
	if f.scanned == 0 {
		f.scanned = strings.IndexByte(block, '\n') + 1
	}
	for line := range strings.Lines(block[f.scanned:]) {
		f.lines = append(f.lines, r.codeLine(strings.TrimRight(line, "\n"), width)...)
	}
	f.scanned = len(block)
	if partial == "" || f.closes(partial) {
		return f.lines
	}
	return append(f.lines[:len(f.lines):len(f.lines)], r.codeLine(partial, width)...)
}

// codeLine draws a line of code without colours by its kind.
func (r *Renderer) codeLine(line string, width int) []string {
	indent := indentFor(width)
	lines := text.Hard(restored.Replace(line), width-indent)
	for i, l := range lines {
		if l = strings.TrimRight(l, " "); l == "" {
			lines[i] = ""
			continue
		}
		lines[i] = text.Spaces(indent) + r.style.Code.Render(l)
	}
	return lines
}

// indentFor is how far code stands in.
func indentFor(width int) int {
	if width < minWidth {
		return 0
	}
	return codeIndent
}
