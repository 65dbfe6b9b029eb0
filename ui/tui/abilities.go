package tui

import (
	"context"

	"parley/agent"
	"parley/agent/model"
	"parley/agent/record"
	"parley/toolrt"
	"parley/toolrt/undo"
)

// What a Chat or a Backend may know beside what the screen cannot do without. Where it does not,
// the screen leaves out what depends on it.

// Journaled is a Chat whose journal can be read.
type Journaled interface {
	// Entries returns the effects of a turn, in the order in which they began.
	Entries(ctx context.Context, turn int) ([]record.Entry, error)
}

// Spender is a Chat that knows who has used what.
type Spender interface {
	// Spent says what the session has used by agent, model and tool.
	Spent(ctx context.Context) ([]record.Spent, error)
}

// RuleKeeper is a Chat that knows where rules are kept.
type RuleKeeper interface {
	// RuleFile returns the settings file in which rules of a scope ("project", "user") are kept, "" when
	// there is none. It returns at once.
	RuleFile(scope string) string
}

// Backgrounder is a Chat whose commands can go on in the background.
type Backgrounder interface {
	// Background moves a running command of the turn to the background. False means that it cannot
	// go on by itself. It returns at once.
	Background(path string) bool
	// Jobs lists the commands in the background, oldest first, with the last ones that have ended.
	Jobs() []toolrt.Job
	// JobOutput returns the last part of what one has printed.
	JobOutput(id string) (string, error)
	// EndJob ends one and returns when it is gone.
	EndJob(ctx context.Context, id string) error
}

// ToolRunner is a Chat in which the person can have a tool run without the model, in a turn of its own.
// The call is judged as any other; the model reads it with the next message.
type ToolRunner interface {
	// RunShell runs a command line and returns when the turn has ended.
	RunShell(ctx context.Context, command string) error
	// RunTool runs a tool of the program by its id; args is a JSON object.
	RunTool(ctx context.Context, tool, args string) error
}

// Thoughtful is a Chat whose models can be told how much to think.
type Thoughtful interface {
	// SetEffort holds from the next turn on. It returns at once.
	SetEffort(e model.Effort) error
}

// Hooked is a Chat that knows the person's own commands around calls.
type Hooked interface {
	// HookStates returns them in the order in which they run. It returns at once.
	HookStates() []agent.HookState
}

// Confiner is a Backend that knows how commands are confined.
type Confiner interface {
	// SandboxFacts says in lines what confines commands, and what of it this system can do.
	SandboxFacts() []string
}

// Changer is a Chat that knows what its tools have made of files.
type Changer interface {
	// FileChanges compares each file with what it was before the session changed it first.
	FileChanges(ctx context.Context) ([]undo.Difference, error)
}

// Secret is a stored credential, without its values.
type Secret struct {
	Name, Context string
	Detail        string // when it expires, which variables it sets
}

// Provider is a model provider that wants a key.
type Provider struct {
	Name string
	Key  string // where its key comes from, or that there is none
}

// SecretKeeper is a Backend that keeps credentials.
type SecretKeeper interface {
	// Secrets lists what is stored in the contexts in use.
	Secrets(ctx context.Context) ([]Secret, error)
	// StoreSecret asks the person for the values, through the questions of the screen, and stores
	// them: variables for a tool's credential, none for "sys." and the name of a provider. It returns
	// what was done in a line; a person who declines is an error.
	StoreSecret(ctx context.Context, name string, variables ...string) (done string, err error)
	// DeleteSecret removes one.
	DeleteSecret(ctx context.Context, s Secret) error
	// Providers lists the model providers that want a key.
	Providers(ctx context.Context) ([]Provider, error)
}

// ProgramPart is an agent or a tool of the program.
type ProgramPart struct {
	Name        string
	Description string
	Agent       bool
	Entry       bool // the program begins with it
}

// Programmed is a Chat that knows the parts of its program.
type Programmed interface {
	ProgramParts(ctx context.Context) ([]ProgramPart, error)
}

// ContextPart is a part of what the model was sent last, with its size.
type ContextPart struct {
	Name  string
	Bytes int
	Count int // of messages or tools, zero where it has no meaning
}

// Contextual is a Chat that knows what fills the context.
type Contextual interface {
	ContextParts(ctx context.Context) ([]ContextPart, error)
}

// FileLister is a Backend that lists the files of the working folder: hidden and ignored ones left
// out, links not followed, paths slash-separated below it. An error of visit ends the walk.
type FileLister interface {
	Files(ctx context.Context, visit func(rel string) error) error
}

// Forker is a Backend that copies sessions.
type Forker interface {
	// Fork opens a copy of the session's turns up to a place of its journal, 0 for its end. A place
	// inside a turn is that turn's beginning, with its message as the draft.
	Fork(ctx context.Context, id string, seq int64) (Chat, error)
}

// Starter is a Backend that can start a session with another agent of the program, or with another
// program.
type Starter interface {
	NewWith(ctx context.Context, agent string) (Chat, error)
	NewProgram(ctx context.Context, ref string) (Chat, error)
}

// Exporter is a Backend that writes sessions to files of the working folder.
type Exporter interface {
	// Export writes a session and returns the file's path. ExportFormats are the formats.
	Export(ctx context.Context, id, format string) (path string, err error)
	ExportFormats() []string
}

// Reporter is a Backend that answers as parley's own command line does, without a terminal.
type Reporter interface {
	// Report carries out a command of the command line ("doctor", "config show") and returns what it
	// prints.
	Report(ctx context.Context, args ...string) (string, error)
}

// Catalogue is a Backend that knows what the models can do and cost.
type Catalogue interface {
	// ModelInfos describes the models that can be chosen; unknown figures are zero.
	ModelInfos(ctx context.Context) ([]model.Info, error)
}

// Previewer is a Backend that looks into sessions without opening them.
type Previewer interface {
	// Preview returns up to limit messages at the end of a session's conversation, oldest first.
	Preview(ctx context.Context, id string, limit int) ([]record.Message, error)
}
