// Package record has the rows of a session as the journal stores them and the screen shows them.
// It is the one vocabulary between the runner, the store and every front end: live events carry
// the same rows that a session opened again is drawn from. It holds data only.
package record

import (
	"encoding/json"
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
	ID        string
	Name      string // given with --session; unique when not empty
	Title     string // the first line of the first message
	Program   string // the path or reference given, absolute for local files; "" is the embedded program
	SubTool   string // --sub-tool
	Dir       string // working folder, absolute
	Workspace string // absolute
	Model     string // provider/name
	Mode      string // ask, edits, plan (auto is not kept)
	Agent     string // name of the agent the person talks to
	State     SessionState
	Parent    string // session it was forked from
	ParentSeq int64
	Draft     string
	Queue     []string // messages waiting for the end of the turn
	Panel     string   // the call panel's state, opaque to the store
	Turns     int
	Calls     int
	Usage     model.Usage
	CostMicro int64
	// Context is the size in tokens of the last request, zero when unknown.
	Context int
	Created time.Time
	Updated time.Time
	Deleted time.Time // zero unless it is in the bin
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
	Seq          int64  // order of storing within the session; set by the store
	Conversation string // path of the agent call it belongs to
	Index        int    // place in the conversation, from 0; system messages are not stored
	Turn         int
	Agent        string // name of the agent
	// Shown says that the message belongs to the conversation on screen (of an agent that the
	// person talks to), not inside a call.
	Shown   bool
	Message model.Message
	// Label is the prefix of the labels of the calls in this message, e.g. "2." or "".
	Label string
	Time  time.Time
	Model string // that wrote a reply
	// Notice is a line about the conversation ("now with @tester, for @planner"); Message is then
	// empty, and Conversation and Index only tell it from other notices, so that a turn walked
	// again writes the same one.
	Notice string
}

// Call is one invocation of a tool, agents included.
type Call struct {
	Path   string // unique within the session
	Parent string // path of the calling call, "" for the entry
	// Turn is the one in which it started.
	Turn  int
	Label string // "2.1"; "" for the entry call
	Round int    // number of the reply that made it, from 1, within its parent
	Index int    // place in that reply
	// WireID is the model's id of the call.
	WireID   string
	Tool     string // name shown: "sys.exec", "tester"
	ToolID   string
	Agent    bool   // it is an agent's call: it has a conversation
	Chat     bool   // the agent talks with the person
	Category string // "", "context", "credential", "input", "output", "provider"
	Display  string // one line, e.g. "Running `ls`"; may be empty
	Input    string // argument text, redacted
	Status   toolrt.Status
	Result   string // text the model got, or for agents the final text; redacted
	Error    string // kind of failure, see toolrt.Kind
	Decision *toolrt.Decision
	ExitCode *int

	Truncated   bool
	OutputBytes int64
	OutputLines int64
	OutputID    string

	Created  time.Time // when the model asked for it
	Started  time.Time // zero: has not run
	Finished time.Time
	// Waits is the label of the call it waits for in order, "" when none. Not stored.
	Waits string
	// Taken says that it was taken from the record on resume. Not stored.
	Taken bool
	Usage model.Usage // of an agent, own completions only
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
	ID       int64 // set by the store
	Turn     int
	Path     string
	Tool     string
	Args     string // redacted
	ArgsHash string
	Decision toolrt.Decision
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
