package command

import (
	"errors"
	"os"
	"path"
	"strings"

	"github.com/google/shlex"
)

// Split cuts the body of a command tool into its interpreter line, without "#!", and its script
// (6.1).
func Split(body string) (interpreter, script string) {
	first, rest, _ := strings.Cut(body, "\n")
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(first), "#!")), rest
}

var (
	errNoInterpreter = errors.New("the line after #! names no program")
	errNested        = errors.New("a value with shell characters cannot stand in a line with a command substitution; read it as ${NAME} instead of ${!NAME}")
)

// shellLine returns the text for "/bin/sh -c": the words of the interpreter line re-joined with
// single spaces, ${!NAME} replaced by lookup, other variables left to the shell (6.3), and the
// script's file. Values for which foreign is true come from the model: they are written so that
// the shell takes them as plain text.
func shellLine(interpreter, file string, lookup func(string) string, foreign map[string]bool) (string, error) {
	words := strings.Fields(interpreter)
	if len(words) == 0 {
		return "", errNoInterpreter
	}
	var out strings.Builder
	out.WriteString("exec")
	for _, word := range words {
		out.WriteByte(' ')
		expanded := os.Expand(word, func(name string) string {
			if !strings.HasPrefix(name, "!") || name == "!" {
				return "${" + name + "}"
			}
			value := lookup(name[1:])
			if foreign[name[1:]] {
				return mark(value)
			}
			return value
		})
		out.WriteString(expanded)
	}
	if strings.Contains(interpreter, "$(") || strings.Contains(interpreter, "`") {
		for name := range foreign { // the quotes inside a substitution are the shell's to know
			if strings.Contains(interpreter, "${!"+name+"}") && Quote(lookup(name)) != lookup(name) {
				return "", errNested
			}
		}
	}
	line := quoteMarked(out.String())
	if file != "" {
		line += " " + Quote(file)
	}
	return line, nil
}

// Foreign text travels between these two bytes, which no valid UTF-8 text holds, until its place
// in the shell's quoting is known.
const (
	markOpen  = '\xfe'
	markClose = '\xff'
)

func mark(value string) string {
	clean := strings.Map(func(r rune) rune {
		if r == 0 {
			return -1
		}
		return r // invalid bytes become U+FFFD, so the marks cannot be forged
	}, value)
	return string([]byte{markOpen}) + clean + string([]byte{markClose})
}

// quoteMarked escapes the marked parts of a shell text as the quotes around them need it.
func quoteMarked(text string) string {
	if strings.IndexByte(text, markOpen) < 0 {
		return text
	}
	var out strings.Builder
	quote := byte(0)
	foreign := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == markOpen || c == markClose:
			foreign = c == markOpen
		case foreign:
			escape(&out, c, quote)
		case c == '\\' && quote != '\'' && i+1 < len(text):
			out.WriteByte(c)
			if text[i+1] == markOpen { // or it would undo the first escape
				out.WriteByte(c)
				continue
			}
			i++
			out.WriteByte(text[i])
		default:
			if c == quote {
				quote = 0
			} else if quote == 0 && (c == '\'' || c == '"') {
				quote = c
			}
			out.WriteByte(c)
		}
	}
	return out.String()
}

// escape writes one byte of foreign text. Outside quotes white space still separates words, as it
// does in an unquoted variable.
func escape(out *strings.Builder, c, quote byte) {
	switch quote {
	case '\'':
		if c == '\'' {
			out.WriteString(`'\''`)
			return
		}
	case '"':
		if strings.IndexByte("\\\"$`", c) >= 0 {
			out.WriteByte('\\')
		}
	default:
		if c == '\n' {
			c = ' '
		}
		if strings.IndexByte("|&;<>()$`\\\"'*?[]#~=%{}!^", c) >= 0 {
			out.WriteByte('\\')
		}
	}
	out.WriteByte(c)
}

// Quote returns text as one word for a POSIX shell.
func Quote(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./,:+@%", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// directWords returns the program and its arguments where no shell is used: on Windows, and for
// daemons everywhere (6.1). Every variable is expanded by lookup.
func directWords(interpreter string, lookup func(string) string) ([]string, error) {
	words, err := shlex.Split(interpreter)
	if err != nil {
		return nil, err
	}
	if len(words) > 1 && (words[0] == "/usr/bin/env" || words[0] == "/bin/env") {
		words = words[1:]
	}
	if len(words) == 0 {
		return nil, errNoInterpreter
	}
	for i, word := range words {
		words[i] = os.Expand(word, func(name string) string { return lookup(strings.TrimPrefix(name, "!")) })
	}
	if words[0] == "/bin/sh" || words[0] == "/bin/bash" {
		words[0] = path.Base(words[0])
	}
	return words, nil
}
