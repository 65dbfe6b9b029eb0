package agent

import (
	"path"
	"strings"
	"time"

	"parley/agent/program"
	"parley/toolrt"
	"parley/toolrt/openapi"
)

// operation is the tool of an operation of an OpenAPI document (8.1).
func (c *call) operation(flags toolrt.Flags, timeout time.Duration) (toolrt.Tool, error) {
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
