package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	"parley/agent/program"
	"parley/toolrt"
	"parley/toolrt/openapi"
)

// operation is the tool of an operation of an OpenAPI document (8.1).
func (c *call) operation(flags toolrt.Flags, timeout time.Duration) (toolrt.Tool, error) {
	if c.tool.OperationSchema() {
		return operationSchema{c}, nil
	}
	request, err := openapi.ParseBody(c.tool.Instructions)
	if err != nil {
		return nil, err
	}
	source, _, _ := strings.Cut(c.tool.Source.Location, "?")
	return &openapi.Tool{Name: c.tool.Name, Description: c.tool.Description, Source: path.Base(source), Request: request,
		Params: c.tool.Arguments, Flags: flags, Timeout: timeout, Abort: c.parent == nil}, nil
}

// authenticated reports whether an operation finds its secrets in the environment: then its
// credentials, of which those of the first way are listed, are asked of nobody (8.2).
func (c *call) authenticated() bool {
	if c.tool.Kind() != program.KindOpenAPI {
		return false
	}
	request, err := openapi.ParseBody(c.tool.Instructions)
	return err == nil && request.Satisfied(openapi.Environment(c.env))
}

// wrongOperation says that the model named no operation, or gave it no object.
type wrongOperation struct{ error }

// operationNamed returns the operation of that name among those the call's tool is for.
func (c *call) operationNamed(name string) (*program.Tool, error) {
	if refs := c.tool.ToolMapping[name]; len(refs) == 1 {
		if t := c.t.program().Tool(refs[0].ToolID); t != nil {
			return t, nil
		}
	}
	return nil, wrongOperation{fmt.Errorf("ERROR: there is no operation %q; list the operations to see what there is", name)}
}

// operationTarget reads which operation is to run, and with what. The call goes by its name from here.
func (c *call) operationTarget() (*program.Tool, string, error) {
	in := object(c.state.Start)
	name, _ := in["operation"].(string)
	target, err := c.operationNamed(name)
	if err != nil {
		return nil, "", err
	}
	c.state.ToolName = target.Name // what is asked about, and what rules are for
	c.row.Tool = c.name()
	switch args := in["args"].(type) {
	case nil:
		return target, "{}", nil
	case string:
		if args = strings.TrimSpace(args); args == "" {
			args = "{}"
		}
		if !strings.HasPrefix(args, "{") || !json.Valid([]byte(args)) {
			return nil, "", wrongOperation{fmt.Errorf("ERROR: args of the operation %s are not the text of a JSON object: %s", name, args)}
		}
		return target, args, nil
	default: // an object in place of its text
		text, err := json.Marshal(args)
		return target, string(text), err
	}
}

// operationSchema is the tool that tells the schema of an operation.
type operationSchema struct{ c *call }

// Spec describes the tool.
func (o operationSchema) Spec() toolrt.Spec {
	t := o.c.tool
	return toolrt.Spec{Name: t.Name, Description: t.Description, Parameters: t.Arguments, Source: "program",
		Flags: toolrt.Flags{ReadOnly: true, Parallel: true, Idempotent: true}}
}

// Run returns the schema.
func (o operationSchema) Run(_ context.Context, inv *toolrt.Invocation) (toolrt.Output, error) {
	name, _ := object(inv.Args)["operation"].(string)
	t, err := o.c.operationNamed(name)
	if err != nil {
		return toolrt.Output{Text: err.Error(), IsError: true}, nil
	}
	return toolrt.Output{Text: string(t.Schema())}, nil
}
