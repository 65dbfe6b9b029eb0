// Package markdown draws the Markdown of models as lines for the terminal, while it is still being
// written. A [Doc] keeps the drawn lines of the blocks that are complete, so that a frame costs
// only the last, unfinished block; a finished text looks the same however it arrived. Paragraphs,
// headings and tables are drawn by Glamour, code is coloured by Chroma.
//
// The text is hostile: whatever could act on the terminal or hide itself is shown as visible text,
// HTML is shown as written, and the lines hold no sequences but colours.
package markdown

import (
	"charm.land/glamour/v2"

	"parley/ui/tui/style"
)

// Renderer draws Markdown with one set of styles. It keeps what Glamour needs per width. It is not
// safe for concurrent use.
type Renderer struct {
	style *style.Set
	terms map[int]*glamour.TermRenderer // by width
}

// New returns a renderer. It sets nothing up before the first text is drawn.
func New(s *style.Set) *Renderer { return &Renderer{style: s} }

// Render draws a complete text as lines of at most width cells, without spaces at their ends.
func (r *Renderer) Render(source string, width int) []string {
	var d Doc
	d.Append(source)
	d.Finish()
	return d.Lines(r, width)
}

// maxTerms bounds the renderers kept: nested lists take one for each depth.
const maxTerms = 16

// term returns Glamour's renderer for a width, nil if there can be none.
func (r *Renderer) term(width int) *glamour.TermRenderer {
	if t, ok := r.terms[width]; ok {
		return t
	}
	t, err := glamour.NewTermRenderer(
		glamour.WithStyles(r.style.Markdown()),
		glamour.WithWordWrap(width),
		glamour.WithPreservedNewLines(),
		glamour.WithInlineTableLinks(true),
	)
	if err != nil {
		return nil
	}
	if r.terms == nil || len(r.terms) >= maxTerms {
		r.terms = map[int]*glamour.TermRenderer{}
	}
	r.terms[width] = t
	return t
}
