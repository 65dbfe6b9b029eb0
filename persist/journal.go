package persist

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"parley/agent"
	"parley/agent/record"
)

var _ agent.Journal = (*journal)(nil)

// journal is a session that this process has leased. As nobody else writes to the session, the
// places it gives out and the texts it has stored need no look into the database.
type journal struct {
	store *Store
	num   int64 // of the session's row
	id    string
	lease lease

	// seq is the last place given out. Only who has the writer's connection uses it. A commit that fails
	// leaves a gap, which harms nothing.
	seq int64

	// mu guards what follows.
	mu     sync.Mutex
	row    record.Session // as last committed
	texts  map[string]bool
	closed bool
}

// Session returns the row as last committed.
func (j *journal) Session() record.Session {
	j.mu.Lock()
	defer j.mu.Unlock()
	row := j.row
	row.Queue = slices.Clone(row.Queue)
	return row
}

// SaveSession implements [agent.Journal]. It does not write the name: see [Store.Rename].
func (j *journal) SaveSession(ctx context.Context, s record.Session) error {
	s.Queue = slices.Clone(s.Queue)
	s.Updated = j.store.stamp()
	r := &request{
		run: func(ctx context.Context, t *statements) error { return updateSession(ctx, t, j.num, s) },
		committed: func() {
			j.change(func(row *record.Session) {
				row.Title, row.State, row.Model, row.Mode, row.Agent, row.BaseURL, row.Effort = s.Title, s.State, s.Model, s.Mode, s.Agent, s.BaseURL, s.Effort
				row.Draft, row.Queue, row.Panel = s.Draft, s.Queue, s.Panel
				row.Updated = s.Updated
			})
		},
	}
	return j.write(ctx, "save the session", r)
}

// BeginTurn implements [agent.Journal]: the session is then in state run, and has a title.
func (j *journal) BeginTurn(ctx context.Context, turn record.Turn, rows record.Rows) error {
	turn.Status = record.TurnOpen
	return j.writeRows(ctx, rowsWrite{
		what:    fmt.Sprintf("begin turn %d", turn.Number),
		rows:    rows,
		state:   record.StateRun,
		title:   firstLine(turn.Input),
		durable: true,
		first: func(ctx context.Context, t *statements) (totals, error) {
			var last int
			if _, err := queryRow(ctx, t, `SELECT coalesce(max(number), 0) FROM turns WHERE session = ?`,
				[]any{j.num}, &last); err != nil {
				return totals{}, err
			}
			if turn.Number != last+1 {
				return totals{}, fmt.Errorf("the last turn is %d", last)
			}
			return totals{turns: 1}, insertTurn(ctx, t, j.num, turn)
		},
	})
}

// EndTurn implements [agent.Journal]. The session's state becomes err after a failed turn, done
// when the program has finished (no state is left), else idle.
func (j *journal) EndTurn(ctx context.Context, turn record.Turn, rows record.Rows) error {
	state := record.StateIdle
	switch {
	case turn.Status == record.TurnFailed:
		state = record.StateErr
	case turn.Status == record.TurnDone && turn.State == nil:
		state = record.StateDone
	}
	err := j.writeRows(ctx, rowsWrite{
		what:    fmt.Sprintf("end turn %d", turn.Number),
		rows:    rows,
		state:   state,
		durable: true,
		first: func(ctx context.Context, t *statements) (totals, error) {
			found, err := closeTurn(ctx, t, j.num, turn)
			if err == nil && !found {
				err = fmt.Errorf("no such open turn: %w", agent.ErrNotFound)
			}
			return totals{}, err
		},
	})
	if err == nil {
		j.indexEnded()
	}
	return err
}

// LastTurn implements [agent.Journal].
func (j *journal) LastTurn(ctx context.Context) (record.Turn, error) {
	turn, found, err := viewRow(ctx, j.store, `SELECT `+turnColumns+` FROM turns WHERE session = ?
		ORDER BY number DESC LIMIT 1`, []any{j.num}, scanTurn(j.id))
	if err == nil && !found {
		err = fmt.Errorf("session %s has no turn: %w", j.id, agent.ErrNotFound)
	}
	return turn, err
}

// Begin implements [agent.Journal]. A finished entry of that key is [ErrRecorded].
func (j *journal) Begin(ctx context.Context, e *record.Entry, rows record.Rows) error {
	entry := *e
	entry.Finished, entry.Result = false, nil
	return j.writeRows(ctx, rowsWrite{
		what:    fmt.Sprintf("begin effect %d of %q", e.Key.Ordinal, e.Key.Path),
		rows:    rows,
		durable: rows.Durable,
		first: func(ctx context.Context, t *statements) (totals, error) {
			return totals{}, j.putBegun(ctx, t, &entry)
		},
		committed: func() { e.Seq, e.Finished, e.Result = entry.Seq, false, nil },
	})
}

// putBegun stores the entry as begun and sets its Seq.
func (j *journal) putBegun(ctx context.Context, t *statements, e *record.Entry) error {
	e.Seq = j.nextSeq()
	added, err := insertEntry(ctx, t, j.num, e.Seq, *e)
	if err != nil || added {
		return err
	}
	seq, finished, err := findEntry(ctx, t, j.num, e.Key)
	if err != nil {
		return err
	}
	if finished {
		return ErrRecorded
	}
	e.Seq = seq
	return beginEntry(ctx, t, j.num, *e)
}

// Finish implements [agent.Journal]. An entry that is finished already keeps its result, and what
// it used is not counted again.
func (j *journal) Finish(ctx context.Context, e *record.Entry, rows record.Rows) error {
	entry := *e
	entry.Finished = true
	return j.writeRows(ctx, rowsWrite{
		what:    fmt.Sprintf("finish effect %d of %q", e.Key.Ordinal, e.Key.Path),
		rows:    rows,
		durable: rows.Durable,
		first: func(ctx context.Context, t *statements) (totals, error) {
			counted, err := j.putFinished(ctx, t, &entry)
			if counted {
				return minus(rows), err
			}
			return totals{}, err
		},
		committed: func() { e.Seq, e.Finished = entry.Seq, true },
	})
}

// putFinished stores the entry as finished, sets its Seq, and reports whether it was finished
// before.
func (j *journal) putFinished(ctx context.Context, t *statements, e *record.Entry) (before bool, err error) {
	if e.Seq != 0 { // has begun
		if done, err := finishEntry(ctx, t, j.num, *e); err != nil || done {
			return false, err
		}
	}
	seq, finished, err := findEntry(ctx, t, j.num, e.Key)
	switch {
	case err != nil:
		return false, err
	case finished:
		e.Seq = seq
		return true, nil
	case seq != 0:
		e.Seq = seq
		_, err := finishEntry(ctx, t, j.num, *e)
		return false, err
	}
	e.Seq = j.nextSeq()
	_, err = insertEntry(ctx, t, j.num, e.Seq, *e)
	return false, err
}

// Entries implements [agent.Journal].
func (j *journal) Entries(ctx context.Context, turn int) ([]record.Entry, error) {
	return viewList(ctx, j.store, `SELECT `+entryColumns+` FROM journal WHERE session = ? AND turn = ? ORDER BY seq`,
		[]any{j.num, turn}, scanEntry)
}

// Messages implements [agent.Journal]. Notices are not part of a conversation.
func (j *journal) Messages(ctx context.Context, conversation string, n int) ([]record.Message, error) {
	return viewList(ctx, j.store, `SELECT `+messageColumns+` FROM messages
		WHERE session = ? AND conversation = ? AND is_notice = 0 ORDER BY place LIMIT ?`,
		[]any{j.num, conversation, n}, scanMessage)
}

// Calls implements [agent.Journal]: in the order in which they were first stored.
func (j *journal) Calls(ctx context.Context, turn int) ([]record.Call, error) {
	return j.store.calls(ctx, j.num, turn, turn)
}

// Text implements [agent.Journal].
func (j *journal) Text(ctx context.Context, hash string) (string, error) {
	return j.store.Text(ctx, hash)
}

// OutputDir implements [agent.Journal]. The folder is not made here.
func (j *journal) OutputDir() string { return j.store.outputDir(j.id) }

// UndoDir is the folder for what tools did to files in a session, "" in memory. It goes with the
// session. The folder is not made here.
func (s *Store) UndoDir(id string) string {
	if s.dir == "" {
		return ""
	}
	return filepath.Join(s.dir, "undo", id)
}

func (s *Store) outputDir(id string) string {
	if s.dir == "" {
		return ""
	}
	return filepath.Join(s.dir, "outputs", id)
}

// Close implements [agent.Journal]. It may be called more than once.
func (j *journal) Close() error {
	j.mu.Lock()
	closed := j.closed
	j.closed = true
	j.mu.Unlock()
	if closed {
		return nil
	}
	j.store.mu.Lock()
	delete(j.store.open, j.id)
	j.store.mu.Unlock()
	return j.lease.release()
}

// rowsWrite is one commit of the journal.
type rowsWrite struct {
	what string // for errors
	rows record.Rows
	// state, unless empty, is the session's new one. title is given to a session that has none.
	state   record.SessionState
	title   string
	durable bool
	// first runs before the rows are written; its totals are added to those of the rows.
	first     func(ctx context.Context, t *statements) (totals, error)
	committed func() // may be nil
}

// writeRows commits w.
func (j *journal) writeRows(ctx context.Context, w rowsWrite) error {
	rows, err := encodeRows(w.rows)
	if err != nil {
		return fmt.Errorf("%s: %w", w.what, err)
	}
	now := j.store.stamp()
	var sum totals
	r := &request{durable: w.durable || w.rows.Durable}
	r.run = func(ctx context.Context, t *statements) error {
		before, err := w.first(ctx, t)
		if err != nil {
			return err
		}
		if sum, err = j.put(ctx, t, rows); err != nil {
			return err
		}
		sum = sum.plus(before)
		if w.state != "" {
			if err := setState(ctx, t, j.num, w.state, w.title); err != nil {
				return err
			}
		}
		if sum.zero() && w.state == "" {
			return nil
		}
		return addTotals(ctx, t, j.num, sum, millis(now))
	}
	r.committed = func() {
		j.learnTexts(rows.Texts)
		if w.committed != nil {
			w.committed()
		}
		if sum.zero() && w.state == "" {
			return
		}
		j.change(func(row *record.Session) {
			sum.add(row)
			row.Updated = now
			if w.state != "" {
				row.State = w.state
			}
			if row.Title == "" {
				row.Title = w.title
			}
		})
	}
	return j.write(ctx, w.what, r)
}

// write runs r for this session.
func (j *journal) write(ctx context.Context, what string, r *request) error {
	j.mu.Lock()
	closed := j.closed
	j.mu.Unlock()
	err := ErrClosed
	if !closed {
		err = j.store.write(ctx, r)
	}
	if err != nil {
		return fmt.Errorf("%s of session %s: %w", what, j.id, err)
	}
	return nil
}

// nextSeq gives out a place in the session's journal. Whoever calls it has the writer's
// connection.
func (j *journal) nextSeq() int64 {
	j.seq++
	return j.seq
}

// change applies a committed change to the row in memory.
func (j *journal) change(apply func(row *record.Session)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	apply(&j.row)
}

func (j *journal) knowsText(hash string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.texts[hash]
}

func (j *journal) learnTexts(texts []record.Text) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, text := range texts {
		j.texts[text.Hash] = true
	}
}

// maxTitle bounds a title in bytes: some lines of a wide screen.
const maxTitle = 500

// firstLine is the title of a session that begins with input.
func firstLine(input string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(input), "\n")
	line = strings.TrimSpace(line)
	if len(line) <= maxTitle {
		return line
	}
	end := maxTitle
	for end > 0 && !utf8.RuneStart(line[end]) {
		end--
	}
	return line[:end]
}
