// Package offline is a model without a network and without a language model: a table of rules that
// understands plain requests ("list the files here", "run `go test` and read go.mod"), calls the
// tools it was offered for them, and reports their results. It is deterministic and says what it
// is, so that a newcomer without a key can try everything and tests can run the real program.
// Start with [New]; the requests it understands are the table in rules.go.
package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"parley/agent/model"
	"parley/agent/model/internal/wire"
)

// ModelName is the only model of the provider.
const ModelName = "parley"

// delayVar names the environment variable with the wait between two pieces of a stream, in
// milliseconds; 0 turns it off.
const delayVar = "PARLEY_OFFLINE_DELAY"

// New returns the provider "offline".
func New() model.Provider { return provider{} }

type provider struct{}

var _ model.Lister = provider{}

func (provider) Name() string { return "offline" }

func (provider) NeedsKey(model.Options) bool { return false }

func (provider) Models(context.Context, model.Options) ([]string, error) {
	return []string{ModelName}, nil
}

// Open returns the model "parley"; "" is the same.
func (provider) Open(name string, o model.Options) (model.Model, error) {
	if name != "" && name != ModelName {
		return nil, fmt.Errorf("offline/%s is unknown: the only offline model is offline/%s", name, ModelName)
	}
	delay := 2 * time.Millisecond
	if ms, err := strconv.Atoi(wire.Getenv(o, delayVar)); err == nil && ms >= 0 {
		delay = time.Duration(ms) * time.Millisecond
	}
	return rules{delay: delay}, nil
}

// rules is the model.
type rules struct{ delay time.Duration }

func (rules) Ref() string { return "offline/" + ModelName }

func (r rules) Info() model.Info {
	return model.Info{Ref: r.Ref(), Title: "parley's offline rules"}
}

// Stream answers at once, in pieces. See [model.Model].
func (r rules) Stream(ctx context.Context, req model.Request, emit func(model.Delta)) (model.Reply, error) {
	if ctx.Err() != nil {
		return model.Reply{}, context.Cause(ctx)
	}
	text, calls := answer(req)
	if req.JSONResponse && len(calls) == 0 {
		text = asJSON(text)
	}
	text, err := r.say(ctx, text, emit)
	reply := model.Reply{Message: model.Message{Role: model.Assistant}, Finish: model.FinishStop}
	if text != "" {
		reply.Message.Content = append(reply.Message.Content, model.Part{Text: text})
	}
	if err != nil {
		reply.Finish = ""
		return reply, err
	}
	for i, f := range calls {
		call := &model.ToolCall{Index: &i, ID: callID(req, i), Function: f}
		emit(model.Delta{Kind: model.DeltaCall, Index: i, Name: f.Name, Text: f.Arguments})
		reply.Message.Content = append(reply.Message.Content, model.Part{ToolCall: call})
		reply.Finish = model.FinishCalls
	}
	reply.Usage = usage(req, reply.Message)
	reply.Message.Usage = &reply.Usage
	return reply, nil
}

// callID returns an id that no other call of the conversation has.
func callID(req model.Request, i int) string {
	return fmt.Sprintf("offline_%d_%d", len(req.Messages), i)
}

func asJSON(text string) string {
	data, _ := json.Marshal(map[string]string{"answer": text}) // a map of strings always encodes
	return string(data)
}

// say streams a text word by word and returns what it said: less than the text when ctx ends.
func (r rules) say(ctx context.Context, text string, emit func(model.Delta)) (string, error) {
	said := 0
	for said < len(text) {
		if err := r.pause(ctx); err != nil {
			return text[:said], err
		}
		piece := nextWord(text[said:])
		emit(model.Delta{Kind: model.DeltaText, Text: piece})
		said += len(piece)
	}
	return text, nil
}

func (r rules) pause(ctx context.Context) error {
	if r.delay > 0 {
		timer := time.NewTimer(r.delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// nextWord returns the first word of a text with the white space behind it.
func nextWord(text string) string {
	inSpace := false
	for i, r := range text {
		space := unicode.IsSpace(r)
		if inSpace && !space {
			return text[:i]
		}
		inSpace = space
	}
	return text
}

// usage estimates tokens at four characters each, so that the displays have something to count.
func usage(req model.Request, reply model.Message) model.Usage {
	u := model.Usage{CompletionTokens: tokens(reply)}
	for _, m := range req.Messages {
		u.PromptTokens += tokens(m)
	}
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	return u
}

func tokens(m model.Message) int {
	n := utf8.RuneCountInString(m.Text())
	for _, c := range m.Calls() {
		n += len(c.Function.Name) + len(c.Function.Arguments)
	}
	return (n + 3) / 4
}
