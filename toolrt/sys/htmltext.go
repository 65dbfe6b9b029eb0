package sys

import (
	"context"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"parley/toolrt"
)

// httpText is sys.http.html2text: the contents of a URL as plain text. Failures go through the
// same conversion, as they do in GPTScript.
func httpText(ctx context.Context, inv *toolrt.Invocation, a args) (toolrt.Output, error) {
	out, err := httpGet(ctx, inv, a)
	if err != nil {
		return out, err
	}
	text, err := htmlText(out.Text)
	if err != nil {
		return failed("Failed to fetch URL %s: %v", a["url"], err), nil
	}
	out.Text = text
	return out, nil
}

// htmlText returns the text of an HTML document: paragraphs apart, headings framed, lists with
// stars, links with their address, tables drawn.
func htmlText(document string) (string, error) {
	root, err := html.Parse(strings.NewReader(document))
	if err != nil {
		return "", fmt.Errorf("read HTML: %w", err)
	}
	var w textWriter
	w.children(root)
	return strings.TrimSpace(w.out.String()), nil
}

// textWriter writes blocks of text with the right space between them.
type textWriter struct {
	out    strings.Builder
	breaks int  // line breaks that are due before the next text
	space  bool // a space is due before the next word
	pre    int  // depth of preformatted elements
	prefix string
}

// lines asks for at least n line breaks before what follows.
func (w *textWriter) lines(n int) {
	w.breaks, w.space = max(w.breaks, n), false
}

// text writes a piece of text; outside of preformatted elements white space is one space.
func (w *textWriter) text(s string) {
	if w.pre > 0 {
		for i, line := range strings.Split(s, "\n") {
			if i > 0 {
				w.breaks++
			}
			w.word(line)
		}
		return
	}
	words := strings.Fields(s)
	if len(words) == 0 {
		w.space = w.space || s != ""
		return
	}
	w.space = w.space || strings.ContainsAny(s[:1], " \t\r\n")
	for i, word := range words {
		w.space = w.space || i > 0
		w.word(word)
	}
	w.space = strings.ContainsAny(s[len(s)-1:], " \t\r\n")
}

func (w *textWriter) word(s string) {
	if s == "" {
		return
	}
	switch {
	case w.out.Len() == 0:
		w.out.WriteString(w.prefix)
	case w.breaks > 0:
		blank := "\n" + strings.TrimRight(w.prefix, " ")
		w.out.WriteString(strings.Repeat(blank, w.breaks-1) + "\n" + w.prefix)
	case w.space:
		w.out.WriteByte(' ')
	}
	w.breaks, w.space = 0, false
	w.out.WriteString(s)
}

// block writes finished lines.
func (w *textWriter) block(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		w.lines(1)
		w.word(line)
	}
}

func (w *textWriter) children(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.node(c)
	}
}

// inner returns the text of a node by itself.
func inner(n *html.Node) string {
	var w textWriter
	w.children(n)
	return strings.TrimSpace(w.out.String())
}

func (w *textWriter) node(n *html.Node) {
	if n.Type == html.TextNode {
		w.text(n.Data)
		return
	}
	if n.Type != html.ElementNode {
		w.children(n)
		return
	}
	switch n.DataAtom {
	case atom.Head, atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Iframe:
	case atom.Br:
		w.breaks++
		w.space = false
	case atom.Hr:
		w.around(2, func() { w.word("---") })
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		w.around(2, func() { w.heading(n) })
	case atom.A:
		w.link(n)
	case atom.Img:
		w.text(attribute(n, "alt"))
	case atom.Li:
		w.around(1, func() { w.item(n) })
	case atom.Pre, atom.Textarea:
		w.pre++
		w.around(2, func() { w.children(n) })
		w.pre--
	case atom.Blockquote:
		w.lines(2)
		w.indented("> ", n)
		w.lines(2)
	case atom.Table:
		w.around(2, func() { w.table(n) })
	case atom.P, atom.Ul, atom.Ol, atom.Dl, atom.Article, atom.Section, atom.Form, atom.Figure:
		w.around(2, func() { w.children(n) })
	case atom.Div, atom.Header, atom.Footer, atom.Main, atom.Nav, atom.Aside, atom.Address, atom.Dt, atom.Dd,
		atom.Tr, atom.Fieldset, atom.Figcaption, atom.Option, atom.Caption:
		w.around(1, func() { w.children(n) })
	case atom.Td, atom.Th:
		w.space = true
		w.children(n)
		w.space = true
	default:
		w.children(n)
	}
}

// around writes a block with at least n line breaks before and after it.
func (w *textWriter) around(n int, write func()) {
	w.lines(n)
	write()
	w.lines(n)
}

// heading frames headings of the first two levels and underlines the third.
func (w *textWriter) heading(n *html.Node) {
	title := strings.Join(strings.Fields(inner(n)), " ")
	if title == "" {
		return
	}
	width := ansi.StringWidth(title)
	switch n.DataAtom {
	case atom.H1:
		frame := strings.Repeat("*", width)
		w.block(frame + "\n" + title + "\n" + frame)
	case atom.H2:
		frame := strings.Repeat("-", width)
		w.block(frame + "\n" + title + "\n" + frame)
	case atom.H3:
		w.block(title + "\n" + strings.Repeat("-", width))
	default:
		w.block(title)
	}
}

func (w *textWriter) link(n *html.Node) {
	w.children(n)
	href := strings.TrimSpace(attribute(n, "href"))
	if href == "" || strings.HasPrefix(href, "#") || strings.HasPrefix(strings.ToLower(href), "javascript:") {
		return
	}
	space := w.space
	w.space = true
	w.word("( " + href + " )")
	w.space = space
}

func (w *textWriter) item(n *html.Node) {
	w.word("*")
	w.space = true
	w.indented("  ", n)
}

// indented writes the children with a prefix before each further line.
func (w *textWriter) indented(prefix string, n *html.Node) {
	outer := w.prefix
	w.prefix += prefix
	w.children(n)
	w.prefix = outer
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Namespace == "" && a.Key == name {
			return a.Val
		}
	}
	return ""
}
