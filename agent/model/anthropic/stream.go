package anthropic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"parley/agent/model"
	"parley/agent/model/internal/wire"
)

// Stream asks the model. See [model.Model].
func (m *claude) Stream(ctx context.Context, req model.Request, emit func(model.Delta)) (model.Reply, error) {
	messages := model.WireMessages(req, providerName)
	if len(messages) == 0 {
		return model.Reply{Message: model.Message{Role: model.Assistant}, Finish: model.FinishStop}, nil
	}
	key, err := m.key(ctx)
	if err != nil {
		return model.Reply{}, err
	}
	params := m.params(req, messages)
	return wire.Retrier(m.options).Run(ctx, emit, func(ctx context.Context) (model.Reply, error) {
		return m.try(ctx, params, key, emit)
	})
}

// try sends the request once.
func (m *claude) try(ctx context.Context, params sdk.MessageNewParams, key string,
	emit func(model.Delta),
) (model.Reply, error) {
	x := &wire.Exchange{
		Transport: m.transport,
		Filter:    func(r io.Reader) io.Reader { return wire.Lines(r, nil) },
	}
	inner := x.Begin(ctx, m.options.Silence)
	defer x.Close()
	var answer *http.Response
	client := sdk.Client{Options: m.clientOptions(x, key)} // made without the environment's defaults
	err := client.Post(inner, "v1/messages", params, &answer, option.WithJSONSet("stream", true))
	if err != nil {
		return model.Reply{}, m.failure(x, key, nil, err)
	}
	// The library's own stream would give an error event as a text only.
	events := ssestream.NewDecoder(answer)
	defer events.Close()
	r := reader{Assembly: wire.NewAssembly(providerName, emit), whole: map[int]string{}}
	for events.Next() {
		data := bytes.TrimSpace(events.Event().Data)
		if events.Event().Type == "error" {
			return r.Partial(), m.failure(x, key, data, errors.New("error in the stream"))
		}
		if len(data) == 0 {
			continue
		}
		var e sdk.MessageStreamEventUnion
		if err := json.Unmarshal(data, &e); err != nil {
			return r.Partial(), m.failure(x, key, nil, err)
		}
		if r.event(e); r.Finished() {
			return r.Reply()
		}
	}
	return r.Partial(), m.failure(x, key, nil, events.Err())
}

// reader puts the events of a stream into a reply.
type reader struct {
	*wire.Assembly
	usage model.Usage
	stop  model.Finish
	// whole holds the input that a call's block began with, until argument text comes for it.
	whole map[int]string
}

func (r *reader) event(e sdk.MessageStreamEventUnion) {
	i := int(e.Index)
	switch e.Type {
	case "message_start":
		u := e.Message.Usage
		r.count(u.InputTokens, u.CacheCreationInputTokens, u.CacheReadInputTokens, u.OutputTokens)
	case "content_block_start":
		r.begin(i, e.ContentBlock)
	case "content_block_delta":
		r.delta(i, e.Delta)
	case "content_block_stop":
		if input, ok := r.whole[i]; ok {
			r.Call(&i, "", "", input)
			delete(r.whole, i)
		}
	case "message_delta":
		if e.Delta.StopReason != "" {
			r.stop = finish(e.Delta.StopReason)
		}
		u := e.Usage
		r.usage.ReasoningTokens = thinkingTokens(u)
		r.count(u.InputTokens, u.CacheCreationInputTokens, u.CacheReadInputTokens, u.OutputTokens)
	case "message_stop":
		if r.stop == "" {
			r.stop = model.FinishStop
		}
		r.Finish(r.stop)
	}
}

// begin starts a block.
func (r *reader) begin(i int, b sdk.ContentBlockStartEventContentBlockUnion) {
	switch b.Type {
	case "text":
		r.Text(b.Text)
	case "thinking":
		r.Reasoning(i, b.Thinking)
		r.Signature(i, b.Signature)
	case "redacted_thinking":
		r.Redacted(i, b.Data)
	case "tool_use":
		r.Call(&i, b.ID, b.Name, "")
		r.whole[i] = b.JSON.Input.Raw()
		if r.whole[i] == "" {
			r.whole[i] = "{}"
		}
	}
}

// delta adds to a block.
func (r *reader) delta(i int, d sdk.MessageStreamEventUnionDelta) {
	switch d.Type {
	case "text_delta":
		r.Text(d.Text)
	case "thinking_delta":
		r.Reasoning(i, d.Thinking)
	case "signature_delta":
		r.Signature(i, d.Signature)
	case "input_json_delta":
		if d.PartialJSON != "" {
			r.Call(&i, "", "", d.PartialJSON)
			delete(r.whole, i)
		}
	}
}

// count takes in a usage. The counts grow through a stream, and later events leave out what they
// said before. What came from the cache or went into it is not in input tokens.
func (r *reader) count(input, written, cached, output int64) {
	r.usage.CachedTokens = max(r.usage.CachedTokens, int(cached))
	r.usage.PromptTokens = max(r.usage.PromptTokens, int(input+written+cached))
	r.usage.CompletionTokens = max(r.usage.CompletionTokens, int(output))
	if r.usage.PromptTokens+r.usage.CompletionTokens > 0 {
		r.Usage(r.usage)
	}
}

// thinkingTokens is how many of the output's tokens are reasoning, which newer servers say. The
// library is older than the field.
func thinkingTokens(u sdk.MessageDeltaUsage) int {
	var details struct {
		ThinkingTokens int `json:"thinking_tokens"`
	}
	field, ok := u.JSON.ExtraFields["output_tokens_details"]
	if !ok || json.Unmarshal([]byte(field.Raw()), &details) != nil {
		return 0
	}
	return details.ThinkingTokens
}

// windowExceeded is a stop reason that the library does not name.
const windowExceeded sdk.StopReason = "model_context_window_exceeded"

// finish reads a stop reason.
func finish(reason sdk.StopReason) model.Finish {
	switch reason {
	case sdk.StopReasonToolUse:
		return model.FinishCalls
	case sdk.StopReasonMaxTokens, windowExceeded:
		return model.FinishLength
	case sdk.StopReasonRefusal:
		return model.FinishFilter
	case sdk.StopReasonEndTurn, sdk.StopReasonStopSequence, sdk.StopReasonPauseTurn:
	}
	return model.FinishStop
}
