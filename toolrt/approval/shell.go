package approval

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxCommand is the length in bytes of a command that is still taken apart; longer ones ask.
const maxCommand = 64 << 10

// maxOpen bounds opening brackets in a command: the parser's time grows with their square.
const maxOpen = 2000

// maxDepth bounds shell texts inside shell texts (sh -c 'sh -c …').
const maxDepth = 8

// kind says what a step does.
type kind int

const (
	runs   kind = iota // a simple command
	writes             // a redirection into a file
	reads              // a redirection from a file
)

// step is one simple command or redirection found in a command.
type step struct {
	kind       kind
	words      []word // of a command, with its assignments that are not harmless in front
	target     word   // of a redirection
	append     bool   // >>
	folders    folders
	text       string // as written, for people
	start, end int    // where it stands in the whole command
	// hard says why no rule can cover the step (A7); empty for most.
	hard string
	// unread says that the step's text does not parse, so that no mode lets it through.
	unread bool
	// inner are further readings of the step that deny and ask rules look at: what sudo runs.
	inner [][]word
	// exact says that only a rule without wildcards covers the step, because it runs something
	// that is not looked into.
	exact bool
}

// command is a shell command taken apart.
type command struct {
	text  string
	steps []step
	// hard says why the whole text cannot be judged, e.g. because it does not parse.
	hard string
}

// walker takes a shell text apart. One walker reads one text; nested texts get their own.
type walker struct {
	src   string
	vars  map[string]bool // set somewhere in the text, shared with nested texts
	all   bool            // any variable may be set (eval, read, source)
	calc  bool            // a variable set here is not a plain number
	funcs map[string]bool
	// dirs are the folders that the next command may run in; okDirs those after the last
	// statement if it succeeded.
	dirs   folders
	okDirs folders
	loop   int
	depth  int
	// fixed spans steps of nested texts by the word that holds them.
	fixed      bool
	start, end int
	// feed is the here-document of the statement being walked, when it is plain text.
	feed string
	out  *[]step
}

// parseCommand takes a command apart as Bash and as POSIX shells read it, and joins the readings:
// which of them /bin/sh is differs between systems, so every reading must be allowed.
func parseCommand(text string, in folders) command {
	c := command{text: text}
	switch {
	case len(text) > maxCommand:
		c.hard = "the command is too long to be taken apart"
		return c
	case strings.ContainsAny(text, "\x00\r"):
		c.hard = "the command holds a NUL or carriage return"
		return c
	case strings.Count(text, "(")+strings.Count(text, "{")+strings.Count(text, "`") > maxOpen:
		c.hard = "the command is nested too deeply to be taken apart"
		return c
	}
	c.hard = parseText(text, in, &c.steps, nil)
	slices.SortStableFunc(c.steps, func(a, b step) int { return a.start - b.start })
	return c
}

// parseText reads text in both ways and appends its steps to out. outer is the walker of the text
// around a nested one. It returns why the text cannot be judged, if so.
func parseText(text string, in folders, out *[]step, outer *walker) string {
	bash, err := parseAs(syntax.LangBash, text)
	posix, _ := parseAs(syntax.LangPOSIX, text) // what only Bash reads has but that reading
	hard := ""
	if err != nil {
		hard = "the command does not parse"
	}
	for _, f := range []*syntax.File{bash, posix} {
		if f == nil {
			continue
		}
		w := newWalker(text, in, out, outer)
		w.survey(f)
		w.stmts(f.Stmts, false)
		if outer != nil {
			outer.all, outer.calc = outer.all || w.all, outer.calc || w.calc
		}
	}
	return hard
}

func parseAs(lang syntax.LangVariant, text string) (*syntax.File, error) {
	f, err := syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, err
	}
	return f, nil
}

func newWalker(text string, in folders, out *[]step, outer *walker) *walker {
	w := &walker{src: text, dirs: in, out: out, vars: map[string]bool{}, funcs: map[string]bool{}}
	if outer != nil {
		w.vars, w.funcs, w.all = outer.vars, outer.funcs, outer.all
		w.depth, w.loop, w.calc = outer.depth+1, outer.loop, outer.calc
		w.fixed, w.start, w.end = true, outer.start, outer.end
	}
	return w
}

// survey notes what the text defines anywhere, since a loop can use a thing before its definition.
func (w *walker) survey(f *syntax.File) {
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			if n.Name != nil {
				w.funcs[n.Name.Value] = true
			}
		case *syntax.Assign:
			if n.Name != nil && !n.Naked {
				w.set(n.Name.Value, n.Array == nil && n.Value != nil && isNumber(n.Value))
			}
		case *syntax.WordIter:
			w.set(n.Name.Value, !slices.ContainsFunc(n.Items, func(i *syntax.Word) bool { return !isNumber(i) }))
		case *syntax.ParamExp:
			if e := n.Exp; e != nil && (e.Op == syntax.AssignUnset || e.Op == syntax.AssignUnsetOrNull) && n.Param != nil {
				w.set(n.Param.Value, false)
			}
		case *syntax.CallExpr:
			if len(n.Args) > 0 && setters[n.Args[0].Lit()] {
				w.all, w.calc = true, true
			}
		}
		return true
	})
}

// setters are commands that set variables whose names are their arguments, or run another text in
// the same shell.
var setters = map[string]bool{
	"read": true, "mapfile": true, "readarray": true, "getopts": true, "eval": true,
	"source": true, ".": true, "printf": false, "let": true, "unset": true,
}

func (w *walker) set(name string, number bool) {
	w.vars[name] = true
	w.calc = w.calc || !number
}

func isNumber(n *syntax.Word) bool {
	s := n.Lit()
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func (w *walker) read(n *syntax.Word) word {
	return (&reader{src: w.src, vars: w.vars, all: w.all}).read(n)
}

// span says where nodes from one to another stand in the whole command.
func (w *walker) span(from, to syntax.Pos) (int, int) {
	if w.fixed {
		return w.start, w.end
	}
	return int(from.Offset()), int(to.Offset())
}

// add appends a step unless the other reading found the same.
func (w *walker) add(s step) {
	same := func(o step) bool {
		return o.kind == s.kind && o.start == s.start && o.text == s.text && o.hard == s.hard &&
			o.append == s.append && texts(o.words) == texts(s.words) && o.target.src == s.target.src &&
			slices.Equal(o.folders.list, s.folders.list) && o.folders.unknown == s.folders.unknown
	}
	if !slices.ContainsFunc(*w.out, same) {
		*w.out = append(*w.out, s)
	}
}

func (w *walker) stmts(list []*syntax.Stmt, piped bool) {
	for _, s := range list {
		w.stmt(s, piped)
	}
}

// stmt walks one statement. piped says that its input comes from a pipe, file or here-document.
func (w *walker) stmt(s *syntax.Stmt, piped bool) {
	feed := w.feed
	defer func() { w.feed = feed }()
	for _, r := range s.Redirs {
		piped = w.redirect(r, piped) || piped
	}
	if s.Coprocess || s.Disown {
		w.hardNode(s, "it uses a form of shell that is not looked into")
	}
	before := w.dirs
	chained := false
	switch c := s.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		chained = w.call(c, piped)
	case *syntax.BinaryCmd:
		chained = w.binary(c, piped)
	case *syntax.Block:
		w.stmts(c.Stmts, piped)
	case *syntax.Subshell:
		w.subshell(c.Stmts, piped)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			w.stmt(c.Stmt, piped)
		}
	case *syntax.DeclClause:
		w.declare(c)
	default:
		w.compound(c, piped)
	}
	if s.Background {
		w.dirs = before
	}
	if !chained || s.Negated || s.Background {
		w.okDirs = w.dirs
	}
}

// binary walks a list or pipeline. In "cd x && y" y runs only in x; after ";" it may run in
// either, since cd may have failed. It reports whether it has set okDirs.
func (w *walker) binary(c *syntax.BinaryCmd, piped bool) bool {
	before := w.dirs
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		w.stmt(c.X, piped)
		w.dirs = before
		w.stmt(c.Y, true)
		w.dirs = before
	case syntax.AndStmt:
		w.stmt(c.X, piped)
		left := w.dirs
		w.dirs = w.okDirs
		w.stmt(c.Y, piped)
		w.dirs = w.dirs.join(left)
		return true
	default:
		w.stmt(c.X, piped)
		left := w.dirs
		w.stmt(c.Y, piped)
		w.dirs = w.dirs.join(left)
	}
	return false
}

func (w *walker) compound(c syntax.Command, piped bool) {
	switch c := c.(type) {
	case *syntax.IfClause:
		for b := c; b != nil; b = b.Else {
			w.branch(b.Cond, piped)
			w.branch(b.Then, piped)
		}
	case *syntax.WhileClause:
		w.loop++
		w.branch(c.Cond, piped)
		w.branch(c.Do, piped)
		w.loop--
	case *syntax.ForClause:
		w.forLoop(c, piped)
	case *syntax.CaseClause:
		w.nested(c.Word, piped)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				w.nested(p, piped)
			}
			w.branch(item.Stmts, piped)
		}
	case *syntax.FuncDecl:
		w.loop++ // it may be called again and again
		w.branch([]*syntax.Stmt{c.Body}, true)
		w.loop--
	case *syntax.CoprocClause:
		w.hardNode(c, "it uses a form of shell that is not looked into")
		w.branch([]*syntax.Stmt{c.Stmt}, true)
	case *syntax.TestClause:
		w.test(c, piped)
	default: // (( )), let and what the parser learns in future
		w.hardNode(c, "it uses a form of shell that is not looked into")
		w.nested(c, piped)
	}
}

// branch walks statements that may or may not run.
func (w *walker) branch(list []*syntax.Stmt, piped bool) {
	before := w.dirs
	w.stmts(list, piped)
	w.dirs = w.dirs.join(before)
}

func (w *walker) forLoop(c *syntax.ForClause, piped bool) {
	w.loop++
	defer func() { w.loop-- }()
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok || c.Select || c.Braces {
		w.hardNode(c, "it uses a form of shell that is not looked into")
	}
	if ok {
		if !harmlessLocal(iter.Name.Value) {
			w.hardNode(iter, "it sets "+iter.Name.Value)
		}
		for _, i := range iter.Items {
			w.nested(i, piped)
		}
	} else {
		w.nested(c.Loop, piped)
	}
	w.branch(c.Do, piped)
}

// test walks [[ … ]]. Shells that do not know it read < and > as redirections and && as a list.
func (w *walker) test(c *syntax.TestClause, piped bool) {
	plain := true
	var words []word
	syntax.Walk(c, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryTest:
			switch n.Op {
			case syntax.TsMatch, syntax.TsMatchShort, syntax.TsNoMatch:
			default:
				plain = false
			}
		case *syntax.ParenTest:
			plain = false
		case *syntax.UnaryTest:
			plain = plain && n.Op != syntax.TsVarSet
		case *syntax.Word:
			words = append(words, w.read(n))
			return false
		}
		return true
	})
	w.nested(c, piped)
	text := slice(w.src, c.Pos(), c.End())
	if !plain {
		w.hardNode(c, "[[ with such an operator means different things to different shells")
		return
	}
	start, end := w.span(c.Pos(), c.End())
	words = append(append([]word{lit("[[")}, words...), lit("]]"))
	w.add(step{kind: runs, words: words, folders: w.dirs, text: text, start: start, end: end})
}

// nested walks the substitutions inside a node, and what an arithmetic expression could run.
func (w *walker) nested(n syntax.Node, piped bool) {
	if n == nil {
		return
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.subshell(n.Stmts, piped)
			return false
		case *syntax.ProcSubst:
			w.subshell(n.Stmts, true)
			return false
		case *syntax.ArithmExp:
			if w.calc && namesVariable(n) {
				w.hardNode(n, "it calculates with a variable that the command sets, whose text could run something")
			}
		case *syntax.ParamExp:
			if e := n.Exp; e != nil && n.Param != nil && !harmlessLocal(n.Param.Value) &&
				(e.Op == syntax.AssignUnset || e.Op == syntax.AssignUnsetOrNull) {
				w.hardNode(n, "it sets "+n.Param.Value)
			}
			if n.Exp != nil && n.Exp.Op == syntax.OtherParamOps {
				w.hardNode(n, "the expansion could run something")
			}
		}
		return true
	})
}

func (w *walker) subshell(list []*syntax.Stmt, piped bool) {
	before := w.dirs
	w.stmts(list, piped)
	w.dirs = before
}

func namesVariable(n *syntax.ArithmExp) bool {
	found := false
	syntax.Walk(n.X, func(n syntax.Node) bool {
		if l, ok := n.(*syntax.Lit); ok && strings.Trim(l.Value, "0123456789") != "" {
			found = true
		}
		return true
	})
	return found
}

// hardNode adds a step that no rule covers.
func (w *walker) hardNode(n syntax.Node, why string) {
	start, end := w.span(n.Pos(), n.End())
	w.add(step{kind: runs, folders: w.dirs, text: slice(w.src, n.Pos(), n.End()), start: start, end: end, hard: why})
}

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
		if harmlessEnv(name) || len(c.Args) == 0 && harmlessLocal(name) {
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
