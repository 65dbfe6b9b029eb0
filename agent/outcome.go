package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"parley/agent/monitor"
	"parley/agent/record"
	"parley/toolrt"
)

// recordedOutcome is an outcome as it is recorded.
type recordedOutcome struct {
	*toolrt.Outcome
	// Text is the hash of the message where that is kept apart.
	Text string `json:"text,omitempty"`
}

// contextShown is how many bytes of what a context said stand in the row of its call.
const contextShown = 1024

// kept is what is recorded of an outcome. What a context said is mostly the same from request to
// request: like the request's other texts it is kept once, by its hash.
func (c *call) kept(o *toolrt.Outcome) (recordedOutcome, []record.Text) {
	r := recordedOutcome{Outcome: stored(o)}
	if c.state.Category != categoryContext || o.Err != nil || len(r.Message) <= contextShown {
		return r, nil
	}
	text := record.Text{Hash: hashOf([]byte(r.Message)), Body: r.Message}
	r.Text, r.Message = text.Hash, ""
	c.shorten()
	return r, []record.Text{text}
}

// shorten leaves the beginning of a context's long text in its call's row.
func (c *call) shorten() {
	if len(c.row.Result) > contextShown && c.state.Category == categoryContext {
		c.row.Result = strings.ToValidUTF8(c.row.Result[:contextShown], "") + "…"
	}
}

// stored is the outcome without what must not be kept or stands elsewhere.
func stored(o *toolrt.Outcome) *toolrt.Outcome {
	s := *o
	s.Full = ""
	if o.Output != nil {
		out := *o.Output
		out.Text = ""
		s.Output = &out
		if out.Secret {
			s.Message = ""
		}
	}
	return &s
}

// taken rebuilds an outcome from the record.
func (c *call) taken(ctx context.Context, result json.RawMessage) (*toolrt.Outcome, error) {
	r := recordedOutcome{Outcome: &toolrt.Outcome{}}
	if err := json.Unmarshal(result, &r); err != nil {
		return nil, fmt.Errorf("read recorded result of call %s: %w", c.path, err)
	}
	o := r.Outcome
	if r.Text != "" {
		var err error
		if o.Message, err = c.t.s.journal.Text(ctx, r.Text); err != nil {
			return nil, fmt.Errorf("read what call %s said: %w", c.path, err)
		}
	}
	o.Recorded = true
	o.Full = o.Message
	if o.Output != nil {
		o.Output.Text = o.Message
	}
	c.fill(o)
	c.shorten()
	c.row.Taken = c.t.played == nil
	c.t.s.emit(monitor.Event{Type: monitor.RowsChanged, Calls: []record.Call{c.row}})
	return o, nil
}
