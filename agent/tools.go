package agent

import (
	"fmt"

	"parley/agent/program"
	"parley/toolrt"
	"parley/toolrt/command"
	"parley/toolrt/sys"
	"parley/toolrt/web"
)

// runtimeTool makes the tool of the runtime that does the work of a command tool.
func (c *call) runtimeTool() (toolrt.Tool, error) {
	t := c.tool
	readOnly, parallel, idempotent, timeout := t.Flags()
	flags := toolrt.Flags{ReadOnly: readOnly, Parallel: parallel || readOnly, Idempotent: idempotent}
	switch t.Kind() {
	case program.KindBuiltin:
		tool, ok := sys.New(t.BuiltinName())
		if !ok {
			return nil, fmt.Errorf("the built-in tool %s does not exist in this version of parley", t.BuiltinName())
		}
		return tool, nil
	case program.KindEcho:
		return command.Echo{Name: c.name(), Description: t.Description, Body: t.Instructions, Params: t.Arguments}, nil
	case program.KindCommand:
		if timeout == 0 {
			timeout = c.t.s.commandTimeout()
		}
		return &command.Tool{Name: c.name(), Description: t.Description, Interpreter: t.Interpreter(), Script: t.Script(),
			Location: t.Source.Location, ToolDir: t.WorkingDir, Stdin: t.Stdin, Params: t.Arguments, Timeout: timeout,
			Flags: flags, Abort: c.parent == nil}, nil
	case program.KindHTTP:
		return &web.Tool{Name: t.Name, Description: t.Description, URL: t.Interpreter(), Params: t.Arguments,
			Flags: flags, Timeout: timeout, Abort: c.parent == nil}, nil
	}
	return nil, fmt.Errorf("%s is a kind of tool that this version of parley does not run: its body begins with %q",
		c.name(), firstLine(t.Instructions))
}
