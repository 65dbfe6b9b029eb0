package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"parley/agent/model"
	"parley/agent/record"
	"parley/toolrt"
)

// deliverSteer appends the messages that the person handed over while the turn ran, if this call
// is the one the person talks to. Each is an effect of the round it enters, so that a turn walked
// again finds it at the same place. It reports whether there was one.
func (c *call) deliverSteer(ctx context.Context) bool {
	if !c.shown || c.t.interrupted() {
		return false
	}
	entered := false
	for n := 0; ; n++ {
		key := record.Key{Turn: c.t.row.Number, Path: c.path + "/steer", Ordinal: c.state.Rounds*100 + n}
		_, recorded := c.t.recorded[key]
		text, waits := "", false
		if !recorded {
			if c.repliesAgain() {
				return entered
			}
			if text, waits = c.t.s.takeSteer(); !waits {
				return entered
			}
		}
		// The text is what the effect gives, not what it is asked with: the request is empty.
		result, _, err := c.t.do(ctx, effect{kind: record.EntrySteer, key: key, question: true, durable: true},
			func(context.Context) (any, record.Rows, error) {
				return text, record.Rows{Messages: []record.Message{c.append(model.TextMessage(model.User, text))}}, nil
			})
		if err != nil {
			c.t.s.untakeSteer(text)
			return entered
		}
		if recorded {
			_ = json.Unmarshal(result, &text) // written by the branch above
			c.say(model.TextMessage(model.User, text))
		}
		entered = true
	}
}

// repliesAgain reports whether the call's next reply was asked for in an earlier walk: a message
// handed over since then enters behind it, or the request would not be the recorded one.
func (c *call) repliesAgain() bool {
	_, asked := c.t.recorded[record.Key{Turn: c.t.row.Number, Path: c.path, Ordinal: c.replies}]
	return asked
}

// askToGoOn asks the person whether the agent may go on after many replies with calls.
func (c *call) askToGoOn(ctx context.Context, rounds int) bool {
	if c.t.s.o.Prompter == nil {
		return false
	}
	key := record.Key{Turn: c.t.row.Number, Path: c.path + "/limit", Ordinal: c.state.Rounds}
	result, _, err := c.t.do(ctx, effect{kind: record.EntryPrompt, key: key, question: true},
		func(ctx context.Context) (any, record.Rows, error) {
			defer c.t.s.asking(ctx, record.StateAsk)()
			ans, err := c.t.s.o.Prompter.Prompt(ctx, InputQuestion{ID: fmt.Sprintf("limit:%s:%d", c.path, rounds),
				Path: c.path, Label: c.state.Label, Agents: c.agents(), Tool: c.name(),
				Question: toolrt.Question{Message: fmt.Sprintf("%d replies with calls have followed each other. Go on?", rounds),
					Fields: []toolrt.Field{{Name: "answer", Options: []string{"go on", "stop"}}}}})
			if err != nil {
				return nil, record.Rows{}, err
			}
			return !ans.Declined && ans.Values["answer"] == "go on", record.Rows{}, nil
		})
	return err == nil && string(result) == "true"
}
