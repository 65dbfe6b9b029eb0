package tui

import (
	"context"

	"parley/agent"
	"parley/agent/monitor"
	"parley/agent/record"
	rules "parley/toolrt/approval"
	"parley/toolrt/mcp"
	"parley/toolrt/undo"
)

// Chat is an open session as the screen uses it. Methods without a context return at once; those
// with one may take time and are called from commands, never from Update or View. Safe for
// concurrent use.
type Chat interface {
	// Row returns the session's row as last written.
	Row() record.Session
	// Events subscribes to what happens in the session.
	Events() *monitor.Reader

	// Send runs a turn with the text as the person's message and returns when it has ended. The
	// message is stored before anything else happens. An open unfinished turn is closed first:
	// calls in doubt are answered "interrupted".
	Send(ctx context.Context, text string) error
	// Resume goes on with an unfinished turn and returns when it has ended.
	Resume(ctx context.Context) error
	// Steer hands a message over to the running turn: it enters at the next model call. False
	// means that no turn runs any more.
	Steer(text string) bool
	// LeftOver returns the messages handed over that did not enter the turn that has ended, and
	// forgets them. Only these are given back: the event of one that did may still be on its way.
	LeftOver() []string
	// Interrupt cancels the running turn: what had come is kept. It returns at once.
	Interrupt()
	// CancelCall cancels one running call of the turn.
	CancelCall(path string)
	// Back ends the inner chat with the text as its result (/back) and goes on with the outer one.
	Back(ctx context.Context, text string) error
	// Compact sums up the oldest part of the chat for its model (/compact); hint, which may be empty,
	// says what the summary must keep.
	Compact(ctx context.Context, hint string) error

	// InDoubt lists the calls that had begun when the last process ended and may not simply run
	// again, as they are now. Empty when there is nothing to ask. It reads what they printed: called
	// from commands only.
	InDoubt() []agent.OpenCall
	// Unfinished reports whether the last turn is open and waits for Resume or Send.
	Unfinished() bool
	// Resolve answers one call of InDoubt; text is the result given by hand.
	Resolve(ctx context.Context, key record.Key, r agent.Resolution, text string) error
	// EndProcess ends the process group of a call of InDoubt that still runs.
	EndProcess(ctx context.Context, key record.Key) error

	// SetMode changes the approval mode ("ask", "edits", "plan", "auto").
	SetMode(mode string) error
	// SetModel changes the model from the next turn on.
	SetModel(ref string) error
	// Keep stores the draft, the queue and the panel's state.
	Keep(ctx context.Context, draft string, queue []string, panel string) error

	// Shown returns up to limit messages of the conversation on screen before seq (0: the newest),
	// oldest first, with the calls made in them and below.
	Shown(ctx context.Context, before int64, limit int) ([]record.Message, []record.Call, error)
	// Calls returns the calls of the turns from to to, parents first.
	Calls(ctx context.Context, from, to int) ([]record.Call, error)
	// Inner returns the conversation inside an agent's call.
	Inner(ctx context.Context, path string) ([]record.Message, error)
	// Output returns the whole saved output of a call, or what the model got if none was saved.
	Output(ctx context.Context, path string) (string, error)

	// Close ends the session's turn, if one runs, and releases it.
	Close() error
}

// Ruled is a Chat that tells of its rules and of the decisions about its calls (/permissions,
// /approvals). The same data is behind `parley approvals`.
type Ruled interface {
	// Rules lists the rules in force, the built-in ones included, in the order they were added. It
	// returns at once.
	Rules() []rules.Rule
	// AddRule puts rules (one a line) in force at once, for open questions too, and keeps those of
	// scope project and user. What cannot be parsed is an error that shows the column.
	AddRule(ctx context.Context, effect rules.Effect, text string, scope rules.Scope) error
	// RevokeRule takes a rule out of force at once and out of the settings that keep it.
	// agent.ErrNotFound says that there is none of that ID; built-in rules cannot be revoked.
	RevokeRule(ctx context.Context, id string) error
	// TryRule returns the calls of this session that rules (one a line) would have decided about,
	// newest first.
	TryRule(ctx context.Context, effect rules.Effect, text string) ([]record.Call, error)
	// Decisions returns up to limit decisions about calls of this session, newest first: those
	// before the one of that id, or the newest when it is 0.
	Decisions(ctx context.Context, before int64, limit int) ([]record.Approval, error)
}

// Archiver is a Backend that can put sessions away: they are kept and can be opened, but stand in no
// list.
type Archiver interface {
	// Archive puts a session away, or takes it back. agent.ErrLeased means another process has it.
	Archive(ctx context.Context, id string, archived bool) error
	// Archived lists the sessions that were put away, as Backend.Sessions does the others.
	Archived(ctx context.Context, all bool, text string) ([]record.Session, error)
}

// Undoer is a Chat that can take back what tools did to files (/undo, /redo).
type Undoer interface {
	// Undo takes back the newest turn that changed files and was not taken back yet. With
	// undo.Refuse a file that somebody has changed since gives an *undo.ConflictError that lists
	// such files, and nothing is touched: ask the person, and call again with undo.Skip (they stay)
	// or undo.Overwrite (redo brings them back as they were). undo.ErrNothing says that there is
	// nothing to take back, agent.ErrBusy that a turn runs. The report also names what commands of
	// the turn changed, which is not covered. A notice in the conversation says what was done.
	Undo(ctx context.Context, how undo.How) (undo.Report, error)
	// Redo does again what the last Undo took back, by the same rules.
	Redo(ctx context.Context, how undo.How) (undo.Report, error)
}

// ServerChat is a Chat whose MCP servers can be looked at and changed (/mcp). Its methods return at
// once, except that ReconnectServer and EnableServer wait for a server to end; a server is started
// when it is needed next. monitor.ServersChanged tells that Servers has changed.
type ServerChat interface {
	// Servers returns the servers of the settings and those that the program has used, by name.
	Servers() []mcp.State
	// ReconnectServer ends the connection to the servers of that name, "" being all that failed.
	ReconnectServer(name string) error
	// EnableServer switches a server on or off for this session.
	EnableServer(name string, on bool) error
}

// Backend opens sessions for the screen.
type Backend interface {
	// Greeting is the text the embedded program shows before the first message; "" for others.
	Greeting() string
	// New starts a session of the program the screen was started with.
	New(ctx context.Context) (Chat, error)
	// Open opens a saved session. agent.ErrLeased means another process has it.
	Open(ctx context.Context, id string) (Chat, error)
	// Sessions lists saved sessions, newest first: of this folder only, or all; text filters by
	// title, program and text.
	Sessions(ctx context.Context, all bool, text string) ([]record.Session, error)
	// Delete moves a session to the bin, Undelete takes it back.
	Delete(ctx context.Context, id string) error
	Undelete(ctx context.Context, id string) error
	Rename(ctx context.Context, id, title string) error
	// SaveConfig stores one setting, e.g. the theme.
	SaveConfig(ctx context.Context, key, value string) error
	// History returns earlier messages of this program, newest first, for the composer.
	History(ctx context.Context, limit int) ([]string, error)
	// Models lists the models that can be chosen.
	Models(ctx context.Context) ([]string, error)
}
