package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"parley/toolrt"
	"parley/toolrt/command"
)

// InvokePrefix begins the body of a tool of a server: its name and the key of the connection follow.
const InvokePrefix = "#!sys.mcp.invoke."

// InvokeBody is the body of a tool of a server.
func InvokeBody(name, key string) string { return InvokePrefix + name + " " + key }

// ParseInvoke reads the body of a tool of a server.
func ParseInvoke(body string) (name, key string, err error) {
	text, ok := strings.CutPrefix(body, InvokePrefix)
	i := strings.LastIndexByte(text, ' ')
	if !ok || i <= 0 {
		return "", "", fmt.Errorf("the body %q names no tool of an MCP server", cut(body, 80))
	}
	return text[:i], text[i+1:], nil
}

// Starter is the tool that starts a server and lists what it offers: the JSON of a [Listing].
type Starter struct {
	Servers *Servers
	Ref     Ref
	Name    string // of the tool
	Server  string // the server's name
	Config  Config // of the server, for questions
}

var (
	_ toolrt.Tool      = (*Starter)(nil)
	_ toolrt.Previewer = (*Starter)(nil)
	_ toolrt.Tool      = (*Tool)(nil)
	_ toolrt.Previewer = (*Tool)(nil)
)

// Spec describes the tool. Servers are started side by side, and again after a crash.
func (t *Starter) Spec() toolrt.Spec {
	return toolrt.Spec{Name: t.Name, Description: "Starts the MCP server " + t.Server, Source: "mcp:" + t.Server, Timeout: -1,
		Confines: t.Config.Command != "" && !t.Ref.Settings,
		Flags:    toolrt.Flags{Parallel: true, Idempotent: true, External: t.Config.URL != ""}}
}

// Preview shows what is started, or where it is.
func (t *Starter) Preview(context.Context, *toolrt.Call) (toolrt.Preview, error) {
	p := toolrt.Preview{Summary: "Starting the MCP server " + t.Server}
	if t.Config.Command != "" {
		p.Command = strings.Join(append([]string{t.Config.Command}, t.Config.Args...), " ")
	}
	if t.Config.URL != "" {
		p.Summary, p.URL = "Connecting to the MCP server "+t.Server, redactURL(t.Config.URL)
	}
	return p, nil
}

// Run starts the server, if it does not run. Waiting for it keeps no other call from running.
func (t *Starter) Run(ctx context.Context, inv *toolrt.Invocation) (toolrt.Output, error) {
	p := Place{Dir: inv.Call.Dir, Env: inv.Call.Env}
	if !t.Ref.Settings { // those of the settings run as the person has written them
		p.Confine = command.Confine(inv.Sandbox, inv.Call.Dir, inv.Call.Workspace)
		p.NoNetwork = inv.Sandbox.NoNetwork && t.Config.URL == ""
	}
	if inv.Pause != nil {
		defer inv.Pause()()
	}
	l, err := t.Servers.List(ctx, t.Ref, t.Server, p)
	if err != nil {
		if ctx.Err() != nil {
			return toolrt.Output{}, ctx.Err()
		}
		return toolrt.Output{}, &toolrt.Error{Kind: toolrt.KindUnavailable, Tool: t.Name, Message: err.Error(), Plain: true, Cause: err}
	}
	text, err := json.Marshal(l)
	return toolrt.Output{Text: string(text)}, err
}

// Tool is a tool of a server (8.3). Its fields are not changed once it is used.
type Tool struct {
	Servers *Servers
	Name    string // as rules and people know it
	Server  string // the server's name
	// Remote is the tool's name on the server, Key the connection.
	Remote, Key string
	Description string
	Params      json.RawMessage
	Flags       toolrt.Flags
	Timeout     time.Duration
	// Abort says that a failure ends the run, as it does when the program's own entry is the tool.
	Abort bool
}

// Spec describes the tool. Its arguments are checked before a call (design, Compatibility).
func (t *Tool) Spec() toolrt.Spec {
	return toolrt.Spec{Name: t.Name, Description: t.Description, Parameters: t.Params, Validate: true, Flags: t.Flags,
		Timeout: t.Timeout, Source: "mcp:" + t.Server}
}

// Preview says whose tool it is.
func (t *Tool) Preview(context.Context, *toolrt.Call) (toolrt.Preview, error) {
	return toolrt.Preview{Summary: fmt.Sprintf("Calling %s of the MCP server %s", t.Remote, t.Server)}, nil
}

// Run calls the tool. The result is the JSON of what the server gave back; a call that fails is
// answered to the model, unless it is the program's own or part of something.
func (t *Tool) Run(ctx context.Context, inv *toolrt.Invocation) (toolrt.Output, error) {
	arguments, err := object(inv.Args)
	if err == nil {
		call := Call{Tool: t.Remote, Arguments: arguments, Out: inv.Out}
		if inv.Call.Host != nil {
			call.Ask = func(ctx context.Context, q toolrt.Question) (map[string]string, error) {
				if inv.Pause != nil {
					defer inv.Pause()()
				}
				return inv.Call.Host.Prompt(ctx, q)
			}
		}
		result, callErr := t.Servers.call(ctx, t.Key, call)
		if callErr == nil {
			text, err := resultText(result)
			return toolrt.Output{Text: text, IsError: result.IsError}, err
		}
		err = callErr
	}
	var mine *asked
	switch {
	case ctx.Err() != nil:
		return toolrt.Output{}, ctx.Err()
	case errors.As(err, &mine):
		return toolrt.Output{}, mine.err
	case inv.Call.Category == "" && !t.Abort:
		return toolrt.Output{Text: fmt.Sprintf("ERROR: got (%v) while running tool, OUTPUT: ", err), IsError: true}, nil
	}
	return toolrt.Output{}, &toolrt.Error{Kind: toolrt.KindExecutionFailed, Tool: t.Name, Message: err.Error(), Plain: true, Cause: err}
}

// asked is the error of a question that got no answer: nobody is there, or parley is ending.
type asked struct{ err error }

func (e *asked) Error() string { return e.err.Error() }

// object is the input as the object that the server gets: empty text is one without keys.
func object(input string) (json.RawMessage, error) {
	if strings.TrimSpace(input) == "" {
		return json.RawMessage("{}"), nil
	}
	var fields map[string]json.RawMessage
	dec := json.NewDecoder(strings.NewReader(input))
	if err := dec.Decode(&fields); err != nil || fields == nil || dec.More() {
		return nil, fmt.Errorf("the arguments are no JSON object: %s", cut(input, 100))
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(strings.TrimSpace(input))); err != nil {
		return nil, err
	}
	return compact.Bytes(), nil
}
