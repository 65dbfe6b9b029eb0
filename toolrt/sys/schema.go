package sys

import (
	"encoding/json"
	"slices"
	"strconv"
)

// property is one argument in a schema.
type property struct {
	Description string `json:"description"`
	Type        string `json:"type"`
	Minimum     *int   `json:"minimum,omitempty"`
	Maximum     *int   `json:"maximum,omitempty"`
}

// schema returns the JSON Schema of the arguments: texts for GPTScript's tools (1.7), real types,
// without further keys, for our own.
func (b *builtin) schema() json.RawMessage {
	properties := make(map[string]property, len(b.params))
	schema := map[string]any{"type": "object", "properties": properties}
	var required []string
	for _, p := range b.params {
		t := b.types[p.name]
		kind := t.kind
		if kind == "" {
			kind = "string"
		}
		described := property{Description: p.description, Type: kind}
		if t.max != 0 {
			described.Minimum, described.Maximum = &t.min, &t.max
		}
		properties[p.name] = described
		if t.required {
			required = append(required, p.name)
		}
	}
	if b.types != nil {
		schema["additionalProperties"] = false
	}
	if required != nil {
		slices.Sort(required)
		schema["required"] = required
	}
	text, err := json.Marshal(schema)
	if err != nil { // strings and maps always encode
		panic(err)
	}
	return text
}

// number returns an integer argument, or another number when it was not given.
func (a args) number(name string, other int) int {
	n, err := strconv.ParseFloat(a[name], 64) // 5.0 is an integer too
	if err != nil {
		return other
	}
	return int(n)
}

// flag returns a boolean argument.
func (a args) flag(name string) bool { return a[name] == "true" }
