package agent

import (
	"context"

	"parley/agent/record"
)

// replayJournal lets a session be walked again over a record: what it would write goes nowhere.
type replayJournal struct{ rec Record }

var _ Journal = replayJournal{}

func (j replayJournal) Session() record.Session                                 { return j.rec.Session() }
func (replayJournal) SaveSession(context.Context, record.Session) error         { return nil }
func (replayJournal) BeginTurn(context.Context, record.Turn, record.Rows) error { return nil }
func (replayJournal) EndTurn(context.Context, record.Turn, record.Rows) error   { return nil }
func (replayJournal) Begin(context.Context, *record.Entry, record.Rows) error   { return nil }
func (replayJournal) Finish(context.Context, *record.Entry, record.Rows) error  { return nil }
func (replayJournal) OutputDir() string                                         { return "" }
func (replayJournal) Close() error                                              { return nil }

// LastTurn finds none: turns are given to the session one by one.
func (replayJournal) LastTurn(context.Context) (record.Turn, error) {
	return record.Turn{}, ErrNotFound
}

func (j replayJournal) Entries(ctx context.Context, turn int) ([]record.Entry, error) {
	return j.rec.Entries(ctx, turn)
}

func (j replayJournal) Messages(ctx context.Context, conversation string, n int) ([]record.Message, error) {
	return j.rec.Messages(ctx, conversation, n)
}

func (j replayJournal) Calls(ctx context.Context, turn int) ([]record.Call, error) {
	return j.rec.Calls(ctx, turn)
}

func (j replayJournal) Text(ctx context.Context, hash string) (string, error) {
	return j.rec.Text(ctx, hash)
}
