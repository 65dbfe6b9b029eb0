package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/agent"
	"parley/agent/model"
	"parley/agent/monitor"
	"parley/agent/record"
	"parley/toolrt"
)

var epoch = time.Date(2026, 11, 30, 10, 2, 0, 0, time.UTC)

// fakeBackend is a Backend that keeps its sessions in memory.
type fakeBackend struct {
	mu       sync.Mutex // guards all fields
	greeting string
	sessions []record.Session
	deleted  map[string]record.Session
	renamed  map[string]string
	config   map[string]string
	history  []string
	models   []string
	chats    map[string]*fakeChat
	fresh    *fakeChat // the next one New gives
	openErr  error
}

func newBackend() *fakeBackend {
	return &fakeBackend{
		deleted: map[string]record.Session{}, renamed: map[string]string{}, config: map[string]string{},
		chats: map[string]*fakeChat{}, models: []string{"openai/gpt-x", "anthropic/claude-y", "offline/guide"},
	}
}

func (b *fakeBackend) Greeting() string { return b.greeting }

func (b *fakeBackend) New(context.Context) (Chat, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fresh == nil {
		b.fresh = newChat("01J8NEW0000000000000000Q4")
	}
	c := b.fresh
	b.fresh = nil
	return c, b.openErr
}

func (b *fakeBackend) Open(_ context.Context, id string) (Chat, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.chats[id]; c != nil && b.openErr == nil {
		return c, nil
	}
	if b.openErr != nil {
		return nil, b.openErr
	}
	return nil, agent.ErrNotFound
}

func (b *fakeBackend) Sessions(_ context.Context, all bool, text string) ([]record.Session, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []record.Session
	for _, s := range b.sessions {
		if (all || s.Dir == "/home/me/shop") && strings.Contains(s.Title, text) {
			out = append(out, s)
		}
	}
	return out, nil
}

func (b *fakeBackend) Delete(_ context.Context, id string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.sessions, func(s record.Session) bool { return s.ID == id })
	if i < 0 {
		return agent.ErrNotFound
	}
	b.deleted[id] = b.sessions[i]
	b.sessions = slices.Delete(slices.Clone(b.sessions), i, i+1)
	return nil
}

func (b *fakeBackend) Undelete(_ context.Context, id string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sessions = append([]record.Session{b.deleted[id]}, b.sessions...)
	delete(b.deleted, id)
	return nil
}

func (b *fakeBackend) Rename(_ context.Context, id, title string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.sessions {
		if b.sessions[i].ID == id {
			b.sessions[i].Title = title
		}
	}
	b.renamed[id] = title
	return nil
}

func (b *fakeBackend) SaveConfig(_ context.Context, key, value string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.config[key] = value
	return nil
}

func (b *fakeBackend) History(context.Context, int) ([]string, error) { return b.history, nil }
func (b *fakeBackend) Models(context.Context) ([]string, error)       { return b.models, nil }

// fakeChat is a Chat whose turns are functions of the test. Everything it shows goes through a
// real hub.
type fakeChat struct {
	hub monitor.Hub
	// turn is what a turn does; it gets the text and is done when the turn is.
	turn func(ctx context.Context, c *fakeChat, text string) error

	mu        sync.Mutex // guards the fields below
	row       record.Session
	msgs      []record.Message
	calls     []record.Call
	cancel    context.CancelFunc
	ran       []string
	sent      []string
	steered   []string
	steer     bool // whether Steer takes anything
	doubt     []agent.OpenCall
	left      []string // what LeftOver gives
	open      bool     // unfinished
	resolved  []agent.Resolution
	resumed   int
	kept      kept
	keeps     int
	closed    bool
	entries   map[int][]record.Entry // what the journal gives, by turn
	canceled  []string
	compacted []string
	back      []string
	pages     []int64 // what Shown was asked for
}

func newChat(id string) *fakeChat {
	return &fakeChat{
		steer: true,
		row: record.Session{
			ID: id, Title: "login-bug", Program: "/home/me/shop/triage.gpt", Dir: "/home/me/shop", Agent: "planner",
			Model: "openai/gpt-x", Mode: "ask", State: record.StateIdle, Created: epoch, Updated: epoch,
			Context: 82_000, CostMicro: 370_000, Turns: 4, Calls: 23,
		},
	}
}

func (c *fakeChat) Row() record.Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.row
}

func (c *fakeChat) RuleFile(scope string) string {
	if scope == "project" {
		return "/home/me/shop/.parley/config.json"
	}
	return "/home/me/.config/parley/config.json"
}

func (c *fakeChat) Window() int             { return 200_000 }
func (c *fakeChat) Events() *monitor.Reader { return c.hub.Subscribe() }

func (c *fakeChat) Send(ctx context.Context, text string) error {
	c.mu.Lock()
	c.sent = append(c.sent, text)
	c.open = false
	c.mu.Unlock()
	return c.runTurn(ctx, text)
}

func (c *fakeChat) RunShell(ctx context.Context, command string) error {
	return c.RunTool(ctx, "sys.exec", command)
}

func (c *fakeChat) RunTool(ctx context.Context, tool, args string) error {
	c.mu.Lock()
	c.ran = append(c.ran, tool+" "+args)
	c.mu.Unlock()
	return c.runTurn(ctx, "")
}

func (c *fakeChat) runTurn(ctx context.Context, text string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.mu.Lock()
	c.cancel = cancel
	c.row.Turns++
	turn := c.turn
	c.mu.Unlock()
	if text != "" {
		c.message(model.User, text)
	}
	if turn == nil {
		return nil
	}
	return turn(ctx, c, text)
}

func (c *fakeChat) Resume(ctx context.Context) error {
	c.mu.Lock()
	c.resumed++
	c.open = false
	c.mu.Unlock()
	return c.runTurn(ctx, "")
}

func (c *fakeChat) Steer(text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.steer {
		c.steered = append(c.steered, text)
	}
	return c.steer
}

func (c *fakeChat) LeftOver() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	left := c.left
	c.left = nil
	return left
}

func (c *fakeChat) Interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.cancel()
	}
}

func (c *fakeChat) CancelCall(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.canceled = append(c.canceled, path)
}

func (c *fakeChat) Back(_ context.Context, text string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.back = append(c.back, text)
	return nil
}

func (c *fakeChat) Compact(_ context.Context, hint string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.compacted = append(c.compacted, hint)
	return nil
}

func (c *fakeChat) InDoubt() []agent.OpenCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.doubt)
}

func (c *fakeChat) Unfinished() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open
}

func (c *fakeChat) Resolve(_ context.Context, key record.Key, r agent.Resolution, _ string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.resolved = append(c.resolved, r)
	c.doubt = slices.DeleteFunc(c.doubt, func(o agent.OpenCall) bool { return o.Key == key })
	return nil
}

func (c *fakeChat) EndProcess(context.Context, record.Key) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.doubt {
		c.doubt[i].Alive = false
	}
	return nil
}

func (c *fakeChat) SetMode(mode string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.row.Mode = mode
	return nil
}

func (c *fakeChat) SetModel(ref string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !strings.Contains(ref, "/") {
		return errors.New("no such model")
	}
	c.row.Model = ref
	return nil
}

func (c *fakeChat) Keep(_ context.Context, draft string, queue []string, panel string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errors.New("kept after it was closed")
	}
	c.kept, c.keeps = kept{draft, queue, panel}, c.keeps+1
	return nil
}

func (c *fakeChat) Shown(_ context.Context, before int64, limit int) ([]record.Message, []record.Call, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pages = append(c.pages, before)
	var out []record.Message
	for _, m := range c.msgs {
		if m.Shown && (before == 0 || m.Seq < before) {
			out = append(out, m)
		}
	}
	out = out[max(len(out)-limit, 0):]
	return out, slices.Clone(c.calls), nil
}

func (c *fakeChat) Calls(_ context.Context, from, to int) ([]record.Call, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []record.Call
	for _, call := range c.calls {
		if call.Turn >= from && call.Turn <= to {
			out = append(out, call)
		}
	}
	return out, nil
}

func (c *fakeChat) Inner(context.Context, string) ([]record.Message, error) { return nil, nil }
func (c *fakeChat) Output(_ context.Context, path string) (string, error) {
	return "whole output of " + path, nil
}

func (c *fakeChat) ContextParts(context.Context) ([]ContextPart, error) {
	return []ContextPart{{Name: "system and contexts", Bytes: 12_000}, {Name: "tools", Bytes: 30_000, Count: 21}, {Name: "you", Bytes: 900, Count: 4},
		{Name: "tool results", Bytes: 180_000, Count: 23}}, nil
}

func (c *fakeChat) Spent(context.Context) ([]record.Spent, error) {
	return []record.Spent{
		{By: record.SpentAgent, Name: "planner", Count: 12, Usage: model.Usage{TotalTokens: 82_000}},
		{By: record.SpentModel, Name: "openai/gpt-x", Count: 12, Usage: model.Usage{TotalTokens: 82_000}, Time: 41 * time.Second},
		{By: record.SpentTool, Name: "sys.exec", Count: 9, Failed: 2, Time: 61 * time.Second},
	}, nil
}

func (c *fakeChat) Entries(_ context.Context, turn int) ([]record.Entry, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries[turn], nil
}

func (c *fakeChat) Close() error {
	c.mu.Lock()
	c.closed = true
	cancel := c.cancel
	c.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	c.hub.Close()
	return nil
}

// message commits a message of the conversation on screen.
func (c *fakeChat) message(role model.Role, text string, calls ...record.Call) {
	c.mu.Lock()
	n := len(c.msgs)
	m := record.Message{
		Seq: int64(n + 1), Conversation: "0", Index: n, Turn: c.row.Turns, Agent: "planner", Shown: true,
		Message: model.TextMessage(role, text), Time: epoch,
	}
	for i := range calls {
		calls[i].Turn, calls[i].Parent = c.row.Turns, "0"
		if calls[i].Created.IsZero() {
			calls[i].Created = epoch
		}
		m.Message.Content = append(m.Message.Content, model.Part{ToolCall: &model.ToolCall{
			Index: &calls[i].Index, ID: calls[i].WireID, Function: model.Function{Name: calls[i].Tool, Arguments: calls[i].Input},
		}})
	}
	c.msgs = append(c.msgs, m)
	c.calls = append(c.calls, calls...)
	c.mu.Unlock()
	c.hub.Event(monitor.Event{Type: monitor.RowsChanged, Time: epoch, Messages: []record.Message{m}, Calls: calls})
}

// piece streams a piece of the reply that comes next.
func (c *fakeChat) piece(text string) {
	c.mu.Lock()
	n := len(c.msgs)
	c.mu.Unlock()
	c.hub.Event(monitor.Event{Type: monitor.CallProgress, Time: epoch, Path: "0", Delta: &monitor.Delta{
		Kind: monitor.PieceText, Text: text, Conversation: "0", Index: n, Shown: true, Agent: "planner",
	}})
}

// output streams output of a call.
func (c *fakeChat) output(path, text string) {
	c.hub.Event(monitor.Event{Type: monitor.CallProgress, Time: epoch, Path: path, Delta: &monitor.Delta{Kind: monitor.PieceOutput, Text: text}})
}

// put commits a call's row.
func (c *fakeChat) put(call record.Call) {
	c.mu.Lock()
	i := slices.IndexFunc(c.calls, func(o record.Call) bool { return o.Path == call.Path })
	if i >= 0 {
		c.calls[i] = call
	} else {
		c.calls = append(c.calls, call)
	}
	c.mu.Unlock()
	c.hub.Event(monitor.Event{Type: monitor.RowsChanged, Time: epoch, Calls: []record.Call{call}})
}

// entry is the call of the agent one talks to.
func entry(turn int) record.Call {
	return record.Call{
		Path: "0", Turn: turn, Tool: "planner", Agent: true, Chat: true, Status: toolrt.StatusRunning,
		Created: epoch, Started: epoch, Usage: model.Usage{TotalTokens: 9100},
	}
}

// leaf is a call of the entry agent.
func leaf(turn, index int, tool, input string, status toolrt.Status) record.Call {
	c := record.Call{
		Path: fmt.Sprintf("0/%d.%d", turn, index), Parent: "0", Turn: turn, Label: fmt.Sprint(index + 1), Round: 1, Index: index,
		WireID: fmt.Sprintf("call_%d_%d", turn, index), Tool: tool, ToolID: tool, Input: input, Status: status, Created: epoch,
	}
	if status != toolrt.StatusPending && status != toolrt.StatusWaiting {
		c.Started = epoch
	}
	if status.Terminal() {
		c.Finished = epoch.Add(100 * time.Millisecond)
		c.Result = "done"
	}
	return c
}
