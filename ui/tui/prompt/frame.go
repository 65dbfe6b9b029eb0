package prompt

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"parley/ui/tui/style"
	"parley/ui/tui/text"
)

// canvas is what a prompt draws on: the room inside its frame.
type canvas struct {
	*style.Set
	w, h  int // of the room
	lines []string
	// cursor is set where text is typed, in the room's coordinates.
	cursor *tea.Cursor
}

func (c *canvas) add(lines ...string) { c.lines = append(c.lines, lines...) }

// left is how many lines there is still room for.
func (c *canvas) left() int { return c.h - len(c.lines) }

// wrap adds text broken into lines.
func (c *canvas) wrap(s string) { c.add(text.Wrap(s, c.w)...) }

// cut adds text that must stay on one line.
func (c *canvas) cut(s string) { c.add(text.Cut(s, c.w, c.Glyphs.Ellipsis)) }

// spread adds a line with something at its right end.
func (c *canvas) spread(left, right string) {
	if text.Width(left)+text.Width(right)+1 > c.w {
		c.cut(left)
		return
	}
	c.add(text.Spread(left, right, c.w, c.Glyphs.Ellipsis))
}

// field adds a name and the beginning of its value.
func (c *canvas) field(name, value string) {
	const column = 11
	c.cut(c.Muted.Render(text.Fit(name, column-2, c.Glyphs.Ellipsis)) + "  " + value)
}

// keys adds hints, as many on a line as fit: "y once  s session". Pairs of key and words. They stand
// closer together where that saves a line.
func (c *canvas) keys(pairs ...string) {
	line, used, gap := "", 0, 2
	if all := text.Width(strings.Join(pairs, " ")); all <= c.w && all+len(pairs)/2 > c.w {
		gap = 1
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		w := text.Width(pairs[i]) + 1 + text.Width(pairs[i+1])
		hint := c.Key.Render(pairs[i]) + " " + pairs[i+1]
		if used > 0 && used+gap+w > c.w {
			c.cut(line)
			line, used = "", 0
		}
		if used > 0 {
			line += text.Spaces(gap)
			used += gap
		}
		line += hint
		used += w
	}
	if used > 0 {
		c.cut(line)
	}
}

// frame says what stands in the frame's edges.
type frame struct {
	title, right string // at the top
	bottom       string // at the right of the lower edge
	armed        bool
	small        bool // one line in a frame: the person is typing elsewhere
}

// minFrame is the height below which there is no frame, so that the keys stay readable. The small
// form has smallFrame.
const (
	minFrame   = 5
	smallFrame = 3
)

// paint draws a frame of width and at most height around what inner draws, and returns it with the
// cursor moved to where it is then.
func paint(width, height int, s *style.Set, f frame, inner func(c *canvas)) (string, *tea.Cursor) {
	if width <= 0 || height <= 0 {
		return "", nil
	}
	if f.small {
		height = min(height, smallFrame)
	}
	framed := width >= 20 && (height >= minFrame || f.small && height == smallFrame)
	c := &canvas{Set: s, w: width, h: height}
	if framed {
		c.w, c.h = width-4, height-2
	}
	inner(c)
	if len(c.lines) > c.h {
		c.lines = c.lines[:c.h]
	}
	if c.cursor != nil && (c.cursor.Y >= c.h || c.cursor.X > c.w) {
		c.cursor = nil
	}
	edge := s.Border
	if f.armed {
		edge = s.Warning
	}
	var out []string
	box := s.Glyphs.Box
	if framed {
		out = append(out, ruler(width, edge.Render(box.TopLeft+box.Top), edge.Render(box.TopRight), box.Top, f.title, f.right, s, f.armed))
	}
	for _, l := range c.lines {
		if framed {
			l = edge.Render(box.Left) + " " + text.Fit(l, c.w, "") + " " + edge.Render(box.Right)
		} else {
			l = text.Cut(l, width, "")
		}
		out = append(out, l)
	}
	if framed {
		out = append(out, ruler(width, edge.Render(box.BottomLeft+box.Bottom), edge.Render(box.BottomRight), box.Bottom, "", f.bottom, s, f.armed))
		if c.cursor != nil {
			c.cursor.X += 2
			c.cursor.Y++
		}
	}
	return strings.Join(out, "\n"), c.cursor
}

// ruler is an edge with texts in it.
func ruler(width int, from, to, fill, left, right string, s *style.Set, armed bool) string {
	edge, word := s.Border, s.Muted
	if armed {
		edge, word = s.Warning, s.Warning
	}
	room := width - text.Width(from) - text.Width(to)
	if right != "" {
		right = text.Cut(" "+right+" ", room, s.Glyphs.Ellipsis)
	}
	if left != "" {
		left = " " + left + " "
	}
	if text.Width(left)+text.Width(right) > room {
		if left != "" && text.Width(left) > room/2 {
			left = text.Cut(left, max(room-text.Width(right), room/2), s.Glyphs.Ellipsis)
		}
		right = text.Cut(right, room-text.Width(left), s.Glyphs.Ellipsis)
	}
	gap := room - text.Width(left) - text.Width(right)
	line := from + word.Bold(true).Render(left) + edge.Render(strings.Repeat(fill, max(gap-1, 0))) + word.Render(right)
	if gap > 0 {
		line += edge.Render(fill)
	}
	return line + to
}
