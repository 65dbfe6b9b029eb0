package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// resultText is a result as the model reads it (8.3): one JSON object. What models cannot read as
// text, such as pictures, is named with its size and left out.
func resultText(r *mcp.CallToolResult) (string, error) {
	parts := make([]any, 0, len(r.Content))
	for _, part := range r.Content {
		parts = append(parts, shown(part))
	}
	out := struct {
		IsError           bool  `json:"isError"`
		Content           []any `json:"content"`
		StructuredContent any   `json:"structuredContent,omitempty"`
	}{r.IsError, parts, r.StructuredContent}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		return "", fmt.Errorf("write the result: %w", err)
	}
	return plainSigns(strings.TrimSuffix(buf.String(), "\n")), nil
}

// plainSigns writes <, > and & in JSON as they are; parts escape them.
func plainSigns(text string) string {
	if !strings.Contains(text, `\u00`) {
		return text
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '\\')
		if i < 0 || i+1 >= len(text) {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:i])
		text = text[i:]
		sign, escaped := map[string]string{`\u003c`: "<", `\u003e`: ">", `\u0026`: "&"}[text[:min(6, len(text))]]
		switch {
		case escaped:
			b.WriteString(sign)
			text = text[6:]
		default:
			b.WriteString(text[:2]) // the sign after a backslash begins no escape
			text = text[2:]
		}
	}
}

// binary is a part without its data.
type binary struct {
	Type     string `json:"type"`
	MIMEType string `json:"mimeType,omitempty"`
	URI      string `json:"uri,omitempty"`
	Data     string `json:"data"`
}

func left(size int) string { return fmt.Sprintf("[%d bytes, not shown]", size) }

func shown(part mcp.Content) any {
	switch p := part.(type) {
	case *mcp.ImageContent:
		return binary{Type: "image", MIMEType: p.MIMEType, Data: left(len(p.Data))}
	case *mcp.AudioContent:
		return binary{Type: "audio", MIMEType: p.MIMEType, Data: left(len(p.Data))}
	case *mcp.EmbeddedResource:
		if p.Resource != nil && len(p.Resource.Blob) > 0 {
			return binary{Type: "resource", MIMEType: p.Resource.MIMEType, URI: p.Resource.URI, Data: left(len(p.Resource.Blob))}
		}
	}
	return part
}
