// Package record has the rows of a session as the journal stores them and the screen shows them.
// It is the one vocabulary between the runner, the store and every front end: live events carry
// the same rows that a session opened again is drawn from. It holds data only. The JSON of sessions,
// messages and calls is what the commands print with --json.
package record

import (
	"encoding/json"
	"strings"
	"time"

	"parley/agent/model"
	"parley/toolrt"
)

// SessionState says what a session waits for.
type SessionState string

// The states of a session.
const (
	StateIdle SessionState = "idle" // waits for the next message
	StateRun  SessionState = "run"  // a turn runs, in the process that holds the lease
	StateAsk  SessionState = "ask"  // an approval is open
	StateCred SessionState = "cred" // a credential or sys.prompt question is open
	StateStop SessionState = "stop" // the process ended inside a turn
	StateErr  SessionState = "err"  // the last turn failed
	StateDone SessionState = "done" // the program has finished; the next message starts it afresh
)

// Session is a saved chat.
type Session struct {
	ID        string `json:"id"`
	Name      string `json:"name,omitzero"`      // given with --session; unique when not empty
	Title     string `json:"title,omitzero"`     // the first line of the first message
	Program   string `json:"program"`            // the path or reference given, absolute for local files; "" is the embedded program
	SubTool   string `json:"subTool,omitzero"`   // --sub-tool
	Dir       string `json:"dir"`                // working folder, absolute
	Workspace string `json:"workspace,omitzero"` // absolute
	Model     string `json:"model"`              // provider/name
	// BaseURL is the address of the model's server where it is not the provider's own.
	BaseURL string `json:"baseURL,omitempty"`
	// Effort is how much the model is to think, "" as it does by itself.
	Effort    model.Effort `json:"effort,omitzero"`
	Mode      string       `json:"mode,omitzero"`  // ask, edits, plan (auto is not kept)
	Agent     string       `json:"agent,omitzero"` // name of the agent the person talks to
	State     SessionState `json:"state"`
	Parent    string       `json:"parent,omitzero"` // session it was forked from
	ParentSeq int64        `json:"parentSeq,omitzero"`
	Draft     string       `json:"draft,omitzero"`
	Queue     []string     `json:"queue,omitzero"` // messages waiting for the end of the turn
	Panel     string       `json:"panel,omitzero"` // the call panel's state, opaque to the store
	Turns     int          `json:"turns"`
	Calls     int          `json:"calls"`
	Usage     model.Usage  `json:"usage,omitzero"`
	CostMicro int64        `json:"costMicro,omitzero"`
	// Context is the size in tokens of the last request, zero when unknown.
	Context int       `json:"context,omitzero"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	Deleted time.Time `json:"deleted,omitzero"` // zero unless it is in the bin
	// Archived is when it was put away, zero unless it is: such a session stands in no list.
	Archived time.Time `json:"archived,omitzero"`
}

// TurnStatus says how a turn ended.
type TurnStatus string

// The states of a turn.
const (
	TurnOpen        TurnStatus = "open"
	TurnDone        TurnStatus = "done"
	TurnAborted     TurnStatus = "aborted"     // Esc
	TurnFailed      TurnStatus = "failed"      // an error ended it
	TurnInterrupted TurnStatus = "interrupted" // closed without being finished
)

// Turn is one user message and all that follows from it.
type Turn struct {
	Session string
	Number  int // from 1
	Input   string
	Program string // hash of the linked program's text, see Text
	Model   string
	Version int // of the journal's format
	// Base is the chat state before the turn, State the one after it; nil means none.
	Base     json.RawMessage
	State    json.RawMessage
	Status   TurnStatus
	Output   string
	Error    string
	Started  time.Time
	Finished time.Time
}

// Message is one entry of a conversation.
type Message struct {
	Seq          int64  `json:"seq"`          // order of storing within the session; set by the store
	Conversation string `json:"conversation"` // path of the agent call it belongs to
	Index        int    `json:"index"`        // place in the conversation, from 0; system messages are not stored
	Turn         int    `json:"turn"`
	Agent        string `json:"agent,omitzero"` // name of the agent
	// Shown says that the message belongs to the conversation on screen (of an agent that the
	// person talks to), not inside a call.
	Shown   bool          `json:"shown,omitzero"`
	Message model.Message `json:"message,omitzero"`
	// Label is the prefix of the labels of the calls in this message, e.g. "2." or "".
	Label string    `json:"label,omitzero"`
	Time  time.Time `json:"time"`
	Model string    `json:"model,omitzero"` // that wrote a reply
	// Notice is a line about the conversation ("now with @tester, for @planner"); Message is then
	// empty, and Conversation and Index only tell it from other notices, so that a turn walked
	// again writes the same one.
	Notice string `json:"notice,omitzero"`
}

// ByCaller reports whether the message is what an agent asked an inner chat for, and not what the
// person said: it begins a conversation inside another.
func (m *Message) ByCaller() bool {
	return m.Notice == "" && m.Message.Role == model.User && m.Index == 0 && strings.Contains(m.Conversation, "/")
}

// Call is one invocation of a tool, agents included.
type Call struct {
	Path   string `json:"path"`            // unique within the session
	Parent string `json:"parent,omitzero"` // path of the calling call, "" for the entry
	// Turn is the one in which it started.
	Turn  int    `json:"turn"`
	Label string `json:"label,omitzero"` // "2.1"; "" for the entry call
	Round int    `json:"round,omitzero"` // number of the reply that made it, from 1, within its parent
	Index int    `json:"index"`          // place in that reply
	// WireID is the model's id of the call.
	WireID   string           `json:"wireID,omitzero"`
	Tool     string           `json:"tool"` // name shown: "sys.exec", "tester"
	ToolID   string           `json:"toolID,omitzero"`
	Agent    bool             `json:"agent,omitzero"`    // it is an agent's call: it has a conversation
	Chat     bool             `json:"chat,omitzero"`     // the agent talks with the person
	Category string           `json:"category,omitzero"` // "", "context", "credential", "input", "output", "provider"
	Display  string           `json:"display,omitzero"`  // one line, e.g. "Running `ls`"; may be empty
	Input    string           `json:"input"`             // argument text, redacted
	Status   toolrt.Status    `json:"status"`
	Result   string           `json:"result"`         // text the model got, or for agents the final text; redacted
	Error    string           `json:"error,omitzero"` // kind of failure, see toolrt.Kind
	Decision *toolrt.Decision `json:"decision,omitzero"`
	ExitCode *int             `json:"exitCode,omitzero"`

	Truncated   bool   `json:"truncated,omitzero"`
	OutputBytes int64  `json:"outputBytes,omitzero"`
	OutputLines int64  `json:"outputLines,omitzero"`
	OutputID    string `json:"outputID,omitzero"`

	Created  time.Time `json:"created"`          // when the model asked for it
	Started  time.Time `json:"started,omitzero"` // zero: has not run
	Finished time.Time `json:"finished,omitzero"`
	// Waits is the label of the call it waits for in order, "" when none. Not stored.
	Waits string `json:"waits,omitzero"`
	// Taken says that it was taken from the record on resume. Not stored.
	Taken bool        `json:"taken,omitzero"`
	Usage model.Usage `json:"usage,omitzero"` // of an agent, own completions only
}

// EntryKind says what an effect is.
type EntryKind string

// The kinds of effects.
const (
	EntryCompletion EntryKind = "completion"
	EntryExecution  EntryKind = "execution"
	EntryApproval   EntryKind = "approval"
	EntryPrompt     EntryKind = "prompt"
	EntryCredential EntryKind = "credential"
	// EntrySteer is a message handed over while the turn ran.
	EntrySteer EntryKind = "steer"
	// EntryCompaction is the summary of a conversation's oldest part.
	EntryCompaction EntryKind = "compaction"
	// EntryUndo is an undo or redo of file changes, noted after the turn had ended.
	EntryUndo EntryKind = "undo"
)

// Key names an effect within a session: the same effect has the same key when a turn is walked
// again.
type Key struct {
	Turn    int
	Path    string // of the call
	Ordinal int    // of the effect within that call and turn, from 0
}

// Entry is an effect in the journal.
type Entry struct {
	Key  Key
	Seq  int64 // place in the session's journal; set by the store at begin
	Kind EntryKind
	// Hash is of the request; a recorded entry with another hash is not the same effect.
	Hash string
	// Request is what the effect was made of, Result what came of it; both redacted. Result is
	// nil until the effect is finished.
	Request  json.RawMessage
	Result   json.RawMessage
	Finished bool
	// Repeatable says that an unfinished effect may be run again without asking.
	Repeatable bool
	Started    time.Time
	Ended      time.Time
}

// InDoubt reports whether the effect has begun, has not finished and may not simply run again.
func (e Entry) InDoubt() bool { return !e.Finished && !e.Repeatable }

// Approval is one decision about a call, append-only.
type Approval struct {
	ID       int64           `json:"id"` // set by the store
	Turn     int             `json:"turn"`
	Path     string          `json:"path"`
	Tool     string          `json:"tool"`
	Args     string          `json:"args"` // redacted
	ArgsHash string          `json:"argsHash"`
	Decision toolrt.Decision `json:"decision"`
}

// What a line of usage is about.
const (
	SpentAgent = "agent"
	SpentModel = "model"
	SpentTool  = "tool"
)

// Spent is what an agent, a model or a tool has used in a session.
type Spent struct {
	By     string // SpentAgent, SpentModel or SpentTool
	Name   string
	Count  int           // replies of an agent or a model, calls of a tool
	Failed int           // calls that did not succeed
	Usage  model.Usage   // of replies
	Time   time.Duration // that replies took or calls ran; zero for agents
}

// Text is a text kept once by its hash: a linked program, a system message, a tool list.
type Text struct {
	Hash string
	Body string
}

// Rows is what one commit writes beside an entry. Rows that are there already (same conversation
// and index, same call path) are updated, so that a turn walked again writes nothing twice.
type Rows struct {
	Messages  []Message
	Calls     []Call
	Approvals []Approval
	Texts     []Text
	// Usage and CostMicro are added to the session's totals; Context replaces its context size
	// when not zero.
	Usage     model.Usage
	CostMicro int64
	Context   int
	// Durable asks that the commit survives power loss.
	Durable bool
}

// Empty reports whether there is nothing to write.
func (r *Rows) Empty() bool {
	return len(r.Messages)+len(r.Calls)+len(r.Approvals)+len(r.Texts) == 0
}
