package offline

import (
	"regexp"
	"strings"
)

// rule is one kind of request.
type rule struct {
	// example is shown by the help, if one of the tools is offered.
	example string
	// tools are the model-visible names of tools that can do it, best first. Empty: no tool is
	// needed and say answers.
	tools []string
	// patterns are matched against a whole step, ignoring case. {name} stands for one word or a
	// quoted text, {name…} for anything; the values are looked up in args.
	patterns []string
	// args are the names that tools give to a value, best first, by the value's name.
	args map[string][]string
	// fixed are values that are always passed, by the parameter's name.
	fixed map[string]string
	// named marks requests that name the tool themselves, in the value "tool". Only agents count
	// with onlyAgents.
	named, onlyAgents bool
	// say answers without a tool.
	say func(s speech) string
}

// speech is what an answer without a tool can tell about.
type speech struct {
	table  []rule
	kit    toolkit
	values map[string]string
}

// holes are the placeholders of patterns.
var holes = regexp.MustCompile(`\{(\w+)(…?)\}`)

const (
	folder = "`[^`]+`|\"[^\"]+\"|[^-\\s]\\S*"
	word   = "`[^`]+`|\"[^\"]+\"|“[^”]+”|'[^']+'|\\S+"
	here   = `here|in here|in this folder|in the current (?:folder|directory)|in this directory`
	number = `[0-9]{1,6}`
)

// compile turns a pattern into an expression for a whole step.
func compile(pattern string) *regexp.Regexp {
	expression := holes.ReplaceAllStringFunc(pattern, func(hole string) string {
		m := holes.FindStringSubmatch(hole)
		switch {
		case m[2] != "":
			return `(?P<` + m[1] + `>.+)`
		case m[1] == "here":
			return `(?:` + here + `)`
		case m[1] == "count":
			return `(?P<count>` + number + `)`
		case m[1] == "dir":
			return `(?P<dir>` + folder + `)`
		}
		return `(?P<` + m[1] + `>` + word + `)`
	})
	return regexp.MustCompile(`(?is)^(?:please |can you |could you |now |also )*(?:` + expression + `)(?: for me| please| now)?[.!?]*$`)
}

// values returns the values of a step that the expression matches, by name and unquoted.
func values(e *regexp.Regexp, step string) (map[string]string, bool) {
	m := e.FindStringSubmatch(step)
	if m == nil {
		return nil, false
	}
	out := map[string]string{}
	for i, name := range e.SubexpNames() {
		if name != "" && m[i] != "" {
			out[name] = unquote(m[i])
		}
	}
	return out, true
}

// ending is the punctuation of a sentence behind a word: it is no part of a name or a command.
var ending = regexp.MustCompile(`([\pL\pN"'”\x60])[.?!,]+$`)

// unquote takes quotes off a value, and the punctuation behind it.
func unquote(text string) string {
	text = ending.ReplaceAllString(strings.TrimSpace(text), "$1")
	for _, quotes := range [][2]string{{"`", "`"}, {`"`, `"`}, {"'", "'"}, {"“", "”"}} {
		inner, opened := strings.CutPrefix(text, quotes[0])
		inner, closed := strings.CutSuffix(inner, quotes[1])
		if opened && closed {
			return inner
		}
	}
	return text
}
