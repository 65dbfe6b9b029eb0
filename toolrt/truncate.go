package toolrt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Limits bound one text for the model (R58). Zero and less mean no limit; other values below 10
// lines or 1,024 bytes are raised to these.
type Limits struct {
	Lines int
	Bytes int
	// Head is the share of both budgets kept from the start, within 0.1 and 0.9 (R60).
	Head float64
}

const (
	minLines = 10
	minBytes = 1024
)

func (l Limits) normal() Limits {
	if l.Lines <= 0 {
		l.Lines = math.MaxInt
	}
	if l.Bytes <= 0 {
		l.Bytes = math.MaxInt
	}
	l.Lines, l.Bytes = max(l.Lines, minLines), max(l.Bytes, minBytes)
	l.Head = min(max(l.Head, 0.1), 0.9)
	return l
}

// Cut says which parts of a message are the output's own: after Lead bytes of a note Head bytes of
// its beginning, and at the end Tail bytes of its end. Between them stands the marker, if the
// output was cut.
type Cut struct {
	Lead int `json:"lead,omitempty"`
	Head int `json:"head"`
	Tail int `json:"tail"`
	// JSON says that the output is JSON.
	JSON bool `json:"json,omitempty"`
	// HeadPart and TailPart say that the last line of the head, or the first of the tail, is only
	// a part of a line.
	HeadPart bool `json:"headPart,omitempty"`
	TailPart bool `json:"tailPart,omitempty"`
}

// excerpt is a text of which the middle may be missing.
type excerpt struct {
	head  string // the whole text if whole is set
	tail  string
	whole bool
	bytes int64 // of the whole text
	lines int64 // of the whole text (R58)
	// headPart and tailPart are as in Cut.
	headPart, tailPart bool
}

func wholeText(text string) excerpt {
	return excerpt{head: text, whole: true, bytes: int64(len(text)), lines: countLines(text)}
}

// countLines counts the parts between line feeds; a final line feed adds none (R58).
func countLines(text string) int64 {
	n := int64(strings.Count(text, "\n"))
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// fits reports whether the excerpt is complete and within the limits.
func (e excerpt) fits(l Limits) bool {
	return e.whole && e.bytes <= int64(l.Bytes) && e.lines <= int64(l.Lines)
}

// marker is the line that stands for what was left out (R62).
type marker struct {
	id       string // of the saved text, "" if there is none
	tool     string // that reads it, "" if none is known
	partial  bool   // only the first and last part were saved
	jsonText bool   // the text is JSON that the cut leaves incomplete
	room     bool   // cut only for a request that had to become smaller
}

func (m marker) text(lines, bytes int64, e excerpt) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[... %s lines, %s bytes left out of %s lines, %s bytes", grouped(lines), grouped(bytes), grouped(e.lines), grouped(e.bytes))
	if m.jsonText {
		b.WriteString("; the JSON is incomplete")
	}
	switch {
	case m.room:
		b.WriteString(" to make room")
	case m.id == "":
		b.WriteString("; the rest was not kept")
	default:
		b.WriteString("; saved as " + m.id)
		if m.partial {
			b.WriteString(", first and last part only")
		}
		if m.tool != "" {
			b.WriteString(", read it with " + m.tool)
		}
	}
	b.WriteString(" ...]")
	return b.String()
}

// savedMark finds a marker that names a saved text, and the like in an error object (R48).
var savedMark = regexp.MustCompile(`(?m)^\[\.\.\. .* left out of .*; saved as [A-Za-z0-9_][A-Za-z0-9._-]*[, ].*\.\.\.\]$|"full_output_id":"`)

// NamesOutput reports whether a message for the model says that a whole output was saved, so that
// the tool that reads it is of use (R64).
func NamesOutput(message string) bool { return savedMark.MatchString(message) }

// Shorten cuts a text to about limit bytes, at least 1,024, with its head, its tail and a line that says
// what was left out to make room. A line that names a saved text stays. Text within the limit is
// returned as it is.
func Shorten(text string, limit int) string {
	limit = max(limit, minBytes)
	if len(text) <= limit {
		return text
	}
	saved := savedMark.FindString(text)
	short, _ := truncate(wholeText(text), Limits{Lines: math.MaxInt32, Bytes: limit, Head: 0.5}, marker{room: true})
	if strings.HasPrefix(saved, "[") && !strings.Contains(short, saved) {
		short += "\n" + saved
	}
	return short
}

// truncate cuts e down to l, nil if nothing had to be cut. The result never exceeds the limits,
// and cutting it again changes nothing (R59 to R61).
func truncate(e excerpt, l Limits, m marker) (string, *Cut) {
	l = l.normal()
	if e.fits(l) {
		return e.head, nil
	}
	if e.whole {
		e.tail = e.head
	}
	reserve := len(m.text(e.lines, e.bytes, e)) + 2
	lineBudget, byteBudget := l.Lines-1, l.Bytes-reserve
	headLines := min(int(math.Ceil(float64(lineBudget)*l.Head)), lineBudget-1)
	head, headShown, headPart := takeHead(e.head, headLines, int(float64(byteBudget)*l.Head), e.headPart)
	tail, tailShown, tailPart := takeTail(e.tail, lineBudget-headShown, byteBudget-len(head), e.tailPart)
	shown := int64(headShown + tailShown)
	if headPart && tailPart && e.lines == 1 {
		shown = 1 // both are parts of the same line
	}
	left := m.text(e.lines-shown, e.bytes-int64(len(head)+len(tail)), e)
	cut := &Cut{Head: len(head), Tail: len(tail), HeadPart: headPart, TailPart: tailPart}
	return head + "\n" + left + "\n" + tail, cut
}

// takeHead returns at most lines whole lines from the start of text within size bytes, without
// the line feed after them; if not even the first line fits, a part of it. part says that text's
// own last line is a part.
func takeHead(text string, lines, size int, part bool) (head string, shown int, cut bool) {
	end := -1
	for shown < lines {
		i := strings.IndexByte(text[end+1:], '\n')
		next := len(text)
		if i >= 0 {
			next = end + 1 + i
		}
		if next > size {
			break
		}
		end, shown = next, shown+1
		if i < 0 {
			return text, shown, part
		}
	}
	if shown > 0 {
		return text[:end], shown, false
	}
	i := min(size, len(text))
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return text[:i], 1, true
}

// takeTail is takeHead for the end of text. A final line feed belongs to the last line.
func takeTail(text string, lines, size int, part bool) (tail string, shown int, cut bool) {
	start := len(text)
	for shown < lines && start > 0 {
		next := strings.LastIndexByte(text[:start-1], '\n') + 1
		if len(text)-next > size {
			break
		}
		start, shown = next, shown+1
	}
	if shown > 0 {
		return text[start:], shown, part && start == 0
	}
	if lines == 0 || size <= 0 {
		return "", 0, false
	}
	i := max(len(text)-size, 0)
	for i < len(text) && !utf8.RuneStart(text[i]) {
		i++
	}
	if i == len(text) {
		return "", 0, false
	}
	return text[i:], 1, true
}

// layOutJSON returns JSON text with one element a line, so that it can be cut between elements
// (R66), and whether text is JSON with structure. Other text is returned as it is.
func layOutJSON(text string) (string, bool) {
	trimmed := strings.TrimSpace(text)
	if !strings.HasPrefix(trimmed, "{") && !strings.HasPrefix(trimmed, "[") || !json.Valid([]byte(trimmed)) {
		return text, false
	}
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(trimmed), "", " "); err != nil {
		return text, false
	}
	return b.String(), true
}
