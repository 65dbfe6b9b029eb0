package agent

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"parley/agent/program"
	"parley/toolrt"
	"parley/toolrt/command"
	"parley/toolrt/web"
)

// requestedEnv is the metadata key by which a daemon names variables it wants of its callers (6.6).
const requestedEnv = "requestedEnvVars"

// daemonOf returns the daemon tool that a request goes to: the tool itself, or the one that the host
// of its URL names. Nil means that the URL is an ordinary address.
func (c *call) daemonOf() (*program.Tool, error) {
	t := c.tool
	if t.Kind() == program.KindDaemon {
		return t, nil
	}
	name := web.DaemonName(t.Interpreter())
	if name == "" || t.Kind() != program.KindHTTP {
		return nil, nil
	}
	refs := t.ToolMapping[name]
	if len(refs) == 1 {
		if daemon := c.t.program().Tool(refs[0].ToolID); daemon != nil && daemon.Kind() == program.KindDaemon {
			return daemon, nil
		}
	}
	return nil, fmt.Errorf("invalid reference [%s] to a daemon tool from [%s], missing \"tools: %s\" parameter", name, t.ID, name)
}

// webTool is the runtime's tool of an HTTP tool, or of a daemon's own input.
func (c *call) webTool(flags toolrt.Flags) *web.Tool {
	t := c.tool
	_, _, _, timeout := t.Flags()
	tool := &web.Tool{Name: t.Name, Description: t.Description, URL: t.Interpreter(), Params: t.Arguments,
		Flags: flags, Timeout: timeout, Abort: c.parent == nil}
	daemon, err := c.daemonOf()
	if err != nil {
		// The call says so: its failure is the model's to read, like that of any request (Q30).
		tool.Daemon = &web.Daemon{Start: func(context.Context, *toolrt.Invocation) (command.Endpoint, error) { return command.Endpoint{}, err }}
	}
	if daemon == nil {
		return tool
	}
	path, line := daemon.Daemon()
	if daemon == t {
		tool.URL = "http://localhost" + path
	}
	if tool.Timeout == 0 {
		tool.Timeout = c.t.s.commandTimeout() // it may have to be started first
	}
	d := command.Daemon{ID: daemon.ID, Name: toolName(daemon), Command: line, Script: daemon.Script(), Path: path, ToolDir: daemon.WorkingDir}
	wants := strings.FieldsFunc(daemon.MetaData[requestedEnv], func(r rune) bool { return r == ',' || r == ' ' })
	tool.Daemon = &web.Daemon{Command: daemonText(d), Wants: wants,
		Start: func(ctx context.Context, inv *toolrt.Invocation) (command.Endpoint, error) {
			return c.t.s.startDaemon(ctx, inv, d)
		}}
	return tool
}

// daemonText is what starting a daemon runs, as questions show it.
func daemonText(d command.Daemon) string {
	if strings.TrimSpace(d.Script) == "" {
		return d.Command
	}
	return d.Command + "\n" + d.Script
}

// startDaemon starts a daemon in the environment of the call that needs it first.
func (s *Session) startDaemon(ctx context.Context, inv *toolrt.Invocation, d command.Daemon) (command.Endpoint, error) {
	environ := command.Environment(command.Env{Call: slices.Clone(inv.Call.Env), Input: "{}", ToolDir: d.ToolDir,
		FoldCase: runtime.GOOS == "windows"})
	if inv.Sandbox.NoNetwork {
		return command.Endpoint{}, fmt.Errorf("the daemon tool %s cannot be reached without the network, which the sandbox turns off", d.Name)
	}
	confine := command.Confine(inv.Sandbox, inv.Call.Dir, inv.Call.Workspace)
	d.Dir = inv.Call.Dir
	return s.daemons.Endpoint(ctx, d, environ, confine)
}
