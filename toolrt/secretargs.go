package toolrt

import (
	"bytes"
	"encoding/json"
	"slices"
)

// SecretProperties names the top-level properties of an arguments' schema that are marked as secret:
// by "format": "password", "writeOnly" beside it or not, or by "x-secret": true (R70).
func SecretProperties(schema json.RawMessage) []string {
	if !bytes.Contains(schema, []byte("password")) && !bytes.Contains(schema, []byte("x-secret")) {
		return nil // nearly every schema
	}
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	var names []string
	for name, raw := range s.Properties {
		var p struct {
			Format string `json:"format"`
			Secret bool   `json:"x-secret"`
		}
		if json.Unmarshal(raw, &p) == nil && (p.Format == "password" || p.Secret) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Secrets names the arguments that are never shown or stored in clear: those that the tool names and
// those that its schema marks.
func (s Spec) Secrets() []string {
	marked := SecretProperties(s.Parameters)
	if len(marked) == 0 {
		return s.SecretArgs
	}
	return slices.Compact(slices.Sorted(slices.Values(append(marked, s.SecretArgs...))))
}
