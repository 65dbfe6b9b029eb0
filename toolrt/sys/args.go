package sys

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// decode reads the arguments of a call. Empty text is an object without keys.
func (b *builtin) decode(arguments string) (args, error) {
	fields, err := object(arguments)
	if err != nil {
		return nil, err
	}
	a := args{}
	for _, p := range b.params {
		raw, ok := field(fields, p.name)
		if !ok {
			continue
		}
		if a[p.name], err = scalar(raw); err != nil {
			return nil, fmt.Errorf("%w into argument %s of type string", err, p.name)
		}
	}
	return a, nil
}

// object decodes a JSON object; empty text and null are the empty one.
func object(arguments string) (map[string]json.RawMessage, error) {
	if len(bytes.TrimSpace([]byte(arguments))) == 0 {
		return nil, nil
	}
	var fields map[string]json.RawMessage
	err := json.Unmarshal([]byte(arguments), &fields)
	return fields, err
}

// field finds a key, the exact spelling first, as package encoding/json does for structs. Of
// several other spellings the last in byte order counts, so that the choice is always the same.
func field(fields map[string]json.RawMessage, name string) (json.RawMessage, bool) {
	if raw, ok := fields[name]; ok {
		return raw, true
	}
	best := ""
	for key := range fields {
		if strings.EqualFold(key, name) && key > best {
			best = key
		}
	}
	raw, ok := fields[best]
	return raw, ok && best != ""
}

// scalar returns a string as it is, and a number or boolean as its text. Null is "".
func scalar(raw json.RawMessage) (string, error) {
	raw = bytes.TrimSpace(raw)
	switch raw[0] {
	case '"':
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err
	case '{':
		return "", fmt.Errorf("json: cannot unmarshal object")
	case '[':
		return "", fmt.Errorf("json: cannot unmarshal array")
	case 'n':
		return "", nil
	}
	return string(raw), nil
}

// or returns the argument, or another text when it is empty.
func (a args) or(name, other string) string {
	if a[name] == "" {
		return other
	}
	return a[name]
}
