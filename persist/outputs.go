package persist

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// OutputLimits bound the whole outputs of calls that are kept as files (R65), and what is kept to
// take back file changes. Zero fields take the defaults.
type OutputLimits struct {
	Total int64         // bytes of all sessions' outputs; 500 MiB
	Age   time.Duration // since an output was written; 7 days
	Undo  int64         // bytes of all sessions' file changes; 1 GiB
}

func (l OutputLimits) withDefaults() OutputLimits {
	if l.Total <= 0 {
		l.Total = 500 << 20
	}
	if l.Age <= 0 {
		l.Age = 7 * 24 * time.Hour
	}
	if l.Undo <= 0 {
		l.Undo = 1 << 30
	}
	return l
}

// pruneEvery is how often the outputs are looked through.
const pruneEvery = time.Hour

// kept is a file, or a folder with all in it, that may be removed to stay within a limit.
type kept struct {
	path  string
	size  int64
	time  time.Time // of the newest in it
	inUse bool      // of a session that some process has open
}

// PruneOutputs removes whole outputs that are older than the limit, and then the oldest until the
// rest is within it, and likewise what is kept to take back file changes, a session at a time.
// Sessions that some process has open keep theirs. The rows with what the model got stay. It does
// nothing within an hour of the last time in any process, and reports how many bytes it removed.
func (s *Store) PruneOutputs(ctx context.Context, l OutputLimits) (removed int64, err error) {
	if s.dir == "" || !s.pruneDue() {
		return 0, nil
	}
	l = l.withDefaults()
	outputs, err := s.keptIn(ctx, filepath.Join(s.dir, "outputs"), true)
	if err != nil {
		return 0, err
	}
	changes, err := s.keptIn(ctx, filepath.Join(s.dir, "undo"), false)
	if err != nil {
		return 0, err
	}
	n, err := prune(outputs, l.Total, s.now().Add(-l.Age))
	m, undoErr := prune(changes, l.Undo, time.Time{})
	return n + m, errors.Join(err, undoErr)
}

// pruneDue reports whether the last look is long enough ago, and notes this one.
func (s *Store) pruneDue() bool {
	mark := filepath.Join(s.dir, "outputs", ".pruned")
	if info, err := os.Stat(mark); err == nil && s.now().Sub(info.ModTime()) < pruneEvery {
		return false
	}
	if os.WriteFile(mark, nil, 0o600) != nil { // no outputs yet, or a folder that takes no file
		return false
	}
	now := s.now()
	return os.Chtimes(mark, now, now) == nil
}

// keptIn lists what is kept in the folders of all sessions: their files, or each as a whole.
func (s *Store) keptIn(ctx context.Context, dir string, files bool) ([]kept, error) {
	sessions, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []kept
	for _, session := range sessions {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !session.IsDir() {
			continue
		}
		whole := kept{path: filepath.Join(dir, session.Name()), inUse: s.InUse(session.Name())}
		err := filepath.WalkDir(whole.path, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			info, err := entry.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil // gone meanwhile
			}
			if err != nil {
				return err
			}
			if files {
				list = append(list, kept{path, info.Size(), info.ModTime(), whole.inUse})
			}
			whole.size += info.Size()
			if info.ModTime().After(whole.time) {
				whole.time = info.ModTime()
			}
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if !files {
			list = append(list, whole)
		}
	}
	return list, nil
}

// prune removes what is older than before, and then the oldest until the rest is within total.
func prune(list []kept, total int64, before time.Time) (removed int64, err error) {
	slices.SortFunc(list, func(a, b kept) int { return cmp.Or(a.time.Compare(b.time), cmp.Compare(a.path, b.path)) })
	var sum int64
	for _, k := range list {
		sum += k.size
	}
	var errs []error
	for _, k := range list {
		if k.inUse || sum-removed <= total && !k.time.Before(before) {
			continue
		}
		if err := os.RemoveAll(k.path); err != nil {
			errs = append(errs, err)
			continue
		}
		removed += k.size
	}
	return removed, errors.Join(errs...)
}

// Sizes is what a session takes on the disk.
type Sizes struct {
	Rows    int64 // bytes of texts in the database, about
	Outputs int64 // bytes of whole outputs
	Changes int64 // bytes kept to take back file changes
}

// Sum is all of it.
func (z Sizes) Sum() int64 { return z.Rows + z.Outputs + z.Changes }

// SizesOf measures a session.
func (s *Store) SizesOf(ctx context.Context, id string) (z Sizes, err error) {
	num, err := s.number(ctx, id)
	if err != nil {
		return z, err
	}
	z.Rows, _, err = viewRow(ctx, s, `SELECT
		(SELECT coalesce(sum(length(body)), 0) FROM messages WHERE session = ?1) +
		(SELECT coalesce(sum(length(input) + length(result)), 0) FROM calls WHERE session = ?1) +
		(SELECT coalesce(sum(coalesce(length(request), 0) + coalesce(length(result), 0)), 0) FROM journal WHERE session = ?1) +
		(SELECT coalesce(sum(length(input) + length(output)), 0) FROM turns WHERE session = ?1)`, []any{num},
		func(row scanner) (n int64, err error) { return n, row.Scan(&n) })
	if err != nil || s.dir == "" {
		return z, err
	}
	for dir, size := range map[string]*int64{s.outputDir(id): &z.Outputs, s.UndoDir(id): &z.Changes} {
		err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			if info, err := entry.Info(); err == nil {
				*size += info.Size()
			}
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return z, err
		}
	}
	return z, nil
}

// InUse reports whether some process, this one included, has the session open for writing.
func (s *Store) InUse(id string) bool {
	s.mu.Lock()
	mine := s.open[id] != nil
	s.mu.Unlock()
	return mine || s.leases.taken(id)
}
