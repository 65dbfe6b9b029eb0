package offline

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"parley/agent/model"
)

// toolkit is the offered tools by lower-case name.
type toolkit map[string]offered

// offered is one tool with the names of its parameters.
type offered struct {
	name       string
	parameters []string // sorted
}

func newToolkit(tools []model.Tool) toolkit {
	kit := toolkit{}
	for _, t := range tools {
		var schema struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		_ = json.Unmarshal(t.Parameters, &schema) // a schema that cannot be read names no parameters
		kit[strings.ToLower(t.Name)] = offered{
			name: t.Name, parameters: slices.Sorted(maps.Keys(schema.Properties)),
		}
	}
	return kit
}

// first returns the first of the named tools that was offered.
func (k toolkit) first(names []string) (offered, bool) {
	for _, name := range names {
		if t, ok := k[strings.ToLower(name)]; ok {
			return t, true
		}
	}
	return offered{}, false
}

// agents returns the offered tools that take a prompt, in order of their names.
func (k toolkit) agents() []offered {
	var out []offered
	for _, name := range slices.Sorted(maps.Keys(k)) {
		if k[name].parameter(promptParameter) == promptParameter {
			out = append(out, k[name])
		}
	}
	return out
}

// promptParameter is the parameter of tools that are agents (4.3).
const promptParameter = "defaultPromptParameter"

// parameter returns the first of the candidates that the tool has, "" if it has none.
func (t offered) parameter(candidates ...string) string {
	for _, c := range candidates {
		if slices.Contains(t.parameters, c) {
			return c
		}
	}
	return ""
}

// call returns the call of the tool with these values. Each value has the names that tools give to
// such a parameter; where the tool has none of them the first is used.
func (t offered) call(values []value) model.Function {
	arguments := map[string]string{}
	for _, v := range values {
		name := t.parameter(v.names...)
		if name == "" {
			name = v.names[0]
		}
		arguments[name] = v.text
	}
	data, _ := json.Marshal(arguments) // a map of strings always encodes
	return model.Function{Name: t.name, Arguments: string(data)}
}

// value is an argument under the names it may have.
type value struct {
	names []string
	text  string
}
