package sys

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// lined is a text with LF as its only line end, that knows where the real ones were CRLF. Carriage
// returns elsewhere are characters like others.
type lined struct {
	text string
	crlf []int // places in text of the line feeds that were CRLF, in order
	bom  int   // bytes before text
}

func newLined(content string) lined {
	var l lined
	content, marked := strings.CutPrefix(content, byteOrderMark)
	if marked {
		l.bom = len(byteOrderMark)
	}
	var b strings.Builder
	for {
		line, rest, more := strings.Cut(content, "\r\n")
		b.WriteString(line)
		if !more {
			break
		}
		l.crlf = append(l.crlf, b.Len())
		b.WriteByte('\n')
		content = rest
	}
	l.text = b.String()
	return l
}

// raw returns the place in the file of a place in the text.
func (l *lined) raw(at int) int { return l.bom + at + sort.SearchInts(l.crlf, at) }

// isCRLF reports whether the line feed at that place was a CRLF.
func (l *lined) isCRLF(at int) bool {
	n := sort.SearchInts(l.crlf, at)
	return n < len(l.crlf) && l.crlf[n] == at
}

// find fills in the edits that put after in the place of before, or says why there are none.
func (c *change) find(before, after string, all bool) (refusal string) {
	content := newLined(string(c.old))
	if strings.Contains(before, "\r") && strings.Contains(string(c.old[content.bom:]), before) {
		// Whoever writes carriage returns that are there means them.
		content = lined{text: string(c.old[content.bom:]), bom: content.bom}
	} else {
		before, after = unifyEnds(before), unifyEnds(after)
	}
	if before == after {
		return "The old and the new text are the same: there is nothing to change"
	}
	places := occurrences(content.text, before, all)
	switch {
	case len(places) == 0:
		return notFound(c.name, content.text, before)
	case len(places) > 1 && !all:
		return ambiguous(c.name, content.text, places)
	}
	lead, tail := common(before, after)
	for _, at := range places {
		c.edits = append(c.edits, content.edit(at+lead, at+len(before)-tail, after[lead:len(after)-tail]))
	}
	return ""
}

func unifyEnds(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// occurrences returns where part stands in text: with apart those that do not overlap, else all.
func occurrences(text, part string, apart bool) []int {
	step := 1
	if apart {
		step = len(part)
	}
	var places []int
	for at := 0; at <= len(text)-len(part); {
		i := strings.Index(text[at:], part)
		if i < 0 {
			break
		}
		places = append(places, at+i)
		at += i + step
	}
	return places
}

// common returns how many bytes two different texts have in common at their beginning and their
// end, in whole characters. They are left alone, with their line ends.
func common(a, b string) (lead, tail int) {
	short := min(len(a), len(b))
	for lead < short && a[lead] == b[lead] {
		lead++
	}
	for lead > 0 && (!startsRune(a, lead) || !startsRune(b, lead)) {
		lead--
	}
	for tail < short-lead && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	for tail > 0 && (!startsRune(a, len(a)-tail) || !startsRune(b, len(b)-tail)) {
		tail--
	}
	return lead, tail
}

func startsRune(s string, at int) bool { return at == len(s) || utf8.RuneStart(s[at]) }

// edit replaces the text between two places. Its line ends take the forms of those that they
// replace, further ones that of the line they are in.
func (l *lined) edit(start, end int, text string) udiff.Edit {
	var ends []bool // of the replaced line ends, whether they are CRLF
	for at := start; at < end; at++ {
		if l.text[at] == '\n' {
			ends = append(ends, l.isCRLF(at))
		}
	}
	further := l.nearestEnd(start, end)
	if len(ends) > 0 {
		further = ends[len(ends)-1]
	}
	var b strings.Builder
	for n := 0; ; n++ {
		line, rest, more := strings.Cut(text, "\n")
		b.WriteString(line)
		if !more {
			break
		}
		if n < len(ends) && ends[n] || n >= len(ends) && further {
			b.WriteByte('\r')
		}
		b.WriteByte('\n')
		text = rest
	}
	return udiff.Edit{Start: l.raw(start), End: l.raw(end), New: b.String()}
}

// nearestEnd reports whether the line in which a place lies ends in CRLF; the last line is taken to
// end as the one before.
func (l *lined) nearestEnd(start, end int) bool {
	if at := strings.IndexByte(l.text[end:], '\n'); at >= 0 {
		return l.isCRLF(end + at)
	}
	at := strings.LastIndexByte(l.text[:start], '\n')
	return at >= 0 && l.isCRLF(at)
}

// ambiguous says that the text to replace stands in several places.
func ambiguous(name, text string, places []int) string {
	const named = 5
	var lines []string
	for _, at := range places[:min(len(places), named)] {
		lines = append(lines, fmt.Sprint(lineOf(text, at)))
	}
	if len(places) > named {
		lines = append(lines, "…")
	}
	return fmt.Sprintf("The old text stands %d times in %s (lines %s): give more of the lines around it so that it is unique, or set all to true",
		len(places), name, strings.Join(lines, ", "))
}

// lineOf returns the number of the line in which a place lies.
func lineOf(text string, at int) int { return 1 + strings.Count(text[:at], "\n") }
