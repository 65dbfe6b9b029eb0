package prompt

import (
	"fmt"
	"strings"

	"parley/ui/tui/text"
)

// pager scrolls through a long text, broken into lines without regard to words so that every sign
// stays in its place.
type pager struct {
	key  string                   // opens and closes it
	body string                   // clean, may hold looks
	made func(c *canvas) []string // makes the lines for a width, in place of body
	top  int

	// What follows is of the last drawing.
	width int
	lines []string
	page  int
}

// move takes a key and reports whether it was one of the pager's.
func (p *pager) move(k string) bool {
	switch k {
	case "j", "down":
		p.top++
	case "k", "up":
		p.top--
	case "pgdown", "ctrl+f", "ctrl+d":
		p.top += max(p.page-1, 1)
	case "pgup", "ctrl+b":
		p.top -= max(p.page-1, 1)
	case "g", "home":
		p.top = 0
	case "G", "end":
		p.top = len(p.lines)
	default:
		return false
	}
	p.clamp()
	return true
}

// atEnd reports whether the end of the text was drawn last.
func (p *pager) atEnd() bool { return p.lines != nil && p.top+p.page >= len(p.lines) }

func (p *pager) clamp() { p.top = min(max(p.top, 0), max(len(p.lines)-p.page, 0)) }

// draw adds what is seen of the text, and below it how much is not.
func (p *pager) draw(c *canvas, rows int) {
	if p.width != c.w {
		p.width, p.lines = c.w, broken(p.body, c.w)
		if p.made != nil {
			p.lines = p.made(c)
		}
	}
	p.page = max(rows-1, 1)
	p.clamp()
	end := min(p.top+p.page, len(p.lines))
	c.add(p.lines[p.top:end]...)
	for range p.page - (end - p.top) {
		c.add("")
	}
	switch {
	case end < len(p.lines):
		c.cut(c.Warning.Render(fmt.Sprintf("%s more below: %d lines", c.Glyphs.Down, len(p.lines)-end)))
	case p.top > 0:
		c.cut(c.Muted.Render("end"))
	default:
		c.cut(c.Muted.Render("this is all of it"))
	}
}

// broken breaks text that may hold looks into lines of at most width cells, each whole by itself.
func broken(s string, width int) []string {
	lines := text.Hard(s, width)
	if strings.IndexByte(s, 0x1b) < 0 {
		return lines
	}
	return strings.Split(text.CleanSGR(strings.Join(lines, "\n")), "\n")
}
