package program

import "strings"

// part is one entry of a list and the byte at which it starts in the list's text.
type part struct {
	text   string
	offset int
}

// splitList cuts a list at its commas, except at those inside quotes (Q5), and drops empty entries
// (Q6). A quote counts only where a word begins and where it is closed at the end of a word, so
// that an apostrophe is just a letter.
func splitList(text string) []part {
	var parts []part
	start, wordStart := 0, true
	unclosed := map[byte]bool{} // quotes that nothing after them closes: looked for once
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == ',':
			parts = appendPart(parts, text[start:i], start)
			start, wordStart = i+1, true
		case (c == '"' || c == '\'') && wordStart && !unclosed[c]:
			if end := closingQuote(text, i); end > 0 {
				i = end
			} else {
				unclosed[c] = true
			}
			wordStart = false
		default:
			wordStart = isSpace(c)
		}
	}
	return appendPart(parts, text[start:], start)
}

// splitSharedCredentials splits only lines that hold neither quotes nor arguments (Q5).
func splitSharedCredentials(text string) []part {
	if strings.ContainsAny(text, `"'`) || hasWord(text, "with") {
		return appendPart(nil, text, 0)
	}
	return splitList(text)
}

func appendPart(parts []part, text string, offset int) []part {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return parts
	}
	return append(parts, part{trimmed, offset + strings.Index(text, trimmed)})
}

// closingQuote returns the index of the quote that closes the one at open, 0 if there is none.
func closingQuote(text string, open int) int {
	quote := text[open]
	for i := open + 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
		case text[i] == quote && (i+1 == len(text) || text[i+1] == ',' || isSpace(text[i+1])):
			return i
		}
	}
	return 0
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v' }

func hasWord(text, word string) bool {
	for _, w := range strings.Fields(text) {
		if w == word {
			return true
		}
	}
	return false
}
