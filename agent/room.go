package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"parley/agent/model"
	"parley/agent/program"
	"parley/agent/record"
	"parley/toolrt"
)

// Compaction says when and how a long chat is summed up for its model (4.6). The zero value has the
// defaults.
type Compaction struct {
	// Off leaves long chats alone until a person asks for it: the oldest messages then stay out of
	// the request.
	Off bool
	// KeepTokens is how much of the conversation's end is kept as it is; zero means 8,000.
	KeepTokens int
	// BufferTokens is how much of the window is kept free beyond the reply; zero means 20,000.
	BufferTokens int
}

// Defaults of Compaction, and what is fixed.
const (
	keepTokens   = 8_000
	bufferTokens = 20_000
	// keepTurns is how many of the person's messages the kept end goes back to at most.
	keepTurns = 2
	// recentOutputs is how many tokens of outputs stay as they are when old ones are left out, and
	// wonByPruning what that must win at least.
	recentOutputs = 40_000
	wonByPruning  = 20_000
	// assumedOutput is how long a reply may be when the model's limit is unknown.
	assumedOutput = 4_096
	// maxRoomFailures is after how many failures in a row a chat is no longer summed up by itself.
	maxRoomFailures = 3
)

// digest is what stands in a request in place of the oldest part of a conversation. The
// conversation itself stays whole.
type digest struct {
	// From is the first message that is sent as it is; Text sums up those before it.
	From int    `json:"from,omitempty"`
	Text string `json:"text,omitempty"`
	// Pruned is the message before which outputs of tools are left out.
	Pruned int `json:"pruned,omitempty"`
	// Cut, unless zero, is how many bytes of an output are sent.
	Cut int `json:"cut,omitempty"`
	// At is how long the conversation was when the digest was made.
	At int `json:"at,omitempty"`
}

// When room is made: the ordinal of the effect within a completion.
const (
	roomBefore   = iota // a request would not fit
	roomOverflow        // the server said that it did not fit
	roomAsked           // the person asked
	roomWhens
)

func (c *call) roomKey(when int) record.Key {
	return record.Key{Turn: c.t.row.Number, Path: c.path + "/room", Ordinal: c.replies*roomWhens + when}
}

// makeRoom sums up the oldest part of a chat whose next request would leave too little of the
// model's window. A failure is told, and the request is made from what fits.
func (c *call) makeRoom(ctx context.Context, offered []program.Offered) error {
	key := c.roomKey(roomBefore)
	if _, made := c.t.recorded[key]; !made && !c.crowded(offered) {
		return nil
	}
	err := c.compact(ctx, key, "", offered)
	if err == nil || ctx.Err() != nil || errors.Is(err, errDiverged) {
		return err
	}
	c.noRoom(err)
	return nil
}

// noRoom tells why a conversation is not summed up and what happens instead.
func (c *call) noRoom(err error) {
	c.t.say(fmt.Sprintf("the conversation could not be summed up: %s; its oldest messages are left out where they do not fit",
		c.t.s.redact(firstLine(err.Error()))))
}

// madeRoom applies what was recorded under a key, of a completion that is not asked again.
func (c *call) madeRoom(ctx context.Context, when int, offered []program.Offered) error {
	key := c.roomKey(when)
	if e, made := c.t.recorded[key]; !made || !e.Finished {
		return nil
	}
	return c.compact(ctx, key, "", offered)
}

// crowded reports whether the next request leaves less of the window than a reply and a buffer.
func (c *call) crowded(offered []program.Offered) bool {
	return c.tool.Chat && !c.t.s.o.Compaction.Off && c.t.s.roomFailures(c.path) < maxRoomFailures &&
		c.limit() > 0 && c.requestTokens(offered) > c.limit()
}

// limit is how many tokens a request may have before room is made, zero when the window is unknown.
func (c *call) limit() int {
	info := c.model.Info()
	if info.ContextWindow <= 0 {
		return 0
	}
	out, buffer := info.MaxOutput, c.t.s.o.Compaction.BufferTokens
	if c.tool.MaxTokens > 0 {
		out = c.tool.MaxTokens
	}
	if out <= 0 {
		out = assumedOutput
	}
	if buffer <= 0 {
		buffer = bufferTokens
	}
	// A window smaller than that is used to its half before anything is summed up.
	return max(info.ContextWindow-out-min(buffer, out), info.ContextWindow/2)
}

// requestTokens is about how large the next request is: what the provider counted last, and an
// estimate of what came since.
func (c *call) requestTokens(offered []program.Offered) int {
	at := 0
	if d := c.state.Digest; d != nil {
		at = d.At
	}
	used := 0
	for i := len(c.conv.messages) - 1; i >= at; i-- {
		m := c.conv.messages[i]
		if m.Usage != nil && m.Usage.PromptTokens > 0 {
			return used + m.Usage.PromptTokens + m.Usage.CompletionTokens
		}
		used += tokens(m)
	}
	return c.fixedTokens(offered) + sum(c.sent())
}

// fixedTokens is about how large instructions and tools are.
func (c *call) fixedTokens(offered []program.Offered) int {
	n := len(c.system())
	for _, o := range offered {
		n += len(o.Name) + len(o.Tool.Description) + len(o.Tool.Schema())
	}
	return int(float64(n) / bytesPerToken)
}

func sum(messages []model.Message) int {
	n := 0
	for _, m := range messages {
		n += tokens(m)
	}
	return n
}

// sentFrom is the first message that is sent as it is.
func (c *call) sentFrom() int {
	start := c.budgetStart()
	if d := c.state.Digest; d != nil {
		start = max(start, min(d.From, len(c.conv.messages)))
	}
	return start
}

// sent returns the messages of the next request, the system message aside.
func (c *call) sent() []model.Message {
	from, d := c.sentFrom(), c.state.Digest
	if d == nil {
		return c.conv.messages[from:]
	}
	var out []model.Message
	if d.Text != "" {
		out = append(out, model.TextMessage(model.User, d.Text))
	}
	for i, m := range c.conv.messages[from:] {
		out = append(out, d.shorten(from+i, m))
	}
	return out
}

// shorten returns the message as it is sent: an output of a tool may be left out or cut. A nil digest
// shortens nothing.
func (d *digest) shorten(i int, m model.Message) model.Message {
	if d == nil || m.Role != model.ToolRole {
		return m
	}
	text, limit := m.Text(), d.Cut
	if i < d.Pruned {
		limit = prunedBytes
	}
	if limit <= 0 || len(text) <= limit {
		return m
	}
	m.Content = []model.Part{{Text: toolrt.Shorten(text, limit)}}
	return m
}

// prunedBytes is what stays of an output that is left out: enough to see what it was.
const prunedBytes = 1_024

// digestHash names what a request has in place of the conversation's beginning, "" for nothing.
func (c *call) digestHash() string {
	if c.state.Digest == nil {
		return ""
	}
	b, _ := json.Marshal(c.state.Digest) // plain data
	return hashOf(b)
}

// roomFailures is how often in a row the call's conversation could not be summed up.
func (s *Session) roomFailures(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.noRoom[path]
}

// tooLarge explains a request that does not fit with nothing but its last message.
func (c *call) tooLarge(offered []program.Offered, err error) error {
	window := "window"
	if w := c.model.Info().ContextWindow; w > 0 {
		window = fmt.Sprintf("window of %d tokens", w)
	}
	return fmt.Errorf("the request does not fit the model's %s even without the older messages: instructions and tools are about %d tokens, the last messages about %d; "+
		"choose a model with a larger window, or fewer tools: %w", window, c.fixedTokens(offered), sum(c.conv.messages[lastAsked(c.conv.messages):]), err)
}

// lastAsked is the place of the person's last message.
func lastAsked(messages []model.Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == model.User {
			return i
		}
	}
	return 0
}

// compactCommand begins the input of a turn that sums up the chat.
const compactCommand = "/compact"

// compacts reports whether the turn's input asks to sum up the chat, and with what hint.
func (t *turn) compacts() (hint string, ok bool) {
	rest, ok := strings.CutPrefix(t.row.Input, compactCommand)
	if !ok || rest != "" && rest[0] != ' ' {
		return "", false
	}
	return strings.TrimSpace(rest), true
}

// Compact sums up the oldest part of the chat that the person talks to, so that its model has room
// again. The messages stay readable. hint says what the summary must keep; it may be empty. With
// nothing to sum up it is an error.
func (s *Session) Compact(ctx context.Context, hint string) (Response, error) {
	st, err := s.state()
	if err != nil {
		return Response{}, err
	}
	if st == nil || st.deepest().Messages == 0 {
		return Response{}, errNothingOld
	}
	return s.Send(ctx, strings.TrimSpace(compactCommand+" "+strings.Join(strings.Fields(hint), " ")))
}
