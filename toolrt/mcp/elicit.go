package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/toolrt"
)

// maxAsks is how often a form is shown again because an answer has not the type it must have.
const maxAsks = 3

// elicit puts a question of the server to the person, in the name of the call that runs there; of
// several, the one that began last.
func (c *conn) elicit(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	c.mu.Lock()
	var r *running
	if len(c.calls) > 0 {
		r = c.calls[len(c.calls)-1]
	}
	c.mu.Unlock()
	if r == nil || r.call.Ask == nil {
		return &mcp.ElicitResult{Action: "cancel"}, nil
	}
	f := newForm(req.Params)
	for range maxAsks {
		answers, err := r.call.Ask(ctx, f.question)
		switch {
		case errors.Is(err, toolrt.ErrDeclined):
			return &mcp.ElicitResult{Action: "decline"}, nil
		case err != nil:
			c.mu.Lock()
			r.unanswered = &asked{err}
			c.mu.Unlock()
			return &mcp.ElicitResult{Action: "cancel"}, nil
		}
		content, wrong := f.content(answers)
		if wrong == "" {
			return &mcp.ElicitResult{Action: "accept", Content: content}, nil
		}
		f.question.Message = f.message + "\n" + wrong
	}
	return &mcp.ElicitResult{Action: "cancel"}, nil
}

// form is what a server asks for.
type form struct {
	message  string
	question toolrt.Question
	fields   map[string]map[string]any // schema of each
	required []string
	names    map[string]map[string]any // of each field: what is shown → the value
	url      bool
}

const opened = "opened"

func newForm(p *mcp.ElicitParams) *form {
	f := &form{message: clean(p.Message, maxDescription), fields: map[string]map[string]any{}, names: map[string]map[string]any{}}
	if p.Mode == "url" || p.URL != "" {
		f.url = true
		f.message += "\nOpen " + clean(p.URL, maxDescription)
		f.question = toolrt.Question{Message: f.message, Fields: []toolrt.Field{{Name: opened, Description: "whether you have opened it", Options: []string{"yes", "no"}}}}
		return f
	}
	schema, _ := p.RequestedSchema.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range list(schema["required"]) {
		f.required = append(f.required, fmt.Sprint(name))
	}
	f.question.Message = f.message
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		s, _ := properties[name].(map[string]any)
		f.fields[name] = s
		f.question.Fields = append(f.question.Fields, f.field(name, s))
	}
	return f
}

func list(value any) []any {
	l, _ := value.([]any)
	return l
}

func word(value any) string {
	s, _ := value.(string)
	return clean(s, maxDescription)
}

// field is one value of the form as it is asked for.
func (f *form) field(name string, s map[string]any) toolrt.Field {
	var parts []string
	for _, part := range []string{word(s["title"]), word(s["description"])} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	switch s["type"] {
	case "integer", "number":
		parts = append(parts, "a number")
	case "array":
		parts = append(parts, "several are separated by commas")
	}
	if d, ok := s["default"]; ok {
		parts = append(parts, fmt.Sprintf("empty means %v", d))
	} else if !slices.Contains(f.required, name) {
		parts = append(parts, "may be empty")
	}
	field := toolrt.Field{Name: name, Description: strings.Join(parts, ", "), Options: f.options(name, s)}
	if s["format"] == "password" || s["writeOnly"] == true {
		secret := true
		field.Sensitive = &secret
	}
	return field
}

// options are the values to choose from, by what they are called.
func (f *form) options(name string, s map[string]any) []string {
	f.names[name] = map[string]any{}
	var shown []string
	add := func(text string, value any) {
		if _, taken := f.names[name][text]; !taken && text != "" {
			f.names[name][text] = value
			shown = append(shown, text)
		}
	}
	titles := list(s["enumNames"])
	for i, value := range list(s["enum"]) {
		text := fmt.Sprint(value)
		if i < len(titles) {
			text = fmt.Sprint(titles[i])
		}
		add(clean(text, tailLine), value)
	}
	for _, entry := range slices.Concat(list(s["oneOf"]), list(s["anyOf"])) {
		e, _ := entry.(map[string]any)
		text := word(e["title"])
		if text == "" {
			text = clean(fmt.Sprint(e["const"]), tailLine)
		}
		add(text, e["const"])
	}
	if s["type"] == "boolean" {
		add("yes", true)
		add("no", false)
	}
	return shown
}

// content is the answer in the types of the form, or what is wrong with it.
func (f *form) content(answers map[string]string) (content map[string]any, wrong string) {
	if f.url {
		if answers[opened] != "yes" {
			return nil, "it has to be opened before this can go on"
		}
		return nil, ""
	}
	content = map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(f.fields)) {
		answer := strings.TrimSpace(answers[name])
		if answer == "" {
			if slices.Contains(f.required, name) && f.fields[name]["default"] == nil {
				return nil, name + " must not be empty"
			}
			continue
		}
		value, wrong := f.value(name, answer)
		if wrong != "" {
			return nil, wrong
		}
		content[name] = value
	}
	return content, ""
}

func (f *form) value(name, answer string) (_ any, wrong string) {
	if value, ok := f.names[name][answer]; ok {
		return value, ""
	}
	switch f.fields[name]["type"] {
	case "integer":
		n, err := strconv.ParseInt(answer, 10, 64)
		if err != nil {
			return nil, name + " must be a whole number"
		}
		return n, ""
	case "number":
		n, err := strconv.ParseFloat(answer, 64)
		if err != nil {
			return nil, name + " must be a number"
		}
		return n, ""
	case "boolean":
		b, err := strconv.ParseBool(answer)
		if err != nil {
			return nil, name + " must be yes or no"
		}
		return b, ""
	case "array":
		var all []any
		for part := range strings.SplitSeq(answer, ",") {
			if part = strings.TrimSpace(part); part != "" {
				all = append(all, part)
			}
		}
		return all, ""
	}
	return answer, ""
}
