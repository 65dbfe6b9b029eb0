package offline

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"parley/agent/model"
)

// step is one part of a request: a call to make, or a text to say if the call has no name.
type step struct {
	call model.Function
	text string
}

// maxParts bounds the parts that a request is taken apart into. Longer ones are taken as a whole.
const maxParts = 24

// understand takes a request apart into steps. Nothing is done of a request that is not understood
// as a whole.
func understand(request string, kit toolkit) ([]step, bool) {
	parts := split(request)
	if len(parts) > maxParts {
		parts = []part{{start: 0, end: len(request)}}
	}
	dead := make([]bool, len(parts)+1) // places from which the rest cannot be understood
	var from func(i int) ([]step, bool)
	from = func(i int) ([]step, bool) {
		if i == len(parts) {
			return nil, true
		}
		if dead[i] {
			return nil, false
		}
		// The shortest text that makes sense, if the rest does too: "write a and b to f" needs two
		// parts, "read a and read b" one and one.
		for end := i; end < len(parts); end++ {
			s, ok := takeStep(request[parts[i].start:parts[end].end], kit)
			if !ok {
				continue
			}
			if rest, ok := from(end + 1); ok {
				return append([]step{s}, rest...), true
			}
		}
		dead[i] = true
		return nil, false
	}
	return from(0)
}

// part is a piece of a request between separators.
type part struct{ start, end int }

var (
	separator = regexp.MustCompile(`(?i)\s*(?:[;\n]|,?\s+and then\s|,?\s+then\s|,?\s+and\s|,\s|\.\s)\s*`)
	quoted    = regexp.MustCompile("`[^`]*`|\"[^\"]*\"|“[^”]*”")
)

// split finds the places where a request may have several steps: never inside quotes.
func split(request string) []part {
	masked := quoted.ReplaceAllStringFunc(request, func(q string) string { return strings.Repeat("x", len(q)) })
	var parts []part
	start := 0
	add := func(end int) {
		if strings.TrimSpace(request[start:end]) != "" {
			parts = append(parts, part{start, end})
		}
	}
	for _, at := range separator.FindAllStringIndex(masked, -1) {
		add(at[0])
		start = at[1]
	}
	add(len(request))
	return parts
}

// compiled are the expressions of the rules, made at first use: a program that never asks this
// model does not pay for them.
var compiled = sync.OnceValue(func() [][]*regexp.Regexp {
	out := make([][]*regexp.Regexp, len(ruleTable))
	for i, r := range ruleTable {
		for _, p := range r.patterns {
			out[i] = append(out[i], compile(p))
		}
	}
	return out
})

// takeStep finds the rule for a step. A rule whose tool is not offered answers that it is missing,
// unless a later rule can do the step.
func takeStep(text string, kit toolkit) (step, bool) {
	text = strings.TrimSpace(text)
	var missing *step
	for i, r := range ruleTable {
		for _, e := range compiled()[i] {
			v, ok := values(e, text)
			if !ok {
				continue
			}
			s, ok := r.step(kit, v)
			if ok {
				return s, true
			}
			if missing == nil && s.text != "" {
				missing = &s
			}
		}
	}
	if missing != nil {
		return *missing, true
	}
	return step{}, false
}

// step returns what the rule does with these values. Without the tool it returns false, and a text
// that says so if the request names none itself.
func (r rule) step(kit toolkit, v map[string]string) (step, bool) {
	switch {
	case r.say != nil:
		return step{text: r.say(speech{ruleTable, kit, v})}, true
	case r.named:
		return r.namedStep(kit, v)
	}
	tool, ok := kit.first(r.tools)
	if !ok {
		return step{text: noTool(r)}, false
	}
	return step{call: tool.call(r.arguments(v))}, true
}

// namedStep calls the tool that the request names.
func (r rule) namedStep(kit toolkit, v map[string]string) (step, bool) {
	tool, ok := kit[strings.ToLower(v["tool"])]
	if !ok || r.onlyAgents && tool.parameter(promptParameter) == "" {
		return step{}, false
	}
	if r.onlyAgents {
		return step{call: tool.call(r.arguments(v))}, true
	}
	return step{call: direct(tool, v["arguments"])}, true
}

// arguments returns the fixed values and those of the request over them.
func (r rule) arguments(v map[string]string) []value {
	var out []value
	for name, text := range r.fixed {
		out = append(out, value{[]string{name}, text})
	}
	for name, candidates := range r.args {
		if text := v[name]; text != "" && !isHere(name, text) {
			out = append(out, value{candidates, text})
		}
	}
	return out
}

var hereWords = regexp.MustCompile(`(?i)^(?:` + here + `|this folder|this directory)$`)

// isHere reports a folder that is the current one, which tools take for granted.
func isHere(name, text string) bool { return name == "dir" && hereWords.MatchString(text) }

var pair = regexp.MustCompile("(\\w+)=(`[^`]*`|\"[^\"]*\"|\\S+)")

// direct returns a call with arguments as the person wrote them: a JSON object, name=value pairs,
// or one text for the first parameter.
func direct(tool offered, arguments string) model.Function {
	if strings.HasPrefix(arguments, "{") && json.Valid([]byte(arguments)) {
		return model.Function{Name: tool.name, Arguments: arguments}
	}
	var out []value
	pairs := pair.FindAllStringSubmatch(arguments, -1)
	for _, p := range pairs {
		out = append(out, value{[]string{p[1]}, unquote(p[2])})
	}
	if len(pairs) == 0 && arguments != "" {
		name := promptParameter
		if len(tool.parameters) > 0 {
			name = tool.parameters[0]
		}
		out = append(out, value{[]string{name}, arguments})
	}
	return tool.call(out)
}

func noTool(r rule) string {
	return fmt.Sprintf("I understand that, but I was given no tool for it: it needs `%s`.",
		strings.Join(r.tools, "` or `"))
}
