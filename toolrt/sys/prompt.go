package sys

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"parley/toolrt"
)

// prompt is sys.prompt: it asks the person and returns the answers as a JSON object, or nothing if
// there was only a message to read.
func prompt(ctx context.Context, inv *toolrt.Invocation, _ args) (toolrt.Output, error) {
	q, err := ParseQuestion(inv.Args)
	if err != nil {
		return toolrt.Output{}, broken("sys.prompt", err)
	}
	if inv.Call.Host == nil {
		return toolrt.Output{}, broken("sys.prompt", errNoHost)
	}
	if inv.Pause != nil {
		defer inv.Pause()()
	}
	answers, err := inv.Call.Host.Prompt(ctx, q)
	if err != nil {
		return toolrt.Output{}, err
	}
	if len(q.Fields) == 0 {
		return toolrt.Output{}, nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(answers); err != nil {
		return toolrt.Output{}, broken("sys.prompt", err)
	}
	return toolrt.Output{Text: strings.TrimSuffix(buf.String(), "\n")}, nil
}

// ParseQuestion reads the arguments of sys.prompt, which the prompt server takes too (7.3): fields
// as comma-separated text, as an array of names or of objects, sensitive as the text "true" or a
// boolean, metadata as an object.
func ParseQuestion(arguments string) (toolrt.Question, error) {
	fields, err := object(arguments)
	if err != nil {
		return toolrt.Question{}, fmt.Errorf("read the arguments of sys.prompt: %w", err)
	}
	var q toolrt.Question
	for name, read := range map[string]func(json.RawMessage) error{
		"message":   func(raw json.RawMessage) (err error) { q.Message, err = scalar(raw); return err },
		"sensitive": func(raw json.RawMessage) (err error) { q.Sensitive, err = flag(raw); return err },
		"fields":    func(raw json.RawMessage) (err error) { q.Fields, err = parseFields(raw); return err },
		"metadata":  func(raw json.RawMessage) (err error) { q.Metadata, err = parseMetadata(raw); return err },
	} {
		if raw, ok := field(fields, name); ok {
			if err := read(raw); err != nil {
				return toolrt.Question{}, fmt.Errorf("read %q of sys.prompt: %w", name, err)
			}
		}
	}
	return q, nil
}

// flag reads a boolean that may be written as text.
func flag(raw json.RawMessage) (bool, error) {
	value, err := scalar(raw)
	return strings.EqualFold(strings.TrimSpace(value), "true"), err
}

func parseFields(raw json.RawMessage) ([]toolrt.Field, error) {
	if raw[0] != '[' {
		value, err := scalar(raw)
		if err == nil && strings.HasPrefix(strings.TrimSpace(value), "[") && json.Valid([]byte(value)) {
			return parseFields(json.RawMessage(strings.TrimSpace(value))) // an array as text
		}
		var names []toolrt.Field
		for name := range strings.SplitSeq(value, ",") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, toolrt.Field{Name: name})
			}
		}
		return names, err
	}
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, err
	}
	all := make([]toolrt.Field, 0, len(items))
	for _, item := range items {
		f, err := parseField(item)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

func parseField(raw json.RawMessage) (toolrt.Field, error) {
	if raw[0] != '{' {
		name, err := scalar(raw)
		if err == nil && strings.TrimSpace(name) == "" {
			err = errors.New("a field has no name")
		}
		return toolrt.Field{Name: strings.TrimSpace(name)}, err
	}
	parts, err := object(string(raw))
	if err != nil {
		return toolrt.Field{}, err
	}
	var f toolrt.Field
	if raw, ok := field(parts, "name"); ok {
		if f.Name, err = scalar(raw); err != nil {
			return f, err
		}
	}
	if f.Name == "" {
		return f, errors.New("a field has no name")
	}
	if raw, ok := field(parts, "description"); ok {
		if f.Description, err = scalar(raw); err != nil {
			return f, err
		}
	}
	if raw, ok := field(parts, "sensitive"); ok && string(raw) != "null" {
		sensitive, err := flag(raw)
		if err != nil {
			return f, err
		}
		f.Sensitive = &sensitive
	}
	if raw, ok := field(parts, "options"); ok {
		err = json.Unmarshal(raw, &f.Options)
	}
	return f, err
}

// parseMetadata reads an object of texts, or the text of one.
func parseMetadata(raw json.RawMessage) (map[string]string, error) {
	if raw[0] == '"' {
		value, err := scalar(raw)
		if err != nil || strings.TrimSpace(value) == "" {
			return nil, err
		}
		raw = json.RawMessage(value)
	}
	fields, err := object(string(raw))
	if err != nil || len(fields) == 0 {
		return nil, err
	}
	all := make(map[string]string, len(fields))
	for name, value := range fields {
		if all[name], err = scalar(value); err != nil {
			return nil, err
		}
	}
	return all, nil
}
