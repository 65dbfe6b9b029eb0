package approval

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirect adds the step of a redirection and reports whether it feeds the command's input.
func (w *walker) redirect(r *syntax.Redirect, piped bool) bool {
	w.nested(r.Word, piped)
	if r.Hdoc != nil {
		w.nested(r.Hdoc, piped)
	}
	if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
		w.hardNode(r, "it uses a form of shell that is not looked into")
	}
	k, input := writes, false
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if r.Hdoc != nil {
			w.feed = w.plainText(r.Hdoc)
		}
		return true
	case syntax.WordHdoc:
		w.feed = w.plainText(r.Word)
		return true
	case syntax.RdrIn:
		k, input = reads, true
	case syntax.RdrInOut:
		input = true
	case syntax.DplIn, syntax.DplOut:
		if t := w.read(r.Word); t.literal && descriptor.MatchString(t.text) {
			return r.Op == syntax.DplIn
		}
	}
	target := w.read(r.Word)
	start, end := w.span(r.Pos(), r.Word.End())
	s := step{kind: k, target: target, folders: w.dirs, text: slice(w.src, r.Pos(), r.Word.End()), start: start, end: end}
	s.append = r.Op == syntax.AppOut || r.Op == syntax.AppAll
	if target.path == "" || target.glob || !target.literal && target.multi {
		s.hard = "the file of this redirection is not spelled out"
	}
	w.add(s)
	return input
}

// plainText returns what a here-document holds when that is plain to see.
func (w *walker) plainText(n *syntax.Word) string {
	var b strings.Builder
	for _, p := range n.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				if l, ok := q.(*syntax.Lit); ok {
					b.WriteString(unescapeQuoted(l.Value))
				}
			}
		default:
			b.WriteString("_") // some word
		}
	}
	return b.String()
}

// call walks a simple command. It reports whether it has set okDirs.
func (w *walker) call(c *syntax.CallExpr, piped bool) bool {
	var words []word
	for _, a := range c.Assigns {
		w.nested(a, piped)
		name := a.Name.Value
		if harmlessValue(slice(w.src, a.Pos(), a.End())) && (harmlessEnv(name) || len(c.Args) == 0 && harmlessLocal(name)) {
			continue
		}
		words = append(words, w.assignment(a))
	}
	start, end := w.span(c.Pos(), c.End())
	st := step{kind: runs, folders: w.dirs, text: slice(w.src, c.Pos(), c.End()), start: start, end: end}
	if len(c.Args) == 0 {
		if len(words) > 0 {
			st.words = words
			w.add(st)
		}
		return false
	}
	assigned := len(words)
	for _, a := range c.Args {
		w.nested(a, piped)
		words = append(words, w.read(a))
	}
	st.words = words
	return w.simple(st, assigned, piped)
}

// assignment turns an assignment into a word that only the same assignment in a rule matches.
func (w *walker) assignment(a *syntax.Assign) word {
	out := word{src: slice(w.src, a.Pos(), a.End()), assign: true}
	if a.Value == nil && a.Array == nil && a.Index == nil && !a.Append {
		out.text, out.literal, out.prefix = a.Name.Value+"=", true, a.Name.Value+"="
		return out
	}
	if a.Value != nil && a.Index == nil && !a.Append {
		v := w.read(a.Value)
		out.text, out.literal, out.bound = a.Name.Value+"="+v.text, v.literal, v.bound
		out.prefix = a.Name.Value + "=" + v.prefix
		return out
	}
	out.bound = true
	return out
}

// declare walks export, readonly, local and the like, which Bash has as a form of their own.
func (w *walker) declare(c *syntax.DeclClause) {
	words := []word{lit(c.Variant.Value)}
	for _, a := range c.Args {
		w.nested(a, false)
		switch {
		case a.Naked && a.Name == nil:
			words = append(words, w.read(a.Value))
		case a.Naked && a.Index == nil:
			words = append(words, lit(a.Name.Value))
		default:
			words = append(words, w.assignment(a))
		}
	}
	start, end := w.span(c.Pos(), c.End())
	w.simple(step{kind: runs, words: words, folders: w.dirs, text: slice(w.src, c.Pos(), c.End()), start: start, end: end}, 0, false)
}

// descriptor is the target of a redirection that only copies or closes one.
var descriptor = regexp.MustCompile(`^([0-9]+-?|-)$`)

// hidden finds a literal that holds a command inside brackets: test, printf, read and arithmetic
// run such a text as an array index.
var hidden = regexp.MustCompile("\\[[^\\]]*(\\$\\(|`|\\$\\{)")
