package prompt

import (
	"strings"

	"parley/ui/tui/text"
)

// legend is what stands below the facts: the answers and the rule that s makes.
type legend struct {
	lines []string
	rule  bool // the rule is among them, whole
}

// legend is the roomiest form of the answers beside which the facts, so many lines, are seen whole;
// where none is, the smallest one: the facts are worth more than the answers' explanations.
func (a *approval) legend(c *canvas, facts int) legend {
	switch a.stage {
	case scoping:
		return legend{lines: sub(c, a.scopes)}
	case widening:
		return legend{lines: sub(c, func(k *canvas) {
			a.offered(k, "in every folder, from now on: ")
			k.keys("G", "yes, everywhere", "Esc", "back")
		})}
	case forbidding:
		return legend{lines: sub(c, func(k *canvas) {
			a.offered(k, "never in this project, from now on: ")
			k.keys("N", "yes, deny it for good", "Esc", "back")
		})}
	}
	rule := sub(c, func(k *canvas) {
		if a.rulable() {
			a.offered(k, "rule for s and a: ")
		}
	})
	hints := sub(c, func(k *canvas) { k.keys(a.pairs(false)...) })
	forms := []legend{{lines: append(hints, rule...), rule: len(rule) > 0}, {lines: hints}}
	if c.w >= 56 {
		forms = append([]legend{{lines: append(sub(c, a.answers), rule...), rule: len(rule) > 0}}, forms...)
	}
	note := sub(c, func(k *canvas) {
		if a.note != "" {
			k.cut(k.Error.Render(strictLine(a.note)))
		}
	})
	for i, l := range forms {
		l.lines = append(append([]string(nil), note...), l.lines...)
		if facts+len(l.lines) <= c.h || i == len(forms)-1 {
			return l
		}
	}
	return legend{}
}

func (a *approval) rulable() bool { return !a.q.Protected && len(a.q.Rules) > 0 }

// answers are the answers, one a line.
func (a *approval) answers(k *canvas) {
	option := func(key, name, what string) {
		k.cut(k.Key.Render(text.Fit(key, 3, "")) + text.Fit(name, 18, "") + k.Muted.Render(what))
	}
	k.add("")
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

// pairs are the answers as hints: keys and words. In a reading view those that make sense there.
func (a *approval) pairs(reading bool) []string {
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
	return pairs
}

// scopes are the keys after a.
func (a *approval) scopes(k *canvas) {
	if a.note != "" {
		k.cut(k.Error.Render(strictLine(a.note)))
	}
	a.offered(k, "rule: ")
	pairs := []string{"s", "session", "p", "project", "g", "everywhere", "n", "never"}
	if len(a.q.Rules) > 1 {
		pairs = append(pairs, "m", "wider")
	}
	k.keys(append(pairs, "e", "edit")...)
}

// offered adds the rule that would be made, whole, and how many calls it would have matched. A command
// with several parts needs several rules: each stays on a line as far as it fits.
func (a *approval) offered(k *canvas, label string) {
	words := strings.Split(a.ruleText(), "\n")
	for i := range words {
		words[i] = strictLine(text.ShortHash(words[i]))
	}
	if a.own == "" && len(a.q.Rules) > 0 {
		if past := a.q.Rules[a.rule].Past; past > 0 {
			words = append(words, k.Glyphs.Dot+" "+counted(past, "past call"))
		}
	}
	line, used := k.Muted.Render(label), text.Width(label)
	for i, word := range words {
		gap := text.Spaces(2 * min(i, 1))
		if used+text.Width(gap+word) <= k.w {
			line, used = line+gap+word, used+text.Width(gap+word)
			continue
		}
		if i > 0 {
			k.add(line)
			line, used = "", 0
		}
		for j, part := range spaced(word, k.w, k.w-used) {
			if j > 0 {
				k.add(line)
				line, used = "", 0
			}
			line, used = line+part, used+text.Width(part)
		}
	}
	k.add(line)
}

// spaced breaks a text after spaces, the first line at first columns and the others at width. Each sign
// of it stays, the spaces at the breaks too; a word that is wider than a line is broken.
func spaced(s string, width, first int) []string {
	var lines []string
	room := first
	for s != "" {
		if text.Width(s) <= room {
			return append(lines, s)
		}
		head := text.Cut(s, max(room, 0), "")
		if i := strings.LastIndexByte(head, ' '); i > 0 {
			head = head[:i+1]
		} else if room < width { // it begins on a line of its own
			head = ""
		}
		if head == "" && room >= width {
			return append(lines, text.Hard(s, max(width, 1))...)
		}
		lines = append(lines, head)
		s, room = s[len(head):], width
	}
	return lines
}
