package export

import (
	"fmt"
	"slices"
	"time"

	"parley/agent/record"
	"parley/toolrt"
	"parley/ui/tui/text"
)

// Sizes of a timeline in pixels.
const (
	rowHeight  = 16
	barHeight  = 10
	axisHeight = 18
)

// span is a bar of a timeline.
type span struct {
	label    string
	call     string // path, "" for requests to models
	class    string
	from, to time.Time
	waited   time.Duration // before from, for a person
}

// timeline draws what a turn did, to scale: the width is the turn's time, and each bar is as long as
// what it stands for, requests to models and calls in the order in which they began.
func (p *page) timeline(t Turn) {
	spans := p.spans(t)
	from, to := t.Started, t.Finished
	for _, s := range spans {
		if from.IsZero() || s.from.Before(from) {
			from = s.from
		}
		if s.to.After(to) {
			to = s.to
		}
	}
	total := to.Sub(from)
	if len(spans) == 0 || total <= 0 {
		return
	}
	place := func(at time.Time) float64 { return 100 * float64(at.Sub(from)) / float64(total) }
	height := axisHeight + rowHeight*len(spans)
	p.raw("<svg class=\"timeline\" height=\"%d\" role=\"img\" aria-label=\"Timeline of turn %d, %s\" data-ms=\"%d\">\n", height, t.Number, duration(total), total.Milliseconds())
	for at, step := time.Duration(0), tick(total); at <= total; at += step {
		x := 100 * float64(at) / float64(total)
		p.raw("<line class=\"axis\" x1=\"%.3f%%\" x2=\"%.3f%%\" y1=\"%d\" y2=\"%d\"/>", x, x, axisHeight-4, height)
		if x < 92 {
			p.raw("<text x=\"%.3f%%\" y=\"11\" dx=\"2\">%s</text>", x, duration(at))
		}
	}
	p.raw("\n")
	for i, s := range spans {
		p.span(s, axisHeight+i*rowHeight, place)
	}
	p.raw("</svg>\n")
}

// span draws one bar; what it waited for stands before it in another colour.
func (p *page) span(s span, y int, place func(time.Time) float64) {
	if s.call != "" {
		p.raw("<a href=\"#%s\">", anchor(s.call))
	}
	title := fmt.Sprintf("%s, %s", s.label, duration(s.to.Sub(s.from)))
	if s.waited > 0 {
		title += ", waited " + duration(s.waited)
		start := max(0, place(s.from.Add(-s.waited)))
		p.raw("<rect class=\"waited\" x=\"%.3f%%\" y=\"%d\" width=\"%.3f%%\" height=\"%d\"/>", start, y+3, place(s.from)-start, barHeight)
	}
	left, width := place(s.from), place(s.to)-place(s.from)
	shown := fmt.Sprintf("%.3f%%", width)
	if width == 0 {
		shown = "1" // a pixel, or nothing would be seen
	}
	p.raw("<rect class=\"ran %s\" x=\"%.3f%%\" y=\"%d\" width=\"%s\" height=\"%d\" data-ms=\"%d\"><title>%s</title></rect>",
		s.class, left, y+3, shown, barHeight, s.to.Sub(s.from).Milliseconds(), esc(title))
	if left < 60 {
		p.raw("<text x=\"%.3f%%\" y=\"%d\" dx=\"4\">%s</text>", left+width, y+12, esc(s.label))
	} else {
		p.raw("<text x=\"%.3f%%\" y=\"%d\" dx=\"-4\" text-anchor=\"end\">%s</text>", left, y+12, esc(s.label))
	}
	if s.call != "" {
		p.raw("</a>")
	}
	p.raw("\n")
}

// spans lists the bars of a turn.
func (p *page) spans(t Turn) []span {
	var list []span
	for _, e := range t.Completions {
		if e.Started.IsZero() || e.Ended.Before(e.Started) {
			continue
		}
		list = append(list, span{label: "model", class: "model", from: e.Started, to: e.Ended})
	}
	for _, c := range p.chat.Calls {
		if c.Turn == t.Number && c.Parent != "" && !c.Started.IsZero() && !c.Finished.Before(c.Started) {
			list = append(list, callSpan(c))
		}
	}
	slices.SortStableFunc(list, func(a, b span) int { return a.from.Compare(b.from) })
	return list
}

func callSpan(c record.Call) span {
	s := span{label: text.Line(firstSet(c.Label, c.Category) + " " + c.Tool), call: c.Path, from: c.Started, to: c.Finished}
	switch {
	case c.Agent:
		s.class = "agent"
	case c.Status != toolrt.StatusSuccess:
		s.class = "bad"
	}
	if c.Decision != nil {
		s.waited = c.Decision.Wait
	}
	return s
}

// tick is the distance of the marks of a scale: 1, 2 or 5 times a power of ten, about six of them.
func tick(total time.Duration) time.Duration {
	step := time.Millisecond
	for {
		for _, factor := range []time.Duration{1, 2, 5} {
			if total/(step*factor) <= 6 {
				return step * factor
			}
		}
		step *= 10
	}
}
