package persist

import (
	"errors"
	"fmt"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Errors of the store, beside [agent.ErrNotFound] and [agent.ErrLeased].
var (
	// ErrNewer says that the database was written by a newer parley. It is left as it is.
	ErrNewer = errors.New("the database was written by a newer version of parley")
	// ErrNotDatabase says that the file is damaged or something else than parley's database.
	ErrNotDatabase = errors.New("not a database of parley, or a damaged one")
	// ErrReadOnly says that the database cannot be written to.
	ErrReadOnly = errors.New("the database cannot be written to")
	// ErrBusy says that another process held the database for longer than the store waits.
	ErrBusy = errors.New("the database is busy")
	// ErrNameTaken says that another session has the name already.
	ErrNameTaken = errors.New("another session has this name")
	// ErrClosed says that the store or the journal has been closed.
	ErrClosed = errors.New("the store is closed")
	// ErrRecorded says that the effect is in the journal, finished, and may not begin again.
	ErrRecorded = errors.New("the effect is recorded already")
)

// busyError says how long the store waited; it is an [ErrBusy].
type busyError struct{ waited time.Duration }

func (e *busyError) Error() string {
	return fmt.Sprintf("another process has kept the database busy for %s: end it or try again",
		e.waited.Round(time.Millisecond))
}

func (e *busyError) Is(target error) bool { return target == ErrBusy }

// resultCode returns SQLite's primary result code of err, 0 when there is none.
func resultCode(err error) int {
	var driverErr *sqlite.Error
	if errors.As(err, &driverErr) {
		return driverErr.Code() & 0xff
	}
	return 0
}

func isBusy(err error) bool {
	code := resultCode(err)
	return err == errLogBusy || code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// translate turns the driver's error into one of this package where callers need to tell them
// apart; the driver's text stays in it.
func translate(err error) error {
	switch resultCode(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("%w: %w", ErrBusy, err)
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("%w: %w", ErrNotDatabase, err)
	case sqlite3.SQLITE_READONLY:
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	return err
}

// isUniqueViolation reports whether err comes from a UNIQUE constraint or index.
func isUniqueViolation(err error) bool {
	var driverErr *sqlite.Error
	return errors.As(err, &driverErr) && driverErr.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE
}
