package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

// maxWork bounds the bytes of a document, each counted as often as it is nested: the library reads a
// value once for each level that it is in.
const maxWork = 250_000_000

var errNested = errors.New("the document is too large and too deeply nested to be read")

// normalize returns a document as JSON without the parts that say nothing of requests, which are the
// most of it, and whether it is of version 2.
func normalize(data []byte) (text []byte, version2 bool, err error) {
	doc, err := decode(data)
	if err != nil {
		return nil, false, err
	}
	// References into paths, which some bundlers write, may lead to answers.
	if !bytes.Contains(data, []byte("#/paths/")) {
		prune(doc)
	}
	if text, err = json.Marshal(doc); err != nil {
		return nil, false, err
	}
	_, version2 = doc["swagger"]
	return text, version2, checkWork(text)
}

// decode reads a document, JSON or YAML.
func decode(data []byte) (map[string]any, error) {
	var doc map[string]any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if dec.Decode(&doc) == nil && !dec.More() {
		return doc, nil
	}
	var value any
	if err := yaml.Unmarshal(data, &value); err != nil {
		return nil, err
	}
	doc, ok := textKeys(value).(map[string]any)
	if !ok {
		return nil, errors.New("it is no object")
	}
	return doc, nil
}

// textKeys makes the keys of maps texts, as JSON has them: YAML reads the key of a response, 200, as
// a number.
func textKeys(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, item := range v {
			v[key] = textKeys(item)
		}
	case map[any]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[fmt.Sprint(key)] = textKeys(item)
		}
		return out
	case []any:
		for i, item := range v {
			v[i] = textKeys(item)
		}
	}
	return value
}

// prune takes out of a document what answers look like, examples and extensions.
func prune(doc map[string]any) {
	without(doc, "responses", "webhooks", "tags")
	if components, ok := doc["components"].(map[string]any); ok {
		without(components, "responses", "examples", "links", "callbacks", "headers")
	}
	paths, _ := doc["paths"].(map[string]any)
	for _, item := range paths {
		item, _ := item.(map[string]any)
		for key, op := range item {
			if op, ok := op.(map[string]any); ok && key != "parameters" && key != "servers" {
				without(op, "responses", "callbacks", "tags", "externalDocs")
			}
		}
	}
}

func without(m map[string]any, keys ...string) {
	for _, key := range keys {
		delete(m, key)
	}
	for key := range m {
		if strings.HasPrefix(key, "x-") {
			delete(m, key)
		}
	}
}

// checkWork bounds what reading a text costs. It is valid JSON.
func checkWork(text []byte) error {
	depth, work, inText := 0, 0, false
	for i := 0; i < len(text); i++ {
		work += depth
		switch c := text[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if work > maxWork {
			return errNested
		}
	}
	return nil
}
