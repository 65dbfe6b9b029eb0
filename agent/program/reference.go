package program

import (
	"fmt"
	"path"
	"strings"
)

// reference is the text of a mention of a tool, taken apart (2.1).
type reference struct {
	text   string
	target string // a name, path or URL; for "SELECT from FILE" the file
	sel    string // the selection before "from", "" without one
	whole  string // target and selection as written: the reference without alias and arguments
	alias  string
	args   string // what follows "with", as written
	rest   string // everything after the target, as written
}

// parseReference takes a reference apart. local says whether a name is that of a tool in the same
// file: such names may hold the words that otherwise end a name (Q9). A credential's rest follows
// a grammar of its own (5.10).
func parseReference(text string, local func(name string) bool, credential bool) (reference, error) {
	text = strings.TrimSpace(text)
	r := reference{text: text}
	words := splitWords(text)
	cut := keywordAt(text, words, local, credential)
	r.whole = strings.TrimSpace(text[:cut])
	r.rest = text[cut:]
	if err := r.parseRest(splitWords(r.rest), credential); err != nil {
		return r, err
	}
	r.target = strings.Join(strings.Fields(r.whole), " ")
	if local(r.whole) || local(r.target) {
		return r, nil
	}
	for _, w := range splitWords(r.whole) {
		if w.is("from") {
			r.sel = strings.Join(strings.Fields(r.whole[:w.start]), " ")
			r.target = strings.Join(strings.Fields(r.whole[w.end:]), " ")
			break
		}
	}
	if r.target == "" {
		return r, fmt.Errorf("invalid reference %q: it names no tool", text)
	}
	return r, nil
}

// maxNameKeywords bounds the keywords that a local tool's name may hold to be found (Q9).
const maxNameKeywords = 16

// keywordAt returns the byte at which the alias or the arguments begin, the text's length if there
// are none. The longest name of a local tool before a keyword wins over the first keyword (Q9).
func keywordAt(text string, words []word, local func(string) bool, credential bool) int {
	if local(text) {
		return len(text)
	}
	cut, seen := len(text), 0
	for i, w := range words {
		if !w.is("as") && !w.is("with") && !(credential && isChecked(words, i)) {
			continue
		}
		if seen == 0 || local(strings.TrimSpace(text[:w.start])) {
			cut = w.start
		}
		if seen++; seen == maxNameKeywords {
			break
		}
	}
	return cut
}

func isChecked(words []word, i int) bool {
	return words[i].is("checked") && i+1 < len(words) && words[i+1].is("with")
}

// parseRest reads [ "as" ALIAS ] [ "with" ARGS ].
func (r *reference) parseRest(words []word, credential bool) error {
	if len(words) == 0 {
		return nil
	}
	with := -1
	for i, w := range words {
		if w.is("with") || credential && isChecked(words, i) {
			with = i
			break
		}
	}
	if words[0].is("as") {
		end := len(r.rest)
		if with >= 0 {
			end = words[with].start
		}
		r.alias = strings.Join(strings.Fields(r.rest[words[0].end:end]), " ")
		if r.alias == "" {
			return fmt.Errorf(`invalid reference %q: "as" must be followed by a name`, r.text)
		}
	}
	if with >= 0 && !credential {
		r.args = strings.TrimSpace(r.rest[words[with].end:])
	}
	return nil
}

// isGlob says whether a selection stands for a set of tools (2.2, Q33).
func isGlob(sel string) bool { return strings.ContainsAny(sel, "*?[") }

// matcher returns a function that tells whether a tool's name is selected, ignoring case.
func matcher(sel string) func(name string) bool {
	if !isGlob(sel) {
		return func(name string) bool { return name != "" && strings.EqualFold(name, sel) }
	}
	globs := strings.Split(strings.ToLower(sel), "|")
	return func(name string) bool {
		if name == "" {
			return false
		}
		lower := strings.ToLower(name)
		for _, g := range globs {
			if ok, err := path.Match(strings.TrimSpace(g), lower); ok && err == nil {
				return true
			}
		}
		return strings.EqualFold(name, sel)
	}
}

// word is a word of a text between white space.
type word struct {
	text       string
	start, end int
}

func (w word) is(text string) bool { return w.text == text }

func splitWords(text string) []word {
	var words []word
	offset := 0
	for w := range strings.FieldsSeq(text) {
		start := offset + strings.Index(text[offset:], w)
		offset = start + len(w)
		words = append(words, word{w, start, offset})
	}
	return words
}
