package toolrt

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"
)

const (
	// binaryProbe is how much of an output is searched for NUL to tell binary data (R57).
	binaryProbe = 8 << 10
	// maxSequence bounds an escape sequence. A longer one, or one with a line break in it, has no
	// end: what follows is text again, so that an unclosed one swallows nothing.
	maxSequence = 4 << 10
)

// sanitizer makes bytes valid UTF-8: each invalid byte becomes U+FFFD. For terminal output it also
// takes out escape sequences and control characters other than tab and line feed, and turns CRLF
// into LF; a carriage return inside a line stays, for lastRewrite to resolve (R57). It keeps state
// between calls, so that text may come in any pieces.
type sanitizer struct {
	terminal bool
	// returns says that carriage returns stay as they are in terminal output.
	returns bool
	partial []byte // the beginning of a character that continues in the next piece
	cr      bool   // a carriage return waits for what follows it
	state   escapeState
	length  int // bytes of the current sequence
}

// TextForm says what a tool's output is, and so what is taken out of it before a model reads it
// (R57). Bytes that are no UTF-8 become U+FFFD, and binary data a line that names it, in each.
type TextForm int

// The forms.
const (
	// FormText is text of any kind, such as a file: every character stays.
	FormText TextForm = iota
	// FormTerminal is what a program prints for a terminal: escape sequences and control
	// characters are taken out, CRLF becomes LF, and of a line rewritten by carriage returns the
	// last form stays.
	FormTerminal
	// FormScript is the result of a program's own command tool: escape sequences and control
	// characters are taken out, line ends stay.
	FormScript
)

func (f TextForm) sanitizer() sanitizer {
	return sanitizer{terminal: f != FormText, returns: f == FormScript}
}

type escapeState int

const (
	escText      escapeState = iota
	escStart                 // after ESC
	escInter                 // ESC and intermediate bytes: one final byte follows
	escCSI                   // control sequence, up to a byte in @ to ~
	escString                // OSC, DCS, SOS, PM, APC: up to BEL or ST
	escStringEsc             // ESC inside one of these
)

// write appends the cleaned form of p to dst.
func (s *sanitizer) write(dst, p []byte) []byte {
	for len(s.partial) > 0 && len(p) > 0 { // finish the character of the last piece first
		s.partial, p = append(s.partial, p[0]), p[1:]
		if utf8.FullRune(s.partial) {
			rest := s.partial
			s.partial = nil
			dst = s.clean(dst, rest)
		}
	}
	return s.clean(dst, p)
}

// end appends what is left when no more comes.
func (s *sanitizer) end(dst []byte) []byte {
	rest := s.partial
	s.partial, s.cr, s.state = nil, false, escText
	for range rest {
		dst = append(dst, string(utf8.RuneError)...)
	}
	return dst
}

func (s *sanitizer) clean(dst, p []byte) []byte {
	for len(p) > 0 {
		if n := s.plainRun(p); n > 0 {
			dst, p = append(dst, p[:n]...), p[n:]
			continue
		}
		if !utf8.FullRune(p) {
			s.partial = append(s.partial, p...)
			return dst
		}
		c, n := utf8.DecodeRune(p)
		p = p[n:]
		if s.terminal {
			dst = s.terminalRune(dst, c)
		} else {
			dst = utf8.AppendRune(dst, c)
		}
	}
	return dst
}

// plainRun is the number of leading bytes that stand for themselves.
func (s *sanitizer) plainRun(p []byte) int {
	if s.state != escText || s.cr {
		return 0
	}
	for i, c := range p {
		if c >= utf8.RuneSelf || s.terminal && (c < ' ' && c != '\n' && c != '\t' || c == 0x7f) {
			return i
		}
	}
	return len(p)
}

// terminalRune takes one character of terminal output.
func (s *sanitizer) terminalRune(dst []byte, c rune) []byte {
	if s.state != escText {
		s.length += utf8.RuneLen(c)
		if s.length <= maxSequence && c != '\n' && c != '\r' {
			s.sequence(c)
			return dst
		}
		s.state = escText
	}
	if s.opens(c) {
		return dst
	}
	switch {
	case c == '\r' && !s.returns:
		s.cr = true
		return dst
	case c == '\n' || c == '\t' || c == '\r':
	case c < ' ', c >= 0x7f && c <= 0x9f: // other control characters
		return dst
	}
	if s.cr && c != '\n' {
		dst = append(dst, '\r')
	}
	s.cr = false
	return utf8.AppendRune(dst, c)
}

// opens reports whether c begins an escape sequence, by ESC or one of the C1 controls.
func (s *sanitizer) opens(c rune) bool {
	switch c {
	case 0x1b:
		s.state = escStart
	case 0x9b:
		s.state = escCSI
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f:
		s.state = escString
	default:
		return false
	}
	s.length = 0
	return true
}

// sequence moves on inside an escape sequence.
func (s *sanitizer) sequence(c rune) {
	switch {
	case c == 0x18, c == 0x1a: // CAN and SUB end any sequence
		s.state = escText
		return
	case c == 0x1b && s.state == escString:
		s.state = escStringEsc
		return
	case c == 0x1b:
		s.state = escStart
		return
	}
	switch s.state {
	case escStart:
		switch {
		case c == '[':
			s.state = escCSI
		case c == ']', c == 'P', c == 'X', c == '^', c == '_':
			s.state = escString
		case c >= ' ' && c <= '/':
			s.state = escInter
		default:
			s.state = escText
		}
	case escInter:
		if c < ' ' || c > '/' {
			s.state = escText
		}
	case escCSI:
		if c >= '@' && c <= '~' {
			s.state = escText
		}
	case escString:
		if c == 0x07 || c == 0x9c {
			s.state = escText
		}
	case escStringEsc: // "ESC \" ends the string; any other ESC sequence does so too
		s.state = escText
		if c != '\\' {
			s.state = escStart
			s.sequence(c)
		}
	}
}

// lastRewrite keeps of each line only what was written after its last carriage return, as a
// terminal shows a progress bar. A line is passed on when it ends, or when longer than maxLine:
// then a carriage return takes back only what has not been passed on.
type lastRewrite struct {
	line []byte
}

const maxLine = 64 << 10

func (l *lastRewrite) write(dst, p []byte) []byte {
	for len(p) > 0 {
		i := bytes.IndexAny(p, "\r\n")
		piece := p
		if i >= 0 {
			piece = p[:i]
		}
		for len(piece) > 0 {
			n := min(len(piece), maxLine-len(l.line))
			l.line, piece = append(l.line, piece[:n]...), piece[n:]
			if len(l.line) >= maxLine {
				dst, l.line = append(dst, l.line...), l.line[:0]
			}
		}
		if i < 0 {
			return dst
		}
		if p[i] == '\n' {
			dst = append(append(dst, l.line...), '\n')
		}
		l.line, p = l.line[:0], p[i+1:]
	}
	return dst
}

func (l *lastRewrite) end(dst []byte) []byte {
	dst = append(dst, l.line...)
	l.line = nil
	return dst
}

// cleanText is the sanitised form of a whole text. Binary data is replaced by a line that says
// what it is (R57).
func cleanText(text string, form TextForm) string {
	probe := text[:min(len(text), binaryProbe)]
	if strings.IndexByte(probe, 0) >= 0 {
		return binaryLine([]byte(probe), int64(len(text)))
	}
	if form == FormText && utf8.ValidString(text) {
		return text
	}
	s := form.sanitizer()
	clean := s.end(s.write(nil, []byte(text)))
	if form != FormTerminal {
		return string(clean)
	}
	var l lastRewrite
	return string(l.end(l.write(nil, clean)))
}

// binaryLine stands for size bytes of binary data that begin with start.
func binaryLine(start []byte, size int64) string {
	kind := http.DetectContentType(start)
	return fmt.Sprintf("[binary data: %s, %s bytes]", kind, grouped(size))
}

// grouped is n with commas between groups of three digits.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
