package panel

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"parley/agent/record"
	"parley/toolrt"
	"parley/ui/tui/text"
	"parley/ui/tui/transcript"
)

// detailLines draws the details of the call under the cursor in h lines. Below the list the end of
// what a running call prints is kept in view; over the whole panel they scroll.
func (m *Model) detailLines(h int, full bool) []string {
	n := m.selected()
	if n == nil || h <= 0 {
		return padded(nil, h)
	}
	c := m.asked(n.call)
	head := " " + m.style.Strong.Render(strings.TrimSpace(text.Line(c.Label)+" "+text.Line(c.Tool)))
	word := m.word(c)
	head = text.Spread(head, m.style.State(word).Render(word)+" "+m.style.Muted.Render(transcript.Elapsed(c, m.now))+" ", m.w, m.style.Glyphs.Ellipsis)
	facts, out := m.factLines(c, full), m.outputLines(n)
	if full {
		all := append(facts, out...)
		m.scroll = min(m.scroll, max(len(all)-(h-1), 0))
		return padded(append([]string{head}, all[m.scroll:]...), h)
	}
	// The facts take at most what the output leaves, and at least half.
	room := h - 1
	if keep := max(room-len(out), room/2); len(facts) > keep {
		facts = facts[:keep]
	}
	room -= len(facts)
	if len(out) > room {
		if c.Status.Terminal() {
			out = out[:room]
		} else {
			out = out[len(out)-room:]
		}
	}
	return padded(append(append([]string{head}, facts...), out...), h)
}

// factLines are the arguments and who allowed the call.
func (m *Model) factLines(c record.Call, full bool) []string {
	var lines []string
	for _, a := range arguments(c.Input) {
		lines = append(lines, a)
		if !full && len(lines) == 4 {
			break
		}
	}
	lines = m.labelled("in", lines, full)
	if d := c.Decision; d != nil {
		lines = append(lines, m.labelled("auth", []string{Decided(*d)}, full)...)
		if d.Sandbox != "" {
			lines = append(lines, m.labelled("box", []string{d.Sandbox}, full)...)
		}
	}
	if c.Error != "" {
		lines = append(lines, m.labelled("err", []string{c.Error}, full)...)
	}
	return lines
}

// outputLines are what the call has given so far.
func (m *Model) outputLines(n *node) []string {
	out, note := n.call.Result, ""
	if whole, ok := m.outputs[n.call.Path]; ok {
		out = whole
	}
	if !n.call.Status.Terminal() {
		if out, note = string(n.tail.text), "(live)"; out == "" {
			return nil
		}
	}
	if out == "" {
		return nil
	}
	clean := text.CleanSGR
	if m.style.Options.NoColor {
		clean = text.StripSGR
	}
	lines := []string{m.style.Muted.Render(" out  " + note)}
	if note == "" {
		lines = nil
	}
	for i, l := range text.Hard(clean(strings.TrimRight(out, "\n")), max(m.w-6, 1)) {
		head := "      "
		if i == 0 && note == "" {
			head = m.style.Muted.Render(" out  ")
		}
		lines = append(lines, head+l)
	}
	return lines
}

// labelled puts a label before the first line and indents the others; each is cut or, when all is
// to be read, wrapped.
func (m *Model) labelled(label string, values []string, whole bool) []string {
	var lines []string
	for _, v := range values {
		parts := []string{text.Cut(text.Line(v), max(m.w-6, 1), m.style.Glyphs.Ellipsis)}
		if whole {
			parts = text.Hard(text.Clean(v), max(m.w-6, 1))
		}
		for _, p := range parts {
			head := "      "
			if len(lines) == 0 {
				head = m.style.Muted.Render(fmt.Sprintf(" %-5s", label))
			}
			lines = append(lines, head+p)
		}
	}
	return lines
}

// arguments lists a call's arguments as "name: value", in the order in which the model wrote them.
// Text that is no JSON object is itself the only line.
func arguments(input string) []string {
	dec := json.NewDecoder(strings.NewReader(input))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nonEmpty(input)
	}
	var lines []string
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nonEmpty(input)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nonEmpty(input)
		}
		lines = append(lines, fmt.Sprintf("%s: %s", name, plainValue(value)))
	}
	if _, err := dec.Token(); err != nil {
		return nonEmpty(input)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nonEmpty(input) // more follows the object: all of it is shown
	}
	return lines
}

func nonEmpty(s string) []string {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	return []string{s}
}

func plainValue(v json.RawMessage) string {
	var s string
	if len(v) > 0 && v[0] == '"' && json.Unmarshal(v, &s) == nil {
		return s
	}
	var b bytes.Buffer
	if json.Compact(&b, v) != nil {
		return string(v)
	}
	return b.String()
}

// Decided says in words how a call was decided: "allowed by you, once", "denied by rule sys.exec(rm *)".
func Decided(d toolrt.Decision) string {
	verb := "allowed"
	if !d.Allow {
		verb = "denied"
	}
	by := map[string]string{
		"user": "by you", "rule": "by a rule", "mode": "by the mode", "safe": "safe tool", "flag": "by a flag",
		"hook": "by a hook", "nobody": "nobody was there to ask",
	}[d.By]
	if by == "" {
		by = "by " + d.By
	}
	s := verb + " " + by
	switch {
	case d.Rule != "" && d.By == "rule":
		s = verb + " by rule " + d.Rule
	case d.Rule != "":
		s += ", rule " + d.Rule
	}
	if d.Scope != "" {
		s += ", " + d.Scope
	}
	if d.Note != "" {
		s += fmt.Sprintf(": %q", d.Note)
	}
	return s
}

func (m *Model) copyText(n *node) string {
	out := n.call.Result
	if whole, ok := m.outputs[n.call.Path]; ok {
		out = whole
	}
	return strings.TrimRight(n.call.Tool+" "+n.call.Input+"\n"+out, "\n") + "\n"
}
