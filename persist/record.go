package persist

import (
	"context"

	"parley/agent"
	"parley/agent/record"
)

var _ agent.Record = (*recorded)(nil)

// recorded reads a session that this process need not have leased ([agent.Record]).
type recorded struct{ j *journal }

// Record returns what is stored of a session, for reading, whoever has it open, or
// [agent.ErrNotFound].
func (s *Store) Record(ctx context.Context, id string) (agent.Record, error) {
	row, err := s.sessionRow(ctx, id)
	if err != nil {
		return nil, err
	}
	return &recorded{&journal{store: s, num: row.num, id: row.ID, row: row.Session}}, nil
}

func (r *recorded) Session() record.Session { return r.j.Session() }

func (r *recorded) Turn(ctx context.Context, number int) (record.Turn, error) {
	return r.j.store.Turn(ctx, r.j.id, number)
}

func (r *recorded) Entries(ctx context.Context, turn int) ([]record.Entry, error) {
	return r.j.Entries(ctx, turn)
}

func (r *recorded) Messages(ctx context.Context, conversation string, n int) ([]record.Message, error) {
	return r.j.Messages(ctx, conversation, n)
}

func (r *recorded) Calls(ctx context.Context, turn int) ([]record.Call, error) {
	return r.j.Calls(ctx, turn)
}

func (r *recorded) Text(ctx context.Context, hash string) (string, error) { return r.j.Text(ctx, hash) }
