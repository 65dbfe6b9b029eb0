package model

import (
	"strings"
	"unicode"
)

// maxErrorText bounds the text of a provider's error, in runes.
const maxErrorText = 2000

// Clean makes one line of a provider's error text, which is as hostile as anything else that comes
// over the wire: control and format characters are dropped (escape sequences lose their escape, so
// the rest stays readable), white space is joined and the length is bounded. Invalid UTF-8 becomes
// the replacement character.
func Clean(text string) string {
	// The bound on bytes comes first, so that the work is bounded too.
	if len(text) > 8*maxErrorText {
		text = text[:8*maxErrorText]
	}
	visible := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	line := []rune(strings.Join(strings.Fields(visible), " "))
	if len(line) > maxErrorText {
		line = append(line[:maxErrorText], '…')
	}
	return string(line)
}
