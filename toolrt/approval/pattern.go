package approval

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// pattern is what a rule says of a simple command: its words, and whether any may follow.
type pattern struct {
	words []word
	rest  bool // ends in **
}

var (
	plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,\-]+$`)
	reserved  = []string{"if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "in", "function", "select", "time", "coproc"}
)

// parsePattern reads the text of a command pattern. msg says what is wrong at byte off.
func parsePattern(text string) (p pattern, off int, msg string) {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(text), "")
	if err != nil || strings.ContainsRune(text, 0) {
		if pe, ok := err.(syntax.ParseError); ok {
			return p, int(pe.Pos.Offset()), "not a shell command: " + pe.Text
		}
		return p, 0, "not a shell command"
	}
	if len(f.Stmts) != 1 {
		return p, 0, "expected one command: write one rule for each"
	}
	st := f.Stmts[0]
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || st.Negated || st.Background || len(f.Last) > 0 || len(st.Comments) > 0 {
		return p, 0, "expected one simple command: write one rule for each"
	}
	if len(st.Redirs) > 0 {
		return p, int(st.Redirs[0].Pos().Offset()), "a redirection is a file write: write sys.write(path: …) for it"
	}
	rd := &reader{src: text}
	for _, a := range call.Assigns {
		src := slice(text, a.Pos(), a.End())
		w := lit(src)
		w.assign = true
		if a.Value != nil {
			v := rd.read(a.Value)
			w.text, w.literal = a.Name.Value+"="+v.text, v.literal
		}
		p.words = append(p.words, w)
	}
	for i, n := range call.Args {
		w := rd.read(n)
		switch {
		case w.src == "**" && i == len(call.Args)-1:
			p.rest = true
			continue
		case w.src == "**":
			return p, int(n.Pos().Offset()), "** may only stand at the end"
		case w.src == "*":
			w.star = true
		case w.bound:
			return p, int(n.Pos().Offset()), "a substitution says nothing certain about a command"
		}
		p.words = append(p.words, w)
	}
	return p, 0, ""
}

// String returns the canonical text.
func (p pattern) String() string {
	var out []string
	command := false // the command's name has been written
	for _, w := range p.words {
		switch {
		case w.star:
			out = append(out, "*")
		case w.assign:
			out = append(out, w.assignText())
		case !w.literal:
			out = append(out, w.src)
		default:
			out = append(out, quoteWord(w.text, !command))
		}
		command = command || !w.assign
	}
	if p.rest {
		out = append(out, "**")
	}
	return strings.Join(out, " ")
}

// assignText writes an assignment so that it is read back as one.
func (w word) assignText() string {
	name, value, ok := strings.Cut(w.text, "=")
	if !w.literal || !ok {
		return w.src
	}
	if value == "" {
		return name + "="
	}
	return name + "=" + quoteWord(value, false)
}

// quoteWord quotes a literal word for a pattern where that is needed.
func quoteWord(s string, command bool) string {
	plain := plainWord.MatchString(s)
	if command && (strings.Contains(s, "=") || slices.Contains(reserved, s) || strings.HasPrefix(s, "dir:")) {
		plain = false
	}
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// literals counts the characters that a pattern fixes, for specificity (A2).
func (p pattern) literals() int {
	n := 0
	for _, w := range p.words {
		if !w.star {
			n += len(w.text) + 1
		}
	}
	return n
}

// covers reports whether every command that these words can become matches. A wildcard covers
// neither an assignment that is not harmless nor an option that runs or writes something (A8).
func (p pattern) covers(ws []word) bool {
	risky := riskyWords(ws)
	for i, pw := range p.words {
		if i >= len(ws) {
			return false
		}
		cw := ws[i]
		switch {
		case pw.star:
			if cw.multi || cw.assign || risky(i) {
				return false
			}
		case cw.literal && pw.literal:
			if cw.text != pw.text || cw.assign != pw.assign {
				return false
			}
		case cw.bound || cw.literal != pw.literal || cw.src != pw.src:
			return false
		}
	}
	for i := len(p.words); i < len(ws); i++ {
		if !p.rest || ws[i].assign || risky(i) {
			return false
		}
	}
	return true
}

// answer is how certain a match is.
type answer int

const (
	no answer = iota
	maybe
	yes
)

// hits reports whether some command that these words can become matches: for rules that deny or
// ask. A command is compared by its base name, so that /bin/rm is rm.
func (p pattern) hits(ws []word) answer {
	res := yes
	for i, pw := range p.words {
		if i >= len(ws) {
			return no
		}
		switch a := pw.hit(ws[i], i == 0); {
		case a == no:
			return no
		case a == maybe:
			res = maybe
		}
		if ws[i].multi {
			return maybe // the words after it may stand anywhere
		}
	}
	if !p.rest {
		for _, w := range ws[min(len(p.words), len(ws)):] {
			if !w.multi {
				return no
			}
			res = maybe
		}
	}
	return res
}

func (pw word) hit(cw word, command bool) answer {
	switch {
	case pw.star:
		return yes
	case cw.literal && pw.literal:
		if cw.text == pw.text || command && !pw.assign && path.Base(cw.text) == pw.text {
			return yes
		}
		return no
	case cw.literal: // the pattern's word is only known when it runs
		return maybe
	case !pw.literal && cw.src == pw.src:
		return yes
	case pw.literal && !strings.HasPrefix(pw.text, cw.prefix) && !command:
		return no
	}
	return maybe
}
