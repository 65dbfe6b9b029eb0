package toolrt

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// describe turns a validation error into one line per problem: path, what was expected, and what
// came (R12). It fails when the schema refers to itself without end, which is not the model's
// fault.
func describe(failed *jsonschema.ValidationError, value, schema any) ([]string, error) {
	d := &describer{value: value, schema: schema, printer: message.NewPrinter(language.English)}
	d.walk(failed)
	if d.cycle {
		return nil, errors.New("the schema refers to itself without end")
	}
	return d.lines, nil
}

type describer struct {
	value, schema any
	printer       *message.Printer
	lines         []string
	cycle         bool
}

func (d *describer) walk(e *jsonschema.ValidationError) {
	switch k := e.ErrorKind.(type) {
	case *kind.RefCycle:
		d.cycle = true
	case *kind.AnyOf, *kind.OneOf:
		d.alternatives(e)
	case *kind.Required:
		for _, name := range k.Missing {
			d.add(e, fmt.Sprintf("missing property %q", clip(name)))
		}
	case *kind.AdditionalProperties:
		slices.Sort(k.Properties) // the library's order is that of a map
		for _, name := range k.Properties {
			d.add(e, fmt.Sprintf("property %q is not allowed%s", clip(name), d.allowed(e)))
		}
	case *kind.Type:
		got := d.at(e.InstanceLocation)
		d.add(e, fmt.Sprintf("expected %s, got %s%s", strings.Join(k.Want, " or "), shown(got), hint(k.Want, got)))
	case *kind.Enum:
		var want []string
		for _, w := range k.Want {
			want = append(want, clip(encode(w)))
		}
		d.add(e, fmt.Sprintf("expected one of %s, got %s", cutText(strings.Join(want, ", "), 300), shown(k.Got)))
	default:
		if len(e.Causes) == 0 {
			d.add(e, fmt.Sprintf("%s, got %s", e.ErrorKind.LocalizedString(d.printer), shown(d.at(e.InstanceLocation))))
			return
		}
		for _, cause := range e.Causes {
			d.walk(cause)
		}
	}
}

// alternatives folds the branches of anyOf and oneOf into one line.
func (d *describer) alternatives(e *jsonschema.ValidationError) {
	var branches []string
	for _, cause := range e.Causes {
		inner := &describer{value: d.value, schema: d.schema, printer: d.printer}
		inner.walk(cause)
		d.cycle = d.cycle || inner.cycle
		branches = append(branches, "("+strings.Join(inner.lines, "; ")+")")
	}
	if len(branches) == 0 { // oneOf that more than one branch fits
		d.add(e, e.ErrorKind.LocalizedString(d.printer))
		return
	}
	d.add(e, "must match one of: "+cutText(strings.Join(branches, " or "), 400))
}

func (d *describer) add(e *jsonschema.ValidationError, text string) {
	var path strings.Builder
	for _, token := range e.InstanceLocation {
		path.WriteString("/" + clip(token))
	}
	if path.Len() == 0 {
		path.WriteString("(root)")
	}
	d.lines = append(d.lines, cutText(path.String(), 200)+": "+text)
}

// at returns the value at that place of the arguments.
func (d *describer) at(location []string) any {
	v := d.value
	for _, token := range location {
		switch c := v.(type) {
		case map[string]any:
			v = c[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(c) {
				return nil
			}
			v = c[i]
		}
	}
	return v
}

// allowed lists the properties that the schema at the error's place knows.
func (d *describer) allowed(e *jsonschema.ValidationError) string {
	_, pointer, _ := strings.Cut(e.SchemaURL, "#")
	node := d.schema
	for _, token := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		if token == "" {
			continue
		}
		object, _ := node.(map[string]any)
		node = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(token)]
	}
	object, _ := node.(map[string]any)
	properties, _ := object["properties"].(map[string]any)
	var names []string
	for name := range properties {
		names = append(names, clip(name))
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	const most = 20
	if len(names) > most {
		names = append(names[:most], "…")
	}
	return "; allowed: " + strings.Join(names, ", ")
}

// hint shows the right form of a value that only has the wrong quotes. Nothing is converted (R12).
func hint(want []string, got any) string {
	text, isText := got.(string)
	switch {
	case isText && (slices.Contains(want, "integer") || slices.Contains(want, "number") || slices.Contains(want, "boolean")):
		var v any
		if json.Unmarshal([]byte(text), &v) != nil {
			return ""
		}
		switch v.(type) {
		case float64, bool:
			return fmt.Sprintf("; write %s without quotes", clip(text))
		}
	case isText && (slices.Contains(want, "object") || slices.Contains(want, "array")) && json.Valid([]byte(text)):
		return "; write the value itself, not a string that holds it"
	case slices.Contains(want, "string"):
		switch got.(type) {
		case json.Number, bool:
			return fmt.Sprintf("; write %q with quotes", clip(encode(got)))
		}
	}
	return ""
}

// shown is a value's type and its text, shortened to 80 characters.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean " + encode(v)
	case json.Number:
		return "number " + clip(v.String())
	case string:
		return "string " + clip(encode(v))
	case []any:
		return "array " + clip(encode(v))
	}
	return "object " + clip(encode(v))
}
