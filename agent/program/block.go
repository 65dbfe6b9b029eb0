package program

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// block is a block of a source while it is read.
type block struct {
	start int // number of its first line
	tool  Tool
	marks marks

	params     map[string]string // parameter → description
	body       []string
	text       []string // lines of a text block; nil for a tool block
	comments   []string
	inBody     bool
	directives int // directives seen, unknown ones included
	first      pos // place of the first
	blank      bool
	late       *lateDirective
}

// lateDirective is a known directive that came after an empty line (Q2).
type lateDirective struct {
	at   pos
	text string
}

func newBlock(line int) *block {
	return &block{start: line, marks: marks{}}
}

// finish returns the block's tool.
func (b *block) finish(file string) *Tool {
	t := new(Tool) // the block's lines are not kept with it
	*t = b.tool
	t.Instructions = strings.TrimSpace(strings.Join(b.body, "\n"))
	t.Source = Source{Location: file, LineNo: b.start}
	t.Arguments = paramSchema(b.params)
	return t
}

// property is one parameter of a tool as Param: lines can describe it.
type property struct {
	Type        string `json:"type"`
	Description string `json:"description,omitempty"`
}

// paramSchema builds the JSON Schema of parameters, nil without any (1.7).
func paramSchema(params map[string]string) json.RawMessage {
	if len(params) == 0 {
		return nil
	}
	var buf bytes.Buffer
	buf.WriteString(`{"type":"object","properties":{`)
	for i, name := range slices.Sorted(maps.Keys(params)) {
		if i > 0 {
			buf.WriteByte(',')
		}
		buf.Write(marshal(name))
		buf.WriteByte(':')
		buf.Write(marshal(property{Type: "string", Description: params[name]}))
	}
	buf.WriteString("}}")
	return buf.Bytes()
}

// marshal is json.Marshal for values that cannot fail, without escapes for HTML.
func marshal(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // v is made of strings, maps of them and checked raw JSON
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}
