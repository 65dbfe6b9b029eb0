package approval

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

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
			if substitutes(n.X) {
				w.hardNode(n, "it calculates with what a command prints, whose text could run something")
			} else if w.calc && namesVariable(n) {
				w.hardNode(n, "it calculates with a variable that the command sets, whose text could run something")
			}
		case *syntax.ParamExp:
			if e := n.Exp; e != nil && n.Param != nil && !harmlessLocal(n.Param.Value) &&
				(e.Op == syntax.AssignUnset || e.Op == syntax.AssignUnsetOrNull) {
				w.hardNode(n, "it sets "+n.Param.Value)
			}
			if n.Slice != nil && (substitutes(n.Slice.Offset) || substitutes(n.Slice.Length)) || substitutes(n.Index) {
				w.hardNode(n, "it takes a place from what a command prints, whose text could run something")
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

// substitutes reports whether an arithmetic expression, nil for none, holds what a command prints.
func substitutes(x syntax.ArithmExpr) bool {
	if x == nil {
		return false
	}
	found := false
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			found = true
		}
		return !found
	})
	return found
}
