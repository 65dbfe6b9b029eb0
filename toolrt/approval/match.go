package approval

import (
	"cmp"
	"strconv"
	"strings"
)

// compare reports whether an argument's text meets the condition.
func (c Condition) compare(text string) bool {
	switch c.Op {
	case Glob, Regexp:
		return c.re != nil && c.re.MatchString(text)
	case Range:
		n, err := strconv.ParseFloat(text, 64)
		return err == nil && n >= c.low && n <= c.high
	case Equals:
		return text == c.Value
	}
	return false
}

// names reports whether the rule is about a tool of that name. Names that begin with "sys." mean
// the built-ins: a program's tool of such a name needs a rule bound to its text. Rules for one
// shell tool hold for the other.
func (r *Rule) names(tool string, builtin bool) bool {
	switch {
	case r.Prefix:
		if !strings.HasPrefix(tool, r.Tool) {
			return false
		}
	case r.Tool != tool && !(isShell(r.Tool) && isShell(tool)):
		return false
	}
	return r.Effect != Allow || r.Script != "" || builtin || !strings.HasPrefix(r.Tool, "sys.")
}

// onlyPaths reports whether the rule says nothing but which files.
func (r *Rule) onlyPaths() bool {
	for _, c := range r.Args {
		if c.Op != Path {
			return false
		}
	}
	return len(r.Args) > 0
}

// meetsPath reports whether a resolved path meets all path conditions.
func (r *Rule) meetsPath(path string, g guard) bool {
	for _, c := range r.Args {
		if c.Op == Path && !g.pattern(c.Value).match(path, r.Effect != Allow, g) {
			return false
		}
	}
	return true
}

// before reports whether r decides rather than o (A2): the whole name of a tool before a
// beginning, more conditions before fewer, more literal text before less, the nearer scope, and
// ask before allow.
func (r *Rule) before(o *Rule) bool {
	exact := func(x *Rule) int {
		if x.Prefix {
			return 1
		}
		return 0
	}
	return cmp.Or(
		cmp.Compare(exact(r), exact(o)),
		cmp.Compare(o.conditions(), r.conditions()),
		cmp.Compare(o.literals(), r.literals()),
		cmp.Compare(r.Scope, o.Scope),
		cmp.Compare(o.Effect, r.Effect),
	) < 0
}

func (r *Rule) conditions() int {
	n := len(r.Args)
	if r.Script != "" {
		n++
	}
	return n
}

func (r *Rule) literals() int {
	n := len(r.Tool)
	for _, c := range r.Args {
		switch c.Op {
		case Command:
			n += c.words.literals()
		case Range:
		default:
			n += len(c.Value) - strings.Count(c.Value, "*") - strings.Count(c.Value, "?")
		}
	}
	return n
}
