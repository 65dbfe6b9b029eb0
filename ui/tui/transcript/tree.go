package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"parley/agent/model"
	"parley/toolrt"
	"parley/ui/tui/diff"
	"parley/ui/tui/text"
)

const (
	liveLines   = 3  // of a running command's output
	liveDetails = 20 // the same, unfolded
	saidLines   = 2  // of what a running agent says
	inputLines  = 12 // of a call's arguments, unfolded
	resultLines = 40 // of its result, unfolded
)

// folded reports whether a unit of a block is folded to one line.
func (m *Model) folded(b *block, unit string) bool {
	if folded, said := m.folds[foldID(b, unit)]; said {
		return folded
	}
	return !m.details && !b.msg.Message.Own // what the person has run is what they want to see
}

// foldID names a unit among those of all blocks. Calls have unique paths.
func foldID(b *block, unit string) string {
	if strings.HasPrefix(unit, "call ") {
		return unit
	}
	return fmt.Sprintf("%s %s %d", unit, b.key.conversation, b.key.index)
}

// unfolded reports whether the details of a call are shown.
func (m *Model) unfolded(n *node) bool {
	return !m.folded(n.owner, callUnit(n.call.Path))
}

// open reports whether what an agent calls is shown: while it runs, and when it is unfolded.
func (m *Model) open(n *node) bool {
	if m.onScreen[n.call.Path] {
		return false
	}
	if folded, said := m.folds[callUnit(n.call.Path)]; said {
		return !folded
	}
	return m.details || !n.call.Status.Terminal()
}

// calls draws a list of calls with everything below them, each line behind indent.
func (p *page) calls(nodes []*node, indent string) {
	for _, n := range nodes {
		p.call(n, indent)
	}
}

func (p *page) call(n *node, indent string) {
	unit := callUnit(n.call.Path)
	p.add(unit, p.callLine(n, indent))
	inner := indent + p.style().Border.Render(p.style().Glyphs.Tree) + " "
	if text.Width(inner) > p.w/2 {
		inner = indent // too deep to go on to the right
	}
	if !n.call.Agent {
		p.leaf(n, unit, inner)
		return
	}
	if !p.m.open(n) {
		p.failure(n, unit, inner)
		return
	}
	if p.m.unfolded(n) {
		p.conversation(n, unit, inner)
		return
	}
	p.said(n, unit, inner)
	p.calls(n.children, inner)
}

// callLine is a call in one line: sign, label, title, and state, time and size at the right.
func (p *page) callLine(n *node, indent string) string {
	s, c := p.style(), n.call
	word := Word(c)
	if n.asks != "" {
		word = n.asks
	}
	if !c.Status.Terminal() && !c.Started.IsZero() {
		p.b.timed = true
	}
	sign := s.Glyphs.Folded
	switch {
	case c.Started.IsZero() && c.Status == toolrt.StatusPending:
		sign = s.Glyphs.Pending
	case c.Agent && p.m.open(n), !c.Agent && p.m.unfolded(n):
		sign = s.Glyphs.Unfolded
	}
	elapsed, facts := Elapsed(c, p.m.now), Facts(c)
	if c.Decision != nil && c.Status == toolrt.StatusDenied && c.Decision.Note != "" {
		facts = fmt.Sprintf("%q", text.Cut(text.Line(c.Decision.Note), 24, s.Glyphs.Ellipsis))
	}
	right := s.State(word).Render(text.Fit(word, 4, ""))
	switch {
	case p.w >= 60 && (elapsed == "" || text.Width(facts) > 10): // words, not figures
		right += s.Muted.Render(" " + text.Fit(facts, max(17, text.Width(facts)), ""))
	case p.w >= 60:
		right += s.Muted.Render(fmt.Sprintf(" %6s %s", elapsed, text.Fit(text.Spaces(10-text.Width(facts))+facts, 10, "")))
	case p.w >= 30 && elapsed == "" && facts != "":
		right += s.Muted.Render(" " + text.Fit(facts, 6, ""))
	case p.w >= 30:
		right += s.Muted.Render(fmt.Sprintf(" %6s", elapsed))
	}
	left := indent + sign + " "
	if c.Label != "" {
		left += s.Muted.Render(text.Line(c.Label)) + " "
	}
	name, args, _ := strings.Cut(Title(c), " ")
	left += s.Strong.Render(name)
	if args != "" {
		left += " " + args
	}
	return text.Spread(left, " "+right, p.w, s.Glyphs.Ellipsis)
}

// leaf draws what is below the line of a call that is no agent.
func (p *page) leaf(n *node, unit, indent string) {
	switch {
	case p.m.unfolded(n):
		p.details(n, unit, indent)
	case n.call.Status == toolrt.StatusRunning:
		p.output(n.output.last(liveLines), unit, indent)
	default:
		p.failure(n, unit, indent)
	}
}

// output shows lines of a command's output.
func (p *page) output(lines []string, unit, indent string) {
	s := p.style()
	w := p.w - text.Width(indent) - 4
	for _, l := range lines {
		if i := strings.LastIndexByte(strings.TrimRight(l, "\r"), '\r'); i >= 0 {
			l = l[i+1:] // a progress line was written over
		}
		if s.Options.NoColor {
			l = text.StripSGR(l)
		} else {
			l = text.CleanSGR(l)
		}
		p.add(unit, indent+"    "+text.Cut(text.Expand(l, 8), w, s.Glyphs.Ellipsis))
	}
}

// failure shows the first line of what a failed call answered.
func (p *page) failure(n *node, unit, indent string) {
	switch n.call.Status {
	case toolrt.StatusFailed, toolrt.StatusTimeout:
	default:
		return
	}
	for l := range strings.Lines(n.call.Result) {
		if l = text.Line(text.StripSGR(l)); l != "" {
			s := p.style()
			p.add(unit, indent+s.Muted.Render(text.Cut("  "+l, max(p.w-text.Width(indent), 0), s.Glyphs.Ellipsis)))
			return
		}
	}
}

// said shows the end of what a running agent says.
func (p *page) said(n *node, unit, indent string) {
	if n.call.Status.Terminal() || len(n.inner) == 0 {
		return
	}
	last := n.inner[len(n.inner)-1]
	if last.role != model.Assistant {
		return
	}
	w := p.w - text.Width(indent)
	source := last.doc.Source()
	source = source[max(0, len(source)-4*max(w, 1)*saidLines):]
	lines := text.Wrap(text.Clean(strings.TrimSpace(source)), w)
	for _, l := range lines[max(0, len(lines)-saidLines):] {
		p.add(unit, indent+p.style().Muted.Render(l))
	}
}

// details shows the arguments, the decision and the result of a call.
func (p *page) details(n *node, unit, indent string) {
	c := n.call
	p.section("in", pretty(c.Input), inputLines, unit, indent)
	if d := c.Decision; d != nil {
		p.section("auth", decision(d), 4, unit, indent)
	}
	switch {
	case c.Status.Terminal():
		said, change := splitDiff(c.Result)
		p.section("out", said, resultLines, unit, indent)
		p.change(change, unit, indent)
	case n.output.text != "":
		lines := n.output.last(liveDetails)
		if hidden := n.output.lines - len(lines); hidden > 0 {
			p.add(unit, indent+p.style().Muted.Render(fmt.Sprintf("    %s %d more lines", p.style().Glyphs.Ellipsis, hidden)))
		}
		p.output(lines, unit, indent)
	}
}

// splitDiff parts a result into what it says and the unified diff at its end, "" if there is none.
func splitDiff(s string) (said, change string) {
	at := 0
	if !strings.HasPrefix(s, "--- ") {
		if at = strings.Index(s, "\n--- ") + 1; at == 0 {
			return s, ""
		}
	}
	rest := s[at:]
	_, next, _ := strings.Cut(rest, "\n")
	if !strings.HasPrefix(next, "+++ ") || !strings.Contains(rest, "\n@@ ") || strings.Contains(rest, "\x1b") {
		return s, ""
	}
	return s[:at], rest
}

// change shows a unified diff, at most resultLines of it.
func (p *page) change(d, unit, indent string) {
	lines := diff.Lines(d, p.w-text.Width(indent), p.style())
	for i, l := range lines {
		if i == resultLines {
			p.add(unit, indent+p.style().Muted.Render(fmt.Sprintf("%s %d more lines", p.style().Glyphs.Ellipsis, len(lines)-i)))
			return
		}
		p.add(unit, indent+l)
	}
}

// section shows a text below a word, at most limit lines of it.
func (p *page) section(word, s string, limit int, unit, indent string) {
	set := p.style()
	s = strings.TrimRight(s, "\n")
	if s == "" {
		return
	}
	if set.Options.NoColor {
		s = text.StripSGR(s)
	} else {
		s = text.CleanSGR(s)
	}
	const margin = 6
	w := max(p.w-text.Width(indent)-margin, 1)
	var lines []string
	total := strings.Count(s, "\n") + 1
	used := 0
	for l := range strings.SplitSeq(s, "\n") {
		if len(lines) >= limit {
			break
		}
		lines = append(lines, text.Wrap(l, w)...)
		used++
	}
	if len(lines) > limit {
		lines = lines[:limit]
		used--
	}
	for i, l := range lines {
		if i == 0 {
			p.add(unit, indent+set.Muted.Render(text.Fit(word, margin, ""))+l)
			continue
		}
		p.add(unit, indent+text.Spaces(margin)+l)
	}
	if used < total {
		p.add(unit, indent+set.Muted.Render(text.Spaces(margin)+fmt.Sprintf("%s %d more lines", set.Glyphs.Ellipsis, max(total-used, 1))))
	}
}

// conversation shows what was said inside an agent's call, with the calls made there.
func (p *page) conversation(n *node, unit, indent string) {
	if d := n.call.Decision; d != nil {
		p.section("auth", decision(d), 4, unit, indent)
	}
	w := p.w - text.Width(indent)
	if !n.loaded {
		p.section("in", pretty(n.call.Input), inputLines, unit, indent)
	}
	for _, in := range n.inner {
		if in.role == model.User {
			for _, l := range text.Wrap(text.Clean(strings.TrimSpace(in.doc.Source())), w) {
				p.add(unit, indent+p.style().Muted.Render(l))
			}
			continue
		}
		for _, l := range in.doc.Lines(p.m.markdown, w) {
			p.add(unit, indent+l)
		}
	}
	p.calls(n.children, indent)
	if n.call.Status.Terminal() && (len(n.inner) == 0 || n.call.Status != toolrt.StatusSuccess) {
		p.section("out", n.call.Result, resultLines, unit, indent)
	}
}

// pretty is argument text for reading: an object one value a line.
func pretty(input string) string {
	var b bytes.Buffer
	if !strings.HasPrefix(strings.TrimSpace(input), "{") || json.Indent(&b, []byte(input), "", "  ") != nil {
		return input
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(input), &fields) != nil {
		return input
	}
	dec := json.NewDecoder(strings.NewReader(input))
	_, _ = dec.Token()
	var out strings.Builder
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return b.String()
		}
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return b.String()
		}
		value := string(raw)
		var s string
		if json.Unmarshal(raw, &s) == nil {
			value = s
		}
		fmt.Fprintf(&out, "%v: %s\n", name, value)
	}
	return out.String()
}

// decision is who allowed or denied a call, and by what.
func decision(d *toolrt.Decision) string {
	verb := "denied"
	if d.Allow {
		verb = "allowed"
	}
	s := verb + " by " + d.By
	if d.Scope != "" && d.Scope != "once" {
		s += ", " + d.Scope
	}
	if d.Rule != "" {
		s += ": " + d.Rule
	}
	if d.Note != "" {
		s += fmt.Sprintf(": %q", d.Note)
	}
	return s
}
