package mcp

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of what a server says about itself, in bytes.
const (
	maxTools        = 1000
	maxDescription  = 4096
	maxInstructions = 32 << 10
	maxSchema       = 256 << 10
	maxToolName     = 128
)

// Listing is what a server offers.
type Listing struct {
	Key          string       `json:"key"` // of the connection
	Server       string       `json:"server"`
	Instructions string       `json:"instructions,omitempty"`
	Tools        []ListedTool `json:"tools"`
	// Remarks tell of tools that were left out or made safe, and why.
	Remarks []string `json:"remarks,omitempty"`

	full bool // tools were left out because there are too many
}

// ListedTool is one tool of a server.
type ListedTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Title       string          `json:"title,omitempty"` // of the annotations
	Schema      json.RawMessage `json:"schema"`
	Annotations json.RawMessage `json:"annotations,omitempty"`
	// ReadOnly and Idempotent are claims of the server: they guide order and resume.
	ReadOnly   bool `json:"readOnly,omitempty"`
	Idempotent bool `json:"idempotent,omitempty"`
}

// Allowed returns the listing with the tools that a configuration allows.
func (l Listing) Allowed(c Config) Listing {
	if c.AllowedTools != nil && !slices.Contains(c.AllowedTools, "*") {
		l.Tools = slices.DeleteFunc(slices.Clone(l.Tools), func(t ListedTool) bool { return !slices.Contains(c.AllowedTools, t.Name) })
	}
	if c.DisableInstruction {
		l.Instructions = ""
	}
	return l
}

// add adds a tool, made safe.
func (l *Listing) add(t *mcp.Tool) {
	if len(l.Tools) >= maxTools {
		if !l.full {
			l.remark("it has more than %d tools: the rest is left out", maxTools)
		}
		l.full = true
		return
	}
	name := clean(t.Name, maxToolName)
	switch {
	case name != t.Name || strings.TrimSpace(name) == "":
		l.remark("the tool %q is left out: its name is too long or cannot be shown", cut(t.Name, 40))
		return
	case slices.ContainsFunc(l.Tools, func(other ListedTool) bool { return strings.EqualFold(other.Name, name) }):
		l.remark("a second tool %s is left out", name)
		return
	}
	tool := ListedTool{Name: name, Description: clean(t.Description, maxDescription)}
	var why string
	if tool.Schema, why = safeSchema(t.InputSchema); why != "" {
		l.remark("the tool %s takes any arguments: %s", name, why)
	}
	if a := t.Annotations; a != nil {
		tool.Title, tool.ReadOnly, tool.Idempotent = clean(a.Title, maxToolName), a.ReadOnlyHint, a.IdempotentHint
		tool.Annotations, _ = json.Marshal(a) // texts and booleans
	}
	l.Tools = append(l.Tools, tool)
}

func (l *Listing) remark(format string, args ...any) {
	l.Remarks = append(l.Remarks, fmt.Sprintf(format, args...))
}

// anyObject is the schema of a tool whose own cannot be used.
const anyObject = `{"properties":{},"type":"object"}`

// safeSchema returns the schema of an object, or any object and why the tool's own cannot be used.
func safeSchema(schema any) (json.RawMessage, string) {
	object, ok := schema.(map[string]any)
	switch {
	case schema == nil:
		return json.RawMessage(anyObject), "it has no input schema"
	case !ok:
		return json.RawMessage(anyObject), "its input schema is no object"
	}
	if t, has := object["type"]; has && t != "object" {
		return json.RawMessage(anyObject), fmt.Sprintf("its input schema describes %s, not an object", cut(fmt.Sprint(t), 40))
	}
	object["type"] = "object"
	if properties, has := object["properties"]; has {
		if _, ok := properties.(map[string]any); !ok {
			return json.RawMessage(anyObject), "the properties of its input schema are no object"
		}
	} else {
		object["properties"] = map[string]any{}
	}
	delete(object, "$schema")
	cleanTexts(object)
	text, err := json.Marshal(object)
	switch {
	case err != nil:
		return json.RawMessage(anyObject), "its input schema cannot be written: " + err.Error()
	case len(text) > maxSchema:
		return json.RawMessage(anyObject), fmt.Sprintf("its input schema is %d bytes long; the limit is %d", len(text), maxSchema)
	}
	return text, ""
}

// cleanTexts cleans what a schema says in words.
func cleanTexts(value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, item := range v {
			if text, ok := item.(string); ok && (key == "description" || key == "title") {
				v[key] = clean(text, maxDescription)
				continue
			}
			cleanTexts(item)
		}
	case []any:
		for _, item := range v {
			cleanTexts(item)
		}
	}
}

// clean takes out of a text what is no character of it, such as escape sequences' control
// characters and hidden signs, and bounds it.
func clean(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r) && r != '\u200d' && r != '\u200c', r == utf8.RuneError:
			return -1
		}
		return r
	}, text)
	return cut(text, limit)
}

// cut shortens a text to at most n bytes without splitting a character.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

func redactURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(an address that cannot be read)"
	}
	u.RawQuery, u.Fragment = "", ""
	return u.Redacted()
}
