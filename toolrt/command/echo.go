package command

import (
	"context"
	"encoding/json"
	"strings"

	"parley/toolrt"
)

// Echo is a "#!sys.echo" tool: its result is its own text (6.8).
type Echo struct {
	Name, Description string
	// Body is the whole body of the tool, "#!sys.echo" included.
	Body   string
	Params json.RawMessage
}

var _ toolrt.Tool = Echo{}

// Spec describes the tool. Echo changes nothing and may run at any time.
func (e Echo) Spec() toolrt.Spec {
	return toolrt.Spec{
		Name: e.Name, Description: e.Description, Parameters: e.Params, Source: "builtin",
		Flags: toolrt.Flags{ReadOnly: true, Parallel: true, Idempotent: true},
	}
}

// Run returns the body without its prefix and one space or line break after it (6.8, Q20).
func (e Echo) Run(context.Context, *toolrt.Invocation) (toolrt.Output, error) {
	return toolrt.Output{Text: EchoText(e.Body)}, nil
}

// EchoText returns the text of a "#!sys.echo" body.
func EchoText(body string) string {
	text := strings.TrimPrefix(body, "#!sys.echo")
	for _, separator := range []string{"\r\n", "\n", " "} {
		if rest, ok := strings.CutPrefix(text, separator); ok {
			return rest
		}
	}
	return text
}
