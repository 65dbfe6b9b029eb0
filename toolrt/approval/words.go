package approval

import (
	"os"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one word of a simple command after quote removal (A8).
type word struct {
	text    string // after quote removal; of a word that is not literal, the part that is known
	src     string // as written
	literal bool   // text is exactly what the command gets
	multi   bool   // may become none or several words
	// bound says that the word holds a substitution or a variable that the same text sets, so that
	// the same source need not mean the same.
	bound  bool
	prefix string // what it certainly begins with
	assign bool   // an assignment before the command that is not harmless
	star   bool   // in a pattern: any one word
	// path is the word read as a path with ~ and $HOME replaced; in a glob word it holds
	// metacharacters. Empty when it cannot be told.
	path string
	glob bool
}

// lit is a word that stands for itself.
func lit(s string) word {
	return word{text: s, src: s, literal: true, prefix: s, path: s}
}

// unknown stands for words that only the run will show (what xargs and find put in).
func unknown(src string, multi bool) word { return word{src: src, multi: multi, bound: true} }

func texts(ws []word) string {
	s := make([]string, len(ws))
	for i, w := range ws {
		s[i] = w.src
	}
	return strings.Join(s, " ")
}

// reader evaluates the words of one text.
type reader struct {
	src string
	// vars are the variables that the text sets; nil-safe. all means that it may set any.
	vars map[string]bool
	all  bool
	w    word
	// broken is set once something unknown was met: what follows is not part of the prefix.
	broken, pathless bool
	brace, comma     bool
}

// read evaluates one word.
func (r *reader) read(n *syntax.Word) word {
	r.w = word{literal: true, src: slice(r.src, n.Pos(), n.End())}
	r.broken, r.pathless, r.brace, r.comma = false, false, false, false
	for i, part := range n.Parts {
		r.part(part, i == 0, false)
	}
	if r.brace && r.comma {
		r.w.literal, r.w.multi, r.pathless = false, true, true
	}
	if r.pathless {
		r.w.path = ""
	}
	if !r.broken {
		r.w.prefix = r.w.text
	}
	return r.w
}

func slice(src string, from, to syntax.Pos) string {
	a, b := int(from.Offset()), int(to.Offset())
	if a > b || b > len(src) {
		return ""
	}
	return src[a:b]
}

// opaque notes a part whose value only the run will show.
func (r *reader) opaque(multi, bound bool) {
	r.unsure()
	r.w.literal = false
	r.w.multi = r.w.multi || multi
	r.w.bound = r.w.bound || bound
	r.pathless = true
}

// unsure ends the known beginning of the word.
func (r *reader) unsure() {
	if !r.broken {
		r.broken, r.w.prefix = true, r.w.text
	}
}

func (r *reader) add(s string) {
	r.w.text += s
	r.w.path += s
}

func (r *reader) part(part syntax.WordPart, first, quoted bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		if quoted {
			r.add(unescapeQuoted(p.Value))
			return
		}
		r.bare(p.Value, first)
	case *syntax.SglQuoted:
		if p.Dollar { // Bash decodes it, a POSIX shell does not
			r.opaque(false, false)
			return
		}
		r.add(p.Value)
	case *syntax.DblQuoted:
		if p.Dollar {
			r.opaque(false, false)
			return
		}
		for i, q := range p.Parts {
			r.part(q, first && i == 0, true)
		}
	case *syntax.ParamExp:
		r.param(p, quoted)
	case *syntax.ArithmExp:
		r.opaque(false, true)
	default: // substitutions, extended globs
		_, isGlob := part.(*syntax.ExtGlob)
		r.opaque(!quoted, !isGlob)
	}
}

// param reads an expansion; $HOME is the one variable whose value matters for paths.
func (r *reader) param(p *syntax.ParamExp, quoted bool) {
	name := ""
	if p.Param != nil {
		name = p.Param.Value
	}
	plain := name != "" && !p.Excl && !p.Length && !p.Width && p.Index == nil &&
		p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
	own := r.all || r.vars[name] || !plain || strings.ContainsAny(name, "@*#?-$!0123456789")
	if home := homeDir(); plain && name == "HOME" && home != "" && !own {
		r.unsure()
		r.w.literal = false
		r.w.multi = r.w.multi || !quoted && strings.ContainsAny(home, " \t\n*?[")
		r.w.path += home
		return
	}
	r.opaque(!quoted || name == "@" || p.Index != nil, own)
}

// bare reads unquoted text: backslashes quote, *, ?, [ and braces expand, a leading ~ is a home.
func (r *reader) bare(s string, first bool) {
	if first && strings.HasPrefix(s, "~") {
		s = r.tilde(s)
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch c {
		case '\\':
			if i++; i < len(s) {
				r.add(s[i : i+1])
			}
			continue
		case '*', '?', '[':
			if c == '[' && !strings.Contains(r.w.src, "]") {
				break
			}
			r.unsure()
			r.w.literal, r.w.multi, r.w.glob = false, true, true
		case '{':
			r.brace = true
			r.unsure()
		case ',':
			r.comma = true
		case '.':
			r.comma = r.comma || strings.HasPrefix(s[i:], "..") && r.brace
		case '~':
			// "a=~/x" and "a:~/x" are homes to some shells
			if i > 0 && (s[i-1] == '=' || s[i-1] == ':') {
				r.opaque(false, false)
			}
		}
		r.add(s[i : i+1])
	}
}

// tilde notes a leading ~ and returns the rest. ~name is a home that only the shell knows.
func (r *reader) tilde(s string) string {
	r.unsure()
	r.w.literal = false
	name, _, _ := strings.Cut(s[1:], "/")
	if home := homeDir(); name == "" && home != "" && !r.all && !r.vars["HOME"] {
		r.w.path += home
		return s[1:]
	}
	r.pathless = true
	return s[1:]
}

// unescapeQuoted removes the backslashes that count inside double quotes.
func unescapeQuoted(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// homeDir returns the person's home folder, "" if there is none.
func homeDir() string {
	h, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return h
}
