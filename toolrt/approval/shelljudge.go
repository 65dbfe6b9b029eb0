package approval

import (
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"
)

// readers are commands that only read the files they are given, whatever their options and operands:
// for them a protected file that is no key is no reason to ask. (sort, uniq, xxd, tree, less and
// file can write one.)
var readers = []string{
	"cat", "ls", "head", "tail", "grep", "egrep", "fgrep", "rg", "wc", "stat", "diff", "cmp", "md5sum",
	"sha1sum", "sha256sum", "test", "[", "[[", "du", "realpath", "readlink", "basename", "dirname", "cd", "echo", "printf", "cut",
	"strings", "hexdump", "od", "nl", "tac", "pwd", "true", "which", "jq",
}

// removers delete what they are given.
var removers = []string{"rm", "rmdir", "unlink", "shred", "srm", "truncate", "wipe"}

// shallow are commands besides readers that do not go down into a folder that they are given, or
// for which a lone "/" is mostly no folder: a folder above keys is no reason to ask.
var shallow = []string{
	"tr", "awk", "gawk", "mawk", "sed", "paste", "column", "expr", "seq", "sort", "uniq", "comm", "join", "tee", "file", "less", "more",
	"mkdir", "df", "tree", "find", "fd", "pushd", "popd", "export", "read", "set", "let", "sleep", "date", "xargs", "id", "env",
}

// shell judges a call of a shell tool (A6 to A8).
func (j *judge) shell() Verdict {
	cmd, in, why := j.command()
	var c command
	switch {
	case why != "":
		c = command{text: cmd, hard: why}
	case runtime.GOOS == "windows":
		c = command{text: cmd, hard: "commands of cmd.exe cannot be taken apart"}
	default:
		c = parseCommand(cmd, in)
	}
	if r := j.denied(c); r != nil {
		v := ruled(r, "denied by the rule "+r.String())
		v.Parts = j.parts(c)
		return v
	}
	if v, ok := j.plan(); ok {
		return v
	}
	parts := j.parts(c)
	if s, why := j.protectedStep(c); why != "" {
		return Verdict{Effect: Ask, By: "protected", Protected: true, Parts: parts, Reason: "asked because " + why + ": " + short(s.text)}
	}
	return j.decide(c, parts)
}

// command returns the text that will run and the folder it runs in.
func (j *judge) command() (text string, in folders, why string) {
	raw, ok := j.args.field("command")
	switch {
	case j.args.broken || !ok:
		return j.args.raw, in, "its arguments cannot be read for certain"
	case j.args.doubled:
		return valueText(raw), in, "an argument is given twice"
	}
	in = inFolder(j.dir)
	for _, d := range j.args.list(dirKeys) {
		in = inFolder(j.dir).enter(lit(d), false)
	}
	return valueText(raw), in, ""
}

// short cuts a text for a sentence.
func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) > 120 {
		s = string([]rune(s)[:119]) + "…"
	}
	return s
}

// denied returns a deny rule that certainly speaks of some step.
func (j *judge) denied(c command) *Rule {
	for i := range j.rules {
		r := &j.rules[i]
		if r.Effect != Deny || r.Script != "" {
			continue
		}
		if r.names(j.f.Spec.Name, true) && len(r.Args) == 0 {
			return r
		}
		for _, s := range c.steps {
			if j.hits(r, s) == yes {
				return r
			}
		}
	}
	return nil
}

// hits reports whether a deny or ask rule speaks of a step: by its command, or by a file.
func (j *judge) hits(r *Rule, s step) answer {
	if r.onlyPaths() {
		return j.hitsPath(r, s)
	}
	if s.kind != runs || !r.names(j.f.Spec.Name, true) {
		return no
	}
	res := yes
	for _, c := range r.Args {
		a := no
		switch c.Op {
		case Command:
			a = hitsWords(c.words, s)
		case Folder:
			a = j.hitsFolder(c, s)
		}
		res = min(res, a)
	}
	return res
}

// hitsWords compares a pattern with a command, without the assignments before it, and with every
// other reading of it.
func hitsWords(p pattern, s step) answer {
	if s.hard != "" && len(s.words) == 0 {
		return no // it asks anyway
	}
	res := no
	for _, ws := range slices.Concat([][]word{s.words}, s.inner) {
		bare := slices.DeleteFunc(slices.Clone(ws), func(w word) bool { return w.assign })
		res = max(res, p.hits(ws), p.hits(bare))
	}
	return res
}

func (j *judge) hitsFolder(c Condition, s step) answer {
	if s.folders.unknown {
		return maybe
	}
	pat := j.guard.pattern(c.Value)
	for _, d := range s.folders.list {
		if pat.match(j.guard.resolve(d), true, j.guard) {
			return yes
		}
	}
	return no
}

// fileRule reports whether a path rule speaks of the files of commands too.
func fileRule(r *Rule, writing bool) bool {
	if r.Prefix {
		return strings.HasPrefix("sys.read", r.Tool) || strings.HasPrefix("sys.write", r.Tool)
	}
	switch r.Tool {
	case "sys.read", "sys.view", "sys.grep":
		return !writing
	case "sys.write", "sys.append", "sys.edit", "sys.remove", "sys.exec", "sys.shell":
		return true
	}
	return false
}

// hitsPath reports whether a step names a file that a rule speaks of.
func (j *judge) hitsPath(r *Rule, s step) answer {
	if !fileRule(r, s.kind == writes) {
		return no
	}
	writeRule := !r.Prefix && !slices.Contains([]string{"sys.read", "sys.view", "sys.grep", "sys.exec", "sys.shell"}, r.Tool)
	if writeRule && (s.kind == reads || s.kind == runs && isReader(s)) {
		return no
	}
	res := no
	for _, w := range s.files() {
		for _, p := range s.folders.paths(w.path) {
			switch {
			case w.glob && slices.ContainsFunc(r.Args, func(c Condition) bool { return globMeetsPattern(p, j.guard.pattern(c.Value)) }):
				res = max(res, yes)
			case !w.glob && r.meetsPath(j.guard.resolve(p), j.guard):
				return yes
			}
		}
	}
	return res
}

// globMeetsPattern reports whether a shell glob could expand to a file that a rule's path means.
func globMeetsPattern(glob string, pat pathPattern) bool {
	if pat.file != "" {
		return globMeets(glob, pat.file)
	}
	return false // two globs: left to the question
}

func isReader(s step) bool {
	at := slices.IndexFunc(s.words, func(w word) bool { return !w.assign })
	return at >= 0 && s.words[at].literal && slices.Contains(readers, path.Base(s.words[at].text)) && s.hard == ""
}

// files returns the words of a step that may name files; "key=path" counts with both readings.
func (s step) files() []word {
	if s.kind != runs {
		return []word{s.target}
	}
	var out []word
	for i, w := range s.words {
		if w.path == "" || i == 0 && !strings.Contains(w.path, "/") {
			continue
		}
		out = append(out, w)
		if _, value, ok := strings.Cut(w.path, "="); ok && value != "" {
			w.path = value
			out = append(out, w)
		}
		if at := strings.IndexByte(w.path, '/'); at > 0 && strings.HasPrefix(w.path, "-") {
			w.path = w.path[at:]
			out = append(out, w)
		}
		if rest, ok := strings.CutPrefix(w.path, "@"); ok {
			w.path = rest // curl -d @file
			out = append(out, w)
		}
	}
	for _, in := range s.inner {
		out = append(out, step{words: in}.files()...)
		if len(out) > 256 {
			break
		}
	}
	return out
}

// protectedStep returns the first step that reaches a protected target, and why it is one (A9).
func (j *judge) protectedStep(c command) (step, string) {
	for _, s := range c.steps {
		if why := j.protectedFiles(s); why != "" {
			return s, why
		}
	}
	return step{}, ""
}

func (j *judge) protectedFiles(s step) string {
	u := useWrite
	remover := s.removes()
	switch {
	case s.kind == reads || s.kind == runs && isReader(s):
		u = useRead
	case remover:
		u = useRemove
	}
	deep := s.goesDown()
	for _, w := range s.files() {
		for _, p := range s.folders.paths(w.path) {
			use := u
			if use == useRemove && strings.HasPrefix(w.text, "-") {
				use = useWrite
			}
			if harmlessSink(p) && s.kind == writes {
				continue
			}
			if why := j.guard.protected(p, use, w.glob); why != "" {
				return why
			}
			if deep {
				if why := j.guard.above(p, use, w.glob); why != "" {
					return why
				}
			}
		}
	}
	if remover {
		return s.untold()
	}
	return gitConfig(s)
}

// goesDown reports whether a step may read or change what lies below a folder that it names: each
// program does of which it is not known that it does not.
func (s step) goesDown() bool {
	if s.kind != runs {
		return false
	}
	at := slices.IndexFunc(s.words, func(w word) bool { return !w.assign })
	if at < 0 || !s.words[at].literal {
		return at >= 0
	}
	// A word that only the run will show may be any option. Long ones may be shortened, or hold a value.
	option := func(short string, long ...string) bool {
		return slices.ContainsFunc(s.words[at+1:], func(w word) bool {
			name, _, _ := strings.Cut(w.text, "=")
			switch {
			case w.path == "" && !w.literal:
				return true
			case strings.HasPrefix(name, "--"):
				return len(name) > 2 && slices.ContainsFunc(long, func(l string) bool { return strings.HasPrefix(l, name) })
			}
			return slices.Contains(long, name) || strings.HasPrefix(name, "-") && strings.ContainsAny(name, short)
		})
	}
	switch base := path.Base(s.words[at].text); base {
	case "grep", "egrep", "fgrep":
		return option("rRd", "--recursive", "--dereference-recursive", "--directories")
	case "diff":
		return option("r", "--recursive")
	case "find":
		return option("", "-exec", "-execdir", "-ok", "-okdir")
	case "fd":
		return option("xX", "--exec", "--exec-batch")
	case "rg":
		return true
	default:
		return !slices.Contains(readers, base) && !slices.Contains(shallow, base)
	}
}

// removes reports whether a step deletes files.
func (s step) removes() bool {
	return s.kind == runs && slices.ContainsFunc(slices.Concat([][]word{s.words}, s.inner), func(ws []word) bool {
		at := slices.IndexFunc(ws, func(w word) bool { return !w.assign })
		if at < 0 || !ws[at].literal {
			return false
		}
		base := path.Base(ws[at].text)
		return slices.Contains(removers, base) ||
			base == "find" && slices.ContainsFunc(ws, func(w word) bool { return w.text == "-delete" })
	})
}

// untold says when it cannot be told what a remover removes.
func (s step) untold() string {
	if s.folders.unknown && slices.ContainsFunc(s.words[1:], func(w word) bool { return !filepath.IsAbs(w.path) && !strings.HasPrefix(w.text, "-") }) {
		return "the folder that it removes from cannot be told"
	}
	if slices.ContainsFunc(s.words, func(w word) bool { return !w.assign && w.path == "" && !strings.HasPrefix(w.prefix, "-") }) {
		return "what it removes cannot be told"
	}
	return ""
}

// gitConfig notes the commands that change what git runs without naming its files.
func gitConfig(s step) string {
	for _, ws := range slices.Concat([][]word{s.words}, s.inner) {
		at := slices.IndexFunc(ws, func(w word) bool { return !w.assign })
		if at < 0 || !ws[at].literal || path.Base(ws[at].text) != "git" {
			continue
		}
		sub := slices.IndexFunc(ws, func(w word) bool { return w.text == "config" })
		if sub < 0 || sub > at+6 {
			continue
		}
		rest := ws[sub+1:]
		if slices.ContainsFunc(rest, func(w word) bool {
			return slices.Contains([]string{"--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list"}, w.text)
		}) {
			continue
		}
		return "it reaches what version control runs"
	}
	return ""
}
