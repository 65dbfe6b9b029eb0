package approval

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Mode is what happens to a call that no rule speaks of (A3).
type Mode string

// The modes.
const (
	ModeAsk   Mode = "ask"   // built-ins that only read inside run, all else asks; the default
	ModeEdits Mode = "edits" // file writes of built-ins inside run too
	ModePlan  Mode = "plan"  // whatever is not read-only is denied
	ModeAuto  Mode = "auto"  // all runs but for deny rules and protected targets
)

// Verdict is the policy's word on one call.
type Verdict struct {
	Effect Effect
	// By is what decided: "rule", "flag" (a rule of the command line), "protected", "safe", "mode"
	// or "default" (nothing speaks of the call).
	By   string
	Rule *Rule // the rule that decided, if one did
	// Reason is a sentence for the prompt or the record.
	Reason string
	// Parts are the parts of a shell command in the order they stand; empty for other tools.
	Parts []Part
	// Protected says that no rule or mode can allow the call, only a person's answer to it.
	Protected bool
}

// Part is one simple command or redirection of a shell command.
type Part struct {
	Text string // as written, or as found inside a quoted text
	// Start and End are byte offsets into the command of what the part was found in.
	Start, End int
	Covered    bool // allowed by itself
	Effect     Effect
	Rule       *Rule
	Reason     string // why it is not covered
}

// Policy holds the rules and the mode of a session. All methods are safe for concurrent use.
type Policy struct {
	guard guard
	now   func() time.Time

	mu    sync.RWMutex // guards mode and rules; the slice is replaced, never changed
	mode  Mode
	rules []Rule
}

// New returns a policy without rules but the built-in ones. dir is the working folder and
// workspace the workspace folder, both absolute; workspace may be empty. An empty mode is ModeAsk.
func New(dir, workspace string, mode Mode) *Policy {
	if mode == "" {
		mode = ModeAsk
	}
	p := &Policy{guard: newGuard(dir, workspace), now: time.Now, mode: mode}
	for _, d := range p.guard.own {
		// The key store is encrypted, but no tool has any business with it (K-05).
		file := filepath.ToSlash(d) + "/credentials.age"
		p.guard.patterns[file] = newPathPattern(file, p.guard.dir)
		p.rules = append(p.rules, builtinDeny(Rule{Tool: "sys.", Prefix: true, Args: []Condition{{Op: Path, Value: file}},
			Note: "parley's own credentials"}))
	}
	return p
}

func builtinDeny(r Rule) Rule {
	r.Effect, r.Scope, r.Creator = Deny, Builtin, "parley"
	r.ID = stableID(r)
	return r
}

// Mode returns the current mode.
func (p *Policy) Mode() Mode {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.mode
}

// SetMode changes the mode for calls judged from now on.
func (p *Policy) SetMode(m Mode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = m
}

// Add puts a rule in force and returns its ID, which it makes from scope and text when r has none.
// A rule with the ID of another replaces it.
func (p *Policy) Add(r Rule) string {
	if r.ID == "" {
		r.ID = stableID(r)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	rules := slices.DeleteFunc(slices.Clone(p.rules), func(o Rule) bool { return o.ID == r.ID })
	p.rules = append(rules, r)
	return r.ID
}

// Remove takes a rule out of force at once and reports whether there was one of that ID. Built-in
// rules stay.
func (p *Policy) Remove(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	rules := slices.DeleteFunc(slices.Clone(p.rules), func(o Rule) bool { return o.ID == id && o.Scope != Builtin })
	found := len(rules) < len(p.rules)
	p.rules = rules
	return found
}

// Rules returns the rules in force that have not expired, in the order they were added.
func (p *Policy) Rules() []Rule {
	_, rules := p.current()
	return rules
}

func (p *Policy) current() (Mode, []Rule) {
	p.mu.RLock()
	mode, rules := p.mode, p.rules
	p.mu.RUnlock()
	now := p.now()
	live := make([]Rule, 0, len(rules))
	for _, r := range rules {
		if r.Expires.IsZero() || now.Before(r.Expires) {
			live = append(live, r)
		}
	}
	return mode, live
}

// Judge decides about a call. It may look at the file system to see where paths lead, nothing
// else, and never waits.
func (p *Policy) Judge(f Facts) Verdict {
	mode, rules := p.current()
	j := newJudge(p.guard, f, mode, rules)
	if f.shell() {
		return j.shell()
	}
	j.paths, j.hosts = f.paths(j.args, j.dir), f.hosts(j.args)
	return j.tool()
}

// Denied returns the deny rule that keeps a tool from a file, if there is one. Tools that walk a
// tree ask it for each file they are about to open (P-11).
func (p *Policy) Denied(tool, path string) (Rule, bool) {
	_, rules := p.current()
	path = resolve(path)
	for _, r := range rules {
		if r.Effect == Deny && r.names(tool, true) && r.onlyPaths() && r.meetsPath(path, p.guard) {
			return r, true
		}
	}
	return Rule{}, false
}

// judge is the work on one call.
type judge struct {
	guard guard
	f     Facts
	mode  Mode
	rules []Rule
	args  arguments
	dir   string
	paths []string
	hosts []hostPort
}

func newJudge(g guard, f Facts, mode Mode, rules []Rule) *judge {
	return &judge{guard: g.forCall(), f: f, mode: mode, rules: rules, args: parseArguments(f.Args), dir: f.folder(g.dir)}
}

// tool judges a call of any tool that is not a shell.
func (j *judge) tool() Verdict {
	if r := j.first(Deny); r != nil {
		return ruled(r, "denied by the rule "+r.String())
	}
	if v, ok := j.plan(); ok {
		return v
	}
	if why := j.protected(); why != "" {
		return Verdict{Effect: Ask, By: "protected", Protected: true, Reason: "asked because " + why}
	}
	if r := j.best(); r != nil {
		return ruled(r, verdictText(r))
	}
	if j.f.Embedded && slices.Contains([]string{"context", "input", "output"}, j.f.category()) {
		r := &Rule{ID: "builtin:embedded", Effect: Allow, Tool: j.f.Spec.Name, Script: j.f.scriptHash(), Scope: Builtin, Creator: "parley",
			Note: "contexts and filters of the embedded program"}
		return ruled(r, "allowed: it is part of parley's own program")
	}
	if j.f.safe() {
		return Verdict{Effect: Allow, By: "safe", Reason: "allowed: the tool is safe"}
	}
	return j.byMode()
}

func ruled(r *Rule, reason string) Verdict {
	by := "rule"
	if r.Scope == Flag {
		by = "flag"
	}
	return Verdict{Effect: r.Effect, By: by, Rule: r, Reason: reason}
}

func verdictText(r *Rule) string {
	if r.Effect == Ask {
		return "asked because of the rule " + r.String()
	}
	return "allowed by the rule " + r.String()
}

// protected says why the call's targets may not be touched without asking.
func (j *judge) protected() string {
	u := useWrite
	switch {
	case j.f.builtin() && j.f.Spec.Flags.ReadOnly:
		u = useRead
	case j.f.Spec.Flags.Destructive:
		u = useRemove
	}
	for _, path := range j.paths {
		if why := j.guard.protected(path, u, false); why != "" {
			return fmt.Sprintf("%s: %s", why, path)
		}
		if u == useWrite || j.f.Spec.Name == "sys.grep" {
			if why := j.guard.above(path, u, false); why != "" {
				return fmt.Sprintf("%s: %s", why, path)
			}
		}
	}
	return ""
}

// best returns the most specific ask or allow rule that matches, nil if there is none.
func (j *judge) best() *Rule {
	var best *Rule
	for i := range j.rules {
		r := &j.rules[i]
		if r.Effect != Deny && j.matches(r) && (best == nil || r.before(best)) {
			best = r
		}
	}
	return best
}

func (j *judge) first(e Effect) *Rule {
	for i := range j.rules {
		if j.rules[i].Effect == e && j.matches(&j.rules[i]) {
			return &j.rules[i]
		}
	}
	return nil
}

// matches reports whether a rule speaks of the call.
func (j *judge) matches(r *Rule) bool {
	if !r.names(j.f.Spec.Name, j.f.builtin()) || r.Script != "" && r.Script != j.f.scriptHash() {
		return false
	}
	if r.Effect == Allow && len(r.Args) > 0 && (j.args.broken || j.args.doubled) {
		return false
	}
	literalHost := false
	for _, c := range r.Args {
		if !j.holds(c, r.Effect) {
			return false
		}
		literalHost = literalHost || c.Op == Host && !strings.Contains(c.Value, "*")
	}
	// A private address needs a rule that names it (A10).
	if r.Effect == Allow && !literalHost && slices.ContainsFunc(j.hosts, hostPort.private) {
		return false
	}
	return true
}

// holds reports whether one condition holds. Of several paths or hosts an allow rule needs all, a
// stricter one is content with any.
func (j *judge) holds(c Condition, e Effect) bool {
	switch c.Op {
	case Path:
		pat := j.guard.pattern(c.Value)
		return quantify(j.paths, e, func(path string) bool { return pat.match(j.guard.resolve(path), e != Allow, j.guard) })
	case Host:
		want, _ := parseHost(c.Value)
		return quantify(j.hosts, e, func(h hostPort) bool { return h.matches(want) })
	case Command, Folder:
		return false
	}
	text, ok := j.args.text(c.Key)
	if !ok && e != Allow {
		if v, found := j.args.field(c.Key); found {
			text, ok = valueText(v), true
		}
	}
	return ok && c.compare(text)
}

func quantify[T any](s []T, e Effect, ok func(T) bool) bool {
	if e != Allow {
		return slices.ContainsFunc(s, ok)
	}
	return len(s) > 0 && !slices.ContainsFunc(s, func(v T) bool { return !ok(v) })
}
