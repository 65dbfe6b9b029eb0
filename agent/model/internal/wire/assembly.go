package wire

import (
	"encoding/json"
	"slices"
	"strings"

	"parley/agent/model"
)

// Assembly puts a reply together from the pieces of a stream and passes each piece on. It is used
// by one goroutine.
type Assembly struct {
	provider string
	emit     func(model.Delta)

	text   strings.Builder
	blocks []*block
	calls  []*call
	usage  *model.Usage
	finish model.Finish
}

// block is one block of reasoning under way.
type block struct {
	key                 int
	text                strings.Builder
	signature, redacted string
}

// call is one tool call under way.
type call struct {
	key       int // the index on the wire
	id, name  string
	arguments strings.Builder
}

// NewAssembly returns an empty assembly for a provider's stream.
func NewAssembly(provider string, emit func(model.Delta)) *Assembly {
	return &Assembly{provider: provider, emit: emit}
}

// Text adds a piece of the answer.
func (a *Assembly) Text(piece string) {
	if piece == "" {
		return
	}
	a.text.WriteString(piece)
	a.emit(model.Delta{Kind: model.DeltaText, Text: piece})
}

// Reasoning adds a piece of the block of reasoning with that number.
func (a *Assembly) Reasoning(key int, piece string) {
	if piece == "" {
		return
	}
	a.block(key).text.WriteString(piece)
	a.emit(model.Delta{Kind: model.DeltaReasoning, Text: piece})
}

// Signature adds to the signature of a block of reasoning.
func (a *Assembly) Signature(key int, piece string) {
	if piece != "" {
		a.block(key).signature += piece
	}
}

// Redacted adds a block of reasoning that is hidden.
func (a *Assembly) Redacted(key int, data string) {
	if data != "" {
		a.block(key).redacted = data
	}
}

func (a *Assembly) block(key int) *block {
	for _, b := range a.blocks {
		if b.key == key {
			return b
		}
	}
	b := &block{key: key}
	a.blocks = append(a.blocks, b)
	return b
}

// Call adds a piece of a tool call. Pieces belong together by index; without one they go to the
// call with the same id, else to the last. The first id and name count: some servers repeat them,
// some make up a new id for each piece.
func (a *Assembly) Call(index *int, id, name, arguments string) {
	if id == "" && name == "" && arguments == "" {
		return
	}
	slot := a.slot(index, id, name)
	c := a.calls[slot]
	if c.id == "" {
		c.id = id
	}
	delta := model.Delta{Kind: model.DeltaCall, Index: slot, Text: arguments}
	if c.name == "" && name != "" {
		c.name, delta.Name = name, name
	}
	c.arguments.WriteString(arguments)
	if delta.Name != "" || delta.Text != "" {
		a.emit(delta)
	}
}

// slot returns the place of the call that a piece belongs to, making one if it begins a call.
func (a *Assembly) slot(index *int, id, name string) int {
	last := len(a.calls) - 1
	find := func(same func(*call) bool) int { return slices.IndexFunc(a.calls, same) }
	switch {
	case index != nil:
		// The newest first: a server that numbers all calls 0 goes on with its last.
		for i := last; i >= 0; i-- {
			if a.calls[i].key == *index {
				if begins(a.calls[i], id, name) {
					break
				}
				return i
			}
		}
	case id != "":
		if i := find(func(c *call) bool { return c.id == id }); i >= 0 {
			return i
		}
		if last >= 0 && !begins(a.calls[last], id, name) {
			return last
		}
	case name == "" && last >= 0:
		return last
	}
	key := len(a.calls)
	if index != nil {
		key = *index
	}
	a.calls = append(a.calls, &call{key: key})
	return len(a.calls) - 1
}

// begins reports whether a piece with that id and name starts a call after c, although it has the
// same index: only if it names a tool and an id of its own, and c is complete.
func begins(c *call, id, name string) bool {
	return id != "" && name != "" && c.id != "" && id != c.id && json.Valid([]byte(c.arguments.String()))
}

// Usage sets the usage. Later values win.
func (a *Assembly) Usage(u model.Usage) {
	if u.TotalTokens == 0 {
		u.TotalTokens = u.PromptTokens + u.CompletionTokens
	}
	a.usage = &u
}

// Finish says why the reply ended. The first reason counts.
func (a *Assembly) Finish(f model.Finish) {
	if a.finish == "" {
		a.finish = f
	}
}

// Finished reports whether a finish reason came.
func (a *Assembly) Finished() bool { return a.finish != "" }

// Reply returns the complete reply: ErrCutStream if no finish reason came.
func (a *Assembly) Reply() (model.Reply, error) {
	if !a.Finished() {
		return a.Partial(), model.ErrCutStream
	}
	r := a.Partial()
	used := map[string]int{}
	for i, c := range a.calls {
		f := model.Function{Name: c.name, Arguments: c.arguments.String()}
		call := model.ToolCall{Index: &i, ID: c.id, Function: f}
		call.ID = model.UniqueCallID(call, used)
		r.Message.Content = append(r.Message.Content, model.Part{ToolCall: &call})
	}
	r.Finish = a.finish
	// Servers are known to say "stop" after calls, and "tool_calls" after none.
	switch {
	case len(a.calls) > 0 && r.Finish == model.FinishStop:
		r.Finish = model.FinishCalls
	case len(a.calls) == 0 && r.Finish == model.FinishCalls:
		r.Finish = model.FinishStop
	}
	return r, nil
}

// Partial returns what has come so far, without tool calls.
func (a *Assembly) Partial() model.Reply {
	m := model.Message{Role: model.Assistant, Usage: a.usage}
	if a.text.Len() > 0 {
		m.Content = []model.Part{{Text: a.text.String()}}
	}
	for _, b := range a.blocks {
		m.Reasoning = append(m.Reasoning, model.Reasoning{
			Provider: a.provider, Text: b.text.String(), Signature: b.signature, Redacted: b.redacted,
		})
	}
	r := model.Reply{Message: m}
	if a.usage != nil {
		r.Usage = *a.usage
	}
	return r
}
