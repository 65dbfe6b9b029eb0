package agent

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"parley/agent/program"
	"parley/toolrt"
	"parley/toolrt/command"
)

// runtimeTool makes the tool of the runtime that does the work of a command tool.
func (c *call) runtimeTool() (toolrt.Tool, error) {
	t := c.tool
	readOnly, parallel, idempotent, timeout := t.Flags()
	// Contexts run side by side (Q29): telling the model something is all that they are for.
	flags := toolrt.Flags{ReadOnly: readOnly, Parallel: parallel || readOnly || c.state.Category == categoryContext, Idempotent: idempotent}
	switch t.Kind() {
	case program.KindBuiltin:
		tool, ok := c.t.s.o.Builtins.Get(t.BuiltinName())
		if !ok {
			return nil, fmt.Errorf("the built-in tool %s does not exist in this version of parley", t.BuiltinName())
		}
		return asking{tool, c}, nil
	case program.KindEcho:
		return command.Echo{Name: c.name(), Description: t.Description, Body: t.Instructions, Params: t.Arguments}, nil
	case program.KindCommand:
		if timeout == 0 {
			timeout = c.t.s.commandTimeout()
		}
		return asking{&command.Tool{Name: c.name(), Description: t.Description, Interpreter: t.Interpreter(), Script: t.Script(),
			Location: t.Source.Location, ToolDir: t.WorkingDir, Stdin: t.Stdin, Params: t.Arguments, Timeout: timeout,
			Flags: flags, Abort: c.parent == nil, Requirements: t.MetaData[requirements], Cache: c.t.s.cacheFor(t),
			Debug: c.t.s.o.Debug}, c}, nil
	case program.KindHTTP, program.KindDaemon:
		if t.Kind() == program.KindDaemon && c.state.Category == categoryProvider {
			return providerStart{c.webTool(flags), c}, nil
		}
		return c.webTool(flags), nil
	case program.KindOpenAPI:
		return c.operation(flags, timeout)
	case program.KindMCPServer:
		return c.starter()
	case program.KindMCPTool:
		return c.serverTool(flags, timeout)
	}
	return nil, fmt.Errorf("%s is a kind of tool that this version of parley does not run: its body begins with %q",
		c.name(), firstLine(t.Instructions))
}

// requirements is the metadata key of a Python tool's packages (6.10).
const requirements = "requirements.txt"

// cacheFor is the folder for what is made for a tool before it runs, "" where nothing is made: the
// person looks after the tools below these folders.
func (s *Session) cacheFor(t *program.Tool) string {
	for _, dir := range s.o.SystemTools {
		if rel, err := filepath.Rel(dir, t.WorkingDir); err == nil && filepath.IsLocal(rel) {
			return ""
		}
	}
	return s.o.Cache
}

// asking lets the commands of a tool reach the prompt server while it runs.
type asking struct {
	toolrt.Tool
	c *call
}

// Run runs the tool with the prompt server in its call's environment.
func (a asking) Run(ctx context.Context, inv *toolrt.Invocation) (toolrt.Output, error) {
	server := a.c.t.s.prompts()
	if server == nil {
		return a.Tool.Run(ctx, inv)
	}
	env, forget := server.environment(a.c)
	defer forget()
	in, tc := *inv, *inv.Call
	tc.Env = append(slices.Clone(tc.Env), env...)
	in.Call = &tc
	return a.Tool.Run(ctx, &in)
}

// Limit is the time limit that the tool reads from the arguments, zero for none.
func (a asking) Limit(arguments string) time.Duration {
	if l, ok := a.Tool.(toolrt.Limiter); ok {
		return l.Limit(arguments)
	}
	return 0
}

// Preview shows what the tool shows.
func (a asking) Preview(ctx context.Context, tc *toolrt.Call) (toolrt.Preview, error) {
	if p, ok := a.Tool.(toolrt.Previewer); ok {
		return p.Preview(ctx, tc)
	}
	return toolrt.Preview{}, nil
}
