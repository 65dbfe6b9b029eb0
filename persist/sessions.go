package persist

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"parley/agent"
	"parley/agent/record"
)

// Create stores a new session and leases it. An empty ID is given a time-ordered one, an empty
// state becomes idle, and the times are set. It fails with [ErrNameTaken] when another session has
// the name. The Journal must be closed.
func (s *Store) Create(ctx context.Context, row record.Session) (agent.Journal, error) {
	if row.ID == "" {
		id, err := uuid.NewV7()
		if err != nil {
			return nil, fmt.Errorf("make a session id: %w", err)
		}
		row.ID = id.String()
	}
	if !validID(row.ID) {
		return nil, fmt.Errorf("create session: %q cannot be an id: letters, digits, '-' and '_' only", row.ID)
	}
	if row.State == "" {
		row.State = record.StateIdle
	}
	row.Created = s.stamp()
	row.Updated, row.Deleted = row.Created, time.Time{}
	row.Turns, row.Calls = 0, 0
	j, err := s.take(ctx, row.ID)
	if err != nil {
		return nil, fmt.Errorf("create session: %w", err)
	}
	j.row = row
	err = s.write(ctx, &request{run: func(ctx context.Context, t *statements) (err error) {
		j.num, err = insertSession(ctx, t, row)
		return err
	}})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create session %s: %w", row.ID, err), j.Close())
	}
	return j, nil
}

// OpenSession leases a session that exists. It fails with [agent.ErrNotFound], or with
// [agent.ErrLeased] while another process, or another part of this one, has it. The Journal must
// be closed.
func (s *Store) OpenSession(ctx context.Context, id string) (agent.Journal, error) {
	if _, err := s.number(ctx, id); err != nil { // before a lock file is made for it
		return nil, err
	}
	j, err := s.take(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("open session: %w", err)
	}
	if err := j.load(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open session %s: %w", id, err), j.Close())
	}
	return j, nil
}

// take leases the session, in this process and among the processes.
func (s *Store) take(ctx context.Context, id string) (*journal, error) {
	if s.writer == nil {
		return nil, ErrReadOnly
	}
	j := &journal{store: s, id: id, texts: make(map[string]bool)}
	s.mu.Lock()
	taken := s.open[id] != nil
	if !taken {
		s.open[id] = j
	}
	s.mu.Unlock()
	if taken {
		return nil, fmt.Errorf("session %s is open in this process: %w", id, agent.ErrLeased)
	}
	var err error
	if j.lease, err = s.leases.take(ctx, id); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// load reads the row and the last place given out, after the lease is held.
func (j *journal) load(ctx context.Context) error {
	row, found, err := viewRow(ctx, j.store, `SELECT `+sessionColumns+` FROM sessions WHERE id = ?`,
		[]any{j.id}, scanSession)
	if err != nil {
		return err
	}
	if !found {
		return agent.ErrNotFound
	}
	j.num, j.row = row.num, row.Session
	j.row.State = stateLeft(row.State)
	return j.store.view(ctx, func(ctx context.Context, q querier) error {
		_, err := queryRow(ctx, q, lastSeq, []any{j.num}, &j.seq)
		return err
	})
}

// lastSeq finds the last place given out. Places grow with the turns, so that the last turn's rows
// hold it; a notice may stand outside any turn.
const lastSeq = `SELECT max(
	coalesce((SELECT max(seq) FROM journal WHERE session = ?1
		AND turn = (SELECT max(turn) FROM journal WHERE session = ?1)), 0),
	coalesce((SELECT max(seq) FROM messages WHERE session = ?1
		AND turn = (SELECT max(turn) FROM messages WHERE session = ?1)), 0),
	coalesce((SELECT max(seq) FROM messages WHERE session = ?1 AND (shown = 1 OR is_notice = 1)), 0))`

// validID says whether id can name files.
func validID(id string) bool {
	return id != "" && len(id) <= 128 && strings.IndexFunc(id, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	}) < 0
}

// Query chooses sessions.
type Query struct {
	Dir  string // working folder; "" means all
	Text string // stands in title, name or id, whatever its case; "" means all
	// Messages finds Text, as words, in the sessions' messages too; see [SearchQuery].
	Messages bool
	// IncludeDeleted gives those in the bin too.
	IncludeDeleted bool
	// Archived says which to give: those not put away, or also or only those that are.
	Archived Archived
	Limit    int // at most so many; zero means 100
	// Before, unless nil, gives those after this one in the list: the last of the page before.
	Before *record.Session
}

// Archived says whether a list of sessions has those that were put away.
type Archived int

// The zero value leaves them out.
const (
	WithoutArchived Archived = iota
	WithArchived
	OnlyArchived
)

// Archive puts a session away, or takes it back. It does not count as working in it. It fails with
// [agent.ErrLeased] while another process has the session.
func (s *Store) Archive(ctx context.Context, id string, archived bool) error {
	var at time.Time
	if archived {
		at = s.stamp()
	}
	return s.withSession(ctx, id, func(j *journal) error {
		return j.write(ctx, "archive", &request{
			run: func(ctx context.Context, t *statements) error {
				_, err := t.exec(ctx, `UPDATE sessions SET archived_ms = ? WHERE num = ?`, millis(at), j.num)
				return err
			},
			committed: func() { j.change(func(row *record.Session) { row.Archived = at }) },
		})
	})
}

// Sessions returns the sessions that q chooses, the one last worked in first.
func (s *Store) Sessions(ctx context.Context, q Query) ([]record.Session, error) {
	where, args := []string{"1"}, []any{}
	add := func(condition string, values ...any) {
		where = append(where, condition)
		args = append(args, values...)
	}
	if q.Dir != "" {
		add("dir = ?", q.Dir)
	}
	if q.Text != "" {
		pattern := likePattern(q.Text)
		condition := `title LIKE ? ESCAPE '\' OR name LIKE ? ESCAPE '\' OR id LIKE ? ESCAPE '\'`
		values := []any{pattern, pattern, pattern}
		if match := matchExpression(q.Text); q.Messages && match != "" {
			condition += ` OR num IN (SELECT session FROM messages WHERE id IN (SELECT rowid FROM search WHERE search MATCH ?))`
			values = append(values, match)
		}
		add("("+condition+")", values...)
	}
	if !q.IncludeDeleted {
		add("deleted_ms IS NULL")
	}
	switch q.Archived {
	case WithoutArchived:
		add("archived_ms IS NULL")
	case OnlyArchived:
		add("archived_ms IS NOT NULL")
	case WithArchived:
	}
	if q.Before != nil {
		add("(updated_ms, id) < (?, ?)", q.Before.Updated.UnixMilli(), q.Before.ID)
	}
	if q.Limit <= 0 {
		q.Limit = 100
	}
	rows, err := viewList(ctx, s, `SELECT `+sessionColumns+` FROM sessions WHERE `+strings.Join(where, " AND ")+
		` ORDER BY updated_ms DESC, id DESC LIMIT ?`, append(args, q.Limit), scanSession)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	list := make([]record.Session, len(rows))
	for i, row := range rows {
		list[i] = s.truthful(row.Session)
	}
	return list, nil
}

// Session returns the session of that id, else the one of that name that is not in the bin, else
// [agent.ErrNotFound].
func (s *Store) Session(ctx context.Context, idOrName string) (record.Session, error) {
	row, err := s.sessionRow(ctx, idOrName)
	return s.truthful(row.Session), err
}

func (s *Store) sessionRow(ctx context.Context, idOrName string) (sessionRow, error) {
	row, found, err := viewRow(ctx, s, `SELECT `+sessionColumns+` FROM sessions
		WHERE id = ?1 OR name = ?1 AND name <> '' AND deleted_ms IS NULL ORDER BY id = ?1 DESC LIMIT 1`,
		[]any{idOrName}, scanSession)
	if err == nil && !found {
		err = agent.ErrNotFound
	}
	if err != nil {
		return sessionRow{}, fmt.Errorf("session %q: %w", idOrName, err)
	}
	return row, nil
}

// Last returns the session last worked in, in that folder ("" means anywhere) and not in the bin,
// or [agent.ErrNotFound].
func (s *Store) Last(ctx context.Context, dir string) (record.Session, error) {
	list, err := s.Sessions(ctx, Query{Dir: dir, Limit: 1})
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("a session in %s: %w", dir, agent.ErrNotFound)
	}
	if err != nil {
		return record.Session{}, err
	}
	return list[0], nil
}

// Rename sets the session's title and name. It leases the session for that moment, so it fails
// with [agent.ErrLeased] while another process has it; one that this process has open is renamed
// through its journal's row.
func (s *Store) Rename(ctx context.Context, id, title, name string) error {
	rename := func(j *journal) error {
		r := &request{
			run: func(ctx context.Context, t *statements) error {
				_, err := t.exec(ctx, `UPDATE sessions SET title = ?, name = ? WHERE num = ?`, title, name, j.num)
				if isUniqueViolation(err) {
					return fmt.Errorf("%q: %w", name, ErrNameTaken)
				}
				return err
			},
			committed: func() { j.change(func(row *record.Session) { row.Title, row.Name = title, name }) },
		}
		return j.write(ctx, "rename", r)
	}
	return s.withSession(ctx, id, rename)
}

// withSession runs f with the session's journal: the one open in this process, or one leased for
// that moment.
func (s *Store) withSession(ctx context.Context, id string, f func(*journal) error) error {
	s.mu.Lock()
	j := s.open[id]
	s.mu.Unlock()
	if j != nil {
		return f(j)
	}
	opened, err := s.OpenSession(ctx, id)
	if err != nil {
		return err
	}
	return errors.Join(f(opened.(*journal)), opened.Close())
}

// truthful corrects the state of a session whose process died inside a turn.
func (s *Store) truthful(row record.Session) record.Session {
	if stateLeft(row.State) == row.State {
		return row
	}
	s.mu.Lock()
	mine := s.open[row.ID] != nil
	s.mu.Unlock()
	if !mine && !s.leases.taken(row.ID) {
		row.State = stateLeft(row.State)
	}
	return row
}

// stateLeft is the state of a session that was in state when its process ended. One that waits for
// a credential goes on waiting.
func stateLeft(state record.SessionState) record.SessionState {
	switch state {
	case record.StateRun, record.StateAsk:
		return record.StateStop
	}
	return state
}
