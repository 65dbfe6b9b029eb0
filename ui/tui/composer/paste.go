package composer

import (
	"fmt"
	"strconv"
	"strings"
)

// A paste larger than this is folded into one cell that stands for it.
const (
	foldLines = 8
	foldBytes = 2000
)

// paste is folded text. It is one cell of the buffer: the cursor steps over it, it is deleted and
// undone as a whole, and its text goes out when the message is sent. Text that merely looks like
// its label is text.
type paste struct {
	number int
	text   string
}

func (p *paste) label() string {
	n := strings.Count(p.text, "\n")
	if !strings.HasSuffix(p.text, "\n") {
		n++
	}
	if n == 1 {
		return fmt.Sprintf("[pasted %s letters #%d]", thousands(len([]rune(p.text))), p.number)
	}
	return fmt.Sprintf("[pasted %s lines #%d]", thousands(n), p.number)
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// fold returns the cells for text that came in one piece: a single one when it is large.
func (m *Model) fold(text string) []cell {
	if strings.Count(text, "\n") < foldLines && len(text) <= foldBytes {
		return graphemes(text)
	}
	m.pastes++
	return []cell{{paste: &paste{number: m.pastes, text: text}}}
}

// expand is the text that cells stand for.
func expand(cells []cell) string {
	var b strings.Builder
	for _, c := range cells {
		if c.paste != nil {
			b.WriteString(c.paste.text)
		} else {
			b.WriteString(c.text)
		}
	}
	return b.String()
}

// unfold puts the text of the paste before or after the cursor in its place.
func (m *Model) unfold() {
	for _, i := range []int{m.buf.cursor - 1, m.buf.cursor} {
		if i >= 0 && i < len(m.buf.cells) && m.buf.cells[i].paste != nil {
			m.buf.replace(i, i+1, graphemes(m.buf.cells[i].paste.text), false)
			return
		}
	}
}
