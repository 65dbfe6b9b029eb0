package approval

import (
	"slices"
	"strings"
)

// shell judges a call of a shell: the text after -c, or the script file as an ordinary command.
func (w *walker) shell(st step, assigned int) {
	words := st.words[assigned:]
	operands, code, ok := shellOptions(words[1:])
	stdin := slices.ContainsFunc(words[1:len(words)-len(operands)], func(a word) bool {
		return strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") && strings.Contains(a.text, "s")
	})
	switch {
	case !ok:
		st.hard = "an option of " + words[0].text + " is not known here"
	case code && (len(operands) == 0 || !operands[0].literal):
		st.hard = "the text that " + words[0].text + " runs is not spelled out"
	case code:
		if assigned > 0 { // the environment reaches every command of the text
			env := st
			env.words, env.text = st.words[:assigned], texts(st.words[:assigned])
			w.add(env)
		}
		w.text(st, operands[0].text, false)
		return
	case stdin || len(operands) == 0 || operands[0].text == "-" || !operands[0].literal || strings.HasPrefix(operands[0].text, "/dev/") ||
		strings.HasPrefix(operands[0].text, "/proc/"):
		st.hard = "it runs what it reads from its input"
		if len(operands) == 0 && len(words) == 2 && words[1].text == "--version" {
			st.hard = ""
		}
	}
	st.inner = suffixes(words)
	w.add(st)
	if st.hard != "" && w.feed != "" {
		// It asks whatever the text says; but what the text does may be denied.
		feed := w.feed
		w.feed = ""
		w.text(st, feed, false)
		w.feed = feed
	}
}

// shellOptions splits the words after a shell's name: its operands, and whether the first is code.
func shellOptions(words []word) (operands []word, code, ok bool) {
	for i := 0; i < len(words); i++ {
		a := words[i]
		if !strings.HasPrefix(a.prefix, "-") && !strings.HasPrefix(a.prefix, "+") {
			if !a.literal && a.prefix == "" {
				return nil, code, false
			}
			return words[i:], code, true
		}
		switch t := a.text; {
		case !a.literal:
			return nil, code, false
		case t == "--" || t == "-":
			return words[i+1:], code, true
		case strings.HasPrefix(t, "--"):
			if !slices.Contains([]string{"--norc", "--noprofile", "--login", "--posix", "--version", "--restricted"}, t) {
				return nil, code, false
			}
		default:
			if strings.Trim(t[1:], "abcefhklmnoprstuvxBCEHPTilD") != "" {
				return nil, code, false
			}
			code = code || t[0] == '-' && strings.Contains(t, "c")
			if strings.ContainsAny(t, "oO") {
				i++ // the option's name
			}
		}
	}
	return nil, code, true
}

// evaluated judges the text that eval or trap runs in this very shell.
func (w *walker) evaluated(st step, assigned int) {
	words := st.words[assigned:]
	name, args := words[0].text, words[1:]
	if len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	}
	if slices.ContainsFunc(args, func(a word) bool { return !a.literal }) {
		st.hard = "the text that " + name + " runs is not spelled out"
		st.inner = suffixes(words)
		w.add(st)
		return
	}
	w.dirs = folders{unknown: true} // it may hold a cd
	var parts []string
	for _, a := range args {
		parts = append(parts, a.text)
	}
	if name == "trap" {
		if len(parts) == 0 || parts[0] == "-" || parts[0] == "" || strings.HasPrefix(parts[0], "-") {
			w.add(st)
			return
		}
		parts = parts[:1]
	}
	if assigned > 0 {
		env := st
		env.words, env.text = st.words[:assigned], texts(st.words[:assigned])
		w.add(env)
	}
	w.text(st, strings.Join(parts, " "), true)
}

// text judges a shell text inside the text. Its steps stand where st stands.
func (w *walker) text(st step, text string, here bool) {
	if w.depth >= maxDepth {
		st.hard = "shell texts are nested too deeply"
		w.add(st)
		return
	}
	outer := *w
	outer.start, outer.end = st.start, st.end
	in := st.folders
	if here {
		in = w.dirs.join(st.folders)
	}
	hard := parseText(text, in, w.out, &outer)
	w.all, w.calc = w.all || outer.all, w.calc || outer.calc
	if hard != "" {
		st.hard, st.text, st.unread = hard, text, true
		w.add(st)
	}
}

// find judges a find: itself, and each command that it runs.
func (w *walker) find(st step, assigned int) {
	words := st.words[assigned:]
	own := slices.Clone(st.words[:assigned])
	for i := 0; i < len(words); i++ {
		a := words[i]
		if !a.literal || !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, a.text) {
			own = append(own, a)
			continue
		}
		end := i + 1
		for end < len(words) && words[end].text != ";" && !(words[end].text == "+" && words[end-1].text == "{}") {
			end++
		}
		if end == len(words) || end == i+1 {
			st.hard = "the command that find runs has no end"
			break
		}
		inner := st
		inner.words = nil
		for _, b := range words[i+1 : end] {
			if strings.Contains(b.text, "{}") {
				b = unknown(b.src, words[end].text == "+")
			}
			inner.words = append(inner.words, b)
		}
		inner.text = texts(words[i+1 : end])
		if strings.HasSuffix(a.text, "dir") {
			inner.folders = folders{unknown: true}
		}
		w.simple(inner, 0, true)
		i = end
	}
	st.inner = suffixes(words)
	st.words = own
	w.add(st)
}
