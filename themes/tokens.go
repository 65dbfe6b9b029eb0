package themes

import "slices"

// Names of the tokens.
const (
	Text      = "text"      // running text
	Muted     = "muted"     // what matters less: times, hints, folded details
	Accent    = "accent"    // titles, keys, the prompt sign
	Success   = "success"   // ok
	Warning   = "warning"   // needs the person: ask, credential
	Error     = "error"     // failed, denied
	Running   = "running"   // work in progress
	Border    = "border"    // frames and rules
	Selection = "selection" // background of the chosen line
	Selected  = "selected"  // text on the selection
	User      = "user"      // the person's name in the conversation
	Agent     = "agent"     // an agent's name
	Link      = "link"
	Heading   = "heading"

	Code         = "code" // code without a more special token
	CodeKeyword  = "codeKeyword"
	CodeType     = "codeType"
	CodeFunction = "codeFunction"
	CodeString   = "codeString"
	CodeNumber   = "codeNumber"
	CodeComment  = "codeComment"
	CodeOperator = "codeOperator"

	DiffAdd    = "diffAdd"
	DiffRemove = "diffRemove"
	DiffHunk   = "diffHunk"
)

var tokens = []string{
	Text, Muted, Accent, Success, Warning, Error, Running, Border, Selection, Selected, User, Agent,
	Link, Heading, Code, CodeKeyword, CodeType, CodeFunction, CodeString, CodeNumber, CodeComment,
	CodeOperator, DiffAdd, DiffRemove, DiffHunk,
}

// Tokens returns the names of all tokens.
func Tokens() []string { return slices.Clone(tokens) }
