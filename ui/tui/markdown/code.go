package markdown

import (
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/formatters"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"

	"parley/ui/tui/text"
)

// codeIndent is how far code stands in where there is room.
const codeIndent = 2

// Code above these bounds is shown without colours: they cost about 0.1 ms a line.
const (
	maxColouredLines = 600
	maxColouredBytes = 48 << 10
	maxColouredLine  = 2 << 10
)

// code draws a complete code block.
func (r *Renderer) code(source, language string, width int) []string {
	source = strings.TrimRight(source, "\n")
	coloured, ok := r.highlight(source, language)
	if !ok {
		var lines []string
		for line := range strings.SplitSeq(source, "\n") {
			lines = append(lines, r.codeLine(line, width)...)
		}
		return lines
	}
	indent := indentFor(width)
	lines := finish(ansi.Hardwrap(coloured, width-indent, true), width-indent)
	for i, line := range lines {
		if line != "" {
			lines[i] = text.Spaces(indent) + line
		}
	}
	return lines
}

// highlight colours code, if its language is known and its size bearable.
func (r *Renderer) highlight(source, language string) (string, bool) {
	style := r.style.Chroma()
	if style == nil || language == "" || len(source) > maxColouredBytes {
		return "", false
	}
	n := 0
	for line := range strings.Lines(source) {
		if n++; n > maxColouredLines || len(line) > maxColouredLine {
			return "", false
		}
	}
	lexer := lexers.Get(language)
	if lexer == nil {
		return "", false
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(nil, restored.Replace(source))
	if err != nil {
		return "", false
	}
	var b strings.Builder
	if err := formatters.TTY16m.Format(&b, style, tokens); err != nil {
		return "", false
	}
	return b.String(), true
}

// Code is a code block of a text.
type Code struct {
	Language string
	// Text is the code as the model wrote it: without fence and without the indentation of lists
	// and quotes around it, tabs and empty lines kept.
	Text string
}

// Blocks returns the code blocks of a text in order.
func Blocks(source string) []Code {
	src := []byte(source)
	doc := parse(src)
	var blocks []Code
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			blocks = append(blocks, Code{Language: string(n.Language(src)), Text: string(n.Lines().Value(src))})
		case *ast.CodeBlock:
			blocks = append(blocks, Code{Text: string(n.Lines().Value(src))})
		}
		return ast.WalkContinue, nil
	})
	return blocks
}
