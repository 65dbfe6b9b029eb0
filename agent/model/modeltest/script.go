// Package modeltest is a model server for tests: a real HTTP server on this machine that answers
// from a script and records what it was asked. It speaks the streaming wires of OpenAI-compatible
// servers (POST …/v1/chat/completions, GET …/v1/models) and of Anthropic (POST …/v1/messages), so
// the providers under test are the real ones. Start with [Start]; a script comes from Go or, with
// [Load], from a JSON file:
//
//	{"models": ["m1"], "replies": [
//	  {"text": "Hello", "reasoning": "…", "usage": {"prompt": 10, "completion": 2}},
//	  {"calls": [{"name": "ls", "arguments": {"dir": "."}}]},
//	  {"when": {"last": "tests pass", "results": true}, "text": "Done."},
//	  {"status": 429, "headers": {"Retry-After": "1"}, "error": {"code": "rate", "message": "slow down"}},
//	  {"text": "long answer", "pieces": 4, "cut": {"events": 2}},
//	  {"text": "again", "repeat": -1}
//	]}
//
// Each request takes the first reply that is not used up and whose "when" holds; a reply without
// "when" fits any request. A reply is used once, or "repeat" times more (-1: for ever). A request
// for which there is no reply is answered with status 400. The fields of a reply are documented at
// [Reply].
package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// Script is what a server answers.
type Script struct {
	// Models are the names that the list of models has.
	Models  []string `json:"models,omitempty"`
	Replies []Reply  `json:"replies"`
}

// Reply is the answer to one request, or to several with Repeat.
type Reply struct {
	// When says which requests this answers. Nil: any.
	When *When `json:"when,omitempty"`
	// Repeat is how often it is used again; negative: for ever.
	Repeat int `json:"repeat,omitempty"`

	Text      string `json:"text,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
	// Signature signs the reasoning (Anthropic). Redacted is a hidden block before it.
	Signature string `json:"signature,omitempty"`
	Redacted  string `json:"redacted,omitempty"`
	Calls     []Call `json:"calls,omitempty"`
	// Usage is sent at the end. Nil: none.
	Usage *Usage `json:"usage,omitempty"`
	// Finish is the finish reason in OpenAI's words. Empty: "tool_calls" if there are calls, else
	// "stop". "none" sends none.
	Finish string `json:"finish,omitempty"`
	// Pieces is how many characters a piece of text, reasoning or arguments has. Zero: all.
	Pieces int `json:"pieces,omitempty"`
	// NoDone leaves out the last line [DONE] (OpenAI).
	NoDone bool `json:"noDone,omitempty"`

	// Hold waits for Server.Release of that name before the first event, or after HoldAfter
	// events.
	Hold      string `json:"hold,omitempty"`
	HoldAfter int    `json:"holdAfter,omitempty"`
	// Hang keeps the connection open and silent after the last event, or after those of Cut.
	Hang bool `json:"hang,omitempty"`
	// Cut ends the stream early.
	Cut *Cut `json:"cut,omitempty"`

	// Status, if not zero or 200, is answered with Headers and Error in place of a stream.
	Status  int               `json:"status,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Error   *Error            `json:"error,omitempty"`
	// Raw is sent as the body as it is, in place of everything above but Status, Headers and Cut.
	Raw string `json:"raw,omitempty"`
}

// When is a condition on a request: all of its fields that are set must hold.
type When struct {
	Model  string `json:"model,omitempty"`  // the model's name
	System string `json:"system,omitempty"` // is in the system message
	User   string `json:"user,omitempty"`   // is in the last user message
	Last   string `json:"last,omitempty"`   // is in the last message
	Tool   string `json:"tool,omitempty"`   // is the name of an offered tool
	// Results says whether the last message is a tool's result.
	Results *bool `json:"results,omitempty"`
}

// Call is a tool call in a reply.
type Call struct {
	ID string `json:"id,omitempty"` // empty: call_1, call_2, …; "none": sent without (OpenAI)
	// Index is the index on the wire. Nil: the place in the reply.
	Index *int   `json:"index,omitempty"`
	Name  string `json:"name"`
	// Arguments is the argument text, or an object whose compact JSON it is.
	Arguments Arguments `json:"arguments,omitempty"`
}

// Arguments is the text of a call's arguments.
type Arguments string

// UnmarshalJSON takes a string as it is and any other value as its compact JSON.
func (a *Arguments) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*a = Arguments(text)
		return nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	*a = Arguments(compact.String())
	return nil
}

// Usage counts tokens.
type Usage struct {
	Prompt     int `json:"prompt"`
	Completion int `json:"completion"`
	Cached     int `json:"cached,omitempty"`
	Reasoning  int `json:"reasoning,omitempty"`
}

// Cut says where a stream ends early: after so many events or bytes, whichever is set. The
// connection is closed cleanly, or broken with Abort.
type Cut struct {
	Events int  `json:"events,omitempty"`
	Bytes  int  `json:"bytes,omitempty"`
	Abort  bool `json:"abort,omitempty"`
}

// Error is a provider's refusal.
type Error struct {
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// Load reads a script from a JSON file. Unknown fields are errors.
func Load(path string) (Script, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Script{}, fmt.Errorf("model script: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var s Script
	if err := decoder.Decode(&s); err != nil {
		return Script{}, fmt.Errorf("model script %s: %w", path, err)
	}
	return s, nil
}
