package persist

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"parley/agent"
	"parley/agent/record"
	"parley/toolrt"
)

// Fork makes a session that begins with a copy of the turns of another one, leases it and returns
// its journal. The copy ends with the last turn that had ended at the place seq of the other's
// journal (0: at its end). A seq inside a turn means that turn's beginning, with its input in the
// draft. Of row count ID, Name and what the copy does not say: Title, Program, SubTool, Dir,
// Workspace, Model, Mode and Agent are the other's where they are empty. Usage and cost begin at
// zero. The other session may be open elsewhere; [agent.ErrNotFound] says that it does not exist.
func (s *Store) Fork(ctx context.Context, id string, seq int64, row record.Session) (agent.Journal, error) {
	from, err := s.sessionRow(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("fork: %w", err)
	}
	at, err := s.forkPoint(ctx, from.num, seq)
	if err != nil {
		return nil, fmt.Errorf("fork session %s: %w", id, err)
	}
	fillFrom(&row, from.Session)
	row.Parent, row.ParentSeq, row.Draft = from.ID, at.seq, at.draft
	row.State = record.StateIdle
	created, err := s.Create(ctx, row)
	if err != nil {
		return nil, fmt.Errorf("fork session %s: %w", id, err)
	}
	j := created.(*journal)
	err = j.write(ctx, "copy the turns", &request{durable: true, run: func(ctx context.Context, t *statements) error {
		return j.copyTurns(ctx, t, from.num, at.turn)
	}})
	if err == nil {
		err = linkFiles(s.outputDir(from.ID), s.outputDir(j.id))
	}
	if err == nil {
		err = j.load(ctx)
	}
	if err != nil {
		err = errors.Join(err, j.write(context.WithoutCancel(ctx), "undo the fork", &request{run: j.deleteRows}), j.Close())
		return nil, fmt.Errorf("fork session %s: %w", id, err)
	}
	return j, nil
}

func fillFrom(row *record.Session, from record.Session) {
	for _, field := range []struct {
		to   *string
		from string
	}{
		{&row.Title, from.Title}, {&row.Program, from.Program}, {&row.SubTool, from.SubTool}, {&row.Dir, from.Dir},
		{&row.Workspace, from.Workspace}, {&row.Model, from.Model}, {&row.Mode, from.Mode}, {&row.Agent, from.Agent}, {&row.BaseURL, from.BaseURL},
	} {
		if *field.to == "" {
			*field.to = field.from
		}
	}
	if row.Effort == "" {
		row.Effort = from.Effort
	}
}

// forkPoint is where a fork leaves the other session.
type forkPoint struct {
	turn  int   // the last one copied
	seq   int64 // its last place
	draft string
}

// forkPoint finds the last turn that had ended at seq.
func (s *Store) forkPoint(ctx context.Context, num, seq int64) (forkPoint, error) {
	type turn struct {
		number int
		input  string
		status record.TurnStatus
		last   int64
	}
	turns, err := viewList(ctx, s, `SELECT number, input, status, max(
			coalesce((SELECT max(seq) FROM messages WHERE session = turns.session AND turn = number), 0),
			coalesce((SELECT max(seq) FROM journal WHERE session = turns.session AND turn = number), 0))
		FROM turns WHERE session = ? ORDER BY number`, []any{num},
		func(row scanner) (t turn, err error) { return t, row.Scan(&t.number, &t.input, &t.status, &t.last) })
	var at forkPoint
	for _, t := range turns {
		if t.status == record.TurnOpen || seq > 0 && t.last > seq {
			if seq > at.seq {
				at.draft = t.input
			}
			break
		}
		at.turn, at.seq = t.number, max(at.seq, t.last)
	}
	return at, err
}

// copyTurns copies the rows of the first turns of another session. A call that went on afterwards
// is running in the copy.
func (j *journal) copyTurns(ctx context.Context, t *statements, from int64, last int) error {
	for _, query := range []string{
		`INSERT INTO turns (session, number, input, program, model, version, base, state, status, output, error,
			started_ms, finished_ms)
		SELECT ?1, number, input, program, model, version, base, state, status, output, error, started_ms, finished_ms
			FROM turns WHERE session = ?2 AND number <= ?3`,
		`INSERT INTO journal (session, seq, turn, path, ordinal, kind, hash, request, result, finished, repeatable,
			started_ms, ended_ms)
		SELECT ?1, seq, turn, path, ordinal, kind, hash, request, result, finished, repeatable, started_ms, ended_ms
			FROM journal WHERE session = ?2 AND turn <= ?3`,
		`INSERT INTO messages (session, seq, conversation, is_notice, place, turn, agent, shown, label, model, time_ms, body)
		SELECT ?1, seq, conversation, is_notice, place, turn, agent, shown, label, model, time_ms, body
			FROM messages WHERE session = ?2 AND turn <= ?3 ORDER BY id`,
		`INSERT INTO approvals (session, turn, path, tool, args, args_hash, is_allowed, decision, at_ms)
		SELECT ?1, turn, path, tool, args, args_hash, is_allowed, decision, at_ms
			FROM approvals WHERE session = ?2 AND turn <= ?3 ORDER BY id`,
		`INSERT INTO session_texts (session, text) SELECT ?1, text FROM session_texts WHERE session = ?2 AND ?3 > 0`,
		`INSERT INTO calls (session, ` + callColumns + `)
		SELECT ?1, ` + callColumns + ` FROM calls WHERE session = ?2 AND turn <= ?3 ORDER BY id`,
	} {
		if _, err := t.exec(ctx, query, j.num, from, last); err != nil {
			return err
		}
	}
	if _, err := t.exec(ctx, `UPDATE calls SET status = ?3, result = '', error = '', finished_ms = NULL
		WHERE session = ?1 AND is_agent = 1 AND finished_ms >
			(SELECT finished_ms FROM turns WHERE session = ?1 AND number = ?2)`,
		j.num, last, string(toolrt.StatusRunning)); err != nil {
		return err
	}
	_, err := t.exec(ctx, `UPDATE sessions SET turns = ?2,
		calls = (SELECT count(*) FROM calls WHERE session = ?1 AND parent <> '') WHERE num = ?1`, j.num, last)
	return err
}

// linkFiles gives the files of one folder to another one too. They are never changed once they are
// whole, so that both can share them; where that cannot be they are copied.
func linkFiles(from, to string) error {
	if from == "" {
		return nil
	}
	files, err := os.ReadDir(from)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, file := range files {
		if !file.Type().IsRegular() {
			continue
		}
		source, target := filepath.Join(from, file.Name()), filepath.Join(to, file.Name())
		if os.Link(source, target) == nil {
			continue
		}
		if err := copyFile(source, target); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}
