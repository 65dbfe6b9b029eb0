package program

import (
	"fmt"
	"slices"
	"strings"
)

// Document is one parsed source, before anything is loaded or linked: its blocks in order. Its
// JSON form is that of 1.13. Global directives are not applied to the tools in it (1.11); blocks
// of metadata are (1.9).
type Document struct {
	Nodes []Node `json:"nodes,omitempty"`
	// Warnings tells of text that is legal but probably not meant (Q1, Q2, Q3, Q7), in the order
	// of the source.
	Warnings []Warning `json:"-"`

	hashbang string             // the interpreter line of the program itself, if it had one
	marks    map[*Tool]*marks   // where the values of a tool stand; nil for documents from JSON
	comments map[*Tool][]string // header comments of a tool, kept for Format
}

// Node is one block of a document: a tool or a text, the other is nil.
type Node struct {
	ToolNode *ToolNode `json:"toolNode,omitempty"`
	TextNode *TextNode `json:"textNode,omitempty"`
}

// ToolNode is a block that holds a tool.
type ToolNode struct {
	Tool *Tool `json:"tool,omitempty"`
}

// TextNode is a text block (1.9), its lines as they stand, each ended by a newline.
type TextNode struct {
	Text string `json:"text,omitempty"`
}

// Tools returns the tools of the document in order. The first is the file's entry (1.10).
func (d *Document) Tools() []*Tool {
	var tools []*Tool
	for _, n := range d.Nodes {
		if n.ToolNode != nil && n.ToolNode.Tool != nil {
			tools = append(tools, n.ToolNode.Tool)
		}
	}
	return tools
}

// at returns the place of a reference of a tool, else that of the tool.
func (d *Document) at(t *Tool, ref string) pos {
	if m := d.marks[t]; m != nil {
		if p, ok := m.refs.of(ref); ok {
			return p
		}
	}
	return pos{max(t.Source.LineNo, 1), 1}
}

// mark returns the place of a directive's value by its field, else that of the tool.
func (d *Document) mark(t *Tool, field string) pos {
	if m := d.marks[t]; m != nil {
		if p, ok := m.fields.of(field); ok {
			return p
		}
	}
	return pos{max(t.Source.LineNo, 1), 1}
}

// pos is a place in a source: a line and a column, both counted from 1, the column in characters.
type pos struct{ line, col int }

// marks remembers where the values of a tool's directives stand in its source.
type marks struct {
	refs   places // texts of references, at their first mention
	fields places // "name", "globalModelName", "globalTools", "metaData.KEY", at their values
}

// places are the places of texts. Most tools have few, for which a map would be large.
type places struct {
	list  []placed
	index map[string]int // into list, once that is long
}

type placed struct {
	text string
	at   pos
}

// fewPlaces are as many as are looked through one by one.
const fewPlaces = 16

func (p *places) find(text string) int {
	if p.index != nil {
		if i, ok := p.index[text]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(p.list, func(e placed) bool { return e.text == text })
}

// of returns the place of a text.
func (p *places) of(text string) (pos, bool) {
	if i := p.find(text); i >= 0 {
		return p.list[i].at, true
	}
	return pos{}, false
}

// set sets the place of a text.
func (p *places) set(text string, at pos) {
	if i := p.find(text); i >= 0 {
		p.list[i].at = at
		return
	}
	p.list = append(p.list, placed{text, at})
	switch {
	case p.index != nil:
		p.index[text] = len(p.list) - 1
	case len(p.list) > fewPlaces:
		p.index = make(map[string]int, 2*len(p.list))
		for i, e := range p.list {
			p.index[e.text] = i
		}
	}
}

// ParseError is one fault of a source, at the place of the value that is wrong.
type ParseError struct {
	File    string
	Line    int // from 1; 0 when the fault belongs to the file as a whole
	Column  int // from 1, in characters
	Message string
	// Err is the cause, if there is one beside the message.
	Err error
}

// Error returns "file:line:col: message" (Q8).
func (e *ParseError) Error() string { return place(e.File, e.Line, e.Column) + e.Message }

// Unwrap returns the cause, nil if there is none.
func (e *ParseError) Unwrap() error { return e.Err }

// ParseErrors is every fault that was found, each once, file by file in the order of loading.
type ParseErrors struct {
	Errors []*ParseError
}

// Error returns one fault a line.
func (e *ParseErrors) Error() string {
	lines := make([]string, len(e.Errors))
	for i, err := range e.Errors {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the single faults.
func (e *ParseErrors) Unwrap() []error {
	errs := make([]error, len(e.Errors))
	for i, err := range e.Errors {
		errs[i] = err
	}
	return errs
}

// Warning is a remark about a source that is legal but probably not meant.
type Warning struct {
	File    string
	Line    int // from 1
	Column  int // from 1, in characters
	Message string
}

// String returns "file:line:col: message".
func (w Warning) String() string { return place(w.File, w.Line, w.Column) + w.Message }

func place(file string, line, col int) string {
	switch {
	case line == 0 && file == "":
		return ""
	case line == 0:
		return file + ": "
	case file == "":
		return fmt.Sprintf("%d:%d: ", line, col)
	}
	return fmt.Sprintf("%s:%d:%d: ", file, line, col)
}
