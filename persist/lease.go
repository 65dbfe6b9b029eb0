package persist

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"parley/agent"
)

// leaseTries is for how long an opener tries again: somebody who only looks whether a session is
// leased holds its lock for some microseconds.
const leaseTries = 100 * time.Millisecond

// leases keeps two processes from writing to the same session. Each session has a lock file; its
// lock is released by the system when the process that holds it is dead. The zero value has no
// folder and leases everything to everybody (in memory).
type leases struct{ dir string }

// lease is the right to write to a session.
type lease struct{ lock *flock.Flock }

// take leases the session or returns [agent.ErrLeased].
func (l leases) take(ctx context.Context, id string) (lease, error) {
	if l.dir == "" {
		return lease{}, nil
	}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return lease{}, fmt.Errorf("lease session %s: %w", id, err)
	}
	lock := flock.New(l.file(id))
	tries, cancel := context.WithTimeout(ctx, leaseTries)
	defer cancel()
	locked, err := lock.TryLockContext(tries, leaseTries/20)
	if locked {
		return lease{lock}, nil
	}
	if closeErr := lock.Close(); closeErr != nil {
		err = errors.Join(err, closeErr)
	} else if tries.Err() != nil && ctx.Err() == nil {
		return lease{}, fmt.Errorf("session %s: %w", id, agent.ErrLeased)
	}
	return lease{}, fmt.Errorf("lease session %s: %w", id, err)
}

// taken reports whether some process has the session. A file that cannot be looked at counts as
// free: no process of this user could have leased it.
func (l leases) taken(id string) bool {
	if l.dir == "" {
		return false
	}
	if _, err := os.Stat(l.file(id)); err != nil {
		return false
	}
	lock := flock.New(l.file(id))
	locked, err := lock.TryRLock()
	_ = lock.Close()
	return err == nil && !locked
}

// forget removes the lock file of a session that is gone for good.
func (l leases) forget(id string) error {
	if l.dir == "" {
		return nil
	}
	if err := os.Remove(l.file(id)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func (l leases) file(id string) string { return filepath.Join(l.dir, id+".lock") }

// release gives the lease back. It may be called more than once.
func (l lease) release() error {
	if l.lock == nil {
		return nil
	}
	return l.lock.Close()
}
