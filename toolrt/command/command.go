// Package command runs programs for tools: the "#!" command tools of .gpt programs with their
// interpreter line, script file and environment, and, through [Run], any other program that must
// not outlive its call. A program runs in a session of its own without a terminal, its whole
// process tree ends with the call, and on Linux it can be confined to folders by Landlock.
//
// Start with [Tool] for a command tool, with [Environment] for what it sees, and with [Run] for
// processes. What a call is and when it may run is decided by package toolrt.
package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"parley/toolrt"
)

// finishPrefix at the start of a command's output ends the enclosing chat (4.7).
const finishPrefix = "CHAT FINISH: "

// Tool is a "#!" command tool (6.1 to 6.4). Its fields are not changed once it is used.
type Tool struct {
	Name        string
	Description string
	// Interpreter is the first line of the body without "#!", Script the rest: see [Split].
	Interpreter, Script string
	// Location is the printable place the tool came from, for people.
	Location string
	// ToolDir is the folder of the tool's file, absolute; empty if it has none.
	ToolDir string
	// Stdin says that the command reads its input text on stdin.
	Stdin bool
	// Params is the JSON Schema of the arguments.
	Params json.RawMessage
	// Flags and Timeout come from the tool's metadata; a zero Timeout takes the policy's.
	Flags   toolrt.Flags
	Timeout time.Duration
	// Abort says that a failing command ends the run, as it does when the program's own entry is a
	// command. Calls with a category always do; the others answer the model with the failure (6.4).
	Abort bool
	// Debug sets GPTSCRIPT_DEBUG.
	Debug bool
	// Requirements are the Python packages that the tool's metadata asks for (6.10).
	Requirements string
	// Cache is the folder in which Python tools with requirements have their virtual environments;
	// empty leaves requirements to the person.
	Cache string
}

// Failure is the error of a command that ended the run: its text is the one of 6.4, with what the
// command printed.
type Failure struct {
	Text string
	// Code is the exit code, -1 when there is none.
	Code int
}

func (e *Failure) Error() string { return e.Text }

var (
	_ toolrt.Tool      = (*Tool)(nil)
	_ toolrt.Previewer = (*Tool)(nil)
)

// Spec describes the tool.
func (t *Tool) Spec() toolrt.Spec {
	return toolrt.Spec{
		Name:        t.Name,
		Description: t.Description,
		Parameters:  t.Params,
		Flags:       t.Flags,
		Timeout:     t.Timeout,
		Source:      "command",
		Form:        toolrt.FormScript,
		Detaches:    true,
		Confines:    true,
	}
}

// Display returns the line that names the call on screen (5.11).
func (t *Tool) Display() string {
	if t.Location == "" {
		return "Running " + t.Name
	}
	return fmt.Sprintf("Running %s from %s", t.Name, t.Location)
}

// Preview shows the interpreter line as it will run, and the script below it.
func (t *Tool) Preview(_ context.Context, call *toolrt.Call) (toolrt.Preview, error) {
	p := toolrt.Preview{Summary: t.Display()}
	environ := t.environment(call, call.Arguments)
	lookup := func(name string) string {
		value, _ := Lookup(environ, name)
		return value
	}
	line, err := shellLine(t.Interpreter, "", lookup, InputNames(call.Arguments, t.Params))
	if err != nil {
		return p, fmt.Errorf("show command of tool %q: %w", t.Name, err)
	}
	p.Command = strings.TrimPrefix(line, "exec ")
	if strings.TrimSpace(t.Script) != "" {
		p.Command += "\n" + t.Script
	}
	if text := Requirements(t.Interpreter, t.ToolDir, t.Requirements); text != "" && t.Cache != "" {
		how := "in a virtual environment: pip install"
		if isNode(t.Interpreter) {
			how = "in the tool's folder: npm install"
		}
		p.Command += "\n\nbefore its first run, " + how + "\n" + text
	}
	return p, nil
}

// environment returns what the command sees.
func (t *Tool) environment(call *toolrt.Call, input string) []string {
	e := Env{Call: call.Env, Input: input, Params: t.Params, ToolDir: t.ToolDir, Debug: t.Debug, FoldCase: runtime.GOOS == "windows"}
	if call.Env == nil {
		e.Process = os.Environ()
	}
	if _, ok := Lookup(call.Env, "GPTSCRIPT_WORKSPACE_DIR"); !ok {
		e.Workspace = call.Workspace
	}
	return Environment(e)
}

// Run runs the command. Its output is stdout as it is; stderr is shown as it comes and is not part
// of it. A failed sub-call is an Output that the model reads, any other failure a [Failure], and
// output that begins with "CHAT FINISH: " raises [toolrt.ChatFinish].
func (t *Tool) Run(ctx context.Context, inv *toolrt.Invocation) (toolrt.Output, error) {
	environ := t.environment(inv.Call, inv.Args)
	confine := Confine(inv.Sandbox, inv.Call.Dir, inv.Call.Workspace)
	p, environ, err := t.prepare(ctx, inv, environ, confine)
	if err != nil && ctx.Err() != nil {
		return toolrt.Output{}, ctx.Err()
	}
	if err != nil {
		if t.answers(inv.Call) {
			return toolrt.Output{Text: fmt.Sprintf("ERROR: got (%v) while parsing command", err), IsError: true}, nil
		}
		return toolrt.Output{}, t.failure(fmt.Sprintf("prepare command of tool %q: %v", t.Name, err), -1)
	}
	goesOn := false
	defer func() {
		if !goesOn {
			_ = p.close() // it is in the folder for temporary files
		}
	}()
	s := newStreams(inv)
	proc := Process{
		Path: p.path, Args: p.args, Dir: inv.Call.Dir, Env: environ,
		Stdout: s.stdout(), Stderr: s.stderr(), Started: inv.Process,
		Detach: inv.Background, NoNetwork: inv.Sandbox.NoNetwork,
		Confine: confine,
	}
	if t.Stdin {
		proc.Input = inv.Args
	}
	res, err := Run(ctx, proc)
	if res.Detached != nil {
		goesOn = true
		res.Detached.after = func() { _ = p.close() }
		out := s.output()
		out.Detached = res.Detached
		return out, nil
	}
	if err != nil && ctx.Err() != nil {
		out := s.output()
		out.Meta = LeftMeta(res.Left)
		return out, ctx.Err()
	}
	if err != nil {
		return t.failed(inv.Call, s, Result{Code: -1, State: err.Error()})
	}
	if res.Code != 0 {
		return t.failed(inv.Call, s, res)
	}
	if message, ok := s.first.message(); ok && inv.Call.Category == "" {
		return toolrt.Output{}, &toolrt.ChatFinish{Message: message}
	}
	out := s.output()
	out.ExitCode = new(int)
	return out, nil
}

// prepare makes the command ready to start, and what it needs of a managed runtime before that.
func (t *Tool) prepare(ctx context.Context, inv *toolrt.Invocation, environ, confine []string) (prepared, []string, error) {
	managed, err := t.runtimeEnv(ctx, environ, confine, inv.Sandbox.NoNetwork)
	if err != nil {
		return prepared{}, environ, err
	}
	if managed != nil {
		environ = Merge(append(environ, managed...))
	}
	p, err := prepare(t.Interpreter, t.Script, environ, InputNames(inv.Args, t.Params))
	return p, environ, err
}

// answers reports whether a failure is a result for the model rather than the end of the run.
func (t *Tool) answers(call *toolrt.Call) bool { return call.Category == "" && !t.Abort }

// failed returns the result of a command that failed or could not be started (6.4).
func (t *Tool) failed(call *toolrt.Call, s *streams, res Result) (toolrt.Output, error) {
	out := toolrt.Output{IsError: true}
	if res.Code >= 0 {
		out.ExitCode = &res.Code
	}
	if t.answers(call) {
		out.Text = fmt.Sprintf("ERROR: got (%s) while running tool, OUTPUT: ", res.State)
		out.FromOut = true
		return out, nil
	}
	return toolrt.Output{}, t.failure(fmt.Sprintf("ERROR: %s: %s", &s.failed, res.State), res.Code)
}

func (t *Tool) failure(text string, code int) error {
	return &toolrt.Error{
		Kind: toolrt.KindExecutionFailed, Tool: t.Name, Message: text, Plain: true,
		Cause: &Failure{Text: text, Code: code},
	}
}

// LeftMeta returns [toolrt.Output.Meta] that tells the screen of processes that could not be ended,
// nil if there are none.
func LeftMeta(left []Left) json.RawMessage {
	if len(left) == 0 {
		return nil
	}
	meta, err := json.Marshal(struct {
		Left []Left `json:"left"`
	}{left})
	if err != nil {
		return nil
	}
	return meta
}

// finishMax bounds the text of a chat finish in bytes.
const finishMax = 1 << 20

// finisher keeps the start of stdout for as long as it may be a chat finish.
type finisher struct{ buf bytes.Buffer }

func (f *finisher) write(b []byte) {
	have := f.buf.Bytes()
	if n := len(finishPrefix); len(have) < n {
		have = append(bytes.Clone(have), b[:min(len(b), n-len(have))]...)
		if !strings.HasPrefix(finishPrefix, string(have)) {
			f.buf.Reset()
			f.buf.WriteByte('-') // never matches again
			return
		}
	}
	f.buf.Write(b[:min(len(b), finishMax-f.buf.Len())])
}

func (f *finisher) message() (string, bool) {
	return strings.CutPrefix(f.buf.String(), finishPrefix)
}
