package openai

import (
	"encoding/json"

	openai "github.com/sashabaranov/go-openai"

	"parley/agent/model"
)

// request is the library's request with the two fields it cannot write as they are needed: a
// temperature of 0, and messages whose text is empty.
type request struct {
	openai.ChatCompletionRequest
	Messages    []message `json:"messages"`
	Temperature *float32  `json:"temperature,omitempty"`
}

type message struct {
	Role string `json:"role"`
	// Content is a string, a list of parts, or nil to leave it out.
	Content    any               `json:"content,omitempty"`
	Reasoning  string            `json:"reasoning_content,omitempty"`
	Name       string            `json:"name,omitempty"`
	ToolCalls  []openai.ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string            `json:"tool_call_id,omitempty"`
}

// body returns the JSON of a request (4.2).
func (m *chat) body(req model.Request, messages []model.WireMessage) ([]byte, error) {
	r := request{Temperature: req.Temperature, Messages: m.messages(messages)}
	r.Model = m.name
	r.Stream = true
	r.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	r.Seed = req.Seed
	r.MaxTokens = req.MaxTokens
	if req.JSONResponse {
		r.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	}
	if m.internal && isReasoner(m.name) {
		r.Temperature, r.MaxTokens, r.MaxCompletionTokens = nil, 0, req.MaxTokens
	}
	for _, t := range req.Tools {
		r.Tools = append(r.Tools, tool(t))
	}
	if len(r.Tools) > 0 && quietWithTools[m.name] {
		r.ReasoningEffort = openai.ReasoningEffortNone
	}
	if req.Effort != "" {
		r.ReasoningEffort = string(req.Effort)
	}
	return json.Marshal(r)
}

func tool(t model.Tool) openai.Tool {
	parameters := t.Parameters
	if len(parameters) == 0 {
		parameters = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
		Name: t.Name, Description: t.Description, Parameters: parameters,
	}}
}

func (m *chat) messages(in []model.WireMessage) []message {
	lastUser := -1
	for i, w := range in {
		if w.Role == model.User {
			lastUser = i
		}
	}
	var out []message
	for i, w := range in {
		one := message{Role: string(w.Role), Content: content(w)}
		for _, c := range w.Calls {
			one.ToolCalls = append(one.ToolCalls, openai.ToolCall{
				ID: c.ID, Type: openai.ToolTypeFunction,
				Function: openai.FunctionCall{
					Name: c.Function.Name, Arguments: string(model.ObjectArguments(c.Function.Arguments)),
				},
			})
		}
		if w.Role == model.ToolRole {
			one.ToolCallID, one.Name = w.CallID, w.CallName
		}
		// Servers that reason want it back while their tool calls are being answered, and not after.
		if i > lastUser && len(w.Calls) > 0 {
			for _, r := range w.Reasoning {
				one.Reasoning += r.Text
			}
		}
		out = append(out, one)
	}
	return out
}

// content returns the text, or parts if there are images. Only a message with calls may lack it.
func content(w model.WireMessage) any {
	if len(w.Images) == 0 {
		if w.Text == "" && len(w.Calls) > 0 {
			return nil
		}
		return w.Text
	}
	var parts []openai.ChatMessagePart
	if w.Text != "" {
		parts = append(parts, openai.ChatMessagePart{Type: openai.ChatMessagePartTypeText, Text: w.Text})
	}
	for _, image := range w.Images {
		parts = append(parts, openai.ChatMessagePart{
			Type: openai.ChatMessagePartTypeImageURL, ImageURL: &openai.ChatMessageImageURL{URL: image},
		})
	}
	return parts
}
