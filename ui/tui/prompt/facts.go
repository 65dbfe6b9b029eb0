package prompt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"parley/agent"
	"parley/ui/tui/diff"
	"parley/ui/tui/text"
)

// facts is everything about the call, the most important first: what will run, where, why it asks, and
// then what may be long.
func (a *approval) facts(k *canvas) {
	q := a.q
	k.spread(k.Strong.Render(strictLine(q.Tool)), k.Muted.Render(strictLine(q.Source)))
	if q.Again != "" {
		k.wrap(k.Warning.Render("asked again: " + strictLine(q.Again)))
	}
	if q.Preview.Command != "" {
		k.add(prefixed(k, "will run", q.Preview.Command)...)
	} else if q.Script != "" {
		k.add(prefixed(k, "script", q.Script)...)
	}
	if q.Preview.URL != "" {
		k.add(prefixed(k, "will send", q.Preview.URL)...)
	}
	short, long := a.values()
	for _, f := range short {
		k.add(prefixed(k, f.name, f.value)...)
	}
	k.add(prefixed(k, "touches", strings.Join(a.touched(short), "\n"))...)
	a.uncovered(k)
	k.add(prefixed(k, "in", q.Dir)...)
	k.add(prefixed(k, "why", q.Reason)...)
	k.add(prefixed(k, "confined", q.Sandbox)...)
	for _, f := range long {
		k.add(prefixed(k, f.name, f.value)...)
	}
	if q.Preview.Diff != "" {
		k.field("change", changed(q.Preview.Diff)+"  d shows it")
		k.add(diff.Lines(q.Preview.Diff, k.w, k.Set)...)
	}
}

// uncovered adds the parts of a command that no rule covers, if others are covered: else it is all of
// it that asks.
func (a *approval) uncovered(k *canvas) {
	if !slices.ContainsFunc(a.q.Parts, func(p agent.CommandPart) bool { return p.Covered }) {
		return
	}
	for _, part := range a.q.Parts {
		if !part.Covered {
			k.add(prefixed(k, "asks for", part.Text)...)
		}
	}
}

// values are the arguments of one line, and the longer ones; left out is what the command or the diff
// shows already.
func (a *approval) values() (short, long []argument) {
	for _, f := range fields(a.q.Arguments) {
		switch {
		case a.q.Preview.Command != "" && (f.value == a.q.Preview.Command || f.name == "directory" && f.value == "."):
		case inDiff(a.q.Preview.Diff, f.value):
		case strings.Contains(f.value, "\n"):
			long = append(long, f)
		default:
			short = append(short, f)
		}
	}
	return short, long
}

// inDiff reports whether all lines of a value are among those of a diff.
func inDiff(change, value string) bool {
	if change == "" || strings.TrimSpace(value) == "" {
		return false
	}
	lines := map[string]bool{}
	for l := range strings.Lines(change) {
		if l = strings.TrimRight(l, "\r\n"); l != "" && !strings.HasPrefix(l, "+++") && !strings.HasPrefix(l, "---") {
			lines[l[1:]] = true
		}
	}
	for l := range strings.Lines(value) {
		if l = strings.TrimRight(l, "\r\n"); l != "" && !lines[l] {
			return false
		}
	}
	return true
}

// touched are the files that are not named by one of the arguments shown.
func (a *approval) touched(shown []argument) []string {
	var paths []string
	for _, p := range a.q.Preview.Paths {
		if !slices.ContainsFunc(shown, func(f argument) bool { return f.value == p || filepath.Join(a.q.Dir, f.value) == p }) {
			paths = append(paths, p)
		}
	}
	return paths
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
	fmt.Fprintf(&b, "%s (%s), asked by %s\n\n", strictLine(q.Tool), strictLine(q.Source), askerOf(q))
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
			fmt.Fprintf(&b, "  %s   matched %s of this session\n", strictLine(r.Text), counted(r.Past, "past call"))
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
