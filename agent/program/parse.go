package program

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// serialisedMark begins the JSON form of tools in a source (1.1).
const serialisedMark = "#!GPTSCRIPT"

// Parse reads one source (1.1 to 1.10). It loads and links nothing. The error is a *ParseErrors
// that holds every fault of the source; the document is nil then. file is used in messages and as
// the tools' location, and may be empty.
func Parse(file string, src []byte) (*Document, error) {
	doc, errs := parse(file, src)
	if len(errs) > 0 {
		return nil, &ParseErrors{Errors: errs}
	}
	return doc, nil
}

// parse is Parse that gives back what could be read together with the faults.
func parse(file string, src []byte) (*Document, []*ParseError) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	if fault := notText(file, src); fault != nil {
		return &Document{}, []*ParseError{fault}
	}
	if before, after, ok := strings.Cut(string(src), serialisedMark); ok {
		return parseSerialised(file, before, after)
	}
	p := &parser{
		file:  file,
		lines: splitLines(string(src)),
		doc:   &Document{marks: map[*Tool]*marks{}, comments: map[*Tool][]string{}},
	}
	p.run()
	applyMetadata(p.doc)
	p.checkFlags()
	return p.doc, p.errs
}

// notText finds the first byte that no text has: NUL, or one that is not UTF-8.
func notText(file string, src []byte) *ParseError {
	if bytes.HasPrefix(src, []byte{0xff, 0xfe}) || bytes.HasPrefix(src, []byte{0xfe, 0xff}) {
		return &ParseError{File: file, Line: 1, Column: 1, Message: "the file is UTF-16: save it as UTF-8"}
	}
	line, start := 1, 0
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		if r == 0 || r == utf8.RuneError && size == 1 {
			col := utf8.RuneCount(src[start:i]) + 1
			msg := fmt.Sprintf("not a text file: found the byte 0x%02x", src[i])
			return &ParseError{File: file, Line: line, Column: col, Message: msg}
		}
		i += size
		if r == '\n' {
			line, start = line+1, i
		}
	}
	return nil
}

// parseSerialised reads the JSON array of tools that follows the mark (1.1).
func parseSerialised(file, before, text string) (*Document, []*ParseError) {
	line := strings.Count(before, "\n") + 1
	var tools []*Tool
	if err := json.Unmarshal([]byte(text), &tools); err != nil {
		msg := fmt.Sprintf("the text after %s must be a JSON array of tools: %v", serialisedMark, err)
		return &Document{}, []*ParseError{{File: file, Line: line, Column: 1, Message: msg, Err: err}}
	}
	doc := &Document{}
	for _, t := range tools {
		if t == nil {
			continue
		}
		// What linking found elsewhere means nothing here.
		t.ID, t.WorkingDir, t.ToolMapping, t.LocalTools = "", "", nil, nil
		t.Source = Source{Location: file, LineNo: line}
		doc.Nodes = append(doc.Nodes, Node{ToolNode: &ToolNode{Tool: t}})
	}
	return doc, nil
}

// splitLines cuts the text at LF and drops one CR from the end of each line (1.2).
func splitLines(text string) []string {
	lines := strings.Split(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	return lines
}

// parser walks over the lines of one source and builds a block at a time.
type parser struct {
	file  string
	lines []string
	next  int // index of the line to read next; of the current one it is the number
	doc   *Document
	errs  []*ParseError
	b     *block

	separator pos // the line that ended the block before, zero for the first block
	afterBody bool
}

func (p *parser) run() {
	p.b = newBlock(1)
	for p.next < len(p.lines) {
		line := p.lines[p.next]
		p.next++
		switch {
		case p.b.text != nil:
			if line == "---" {
				p.finish()
			} else {
				p.b.text = append(p.b.text, line)
			}
		case isRule(line, '-'):
			p.finish()
		case p.b.inBody:
			p.b.body = append(p.b.body, line)
		default:
			p.header(line)
		}
	}
	p.finish()
}

// header takes a line of a block whose body has not begun, in the order of 1.3.
func (p *parser) header(line string) {
	b := p.b
	switch {
	case p.next == 1 && isHashbang(line):
		p.doc.hashbang = line
	case strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "#!"):
		b.comments = append(b.comments, strings.TrimSpace(line))
	case b.directives == 0 && isTextStart(line):
		b.text = []string{line}
	case strings.TrimSpace(line) == "":
		b.blank = b.directives > 0
		b.late = nil
	case p.directive(line):
	case isRule(line, '='):
		b.inBody = true
	default:
		b.inBody = true
		b.body = append(b.body, line)
		if b.late != nil {
			p.warn(b.late.at, "%q is read as a directive, though it follows an empty line and text follows it; put === before the text if it belongs to the text", b.late.text)
		}
	}
}

// finish ends the current block and begins the next on the line that follows.
func (p *parser) finish() {
	b := p.b
	hasBody := false
	if b.text != nil {
		text := strings.Join(b.text, "\n") + "\n"
		p.doc.Nodes = append(p.doc.Nodes, Node{TextNode: &TextNode{Text: text}})
	} else {
		hasBody = p.finishTool(b)
	}
	p.afterBody = hasBody
	p.separator = pos{p.next, 1}
	p.b = newBlock(p.next + 1)
}

// finishTool adds the block's tool to the document if it is to be kept (1.10). It reports whether
// the block has a body.
func (p *parser) finishTool(b *block) (hasBody bool) {
	t := b.finish(p.file)
	if b.directives == 0 && t.Instructions != "" && p.afterBody {
		p.warn(p.separator, "this line ends the tool above it, and what follows has no directive; a text cannot hold a line of three or more dashes")
	}
	if !kept(t) {
		if b.directives > 0 {
			p.warn(b.first, "this block is dropped: it has directives, but no name, no body and no tools")
		}
		return false
	}
	p.doc.Nodes = append(p.doc.Nodes, Node{ToolNode: &ToolNode{Tool: t}})
	m := b.marks
	p.doc.marks[t] = &m
	if len(b.comments) > 0 {
		p.doc.comments[t] = b.comments
	}
	return t.Instructions != ""
}

// kept says whether a block counts as a tool (1.10).
func kept(t *Tool) bool {
	return t.Instructions != "" || t.Name != "" || t.GlobalModelName != "" || t.Chat ||
		len(t.Tools) > 0 || len(t.Export) > 0 || len(t.GlobalTools) > 0 || len(t.Agents) > 0 ||
		len(t.ExportInputFilters) > 0 || len(t.ExportOutputFilters) > 0 || len(t.ExportCredentials) > 0
}

// maxRemarks bounds the faults, and the warnings, that are kept of one source: a file with more is
// no program, and a hostile one could make millions.
const maxRemarks = 1000

func (p *parser) warn(at pos, format string, args ...any) {
	if len(p.doc.Warnings) >= maxRemarks {
		return
	}
	p.doc.Warnings = append(p.doc.Warnings,
		Warning{File: p.file, Line: at.line, Column: at.col, Message: fmt.Sprintf(format, args...)})
}

func (p *parser) fail(at pos, err error) {
	if len(p.errs) >= maxRemarks {
		return
	}
	p.errs = append(p.errs,
		&ParseError{File: p.file, Line: at.line, Column: at.col, Message: err.Error(), Err: err})
}

// isRule says whether the line is three or more of c with nothing but white space around.
func isRule(line string, c byte) bool {
	line = strings.TrimSpace(line)
	return len(line) >= 3 && strings.Trim(line, string(c)) == ""
}

// isHashbang recognises the interpreter line of a program file.
func isHashbang(line string) bool {
	words := strings.Fields(line)
	if len(words) == 0 {
		return false
	}
	env := words[0] == "#!/usr/bin/env" || words[0] == "#!/bin/env"
	return words[0] == "#!gptscript" && strings.HasPrefix(line, "#!") ||
		env && strings.HasPrefix(line, "#!") && len(words) > 1 && words[1] == "gptscript"
}

// isTextStart recognises the first line of a text block (1.3, rule 3).
func isTextStart(line string) bool {
	rest, ok := strings.CutPrefix(line, "!")
	if !ok || rest == "" {
		return false
	}
	for _, r := range rest[:1] + strings.TrimRight(rest[1:], " \t\f\r") {
		if !(r >= 0x20 && r <= 0x2e || r == ':' || r == '_' || isASCIIAlnum(r)) {
			return false
		}
	}
	return true
}

func isASCIIAlnum(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
