// Package model is the border between the agent and the language models: one request form, one
// reply form, one stream of pieces, whatever the provider's wire looks like. The providers live in
// folders of their own (openai, anthropic, offline, replay); a [Registry] opens a model by its
// "provider/name".
package model

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Role says who a message is from.
type Role string

// The roles of messages.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one entry of a conversation, in the form that the state JSON of .gpt programs uses
// (4.1). A message is never changed once it is stored.
type Message struct {
	Role    Role   `json:"role"`
	Content []Part `json:"content,omitempty"`
	// ToolCall repeats the call that a tool message answers.
	ToolCall *ToolCall `json:"toolCall,omitempty"`
	Usage    *Usage    `json:"usage,omitempty"`
	// Reasoning is what the model thought before it answered, kept because some providers need it
	// back with its signature.
	Reasoning []Reasoning `json:"reasoning,omitempty"`
	// IsError marks a tool message whose call failed, for providers with a flag for that.
	IsError bool `json:"isError,omitempty"`
	// Aborted marks a reply that was cut off by the person.
	Aborted bool `json:"aborted,omitempty"`
	// Own marks a reply whose calls the person made, not the model.
	Own bool `json:"own,omitempty"`
}

// Part is a piece of a message: text or a tool call, never both.
type Part struct {
	Text     string    `json:"text,omitempty"`
	ToolCall *ToolCall `json:"toolCall,omitempty"`
}

// ToolCall is the model's request to call a tool.
type ToolCall struct {
	// Index is the place in the reply. Nil in states written by others that lack it.
	Index    *int     `json:"index,omitempty"`
	ID       string   `json:"id,omitempty"` // the wire id
	Function Function `json:"function"`
}

// Function names the tool called, with the argument text exactly as the model wrote it.
type Function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Reasoning is one block of a model's thinking.
type Reasoning struct {
	Provider  string `json:"provider"` // whose block it is; other providers leave it out
	Text      string `json:"text,omitempty"`
	Signature string `json:"signature,omitempty"`
	Redacted  string `json:"redacted,omitempty"` // opaque data of a hidden block
}

// Usage counts tokens.
type Usage struct {
	PromptTokens     int `json:"promptTokens,omitempty"`
	CompletionTokens int `json:"completionTokens,omitempty"`
	TotalTokens      int `json:"totalTokens,omitempty"`
	CachedTokens     int `json:"cachedTokens,omitempty"`
	ReasoningTokens  int `json:"reasoningTokens,omitempty"`
}

// Text returns the message's text parts, one per line.
func (m Message) Text() string {
	var parts []string
	for _, p := range m.Content {
		if p.ToolCall == nil {
			parts = append(parts, p.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// Calls returns the tool calls of the message in order.
func (m Message) Calls() []ToolCall {
	var calls []ToolCall
	for _, p := range m.Content {
		if p.ToolCall != nil {
			calls = append(calls, *p.ToolCall)
		}
	}
	return calls
}

// TextMessage returns a message of one text part.
func TextMessage(role Role, text string) Message {
	return Message{Role: role, Content: []Part{{Text: text}}}
}

// Tool is a function offered to the model.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"` // nil: no parameters
}

// Request is one completion asked of a model.
type Request struct {
	Model        string    `json:"model"`
	Messages     []Message `json:"messages,omitempty"`
	Tools        []Tool    `json:"tools,omitempty"`
	MaxTokens    int       `json:"maxTokens,omitempty"`
	Temperature  *float32  `json:"temperature,omitempty"` // nil: not sent
	JSONResponse bool      `json:"jsonResponse,omitempty"`
	Seed         *int      `json:"seed,omitempty"`
	Effort       Effort    `json:"effort,omitempty"`
	// Chat says that the request is a chat tool's. It is not sent: it only decides whether a user
	// message that is just {} is left out (4.2).
	Chat bool `json:"chat,omitempty"`
}

// Effort is how much a model is to think before it answers. The zero value leaves it to the model and
// its provider: nothing is sent. A model that cannot think may refuse any other.
type Effort string

// The efforts.
const (
	EffortLow    Effort = "low"
	EffortMedium Effort = "medium"
	EffortHigh   Effort = "high"
)

// Efforts are all efforts from the model's own to the highest.
func Efforts() []Effort { return []Effort{"", EffortLow, EffortMedium, EffortHigh} }

// ParseEffort reads an effort; "default" and "" are the model's own.
func ParseEffort(s string) (Effort, error) {
	switch e := Effort(s); e {
	case "default":
		return "", nil
	case "", EffortLow, EffortMedium, EffortHigh:
		return e, nil
	}
	return "", fmt.Errorf("there is no effort %q: it is default, low, medium or high", s)
}

// String is the effort's name.
func (e Effort) String() string {
	if e == "" {
		return "default"
	}
	return string(e)
}

// Finish says why a reply ended.
type Finish string

// The reasons a reply ends.
const (
	FinishStop   Finish = "stop"
	FinishCalls  Finish = "tool_calls"
	FinishLength Finish = "length"
	FinishFilter Finish = "content_filter"
)

// Reply is a model's complete answer.
type Reply struct {
	Message Message `json:"message"`
	Finish  Finish  `json:"finish"`
	Usage   Usage   `json:"usage"`
}

// DeltaKind says what a piece of a stream is.
type DeltaKind int

// The kinds of pieces.
const (
	DeltaText DeltaKind = iota + 1
	DeltaReasoning
	// DeltaCall is a piece of a tool call: Name on its first piece, Text for argument text.
	DeltaCall
	// DeltaRetry says that the request is tried again: what was streamed so far is void.
	DeltaRetry
)

// Delta is one piece of a streamed reply.
type Delta struct {
	Kind  DeltaKind
	Text  string // the new piece only; for DeltaRetry the reason, in words
	Index int    // of the tool call
	Name  string // of the tool, once
	// Wait is how long until the next try, Attempt its number starting at 2, for DeltaRetry.
	Wait    time.Duration
	Attempt int
}

// Model answers requests. Implementations are safe for concurrent use.
type Model interface {
	// Ref returns "provider/name".
	Ref() string
	// Info returns what is known about the model; zero values mean unknown. It asks no network.
	Info() Info
	// Stream sends one request and calls emit, from one goroutine, with each piece as it comes.
	// The reply is complete or the error non-nil: a stream that ends without its end event is an
	// error (ErrCutStream). When ctx ends, Stream returns what had come with the context's cause.
	// Failures are retried inside as far as that is safe, each with a DeltaRetry.
	Stream(ctx context.Context, req Request, emit func(Delta)) (Reply, error)
}

// Info describes a model.
type Info struct {
	Ref           string  `json:"ref"`
	Title         string  `json:"title,omitempty"`
	ContextWindow int     `json:"contextWindow,omitempty"` // tokens
	MaxOutput     int     `json:"maxOutput,omitempty"`     // tokens
	InputMicros   float64 `json:"inputMicros,omitempty"`   // millionths of a dollar per token
	OutputMicros  float64 `json:"outputMicros,omitempty"`
	// InternalPrompt says that GPTScript's generic instruction is put before the system message of
	// tools that do not turn it off (4.2): true for the provider "openai" only.
	InternalPrompt bool `json:"internalPrompt,omitempty"`
}
