package prompt

import (
	"bytes"
	"encoding/json"
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
	if a.pager.key == "d" && a.pager.body == "" {
		a.pager.body = diff(a.q.Preview.Diff, c.Set)
	}
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
	more := []string{"v", "all", "x", "explain", ".", "call panel"}
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
		rule += fmt.Sprintf("  %s %d past calls", k.Glyphs.Dot, past)
	}
	return rule
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

// facts is everything about the call, the most important first.
func (a *approval) facts(k *canvas) {
	q := a.q
	k.spread(k.Strong.Render(strictLine(q.Tool)), k.Muted.Render(strictLine(q.Source)))
	if q.Again != "" {
		k.wrap(k.Warning.Render("asked again: " + strictLine(q.Again)))
	}
	for _, part := range q.Parts {
		if !part.Covered {
			k.add(prefixed(k, "asks for", part.Text)...)
		}
	}
	if q.Preview.Command != "" {
		k.add(prefixed(k, "will run", q.Preview.Command)...)
	} else if q.Script != "" {
		k.add(prefixed(k, "script", q.Script)...)
	}
	if q.Preview.URL != "" {
		k.add(prefixed(k, "will send", q.Preview.URL)...)
	}
	for _, f := range fields(q.Arguments) {
		if f.value != q.Preview.Command || q.Preview.Command == "" {
			k.add(prefixed(k, f.name, f.value)...)
		}
	}
	if len(q.Preview.Paths) > 0 {
		k.add(prefixed(k, "touches", strings.Join(q.Preview.Paths, "\n"))...)
	}
	if q.Preview.Diff != "" {
		k.field("change", changed(q.Preview.Diff)+"  d shows it")
	}
	k.add(prefixed(k, "in", q.Dir)...)
	k.add(prefixed(k, "why", q.Reason)...)
	k.add(prefixed(k, "confined", q.Sandbox)...)
	if q.Preview.Diff != "" {
		k.add(broken(strings.TrimRight(diff(q.Preview.Diff, k.Set), "\n"), k.w)...)
	}
}

// prefixed is a text with its name before the first line, each sign of it shown.
func prefixed(k *canvas, name, value string) []string {
	if value == "" {
		return nil
	}
	const column = 11
	if k.w < 4*column { // no room for two columns
		return broken(k.Muted.Render(strictLine(name))+" "+text.Strict(value), k.w)
	}
	lines := text.Hard(text.Strict(value), k.w-column)
	for i, l := range lines {
		head := ""
		if i == 0 {
			head = text.Fit(strictLine(name), column-2, k.Glyphs.Ellipsis)
		}
		lines[i] = k.Muted.Render(text.Fit(head, column, "")) + l
	}
	return lines
}

// argument is one value of a call's arguments.
type argument struct{ name, value string }

// fields reads argument text into its values, in order; text that is no object is one value.
func fields(args string) []argument {
	if strings.TrimSpace(args) == "" {
		return nil
	}
	whole := []argument{{"input", args}}
	if !json.Valid([]byte(args)) {
		return whole
	}
	dec := json.NewDecoder(strings.NewReader(args))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return whole
	}
	var out []argument
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return whole
		}
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return whole
		}
		var s string
		if json.Unmarshal(raw, &s) != nil || bytes.Equal(raw, []byte("null")) {
			s = string(raw)
		}
		out = append(out, argument{fmt.Sprint(name), s})
	}
	return out
}

// whole is everything about the call as one text: what is shown is what runs, each sign of it.
func (a *approval) whole() string {
	q := a.q
	var b strings.Builder
	section := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s:\n%s\n\n", name, strings.TrimRight(text.Strict(value), "\n"))
		}
	}
	fmt.Fprintf(&b, "%s (%s), asked by %s\n\n", strictLine(q.Tool), strictLine(q.Source), asker(q.Agents, nil))
	section("asked again", q.Again)
	section("will run", q.Preview.Command)
	if q.Script != q.Preview.Command {
		section("script", q.Script)
	}
	section("will send", q.Preview.URL)
	for _, f := range fields(q.Arguments) {
		if f.value != q.Preview.Command {
			section(strictLine(f.name), f.value)
		}
	}
	section("arguments as the tool gets them", q.Arguments)
	section("touches", strings.Join(q.Preview.Paths, "\n"))
	section("working folder", q.Dir)
	section("why it asks", q.Reason)
	section("confined", q.Sandbox)
	section("change", q.Preview.Diff)
	return strings.TrimRight(b.String(), "\n")
}

// explained says why it is asked and what each answer would do.
func (a *approval) explained() string {
	q := a.q
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", orElse(text.Strict(q.Reason), "No rule and no mode allows this call."))
	fmt.Fprintf(&b, "The call is %s of turn %d, the %d. of %d in its reply, made by %s.\n", strictLine(q.Label), q.Turn, q.Place, max(q.Batch, q.Place), asker(q.Agents, nil))
	if q.Category != "" {
		fmt.Fprintf(&b, "It runs as %s of the agent.\n", strictLine(q.Category))
	}
	fmt.Fprintf(&b, "%s\n\n", orElse(text.Strict(q.Sandbox), "What you allow by key runs as shown, without confinement."))
	for _, p := range q.Parts {
		mark := "not covered"
		if p.Covered {
			mark = "covered by a rule"
		}
		fmt.Fprintf(&b, "  %s: %s\n", mark, strictLine(p.Text))
	}
	if q.Protected {
		b.WriteString("\nThe target is protected: it is asked for each time, no rule may allow it.\n")
	}
	if len(q.Rules) > 0 && !q.Protected {
		b.WriteString("\nRules that s and a may make, narrow to wide (m):\n")
		for _, r := range q.Rules {
			fmt.Fprintf(&b, "  %s   matched %d past calls of this session\n", strictLine(r.Text), r.Past)
		}
	}
	b.WriteString("\ny  this call only\ns  the rule, until the session is closed\na  the rule, for this project (p) or everywhere (g); n makes it a rule that denies\nn  this call is not run, the model is told \"denied by the user\" and goes on\nr  the same, with your reason\nCtrl+C  this call is not run and the turn ends\n")
	return b.String()
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// changed counts the lines of a diff: "+3 -1".
func changed(diff string) string {
	plus, minus := 0, 0
	for l := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(l, "+++"), strings.HasPrefix(l, "---"):
		case strings.HasPrefix(l, "+"):
			plus++
		case strings.HasPrefix(l, "-"):
			minus++
		}
	}
	return fmt.Sprintf("+%d -%d lines", plus, minus)
}

// diff is a unified diff with its looks; without colours the signs at the line starts tell enough.
func diff(d string, s *style.Set) string {
	var b strings.Builder
	for l := range strings.Lines(d) {
		line := text.Strict(strings.TrimSuffix(l, "\n"))
		switch {
		case strings.HasPrefix(l, "+++"), strings.HasPrefix(l, "---"):
			line = s.Strong.Render(line)
		case strings.HasPrefix(l, "@@"):
			line = s.DiffHunk.Render(line)
		case strings.HasPrefix(l, "+"):
			line = s.DiffAdd.Render(line)
		case strings.HasPrefix(l, "-"):
			line = s.DiffRemove.Render(line)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
