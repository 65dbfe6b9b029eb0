package program

import (
	"encoding/json"
	"strings"
)

// catalogueKey marks, in the meta data of a document's first tool, that its operations are used
// through three tools (8.2, GPTSCRIPT_OPENAPI_REVAMP).
const catalogueKey = "openapi-catalogue"

// Bodies of the tools that tell an operation's schema and run it.
const (
	operationSchemaBody = openAPIPrefix + " get-schema"
	operationRunBody    = openAPIPrefix + " run"
)

// OperationSchema reports whether the tool tells the schema of an operation of its list.
func (t *Tool) OperationSchema() bool { return t.Instructions == operationSchemaBody }

// OperationRun reports whether the tool runs an operation of its list: another tool, which takes its
// place.
func (t *Tool) OperationRun() bool { return t.Instructions == operationRunBody }

// isOperation reports whether the tool is an operation itself.
func (t *Tool) isOperation() bool {
	return t.Kind() == KindOpenAPI && !t.OperationSchema() && !t.OperationRun()
}

// Redirects reports whether a call of the tool becomes a call of another one.
func (t *Tool) Redirects() bool { return t.Kind() == KindCall || t.OperationRun() }

// catalogue makes the three tools for operations of a document.
func catalogue(title string, operations []*Tool) []*Tool {
	title = strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') {
			return r
		}
		return '-'
	}, title)
	type described struct {
		Description string `json:"description,omitempty"`
	}
	list := map[string]described{}
	var names []string
	for _, t := range operations {
		list[t.Name] = described{t.Description}
		names = append(names, t.Name)
	}
	const operation = `"operation":{"type":"string","description":"The name of the operation"}`
	return []*Tool{
		{Name: "list-operations-" + title, Description: "Lists the operations of " + title + ", by name. Use it first",
			Instructions: echoPrefix + "\n" + string(marshal(map[string]any{"operations": list}))},
		{Name: "get-schema-" + title, Description: "Returns the JSON Schema of the arguments of an operation of " + title + ". Use it before the operation is run",
			Arguments: json.RawMessage(`{"type":"object","properties":{` + operation + `},"required":["operation"]}`), Instructions: operationSchemaBody, Tools: names},
		{Name: "run-operation-" + title, Description: "Runs an operation of " + title,
			Arguments: json.RawMessage(`{"type":"object","properties":{` + operation +
				`,"args":{"type":"string","description":"The arguments as the text of a JSON object that fits the operation's schema"}},"required":["operation","args"]}`),
			Instructions: operationRunBody, Tools: names},
	}
}

// ofCatalogue returns what a selection names in a document whose operations are used through three
// tools: one of these, or three for the operations that it fits.
func (s *source) ofCatalogue(sel string) []*Tool {
	if t := s.byKey[strings.ToLower(sel)]; t != nil && !t.isOperation() {
		return []*Tool{t}
	}
	if s.filtered == nil {
		s.filtered = map[string][]*Tool{}
	}
	if tools, known := s.filtered[sel]; known {
		return tools
	}
	var operations []*Tool
	match := matcher(sel)
	for _, t := range s.tools {
		if t.isOperation() && (match(t.Name) || strings.EqualFold(sel, t.Name)) {
			operations = append(operations, t)
		}
	}
	if len(operations) == 0 {
		return nil
	}
	tools := catalogue(s.tools[0].MetaData[catalogueKey], operations)
	for _, t := range tools {
		t.Source, t.WorkingDir = Source{Location: s.location, Repo: s.repoOf(), LineNo: 1}, s.absDir
		t.ID = s.location + ":" + t.Name + ":" + sel
	}
	s.filtered[sel] = tools
	return tools
}
