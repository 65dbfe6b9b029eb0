package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"parley/agent/model"
	"parley/agent/model/internal/wire"
)

// Stream asks the model. See [model.Model].
func (m *chat) Stream(ctx context.Context, req model.Request, emit func(model.Delta)) (model.Reply, error) {
	messages := model.WireMessages(req, m.service.name)
	if len(messages) == 0 {
		return model.Reply{Message: model.Message{Role: model.Assistant}, Finish: model.FinishStop}, nil
	}
	key, err := m.key(ctx)
	if err != nil {
		return model.Reply{}, err
	}
	body, err := m.body(req, messages)
	if err != nil {
		return model.Reply{}, &model.Error{Provider: m.service.name, Message: "the request cannot be written: " + err.Error(), Err: err}
	}
	return wire.Retrier(m.options).Run(ctx, emit, func(ctx context.Context) (model.Reply, error) {
		return m.try(ctx, body, key, emit)
	})
}

// settle is how long a stream may go on after its finish reason: usage and [DONE] may follow, and
// some servers send neither and keep the connection.
const settle = 5 * time.Second

// try sends the request once.
func (m *chat) try(ctx context.Context, body []byte, key string, emit func(model.Delta)) (model.Reply, error) {
	x := &wire.Exchange{
		Transport: m.transport, Body: body,
		Filter: func(r io.Reader) io.Reader { return wire.Lines(r, hideError) },
	}
	inner := x.Begin(ctx, m.options.Silence)
	defer x.Close()
	// The request is empty because the exchange sends the body made above.
	stream, err := m.client(x, key).CreateChatCompletionStream(inner, openai.ChatCompletionRequest{})
	if err != nil {
		return model.Reply{}, m.failure(x, key, nil, err)
	}
	defer stream.Close()
	a := wire.NewAssembly(m.service.name, emit)
	for {
		line, err := stream.RecvRaw()
		var c chunk
		if err == nil {
			err = json.Unmarshal(line, &c)
		}
		if err == nil && len(c.Error) > 0 && string(c.Error) != "null" {
			return a.Partial(), m.failure(x, key, line, errors.New("error in the stream"))
		}
		if err == nil {
			if c.add(a); a.Finished() {
				x.Settle(settle)
			}
			continue
		}
		if a.Finished() && ctx.Err() == nil {
			return a.Reply()
		}
		return a.Partial(), m.failure(x, key, nil, notEOF(err))
	}
}

// notEOF turns the clean end of a stream that had no finish reason into nothing to say.
func notEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

var errorLine = regexp.MustCompile(`^data:\s*\{"error":`)

// hideError keeps the library from reading an error line itself: it would wait for a further line
// first, and lose an error that is no object. Such a line is read by try like any other.
func hideError(line []byte) []byte {
	if !errorLine.Match(line) {
		return line
	}
	return append([]byte("data: { "), line[bytes.IndexByte(line, '{')+1:]...)
}

// chunk is one event of the stream.
type chunk struct {
	Choices []struct {
		Index        int    `json:"index"`
		Delta        delta  `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *openai.Usage   `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// delta is the library's, with the other name of reasoning and calls read leniently.
type delta struct {
	openai.ChatCompletionStreamChoiceDelta
	Reasoning string     `json:"reasoning"`
	ToolCalls []callPart `json:"tool_calls"`
}

type callPart struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

// arguments is the text of arguments. Some servers send an object in place of its text.
type arguments string

func (t *arguments) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		text = string(data)
	}
	*t = arguments(text)
	return nil
}

// add puts the pieces of an event into the reply.
func (c *chunk) add(a *wire.Assembly) {
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // only one answer was asked for
		}
		d := choice.Delta
		if d.ReasoningContent != "" {
			a.Reasoning(0, d.ReasoningContent)
		} else {
			a.Reasoning(0, d.Reasoning)
		}
		a.Text(d.Content)
		a.Text(d.Refusal)
		for _, t := range d.ToolCalls {
			a.Call(t.Index, t.ID, t.Function.Name, string(t.Function.Arguments))
		}
		if choice.FinishReason != "" {
			a.Finish(finish(choice.FinishReason))
		}
	}
	if c.Usage != nil && (c.Usage.PromptTokens > 0 || c.Usage.CompletionTokens > 0) {
		a.Usage(usage(c.Usage))
	}
}

// finish reads a finish reason. Servers have words of their own for a normal end.
func finish(reason string) model.Finish {
	switch reason {
	case "tool_calls", "function_call":
		return model.FinishCalls
	case "length", "max_tokens":
		return model.FinishLength
	case "content_filter":
		return model.FinishFilter
	}
	return model.FinishStop
}

func usage(u *openai.Usage) model.Usage {
	out := model.Usage{
		PromptTokens: u.PromptTokens, CompletionTokens: u.CompletionTokens, TotalTokens: u.TotalTokens,
	}
	if u.PromptTokensDetails != nil {
		out.CachedTokens = u.PromptTokensDetails.CachedTokens
	}
	if u.CompletionTokensDetails != nil {
		out.ReasoningTokens = u.CompletionTokensDetails.ReasoningTokens
	}
	return out
}
