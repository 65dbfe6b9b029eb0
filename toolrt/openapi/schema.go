package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

const (
	// inlineNodes is how many schemas of one operation are written in place before references to
	// shared ones are kept as references.
	inlineNodes = 400
	// maxNodes bounds the schemas of one operation; what is over it is left open.
	maxNodes = 5000
	// maxNesting bounds how deep schemas are nested in place.
	maxNesting = 50
)

// dropped are keywords that say nothing about values to a model or a validator.
var dropped = []string{"xml", "externalDocs", "discriminator", "example", "nullable", "readOnly", "writeOnly", "allowEmptyValue",
	"$schema", "$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$comment", "exclusiveMinimum", "exclusiveMaximum"}

// arguments collects the arguments of an operation and their schema.
type arguments struct {
	properties map[string]any
	required   []string
	c          converter
}

func newArguments() *arguments {
	return &arguments{properties: map[string]any{}, c: converter{names: map[*openapi3.Schema]string{}, defs: map[string]any{}}}
}

// parameter adds a parameter as a property. The first of a name counts.
func (a *arguments) parameter(p *openapi3.Parameter) {
	if _, ok := a.properties[p.Name]; ok {
		return
	}
	ref := p.Schema
	if ref == nil {
		if c := findContent(p.Content, mimeJSON); c != nil {
			ref = c.Schema
		}
	}
	a.properties[p.Name] = described(a.c.convert(ref, nil), p.Description)
	if p.Required || p.In == "path" {
		a.required = append(a.required, p.Name)
	}
}

// body adds the body of the request. Properties that are read-only cannot be sent.
func (a *arguments) body(ref *openapi3.SchemaRef, body *openapi3.RequestBody) {
	a.c.body = true
	a.properties[bodyArgument] = described(a.c.convert(ref, nil), body.Description)
	if body.Required {
		a.required = append(a.required, bodyArgument)
	}
}

// described gives a schema a description if it has none.
func described(schema any, text string) any {
	m, ok := schema.(map[string]any)
	if !ok || text == "" {
		return schema
	}
	if _, has := m["description"]; !has {
		m["description"] = text
	}
	return m
}

// schema is the JSON Schema of the arguments, nil if there are none.
func (a *arguments) schema() (json.RawMessage, error) {
	if len(a.properties) == 0 {
		return nil, nil
	}
	a.c.finish()
	root := map[string]any{"type": "object", "properties": a.properties}
	if len(a.required) > 0 {
		slices.Sort(a.required)
		root["required"] = slices.Compact(a.required)
	}
	if len(a.c.defs) > 0 {
		root["$defs"] = a.c.defs
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(root); err != nil {
		return nil, err
	}
	return json.RawMessage(bytes.TrimSuffix(buf.Bytes(), []byte("\n"))), nil
}

// converter turns schemas of OpenAPI into JSON Schema. Schemas that contain themselves, and shared
// ones once there is much, become references to $defs.
type converter struct {
	body  bool // read-only properties are left out
	nodes int
	names map[*openapi3.Schema]string // those in defs
	defs  map[string]any
	queue []*openapi3.SchemaRef // in defs, to be converted
}

// convert returns the JSON Schema of ref; above are the schemas that it is nested in.
func (c *converter) convert(ref *openapi3.SchemaRef, above []*openapi3.Schema) any {
	if ref == nil || ref.Value == nil {
		return map[string]any{}
	}
	inside := slices.Contains(above, ref.Value) || len(above) >= maxNesting
	if name, known := c.names[ref.Value]; known || inside || ref.Ref != "" && c.nodes > inlineNodes {
		if !known {
			name = c.define(ref)
		}
		return map[string]any{"$ref": "#/$defs/" + name}
	}
	return c.inline(ref.Value, above)
}

// define puts a schema into defs and returns its name there.
func (c *converter) define(ref *openapi3.SchemaRef) string {
	base := noName.ReplaceAllString(ref.Ref[strings.LastIndex(ref.Ref, "/")+1:], "")
	if base == "" {
		base = "schema"
	}
	name := base
	for n := 2; ; n++ {
		if _, taken := c.defs[name]; !taken {
			break
		}
		name = fmt.Sprintf("%s%d", base, n)
	}
	c.names[ref.Value], c.defs[name] = name, map[string]any{}
	c.queue = append(c.queue, ref)
	return name
}

// finish converts what is in defs.
func (c *converter) finish() {
	for len(c.queue) > 0 {
		ref := c.queue[0]
		c.queue = c.queue[1:]
		c.defs[c.names[ref.Value]] = c.inline(ref.Value, nil)
	}
}

func (c *converter) inline(s *openapi3.Schema, above []*openapi3.Schema) any {
	c.nodes++
	if c.nodes > maxNodes {
		return map[string]any{}
	}
	if s.Always != nil {
		return *s.Always
	}
	fields, err := s.MarshalYAML()
	m, ok := fields.(map[string]any)
	if err != nil || !ok {
		return map[string]any{}
	}
	above = append(slices.Clip(above), s)
	out := map[string]any{}
	for key, value := range m {
		if strings.HasPrefix(key, "x-") || slices.Contains(dropped, key) {
			continue
		}
		out[key] = c.value(value, above)
	}
	c.bounds(s, out)
	if s.Nullable {
		allowNull(s, out)
	}
	return out
}

// value converts what a keyword holds.
func (c *converter) value(value any, above []*openapi3.Schema) any {
	switch v := value.(type) {
	case *openapi3.SchemaRef:
		return c.convert(v, above)
	case openapi3.SchemaRefs:
		out := make([]any, 0, len(v))
		for _, ref := range v {
			out = append(out, c.convert(ref, above))
		}
		return out
	case openapi3.Schemas:
		out := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			ref := v[name]
			if c.body && ref != nil && ref.Value != nil && ref.Value.ReadOnly {
				continue
			}
			out[name] = c.convert(ref, above)
		}
		return out
	case *openapi3.AdditionalProperties:
		return c.either(v.Has, v.Schema, above)
	}
	return value
}

func (c *converter) either(has *bool, ref *openapi3.SchemaRef, above []*openapi3.Schema) any {
	if ref != nil || has == nil {
		return c.convert(ref, above)
	}
	return *has
}

// bounds writes what version 3.0 says otherwise than JSON Schema: limits that are not included, and
// required properties that cannot be sent.
func (c *converter) bounds(s *openapi3.Schema, out map[string]any) {
	limit := func(b openapi3.ExclusiveBound, included *float64, exclusive, inclusive string) {
		switch {
		case b.Value != nil:
			out[exclusive] = *b.Value
		case b.Bool != nil && *b.Bool && included != nil:
			out[exclusive] = *included
			delete(out, inclusive)
		}
	}
	limit(s.ExclusiveMin, s.Min, "exclusiveMinimum", "minimum")
	limit(s.ExclusiveMax, s.Max, "exclusiveMaximum", "maximum")
	if !c.body || len(s.Required) == 0 {
		return
	}
	required := slices.DeleteFunc(slices.Clone(s.Required), func(name string) bool {
		p := s.Properties[name]
		return p != nil && p.Value != nil && p.Value.ReadOnly
	})
	if out["required"] = required; len(required) == 0 {
		delete(out, "required")
	}
}

// allowNull is "nullable" in the words of JSON Schema.
func allowNull(s *openapi3.Schema, out map[string]any) {
	if types := s.Type.Slice(); len(types) > 0 && !slices.Contains(types, "null") {
		out["type"] = append(slices.Clone(types), "null")
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, nil) {
		out["enum"] = append(slices.Clone(s.Enum), nil)
	}
}
