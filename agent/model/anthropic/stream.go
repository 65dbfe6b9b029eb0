package anthropic

import (
	"context"
	"errors"
	"io"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"

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
	service := sdk.NewMessageService(m.clientOptions(x, key)...)
	stream := service.NewStreaming(inner, params)
	defer stream.Close()
	r := reader{Assembly: wire.NewAssembly(providerName, emit), whole: map[int]string{}}
	for stream.Next() {
		if r.event(stream.Current()); r.Finished() {
			return r.Reply()
		}
	}
	var object []byte
	if e, ok := errors.AsType[*sdk.Error](stream.Err()); ok {
		object = []byte(e.RawJSON())
	}
	return r.Partial(), m.failure(x, key, object, stream.Err())
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
		r.usage.ReasoningTokens = int(u.OutputTokensDetails.ThinkingTokens)
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

// finish reads a stop reason.
func finish(reason sdk.StopReason) model.Finish {
	switch reason {
	case sdk.StopReasonToolUse:
		return model.FinishCalls
	case sdk.StopReasonMaxTokens, sdk.StopReasonModelContextWindowExceeded:
		return model.FinishLength
	case sdk.StopReasonRefusal:
		return model.FinishFilter
	case sdk.StopReasonEndTurn, sdk.StopReasonStopSequence, sdk.StopReasonPauseTurn:
	}
	return model.FinishStop
}
