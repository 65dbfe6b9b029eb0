package program

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// sourceKind says how the bytes of a source become tools (1.1).
type sourceKind int

const (
	kindProgram sourceKind = iota // .gpt text or serialised tools
	kindText                      // a plain file: one tool that echoes it
	kindOpenAPI
)

// detect decides what kind of source the bytes are, in the order of 1.1.
func detect(name string, data []byte) sourceKind {
	if isOpenAPI(data) {
		return kindOpenAPI
	}
	if ext := path.Ext(name); ext != "" && ext != ".gpt" && utf8.Valid(data) {
		return kindText
	}
	return kindProgram
}

// isOpenAPI recognises a description of version 2 or 3 as JSON or YAML. The words are looked for
// first, because few files need to be parsed then.
func isOpenAPI(data []byte) bool {
	if !bytes.Contains(data, []byte("paths")) ||
		!bytes.Contains(data, []byte("openapi")) && !bytes.Contains(data, []byte("swagger")) {
		return false
	}
	var doc struct {
		Paths   map[string]any `json:"paths" yaml:"paths"`
		OpenAPI string         `json:"openapi" yaml:"openapi"`
		Swagger string         `json:"swagger" yaml:"swagger"`
	}
	if json.Unmarshal(data, &doc) != nil && yaml.Unmarshal(data, &doc) != nil {
		return false
	}
	if len(doc.Paths) == 0 {
		return false
	}
	version := doc.OpenAPI
	if version == "" {
		version = doc.Swagger
	}
	major, _, _ := strings.Cut(version, ".")
	return major == "2" || major == "3"
}

// addSource turns loaded bytes into a source with its tools and remembers it under its key, so
// that each is read once. Faults inside the source are noted and mark it as bad; the error tells
// of a source that can not have tools at all.
func (l *loader) addSource(key string, s *source) (*source, error) {
	if len(l.order) >= maxSources {
		return nil, fmt.Errorf("the program refers to more than %d files", maxSources)
	}
	if l.locations[s.location] {
		// Another source is printed the same; ids must differ all the same.
		s.location = key
	}
	var faults []*ParseError
	switch detect(s.name, s.data) {
	case kindOpenAPI:
		var err error
		if s.doc, err = openAPIDocument(s, l.opts.OperationCatalogue); err != nil {
			return nil, err
		}
	case kindText:
		s.doc = textDocument(s)
	case kindProgram:
		s.doc, faults = parse(s.location, s.data)
	}
	s.data = nil
	s.tools = s.doc.Tools()
	if len(faults) == 0 && len(s.tools) == 0 {
		return nil, fmt.Errorf("no tools found in %s", s)
	}
	faults = append(faults, checkTools(s)...)
	l.order = append(l.order, s)
	l.sources[key] = s
	l.locations[s.location] = true
	l.faults = append(l.faults, faults...)
	s.bad = len(faults) > 0
	s.applyGlobals()
	s.index()
	return s, nil
}

// textDocument makes the one tool that a plain file is (1.1).
func textDocument(s *source) *Document {
	t := &Tool{Name: s.name, Instructions: echoPrefix + "\n" + string(s.data), Source: Source{Location: s.location, LineNo: 1}}
	return &Document{Nodes: []Node{{ToolNode: &ToolNode{Tool: t}}}}
}

// checkTools finds the faults of a file's tools taken together (1.12).
func checkTools(s *source) []*ParseError {
	var faults []*ParseError
	fail := func(p pos, format string, args ...any) {
		faults = append(faults, &ParseError{
			File: s.location, Line: p.line, Column: p.col, Message: fmt.Sprintf(format, args...),
		})
	}
	lines := map[string]int{}
	globalModel := false
	for i, t := range s.tools {
		if i > 0 && t.Name == "" {
			fail(pos{max(t.Source.LineNo, 1), 1}, "only the first tool in a file can have no name")
		}
		switch {
		case t.GlobalModelName == "":
		case globalModel:
			fail(s.doc.mark(t, "globalModelName"), "global model name defined multiple times")
		case i > 0:
			fail(s.doc.mark(t, "globalModelName"), "only the first tool in a file can have global model name")
		}
		globalModel = globalModel || t.GlobalModelName != ""
		if i > 0 && len(t.GlobalTools) > 0 {
			fail(s.doc.mark(t, "globalTools"), "only the first tool in a file can have global tools")
		}
		if t.Name == "" {
			continue
		}
		key := strings.ToLower(t.Name)
		if earlier, taken := lines[key]; taken {
			fail(s.doc.mark(t, "name"), "duplicate tool name [%s] in %s found at lines %d and %d", t.Name, s.location, t.Source.LineNo, earlier)
		} else {
			lines[key] = t.Source.LineNo
		}
	}
	return faults
}

// applyGlobals gives every tool of the file what its first tool sets for all (1.11).
func (s *source) applyGlobals() {
	if len(s.tools) == 0 {
		return
	}
	first := s.tools[0]
	for _, t := range s.tools {
		if t.ModelName == "" {
			t.ModelName = first.GlobalModelName
		}
		if len(first.GlobalTools) == 0 {
			continue
		}
		has := map[string]bool{}
		for _, name := range t.Tools {
			has[name] = true
		}
		for _, name := range first.GlobalTools {
			if !has[name] {
				has[name] = true
				t.Tools = append(t.Tools, name)
				s.doc.copyMark(first, t, name)
			}
		}
	}
}

// copyMark places a reference that a tool got from another where the other mentions it.
func (d *Document) copyMark(from, to *Tool, ref string) {
	if d.marks[from] != nil && d.marks[to] != nil {
		if at, ok := d.marks[from].refs.of(ref); ok {
			d.marks[to].refs.set(ref, at)
		}
	}
}

// index gives the tools their ids and places, and makes them findable by name.
func (s *source) index() {
	s.byKey = make(map[string]*Tool, len(s.tools))
	s.ids = make(map[string]string, len(s.tools))
	for _, t := range s.tools {
		t.Source.Location, t.Source.Repo = s.location, s.repoOf()
		t.WorkingDir = s.absDir
		t.ID = s.location + ":" + t.Name
		key := strings.ToLower(t.Name)
		if s.byKey[key] == nil {
			s.byKey[key], s.ids[key] = t, t.ID
		}
	}
}

// selected returns the tools that a selection names, in the order of the file; "" is the first
// tool (2.2).
func (s *source) selected(sel string) []*Tool {
	switch {
	case sel == "":
		return s.tools[:min(1, len(s.tools))]
	case len(s.tools) > 0 && s.tools[0].MetaData[catalogueKey] != "":
		return s.ofCatalogue(sel)
	case !isGlob(sel):
		if t := s.byKey[strings.ToLower(sel)]; t != nil {
			return []*Tool{t}
		}
		return nil
	}
	var tools []*Tool
	match := matcher(sel)
	for _, t := range s.tools {
		if match(t.Name) {
			tools = append(tools, t)
		}
	}
	return tools
}
