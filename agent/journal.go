package agent

import (
	"context"
	"errors"

	"parley/agent/record"
)

// Errors that a Journal returns.
var (
	// ErrNotFound says that a session, turn or message does not exist.
	ErrNotFound = errors.New("not found")
	// ErrLeased says that another process has the session open for writing.
	ErrLeased = errors.New("the session is open in another process")
)

// Journal is the durable record of one session that this process has leased. Every method commits
// before it returns; a busy database is retried inside for up to 60 s. Safe for concurrent use:
// writes that wait together may commit together.
type Journal interface {
	// Session returns the session's row as last written.
	Session() record.Session
	// SaveSession writes the fields of the row that are not derived from turns (title, state,
	// model, mode, draft, queue, panel, agent).
	SaveSession(ctx context.Context, s record.Session) error

	// BeginTurn stores an open turn with its rows, and the row's new state. The turn's number is
	// one more than the last one's.
	BeginTurn(ctx context.Context, t record.Turn, rows record.Rows) error
	// EndTurn closes the turn with its state, output and rows.
	EndTurn(ctx context.Context, t record.Turn, rows record.Rows) error
	// LastTurn returns the newest turn, ErrNotFound when there is none.
	LastTurn(ctx context.Context) (record.Turn, error)

	// Begin commits that an effect starts, with the rows that wait to be written, and sets the
	// entry's Seq. An entry that is there already with the same key, unfinished, is begun anew.
	Begin(ctx context.Context, e *record.Entry, rows record.Rows) error
	// Finish commits the effect's result and its rows. An entry that was not begun (an answer, an
	// approval) is created finished.
	Finish(ctx context.Context, e *record.Entry, rows record.Rows) error
	// Entries returns the turn's entries in order of Seq.
	Entries(ctx context.Context, turn int) ([]record.Entry, error)

	// Messages returns a conversation's first n messages in order; n < 0 means all.
	Messages(ctx context.Context, conversation string, n int) ([]record.Message, error)
	// Calls returns the calls started in the turn, parents before children, in order.
	Calls(ctx context.Context, turn int) ([]record.Call, error)
	// Text returns the text of that hash.
	Text(ctx context.Context, hash string) (string, error)
	// OutputDir is the folder for the session's whole outputs, "" when outputs are not kept.
	OutputDir() string
	// Close releases the lease. The Journal must not be used afterwards.
	Close() error
}
