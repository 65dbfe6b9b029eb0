package program

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Format prints a document as canonical source (1.13). Printing what was printed changes nothing,
// and parsing it gives the same document. Text blocks stay as they are; comments of a header and
// the program's interpreter line are kept at their block's top. A document that no source can
// express is an error: a body that holds a line of three or more dashes (Q1), parameters that are
// more than a name and a description, a block that would be dropped (1.10).
func Format(d *Document) (string, error) {
	var b strings.Builder
	if d.hashbang != "" {
		b.WriteString(endLine(d.hashbang))
	}
	d = withMetadataBlocks(d)
	blocks := metadataBlocks(d)
	afterTool := false
	for i, n := range d.Nodes {
		if i > 0 {
			if afterTool {
				b.WriteByte('\n')
			}
			b.WriteString("---\n")
		}
		switch {
		case n.TextNode != nil:
			b.WriteString(endLines(strings.TrimSuffix(n.TextNode.Text, "\n")))
			afterTool = false
		case n.ToolNode != nil && n.ToolNode.Tool != nil:
			t := n.ToolNode.Tool
			for _, c := range d.comments[t] {
				b.WriteString(endLine(c))
			}
			if err := printTool(&b, t, blocks); err != nil {
				return "", err
			}
			afterTool = true
		default:
			return "", errors.New("a node of the document is neither tool nor text")
		}
	}
	return b.String(), verify(d, b.String())
}

// FormatHeaders prints tools without their bodies, for lists of what there is. Unlike [Format]'s,
// the text may say less than the tools: of a parameter it has name and description.
func FormatHeaders(tools []*Tool) (string, error) {
	var b strings.Builder
	for i, t := range tools {
		if i > 0 {
			b.WriteString("\n---\n")
		}
		if err := printHeader(&b, t, nil); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// withMetadataBlocks returns the document with a text block behind each tool for every value of
// several lines that no text block gives it yet: a directive cannot hold it.
func withMetadataBlocks(d *Document) *Document {
	out := &Document{hashbang: d.hashbang, comments: d.comments}
	blocks := metadataBlocks(d)
	for _, n := range d.Nodes {
		out.Nodes = append(out.Nodes, n)
		if n.ToolNode == nil || n.ToolNode.Tool == nil {
			continue
		}
		t := n.ToolNode.Tool
		for _, key := range slices.Sorted(maps.Keys(t.MetaData)) {
			value := t.MetaData[key]
			if strings.Contains(value, "\n") && !given(blocks, t.Name, key, value) {
				text := metadataPrefix + t.Name + ":" + key + "\n" + value + "\n"
				out.Nodes = append(out.Nodes, Node{TextNode: &TextNode{Text: text}})
			}
		}
	}
	return out
}

// verify makes sure that the printed source says what the document does.
func verify(d *Document, text string) error {
	again, faults := parse("", []byte(text))
	if len(faults) > 0 {
		return fmt.Errorf("the document cannot be written as source: %w", &ParseErrors{Errors: faults})
	}
	if len(again.Nodes) != len(d.Nodes) {
		return errors.New("the document cannot be written as source: a block would be dropped or cut in two")
	}
	for i, n := range d.Nodes {
		a, b := plainNode(n), plainNode(again.Nodes[i])
		if bytes.Equal(a, b) {
			continue
		}
		if n.ToolNode == nil {
			return fmt.Errorf("text block %d cannot be written as source", i+1)
		}
		return fmt.Errorf("tool %q cannot be written as source: it would be read as %s instead of %s", n.ToolNode.Tool.Name, b, a)
	}
	return nil
}

// plainNode is the content of a node without its place.
func plainNode(n Node) []byte {
	if n.ToolNode == nil || n.ToolNode.Tool == nil {
		if n.TextNode == nil {
			return nil
		}
		return []byte(strings.TrimSuffix(n.TextNode.Text, "\n"))
	}
	t := *n.ToolNode.Tool
	t.Source, t.ID, t.WorkingDir, t.ToolMapping, t.LocalTools = Source{}, "", "", nil, nil
	if string(t.Arguments) == "null" {
		t.Arguments = nil
	}
	data, err := json.Marshal(t)
	if err != nil {
		return []byte(err.Error())
	}
	return data
}

// printTool prints a tool block (1.13). Metadata that the document's text blocks give is not
// repeated.
func printTool(b *strings.Builder, t *Tool, blocks []metadataBlock) error {
	if err := printHeader(b, t, blocks); err != nil {
		return err
	}
	if t.Instructions != "" {
		for line := range strings.SplitSeq(t.Instructions, "\n") {
			if isRule(strings.TrimSuffix(line, "\r"), '-') {
				return fmt.Errorf("the body of tool %q holds the line %q, which would end the tool", t.Name, line)
			}
		}
		if needsEnd(t.Instructions) {
			b.WriteString("===\n")
		} else {
			b.WriteString("\n")
		}
		b.WriteString(endLines(t.Instructions))
	}
	return nil
}

// needsEnd says whether the body's first line would be taken for a part of the header.
func needsEnd(body string) bool {
	first, _, _ := strings.Cut(body, "\n")
	return strings.Contains(first, ":") || strings.HasPrefix(first, "#") && !strings.HasPrefix(first, "#!") ||
		isRule(first, '=') || isTextStart(strings.TrimSuffix(first, "\r"))
}

func printHeader(b *strings.Builder, t *Tool, blocks []metadataBlock) error {
	h := header{b}
	h.text("Global Model Name", t.GlobalModelName)
	h.list("Global Tools", t.GlobalTools)
	h.text("Name", t.Name)
	h.text("Description", t.Description)
	h.text("Type", capitalised(string(t.Type)))
	h.list("Agents", t.Agents)
	h.list("Tools", t.Tools)
	h.list("Share Tools", t.Export)
	h.list("Context", t.Context)
	h.list("Share Context", t.ExportContext)
	h.list("Input Filters", t.InputFilters)
	h.list("Share Input Filters", t.ExportInputFilters)
	h.list("Output Filters", t.OutputFilters)
	h.list("Share Output Filters", t.ExportOutputFilters)
	if t.MaxTokens != 0 {
		h.line("Max Tokens", strconv.Itoa(t.MaxTokens))
	}
	h.text("Model", t.ModelName)
	h.flag("Model Provider", t.ModelProvider)
	h.flag("JSON Response", t.JSONResponse)
	h.choice("Cache", t.Cache)
	h.flag("Stdin", t.Stdin)
	if t.Temperature != nil {
		h.line("Temperature", temperature(*t.Temperature))
	}
	if err := h.params(t); err != nil {
		return err
	}
	h.choice("Internal Prompt", t.InternalPrompt)
	h.lines("Credential", t.Credentials)
	h.lines("Share Credential", t.ExportCredentials)
	h.flag("Chat", t.Chat)
	for _, key := range slices.Sorted(maps.Keys(t.MetaData)) {
		value := t.MetaData[key]
		if !strings.Contains(value, "\n") && !given(blocks, t.Name, key, value) {
			h.line("Meta Data", key+": "+value)
		}
	}
	return nil
}

// given says whether the text blocks of the document give the tool this metadata.
func given(blocks []metadataBlock, tool, key, value string) bool {
	for _, m := range slices.Backward(blocks) {
		if m.key == key && m.matches(tool) {
			return m.value == value
		}
	}
	return false
}

// header prints directives.
type header struct{ b *strings.Builder }

func (h header) line(key, value string) {
	h.b.WriteString(endLine(strings.TrimRight(key+": "+value, " ")))
}

func (h header) text(key, value string) {
	if value != "" {
		h.line(key, value)
	}
}

// list prints a list on one line, unless quotes in it would then be paired differently.
func (h header) list(key string, entries []string) {
	if len(entries) == 0 {
		return
	}
	joined := strings.Join(entries, ", ")
	same := slices.EqualFunc(splitList(joined), entries, func(p part, e string) bool { return p.text == e })
	if same {
		h.line(key, joined)
	} else {
		h.lines(key, entries)
	}
}

func (h header) lines(key string, entries []string) {
	for _, e := range entries {
		h.line(key, e)
	}
}

func (h header) flag(key string, on bool) {
	if on {
		h.line(key, "true")
	}
}

func (h header) choice(key string, on *bool) {
	if on != nil {
		h.line(key, strconv.FormatBool(*on))
	}
}

func (h header) params(t *Tool) error {
	if len(t.Arguments) == 0 {
		return nil
	}
	var schema struct {
		Properties map[string]struct {
			Description string `json:"description"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(t.Arguments, &schema); err != nil {
		return fmt.Errorf("the parameters of tool %q: %w", t.Name, err)
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		h.line("Parameter", name+": "+schema.Properties[name].Description)
	}
	return nil
}

// temperature prints six decimals, or as many as it takes to keep the value.
func temperature(f float32) string {
	text := strconv.FormatFloat(float64(f), 'f', 6, 32)
	if back, err := strconv.ParseFloat(text, 32); err == nil && float32(back) == f {
		return text
	}
	return strconv.FormatFloat(float64(f), 'f', -1, 32)
}

// capitalised makes the first letter upper-case if reading it lower-cases it again.
func capitalised(word string) string {
	if word == "" {
		return word
	}
	upper := strings.ToUpper(word[:1]) + word[1:]
	if strings.ToLower(upper) != word {
		return word
	}
	return upper
}

// endLine ends a line. A carriage return at its end is doubled, because one is dropped in reading.
func endLine(line string) string {
	if strings.HasSuffix(line, "\r") {
		line += "\r"
	}
	return line + "\n"
}

func endLines(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(endLine(line))
	}
	return b.String()
}
