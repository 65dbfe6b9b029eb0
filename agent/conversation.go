package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"parley/agent/model"
	"parley/agent/record"
)

// conversation is the append-only list of one agent call, held in memory while the call is open.
type conversation struct {
	path     string
	messages []model.Message
	// chain is the running hash of all messages: chain i covers the first i messages. It lets a
	// request be hashed without hashing the whole history again.
	chain []string
	// hasCut says that a message holds an output that was cut.
	hasCut bool
}

// load returns the call's conversation with its first n messages.
func (s *Session) load(ctx context.Context, path string, n int) (*conversation, error) {
	s.mu.Lock()
	conv := s.conversations[path]
	s.mu.Unlock()
	if conv != nil && len(conv.messages) == n {
		return conv, nil
	}
	conv = &conversation{path: path, chain: []string{""}}
	if n > 0 {
		rows, err := s.journal.Messages(ctx, path, n)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			conv.add(row.Message)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conversations[path] = conv
	return conv, nil
}

func (c *conversation) add(m model.Message) {
	c.messages = append(c.messages, m)
	c.hasCut = c.hasCut || hasCutOutput(m)
	b, _ := json.Marshal(m) // a message is plain data
	c.chain = append(c.chain, hashOf(append([]byte(c.chain[len(c.chain)-1]), b...)))
}

// hash names the whole conversation.
func (c *conversation) hash() string { return c.chain[len(c.chain)-1] }

// append adds a message to the call's conversation and returns its row, to be committed.
func (c *call) append(m model.Message) record.Message {
	m = validMessage(m)
	row := record.Message{Conversation: c.path, Index: len(c.conv.messages), Turn: c.t.row.Number,
		Agent: c.name(), Shown: c.shown && !c.hides(m), Label: c.labelPrefix(), Message: m, Time: c.t.s.now()}
	if m.Role == model.Assistant {
		row.Model = c.model.Ref()
	}
	c.conv.add(m)
	return row
}

// hides reports whether a message is not for the person's eyes as it is: the text of a tool with output
// filters is shown as they leave it (Q36).
func (c *call) hides(m model.Message) bool {
	return c.filtered && m.Role == model.Assistant && m.Text() != ""
}

// showFiltered puts what the output filters have made of the reply into the conversation on screen.
func (c *call) showFiltered(text string) {
	if !c.shown || !c.filtered || c.conv == nil || text == "" {
		return
	}
	c.t.queue(record.Rows{Messages: []record.Message{{Conversation: c.path + "/filtered", Index: c.state.Rounds, Turn: c.t.row.Number,
		Agent: c.name(), Shown: true, Message: model.TextMessage(model.Assistant, c.t.s.redact(text)), Model: c.model.Ref(), Time: c.t.s.now()}}})
}

// validMessage replaces invalid UTF-8 in a message, so that it is the same after it was stored and
// read again.
func validMessage(m model.Message) model.Message {
	m.Content = slices.Clone(m.Content)
	for i, p := range m.Content {
		m.Content[i].Text = strings.ToValidUTF8(p.Text, "\uFFFD")
		if p.ToolCall != nil {
			tc := *p.ToolCall
			tc.Function.Name = strings.ToValidUTF8(tc.Function.Name, "\uFFFD")
			tc.Function.Arguments = strings.ToValidUTF8(tc.Function.Arguments, "\uFFFD")
			m.Content[i].ToolCall = &tc
		}
	}
	return m
}
