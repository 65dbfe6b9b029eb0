package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"parley/agent/monitor"
	"parley/agent/program"
	"parley/agent/record"
	"parley/toolrt"
)

// batch runs the calls of the last reply through the tool runtime and puts their results into the
// state, in call order. An error ends the run: of several the first in call order counts, and one
// that is more than a cancellation goes first.
func (c *call) batch(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	refused, err := c.guardLoop(ctx)
	if err != nil {
		return c.batchError(nil, err)
	}
	var subs []*subCall
	var calls []*toolrt.Call
	for i, st := range c.state.Subs {
		if st.Final != nil {
			continue
		}
		sub, err := c.newSubCall(st, i, cancel)
		if err != nil {
			return err
		}
		sub.placeIn(len(c.state.Subs))
		if refused[i] != nil {
			sub.tc.Refused = refused[i]
		}
		subs, calls = append(subs, sub), append(calls, sub.tc)
	}
	outcomes, err := c.t.s.runtime.ExecuteBatch(ctx, calls)
	for i, o := range outcomes {
		subs[i].take(ctx, o)
		c.state.Subs[subs[i].place] = subs[i].st
	}
	return c.batchError(subs, err)
}

func (c *call) batchError(subs []*subCall, err error) error {
	var first error
	for _, s := range subs {
		if s.err == nil {
			continue
		}
		if !errors.Is(s.err, context.Canceled) && !errors.Is(s.err, errSibling) {
			return s.err
		}
		if first == nil {
			first = s.err
		}
	}
	switch {
	case c.t.interrupted():
		return errInterrupted
	case errors.Is(err, toolrt.ErrStopped):
		c.t.s.Interrupt()
		return errInterrupted
	case err != nil:
		return err
	}
	return first
}

// errSibling is the cause of a batch's context after one of its calls ended the run.
var errSibling = errors.New("another call of the same reply failed")

// subCall is one call of a reply on its way through the runtime. A command that needs nothing
// around it goes to the runtime as it is; an agent, or a command with contexts, credentials or
// filters, goes as a delegating tool whose leaf comes back to the runtime by itself.
type subCall struct {
	parent *call
	call   *call // nil for an unknown tool
	st     *callState
	place  int
	tc     *toolrt.Call
	leaf   bool
	cancel context.CancelCauseFunc
	err    error
}

func (c *call) newSubCall(st *callState, place int, cancel context.CancelCauseFunc) (*subCall, error) {
	s := &subCall{parent: c, st: st, place: place, cancel: cancel}
	if st.ToolID == "" {
		s.tc = &toolrt.Call{ID: st.Path, Index: place, Name: program.Normalize(st.ToolName), Label: st.Label,
			Arguments: st.Input, Visible: c.visible()}
		return s, nil
	}
	var err error
	if s.call, err = c.t.newCall(c, st); err != nil {
		return nil, err
	}
	s.call.row.Round, s.call.row.Index = c.state.Rounds, place
	s.leaf = s.call.plainCommand()
	if s.leaf {
		s.call.event(monitor.Event{Type: monitor.CallStart, Content: s.call.secret(st.Input)})
		st.Start = st.Input
		if s.tc, err = s.call.toolCall(st.Input); err == nil {
			s.tc.Arguments, s.tc.Refused = st.arguments(s.tc.Tool)
			if c.t.recorded[s.call.executionKey()].Finished {
				s.tc.Refused = nil // its result is on record: it needs no arguments
			}
		}
	} else {
		s.tc, err = s.call.describe(st.Input), nil
		s.tc.Tool = s
	}
	if err == nil {
		s.tc.Index, s.tc.CutOff = place, st.cutOff
	}
	return s, err
}

func (s *subCall) placeIn(batch int) {
	if s.call != nil {
		s.call.place, s.call.batchSize = s.place+1, batch
	}
}

// visible lists the names the model may use.
func (c *call) visible() []string {
	var names []string
	for _, o := range c.offered() {
		names = append(names, o.Name)
	}
	return names
}

// plainCommand reports whether nothing but the command itself belongs to the call.
func (c *call) plainCommand() bool {
	p, t := c.t.program(), c.tool
	return t.IsCommand() && !t.Redirects() && c.reached() &&
		len(p.Contexts(t))+len(p.Credentials(t))+len(p.InputFilters(t))+len(p.OutputFilters(t)) == 0
}

// Spec describes the call to the scheduler: its flags order it.
func (s *subCall) Spec() toolrt.Spec {
	flags := s.call.flags()
	flags.Delegating = true
	return toolrt.Spec{Name: s.call.name(), Description: s.call.tool.Description, Flags: flags, Source: "program"}
}

// Prepare asks whether a command may run as soon as the batch begins, unless its input filters
// have yet to say with what.
func (s *subCall) Prepare(ctx context.Context) error {
	if !s.call.tool.IsCommand() || len(s.call.t.program().InputFilters(s.call.tool)) > 0 || s.call.tool.Redirects() {
		return nil
	}
	tc, err := s.call.toolCall(s.st.Input)
	if err != nil {
		return err
	}
	d, err := s.call.t.Approve(ctx, tc)
	switch {
	case err != nil:
		return err
	case d.Stop:
		return toolrt.ErrStopped
	case !d.Allow:
		return toolrt.DenialError(tc.Name, d)
	}
	return nil
}

// Run runs the whole call. Its error ends the run, so the others of the batch are cancelled.
func (s *subCall) Run(ctx context.Context, _ *toolrt.Invocation) (toolrt.Output, error) {
	st, err := s.call.start(ctx, s.st.Input)
	if st != nil {
		s.st = st
	}
	if err != nil {
		s.err = err
		s.cancel(errSibling)
		return toolrt.Output{}, err
	}
	return toolrt.Output{Text: st.content(), IsError: st.IsError}, nil
}

// take puts an outcome into the state of the call.
func (s *subCall) take(ctx context.Context, o *toolrt.Outcome) {
	switch {
	case s.call == nil:
		s.st = s.st.finished(o.Message, true)
		s.parent.t.queue(record.Rows{Calls: []record.Call{s.parent.missingRow(s.st, o)}})
	case s.leaf:
		st, err := s.call.commandResult(o)
		if st, err = s.call.end(ctx, st, err); err != nil {
			s.err = err
			return
		}
		st.IsError = o.Failed()
		s.st = st
	case s.err == nil && s.st.Final == nil && !s.st.waiting():
		// The runtime ended the call before it ran: denied, skipped, cancelled, panicked.
		s.st = s.st.finished(o.Message, true)
		s.call.fill(o)
		s.parent.t.queue(record.Rows{Calls: []record.Call{s.call.row}})
	}
}

func (s *callState) finished(result string, isError bool) *callState {
	return &callState{Path: s.Path, ToolID: s.ToolID, WireID: s.WireID, ToolName: s.ToolName,
		Label: s.Label, Turn: s.Turn, Final: &result, IsError: isError, Input: s.Input}
}

// missingRow is the row of a call of an unknown tool.
func (c *call) missingRow(st *callState, o *toolrt.Outcome) record.Call {
	now := c.t.s.now()
	return record.Call{Path: st.Path, Parent: c.path, Turn: c.t.row.Number, Label: st.Label, WireID: st.WireID,
		Round: c.state.Rounds, Index: o.Call.Index, Tool: st.ToolName, Input: c.t.s.rowInput(st.Input),
		Status: o.Status, Result: o.Message, Error: string(o.Err.Kind), Created: now, Finished: now}
}

// subCallEvents lists the pending calls by wire id.
func (c *call) subCallEvents() map[string]monitor.SubCall {
	calls := make(map[string]monitor.SubCall, len(c.state.Subs))
	for _, st := range c.state.Subs {
		calls[st.WireID] = monitor.SubCall{Missing: st.ToolID == "", ToolID: st.ToolID, Input: c.t.s.rowInput(st.Input)}
	}
	return calls
}

// event emits an event about the call.
func (c *call) event(e monitor.Event) {
	e.Path = c.path
	e.CallContext = c.context()
	c.t.s.emit(e)
}

// context is the call's identity in the event format.
func (c *call) context() *monitor.CallContext {
	cc := &monitor.CallContext{ID: c.path, Tool: c.tool, AgentGroup: c.state.Group, InputContext: c.contexts,
		ToolCategory: c.state.Category, ToolName: c.state.ToolName, DisplayText: c.row.Display}
	if c.parent != nil {
		cc.ParentID = c.parent.path
	}
	for p := c; p != nil; p = p.parent {
		for _, ref := range p.state.Group {
			if ref.ToolID == p.tool.ID {
				cc.CurrentAgent = ref
				return cc
			}
		}
	}
	return cc
}

// groupFor is the agent group of a call of the tool below c (5.6).
func (c *call) groupFor(toolID string) []program.Reference {
	own := c.t.program().Agents(c.tool)
	for _, ref := range own {
		if ref.ToolID == toolID {
			return own
		}
	}
	return c.state.Group
}

// otherAgents is the group a chat tool sees beside its own agents.
func (c *call) otherAgents() []program.Reference {
	if !c.tool.Chat {
		return nil
	}
	return c.state.Group
}

// becomeTarget makes a #!sys.call call, or one that runs an operation, one of its target (6.9): the
// target runs in its place.
func (c *call) becomeTarget() error {
	find := c.callTarget
	if c.tool.OperationRun() {
		find = c.operationTarget
	}
	target, input, err := find()
	if err != nil {
		return err
	}
	c.tool, c.state.ToolID, c.state.Start = target, target.ID, input
	c.row.Agent, c.row.Chat, c.row.ToolID = target.IsPrompt(), target.Chat, target.ID
	return c.open()
}

// callTarget reads "#!sys.call NAME [words…] [with ARGS]" and makes the target's input: the
// caller's object, the mapped arguments over it, then the words and the body.
func (c *call) callTarget() (*program.Tool, string, error) {
	line, body, _ := strings.Cut(c.tool.Instructions, "\n")
	line, with, _ := strings.Cut(strings.TrimPrefix(line, "#!sys.call"), " with ")
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil, "", errors.New("#!sys.call names no tool")
	}
	refs := c.tool.ToolMapping[words[0]]
	if len(refs) == 0 {
		return nil, "", fmt.Errorf("target tool %s not found, must reference in `tools:` fields", words[0])
	}
	target := c.t.program().Tool(refs[0].ToolID)
	in := map[string]any{}
	if c.state.Start != "" {
		if in = object(c.state.Start); len(in) == 0 && strings.TrimSpace(c.state.Start) != "{}" {
			return nil, "", fmt.Errorf("input of #!sys.call %s is no JSON object", words[0])
		}
	}
	mapped, err := program.MapArgs(target, strings.TrimSpace(with), c.state.Start)
	if err != nil {
		return nil, "", err
	}
	for k, v := range object(mapped) {
		in[k] = v
	}
	in["TOOL_CALL_ARGS"] = strings.Join(words[1:], " ")
	in["TOOL_CALL_BODY"] = body
	text, err := json.Marshal(in)
	return target, string(text), err
}
