package export

import (
	"bytes"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"parley/ui/tui/text"
)

// converter is made at the first use: a start of parley pays nothing for it.
var converter = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(harmless{}, 1))))
})

// markdown is a reply as HTML. Raw HTML in it is text, an image a link, a link that would run
// something leads nowhere.
func markdown(s string) string {
	s = text.Clean(s)
	var out bytes.Buffer
	if err := converter().Convert([]byte(s), &out); err != nil { // only the writer's errors, and it has none
		return "<pre>" + esc(s) + "</pre>"
	}
	return out.String()
}

// harmless renders what would load or run something as text.
type harmless struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (harmless) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHTMLBlock, htmlBlock)
	r.Register(ast.KindRawHTML, rawHTML)
	r.Register(ast.KindImage, image)
}

func htmlBlock(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	n := node.(*ast.HTMLBlock)
	_, _ = w.WriteString("<pre>")
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		_, _ = w.WriteString(esc(string(line.Value(source))))
	}
	if n.HasClosure() {
		_, _ = w.WriteString(esc(string(n.ClosureLine.Value(source))))
	}
	_, err := w.WriteString("</pre>\n")
	return ast.WalkSkipChildren, err
}

func rawHTML(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkSkipChildren, nil
	}
	n := node.(*ast.RawHTML)
	for i := range n.Segments.Len() {
		segment := n.Segments.At(i)
		if _, err := w.WriteString(esc(string(segment.Value(source)))); err != nil {
			return ast.WalkStop, err
		}
	}
	return ast.WalkSkipChildren, nil
}

// image writes where an image would be loaded from; its description follows as text.
func image(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, err := w.WriteString("[image " + esc(string(node.(*ast.Image).Destination)) + "] ")
		return ast.WalkContinue, err
	}
	return ast.WalkContinue, nil
}
