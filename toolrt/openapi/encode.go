package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"parley/toolrt/command"
)

// input are the decoded arguments of a call; numbers are as they are written.
type input map[string]any

func parseInput(text string) (input, error) {
	if strings.TrimSpace(text) == "" {
		return input{}, nil
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var in input
	if err := dec.Decode(&in); err != nil {
		return nil, fmt.Errorf("read the arguments: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("read the arguments: there is more after the object")
	}
	return in, nil
}

// value is an argument that is given: null is not.
func (in input) value(name string) (any, bool) {
	v, ok := in[name]
	return v, ok && v != nil
}

// exploded reports whether a parameter's parts are written one by one.
func (p Parameter) exploded(byDefault bool) bool {
	if p.Explode == nil {
		return byDefault
	}
	return *p.Explode
}

// pairs are the keys and values of an object, by key.
func pairs(object map[string]any) [][2]string {
	var out [][2]string
	for _, key := range slices.Sorted(maps.Keys(object)) {
		out = append(out, [2]string{key, command.ValueText(object[key])})
	}
	return out
}

func texts(list []any) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = command.ValueText(v)
	}
	return out
}

// flat is a value as one text: parts joined by sep, the keys of an object before their values, with
// equals between them where it is not "".
func flat(value any, sep, equals string, escape func(string) string) string {
	switch v := value.(type) {
	case []any:
		parts := texts(v)
		for i := range parts {
			parts[i] = escape(parts[i])
		}
		return strings.Join(parts, sep)
	case map[string]any:
		var parts []string
		for _, kv := range pairs(v) {
			if equals != "" {
				parts = append(parts, escape(kv[0])+equals+escape(kv[1]))
			} else {
				parts = append(parts, escape(kv[0]), escape(kv[1]))
			}
		}
		return strings.Join(parts, sep)
	}
	return escape(command.ValueText(value))
}

func plain(text string) string { return text }

// jsonText is a value as JSON.
func jsonText(value any) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if enc.Encode(value) != nil { // cannot happen for decoded JSON
		return ""
	}
	return strings.TrimSuffix(buf.String(), "\n")
}

// segment escapes a value for the path. A value that is all dots would name another folder.
func segment(text string) string {
	if text == "." || text == ".." {
		return strings.ReplaceAll(text, ".", "%2E")
	}
	return url.PathEscape(text)
}

// path is the path with its parameters replaced (8.1).
func (r Request) path(in input) (string, error) {
	path := r.Path
	for _, p := range r.PathParameters {
		value, ok := in.value(p.Name)
		if !ok {
			return "", fmt.Errorf("the argument %s, which is part of the path %s, is missing", p.Name, r.Path)
		}
		text := p.pathText(value)
		if text == "" && p.Style != "matrix" && p.Style != "label" {
			return "", fmt.Errorf("the argument %s, which is part of the path %s, is empty", p.Name, r.Path)
		}
		path = strings.ReplaceAll(path, "{"+p.Name+"}", text)
	}
	return path, nil
}

func (p Parameter) pathText(value any) string {
	if p.JSON {
		return segment(jsonText(value))
	}
	object, isObject := value.(map[string]any)
	list, isList := value.([]any)
	explode, equals := p.exploded(false), ""
	if explode {
		equals = "="
	}
	switch p.Style {
	case "label":
		if explode {
			return "." + flat(value, ".", "=", segment)
		}
		return "." + flat(value, ",", "", segment)
	case "matrix":
		name := ";" + segment(p.Name) + "="
		switch {
		case explode && isList:
			var b strings.Builder
			for _, item := range texts(list) {
				b.WriteString(name + segment(item))
			}
			return b.String()
		case explode && isObject:
			return ";" + flat(object, ";", "=", segment)
		}
		return name + flat(value, ",", "", segment)
	}
	return flat(value, ",", equals, segment)
}

// query adds the query parameters (8.1).
func (r Request) query(in input, q url.Values) {
	for _, p := range r.QueryParameters {
		if value, ok := in.value(p.Name); ok {
			p.addQuery(q, value)
		}
	}
}

func (p Parameter) addQuery(q url.Values, value any) {
	if p.JSON {
		q.Add(p.Name, jsonText(value))
		return
	}
	sep, known := map[string]string{"": ",", "form": ",", "spaceDelimited": " ", "pipeDelimited": "|"}[p.Style]
	switch v := value.(type) {
	case []any:
		if p.Style != "deepObject" && known && !p.exploded(true) {
			q.Add(p.Name, strings.Join(texts(v), sep))
			return
		}
		for _, item := range texts(v) {
			q.Add(p.Name, item)
		}
	case map[string]any:
		switch {
		case p.Style == "deepObject":
			deep(q, p.Name, v)
		case p.exploded(true):
			for _, kv := range pairs(v) {
				q.Add(kv[0], kv[1])
			}
		default:
			q.Add(p.Name, flat(v, sep, "", plain))
		}
	default:
		q.Add(p.Name, command.ValueText(value))
	}
}

// deep adds the properties of an object as name[key]=value.
func deep(q url.Values, name string, object map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		at := name + "[" + key + "]"
		switch v := object[key].(type) {
		case map[string]any:
			deep(q, at, v)
		case []any:
			for _, item := range texts(v) {
				q.Add(at, item)
			}
		default:
			q.Add(at, command.ValueText(v))
		}
	}
}

// headers sets the header and cookie parameters: parts are joined by commas (8.1).
func (r Request) headers(in input, req *http.Request) error {
	for _, p := range r.HeaderParameters {
		value, ok := in.value(p.Name)
		if !ok {
			continue
		}
		equals := ""
		if p.exploded(false) {
			equals = "="
		}
		text := flat(value, ",", equals, plain)
		if p.JSON {
			text = jsonText(value)
		}
		if strings.ContainsAny(text, "\r\n\x00") {
			return fmt.Errorf("the argument %s has several lines, which no header can hold", p.Name)
		}
		req.Header.Set(p.Name, text)
	}
	for _, p := range r.CookieParameters {
		if value, ok := in.value(p.Name); ok {
			req.AddCookie(&http.Cookie{Name: p.Name, Value: flat(value, ",", "", plain)})
		}
	}
	return nil
}
