package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"parley/agent/model"
	"parley/agent/program"
	"parley/agent/record"
)

// ownCommand begins the input of a turn in which the person has a tool run: no model is asked, and the
// call and its result stand in the conversation like those of a reply.
const ownCommand = "/run "

// shellTool is what runs the person's own command lines, whether the program has it or not.
const shellTool = "sys.exec"

// own is what the person has run.
type own struct {
	tool, args string // id of the tool, arguments
}

// ownOf reads the input of such a turn.
func ownOf(input string) (own, bool) {
	rest, ok := strings.CutPrefix(input, ownCommand)
	var parts []string
	if !ok || json.Unmarshal([]byte(rest), &parts) != nil || len(parts) != 2 {
		return own{}, false
	}
	return own{parts[0], parts[1]}, true
}

// InputText is the input of a turn as the person gave it: "!" and the command line where a command was
// run without the model.
func InputText(input string) string {
	o, ok := ownOf(input)
	if !ok {
		return input
	}
	if command, ok := object(o.args)["command"].(string); ok && o.tool == shellTool {
		return "!" + command
	}
	name := o.tool
	if i := strings.LastIndexByte(name, ':'); i >= 0 && i+1 < len(name) {
		name = name[i+1:]
	}
	return "run " + name + " " + o.args
}

// errUnfinished says that a turn has to be finished before a tool is run.
var errUnfinished = errors.New("the last turn was cut off: go on with it first")

// RunShell runs a command line of the person's in a turn of its own. It is judged like any call; the
// model reads it, and what came of it, with the next message.
func (s *Session) RunShell(ctx context.Context, command string) (Response, error) {
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return Response{}, fmt.Errorf("run %q: %w", command, err)
	}
	return s.RunTool(ctx, shellTool, string(args))
}

// RunTool runs a tool of the program, by its id, in a turn of its own.
func (s *Session) RunTool(ctx context.Context, tool, args string) (Response, error) {
	if s.Unfinished() {
		return Response{}, errUnfinished
	}
	parts, err := json.Marshal([]string{tool, args})
	if err != nil {
		return Response{}, fmt.Errorf("run %s: %w", tool, err)
	}
	input := ownCommand + string(parts)
	if s.redact(input) != input {
		return Response{}, errors.New("what is to be run holds a secret that parley keeps, and would be stored with it: let the tool find it in its environment")
	}
	return s.run(ctx, func(ctx context.Context) (*turn, error) { return s.newTurn(ctx, input) })
}

// plainText makes sure that a message is one: nothing that is sent runs a tool by itself.
func plainText(text string) string {
	if _, ok := ownOf(text); ok {
		return " " + text
	}
	return text
}

// makesOwn reports whether the calls of c's last reply are the person's own.
func (c *call) makesOwn() bool {
	if c == nil || c.conv == nil {
		return false
	}
	for _, m := range slices.Backward(c.conv.messages) {
		if m.Role != model.ToolRole {
			return m.Own
		}
	}
	return false
}

// runOwn makes the call that the person asked for, as if the model had, and ends the turn.
func (c *call) runOwn(ctx context.Context, o own) (*callState, error) {
	if c.conv == nil {
		return c.settle(errors.New("the program is a command: there is no conversation in which another one could run"))
	}
	text := ""
	c.state.Result = &text
	if err := c.expand(ctx); err != nil {
		return c.settle(err)
	}
	c.say(model.TextMessage(model.User, InputText(c.t.row.Input)))
	tool := c.t.s.tool(c.t.program(), o.tool)
	if tool == nil {
		return c.settle(fmt.Errorf("the program has no tool %q (any more)", o.tool))
	}
	name := program.Normalize(toolName(tool))
	offered := []program.Offered{{Name: name, Tool: tool, Ref: program.Reference{Reference: toolName(tool), ToolID: tool.ID}}}
	reply := model.Message{Role: model.Assistant, Own: true, Content: []model.Part{{ToolCall: &model.ToolCall{Function: model.Function{Name: name, Arguments: o.args}}}}}
	normalizeCalls(&reply, c.path, c.state.Rounds)
	clear := c.hideArguments(&reply, offered)
	rows := record.Rows{Messages: []record.Message{c.append(reply)}, Calls: c.pendingCalls(reply, offered, model.FinishCalls)}
	for i, args := range clear {
		c.state.Subs[i].clear = args
	}
	c.t.queue(rows)
	c.state.Rounds++
	if st, err, done := c.runCalls(ctx); done {
		return st, err
	}
	return c.state, nil
}
