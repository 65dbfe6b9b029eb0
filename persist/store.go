package persist

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // registers the driver
)

// Options say how a store is opened. The zero value is good.
type Options struct {
	// Now is the clock for the times that the store sets itself; nil means time.Now.
	Now func() time.Time
	// ReadOnly opens an existing database for reading: every write is [ErrReadOnly].
	ReadOnly bool
	// Memory keeps everything in memory, as [OpenMemory] does; the path is not used.
	Memory bool
	// BusyTimeout is how long a write waits for other processes; zero means 60 s.
	BusyTimeout time.Duration
	// OnBusy hears, after 2 s, that a write waits for another process, and with zero that the wait
	// is over. It is called by the store's writer and must return quickly; nil means nobody asks.
	OnBusy func(waited time.Duration)
}

// Store is an open database of sessions. It is safe for concurrent use.
type Store struct {
	path   string // "" in memory
	dir    string // holds leases and outputs, "" in memory
	now    func() time.Time
	db     *sql.DB // of the writer's one connection
	reader *sql.DB // connects when first used; nil in memory, where the writer reads
	writer *writer // nil when read-only
	leases leases

	// mu guards open.
	mu   sync.Mutex
	open map[string]*journal // by session id

	closing  sync.Once
	closeErr error
}

// Open opens the database at path, making it and its folder when they are missing, and brings an
// older one up to date. It does no work that can wait: on a database in use it takes under 2 ms.
// It fails with [ErrNewer], [ErrNotDatabase] or [ErrReadOnly], each naming the path, and then has
// changed nothing. The Store must be closed.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	if o.Memory {
		return openMemory(ctx, o)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	s, err := open(ctx, abs, o)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, translate(err))
	}
	return s, nil
}

// OpenMemory opens a store that lives in memory and is gone when it is closed: what a machine
// without a writable data folder gets. It has no leases and keeps no outputs.
func OpenMemory(ctx context.Context) (*Store, error) {
	return openMemory(ctx, Options{})
}

func open(ctx context.Context, path string, o Options) (*Store, error) {
	s := newStore(o)
	s.path, s.dir = path, filepath.Dir(path)
	s.leases = leases{dir: filepath.Join(s.dir, "leases")}
	if o.ReadOnly {
		return s, s.openReader(ctx)
	}
	if err := createFile(path); err != nil {
		return nil, err
	}
	s.reader = openPool(dsn(path, readerParams()))
	if err := s.openWriter(ctx, dsn(path, writerParams()), o); err != nil {
		return nil, errors.Join(err, s.reader.Close())
	}
	return s, nil
}

func openMemory(ctx context.Context, o Options) (*Store, error) {
	s := newStore(o)
	if err := s.openWriter(ctx, "file::memory:?"+writerParams().Encode(), o); err != nil {
		return nil, fmt.Errorf("open database in memory: %w", err)
	}
	return s, nil
}

func newStore(o Options) *Store {
	s := &Store{now: o.Now, open: make(map[string]*journal)}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// openWriter connects, migrates and starts the writer. On an error nothing stays open.
func (s *Store) openWriter(ctx context.Context, dsn string, o Options) error {
	if o.BusyTimeout <= 0 {
		o.BusyTimeout = 60 * time.Second
	}
	s.db = openPool(dsn)
	s.db.SetMaxOpenConns(1)
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return errors.Join(err, s.db.Close())
	}
	stmts := newStatements(conn)
	if err := prepareSchema(ctx, stmts, s.path, o.BusyTimeout); err != nil {
		return errors.Join(err, stmts.close(), s.db.Close())
	}
	var files *identity
	if s.path != "" {
		if files, err = identify(s.path); err != nil {
			return errors.Join(err, stmts.close(), s.db.Close())
		}
	}
	s.writer = newWriter(stmts, files, o)
	go s.writer.loop(context.WithoutCancel(ctx))
	return nil
}

// openReader checks the database that is only read.
func (s *Store) openReader(ctx context.Context) error {
	if _, err := os.Stat(s.path); err != nil {
		return err
	}
	params := readerParams()
	params.Set("mode", "ro")
	s.reader = openPool(dsn(s.path, params))
	version, err := schemaVersion(ctx, s.reader)
	if err == nil && version < len(steps()) {
		err = fmt.Errorf("it was written by an older parley (schema %d, this one has %d): open it once for writing",
			version, len(steps()))
	}
	if err != nil {
		return errors.Join(err, s.reader.Close())
	}
	return nil
}

// Close ends the store after the writes that wait. Its journals must have been closed; leases of
// those that were not are released. It may be called more than once.
func (s *Store) Close() error {
	s.closing.Do(func() { s.closeErr = s.close() })
	return s.closeErr
}

func (s *Store) close() error {
	var errs []error
	if s.writer != nil {
		s.writer.close()
		errs = append(errs, s.writer.stmts.close(), s.db.Close())
	}
	for _, j := range s.openJournals() {
		errs = append(errs, j.Close())
	}
	if s.reader != nil {
		errs = append(errs, s.reader.Close())
	}
	return errors.Join(errs...)
}

func (s *Store) openJournals() []*journal {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*journal, 0, len(s.open))
	for _, j := range s.open {
		list = append(list, j)
	}
	return list
}

// stamp is the time now as it will be read back.
func (s *Store) stamp() time.Time { return time.UnixMilli(s.now().UnixMilli()).UTC() }

// write runs one write; see writer.do.
func (s *Store) write(ctx context.Context, r *request) error {
	if s.writer == nil {
		return ErrReadOnly
	}
	return s.writer.do(ctx, r)
}

// view runs a read.
func (s *Store) view(ctx context.Context, read func(ctx context.Context, q querier) error) error {
	if s.reader != nil {
		return read(ctx, s.reader)
	}
	return s.writer.do(ctx, &request{run: func(ctx context.Context, t *statements) error { return read(ctx, t) }})
}

// viewList is view for a query that gives a list.
func viewList[T any](ctx context.Context, s *Store, query string, args []any, scan func(scanner) (T, error)) (list []T, err error) {
	err = s.view(ctx, func(ctx context.Context, q querier) error {
		list, err = collect(ctx, q, query, args, scan)
		return err
	})
	return list, err
}

// viewRow is view for a query that gives one row or none.
func viewRow[T any](ctx context.Context, s *Store, query string, args []any, scan func(scanner) (T, error)) (row T, found bool, err error) {
	list, err := viewList(ctx, s, query, args, scan)
	if err != nil || len(list) == 0 {
		return row, false, err
	}
	return list[0], true, nil
}

// createFile makes the database's folder and an empty file that only this user can read, before
// SQLite would make one that others can. An existing file is not opened: closing a file drops the
// locks that this process has on it.
func createFile(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return file.Close()
}

// dsn names a database file. The "file:" form is needed for the parameters to count.
func dsn(path string, params url.Values) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") { // C:/…
		slashed = "/" + slashed
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: slashed, RawQuery: params.Encode()}).String()
}

func writerParams() url.Values {
	return url.Values{
		"_busy_timeout": {fmt.Sprint(busyStep.Milliseconds())},
		"_synchronous":  {"NORMAL"},
		"_foreign_keys": {"1"},
		// What is overwritten or deleted leaves no trace in free pages.
		// 16 MiB of pages, taken as needed: with SQLite's 2 MiB a commit reads its pages again.
		"_pragma": {"secure_delete(1)", "cache_size(-16384)"},
	}
}

func readerParams() url.Values {
	return url.Values{
		"_busy_timeout": {"5000"},
		"_foreign_keys": {"1"},
		"_query_only":   {"1"},
	}
}

// openPool does not connect; an error of the name shows at the first use.
func openPool(dsn string) *sql.DB {
	db, err := sql.Open("sqlite", dsn)
	if err != nil { // only for a driver that is not registered
		panic(err)
	}
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(2)
	return db
}

// retryBusy runs f until it is not refused because the database is busy. SQLite waits inside f.
func retryBusy(ctx context.Context, limit time.Duration, f func() error) error {
	start := time.Now()
	for {
		err := f()
		if err == nil || !isBusy(err) {
			return err
		}
		if waited := time.Since(start); waited >= limit {
			return &busyError{waited}
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
	}
}
