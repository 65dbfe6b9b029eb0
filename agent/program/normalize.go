package program

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Lengths of the names that models see (2.6), in bytes.
const (
	maxNameLength = 64
	maxNameCut    = 55
)

// Normalize turns a tool's name, or the text of a reference, into the name the model sees (2.6).
// The result is 1 to 64 letters and digits of ASCII. Latin letters lose their accents first (Q39).
func Normalize(name string) string {
	name = foldLatin(name)
	if fields := strings.Fields(name); len(fields) > 2 {
		if i := indexWord(fields, "from"); i > 0 {
			name = strings.Join(fields[:i], " ")
		}
	}
	parts := strings.Split(name, "/")
	name = parts[len(parts)-1]
	if name == "tool.gpt" && len(parts) > 1 && len(parts[len(parts)-2]) > 2 {
		name = parts[len(parts)-2]
	}
	name = strings.TrimPrefix(strings.TrimSuffix(name, ".gpt"), "sys.")
	if isPlainName(name) {
		return name
	}
	return camelCase(cutBytes(name, maxNameCut))
}

func indexWord(words []string, word string) int {
	for i, w := range words {
		if w == word {
			return i
		}
	}
	return -1
}

func isPlainName(name string) bool {
	if name == "" || len(name) > maxNameLength {
		return false
	}
	for _, r := range name {
		if !isASCIIAlnum(r) {
			return false
		}
	}
	return true
}

// camelCase joins the runs of letters and digits: all lower-case, each but the first capitalised.
func camelCase(text string) string {
	var b strings.Builder
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return !isASCIIAlnum(r) }) {
		part = strings.ToLower(part)
		if b.Len() > 0 {
			part = strings.ToUpper(part[:1]) + part[1:]
		}
		b.WriteString(part)
	}
	if b.Len() == 0 {
		return "tool"
	}
	return b.String()
}

// cutBytes cuts a text to at most n bytes without splitting a character.
func cutBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// foldLatin takes the accents off Latin letters: "ü" becomes "u". Other characters stay.
func foldLatin(text string) string {
	if isASCII(text) {
		return text
	}
	var b strings.Builder
	afterLatin := false
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
			afterLatin = isASCIIAlnum(r)
		case unicode.Is(unicode.Latin, r):
			base, _ := utf8.DecodeRuneInString(norm.NFD.String(string(r)))
			b.WriteRune(base)
			afterLatin = true
		case afterLatin && unicode.Is(unicode.Mn, r):
			// A combining accent of the letter before.
		default:
			b.WriteRune(r)
			afterLatin = false
		}
	}
	return b.String()
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// namer gives the tools of one list names that are unique in it (2.6).
type namer struct {
	taken   map[string]bool
	counter map[string]int
}

func newNamer() *namer { return &namer{taken: map[string]bool{}, counter: map[string]int{}} }

// pick returns the name the model sees for a tool. A name that is taken gets a 0, and another,
// until it is free (Q40); where the zeros would make it too long, a number.
func (n *namer) pick(name string) string {
	if name == "" {
		name = "external"
	}
	return n.exact(Normalize(name))
}

// exact is pick for a name that models can get as it is.
func (n *namer) exact(name string) string {
	base := name
	for n.taken[name] && len(name) < maxNameLength {
		name += "0"
	}
	for n.taken[name] {
		n.counter[base]++
		name = base[:min(len(base), maxNameCut)] + strconv.Itoa(n.counter[base])
	}
	n.taken[name] = true
	return name
}
