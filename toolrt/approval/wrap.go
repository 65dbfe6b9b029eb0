package approval

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// isInterpreter also knows names with a version: python3.12.
func isInterpreter(name string) bool {
	name = strings.TrimRight(path.Base(name), "0123456789.")
	return slices.Contains(interpreters, name)
}

func isShellName(name string) bool { return slices.Contains(shells, path.Base(name)) }

// simple judges the form of a simple command: it unwraps it as far as it goes and adds its steps.
// assigned words in front are assignments. It reports whether it has set okDirs.
func (w *walker) simple(st step, assigned int, piped bool) bool {
	words := st.words[assigned:]
	name := words[0]
	if why := w.doubtful(name, st.words); why != "" {
		st.hard = why
		st.inner = suffixes(words)
		w.add(st)
		return false
	}
	base := path.Base(name.text)
	st.words = markSet(st.words, assigned, base)
	switch wr, ok := wrappers[base]; {
	case base == "cd":
		w.add(st)
		w.okDirs = w.cd(words)
		w.dirs = w.dirs.join(w.okDirs)
		return true
	case base == "pushd" || base == "popd":
		w.add(st)
		w.dirs = folders{unknown: true}
	case isShellName(base):
		w.shell(st, assigned)
	case base == "eval" || base == "trap":
		w.evaluated(st, assigned)
	case base == "find":
		w.find(st, assigned)
	case base == "command" && len(words) > 1 && (words[1].text == "-v" || words[1].text == "-V"):
		w.add(st) // only asks where a command is
	case base == "alias":
		st.hard = "an alias could stand for any command"
		w.add(st)
	case ok:
		w.unwrap(st, assigned, wr, piped)
	default:
		w.plain(st, base, words, piped)
	}
	return false
}

// markSet marks the words by which a command of the shell sets variables that are not harmless: as
// with assignments, only a rule that spells them out covers them.
func markSet(words []word, assigned int, base string) []word {
	words = slices.Clone(words)
	own := words[assigned:]
	for i := 1; i < len(own); i++ {
		a := own[i]
		switch {
		case slices.Contains(declares, base):
			name, _, _ := strings.Cut(a.text, "=")
			own[i].assign = isAssignment(a) && !harmlessEnv(name) || !a.literal
		case slices.Contains(namers, base):
			own[i].assign = !a.literal || syntax.ValidName(a.text) && !harmlessLocal(a.text)
		case base == "printf" && own[i-1].text == "-v":
			own[i].assign = !a.literal || !harmlessLocal(a.text)
		}
	}
	return words
}

// doubtful says why the command's name or words cannot be taken for what they seem.
func (w *walker) doubtful(name word, words []word) string {
	switch {
	case !name.literal:
		return "the command itself is not spelled out"
	case name.text == "":
		return "the command has no name"
	case w.funcs[name.text]:
		return "the command's text defines a function of the same name"
	}
	for _, a := range words {
		if a.literal && hidden.MatchString(a.text) {
			return "a quoted word holds a command that could run"
		}
	}
	return ""
}

// plain adds an ordinary command.
func (w *walker) plain(st step, base string, words []word, piped bool) {
	switch {
	case slices.Contains(runners, base):
		st.exact, st.inner = true, suffixes(words)
	case base == "." || base == "source":
		st.exact = true
		if piped && len(words) > 1 && !words[1].literal || len(words) > 1 && strings.HasPrefix(words[1].text, "/dev/") {
			st.hard = "it runs what it reads from its input"
		}
		w.dirs = folders{unknown: true}
	case isInterpreter(base):
		st.exact = len(words) > 1 && (!words[1].literal || strings.HasPrefix(words[1].text, "-")) || strings.HasSuffix(base, "awk")
		switch {
		case len(words) > 1 && words[1].bound:
			st.hard = "what it runs is not spelled out"
		case piped && !namesCode(words, base):
			st.hard = "it runs what it reads from its input"
		}
	}
	w.add(st)
}

// namesCode reports whether an interpreter's code stands in its arguments, so that its input is
// only data.
func namesCode(words []word, base string) bool {
	if len(words) < 2 || !words[1].literal || strings.HasPrefix(words[1].text, "/dev/") || strings.HasPrefix(words[1].text, "/proc/") {
		return false
	}
	switch base {
	case "psql", "mysql", "sqlite3", "bc", "m4", "gnuplot", "octave", "ghci", "irb", "iex", "erl":
		return false
	}
	switch first := words[1].text; {
	case first == "-m" || first == "-c" || first == "-e":
		return len(words) > 2 && words[2].literal
	default:
		return first != "" && first[0] != '-'
	}
}

// suffixes are the readings of a command whose wrapped command may begin at any word.
func suffixes(words []word) [][]word {
	var out [][]word
	for i := 1; i < len(words) && i < 64; i++ {
		out = append(out, words[i:])
	}
	return out
}

func (w *walker) cd(words []word) folders {
	to := words[1:]
	for len(to) > 0 && to[0].literal && (to[0].text == "-L" || to[0].text == "-P" || to[0].text == "--") {
		to = to[1:]
	}
	switch {
	case len(to) == 0:
		return w.dirs.enter(word{path: homeDir()}, false)
	case len(to) > 1 || w.vars["CDPATH"] || w.vars["HOME"]:
		return folders{unknown: true}
	}
	return w.dirs.enter(to[0], w.loop > 0)
}

// unwrap finds the command that a wrapper runs and judges that.
func (w *walker) unwrap(st step, assigned int, wr wrapper, piped bool) {
	words := st.words[assigned:]
	rest, env, ok := wr.skip(words[1:])
	switch {
	case !ok:
		st.hard = "an option of " + words[0].text + " is not known here"
		st.inner = suffixes(words)
		w.add(st)
		return
	case len(rest) == 0 && words[0].text == "exec" && assigned == 0 && len(words) == 1:
		return // only its redirections count
	case len(rest) == 0: // env or time alone
		w.add(st)
		return
	}
	inner := st
	inner.text = texts(slices.Concat(env, rest))
	if wr.adds {
		rest = fed(words[1:len(words)-len(rest)], rest)
	}
	inner.words = slices.Concat(st.words[:assigned], env, rest)
	if wr.kept {
		w.keep(st, inner, assigned+len(env), piped)
		return
	}
	w.simple(inner, assigned+len(env), piped)
}

// keep adds a wrapper that changes what its command may do: the rule must name the wrapper, and
// the wrapped command must be one that could be judged.
func (w *walker) keep(st, inner step, assigned int, piped bool) {
	var found []step
	sub := *w
	sub.out = &found
	sub.simple(inner, assigned, piped)
	for _, f := range found {
		if f.hard != "" && st.hard == "" {
			st.hard = f.hard
		}
		st.inner = append(append(st.inner, f.words), f.inner...)
		st.exact = st.exact || f.exact
	}
	w.add(st)
}

// skip steps over a wrapper's own options, its operands and assignments.
func (wr wrapper) skip(words []word) (rest, env []word, ok bool) {
	i := 0
	for ; i < len(words) && !(words[i].literal && !strings.HasPrefix(words[i].text, "-")); i++ {
		if words[i].text == "--" || !strings.HasPrefix(words[i].prefix, "-") && words[i].prefix != "" {
			break
		}
		n, known := wr.option(words[i].text)
		if !known || !words[i].literal {
			return nil, nil, false
		}
		i += n
	}
	if i < len(words) && words[i].text == "--" {
		i++
	}
	i += wr.operand
	for ; wr.assigns && i < len(words) && isAssignment(words[i]); i++ {
		name, _, _ := strings.Cut(words[i].text, "=")
		if a := words[i]; !harmlessEnv(name) {
			a.assign = true
			env = append(env, a)
		}
	}
	if i > len(words) {
		return nil, nil, false
	}
	return words[i:], env, true
}

// fed returns the words of a command with what xargs adds: words at the end, or in the place that
// its option -I names.
func fed(options, rest []word) []word {
	for i, o := range options {
		mark := ""
		switch {
		case o.text == "-I" && i+1 < len(options):
			mark = options[i+1].text
		case strings.HasPrefix(o.text, "-I"):
			mark = o.text[2:]
		case o.text == "--replace":
			mark = "{}"
		case strings.HasPrefix(o.text, "--replace="):
			mark = strings.TrimPrefix(o.text, "--replace=")
		}
		if mark == "" {
			continue
		}
		out := slices.Clone(rest)
		for j, a := range out {
			if strings.Contains(a.text, mark) {
				out[j] = unknown(a.src, false)
			}
		}
		return out
	}
	return append(slices.Clone(rest), unknown("…", true))
}

// option reports how many further words an option takes, and whether it is known.
func (wr wrapper) option(opt string) (int, bool) {
	if strings.HasPrefix(opt, "--") {
		name, _, hasValue := strings.Cut(opt, "=")
		if !slices.Contains(wr.long, name) {
			return 0, false
		}
		if !hasValue && slices.Contains(wr.longVal, name) {
			return 1, true
		}
		return 0, true
	}
	switch {
	case opt == "-":
		return 0, wr.assigns
	case wr.number && strings.Trim(opt[1:], "0123456789") == "":
		return 0, true
	}
	for j, c := range opt[1:] {
		switch {
		case strings.ContainsRune(wr.values, c):
			if j+2 == len(opt) {
				return 1, true
			}
			return 0, true
		case !strings.ContainsRune(wr.flags, c):
			return 0, false
		}
	}
	return 0, true
}

func isAssignment(a word) bool {
	name, _, ok := strings.Cut(a.text, "=")
	return ok && strings.HasPrefix(a.prefix, name+"=") && syntax.ValidName(name)
}
