package credential

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A value may be printed with a colour code or another sign that is not seen in its middle. It is
// looked for in what is left of a text without these.

// concealing reports whether a text holds signs that are not seen and could divide a value.
func concealing(text string) bool {
	return strings.ContainsFunc(text, unseen)
}

func unseen(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
}

// visible is text without escape sequences and unseen signs, and for each byte of it its place in
// text. With strings set, what a sequence such as a window's title carries is left out too.
func visible(text string, strs bool) (plain string, at []int) {
	var b strings.Builder
	for i := 0; i < len(text); {
		if n := sequence(text[i:], strs); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if !unseen(r) {
			b.WriteString(text[i : i+n])
			for k := range n {
				at = append(at, i+k)
			}
		}
		i += n
	}
	return b.String(), at
}

// sequence is the length of the escape sequence that text begins with, 0 if it begins with none.
func sequence(text string, strs bool) int {
	body := 0
	kind := byte(0)
	switch {
	case strings.HasPrefix(text, "\x1b") && len(text) > 1:
		kind, body = text[1], 2
	case strings.HasPrefix(text, "\u009b"):
		kind, body = '[', 2
	case strings.HasPrefix(text, "\u009d"), strings.HasPrefix(text, "\u0090"), strings.HasPrefix(text, "\u0098"),
		strings.HasPrefix(text, "\u009e"), strings.HasPrefix(text, "\u009f"):
		kind, body = ']', 2
	default:
		return 0
	}
	switch kind {
	case '[':
		for body < len(text) && text[body] >= 0x20 && text[body] < 0x40 {
			body++
		}
		if body < len(text) && text[body] < 0x7f {
			body++
		}
		return body
	case ']', 'P', 'X', '^', '_':
		if strs {
			return stringEnd(text, body)
		}
		for body < len(text) && strings.IndexByte("0123456789;", text[body]) >= 0 {
			body++ // it may have no end
		}
	case '(', ')', '*', '+', '#', ' ', '%':
		return min(body+1, len(text))
	}
	return body
}

// stringEnd is where a sequence that carries a text ends: behind BEL, ST or a line.
func stringEnd(text string, from int) int {
	for i := from; i < len(text); i++ {
		switch {
		case text[i] == 0x07:
			return i + 1
		case text[i] == '\n':
			return i
		case text[i] == 0x1b && i+1 < len(text) && text[i+1] == '\\':
			return i + 2
		case text[i] == 0x1b:
			return i
		case strings.HasPrefix(text[i:], "\u009c"):
			return i + 2
		}
	}
	return len(text)
}

// through replaces values that unseen signs divide, with these signs.
func (s *redaction) through(text string) string {
	for _, strs := range []bool{true, false} {
		plain, at := visible(text, strs)
		if s.replace.Replace(plain) == plain {
			continue
		}
		var b strings.Builder
		end := 0 // in text
		for i := 0; i < len(plain); {
			form := s.formAt(plain[i:])
			if form == "" {
				i++
				continue
			}
			b.WriteString(text[end:at[i]])
			b.WriteString(s.known[form])
			i += len(form)
			end = at[i-1] + 1
		}
		b.WriteString(text[end:])
		text = b.String()
	}
	return text
}

// formAt is the longest known form that text begins with, "" if there is none.
func (s *redaction) formAt(text string) string {
	for _, f := range s.forms {
		if strings.HasPrefix(text, f) {
			return f
		}
	}
	return ""
}
