package prompt

import (
	"fmt"
	"strings"

	"parley/ui/tui/style"
	"parley/ui/tui/text"
)

// strictLine is hostile text on one line.
func strictLine(s string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(text.Strict(s))
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
	case p.Summary != "" && a.q.Arguments == "":
		return p.Summary
	}
	return a.q.Arguments
}

// body draws the question, or what the person does in it.
func (a *approval) body(c *canvas) {
	switch a.stage {
	case reading:
		a.reading(c)
		return
	case giving:
		a.typing(c, "deny, because:", "the text goes to the model")
	case editing:
		a.typing(c, "arguments of "+strictLine(a.q.Tool)+":", "you are asked again with the changed ones")
	case ruling:
		a.typing(c, "the rule:", "canonical form, as in the settings")
	default:
		choices := a.choices(c)
		rows := c.left() - len(choices)
		a.content(c, rows)
		c.add(choices...)
	}
}

func (a *approval) reading(c *canvas) {
	keys := sub(c, func(k *canvas) { a.mainKeys(k, true) })
	rows := c.h - len(keys)
	a.pager.draw(c, rows)
	c.add(keys...)
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

// fullChoices is the height of the room from which each answer has a line of its own.
const fullChoices = 14

// choices are the answers: one a line where there is room, else as hints. The rule that s makes is
// shown whole or not at all.
func (a *approval) choices(c *canvas) []string {
	long := c.h >= fullChoices && c.w >= 56
	rule := sub(c, func(k *canvas) {
		if a.rulable() && a.stage == asking {
			k.add(broken(k.Muted.Render("rule for s and a: ")+a.offered(k), k.w)...)
		}
	})
	return sub(c, func(k *canvas) {
		if a.note != "" {
			k.cut(k.Error.Render(strictLine(a.note)))
		}
		switch {
		case a.stage == scoping:
			a.scopes(k)
			return
		case a.stage == widening:
			k.add(broken(k.Muted.Render("in every folder, from now on: ")+a.offered(k), k.w)...)
			k.keys("G", "yes, everywhere", "Esc", "back")
			return
		case long:
			k.add("")
			a.answers(k)
		default:
			a.mainKeys(k, false)
		}
		// The call itself needs two lines.
		if len(rule) > 0 && len(k.lines)+len(rule)+2 <= c.h {
			k.add(rule...)
			a.ruleSeen = true
		}
	})
}

func (a *approval) rulable() bool { return !a.q.Protected && len(a.q.Rules) > 0 }

// answers are the answers, one a line.
func (a *approval) answers(k *canvas) {
	option := func(key, name, what string) {
		k.cut(k.Key.Render(text.Fit(key, 3, "")) + text.Fit(name, 18, "") + k.Muted.Render(what))
	}
	option("y", "once", "only this call")
	if a.rulable() {
		option("s", "this session", "by the rule below")
		option("a", "always...", "p project  g everywhere  n never  e edit the rule")
	}
	option("n", "deny", "the model is told \"denied by the user\"")
	option("r", "deny with reason", "type it, Enter sends")
	option("e", "edit arguments", "change, then answer again")
	more := []string{"v", "all", "x", "explain", "b", "whole batch", ".", "call panel"}
	if a.q.Preview.Diff != "" {
		more = append([]string{"d", "diff"}, more...)
	}
	if a.rulable() && len(a.q.Rules) > 1 {
		more = append(more, "m", "wider rule")
	}
	k.keys(more...)
}

// mainKeys are the answers as hints; in a reading view those that make sense there.
func (a *approval) mainKeys(k *canvas, reading bool) {
	pairs := []string{"y", "once"}
	if a.rulable() {
		pairs = append(pairs, "s", "session", "a", "always")
	}
	pairs = append(pairs, "n", "deny", "r", "reason", "e", "edit")
	if !reading {
		pairs = append(pairs, "v", "view")
		if a.q.Preview.Diff != "" {
			pairs = append(pairs, "d", "diff")
		}
	}
	k.keys(pairs...)
}

// scopes are the keys after a.
func (a *approval) scopes(k *canvas) {
	k.add(broken(k.Muted.Render("rule: ")+a.offered(k), k.w)...)
	pairs := []string{"s", "session", "p", "project", "g", "everywhere", "n", "never"}
	if len(a.q.Rules) > 1 {
		pairs = append(pairs, "m", "wider")
	}
	k.keys(append(pairs, "e", "edit")...)
}

// offered is the rule that would be made, and what it would have matched.
func (a *approval) offered(k *canvas) string {
	rule := strictLine(a.ruleText())
	if a.own != "" || len(a.q.Rules) == 0 {
		return rule
	}
	if past := a.q.Rules[a.rule].Past; past > 0 {
		rule += fmt.Sprintf("  %s %s", k.Glyphs.Dot, counted(past, "past call"))
	}
	return rule
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// content draws what the call is, at most rows lines; what does not fit is counted.
func (a *approval) content(c *canvas, rows int) {
	lines := sub(c, func(k *canvas) { a.facts(k) })
	if len(lines) <= rows {
		c.add(lines...)
		return
	}
	if rows <= 2 { // the call itself must be seen, then that there is more
		more := c.Warning.Render("v all")
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
	c.cut(c.Warning.Render(fmt.Sprintf("%s more below: %d lines, v shows all", c.Glyphs.Down, len(lines)-rows+1)))
}
