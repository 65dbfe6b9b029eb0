package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"parley/agent/model"
	"parley/agent/monitor"
	"parley/agent/program"
	"parley/agent/record"
	"parley/toolrt"
)

// Categories of calls: what a call is part of. Calls below inherit it.
const (
	categoryContext    = "context"
	categoryCredential = "credential"
	categoryInput      = "input"
	categoryOutput     = "output"
	// categoryServer is that of the calls that start MCP servers and ask them for their tools.
	categoryServer = "server"
)

// maxDepth bounds the nesting of calls.
const maxDepth = 32

// errDepth says that calls are nested too deep.
var errDepth = fmt.Errorf("calls are nested more than %d deep", maxDepth)

// call is one open call within a turn. It is used by one goroutine at a time.
type call struct {
	t      *turn
	parent *call
	tool   *program.Tool
	model  model.Model
	state  *callState
	row    record.Call
	conv   *conversation // of a prompt tool, else nil
	depth  int
	// shown says that the person talks to this call, or would if it were the deepest: the program's
	// own, and every chat below it, through whatever calls.
	shown bool
	// filtered says that output filters change what the person gets to see.
	filtered bool
	// wasOpen says that the call was open when the turn began.
	wasOpen bool

	env      []string // of the call and everything below it
	contexts []monitor.InputContext
	path     string
	labels   atomic.Int32 // calls made by this call in this turn
	replies  int          // completions in this turn: their ordinal
	runs     int          // executions in this turn
	asks     int          // decisions in this turn
	// shownQuestions counts the questions about this call, so that each has an id of its own.
	shownQuestions int
	prompts        int  // questions in this turn
	hidesPieces    bool // a tool on offer has secret arguments
	loopsFrom      int  // the message from which on loops are looked for
	need           *credentialNeed
	// unanswered is what the call's command asked through the prompt server and nobody answered.
	unanswered atomic.Pointer[NobodyError]

	decided    *toolrt.Decision // the one that covers the arguments decidedFor
	decidedFor string
	// place and batchSize say which of how many calls of a reply this is, from 1.
	place, batchSize int
}

// newCall makes the call that st describes, below parent (nil for the entry).
func (t *turn) newCall(parent *call, st *callState) (*call, error) {
	tool := t.s.tool(t.program(), st.ToolID)
	if st.Category == categoryServer {
		tool = t.servers.base.Tool(st.ToolID) // as it was before it was asked
	}
	if tool == nil {
		return nil, fmt.Errorf("the program has no tool %q any more", st.ToolID)
	}
	c := &call{t: t, parent: parent, tool: tool, state: st, path: st.Path, shown: parent == nil || st.Category == "" && tool.Chat}
	c.wasOpen = st.Turn != t.row.Number
	if st.Created == 0 {
		st.Created = t.s.now().UnixMilli()
	}
	c.row = record.Call{Path: st.Path, Turn: st.Turn, Label: st.Label, WireID: st.WireID,
		ToolID: st.ToolID, Agent: tool.IsPrompt(), Chat: tool.Chat, Category: st.Category,
		Input: t.s.rowInput(st.Input), Status: toolrt.StatusPending, Created: time.UnixMilli(st.Created)}
	c.row.Tool = c.name()
	if c.wasOpen {
		c.row.Started = c.row.Created
	}
	if parent == nil {
		c.env = t.s.o.Env
		t.root = c
	} else {
		c.depth = parent.depth + 1
		c.env = parent.env
		c.row.Parent = parent.path
	}
	if c.depth > maxDepth {
		return nil, errDepth
	}
	return c, c.open()
}

// open gives the call its model and its conversation and makes it known to the turn.
func (c *call) open() error {
	c.filtered = len(c.t.program().OutputFilters(c.tool)) > 0
	if c.tool.IsPrompt() || c.tool.IsNoop() {
		var err error
		if c.model, err = c.t.modelFor(c.tool); err != nil {
			return err
		}
		if c.conv, err = c.t.s.load(c.t.ctx, c.path, c.state.Messages); err != nil {
			return fmt.Errorf("load conversation of call %s: %w", c.path, err)
		}
	}
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	c.t.calls[c.path] = c
	return nil
}

// name is what people know the call's tool by.
func (c *call) name() string {
	if c.state.ToolName != "" {
		return c.state.ToolName
	}
	return toolName(c.tool)
}

func toolName(t *program.Tool) string {
	switch {
	case t.Name != "":
		return t.Name
	case t.Kind() == program.KindBuiltin:
		return t.BuiltinName()
	}
	return program.Normalize(t.Source.Location)
}

// labelPrefix is what the labels of the calls made by c begin with: nothing for a call that the
// person talks to since an earlier turn, and for the entry.
func (c *call) labelPrefix() string {
	if c.parent == nil || c.wasOpen || c.state.Label == "" {
		return ""
	}
	return c.state.Label + "."
}

// agents is the path of agent names from the entry to c, c's own included if it is an agent.
func (c *call) agents() []string {
	var names []string
	for p := c; p != nil; p = p.parent {
		if p.row.Agent || p.parent == nil {
			names = append(names, p.name())
		}
	}
	slices.Reverse(names)
	return names
}

// start begins a new call with its input and runs it until it has a result or waits for the
// person (5.2).
func (c *call) start(ctx context.Context, input string) (*callState, error) {
	c.state.Input = input
	c.begun()
	c.event(monitor.Event{Type: monitor.CallStart, Content: c.secret(input)})
	if c.handsOff() {
		c.t.note(c.path+"/handoff", fmt.Sprintf("now with @%s, for @%s", c.name(), c.parent.name()))
	}
	if o, ok := ownOf(c.t.row.Input); ok && c.parent == nil {
		st, err := c.runOwn(ctx, o)
		return c.end(ctx, st, err)
	}
	st, err := c.begin(ctx, input)
	switch {
	case err == nil && st == nil:
		st, err = c.loop(ctx)
	case err != nil && c.conv != nil:
		// An input filter or a credential failed: the chat begins all the same.
		if len(c.conv.messages) == 0 {
			c.keepInput(input)
		}
		st, err = c.settle(err)
	}
	return c.end(ctx, st, err)
}

// begun queues the row of an agent's call as running. The rows of executions are written with
// theirs.
func (c *call) begun() {
	if c.conv == nil {
		return
	}
	c.row.Status, c.row.Started = toolrt.StatusRunning, c.t.s.now()
	c.t.queue(record.Rows{Calls: []record.Call{c.row}})
}

// resume goes on with a call that was open, with the person's text for it or for the call inside.
func (c *call) resume(ctx context.Context, input string) (*callState, error) {
	if hint, ok := c.t.compacts(); ok && c.state.Open == "" && c.conv != nil {
		err := c.compact(ctx, c.roomKey(roomAsked), hint, c.offered())
		if errors.Is(err, errNothingOld) || errors.Is(err, errNoGain) {
			c.t.note("room", "nothing was summed up: "+err.Error())
			err = nil
		}
		return c.state, err
	}
	if c.state.Open == "" && c.conv != nil {
		c.state.Result = nil // the last turn's: this one may fail before it has one
	}
	c.begun()
	c.event(monitor.Event{Type: monitor.CallStart, Content: c.secret(c.state.Input)})
	if o, ok := ownOf(input); ok && c.state.Open == "" {
		st, err := c.runOwn(ctx, o)
		return c.end(ctx, st, err)
	}
	if err := c.credentials(ctx); err != nil {
		c.keepInput(input)
		st, err := c.settle(err)
		return c.end(ctx, st, err)
	}
	c.state.Latest = &input
	st, err := c.loopFrom(ctx, &input)
	return c.end(ctx, st, err)
}

// begin does what comes before the first model call: input filters, credentials, contexts, and for
// a command tool the whole of it. A nil state means that the loop goes on.
func (c *call) begin(ctx context.Context, input string) (*callState, error) {
	err := c.expand(ctx)
	if err != nil {
		return nil, err
	}
	if c.state.Start, err = c.inputFilters(ctx, input, 0); err != nil {
		return nil, err
	}
	if err := c.credentials(ctx); err != nil {
		return nil, err
	}
	if c.tool.Redirects() {
		err := c.becomeTarget()
		var wrong wrongOperation
		if errors.As(err, &wrong) && c.parent != nil && c.state.Category == "" {
			return c.result(wrong.Error(), true), nil // the model's to put right
		} else if err != nil {
			return nil, err
		}
	}
	if c.tool.IsCommand() {
		if err := c.reach(ctx); err != nil {
			return nil, err
		}
		return c.command(ctx, c.state.Start)
	}
	if text := c.state.Start; text != "" && !(c.tool.Chat && strings.TrimSpace(text) == "{}") {
		c.say(model.TextMessage(model.User, text))
	}
	return nil, nil
}

// say appends a message to the conversation, to be stored with the next commit.
func (c *call) say(m model.Message) {
	c.t.queue(record.Rows{Messages: []record.Message{c.append(m)}})
}

// loop asks the model and runs the calls of its reply until there is an answer.
func (c *call) loop(ctx context.Context) (*callState, error) { return c.round(ctx, nil) }

// loopFrom goes on with the stored state: the text goes to the open inner call, or is the person's
// next message here.
func (c *call) loopFrom(ctx context.Context, input *string) (*callState, error) {
	if c.state.Open == "" {
		if c.tool.IsCommand() {
			return c.command(ctx, *input)
		}
		c.event(monitor.Event{Type: monitor.CallSubCalls})
		return c.round(ctx, input)
	}
	c.event(monitor.Event{Type: monitor.CallSubCalls})
	inner := c.state.sub(c.state.Open)
	if inner == nil {
		return nil, fmt.Errorf("invalid state, failed to find subCall for subCallID [%s]", c.state.Open)
	}
	sub, err := c.t.newCall(c, inner)
	if err != nil {
		return c.settle(err)
	}
	var st *callState
	if c.t.goesBack() && inner.Open == "" {
		st, err = sub.finishBy(ctx, strings.TrimSpace(strings.TrimPrefix(*input, backCommand)))
	} else {
		st, err = sub.resume(ctx, *input)
	}
	c.replace(inner, st)
	if done, st, err := c.afterCalls(err); done {
		return st, err
	}
	return c.round(ctx, nil)
}

// finishBy ends an inner chat with the person's text as its result (/back).
func (c *call) finishBy(ctx context.Context, text string) (*callState, error) {
	if text == "" {
		text = c.state.content()
	}
	return c.end(ctx, c.final(text), nil)
}

// replace puts the new state of an inner call into the call's state.
func (c *call) replace(old, st *callState) {
	if st == nil {
		return
	}
	for i := range c.state.Subs {
		if c.state.Subs[i] == old {
			c.state.Subs[i] = st
		}
	}
}

// round runs model call after model call. input is the person's new text, if there is any.
func (c *call) round(ctx context.Context, input *string) (*callState, error) {
	for {
		if err := c.prepareRound(ctx, input); err != nil {
			if input != nil {
				c.keepInput(*input)
			}
			return c.settle(err)
		}
		input = nil
		reply, err := c.complete(ctx)
		if err != nil {
			return c.settle(err)
		}
		text := reply.Message.Text()
		c.state.Result = &text
		if reply.Message.Aborted {
			c.aborted(&text)
			return c.settle(errInterrupted)
		}
		if len(c.state.Subs) == 0 {
			if c.deliverSteer(ctx) {
				continue
			}
			return c.state, nil
		}
		if st, err, done := c.runCalls(ctx); done {
			return st, err
		}
		c.deliverSteer(ctx)
	}
}

// prepareRound runs the contexts again and takes the person's text through the input filters into
// the conversation.
func (c *call) prepareRound(ctx context.Context, input *string) error {
	if err := c.expand(ctx); err != nil {
		return err
	}
	if err := c.reachProvider(ctx); err != nil {
		return err
	}
	text := c.state.Start
	if input != nil {
		text = *input
	}
	if err := c.runContexts(ctx, text); err != nil {
		return err
	}
	if input == nil {
		return nil
	}
	filtered, err := c.inputFilters(ctx, *input, c.state.Rounds)
	if err != nil {
		return err
	}
	c.say(model.TextMessage(model.User, filtered))
	return nil
}

// keepInput puts the person's message into the conversation of a call that failed before it came
// there, unless input filters were to change it first: it was stored at its place when the turn
// began.
func (c *call) keepInput(text string) {
	if c.state.Open == "" && c.conv != nil && text != "" && !c.t.commands() && len(c.t.program().InputFilters(c.tool)) == 0 {
		c.say(model.TextMessage(model.User, text))
	}
}

// runCalls runs the calls of the last reply. done says that the call stops here: an inner call
// waits for the person, the chat was finished, or something failed.
func (c *call) runCalls(ctx context.Context) (st *callState, err error, done bool) {
	c.event(monitor.Event{Type: monitor.CallSubCalls, ToolSubCalls: c.subCallEvents()})
	err = c.batch(ctx)
	done, st, err = c.afterCalls(err)
	return st, err, done
}

// afterCalls looks at the results of the calls of a reply: with all of them there, they become
// messages and the round goes on.
func (c *call) afterCalls(err error) (done bool, _ *callState, _ error) {
	var finish *toolrt.ChatFinish
	switch {
	case errors.As(err, &finish) && c.tool.Chat && c.state.Category == "":
		// The conversation keeps its shape: every call has its answer.
		c.answerCalls()
		return true, c.final(finish.Message), nil
	case err != nil:
		st, err := c.settle(err)
		return true, st, err
	}
	c.state.Open = ""
	for _, sub := range c.state.Subs {
		if sub.Final == nil {
			c.state.Open = sub.Path
			c.state.Result = nil
			return true, c.state, nil
		}
	}
	results := len(c.state.Subs)
	c.answerCalls()
	c.event(monitor.Event{Type: monitor.CallContinue, ToolResults: results})
	return false, nil, nil
}

// answerCalls appends one tool message per call of the reply, in its order; calls without a result
// were cut off.
func (c *call) answerCalls() {
	calls := lastCalls(c.conv.messages)
	for i, sub := range c.state.Subs {
		m := model.Message{Role: model.ToolRole}
		if i < len(calls) {
			m.ToolCall = &calls[i]
		}
		text := interruptedText
		m.IsError = sub.Final == nil || sub.IsError
		if sub.Final != nil {
			text = *sub.Final
		}
		m.Content = []model.Part{{Text: text}}
		c.say(m)
	}
	c.state.Subs, c.state.Open = nil, ""
	c.state.Messages = len(c.conv.messages)
}

// interruptedText answers a call that has no result because its turn was cut off.
const interruptedText = `{"error":"the call was cut off before it had a result; check what it did before you repeat it","kind":"interrupted"}`

// lastCalls returns the tool calls of the newest reply.
func lastCalls(messages []model.Message) []model.ToolCall {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == model.Assistant {
			return messages[i].Calls()
		}
	}
	return nil
}

// settle leaves the call in a state from which the next message can go on, after err ended the
// turn: a chat call keeps what has come in and waits for the person, one with a chat inside that
// waits keeps that, others have no state.
func (c *call) settle(err error) (*callState, error) {
	var finish *toolrt.ChatFinish
	if errors.As(err, &finish) || c.state.Category != "" || errors.Is(err, errDiverged) {
		return nil, err
	}
	for _, sub := range c.state.Subs {
		if c.t.talks(sub) {
			c.cutOffOthers()
			c.state.Open = sub.Path
			c.state.Result = nil
			return c.state, err
		}
	}
	if !c.tool.Chat {
		return nil, err
	}
	if len(c.state.Subs) > 0 {
		c.answerCalls()
	}
	if c.state.Result == nil {
		c.state.Result = new(string)
	}
	return c.state, err
}

// cutOffOthers answers the calls of the last reply that neither ended nor wait for the person: they
// cannot go on when an inner chat beside them does.
func (c *call) cutOffOthers() {
	for i, sub := range c.state.Subs {
		if sub.Final == nil && !c.t.talks(sub) {
			c.state.Subs[i] = sub.finished(interruptedText, true)
		}
	}
}

// waiting reports whether a call waits for the person, or one inside it does.
func (s *callState) waiting() bool { return s.Final == nil && (s.Result != nil || s.Open != "") }

// talks reports whether the person can go on talking to a call that waits, or to one inside it.
func (t *turn) talks(s *callState) bool {
	tool := t.program().Tool(s.ToolID)
	return s.waiting() && (s.Open != "" || tool != nil && tool.Chat)
}

// aborted marks a result that the person cut off (4.6).
func (c *call) aborted(text *string) { *text += "\n\nABORTED BY USER" }

// end runs the output filters, closes the call's row and tells that it has ended (5.2, Q32).
func (c *call) end(ctx context.Context, st *callState, err error) (*callState, error) {
	if err == nil && st != nil && st.Open == "" && !c.makesOwn() {
		err = c.outputFilters(ctx, st)
	}
	if c.conv != nil {
		c.state.Messages = len(c.conv.messages)
	}
	c.finishRow(st, err)
	e := monitor.Event{Type: monitor.CallFinish, Content: c.secret(st.content())}
	if err != nil {
		e.Error = c.t.s.redact(err.Error())
	}
	if st == nil || st.Open == "" {
		c.event(e)
	}
	if err == nil && st != nil && st.Final == nil && st.Open == "" && !c.tool.Chat {
		st = c.final(st.content())
	}
	if st != nil && st.Final != nil && c.handsOff() {
		c.t.note(c.path+"/handback", fmt.Sprintf("@%s is done, now with @%s", c.name(), c.parent.name()))
	}
	return st, err
}

// handsOff reports whether the call is an inner chat: the person talks to it instead of its caller.
func (c *call) handsOff() bool { return c.shown && c.tool.Chat && c.parent != nil }

// final is the state of a call that has ended with a result.
func (c *call) final(result string) *callState {
	return &callState{Path: c.path, ToolID: c.state.ToolID, WireID: c.state.WireID,
		ToolName: c.state.ToolName, Label: c.state.Label, Turn: c.state.Turn, Final: &result}
}

// content is the text a state has to show.
func (s *callState) content() string {
	switch {
	case s == nil:
		return ""
	case s.Final != nil:
		return *s.Final
	case s.Open != "":
		return s.deepest().content()
	case s.Result != nil:
		return *s.Result
	}
	return ""
}

// finishRow writes how an agent's call stands; the rows of executions are written with theirs.
func (c *call) finishRow(st *callState, err error) {
	if c.tool.IsCommand() && c.row.Status.Terminal() {
		return
	}
	switch {
	case err != nil && errors.Is(err, errInterrupted):
		c.row.Status = toolrt.StatusCancelled
	case err != nil:
		c.row.Status, c.row.Error = toolrt.StatusFailed, c.t.s.redact(err.Error())
	case st != nil && st.Open != "":
		c.row.Status = toolrt.StatusRunning
	default:
		c.row.Status = toolrt.StatusSuccess
	}
	c.row.Result = c.t.s.redact(c.secret(st.content()))
	c.row.Finished = c.t.s.now()
	c.t.queue(record.Rows{Calls: []record.Call{c.row}})
}

// secret hides what belongs to a credential (5.11, Q16).
func (c *call) secret(text string) string {
	if c.state.Category == categoryCredential {
		return ""
	}
	return c.t.s.redact(text)
}

// sub is the state of a new call below c.
func (c *call) sub(letter string, round, index int, ref program.Reference, category string) *callState {
	if category == "" {
		category = c.state.Category
	}
	st := &callState{
		Path:     c.path + "/" + letter + strconv.Itoa(round) + "." + strconv.Itoa(index),
		ToolID:   ref.ToolID,
		Category: category,
		Turn:     c.t.row.Number,
		Group:    c.groupFor(ref.ToolID),
	}
	return st
}
