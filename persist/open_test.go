package persist

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/agent/record"
)

func TestOpenMakesAPrivateFile(t *testing.T) {
	path := databasePath(t)
	s := openAt(t, path, Options{})
	create(t, s, record.Session{})
	if runtime.GOOS == "windows" {
		t.Skip("files have no mode bits")
	}
	must(t, filepath.WalkDir(filepath.Dir(path), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode()&0o077 != 0 {
			t.Errorf("%s has mode %v: others can read it", path, info.Mode())
		}
		return err
	}))
}

func TestOpenAtAnyPath(t *testing.T) {
	for _, name := range []string{"a b.db", "50%25?mode=ro&x=1.db", "#1.db", "ö‹.db", "file:x.db", "a'b\"c.db"} {
		if runtime.GOOS == "windows" && strings.ContainsAny(name, `?:"`) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			s := openAt(t, path, Options{})
			create(t, s, record.Session{ID: "one"})
			if _, err := os.Stat(path); err != nil {
				t.Error(err)
			}
			if _, err := openAt(t, path, Options{ReadOnly: true}).Session(context.Background(), "one"); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestOpenRefuses says for each file what is wrong with it, and leaves it as it is.
func TestOpenRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		make func(t *testing.T, path string)
		want error
		text string
	}{
		"text":  {func(t *testing.T, path string) { write(t, path, "hello, this is no database") }, ErrNotDatabase, ""},
		"noise": {func(t *testing.T, path string) { write(t, path, strings.Repeat("\x00\xff7", 9000)) }, ErrNotDatabase, ""},
		"newer": {func(t *testing.T, path string) {
			change(t, path, "PRAGMA user_version = 99")
		}, ErrNewer, "schema 99"},
		"foreign": {func(t *testing.T, path string) {
			write(t, path, "")
			db := openPool(dsn(path, nil))
			defer db.Close()
			_, err := db.Exec("CREATE TABLE theirs (a)")
			must(t, err)
		}, ErrNotDatabase, "another program"},
		"damaged": {func(t *testing.T, path string) {
			change(t, path, "PRAGMA user_version") // makes it
			text, err := os.ReadFile(path)
			must(t, err)
			write(t, path, string(text[:100])+strings.Repeat("\xee", len(text)-100))
		}, ErrNotDatabase, ""},
		"folder": {func(t *testing.T, path string) { must(t, os.MkdirAll(path, 0o700)) }, nil, ""},
	} {
		for mode, options := range map[string]Options{"write": {}, "read": {ReadOnly: true}} {
			t.Run(name+" "+mode, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "x.db")
				test.make(t, path)
				before, _ := os.ReadFile(path)
				s, err := Open(context.Background(), path, options)
				if err == nil {
					s.Close()
					t.Fatal("opened")
				}
				if test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), path) ||
					!strings.Contains(err.Error(), test.text) || strings.Contains(err.Error(), "\n") {
					t.Errorf("got %q, want %v, the path and %q on one line", err, test.want, test.text)
				}
				if after, _ := os.ReadFile(path); string(before) != string(after) {
					t.Error("the file has changed")
				}
			})
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

// change makes a database and runs a statement in it.
func change(t *testing.T, path, query string) {
	t.Helper()
	s, err := Open(context.Background(), path, Options{})
	must(t, err)
	_, err = s.writer.stmts.conn.ExecContext(context.Background(), query)
	must(t, err)
	must(t, s.truncateLog(context.Background()))
	must(t, s.Close())
}

func TestOpenWhereNothingCanBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "x")
	paths := []string{filepath.Join(file, "below", "a.db")}
	if runtime.GOOS == "linux" {
		paths = append(paths, "/proc/parley.db", "/sys/parley/a.db")
	}
	for _, path := range paths {
		if s, err := Open(context.Background(), path, Options{}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want an error that names it", path, err)
			if err == nil {
				s.Close()
			}
		}
	}
	if _, err := Open(context.Background(), filepath.Join(t.TempDir(), "none.db"), Options{ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("read-only without a file: %v, want ErrNotExist", err)
	}
}

func TestReadOnlyFileIsSaidAtOnce(t *testing.T) {
	if os.Getuid() <= 0 {
		t.Skip("this user may write to files that are read-only")
	}
	path := databasePath(t)
	change(t, path, "PRAGMA user_version")
	must(t, os.Chmod(path, 0o400))
	if _, err := Open(context.Background(), path, Options{}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("got %v, want ErrReadOnly", err)
	}
}

func TestReadOnlyReadsAndNeverWrites(t *testing.T) {
	path := databasePath(t)
	writing := openAt(t, path, Options{})
	j := create(t, writing, record.Session{})
	id := j.Session().ID
	s := openAt(t, path, Options{ReadOnly: true})
	ctx := context.Background()
	beginTurn(t, j, 1, record.Rows{}) // after it was opened
	row, err := s.Session(ctx, id)
	must(t, err)
	equal(t, "turns seen", row.Turns, 1)
	for what, try := range map[string]func() error{
		"create": func() error { _, err := s.Create(ctx, record.Session{}); return err },
		"open":   func() error { _, err := s.OpenSession(ctx, id); return err },
		"delete": func() error { return s.Delete(ctx, id) },
		"write": func() error {
			_, err := s.reader.Exec("DELETE FROM sessions")
			return translate(err)
		},
	} {
		if err := try(); !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s: %v, want ErrReadOnly", what, err)
		}
	}
	if _, err := s.Search(ctx, SearchQuery{Text: "x"}); err != nil {
		t.Error(err)
	}
}

func TestOpenSchema1(t *testing.T) {
	path := databasePath(t)
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	old, err := os.ReadFile(filepath.Join("testdata", "schema1.db"))
	must(t, err)
	must(t, os.WriteFile(path, old, 0o600))

	if _, err := Open(context.Background(), path, Options{ReadOnly: true}); err == nil || !strings.Contains(err.Error(), "older") {
		t.Errorf("read-only: %v, want that it is older", err)
	}
	s := openAt(t, path, Options{})
	ctx := context.Background()
	row, err := s.Session(ctx, "first")
	must(t, err)
	if row.ID != "0193-first" || row.Turns != 2 || row.Calls != 1 || row.Usage.TotalTokens != 12 || row.State != record.StateStop {
		t.Errorf("session %+v", row)
	}
	hits, err := s.Search(ctx, SearchQuery{Text: "ZEBRA"})
	must(t, err)
	if len(hits) != 1 || hits[0].Message.Index != 1 {
		t.Errorf("hits %+v", hits)
	}
	j := reopen(t, s, row.ID)
	entries, err := j.Entries(ctx, 2)
	must(t, err)
	if len(entries) != 1 || !entries[0].InDoubt() {
		t.Errorf("entries of the unfinished turn %+v", entries)
	}
	endTurn(t, j, 2, record.Rows{})
	checkIntegrity(t, s)

	copied, err := os.ReadFile(path + ".bak-1")
	must(t, err)
	if !strings.HasPrefix(string(copied), "SQLite format 3\x00") || !strings.Contains(string(copied), "zebra") {
		t.Errorf("the copy has %d bytes and not the old texts", len(copied))
	}
	left, err := filepath.Glob(path + "*.tmp")
	must(t, err)
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestAMigrationThatFailsChangesNothing(t *testing.T) {
	path := databasePath(t)
	change(t, path, "PRAGMA user_version")
	db := openPool(dsn(path, writerParams()))
	defer db.Close()
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	must(t, err)
	stmts := newStatements(conn)
	defer stmts.close()
	newest := len(steps())
	bad := append(steps(), step{"0099_bad.sql", "CREATE TABLE more (a); CREATE TABLE more (a);"})
	if err := migrate(ctx, stmts, path, time.Second, bad); err == nil || !strings.Contains(err.Error(), "0099_bad.sql") {
		t.Fatalf("got %v, want an error that names the migration", err)
	}
	version, err := schemaVersion(ctx, stmts)
	must(t, err)
	equal(t, "schema", version, newest)
	if found, err := queryRow(ctx, stmts, "SELECT 1 FROM sqlite_schema WHERE name = 'more'", nil, new(int)); found || err != nil {
		t.Errorf("a part of the migration stayed: %v %v", found, err)
	}
	if _, err := os.Stat(fmt.Sprint(path, ".bak-", newest)); err != nil {
		t.Error(err)
	}
}

func TestMemoryLeavesNoFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	s, err := OpenMemory(context.Background())
	must(t, err)
	j := create(t, s, record.Session{})
	beginTurn(t, j, 1, record.Rows{})
	equal(t, "output folder", j.OutputDir(), "")
	if _, err := s.OpenSession(context.Background(), j.Session().ID); !errors.Is(err, agent.ErrLeased) {
		t.Errorf("opened twice: %v, want ErrLeased", err)
	}
	must(t, j.Close())
	must(t, s.Purge(context.Background(), j.Session().ID))
	must(t, s.Close())
	files, err := os.ReadDir(".")
	must(t, err)
	if len(files) > 0 {
		t.Errorf("files: %v", files)
	}
}

func TestNothingWorksAfterClose(t *testing.T) {
	s, err := Open(context.Background(), databasePath(t), Options{})
	must(t, err)
	j := create(t, s, record.Session{})
	id := j.Session().ID
	must(t, s.Close()) // closes the journal too
	if err := j.SaveSession(context.Background(), j.Session()); !errors.Is(err, ErrClosed) {
		t.Errorf("journal: %v, want ErrClosed", err)
	}
	if _, err := s.Session(context.Background(), id); err == nil {
		t.Error("a closed store was read")
	}
	must(t, j.Close())
}
