// Package text makes foreign text safe to show and fits it into cells. What comes from models,
// tools, files and servers may hold terminal commands, signs that hide or reorder other signs, and
// bytes that are no text at all; nothing of it may reach the terminal as it is. [Clean] is for
// running text, [CleanSGR] for command output, [Strict] for what a person decides about.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean returns s with everything that is not plain visible text made visible: control characters
// as their picture (ESC as "␛"), C1 controls, bidi controls and signs of no width as "<U+200B>",
// invalid UTF-8 as U+FFFD. Line feeds and tabs stay, CR LF becomes a line feed. Joiners stay where
// scripts and emoji need them.
func Clean(s string) string {
	if plain(s) {
		return s
	}
	return clean(s, lenient)
}

// Strict returns s for a question: like [Clean], but nothing is excused. Every sign of no width,
// joiners and variation selectors included, every space that is not U+0020 and controls are shown
// as "<U+001B>", and a letter that looks like a Latin one inside a Latin word is followed by its
// number. A carriage return is shown too: what stands on screen is what will run.
func Strict(s string) string {
	if plain(s) {
		return s
	}
	return clean(s, strict)
}

// Line is [Clean] for what must stay on one line: line feeds and tabs become spaces.
func Line(s string) string {
	s = Clean(s)
	if strings.ContainsAny(s, "\n\t") {
		s = strings.Join(strings.Fields(s), " ")
	}
	return s
}

type mode int

const (
	lenient mode = iota
	strict
)

// plain reports whether s holds nothing but printable ASCII, line feeds and tabs: by far the most
// common case.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' && c != '\n' && c != '\t') || c > '~' {
			return false
		}
	}
	return true
}

// maxMarks is how many combining marks one letter may carry; more are used to paint over the
// lines around.
const maxMarks = 6

func clean(s string, m mode) string {
	var b strings.Builder
	b.Grow(len(s) + 16)
	marks := 0
	prev := rune(0)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		rest := s[i+n:]
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteRune(utf8.RuneError)
		case r == '\r' && m == lenient && strings.HasPrefix(rest, "\n"):
		case r == '\n' || r == '\t' || (r >= ' ' && r <= '~'):
			b.WriteByte(byte(r))
		case unicode.Is(unicode.Mn, r) && marks >= maxMarks:
			number(&b, r)
		case m == strict && hiddenStrict(r), m == lenient && hidden(r) && !excused(prev, r, rest):
			escape(&b, r, m)
		case m == strict && lookAlike(r) && besideLatin(prev, rest):
			b.WriteRune(r)
			number(&b, r)
		default:
			b.WriteRune(r)
		}
		if unicode.Is(unicode.Mn, r) {
			marks++
		} else {
			marks = 0
		}
		prev = r
		i += n
	}
	return b.String()
}

// escape writes a sign that must not be written as it is.
func escape(b *strings.Builder, r rune, m mode) {
	switch {
	case m == lenient && r < ' ':
		b.WriteRune(0x2400 + r)
	case m == lenient && r == 0x7f:
		b.WriteRune(0x2421)
	default:
		number(b, r)
	}
}

func number(b *strings.Builder, r rune) {
	const digits = "0123456789ABCDEF"
	width := 4
	for r>>(4*width) != 0 {
		width++
	}
	b.WriteString("<U+")
	for width--; width >= 0; width-- {
		b.WriteByte(digits[(r>>(4*width))&15])
	}
	b.WriteByte('>')
}
