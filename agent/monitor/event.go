// Package monitor carries what a run does to whoever watches: screens, progress lines, event
// streams. Every watcher has a queue of its own. Lifecycle events are never dropped; pieces of
// progress are joined; the runner never waits for a watcher. The store is not a watcher: it is
// written by the journal alone.
package monitor

import (
	"time"

	"parley/agent/model"
	"parley/agent/program"
	"parley/agent/record"
	"parley/toolrt"
)

// Type is the kind of an event.
type Type string

// The events of the format (5.11).
const (
	RunStart     Type = "runStart"
	CallStart    Type = "callStart"
	CallContinue Type = "callContinue"
	CallSubCalls Type = "callSubCalls"
	CallProgress Type = "callProgress"
	CallChat     Type = "callChat"
	CallFinish   Type = "callFinish"
	RunFinish    Type = "runFinish"
	CallConfirm  Type = "callConfirm" // an approval question is open
	Prompt       Type = "prompt"      // a question to the person is open
)

// Events of our own, for screens only: they are not part of the event format.
const (
	// RowsChanged carries rows that were committed with no event of the format beside them.
	RowsChanged Type = "rows"
	// Notice carries a line about the run (a retry, a store that is busy).
	Notice Type = "notice"
	// Paused and Resumed bracket a question to the person, so that console output can wait.
	Paused  Type = "paused"
	Resumed Type = "resumed"
	// JobChanged says that a command went to the background or that one there has ended.
	JobChanged Type = "job"
	// ServersChanged says that the state of an MCP server has changed.
	ServersChanged Type = "servers"
)

// Event is one fact about a run.
type Event struct {
	Time               time.Time          `json:"time,omitzero"`
	CallContext        *CallContext       `json:"callContext,omitempty"`
	ToolSubCalls       map[string]SubCall `json:"toolSubCalls,omitempty"`
	ToolResults        int                `json:"toolResults,omitempty"`
	Type               Type               `json:"type,omitempty"`
	ChatCompletionID   string             `json:"chatCompletionId,omitempty"`
	ChatRequest        any                `json:"chatRequest,omitempty"`
	ChatResponse       any                `json:"chatResponse,omitempty"`
	Usage              *model.Usage       `json:"usage,omitempty"`
	ChatResponseCached bool               `json:"chatResponseCached,omitempty"`
	Content            string             `json:"content,omitempty"`
	Program            *program.Program   `json:"program,omitempty"`
	Input              string             `json:"input,omitempty"`
	Output             string             `json:"output,omitempty"`
	Err                string             `json:"err,omitempty"`
	Error              string             `json:"error,omitempty"` // of a callFinish (Q32)

	// Path is the call the event is about.
	Path string `json:"-"`
	// Delta is the new piece of a CallProgress event; the whole text is built where a stream is
	// written.
	Delta *Delta `json:"-"`
	// Messages and Calls are rows committed with this event, Session the changed session row.
	Messages []record.Message `json:"-"`
	Calls    []record.Call    `json:"-"`
	Text     string           `json:"-"` // of a Notice
	Job      *toolrt.Job      `json:"-"` // of a JobChanged
}

// Delta is a piece of live text.
type Delta struct {
	Kind DeltaKind
	Text string
	// Conversation and Index say which message the piece belongs to (replies).
	Conversation string
	Index        int
	Shown        bool
	Agent        string
	Call         int    // index of the tool call for PieceCall
	Name         string // of the tool, on its first piece
}

// DeltaKind says what a piece of live text is.
type DeltaKind int

// The kinds of pieces.
const (
	PieceText DeltaKind = iota + 1
	PieceReasoning
	PieceCall   // argument text of a tool call being written
	PieceOutput // output of a running command
	// PieceVoid says that the reply streamed so far is void (it is asked for again).
	PieceVoid
)

// CallContext is the identity of a call in the event format.
type CallContext struct {
	ID           string              `json:"id"`
	Tool         *program.Tool       `json:"tool,omitempty"`
	CurrentAgent program.Reference   `json:"currentAgent,omitzero"`
	AgentGroup   []program.Reference `json:"agentGroup,omitempty"`
	InputContext []InputContext      `json:"inputContext"`
	ToolCategory string              `json:"toolCategory,omitempty"`
	ToolName     string              `json:"toolName,omitempty"`
	ParentID     string              `json:"parentID,omitempty"`
	DisplayText  string              `json:"displayText,omitempty"`
}

// InputContext is the output of one context.
type InputContext struct {
	ToolID  string `json:"toolID,omitempty"`
	Content string `json:"content,omitempty"`
}

// SubCall is a pending call in a CallSubCalls event.
type SubCall struct {
	Missing bool   `json:"missing,omitempty"`
	ToolID  string `json:"toolID,omitempty"`
	Input   string `json:"input,omitempty"`
}
