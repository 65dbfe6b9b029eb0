package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"parley/toolrt"
	"parley/toolrt/approval"
	"parley/toolrt/command"
)

// Hook is a command of the person's own that runs before or after calls (A18).
type Hook struct {
	// Tool is the name of the tools it is for, or its beginning with a "*" behind; "" is every tool.
	Tool string
	// Command is a command line for the system's shell.
	Command string
	// Timeout bounds a run; zero is 10 s.
	Timeout time.Duration
}

// Hooks are run in their order.
type Hooks struct {
	Before, After []Hook
}

const (
	hookTimeout = 10 * time.Second
	// hookOutput bounds what a hook may print.
	hookOutput = 256 << 10
)

// matches reports whether the hook is for a tool.
func (h Hook) matches(tool string) bool {
	if prefix, ok := strings.CutSuffix(h.Tool, "*"); ok {
		return strings.HasPrefix(tool, prefix)
	}
	return h.Tool == "" || h.Tool == tool
}

// hookInput is what a hook reads on its stdin.
type hookInput struct {
	Event     string   `json:"event"` // "before" or "after"
	Session   string   `json:"session"`
	Turn      int      `json:"turn"`
	Call      string   `json:"call"` // its path, the same before and after
	Tool      string   `json:"tool"`
	Source    string   `json:"source"`
	Category  string   `json:"category,omitempty"`
	Agents    []string `json:"agents,omitempty"`
	Arguments any      `json:"arguments"` // an object where they are one, else their text
	Dir       string   `json:"dir"`
	Workspace string   `json:"workspace"`
	Status    string   `json:"status,omitempty"` // after: how it ended
	Result    string   `json:"result,omitempty"` // after: what the model gets
	ExitCode  *int     `json:"exitCode,omitempty"`
}

// hookOutcome is what a hook may print; nothing is no opinion.
type hookOutcome struct {
	Decision  string          `json:"decision"` // before: "allow", "deny" or "ask"
	Reason    string          `json:"reason"`   // for the person, and on a denial for the model
	Arguments json.RawMessage `json:"arguments"`
	Note      string          `json:"note"` // after: a line for the model behind the result
}

// judge decides about a call by the policy and the hooks, in the order of A18: a deny rule, or plan
// mode; a hook's deny; a protected target; a hook's ask; a hook's allow; what else the policy says. A
// hook that fails counts as ask. The returned facts have the arguments as hooks have changed them.
func (c *call) judge(ctx context.Context, tc *toolrt.Call, facts approval.Facts) (approval.Facts, approval.Verdict, error) {
	t := c.t
	v := t.s.policy.Judge(facts)
	var asks, allows *approval.Verdict
	for _, h := range t.s.o.Hooks.Before {
		if v.Effect == approval.Deny {
			break
		}
		if !h.matches(facts.Spec.Name) {
			continue
		}
		out, err := c.runHook(ctx, h, c.hookInput("before", tc, facts.Args))
		if ctx.Err() != nil {
			return facts, v, context.Cause(ctx)
		}
		if err != nil {
			asks = hookVerdict(approval.Ask, v, fmt.Sprintf("asked because the hook %s failed: %v", h.name(), err))
			continue
		}
		if args := out.changed(); args != "" && args != facts.Args {
			facts = c.facts(ctx, tc, args)
			v, allows = t.s.policy.Judge(facts), nil // an earlier hook allowed something else
		}
		reason := t.s.redact(strings.TrimSpace(out.Reason))
		switch out.Decision {
		case "deny":
			return facts, *hookVerdict(approval.Deny, v, firstOf(reason, "denied by the hook "+h.name())), nil
		case "ask":
			asks = hookVerdict(approval.Ask, v, firstOf(reason, "asked because the hook "+h.name()+" wants it"))
		case "allow":
			allows = hookVerdict(approval.Allow, v, firstOf(reason, "allowed by the hook "+h.name()))
		case "":
		default:
			asks = hookVerdict(approval.Ask, v, fmt.Sprintf("asked because the hook %s answered %q, which is none of allow, deny, ask", h.name(), out.Decision))
		}
	}
	switch {
	case v.Effect == approval.Deny, v.Protected:
	case asks != nil:
		v = *asks
	case allows != nil:
		v = *allows
	}
	return facts, v, nil
}

func hookVerdict(e approval.Effect, of approval.Verdict, reason string) *approval.Verdict {
	return &approval.Verdict{Effect: e, By: "hook", Reason: reason, Parts: of.Parts}
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// name is the hook for people.
func (h Hook) name() string {
	line := strings.Join(strings.Fields(h.Command), " ")
	if r := []rune(line); len(r) > 60 {
		line = string(r[:59]) + "…"
	}
	return "`" + line + "`"
}

// changed is the argument text that a hook wants instead, "" for none: a text stands for itself,
// other JSON as it is.
func (o hookOutcome) changed() string {
	if len(o.Arguments) == 0 || string(o.Arguments) == "null" {
		return ""
	}
	var text string
	if json.Unmarshal(o.Arguments, &text) == nil {
		return text
	}
	var b bytes.Buffer
	if json.Compact(&b, o.Arguments) != nil {
		return ""
	}
	return b.String()
}

func (c *call) hookInput(event string, tc *toolrt.Call, args string) hookInput {
	s := c.t.s
	args = s.redact(maskArgs(args, tc.Tool.Spec().Secrets()))
	in := hookInput{Event: event, Session: s.Row().ID, Turn: c.t.row.Number, Call: c.path, Tool: tc.Tool.Spec().Name, Source: tc.Tool.Spec().Source,
		Category: c.state.Category, Agents: tc.Agents, Arguments: args, Dir: tc.Dir, Workspace: tc.Workspace}
	if keys := object(args); len(keys) > 0 {
		in.Arguments = json.RawMessage(args)
	}
	return in
}

// HookState is a hook with what it did last in this process.
type HookState struct {
	Hook
	After bool // it runs after calls, else before
	Runs  int
	// Last is what the newest run said, with the call it was for; "" when there was none.
	Last   string
	Failed bool // the newest run failed
}

// HookStates returns the hooks of the session in the order in which they run.
func (s *Session) HookStates() []HookState {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []HookState
	for _, h := range s.o.Hooks.Before {
		all = append(all, s.hookRuns[hookKey{h, false}].of(h, false))
	}
	for _, h := range s.o.Hooks.After {
		all = append(all, s.hookRuns[hookKey{h, true}].of(h, true))
	}
	return all
}

type hookKey struct {
	Hook
	after bool
}

// of fills in which hook it is: a zero state is of one that has not run.
func (h HookState) of(hook Hook, after bool) HookState {
	h.Hook, h.After = hook, after
	return h
}

// runHook runs a hook with its input on stdin and reads what it prints. The error says how it failed.
func (c *call) runHook(ctx context.Context, h Hook, in hookInput) (hookOutcome, error) {
	out, err := c.execHook(ctx, h, in)
	said := firstOf(out.Decision, "no opinion")
	switch {
	case err != nil:
		said = "failed: " + err.Error()
	case in.Event == "after":
		said = firstOf(out.Note, "nothing to note")
	case out.Reason != "":
		said += ": " + out.Reason
	}
	s := c.t.s
	key := hookKey{h, in.Event == "after"}
	last := fmt.Sprintf("call %s, %s: %s", in.Call, in.Tool, firstLine(s.redact(said)))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hookRuns[key] = HookState{Runs: s.hookRuns[key].Runs + 1, Last: last, Failed: err != nil}
	return out, err
}

// execHook runs the command of a hook.
func (c *call) execHook(ctx context.Context, h Hook, in hookInput) (hookOutcome, error) {
	stdin, err := json.Marshal(in)
	if err != nil {
		return hookOutcome{}, err
	}
	limit := h.Timeout
	if limit <= 0 {
		limit = hookTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took longer than %v", limit))
	defer cancel()
	var stdout, stderr limitedBuffer
	p := command.Process{Path: "/bin/sh", Args: []string{"-c", h.Command}, Dir: c.t.s.o.Dir, Env: slices.Concat(command.StripProviderKeys(os.Environ()), c.t.s.o.Env),
		Input: string(stdin) + "\n", Stdout: &stdout, Stderr: &stderr}
	if runtime.GOOS == "windows" {
		p.Path, p.Args = "cmd.exe", []string{"/c", h.Command}
	}
	res, err := command.Run(ctx, p)
	switch {
	case err != nil:
		return hookOutcome{}, err
	case res.Code != 0:
		return hookOutcome{}, fmt.Errorf("%s: %s", res.State, firstLine(strings.TrimSpace(stderr.String())))
	case stdout.full:
		return hookOutcome{}, fmt.Errorf("it printed more than %d bytes", hookOutput)
	}
	var out hookOutcome
	text := strings.TrimSpace(stdout.String())
	if text == "" {
		return out, nil
	}
	dec := json.NewDecoder(strings.NewReader(text))
	if err := dec.Decode(&out); err != nil {
		return hookOutcome{}, fmt.Errorf("it printed no JSON object: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return hookOutcome{}, errors.New("it printed more than one JSON object")
	}
	return out, nil
}

// afterHooks runs the hooks behind an execution; what they note is put behind its result.
func (c *call) afterHooks(ctx context.Context, o *toolrt.Outcome) {
	for _, h := range c.t.s.o.Hooks.After {
		if !h.matches(o.Call.Tool.Spec().Name) {
			continue
		}
		args := o.Call.Arguments
		if o.Effective != "" {
			args = o.Effective
		}
		in := c.hookInput("after", o.Call, args)
		in.Status = string(o.Status)
		if c.state.Category != categoryCredential && (o.Output == nil || !o.Output.Secret) {
			in.Result = o.Message
		}
		if o.Output != nil {
			in.ExitCode = o.Output.ExitCode
		}
		out, err := c.runHook(context.WithoutCancel(ctx), h, in)
		if err != nil {
			c.t.say(fmt.Sprintf("the hook %s failed after %s: %v", h.name(), c.name(), c.t.s.redact(err.Error())))
			continue
		}
		if note := c.t.s.redact(strings.TrimSpace(out.Note)); note != "" {
			c.annotate(o, note)
		}
	}
}

// annotate puts a line behind a result that the model reads. Errors that are JSON stay it.
func (c *call) annotate(o *toolrt.Outcome, note string) {
	if o.Output == nil || o.Output.Secret || c.state.Category != "" {
		return
	}
	before := len(o.Message)
	if o.Message != "" && !strings.HasSuffix(o.Message, "\n") {
		o.Message += "\n"
	}
	o.Message += "[" + note + "]"
	o.Output.Text = o.Message
	if o.Full != "" {
		o.Full = o.Message
	}
	if o.Cut != nil {
		o.Cut.Tail += len(o.Message) - before
	}
}

// limitedBuffer keeps the first hookOutput bytes.
type limitedBuffer struct {
	bytes.Buffer
	full bool
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	n := min(len(p), hookOutput-b.Len())
	b.full = b.full || n < len(p)
	_, _ = b.Buffer.Write(p[:n]) // never fails
	return len(p), nil
}
