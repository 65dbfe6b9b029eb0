package persist

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"parley/agent"
)

// Delete moves a session to the bin, where [Store.Undelete] finds it until it is purged. It fails
// with [agent.ErrLeased] while another process has the session.
func (s *Store) Delete(ctx context.Context, id string) error {
	return s.setDeleted(ctx, "delete", id, millis(s.now()))
}

// Undelete takes a session out of the bin. It fails with [ErrNameTaken] when its name has been
// given to another one meanwhile.
func (s *Store) Undelete(ctx context.Context, id string) error {
	return s.setDeleted(ctx, "undelete", id, nil)
}

func (s *Store) setDeleted(ctx context.Context, what, id string, deletedMillis any) error {
	return s.withSession(ctx, id, func(j *journal) error {
		return j.write(ctx, what, &request{run: func(ctx context.Context, t *statements) error {
			_, err := t.exec(ctx, `UPDATE sessions SET deleted_ms = ? WHERE num = ?`, deletedMillis, j.num)
			if isUniqueViolation(err) {
				return ErrNameTaken
			}
			return err
		}})
	})
}

// Purge removes sessions for good: rows, texts that no other session needs, outputs, and what was
// left of them in free pages, the write-ahead log and the copies made before an upgrade. It fails
// with [agent.ErrLeased] while some process, this one included, has one of them open; those before
// it are gone then.
func (s *Store) Purge(ctx context.Context, ids ...string) error {
	for _, id := range ids {
		if err := s.purgeRows(ctx, id); err != nil {
			return fmt.Errorf("purge session %s: %w", id, err)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return s.removeTraces(ctx)
}

// PurgeExpired purges the sessions that have been in the bin for term or longer and that no
// process has open, and returns how many.
func (s *Store) PurgeExpired(ctx context.Context, term time.Duration) (int, error) {
	ids, err := viewList(ctx, s, `SELECT id FROM sessions WHERE deleted_ms <= ?`,
		[]any{s.now().Add(-term).UnixMilli()}, func(row scanner) (id string, err error) { return id, row.Scan(&id) })
	if err != nil {
		return 0, fmt.Errorf("list the bin: %w", err)
	}
	var purged int
	for _, id := range ids {
		err := s.purgeRows(ctx, id)
		if errors.Is(err, agent.ErrLeased) || errors.Is(err, agent.ErrNotFound) {
			continue
		}
		if err != nil {
			return purged, fmt.Errorf("purge session %s: %w", id, err)
		}
		purged++
	}
	if purged == 0 {
		return 0, nil
	}
	return purged, s.removeTraces(ctx)
}

// purgeRows removes a session's rows and files under its lease.
func (s *Store) purgeRows(ctx context.Context, id string) error {
	opened, err := s.OpenSession(ctx, id)
	if err != nil {
		return err
	}
	j := opened.(*journal)
	err = j.write(ctx, "remove the rows", &request{durable: true, run: j.deleteRows})
	for _, dir := range []string{s.outputDir(id), s.UndoDir(id)} {
		if err == nil && dir != "" {
			err = os.RemoveAll(dir)
		}
	}
	if err != nil {
		return errors.Join(err, j.Close())
	}
	// Under the lease, so that nobody else gets a lock on a file that is about to go; but Windows
	// removes no file that is open.
	err = s.leases.forget(id)
	if closeErr := j.Close(); closeErr != nil || err == nil {
		return closeErr
	}
	return s.leases.forget(id)
}

// deleteRows deletes the session; its turns, messages, calls and so on go with the row.
func (j *journal) deleteRows(ctx context.Context, t *statements) error {
	texts, err := collect(ctx, t, `SELECT text FROM session_texts WHERE session = ?`, []any{j.num},
		func(row scanner) (id int64, err error) { return id, row.Scan(&id) })
	if err != nil {
		return err
	}
	if err := unindex(ctx, t, j.num); err != nil {
		return err
	}
	if _, err := t.exec(ctx, `DELETE FROM sessions WHERE num = ?`, j.num); err != nil {
		return err
	}
	for _, id := range texts {
		if _, err := t.exec(ctx, `DELETE FROM texts WHERE id = ?1
			AND NOT EXISTS (SELECT 1 FROM session_texts WHERE text = ?1)`, id); err != nil {
			return err
		}
	}
	return nil
}

// removeTraces removes what purged rows have left outside the tables: words in the search index,
// which is written anew without them, the copies made before upgrades, and the older pages in the
// write-ahead log.
func (s *Store) removeTraces(ctx context.Context) error {
	if s.dir == "" {
		return nil
	}
	optimize := &request{run: func(ctx context.Context, t *statements) error {
		_, err := t.exec(ctx, `INSERT INTO search (search) VALUES ('optimize')`)
		return err
	}}
	return errors.Join(s.write(ctx, optimize), s.removeCopies(), s.truncateLog(ctx))
}

func (s *Store) removeCopies() error {
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, file := range files {
		if strings.HasPrefix(file.Name(), filepath.Base(s.path)+".bak-") {
			errs = append(errs, os.Remove(filepath.Join(s.dir, file.Name())))
		}
	}
	return errors.Join(errs...)
}

// truncateLog moves the write-ahead log into the database and empties it. Readers of any process
// hold it up for as long as they read.
func (s *Store) truncateLog(ctx context.Context) error {
	r := &request{alone: true, run: func(ctx context.Context, t *statements) error {
		return retryBusy(ctx, truncateLimit, func() error {
			var busy, pages, moved int
			_, err := queryRow(ctx, t, `PRAGMA wal_checkpoint(TRUNCATE)`, nil, &busy, &pages, &moved)
			if err == nil && busy != 0 {
				err = errLogBusy
			}
			return err
		})
	}}
	if err := s.write(ctx, r); err != nil {
		return fmt.Errorf("empty the write-ahead log: %w", err)
	}
	return nil
}

// truncateLimit bounds the wait for readers; reads take milliseconds.
const truncateLimit = 5 * time.Second

var errLogBusy = fmt.Errorf("%w: somebody reads", ErrBusy)
