package markdown

import (
	"regexp"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	gmtext "github.com/yuin/goldmark/text"

	"parley/themes"
	"parley/ui/tui/text"
)

const (
	// maxDepth bounds how deep lists and quotes are laid out; deeper ones are just wrapped. Each
	// level costs its length, and Glamour more than that.
	maxDepth = 6
	// minWidth is the width below which nothing is laid out: the text is just wrapped.
	minWidth = 8
)

// blockParser returns the parser that finds the blocks. It keeps no state between texts, and is
// built when the first one is parsed.
var blockParser = sync.OnceValue(func() parser.Parser {
	return goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()
})

func parse(source []byte) ast.Node { return blockParser().Parse(gmtext.NewReader(source)) }

// lineStart is where the line that holds byte i begins.
func lineStart(s string, i int) int { return strings.LastIndexByte(s[:i], '\n') + 1 }

// split returns where the blocks of a text begin, and the last block's fence if it is an open code
// block.
func split(s string) (starts []int, open *fence) {
	doc := parse([]byte(s))
	last := ast.Node(nil)
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() == ast.KindLinkReferenceDefinition || n.Pos() < 0 {
			continue
		}
		starts = append(starts, lineStart(s, n.Pos()))
		last = n
	}
	if len(starts) > 0 && starts[0] > 0 { // empty lines or definitions: nothing is drawn for them
		starts = append([]int{0}, starts...)
	}
	if last != nil && last.Kind() == ast.KindFencedCodeBlock {
		block := s[lineStart(s, last.Pos()):]
		first, _, _ := strings.Cut(block, "\n")
		if f := openFence(first); f != nil && f.end(block) == 0 {
			open = f
		}
	}
	return starts, open
}

// blocks draws prepared source that may hold several blocks.
func (r *Renderer) blocks(s, defs string, width, depth int) []string {
	starts, _ := split(s)
	var lines []string
	glued := false
	for i, start := range starts {
		end := len(s)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		drawn := r.block(s[start:end], defs, width, depth)
		if len(drawn) == 0 {
			continue
		}
		if len(lines) > 0 && !glued {
			lines = append(lines, "")
		}
		lines = append(lines, drawn...)
		glued = !blankBefore(s, end)
	}
	return lines
}

// block draws prepared source that is one block, with the definitions of links that it may use.
func (r *Renderer) block(s, defs string, width, depth int) []string {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	if width < minWidth {
		return wrapPlain(s, width)
	}
	doc := parse([]byte(s))
	n := doc.FirstChild()
	for n != nil && n.Kind() == ast.KindLinkReferenceDefinition {
		n = n.NextSibling()
	}
	if n == nil {
		return nil
	}
	switch n := n.(type) {
	case *ast.Paragraph:
		if prose(s) && n.NextSibling() == nil {
			return r.prose(s, width)
		}
	case *ast.FencedCodeBlock:
		return r.code(linesOf(n, s), string(n.Language([]byte(s))), width)
	case *ast.CodeBlock:
		return r.code(linesOf(n, s), "", width)
	case *ast.ThematicBreak:
		return []string{r.style.Border.Render(strings.Repeat(r.style.Glyphs.Box.Top, width))}
	case *ast.List:
		if depth >= maxDepth {
			return wrapPlain(s, width)
		}
		return r.list(n, s, defs, width, depth)
	case *ast.Blockquote:
		if depth >= maxDepth {
			return wrapPlain(s, width)
		}
		return r.quote(s, defs, width, depth)
	case *extast.Table:
		if stacked := r.stack(n, s, width); stacked != "" {
			return r.glamour(stacked, defs, width)
		}
	}
	return r.glamour(s, defs, width)
}

// prose reports whether a paragraph holds nothing that Markdown knows. Most do not, and Glamour
// takes twenty times as long for them.
func prose(s string) bool {
	return !strings.ContainsAny(s, "*_`[]<>&\\~|@"+string(standInAmp)+string(standInLess)) &&
		!strings.Contains(s, "://") && !strings.Contains(s, "www.") && !strings.Contains(s, "  \n")
}

// prose draws such a paragraph.
func (r *Renderer) prose(s string, width int) []string {
	var lines []string
	for line := range strings.Lines(strings.Trim(s, "\n ")) {
		lines = append(lines, wrapPlain(line, width)...)
	}
	if r.style.Theme.Color(themes.Text) != "" {
		for i, line := range lines {
			lines[i] = r.style.Text.Render(line)
		}
	}
	return lines
}

// wrapPlain wraps prepared source without drawing its Markdown.
func wrapPlain(s string, width int) []string {
	lines := text.Wrap(restored.Replace(strings.TrimSpace(s)), width)
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return lines
}

// linesOf is the content of a code block.
func linesOf(n ast.Node, s string) string {
	return string(n.Lines().Value([]byte(s)))
}

// isReset reports whether s begins with the sequence that turns all looks off.
func isReset(s string) bool { return strings.HasPrefix(s, "\x1b[m") || strings.HasPrefix(s, "\x1b[0m") }

var (
	hyperlink = regexp.MustCompile("\x1b\\]8;[^\x07\x1b]*(\x07|\x1b\\\\)")
	// padding is what Glamour fills lines with: spaces, bare or each between sequences.
	padding = regexp.MustCompile("(?: |\x1b\\[[0-9;]*m)+$")
)

// definitionItem is the beginning of what Glamour alone would take for a definition, with any
// blocks in it.
var definitionItem = regexp.MustCompile(`(?m)^( {0,3}):`)

// glamour draws source by Glamour.
func (r *Renderer) glamour(s, defs string, width int) []string {
	s = definitionItem.ReplaceAllString(s, "${1}"+string(standInColon))
	if defs != "" && strings.IndexByte(s, '[') >= 0 {
		s += "\n\n" + defs
	}
	var out string
	if t := r.term(width); t != nil {
		if drawn, err := t.Render(s); err == nil {
			out = drawn
		} else {
			out = s
		}
	}
	return finish(out, width)
}

// finish makes lines of what Glamour or Chroma wrote: safe, whole by themselves, no wider than
// width, without padding.
func finish(out string, width int) []string {
	out = text.CleanSGR(restored.Replace(hyperlink.ReplaceAllString(out, "")))
	lines := strings.Split(out, "\n")
	for i, line := range lines {
		line = padding.ReplaceAllString(line, "")
		if last := strings.LastIndexByte(line, 0x1b); last >= 0 && !isReset(line[last:]) {
			line += ansi.ResetStyle
		}
		if line = strings.ReplaceAll(line, "\u00a0", " "); text.Width(line) > width {
			line = text.Cut(line, width, "")
		}
		lines[i] = line
	}
	for len(lines) > 0 && text.Width(lines[0]) == 0 {
		lines = lines[1:]
	}
	for len(lines) > 0 && text.Width(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	return lines
}
