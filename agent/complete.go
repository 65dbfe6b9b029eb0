package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"parley/agent/model"
	"parley/agent/monitor"
	"parley/agent/program"
	"parley/agent/record"
	"parley/toolrt"
)

// maxToolRounds is how many replies with calls may follow each other before the limit text of 4.5
// takes the model's place, or a person is asked.
const maxToolRounds = 50

// completion is what a completion was made of, as it is recorded: hashes of texts that are kept
// once, and the range of the conversation, never a copy of the request.
type completion struct {
	Model        string       `json:"model"`
	System       string       `json:"system,omitempty"` // hash
	Tools        string       `json:"tools,omitempty"`  // hash
	Conversation string       `json:"conversation"`
	Digest       string       `json:"digest,omitempty"` // hash of what stands for the messages before From
	From         int          `json:"from,omitempty"`
	To           int          `json:"to"`
	Chain        string       `json:"chain"` // hash of the conversation
	MaxTokens    int          `json:"maxTokens,omitempty"`
	Temperature  *float32     `json:"temperature,omitempty"`
	JSON         bool         `json:"json,omitempty"`
	Effort       model.Effort `json:"effort,omitempty"`
}

// completed is a completion's recorded result: the message itself stands in the conversation.
type completed struct {
	Index   int          `json:"index"`
	Finish  model.Finish `json:"finish"`
	Usage   model.Usage  `json:"usage"`
	Aborted bool         `json:"aborted,omitempty"`
}

// complete asks the model once, with the conversation as it stands, and appends its reply. The
// reply's calls become the state's pending ones.
func (c *call) complete(ctx context.Context) (model.Reply, error) {
	offered := c.offered()
	c.hidesPieces = anySecrets(offered)
	if err := c.makeRoom(ctx, offered); err != nil {
		return model.Reply{}, err
	}
	req, desc, err := c.request(offered)
	if err != nil {
		return model.Reply{}, err
	}
	if limit := c.roundLimit(ctx); limit != "" {
		return c.limited(limit), nil
	}
	if len(req.Messages) == 0 {
		return model.Reply{Message: model.TextMessage(model.Assistant, "")}, nil
	}
	id := completionID(c.path, c.state.Rounds)
	c.event(monitor.Event{Type: monitor.CallChat, ChatCompletionID: id, ChatRequest: req})

	key := record.Key{Turn: c.t.row.Number, Path: c.path, Ordinal: c.replies}
	var reply model.Reply
	result, recorded, err := c.t.do(ctx, effect{kind: record.EntryCompletion, key: key, request: desc, repeatable: true},
		func(ctx context.Context) (any, record.Rows, error) {
			var err error
			if reply, err = c.ask(ctx, req, offered); err != nil {
				return nil, record.Rows{}, err
			}
			return c.took(reply, offered)
		})
	if err != nil {
		return model.Reply{}, err
	}
	if recorded {
		if err = c.madeRoom(ctx, roomOverflow, offered); err == nil {
			reply, err = c.recordedReply(ctx, result, offered)
		}
		if err != nil {
			return model.Reply{}, err
		}
		if text := reply.Message.Text(); c.t.played != nil && text != "" {
			c.stream(model.Delta{Kind: model.DeltaText, Text: text})
		}
	}
	c.replies++
	reply.Message = c.conv.messages[len(c.conv.messages)-1] // as it is kept: without secrets
	c.state.Rounds++
	c.event(monitor.Event{Type: monitor.CallChat, ChatCompletionID: id, ChatResponse: reply.Message, Usage: &reply.Usage})
	return reply, nil
}

// ask streams one request. One that does not fit the model's window is made smaller: its oldest
// messages are summed up, then left out. What had come when the person interrupts is a reply too,
// marked so.
func (c *call) ask(ctx context.Context, req model.Request, offered []program.Offered) (model.Reply, error) {
	c.event(monitor.Event{Type: monitor.CallProgress, Content: "waiting"})
	reply, err := c.model.Stream(ctx, req, c.stream)
	if overflow(err) {
		if roomErr := c.compact(ctx, c.roomKey(roomOverflow), "", offered); roomErr != nil {
			c.noRoom(roomErr)
		} else if req, _, err = c.request(offered); err == nil {
			reply, err = c.model.Stream(ctx, req, c.stream)
		}
	}
	for shrunk := 0; overflow(err) && shrunk < 10 && len(req.Messages) > 2; shrunk++ {
		c.t.say("the conversation is larger than the model's window: its oldest messages are left out")
		req.Messages = c.shrink(req.Messages)
		reply, err = c.model.Stream(ctx, req, c.stream)
	}
	if err == nil {
		return reply, nil
	}
	if overflow(err) {
		err = c.tooLarge(offered, err)
	}
	if !c.t.interrupted() {
		return model.Reply{}, fmt.Errorf("failed calling model for completion: %w", err)
	}
	reply.Message.Role, reply.Message.Aborted = model.Assistant, true
	reply.Message.Content = slices.DeleteFunc(reply.Message.Content, func(p model.Part) bool { return p.ToolCall != nil })
	return reply, nil
}

func overflow(err error) bool {
	var e *model.Error
	return errors.As(err, &e) && e.Overflow
}

// stream passes a piece of the reply on to the screens.
func (c *call) stream(d model.Delta) {
	if c.state.Category == categoryCredential {
		return
	}
	piece := &monitor.Delta{Text: d.Text, Conversation: c.path, Index: len(c.conv.messages),
		Shown: c.shown, Agent: c.name(), Call: d.Index, Name: d.Name}
	switch d.Kind {
	case model.DeltaText:
		if c.filtered {
			return // nobody sees it before the filters have (Q36)
		}
		piece.Kind = monitor.PieceText
	case model.DeltaReasoning:
		piece.Kind = monitor.PieceReasoning
	case model.DeltaCall:
		piece.Kind = monitor.PieceCall
		if c.hidesPieces {
			piece.Text = "" // a secret argument may be in it
		}
	case model.DeltaRetry:
		piece.Kind = monitor.PieceVoid
		c.t.s.emit(monitor.Event{Type: monitor.Notice, Path: c.path,
			Text: fmt.Sprintf("%s; try %d in %s", d.Text, d.Attempt, d.Wait.Round(100e6))})
	default:
		return
	}
	c.event(monitor.Event{Type: monitor.CallProgress, Delta: piece,
		ChatCompletionID: completionID(c.path, c.state.Rounds)})
}

func completionID(path string, round int) string { return fmt.Sprintf("%s#%d", path, round+1) }

// took appends the reply to the conversation and returns its record and rows.
func (c *call) took(reply model.Reply, offered []program.Offered) (any, record.Rows, error) {
	normalizeCalls(&reply.Message, c.path, c.state.Rounds)
	clear := c.hideArguments(&reply.Message, offered)
	reply.Message = c.t.s.redactMessage(reply.Message)
	done := completed{Index: len(c.conv.messages), Finish: reply.Finish, Usage: reply.Usage, Aborted: reply.Message.Aborted}
	msg := reply.Message
	msg.Usage = &reply.Usage
	rows := record.Rows{Messages: []record.Message{c.append(msg)}, Usage: reply.Usage,
		CostMicro: cost(c.model.Info(), reply.Usage)}
	if c.shown {
		rows.Context = reply.Usage.PromptTokens + reply.Usage.CompletionTokens
	}
	c.row.Usage = addUsage(c.row.Usage, reply.Usage)
	rows.Calls = c.pendingCalls(msg, offered, reply.Finish)
	for i, args := range clear {
		if i < len(c.state.Subs) {
			c.state.Subs[i].clear = args
		}
	}
	return done, rows, nil
}

// recordedReply takes a reply from the conversation in the store.
func (c *call) recordedReply(ctx context.Context, result json.RawMessage, offered []program.Offered) (model.Reply, error) {
	var done completed
	if err := json.Unmarshal(result, &done); err != nil {
		return model.Reply{}, fmt.Errorf("read recorded reply of call %s: %w", c.path, err)
	}
	rows, err := c.t.s.journal.Messages(ctx, c.path, done.Index+1)
	if err != nil || len(rows) != done.Index+1 || done.Index != len(c.conv.messages) {
		return model.Reply{}, errors.Join(err, fmt.Errorf("%w: reply %d of call %s is not in its conversation", errDiverged, done.Index, c.path))
	}
	msg := rows[done.Index].Message
	c.conv.add(msg)
	c.row.Usage = addUsage(c.row.Usage, done.Usage)
	c.pendingCalls(msg, offered, done.Finish)
	return model.Reply{Message: msg, Finish: done.Finish, Usage: done.Usage}, nil
}

// normalizeCalls strips the prefixes that some models put before names (4.4) and gives every call
// an index and an id that is unique in the reply (Q11).
func normalizeCalls(m *model.Message, path string, round int) {
	seen := map[string]bool{}
	n := 0
	m.Content = slices.Clone(m.Content)
	for i, p := range m.Content {
		if p.ToolCall == nil {
			continue
		}
		tc := *p.ToolCall
		index := n
		tc.Index = &index
		tc.Function.Name = strings.TrimPrefix(strings.TrimPrefix(tc.Function.Name, "namespace."), "@")
		if tc.ID == "" || seen[tc.ID] {
			tc.ID = "call_" + hashOf(fmt.Appendf(nil, "%s#%d.%d", path, round, n))[:8]
		}
		seen[tc.ID] = true
		m.Content[i].ToolCall = &tc
		n++
	}
}

// pendingCalls makes the state of each call of a reply and returns their rows.
func (c *call) pendingCalls(msg model.Message, offered []program.Offered, finish model.Finish) []record.Call {
	byName := make(map[string]program.Offered, len(offered))
	for _, o := range offered {
		byName[strings.ToLower(o.Name)] = o
	}
	c.state.Subs, c.state.Open = nil, ""
	if msg.Aborted {
		return nil
	}
	var rows []record.Call
	for i, tc := range msg.Calls() {
		o := byName[strings.ToLower(tc.Function.Name)]
		st := c.sub("", c.state.Rounds+1, i, o.Ref, "")
		st.WireID, st.Input, st.ToolName = tc.ID, tc.Function.Arguments, tc.Function.Name
		st.Label = c.nextLabel()
		row := record.Call{Path: st.Path, Parent: c.path, Turn: st.Turn, Label: st.Label,
			Round: c.state.Rounds + 1, Index: i, WireID: tc.ID, Tool: tc.Function.Name, ToolID: st.ToolID,
			Category: st.Category, Input: c.t.s.rowInput(st.Input), Status: toolrt.StatusPending, Created: c.t.s.now()}
		if o.Tool != nil {
			st.ToolName = displayName(o)
			row.Tool, row.Agent, row.Chat = st.ToolName, o.Tool.IsPrompt(), o.Tool.Chat
		}
		st.cutOff = finish == model.FinishLength
		c.state.Subs = append(c.state.Subs, st)
		rows = append(rows, row)
	}
	return rows
}

// displayName is what people see of an offered tool: built-ins keep their full name.
func displayName(o program.Offered) string {
	if o.Tool.Kind() == program.KindBuiltin && o.Ref.Named == "" {
		return o.Tool.BuiltinName()
	}
	if o.Tool.IsPrompt() {
		return o.Name
	}
	return toolName(o.Tool)
}

func (c *call) nextLabel() string {
	return fmt.Sprintf("%s%d", c.labelPrefix(), c.labels.Add(1))
}

// roundLimit returns the text of 4.5 when too many replies with calls have followed each other
// without a person's say.
func (c *call) roundLimit(ctx context.Context) string {
	limit := c.t.s.o.MaxToolRounds
	if limit <= 0 {
		limit = maxToolRounds
	}
	rounds := 0
	for i := len(c.conv.messages) - 1; i >= 0 && c.conv.messages[i].Role != model.User; i-- {
		if len(c.conv.messages[i].Calls()) > 0 {
			rounds++
		}
	}
	if rounds <= limit {
		return ""
	}
	if rounds%limit != 1 && limit > 1 {
		return "" // a person extended it
	}
	if c.askToGoOn(ctx, rounds) {
		return ""
	}
	return fmt.Sprintf("We cannot continue because the number of consecutive tool calls is limited to %d.", limit)
}

// limited appends the limit's text in the model's place.
func (c *call) limited(text string) model.Reply {
	m := model.TextMessage(model.Assistant, text)
	c.say(m)
	c.state.Subs = nil
	return model.Reply{Message: m, Finish: model.FinishStop}
}

// request builds the request and what is recorded of it (4.1 to 4.3).
func (c *call) request(offered []program.Offered) (model.Request, completion, error) {
	t := c.tool
	req := model.Request{Model: c.model.Ref(), MaxTokens: t.MaxTokens, JSONResponse: t.JSONResponse, Chat: t.Chat, Effort: c.t.effort}
	temperature := float32(0)
	if t.Temperature != nil {
		temperature = *t.Temperature
	}
	req.Temperature = &temperature
	for _, o := range offered {
		req.Tools = append(req.Tools, model.Tool{Name: o.Name, Description: o.Tool.Description, Parameters: o.Tool.Schema()})
	}
	system := c.system()
	if system != "" {
		req.Messages = append(req.Messages, model.TextMessage(model.System, system))
	}
	req.Messages = append(req.Messages, c.sent()...)
	tools, err := json.Marshal(req.Tools)
	if err != nil {
		return req, completion{}, fmt.Errorf("describe tools of %s: %w", c.name(), err)
	}
	desc := completion{Model: req.Model, Conversation: c.path, Digest: c.digestHash(), From: c.sentFrom(), To: len(c.conv.messages),
		Chain: c.conv.hash(), MaxTokens: req.MaxTokens, Temperature: req.Temperature, JSON: req.JSONResponse, Effort: req.Effort}
	if system != "" {
		desc.System = c.t.text(c.t.s.redact(system))
	}
	if len(req.Tools) > 0 {
		desc.Tools = c.t.text(string(tools))
	}
	seed := int(seedOf(desc.Chain + desc.System))
	req.Seed = &seed
	return req, desc, nil
}

// seedOf derives the seed of a request from what it was made of (4.2).
func seedOf(text string) uint32 {
	var seed uint32
	for _, b := range []byte(hashOf([]byte(text))[:8]) {
		seed = seed*31 + uint32(b)
	}
	return seed & 0x7fffffff
}

// internalPrompt is the generic instruction for tools that are no chat (4.2).
const internalPrompt = `You are a tool that is called to do one task. Take the input, follow the instructions, and answer with the result only.
Be correct and consistent: the same input gives the same kind of result. Do not explain your steps, do not ask questions, do not comment on the task.
When you need other tools to get the result, call them, and do not go on before you have what they return.`

// system is the text of the system message: context outputs, then the body (4.1).
func (c *call) system() string {
	var parts []string
	for _, in := range c.contexts {
		parts = append(parts, in.Content)
	}
	if body := strings.TrimPrefix(c.tool.Instructions, "!!"); body != "" {
		parts = append(parts, body)
	}
	text := strings.Join(parts, "\n")
	internal := !c.tool.Chat
	if c.tool.InternalPrompt != nil {
		internal = *c.tool.InternalPrompt
	}
	if !internal || !c.model.Info().InternalPrompt {
		return text
	}
	prompt := internalPrompt
	if own := os.Getenv("GPTSCRIPT_INTERNAL_SYSTEM_PROMPT"); own != "" {
		prompt = own
	}
	if text == "" {
		return prompt
	}
	return prompt + "\n" + text
}

// modelFor opens the model that answers for a tool.
func (t *turn) modelFor(tool *program.Tool) (model.Model, error) {
	if tool.ModelName == "" {
		return t.model, nil
	}
	if ref, ok := t.program().Provider(tool); ok {
		return t.providerModel(tool, ref)
	}
	m, err := t.s.openModel(tool.ModelName, t.model)
	if err != nil {
		return nil, fmt.Errorf("open model of %s: %w", toolName(tool), err)
	}
	return m, nil
}

// cost is the price of a usage in millionths of a dollar; zero when prices are unknown.
func cost(info model.Info, u model.Usage) int64 {
	return int64(info.InputMicros*float64(u.PromptTokens) + info.OutputMicros*float64(u.CompletionTokens))
}
