package prompt

import (
	"fmt"
	"path/filepath"
	"strings"

	"parley/agent"
	"parley/ui/tui/style"
	"parley/ui/tui/text"
)

// strictLine is hostile text on one line.
func strictLine(s string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(text.Strict(s))
}

// askerOf names who makes the call that is asked about.
func askerOf(q agent.ApprovalQuestion) string {
	if q.Own {
		return "you"
	}
	return asker(q.Agents, nil)
}

// asker is the path of agents that asks: "@planner > @tester".
func asker(agents []string, _ *style.Set) string {
	if len(agents) == 0 {
		return "the program"
	}
	names := make([]string, len(agents))
	for i, a := range agents {
		names[i] = "@" + strings.TrimPrefix(strictLine(a), "@")
	}
	return strings.Join(names, " > ")
}

// summary is the question in one line, for when the person is typing.
func (a *approval) summary(c *canvas) {
	c.cut(c.Strong.Render(strictLine(a.q.Tool)) + "  " + strictLine(a.subject()))
}

// subject is what the call is about: its command, address, or arguments.
func (a *approval) subject() string {
	switch p := a.q.Preview; {
	case p.Command != "":
		return p.Command
	case p.URL != "":
		return p.URL + "  " + a.q.Arguments
	case len(p.Paths) > 0: // which file it is must not be cut off behind what goes into it
		return inside(a.q.Dir, p.Paths[0]) + "  " + a.q.Arguments
	case p.Summary != "" && a.q.Arguments == "":
		return p.Summary
	}
	return a.q.Arguments
}

// inside is a path as it is called in the working folder, the whole of it if it lies elsewhere.
func inside(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// body draws the question, or what the person does in it.
func (a *approval) body(c *canvas) {
	switch a.stage {
	case reading:
		a.reading(c)
	case giving:
		a.typing(c, "deny, because:", "the text goes to the model")
	case editing:
		a.typing(c, "arguments of "+strictLine(a.q.Tool)+":", "you are asked again with the changed ones")
	case ruling:
		a.typing(c, "the rule:", "canonical form, as in the settings")
	default:
		lines := sub(c, a.facts)
		l := a.legend(c, len(lines))
		a.content(c, lines, c.left()-len(l.lines))
		c.add(l.lines...)
		a.ruleSeen = l.rule
		if a.stage == asking {
			a.seen.box = len(c.lines) == len(lines)+len(l.lines)
		}
	}
}

func (a *approval) reading(c *canvas) {
	keys := a.readingKeys(c)
	a.pager.draw(c, c.h-len(keys))
	if a.pager.key == "v" && a.pager.atEnd() && !a.seen.whole {
		a.seen.whole, a.note = true, ""
		keys = a.readingKeys(c)
	}
	c.add(keys...)
}

// readingKeys are the answers below the whole text: yes only once its end was reached.
func (a *approval) readingKeys(c *canvas) []string {
	return sub(c, func(k *canvas) {
		if a.note != "" {
			k.cut(k.Warning.Render(strictLine(a.note)))
		}
		if a.pager.key == "v" && !a.seen.all() {
			k.keys("PgDn", "read on", "End", "to its end", "n", "deny", "r", "reason", "e", "edit")
			return
		}
		k.keys(a.pairs(true)...)
	})
}

func (a *approval) typing(c *canvas, title, hint string) {
	c.spread(c.Strong.Render(title), c.Muted.Render(hint))
	rows := c.left()
	if a.note != "" {
		rows--
	}
	a.field.draw(c, "", max(rows, 1), true)
	if a.note != "" {
		c.cut(c.Error.Render(strictLine(a.note)))
	}
}

// sub draws on a room of its own and returns the lines.
func sub(c *canvas, draw func(*canvas)) []string {
	k := &canvas{Set: c.Set, w: c.w, h: 1 << 20}
	draw(k)
	return k.lines
}

// content draws what the call is, at most rows lines; what does not fit is counted.
func (a *approval) content(c *canvas, lines []string, rows int) {
	if len(lines) <= rows {
		c.add(lines...)
		return
	}
	if rows <= 2 { // the call itself must be seen, then that there is more
		more := c.Warning.Render("y, v all")
		tool := c.Strong.Render(strictLine(a.q.Tool))
		if rows <= 1 {
			tool += "  " + strictLine(a.subject())
		}
		c.add(text.Spread(tool, "  "+more, c.w, c.Glyphs.Ellipsis))
		if rows == 2 {
			c.cut(strictLine(a.subject()))
		}
		return
	}
	c.add(lines[:rows-1]...)
	more := fmt.Sprintf("%s more below: %s; v, y and s show all first", c.Glyphs.Down, counted(len(lines)-rows+1, "line"))
	if text.Width(more) > c.w {
		more = fmt.Sprintf("%s more below: v, y, s show all", c.Glyphs.Down)
	}
	c.cut(c.Warning.Render(more))
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
