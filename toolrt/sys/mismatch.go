package sys

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// numbered is a line as sys.view shows it.
var numbered = regexp.MustCompile(`(?m)^ *[0-9]+\t`)

// notFound says that the text to replace is not in the file, and where there is one that looks
// like it, in what it differs.
func notFound(name, text, part string) string {
	said := fmt.Sprintf("The old text was not found in %s", name)
	if line, has, wants, ok := lookAlike(text, part); ok {
		return fmt.Sprintf("%s. Line %d looks like it but is not the same: %s\nin the file: %s\nin the call: %s",
			said, line, difference(has, wants), strconv.Quote(has), strconv.Quote(wants))
	}
	if bare := numbered.ReplaceAllString(part, ""); bare != part && strings.Contains(text, bare) {
		return said + ". It is there without the line numbers: leave them out"
	}
	return said + ". It must be exactly as it stands there: read the file again"
}

// lookAlike finds lines that are those of part but for white space and characters that look alike.
// It returns the first line that differs, its number, and the line of part.
func lookAlike(text, part string) (line int, has, wants string, ok bool) {
	want := strings.Split(part, "\n")
	if last := len(want) - 1; last > 0 && want[last] == "" {
		want = want[:last] // only the line end before it was meant
	}
	loose := make([]string, len(want))
	for i, w := range want {
		loose[i] = loosen(w)
	}
	if strings.Join(loose, "") == "" {
		return 0, "", "", false
	}
	lines := strings.Split(text, "\n")
	folded := make([]string, len(lines))
	for i, l := range lines {
		folded[i] = loosen(l)
	}
	for at := 0; at+len(want) <= len(lines); at++ {
		if !looksLike(folded[at:at+len(want)], loose) {
			continue
		}
		for i, w := range want {
			if !within(lines[at+i], w, i, len(want)) {
				return at + i + 1, lines[at+i], w, true
			}
		}
	}
	return 0, "", "", false
}

// looksLike compares folded lines; the first and the last line of part may be parts of lines.
func looksLike(lines, part []string) bool {
	for i := range part {
		if !within(lines[i], part[i], i, len(part)) {
			return false
		}
	}
	return true
}

// within reports whether line number i of n lines of a text can stand in this line of the file.
func within(line, part string, i, n int) bool {
	switch {
	case n == 1:
		return strings.Contains(line, part)
	case i == 0:
		return strings.HasSuffix(line, part)
	case i == n-1:
		return strings.HasPrefix(line, part)
	}
	return line == part
}

// alike are characters that are taken for others.
var alike = strings.NewReplacer(
	"\u2018", "'", "\u2019", "'", "\u201a", "'", "\u201b", "'", "\u201c", `"`, "\u201d", `"`, "\u201e", `"`, "\u201f", `"`,
	"\u2010", "-", "\u2011", "-", "\u2012", "-", "\u2013", "-", "\u2014", "-", "\u2212", "-", "\u2026", "...",
	"\u200b", "", "\u200c", "", "\u200d", "", "\u2060", "", "\ufeff", "", "\u00ad", "",
)

// loosen folds white space and look-alikes of a line.
func loosen(line string) string { return strings.Join(strings.Fields(alike.Replace(line)), " ") }

// difference names the first difference of two lines that look alike.
func difference(has, wants string) string {
	h, w := []rune(has), []rune(wants)
	// A part of a line is compared from where it could begin.
	start := 0
	for n := range h {
		if len(w) > 0 && h[n] == w[0] && strings.HasPrefix(loosen(string(h[n:])), loosen(wants)) {
			start = n
			break
		}
	}
	i := 0
	for i < len(w) && start+i < len(h) && h[start+i] == w[i] {
		i++
	}
	return fmt.Sprintf("it has %s where the call has %s", runeName(h, start+i), runeName(w, i))
}

// runeName describes a character of a line.
func runeName(line []rune, at int) string {
	if at >= len(line) {
		return "its end"
	}
	names := map[rune]string{
		' ': "a space", '\t': "a tab", '\u00a0': "a no-break space", '\u202f': "a narrow no-break space", '\u2007': "a figure space",
		'\u200b': "a zero-width space", '\ufeff': "a zero-width no-break space", '\r': "a carriage return",
	}
	r := line[at]
	switch name, ok := names[r]; {
	case ok:
		return fmt.Sprintf("%s (U+%04X)", name, r)
	case unicode.IsGraphic(r):
		return fmt.Sprintf("%q (U+%04X)", string(r), r)
	}
	return fmt.Sprintf("U+%04X", r)
}
