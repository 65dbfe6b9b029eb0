package approval

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Choice is one way of not being asked again: all its rules together cover the call.
type Choice struct {
	Label string // "exactly this", "any go test", "files below src", …
	Rules []Rule
}

// Suggest returns the rules that could have covered a call that asks, each a session rule that
// allows. For a call with one part they are alternatives, narrow to wide; for a compound command
// one exact rule for each part still lacking one, to be taken together. It is empty when no rule
// could: see [Policy.Choices], which says which is which.
func (p *Policy) Suggest(f Facts) []Rule {
	choices := p.Choices(f)
	var out []Rule
	for _, c := range choices {
		if len(c.Rules) > 1 {
			return c.Rules
		}
		out = append(out, c.Rules...)
	}
	return out
}

// Choices returns up to three sets of session rules that would cover a call, narrow to wide (A12).
// There are none for protected targets and for parts that no rule can cover, and never one for a
// bare interpreter or remover, or wider than the tool.
func (p *Policy) Choices(f Facts) []Choice {
	mode, rules := p.current()
	j := newJudge(p.guard, f, mode, rules)
	var out []Choice
	if f.shell() {
		out = j.shellChoices()
	} else {
		j.paths, j.hosts = f.paths(j.args, j.dir), f.hosts(j.args)
		if j.protected() != "" {
			return nil
		}
		out = j.toolChoices()
	}
	return p.proven(f, out)
}

// proven keeps the choices that are read back from their text and would allow the call: what is
// shown is what will hold.
func (p *Policy) proven(f Facts, choices []Choice) []Choice {
	var out []Choice
	for _, c := range choices {
		mode, rules := p.current()
		trial := &Policy{guard: p.guard, now: p.now, mode: mode, rules: rules}
		good := true
		for i, r := range c.Rules {
			back, err := ParseRule(Allow, r.String(), Session)
			if err != nil || strings.ContainsAny(r.String(), "\n\r") { // shown and answered as lines
				good = false
				break
			}
			c.Rules[i] = back
			trial.Add(back)
		}
		same := func(o Choice) bool { return ruleTexts(o.Rules) == ruleTexts(c.Rules) }
		if good && !slices.ContainsFunc(out, same) && trial.Judge(f).Effect == Allow {
			out = append(out, c)
		}
	}
	return out[:min(len(out), 3)]
}

func ruleTexts(rules []Rule) string {
	var b strings.Builder
	for _, r := range rules {
		b.WriteString(r.String() + "\n")
	}
	return b.String()
}

// shellChoices makes an exact rule and a rule for the family of each part that needs one.
func (j *judge) shellChoices() []Choice {
	cmd, in, why := j.command()
	if why != "" {
		return nil
	}
	c := parseCommand(cmd, in)
	if _, why := j.protectedStep(c); why != "" || c.hard != "" {
		return nil
	}
	exact, family := Choice{Label: "exactly this"}, Choice{}
	wider := false
	for _, s := range c.steps {
		r, e, _ := j.step(s)
		switch {
		case e == Allow:
			continue
		case r != nil || s.hard != "":
			return nil // a rule asks or denies, or none can cover it
		}
		narrow, ok := j.exactRule(s)
		if !ok {
			return nil
		}
		wide, ok := j.familyRule(s)
		if !ok {
			wide = narrow
		} else if family.Label == "" {
			family.Label = "any " + strings.TrimSuffix(wide.Args[len(wide.Args)-1].String(), " **")
		}
		wider = wider || ok
		exact.Rules, family.Rules = appendRule(exact.Rules, narrow), appendRule(family.Rules, wide)
	}
	switch {
	case len(exact.Rules) == 0:
		return nil
	case wider:
		return []Choice{exact, family}
	}
	return []Choice{exact}
}

func appendRule(rules []Rule, r Rule) []Rule {
	if slices.ContainsFunc(rules, func(o Rule) bool { return o.String() == r.String() }) {
		return rules
	}
	return append(rules, r)
}

// exactRule covers one step and nothing else.
func (j *judge) exactRule(s step) (Rule, bool) {
	if s.kind != runs {
		paths := s.folders.paths(s.target.path)
		if len(paths) != 1 {
			return Rule{}, false
		}
		tool := "sys.read"
		if s.kind == writes {
			tool = "sys.write"
			if s.append {
				tool = "sys.append"
			}
		}
		return allow(Rule{Tool: tool, Args: []Condition{{Op: Path, Value: j.relative(paths[0])}}}), true
	}
	if len(s.words) == 0 || slices.ContainsFunc(s.words, func(w word) bool { return w.bound }) || bareRunner(s) {
		return Rule{}, false
	}
	return j.commandRule(s, pattern{words: s.words})
}

// commandRule makes a rule of a pattern, with the folder when that is not inside.
func (j *judge) commandRule(s step, p pattern) (Rule, bool) {
	r := allow(Rule{Tool: j.f.Spec.Name, Args: []Condition{{Op: Command, Value: p.String(), words: p}}})
	if !j.inside(s.folders) {
		if s.folders.unknown || len(s.folders.list) != 1 {
			return Rule{}, false
		}
		r.Args = slices.Insert(r.Args, 0, Condition{Op: Folder, Value: filepath.ToSlash(s.folders.list[0])})
	}
	return r, true
}

// subcommands are programs whose first word says what they do.
var subcommands = []string{
	"git", "go", "npm", "pnpm", "yarn", "cargo", "pip", "pip3", "gh", "brew", "apt", "apt-get", "systemctl", "terraform", "dotnet", "mvn",
	"gradle", "make", "bundle", "rails", "rake", "poetry", "uv", "helm", "aws", "gcloud", "az", "flutter", "dart", "mix", "composer",
	"rustup", "conda", "nix", "just", "task", "hg", "svn", "jj",
}

// noFamily are commands of which only one call at a time may be allowed.
var noFamily = []string{"dd", "mkfs", "kill", "pkill", "killall", "chmod", "chown", "chgrp", "mount", "umount", "reboot", "shutdown", "npx", "pnpx", "bunx", "uvx", "env", "sudo", "doas", "tee", "mv", "ln", "install"}

// familyRule covers a command with any further words. A program that takes subcommands and of whose
// options nothing is known gets none: any of them might run something else.
func (j *judge) familyRule(s step) (Rule, bool) {
	if s.kind != runs || s.exact || s.removes() || len(s.words) == 0 || s.words[0].assign || !s.words[0].literal {
		return Rule{}, false
	}
	name := s.words[0].text
	base := filepath.Base(name)
	if slices.Contains(noFamily, base) || isInterpreter(name) || isShellName(name) || slices.Contains(runners, base) || strings.HasPrefix(base, "mkfs") {
		return Rule{}, false
	}
	keep := 1
	if slices.Contains(subcommands, base) {
		if _, known := risks[strings.TrimRight(base, "0123456789.")]; !known {
			return Rule{}, false
		}
		keep = 2
		if base == "npm" || base == "pnpm" || base == "yarn" {
			if len(s.words) > 1 && s.words[1].text == "run" {
				keep = 3
			}
		}
	}
	if len(s.words) < keep {
		return Rule{}, false
	}
	for _, w := range s.words[1:keep] {
		if !w.literal || strings.HasPrefix(w.text, "-") {
			return Rule{}, false
		}
	}
	return j.commandRule(s, pattern{words: s.words[:keep], rest: true})
}

// bareRunner reports whether a step is an interpreter or remover with nothing to say what it does.
func bareRunner(s step) bool {
	base := filepath.Base(s.words[0].text)
	bare := isInterpreter(base) || isShellName(base) || slices.Contains(removers, base) || slices.Contains(runners, base)
	return bare && len(s.words) == 1
}

func allow(r Rule) Rule {
	r.Effect, r.Scope = Allow, Session
	return r
}

// relative writes a path as rules do: from the working folder where it lies in it.
func (j *judge) relative(path string) string {
	path = j.guard.resolve(path)
	if j.guard.dir != "" && under(path, j.guard.dir) {
		if rel, err := filepath.Rel(j.guard.dir, path); err == nil {
			path = rel
		}
	}
	return filepath.ToSlash(path)
}

// toolChoices makes rules for a tool that is not a shell.
func (j *judge) toolChoices() []Choice {
	base := allow(Rule{Tool: j.f.Spec.Name, Script: j.f.scriptHash()})
	var out []Choice
	with := func(label string, conds ...Condition) {
		r := base
		r.Args = conds
		if hosts := j.privateHost(); !slices.ContainsFunc(conds, func(c Condition) bool { return c.Op == Host }) {
			r.Args = slices.Concat(conds, hosts)
		}
		out = append(out, Choice{label, []Rule{r}})
	}
	switch {
	case j.f.builtin() && len(j.paths) > 0:
		j.pathChoices(with)
	case len(j.hosts) == 1 && (j.f.builtin() || j.f.Spec.Source == "http"):
		h := j.hosts[0]
		with("requests to "+h.name, Condition{Op: Host, Value: hostText(h)})
	default:
		exact, ids := j.equalities()
		if len(exact) > 0 {
			with("exactly these arguments", exact...)
		}
		if len(ids) > 0 && len(ids) < len(exact) || len(exact) == 0 && len(ids) > 0 {
			with("the same "+keys(ids), ids...)
		}
	}
	if !j.f.Spec.Flags.Destructive || !j.f.builtin() {
		label := "every call of this tool"
		if base.Script != "" {
			label = "this tool as long as its text stays the same (files that it starts may change)"
		}
		with(label)
	}
	return out
}

// privateHost is the condition that a rule for a call to a private address must have (A10), nil for
// other calls.
func (j *judge) privateHost() []Condition {
	if len(j.hosts) != 1 || !j.hosts[0].private() || j.f.builtin() {
		return nil
	}
	return []Condition{{Op: Host, Value: hostText(j.hosts[0])}}
}

func (j *judge) pathChoices(with func(string, ...Condition)) {
	if len(j.paths) == 1 {
		with("this file", Condition{Op: Path, Value: j.relative(j.paths[0])})
	}
	dir := filepath.Dir(j.guard.resolve(j.paths[0]))
	for _, p := range j.paths[1:] {
		for !under(j.guard.resolve(p), dir) {
			dir = filepath.Dir(dir)
		}
	}
	if dir == filepath.Dir(dir) || j.f.Spec.Flags.Destructive {
		return
	}
	rel := j.relative(dir)
	if rel == "." {
		with("files of the working folder", Condition{Op: Path, Value: "**"})
		return
	}
	with("files below "+rel, Condition{Op: Path, Value: strings.TrimSuffix(rel, "/") + "/**"})
	if under(dir, j.guard.dir) {
		with("files of the working folder", Condition{Op: Path, Value: "**"})
	}
}

// equalities returns conditions for all arguments, nil when they are too long to be shown as a
// rule, and for those that look like names.
func (j *judge) equalities() (exact, ids []Condition) {
	var names []string
	for k := range j.args.fields {
		names = append(names, k)
	}
	slices.Sort(names)
	total := 0
	for _, k := range names {
		v := valueText(j.args.fields[k])
		c := Condition{Op: Equals, Key: k, Value: v}
		exact = append(exact, c)
		total += len(c.String())
		if utf8.RuneCountInString(v) <= 40 && bareValue.MatchString(v) {
			ids = append(ids, c)
		}
	}
	if total > 200 {
		exact = nil
	}
	return exact, ids
}

func keys(cs []Condition) string {
	var s []string
	for _, c := range cs {
		s = append(s, c.Key)
	}
	return strings.Join(s, ", ")
}

func hostText(h hostPort) string {
	name := h.name
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	switch {
	case h.scheme == "https" && h.port == "443":
		return name
	case h.scheme == "http" && h.port == "80":
		return "http://" + name
	}
	return h.scheme + "://" + name + ":" + h.port
}
