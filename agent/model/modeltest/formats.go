package modeltest

import (
	"encoding/json"
	"fmt"
)

// format is one wire.
type format interface {
	// events returns the text of a stream, event by event.
	events(r Reply) []string
	// failure returns the body of a refusal.
	failure(r Reply) string
	// tools returns the names of the offered tools.
	tools(request map[string]any) []string
}

type object = map[string]any

// text returns the JSON of a value.
func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // only maps of plain values come here
	}
	return string(data)
}

// pieces splits a text into pieces of n characters. Zero: one piece.
func pieces(s string, n int) []string {
	if s == "" {
		return nil
	}
	if n <= 0 || n >= len(s) {
		return []string{s}
	}
	runes := []rune(s)
	var out []string
	for len(runes) > n {
		out = append(out, string(runes[:n]))
		runes = runes[n:]
	}
	return append(out, string(runes))
}

func (c Call) id(place int) string {
	switch c.ID {
	case "":
		return fmt.Sprintf("call_%d", place+1)
	case "none":
		return ""
	}
	return c.ID
}

func (c Call) index(place int) int {
	if c.Index != nil {
		return *c.Index
	}
	return place
}

func (r Reply) finish() string {
	switch {
	case r.Finish != "":
		return r.Finish
	case len(r.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func names(request object, field func(object) any) []string {
	tools, _ := request["tools"].([]any)
	var out []string
	for _, t := range tools {
		tool, _ := t.(object)
		if name, ok := field(tool).(string); ok {
			out = append(out, name)
		}
	}
	return out
}

// openAI is the wire of chat completions.
type openAI struct{}

func (openAI) tools(request object) []string {
	return names(request, func(tool object) any {
		function, _ := tool["function"].(object)
		return function["name"]
	})
}

func (openAI) failure(r Reply) string {
	e := Error{}
	if r.Error != nil {
		e = *r.Error
	}
	return text(object{"error": object{"message": e.Message, "type": e.Code, "code": e.Code}})
}

func (openAI) events(r Reply) []string {
	var out []string
	chunk := func(delta object, finish any) {
		out = append(out, "data: "+text(object{
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "test",
			"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}},
		})+"\n\n")
	}
	chunk(object{"role": "assistant", "content": ""}, nil)
	for _, p := range pieces(r.Reasoning, r.Pieces) {
		chunk(object{"reasoning_content": p}, nil)
	}
	for _, p := range pieces(r.Text, r.Pieces) {
		chunk(object{"content": p}, nil)
	}
	for i, c := range r.Calls {
		part := func(id, name, arguments string) {
			function := object{"arguments": arguments}
			call := object{"index": c.index(i), "function": function}
			if name != "" {
				function["name"], call["type"] = name, "function"
			}
			if id != "" {
				call["id"] = id
			}
			chunk(object{"tool_calls": []object{call}}, nil)
		}
		part(c.id(i), c.Name, "")
		for _, p := range pieces(string(c.Arguments), r.Pieces) {
			part("", "", p)
		}
	}
	if r.finish() != "none" {
		chunk(object{}, r.finish())
	}
	if u := r.Usage; u != nil {
		out = append(out, "data: "+text(object{
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": []object{},
			"usage": object{
				"prompt_tokens": u.Prompt, "completion_tokens": u.Completion,
				"total_tokens":              u.Prompt + u.Completion,
				"prompt_tokens_details":     object{"cached_tokens": u.Cached},
				"completion_tokens_details": object{"reasoning_tokens": u.Reasoning},
			},
		})+"\n\n")
	}
	if !r.NoDone {
		out = append(out, "data: [DONE]\n\n")
	}
	return out
}

// anthropic is the wire of Anthropic's messages.
type anthropic struct{}

func (anthropic) tools(request object) []string {
	return names(request, func(tool object) any { return tool["name"] })
}

func (anthropic) failure(r Reply) string {
	e := Error{}
	if r.Error != nil {
		e = *r.Error
	}
	return text(object{"type": "error", "error": object{"type": e.Code, "message": e.Message}})
}

// stopReasons are Anthropic's words for finish reasons.
var stopReasons = map[string]string{
	"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal",
}

// anthropicEvents builds a stream block by block.
type anthropicEvents struct {
	out   []string
	block int
}

func (b *anthropicEvents) event(kind string, fields object) {
	fields["type"] = kind
	b.out = append(b.out, "event: "+kind+"\ndata: "+text(fields)+"\n\n")
}

func (b *anthropicEvents) add(start object, deltas ...object) {
	b.event("content_block_start", object{"index": b.block, "content_block": start})
	for _, d := range deltas {
		b.event("content_block_delta", object{"index": b.block, "delta": d})
	}
	b.event("content_block_stop", object{"index": b.block})
	b.block++
}

func (anthropic) events(r Reply) []string {
	u := Usage{}
	if r.Usage != nil {
		u = *r.Usage
	}
	b := &anthropicEvents{}
	b.event("message_start", object{"message": object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "test", "content": []any{},
		"usage": object{
			"input_tokens": u.Prompt - u.Cached, "cache_read_input_tokens": u.Cached, "output_tokens": 1,
		},
	}})
	b.event("ping", object{})
	if r.Redacted != "" {
		b.add(object{"type": "redacted_thinking", "data": r.Redacted})
	}
	if r.Reasoning != "" || r.Signature != "" {
		deltas := deltas(r.Reasoning, r.Pieces, "thinking_delta", "thinking")
		deltas = append(deltas, object{"type": "signature_delta", "signature": r.Signature})
		b.add(object{"type": "thinking", "thinking": "", "signature": ""}, deltas...)
	}
	if r.Text != "" {
		b.add(object{"type": "text", "text": ""}, deltas(r.Text, r.Pieces, "text_delta", "text")...)
	}
	for i, c := range r.Calls {
		b.add(object{"type": "tool_use", "id": c.id(i), "name": c.Name, "input": object{}},
			deltas(string(c.Arguments), r.Pieces, "input_json_delta", "partial_json")...)
	}
	if r.finish() != "none" {
		reason, ok := stopReasons[r.finish()]
		if !ok {
			reason = r.finish()
		}
		b.event("message_delta", object{
			"delta": object{"stop_reason": reason}, "usage": object{"output_tokens": u.Completion},
		})
		b.event("message_stop", object{})
	}
	return b.out
}

func deltas(s string, n int, kind, field string) []object {
	var out []object
	for _, p := range pieces(s, n) {
		out = append(out, object{"type": kind, field: p})
	}
	return out
}
