package sys

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"parley/toolrt"
	"parley/toolrt/command"
)

// noTerminal keeps programs from starting something that waits for a person. They apply unless
// the program gave these variables values of its own.
var noTerminal = []string{
	"PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "SYSTEMD_PAGER=cat", "EDITOR=false", "VISUAL=false",
	"GIT_EDITOR=false", "GIT_SEQUENCE_EDITOR=false", "GIT_TERMINAL_PROMPT=0", "TERM=dumb",
}

// execute is sys.exec: a command line in a shell. Its output is stdout and stderr as they came.
func execute(ctx context.Context, inv *toolrt.Invocation, a args) (toolrt.Output, error) {
	return runShell(ctx, inv, a, inv.Background)
}

// runShell runs the command line of a call until it ends, or until background is closed and it goes
// on by itself.
func runShell(ctx context.Context, inv *toolrt.Invocation, a args, background <-chan struct{}) (toolrt.Output, error) {
	dir := a.or("directory", ".")
	p := command.Process{
		Path: "/bin/sh", Args: []string{"-c", a["command"]},
		Dir: absolute(inv.Call.Dir, dir), Env: execEnvironment(inv.Call), Stdout: inv.Out, Started: inv.Process,
		Detach: background, NoNetwork: inv.Sandbox.NoNetwork,
		Confine: command.Confine(inv.Sandbox, inv.Call.Dir, inv.Call.Workspace),
	}
	if runtime.GOOS == "windows" {
		p.Path, p.Args = "cmd.exe", []string{"/c", a["command"]}
	}
	res, err := command.Run(ctx, p)
	switch {
	case res.Detached != nil:
		return toolrt.Output{FromOut: true, Detached: res.Detached}, nil
	case err != nil && ctx.Err() != nil:
		return toolrt.Output{FromOut: true, Meta: command.LeftMeta(res.Left)}, ctx.Err()
	case err != nil:
		res = command.Result{Code: -1, State: asGiven(err, dir).Error()}
	}
	out := toolrt.Output{FromOut: true, IsError: res.Code != 0}
	if res.Code >= 0 {
		out.ExitCode = &res.Code
	}
	if out.IsError {
		out.Text = fmt.Sprintf("ERROR: %s\nOUTPUT:\n", res.State)
	}
	return out, nil
}

// execEnvironment is the environment of the call with the lines of the workspace's gptscript.env
// (6.5) above it.
func execEnvironment(call *toolrt.Call) []string {
	environ := callEnvironment(call)
	extra := workspaceEnvironment(call.Workspace)
	out := make([]string, 0, len(environ)+len(noTerminal)+len(extra))
	out = append(out, environ...)
	for _, kv := range noTerminal {
		name, _, _ := strings.Cut(kv, "=")
		have, set := command.Lookup(environ, name)
		if inherited, _ := os.LookupEnv(name); !set || have == inherited {
			out = append(out, kv)
		}
	}
	return command.Merge(append(out, extra...))
}

// callEnvironment is the environment of the call, or of the process without provider keys if the
// call has none.
func callEnvironment(call *toolrt.Call) []string {
	if call.Env != nil {
		return call.Env
	}
	return command.StripProviderKeys(os.Environ())
}

// workspaceEnvironment returns the KEY=VALUE lines of <workspace>/gptscript.env.
func workspaceEnvironment(workspace string) []string {
	if workspace == "" {
		return nil
	}
	content, err := os.ReadFile(filepath.Join(workspace, "gptscript.env"))
	if err != nil {
		return nil // it is optional
	}
	var environ []string
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		if name, _, ok := strings.Cut(line, "="); ok && name != "" && !strings.ContainsRune(line, 0) {
			environ = append(environ, line)
		}
	}
	return environ
}

// getenv is sys.getenv: the call's variable, else the process's. Keys of model providers and
// parley's passphrase are nobody's to read.
func getenv(_ context.Context, inv *toolrt.Invocation, a args) (toolrt.Output, error) {
	name := a["name"]
	value, _ := command.Lookup(inv.Call.Env, name)
	if value == "" && !command.ProviderKey(name) {
		value = os.Getenv(name)
	}
	if value == "" {
		return text("%s is not set or has no value", name), nil
	}
	return toolrt.Output{Text: value}, nil
}
