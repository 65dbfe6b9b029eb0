package approval

import (
	"path/filepath"
	"slices"
	"strings"
)

// parts judges each step by itself.
func (j *judge) parts(c command) []Part {
	var out []Part
	for _, s := range c.steps {
		p := Part{Text: s.text, Start: s.start, End: s.end, Effect: Ask}
		p.Rule, p.Effect, p.Reason = j.step(s)
		p.Covered = p.Effect == Allow
		out = append(out, p)
	}
	if c.hard != "" {
		// Not even the mode auto: what cannot be read may do what is denied or protected.
		out = append(out, Part{Text: c.text, End: len(c.text), Effect: Ask, Reason: c.hard})
	}
	return out
}

// decide joins the verdicts on the parts: the strictest holds.
func (j *judge) decide(c command, parts []Part) Verdict {
	v := Verdict{Effect: Allow, By: "safe", Reason: "allowed: it runs no command", Parts: parts}
	for i := range parts {
		p := &parts[i]
		if p.Effect > v.Effect || i == 0 && p.Effect == Allow {
			v.Effect, v.Rule, v.By, v.Reason = p.Effect, p.Rule, "default", "asked because "+p.Reason+": "+short(p.Text)
			if p.Rule != nil {
				r := ruled(p.Rule, verdictText(p.Rule))
				v.By, v.Reason = r.By, r.Reason
				if p.Effect == Ask && p.Reason != "" {
					v.Reason = "asked because " + p.Reason + ": " + short(p.Text)
				}
			}
			if p.Effect == Allow && p.Rule == nil {
				v.By, v.Reason = "mode", "allowed by the mode "+string(j.mode)
			}
		}
	}
	return v
}

// step judges one step. A nil rule with Allow means that the mode or nothing at all needs one.
func (j *judge) step(s step) (*Rule, Effect, string) {
	for i := range j.rules {
		r := &j.rules[i]
		if r.Effect != Deny || r.Script != "" {
			continue
		}
		switch j.hits(r, s) {
		case yes:
			return r, Deny, "a rule denies it"
		case maybe:
			return r, Ask, "it may be what the rule " + r.String() + " denies"
		}
	}
	r := j.bestFor(s)
	if r != nil && r.Effect == Ask {
		return r, Ask, ""
	}
	if d := j.unenforced(s); d != nil && !(r != nil && r.spelledOut()) {
		return d, Ask, "the rule deny " + d.String() + " cannot be enforced inside it"
	}
	switch {
	case r != nil:
		return r, Allow, ""
	case j.mode == ModeAuto && !s.unread || j.free(s):
		return nil, Allow, ""
	case s.hard != "":
		return nil, Ask, s.hard
	}
	return nil, Ask, j.uncovered(s)
}

// uncovered words why nothing covers a step.
func (j *judge) uncovered(s step) string {
	switch {
	case s.kind == writes:
		return "no rule covers writing this file"
	case s.kind == reads:
		return "no rule covers reading this file"
	case s.folders.unknown:
		return "the folder this part runs in cannot be told"
	case !j.inside(s.folders):
		return "this part runs outside the working folder"
	}
	return "this part is not covered"
}

// free reports whether a redirection needs no rule: to nowhere, a read inside, and in mode edits a
// write inside.
func (j *judge) free(s step) bool {
	if s.kind == runs || s.hard != "" {
		return false
	}
	paths := s.folders.paths(s.target.path)
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(p string) bool {
		inside := j.guard.inside(p) && (s.kind == reads || j.mode == ModeEdits)
		return !inside && !harmlessSink(p)
	})
}

func (j *judge) inside(f folders) bool {
	return !f.unknown && !slices.ContainsFunc(f.list, func(d string) bool { return !j.guard.inside(d) })
}

// bestFor returns the most specific ask or allow rule for a step.
func (j *judge) bestFor(s step) *Rule {
	var best *Rule
	for i := range j.rules {
		r := &j.rules[i]
		ok := false
		switch r.Effect {
		case Ask:
			ok = r.Script == "" && j.hits(r, s) != no
		case Allow:
			ok = r.Script == "" && s.hard == "" && j.covers(r, s)
		}
		if ok && (best == nil || r.before(best)) {
			best = r
		}
	}
	return best
}

// covers reports whether an allow rule covers a step whatever its unknown words become.
func (j *judge) covers(r *Rule, s step) bool {
	if s.kind != runs {
		return j.coversFile(r, s)
	}
	if !r.names(j.f.Spec.Name, true) {
		return false
	}
	placed := false // the rule says where
	for _, c := range r.Args {
		switch c.Op {
		case Command:
			if !c.words.covers(s.words) || s.exact && !r.spelledOut() {
				return false
			}
		case Folder:
			placed = true
			pat := j.guard.pattern(c.Value)
			if s.folders.unknown || slices.ContainsFunc(s.folders.list, func(d string) bool { return !pat.match(j.guard.resolve(d), false, j.guard) }) {
				return false
			}
		default:
			return false
		}
	}
	return placed || j.inside(s.folders)
}

// coversFile judges a redirection as a call of the file tool that would do the same (A8).
func (j *judge) coversFile(r *Rule, s step) bool {
	paths := s.folders.paths(s.target.path)
	if len(paths) == 0 {
		return false
	}
	if r.names(j.f.Spec.Name, true) && len(r.Args) == 0 {
		return !slices.ContainsFunc(paths, func(p string) bool { return !j.guard.inside(p) })
	}
	tools := []string{"sys.read"}
	if s.kind == writes {
		tools = []string{"sys.write"}
		if s.append {
			tools = []string{"sys.append", "sys.write"}
		}
	}
	if !slices.ContainsFunc(tools, func(t string) bool { return r.names(t, true) }) {
		return false
	}
	return !slices.ContainsFunc(r.Args, func(c Condition) bool { return c.Op != Path }) &&
		!slices.ContainsFunc(paths, func(p string) bool { return !r.meetsPath(j.guard.resolve(p), j.guard) })
}

// spelledOut reports whether the rule is for one command only, without wildcards.
func (r *Rule) spelledOut() bool {
	found := false
	for _, c := range r.Args {
		if c.Op == Command {
			found = true
			if c.words.rest || slices.ContainsFunc(c.words.words, func(w word) bool { return w.star }) {
				return false
			}
		}
	}
	return found
}

// unenforced returns a rule that keeps tools from a file which a step could reach without naming
// it: by a word that only the run will show, or through a folder above it (P-11).
func (j *judge) unenforced(s step) *Rule {
	for i := range j.rules {
		r := &j.rules[i]
		if r.Effect == Deny && r.Scope != Builtin && r.onlyPaths() && fileRule(r, false) && s.kind == runs && j.couldReach(r, s) {
			return r
		}
	}
	return nil
}

func (j *judge) couldReach(r *Rule, s step) bool {
	if s.folders.unknown || s.hard != "" || s.exact || len(s.words) == 0 || isInterpreter(s.words[0].text) {
		return true
	}
	if slices.ContainsFunc(s.words, func(w word) bool { return w.path == "" && !w.literal }) {
		return true
	}
	for _, c := range r.Args {
		pat := j.guard.pattern(c.Value)
		for _, w := range s.files() {
			for _, p := range s.folders.paths(w.path) {
				if w.glob && pat.file == "" {
					return true
				}
				if fixed := pat.fixed(); !w.glob && strings.HasPrefix(fixed+string(filepath.Separator), j.guard.resolve(p)+string(filepath.Separator)) {
					return true
				}
			}
		}
	}
	return false
}

// fixed returns the pattern's path before its first wildcard.
func (p pathPattern) fixed() string {
	n := 0
	for n < len(p.segs) && !strings.ContainsAny(p.segs[n], "*?") {
		n++
	}
	return string(filepath.Separator) + strings.Join(p.segs[:n], string(filepath.Separator))
}
