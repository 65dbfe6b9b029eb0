package approval

import (
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

// hardNode adds a step that no rule covers.
func (w *walker) hardNode(n syntax.Node, why string) {
	start, end := w.span(n.Pos(), n.End())
	w.add(step{kind: runs, folders: w.dirs, text: slice(w.src, n.Pos(), n.End()), start: start, end: end, hard: why})
}
