package program

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/shlex"
)

// MapArgs computes the input of a context, filter or #!sys.call target from the argument string of
// its reference and the caller's input (5.9). "" is no input; an input that is no JSON object has
// no values to look up. Values keep the form they have in the input's JSON. Keys of the result are
// sorted.
func MapArgs(target *Tool, arg, input string) (string, error) {
	arg = strings.TrimSpace(arg)
	switch {
	case arg == "":
		return "", nil
	case arg == "*":
		return input, nil
	case len(target.Arguments) == 0 || string(target.Arguments) == "null":
		return "", nil
	}
	args, err := parseArgs(arg)
	if err != nil {
		return "", fmt.Errorf("can not assign arg to context because target tool [%s] has %w", target.ID, err)
	}
	keys := parameterNames(target)
	values := objectKeys(input)
	out := map[string]json.RawMessage{}
	for _, a := range args {
		key, err := a.parameter(keys)
		if err != nil {
			return "", fmt.Errorf("can not assign arg to context because target tool [%s] %w", target.ID, err)
		}
		out[key] = a.resolve(values)
	}
	if len(out) == 0 {
		return "", nil
	}
	return string(marshal(out)), nil
}

// argument is one "VALUE [as PARAM]".
type argument struct {
	value string
	param string // lower-case, "" without "as"
}

var errDanglingAs = errors.New(`nothing after "as"`)

// parseArgs splits an argument string with the quoting rules of a shell (5.9, step 3).
func parseArgs(arg string) ([]argument, error) {
	words, err := shlex.Split(arg)
	if err != nil {
		return nil, fmt.Errorf("invalid args %q: %w", arg, err)
	}
	if len(words) > 0 && words[len(words)-1] == "as" {
		return nil, fmt.Errorf("invalid args %q: %w", arg, errDanglingAs)
	}
	var args []argument
	for i := 0; i < len(words); i++ {
		switch words[i] {
		case "and":
			continue
		case "as":
			i++ // names a value that is not there
			continue
		}
		a := argument{value: words[i]}
		if i+2 < len(words) && words[i+1] == "as" {
			a.param = strings.ToLower(words[i+2])
		}
		args = append(args, a)
	}
	return args, nil
}

// parameter returns the target's spelling of the parameter that the argument is for.
func (a argument) parameter(keys []string) (string, error) {
	if len(keys) == 0 {
		return "", errors.New("has no defined args")
	}
	if a.param == "" {
		if len(keys) != 1 {
			return "", fmt.Errorf(`does not have one args. You must use "as" syntax to map the arg to a key %v`, keys)
		}
		return keys[0], nil
	}
	for _, k := range keys {
		if strings.ToLower(k) == a.param {
			return k, nil
		}
	}
	return "", fmt.Errorf("does not args [%s]", a.param)
}

// resolve returns the argument's value as JSON: a name after "$" is looked up, null if missing.
func (a argument) resolve(values map[string]json.RawMessage) json.RawMessage {
	name, ok := strings.CutPrefix(a.value, "$")
	if !ok {
		return marshal(a.value)
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "{"), "}")
	if v, ok := values[name]; ok {
		return v
	}
	for _, k := range slices.Sorted(maps.Keys(values)) {
		if strings.EqualFold(k, name) {
			return values[k]
		}
	}
	return json.RawMessage("null")
}

// parameterNames lists the names of a tool's parameters, sorted.
func parameterNames(t *Tool) []string {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(t.Arguments, &schema) != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(schema.Properties))
}

// objectKeys returns the members of a JSON object, nil for any other text.
func objectKeys(text string) map[string]json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &object) != nil {
		return nil
	}
	return object
}
