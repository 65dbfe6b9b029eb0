package modeltest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

// Request is what a server was asked.
type Request struct {
	Path   string
	Header http.Header
	// Body is the JSON with sorted keys and two spaces of indentation, or the bytes as they came
	// if they are no JSON.
	Body json.RawMessage

	// What conditions look at.
	Model, System, User, Last string
	Tools                     []string
	Results                   bool // the last message is a tool's result
}

// newRequest reads a request.
func newRequest(w format, r *http.Request, body []byte) Request {
	out := Request{Path: r.URL.Path, Header: r.Header.Clone(), Body: body}
	var object map[string]any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber() // keeps numbers as they were written
	if decoder.Decode(&object) != nil {
		return out
	}
	var indented bytes.Buffer
	encoder := json.NewEncoder(&indented)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if encoder.Encode(object) == nil {
		out.Body = bytes.TrimSpace(indented.Bytes())
	}
	out.Model, _ = object["model"].(string)
	out.Tools = w.tools(object)
	if system, ok := object["system"]; ok {
		out.System = textOf(system)
	}
	messages, _ := object["messages"].([]any)
	for _, m := range messages {
		out.look(m)
	}
	return out
}

// look takes in one message.
func (r *Request) look(message any) {
	m, _ := message.(map[string]any)
	role, _ := m["role"].(string)
	text := textOf(m["content"])
	r.Last, r.Results = text, role == "tool" || hasResult(m["content"])
	switch {
	case role == "system":
		r.System = text
	case role == "user" && !r.Results:
		r.User = text
	}
}

// textOf returns the text inside content: a string, or parts with text or content of their own.
func textOf(content any) string {
	switch c := content.(type) {
	case string:
		return c
	case []any:
		var texts []string
		for _, part := range c {
			p, _ := part.(map[string]any)
			if text, ok := p["text"].(string); ok {
				texts = append(texts, text)
			} else if inner := textOf(p["content"]); inner != "" {
				texts = append(texts, inner)
			}
		}
		return strings.Join(texts, "\n")
	}
	return ""
}

func hasResult(content any) bool {
	parts, _ := content.([]any)
	for _, part := range parts {
		if p, _ := part.(map[string]any); p["type"] == "tool_result" {
			return true
		}
	}
	return false
}

// holds reports whether the condition is true of the request. A nil condition always is.
func (w *When) holds(r Request) bool {
	if w == nil {
		return true
	}
	offered := w.Tool == ""
	for _, name := range r.Tools {
		offered = offered || name == w.Tool
	}
	return offered && (w.Model == "" || w.Model == r.Model) &&
		strings.Contains(r.System, w.System) && strings.Contains(r.User, w.User) &&
		strings.Contains(r.Last, w.Last) && (w.Results == nil || *w.Results == r.Results)
}
