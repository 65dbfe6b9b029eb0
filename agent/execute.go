package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"parley/agent/monitor"
	"parley/agent/program"
	"parley/agent/record"
	"parley/toolrt"
	"parley/toolrt/command"
	"parley/toolrt/sys"
)

// command runs the call of a command tool (contexts first, they reach its environment) and returns
// its result as the state's.
func (c *call) command(ctx context.Context, input string) (*callState, error) {
	if err := c.runContexts(ctx, input); err != nil {
		return nil, err
	}
	tc, err := c.toolCall(input)
	if err != nil {
		return nil, err
	}
	// What goes through filters, or is the program's own result, is not cut before.
	tc.Whole = c.state.Category != "" || c.parent == nil || len(c.t.program().OutputFilters(c.tool)) > 0
	o, err := c.t.s.runtime.Execute(ctx, tc)
	if err != nil {
		return nil, c.controlError(err)
	}
	return c.commandResult(o)
}

// controlError turns what the runtime returns as an error into the run's: a chat finish counts
// only where no filter or context raised it (Q35).
func (c *call) controlError(err error) error {
	if errors.Is(err, toolrt.ErrStopped) {
		return errInterrupted
	}
	return err
}

// commandResult takes the outcome of an execution as the call's result. Where a command's failure
// ends the run (6.4, Q14), it is an error.
func (c *call) commandResult(o *toolrt.Outcome) (*callState, error) {
	c.noteHindered(o)
	if !c.row.Status.Terminal() || o.Status != c.row.Status {
		c.fill(o)
		c.t.queue(record.Rows{Calls: []record.Call{c.row}})
	}
	switch raised := o.Raised; {
	case raised != nil && raised.Finish != nil:
		return nil, raised.Finish
	case raised != nil && raised.Abort != nil:
		return nil, raised.Abort
	}
	text := o.Message
	if c.state.Category == categoryCredential {
		text = o.Full
	}
	if o.Status == toolrt.StatusCancelled && c.t.interrupted() && c.state.Category == "" {
		return c.result(o.Message, true), nil // it ends in the words of 4.6
	}
	if o.Err != nil && (c.state.Category != "" || c.parent == nil && o.Err.Kind != toolrt.KindDenied) {
		if c.t.interrupted() {
			return nil, errInterrupted
		}
		if c.state.Category != "" && o.Err.Kind == toolrt.KindDenied {
			// The message does not say what was denied.
			if o.Decision != nil && o.Decision.By == "nobody" {
				return nil, fmt.Errorf("%s %s: %s: %w", c.state.Category, c.name(), o.Err.Message, ErrNotAllowed)
			}
			return nil, fmt.Errorf("%s %s: %s", c.state.Category, c.name(), o.Err.Message)
		}
		return nil, errors.New(o.Err.Message)
	}
	return c.result(text, o.Failed()), nil
}

// result is the state of a command's call with its result: a chat command waits for the person's
// next text, others have ended.
func (c *call) result(text string, failed bool) *callState {
	if c.tool.Chat {
		st := *c.state
		st.Result = &text
		return &st
	}
	st := c.final(text)
	st.IsError = failed
	return st
}

// describe is the call as the runtime sees it.
func (c *call) describe(input string) *toolrt.Call {
	tc := &toolrt.Call{ID: c.path, Turn: c.t.row.Number, Name: c.name(), Label: c.state.Label, Arguments: input,
		OutputID: outputID(c.t.row.Number, c.path, c.runs), Category: c.state.Category, Agents: c.agentsAbove(),
		Env: c.env, Dir: c.t.s.o.Dir, Workspace: c.t.s.o.Workspace, Host: host{c}}
	if c.tool.Kind() == program.KindBuiltin {
		tc.Denied = denies(c.t.s.policy, c.tool.BuiltinName())
	}
	if c.parent != nil && c.parent.model != nil {
		tc.Window = c.parent.model.Info().ContextWindow
	}
	return tc
}

// agentsAbove names who asks for the call.
func (c *call) agentsAbove() []string {
	if c.parent == nil {
		return nil
	}
	return c.parent.agents()
}

// outputID names the file of an execution's whole output.
func outputID(turn int, path string, run int) string {
	return fmt.Sprintf("t%d_%s_%d", turn, strings.ReplaceAll(path, "/", "_"), run)
}

// toolCall is the call with the tool that does its work.
func (c *call) toolCall(input string) (*toolrt.Call, error) {
	tc := c.describe(input)
	var err error
	if tc.Tool, err = c.runtimeTool(); err != nil {
		return nil, err
	}
	if len(c.contexts) > 0 {
		tc.Env = append(slices.Clone(tc.Env), "GPTSCRIPT_CONTEXT="+c.contextText())
	}
	if c.tool.Kind() != program.KindBuiltin {
		tc.Script = c.script()
		tc.ScriptHash = hashOf([]byte(tc.Script))
	}
	c.row.Display = c.t.s.redact(display(c.tool, input))
	return tc, nil
}

// script is the text of a tool that is not built in: what a question about it shows, and what rules
// bind to. The daemon that a request goes to is part of it, and so are packages it needs.
func (c *call) script() string {
	if t := c.tool; t.Kind() == program.KindCommand && c.t.s.cacheFor(t) != "" {
		if text := command.Requirements(t.Interpreter(), t.WorkingDir, t.MetaData[requirements]); text != "" {
			return t.Instructions + "\n# " + requirements + "\n" + text
		}
	}
	if daemon, err := c.daemonOf(); err == nil && daemon != nil && daemon != c.tool {
		return c.tool.Instructions + "\n" + daemon.Instructions
	}
	return c.tool.Instructions
}

// contextText is what a command finds in GPTSCRIPT_CONTEXT.
func (c *call) contextText() string {
	var parts []string
	for _, in := range c.contexts {
		parts = append(parts, in.Content)
	}
	return strings.TrimRight(strings.Join(parts, "\n"), " \t\r\n")
}

// display is the one-line description of a command call (5.11).
func display(t *program.Tool, input string) string {
	if t.Kind() == program.KindBuiltin {
		return sys.Display(t.BuiltinName(), input)
	}
	if t.Name == "" {
		return ""
	}
	return fmt.Sprintf("Running %s from %s", t.Name, t.Source.Location)
}

// flags are those the tool claims, or those of the built-in.
func (c *call) flags() toolrt.Flags {
	if c.tool.Kind() == program.KindBuiltin {
		if tool, ok := c.t.s.o.Builtins.Get(c.tool.BuiltinName()); ok {
			return tool.Spec().Flags
		}
	}
	readOnly, parallel, idempotent, _ := c.tool.Flags()
	return toolrt.Flags{ReadOnly: readOnly, Parallel: parallel || readOnly, Idempotent: idempotent}
}

// inputKept is how much of arguments that are too large stands in a call's row.
const inputKept = 4 << 10

// rowInput is the argument text of a call as its row keeps it: redacted, and of one that is too large
// to be run the beginning, its length and its hash (R10). The whole of it stands in the conversation.
func (s *Session) rowInput(text string) string {
	if len(text) <= s.o.Runtime.WithDefaults().MaxArgumentBytes {
		return s.redact(text)
	}
	start := strings.ToValidUTF8(s.redact(text[:min(len(text), inputKept)]), "")
	return fmt.Sprintf("%s… [%d bytes, hash %s]", start, len(text), hashOf([]byte(text)))
}

// execution is what an execution was made of, as it is recorded.
type execution struct {
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"`
	OutputID  string `json:"outputID,omitempty"`
}

// Do makes an execution durable (toolrt.Recorder): the commit of its begin also writes the call's
// row as running and the decision, the commit of its end the row with its result.
func (t *turn) Do(ctx context.Context, exec toolrt.Execution, run func(ctx context.Context) *toolrt.Outcome) (*toolrt.Outcome, error) {
	c := t.call(exec.Call.ID)
	key := c.executionKey()
	c.runs++
	if o := t.settled(key); o != nil {
		run = func(context.Context) *toolrt.Outcome { return o }
	}
	// What lasts no longer than the process is done again in any case.
	repeatable := exec.Spec.Flags.ReadOnly || exec.Spec.Flags.Idempotent || sys.Safe(exec.Spec.Name) ||
		passing(c.state.Category)
	if !t.recorded[key].Finished || t.played != nil {
		c.starts(exec)
	}
	var o *toolrt.Outcome
	result, recorded, err := t.do(ctx, effect{kind: record.EntryExecution, key: key,
		request:    execution{exec.Spec.Name, exec.Arguments, exec.Call.OutputID},
		repeatable: repeatable, durable: !repeatable},
		func(ctx context.Context) (any, record.Rows, error) {
			done := c.commandEvents(exec)
			o = run(ctx)
			done(o)
			if o.Err != nil && errors.Is(o.Err.Cause, ErrNobody) {
				return nil, record.Rows{}, o.Err.Cause // stays open: asked again when somebody is there
			}
			if waits := c.unanswered.Load(); waits != nil && o.Failed() {
				return nil, record.Rows{}, waits // the same, asked by the tool's command
			}
			c.withhold(o)
			c.afterHooks(ctx, o)
			c.fill(o)
			result, texts := c.kept(o)
			return result, record.Rows{Calls: []record.Call{c.row}, Texts: texts}, nil
		})
	if err != nil || !recorded {
		return o, err
	}
	return c.taken(ctx, result)
}

// commandRequest and commandResponse are what callChat events say of a command's run (5.11).
type (
	commandRequest struct {
		Command []string `json:"command"`
		Input   string   `json:"input"`
	}
	commandResponse struct {
		Output     string `json:"output"`
		FullOutput string `json:"fullOutput"`
		Err        string `json:"err,omitempty"`
	}
)

// commandEvents tells of the run of a "#!" command, and with the returned function how it ended. Of a
// credential's nothing is said but that, and the exit status (Q16).
func (c *call) commandEvents(exec toolrt.Execution) (done func(o *toolrt.Outcome)) {
	if c.tool.Kind() != program.KindCommand {
		return func(*toolrt.Outcome) {}
	}
	secret := c.state.Category == categoryCredential
	id := fmt.Sprintf("%s#%d", c.path, c.runs)
	var request commandRequest
	if !secret {
		request = commandRequest{Command: strings.Fields(c.tool.Interpreter()), Input: c.t.s.redact(exec.Arguments)}
	}
	c.event(monitor.Event{Type: monitor.CallChat, ChatCompletionID: id, ChatRequest: request})
	return func(o *toolrt.Outcome) {
		var response commandResponse
		if !secret {
			response = commandResponse{Output: o.Message, FullOutput: o.Message}
		}
		switch {
		case o.Output != nil && o.Output.ExitCode != nil && *o.Output.ExitCode != 0:
			response.Err = fmt.Sprintf("exit status %d", *o.Output.ExitCode)
		case o.Err != nil && secret:
			response.Err = string(o.Err.Kind)
		case o.Err != nil:
			response.Err = c.t.s.redact(o.Err.Message)
		}
		c.event(monitor.Event{Type: monitor.CallChat, ChatCompletionID: id, ChatResponse: response})
	}
}

// withhold takes what a credential's command or request had printed out of its failure: it may hold
// the secret (Q16). How it ended stays.
func (c *call) withhold(o *toolrt.Outcome) {
	if c.state.Category != categoryCredential || o.Err == nil || o.Err.Kind != toolrt.KindExecutionFailed || c.tool.Kind() == program.KindBuiltin {
		return
	}
	how := "it failed"
	if failure := (*command.Failure)(nil); errors.As(o.Err.Cause, &failure) && failure.Code >= 0 {
		how = fmt.Sprintf("exit status %d", failure.Code)
	}
	e := *o.Err
	e.Message, e.Partial, e.Cause = how+"; what it printed is not shown, it may hold the secret", "", nil
	o.Err, o.Message = &e, e.Message
}

// starts queues what the commit of an execution's begin writes beside it: the row as running, and a
// decision that no person made.
func (c *call) starts(exec toolrt.Execution) {
	c.row.Status, c.row.Started = toolrt.StatusRunning, c.t.s.now()
	c.row.Decision = &exec.Decision
	rows := record.Rows{Calls: []record.Call{c.row}}
	if exec.Decision.By != "user" {
		rows.Approvals = []record.Approval{c.approval(exec.Arguments, exec.Decision)}
	}
	c.t.queue(rows)
}

// executionKey is the key of the call's next execution. What a credential tool gave is not in the
// record, and the server of a model's provider has ended, so their executions are never taken from
// there: they get the next free key.
func (c *call) executionKey() record.Key {
	key := record.Key{Turn: c.t.row.Number, Path: c.path, Ordinal: c.runs}
	for passing(c.state.Category) {
		if _, ok := c.t.recorded[key]; !ok {
			break
		}
		key.Ordinal++
	}
	return key
}

// passing reports whether what calls of the category come to lasts no longer than the process.
func passing(category string) bool {
	return category == categoryCredential || category == categoryProvider
}

// settled returns the outcome of an execution in doubt that a person has answered for, or that is
// reported as interrupted; nil when it is to be run (again).
func (t *turn) settled(key record.Key) *toolrt.Outcome {
	old, ok := t.recorded[key]
	if !ok || !old.InDoubt() {
		return nil
	}
	switch r := t.resolved[key]; r.how {
	case ResolveRerun:
		return nil
	case ResolveResult:
		return &toolrt.Outcome{Output: &toolrt.Output{Text: r.text}, Message: t.s.redact(r.text),
			Status: toolrt.StatusSuccess, StartedAt: old.Started, FinishedAt: t.s.now()}
	}
	var request execution
	_ = json.Unmarshal(old.Request, &request) // without it, the message names no tool
	return &toolrt.Outcome{Err: &toolrt.Error{Kind: toolrt.KindInterrupted, Tool: request.Tool,
		Message: strings.TrimSpace("parley ended while this tool ran, what it did is unknown: " + request.Tool)},
		Message: interruptedRun, Status: toolrt.StatusInterrupted, StartedAt: old.Started, FinishedAt: t.s.now()}
}

// interruptedRun answers a call whose process died while it ran.
const interruptedRun = `{"error":"the program ended while this call ran; its result is unknown and it may have run: check before you repeat it","kind":"interrupted"}`

// fill brings the call's row up to the outcome.
func (c *call) fill(o *toolrt.Outcome) {
	r := &c.row
	r.Status, r.Result = o.Status, o.Message
	r.Error = ""
	if o.Err != nil {
		r.Error = string(o.Err.Kind)
	}
	if o.Output != nil {
		r.ExitCode = o.Output.ExitCode
		if o.Output.Secret {
			r.Result = ""
		}
	}
	if c.state.Category == categoryCredential {
		r.Result = ""
	}
	if o.Decision != nil {
		r.Decision = o.Decision
	}
	if o.Effective != "" {
		r.Input = c.t.s.redact(o.Effective)
	}
	r.Truncated, r.OutputBytes, r.OutputLines, r.OutputID = o.Truncated, o.OutputBytes, o.OutputLines, o.OutputID
	if !o.StartedAt.IsZero() {
		r.Started = o.StartedAt
	}
	r.Finished = o.FinishedAt
	if r.Finished.IsZero() {
		r.Finished = c.t.s.now()
	}
}

// call returns the open call of that path.
func (t *turn) call(path string) *call {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.calls[path]
}

// Output passes the output of a running call on to the screens (toolrt.Observer).
func (t *turn) Output(tc *toolrt.Call, chunk string) {
	if tc.Category == categoryCredential {
		return
	}
	c := t.call(tc.ID)
	if c == nil {
		return
	}
	c.event(monitor.Event{Type: monitor.CallProgress, Delta: &monitor.Delta{Kind: monitor.PieceOutput, Text: chunk, Agent: c.name()}})
}
