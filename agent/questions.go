package agent

import (
	"context"

	"parley/toolrt"
)

// Authorizer asks a person about a call that rules and mode leave open. It is called from several
// goroutines; the questions of one batch come in call order. It returns ctx's error when ctx ends
// first, and ErrNobody when there is no one to ask.
type Authorizer interface {
	Authorize(ctx context.Context, q ApprovalQuestion) (ApprovalAnswer, error)
}

// Prompter asks a person for input: sys.prompt, credentials, provider keys. The rules of
// [Authorizer] hold.
type Prompter interface {
	Prompt(ctx context.Context, q InputQuestion) (InputAnswer, error)
}

// ApprovalQuestion is one call that needs a person's say. All texts are redacted, none is cleaned
// of control characters: whoever shows them escapes them.
type ApprovalQuestion struct {
	ID       string // unique within the process
	Turn     int
	Path     string   // of the call
	Label    string   // "2.1"
	Agents   []string // who asks, outermost first
	Own      bool     // the person does, by having the tool run
	Tool     string   // "sys.exec"
	Source   string   // "builtin", "command", ...
	Category string   // "", "context", "credential", "input", "output"
	// Arguments is the argument text as the tool will get it, secret arguments masked.
	Arguments string
	// Script is the text of a command tool as it will run, "" for built-ins.
	Script  string
	Preview toolrt.Preview
	Dir     string // working folder
	Reason  string // why it asks, a sentence
	// Protected says that no rule may allow it (A9): only once is offered.
	Protected bool
	// Parts are the parts of a shell command, the uncovered ones marked; empty otherwise.
	Parts []CommandPart
	// Rules are the rules an answer may make, narrow to wide; may be empty.
	Rules []RuleOffer
	// Batch and Place say which of how many calls of the reply this is, from 1.
	Place, Batch int
	// Again says why it is asked a second time ("the file has changed since"), usually "".
	Again string
	// Placed is called by the Authorizer as soon as the question has its place in the queue of
	// questions: only then is the next one of the batch put to it. Never nil.
	Placed func() `json:"-"`
	// Sandbox says in words how the call will be confined if allowed, "" if not at all.
	Sandbox string
}

// CommandPart is one simple command of a shell text.
type CommandPart struct {
	Text    string
	Covered bool // by a rule
}

// RuleOffer is a rule that an answer may make.
type RuleOffer struct {
	// Text is the canonical text, e.g. "sys.exec(go test *)". A compound command may need several
	// rules: one a line.
	Text string
	Past int // how many past calls of the session it would have matched
}

// ApprovalAnswer is a person's answer to an [ApprovalQuestion].
type ApprovalAnswer struct {
	Allow bool
	// Scope is "once", "session", "project" or "user". Other than once, Rule is the text of the
	// rule to make; with Allow false it is a deny rule.
	Scope string
	Rule  string
	// Note is the person's reason for the model, on a denial.
	Note string
	// Stop also ends the turn.
	Stop bool
	// Arguments replaces the call's argument text when not nil. The call is judged again.
	Arguments *string
}

// InputQuestion asks a person for values.
type InputQuestion struct {
	ID       string
	Path     string
	Label    string
	Agents   []string
	Tool     string // that asks, or for which the credential is needed
	Question toolrt.Question
	// Credential is the credential's name when the values are one; "" for sys.prompt.
	Credential string
	// Sets names the environment variables a credential will set.
	Sets []string
	// Keep lists where the values may be kept, best first: "keyring", "file", "session", "call".
	// Empty for sys.prompt.
	Keep []string
}

// InputAnswer is a person's answer to an [InputQuestion].
type InputAnswer struct {
	Values   map[string]string // by field name
	Declined bool
	Keep     string // one of the question's Keep
}

// Resolution is a person's answer about a call that had begun when the process died.
type Resolution string

// The answers of the resume dialog.
const (
	// ResolveRerun runs the call again; it counts as the approval of a second run.
	ResolveRerun Resolution = "rerun"
	// ResolveResult takes a given text as the call's result.
	ResolveResult Resolution = "result"
	// ResolveInterrupted tells the model that the call was cut off.
	ResolveInterrupted Resolution = "interrupted"
)
