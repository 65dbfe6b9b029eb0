package text

import (
	"unicode"
	"unicode/utf8"
)

// hidden reports whether a sign is a control, has no shape of its own, or changes the order of
// others.
func hidden(r rune) bool {
	switch {
	case r < ' ' || (r >= 0x7f && r < 0xa0):
		return true
	case r < 0xad:
		return false
	case unicode.Is(unicode.Cf, r), r == 0x2028, r == 0x2029: // formats, bidi, tags, line separators
		return true
	case r == 0x34f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0, r == 0x2800:
		return true // letters and signs without ink
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0x180b && r <= 0x180f, r >= 0xe0000 && r <= 0xe0fff:
		return true // variation selectors
	case r&0xfffe == 0xfffe, r >= 0xfdd0 && r <= 0xfdef: // no characters
		return true
	}
	return false
}

// hiddenStrict is hidden with unusual spaces, which pass for ordinary ones.
func hiddenStrict(r rune) bool {
	return hidden(r) || (r > '~' && unicode.Is(unicode.Zs, r)) || unicode.Is(unicode.Co, r)
}

// excused reports whether a hidden sign stands where writing needs it: a joiner within an emoji or
// within a word of a script that uses joiners, or the selector after an emoji.
func excused(prev, r rune, rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	switch r {
	case 0x200d: // zero width joiner
		return pictured(prev) && pictured(next) || joining(prev) && joining(next)
	case 0x200c: // zero width non-joiner
		return joining(prev) && joining(next)
	case 0xfe0e, 0xfe0f: // text or emoji presentation
		return pictured(prev)
	}
	return false
}

// pictured reports whether r may be part of an emoji.
func pictured(r rune) bool {
	return r == 0xfe0f || r >= 0x1f000 && r <= 0x1faff || r > 0xff && unicode.Is(unicode.So, r) ||
		r >= 0x2190 && r <= 0x21ff
}

// joining reports whether r is of a script whose words hold joiners.
func joining(r rune) bool {
	return r >= 0x600 && r < 0x1100 && (unicode.IsLetter(r) || unicode.IsMark(r))
}

// lookAlike reports whether r is a letter of a script with letters shaped like Latin ones.
func lookAlike(r rune) bool {
	return r > 0x7f && (unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee) ||
		r >= 0xff01 && r <= 0xff5e || r >= 0x1d400 && r <= 0x1d7ff)
}

// besideLatin reports whether a letter stands next to an ASCII letter, digit or sign of a command.
func besideLatin(prev rune, rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	return word(prev) || word(next)
}

func word(r rune) bool {
	return r == '_' || r == '-' || r == '.' || r == '/' ||
		r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
