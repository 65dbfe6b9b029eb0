package program

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"

	"parley/toolrt/openapi"
)

// credentialTool is the built-in that asks the person for a secret. It stands in for the tool that
// GPTScript fetches from the network (8.2).
const credentialTool = "sys.credential"

// openAPIDocument makes the tools of an OpenAPI document: a nameless first one that shares one for
// each operation (8.1). A text that turns out to be no such document is what it is without that
// (1.1).
func openAPIDocument(s *source, asCatalogue bool) (*Document, error) {
	origin := ""
	if s.remote {
		origin = s.location
	}
	api, err := openapi.Load(s.data, origin)
	switch {
	case errors.Is(err, openapi.ErrNoDocument):
		doc := textDocument(s)
		doc.warn(s, "it looks like an OpenAPI document and is taken as plain text: "+err.Error())
		return doc, nil
	case err != nil:
		return nil, fmt.Errorf("%s: this OpenAPI document cannot be used: %w", s.location, err)
	}
	entry := &Tool{Description: fmt.Sprintf("This is a tool set for the %s OpenAPI spec", api.Title), Source: Source{Location: s.location}}
	doc := &Document{Nodes: []Node{{ToolNode: &ToolNode{Tool: entry}}}}
	var operations []*Tool
	for i, o := range api.Operations {
		t, err := operationTool(o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.location, err)
		}
		t.Source = Source{Location: s.location, LineNo: i + 1} // it has no line: its number (8.1)
		operations = append(operations, t)
	}
	shared := operations
	if asCatalogue {
		entry.MetaData = map[string]string{catalogueKey: cmp.Or(api.Title, "API")}
		shared = catalogue(entry.MetaData[catalogueKey], operations)
		operations = append(shared, operations...)
	}
	for _, t := range shared {
		entry.Export = append(entry.Export, t.Name)
	}
	for _, t := range operations {
		doc.Nodes = append(doc.Nodes, Node{ToolNode: &ToolNode{Tool: t}})
	}
	for _, remark := range api.Remarks {
		doc.warn(s, remark)
	}
	return doc, nil
}

// operationTool is the tool of an operation.
func operationTool(o openapi.Operation) (*Tool, error) {
	body, err := o.Request.Body()
	if err != nil {
		return nil, err
	}
	t := &Tool{Name: o.Name, Description: o.Description, Arguments: o.Parameters, Instructions: body}
	if o.ReadOnly() {
		t.MetaData = map[string]string{flagsKey: "read-only, parallel, idempotent"}
	}
	for _, c := range o.Credentials {
		message := "Please provide a value for the " + c.Variable + " environment variable"
		t.Credentials = append(t.Credentials, fmt.Sprintf("%s as %s with %s as env and %s as message and %s as field",
			credentialTool, c.Name, c.Variable, strconv.Quote(message), strconv.Quote(c.Field)))
	}
	return t, nil
}

// warn adds a remark about the source as a whole.
func (d *Document) warn(s *source, message string) {
	d.Warnings = append(d.Warnings, Warning{File: s.location, Line: 1, Column: 1, Message: message})
}
