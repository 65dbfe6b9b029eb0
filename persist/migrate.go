package persist

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks the file as parley's: "prly". It keeps parley from writing its tables into
// another program's database.
const applicationID = 0x70726c79

// step is one numbered migration; number n brings a database from schema n-1 to n.
type step struct {
	name string
	text string
}

// steps returns the migrations in order. Files that have been released are never edited.
func steps() []step {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		panic(err) // the pattern is constant
	}
	list := make([]step, len(names))
	for i, name := range names { // sorted
		text, err := migrations.ReadFile(name)
		if err != nil {
			panic(err) // embedded
		}
		list[i] = step{name: filepath.Base(name), text: string(text)}
	}
	return list
}

// schemaVersion reads which schema the database has, 0 for an empty one.
func schemaVersion(ctx context.Context, q querier) (int, error) {
	var version, application, tables int
	_, err := queryRow(ctx, q, `SELECT (SELECT user_version FROM pragma_user_version),
		(SELECT application_id FROM pragma_application_id), (SELECT count(*) FROM sqlite_schema)`, nil,
		&version, &application, &tables)
	if err != nil {
		return 0, err
	}
	if application != applicationID && (application != 0 || version != 0 || tables != 0) {
		return 0, fmt.Errorf("%w: it belongs to another program", ErrNotDatabase)
	}
	if newest := len(steps()); version > newest {
		return 0, fmt.Errorf("%w (schema %d, this one knows up to %d): use that version, or another file with --db",
			ErrNewer, version, newest)
	}
	return version, nil
}

// prepareSchema checks the database and brings it to the newest schema. path is "" in memory.
func prepareSchema(ctx context.Context, t *statements, path string, limit time.Duration) error {
	return migrate(ctx, t, path, limit, steps())
}

func migrate(ctx context.Context, t *statements, path string, limit time.Duration, list []step) error {
	version, err := schemaVersion(ctx, t)
	if err != nil {
		return err
	}
	if err := retryBusy(ctx, limit, func() error { return setWAL(ctx, t) }); err != nil {
		return err
	}
	if version == len(list) {
		return checkWritable(ctx, t)
	}
	if version > 0 && path != "" {
		if err := copyDatabase(ctx, t, path, version); err != nil {
			return fmt.Errorf("copy it before the upgrade: %w", err)
		}
	}
	for number := version + 1; number <= len(list); number++ {
		err := retryBusy(ctx, limit, func() error { return migrateStep(ctx, t, number, list[number-1]) })
		if err != nil {
			return fmt.Errorf("upgrade to schema %d: %w", number, err)
		}
	}
	return nil
}

// setWAL sets the journal mode, which is written into the file and so comes after the check that
// the file is parley's. The change needs the file alone; processes that open a new one at once wait
// for each other.
func setWAL(ctx context.Context, t *statements) error {
	_, err := t.conn.ExecContext(ctx, "PRAGMA journal_mode = WAL")
	return err
}

// checkWritable finds out before the first turn, not at its end, that the file cannot be written.
func checkWritable(ctx context.Context, t *statements) error {
	_, err := t.exec(ctx, "BEGIN IMMEDIATE")
	if err != nil {
		if isBusy(err) { // somebody else can write it
			return nil
		}
		return err
	}
	// BEGIN IMMEDIATE passes on a read-only file; a statement that would write does not.
	_, err = t.exec(ctx, "UPDATE sessions SET id = id WHERE false")
	_, rollbackErr := t.exec(ctx, "ROLLBACK")
	return errors.Join(err, rollbackErr)
}

// migrateStep runs one migration in one transaction, unless another process has done so meanwhile.
func migrateStep(ctx context.Context, t *statements, number int, s step) (err error) {
	if _, err := t.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, rollbackErr := t.exec(context.WithoutCancel(ctx), "ROLLBACK")
			err = errors.Join(err, rollbackErr)
		}
	}()
	version, err := schemaVersion(ctx, t)
	if err != nil {
		return err
	}
	if version < number {
		script := fmt.Sprintf("%s;\nPRAGMA application_id = %d; PRAGMA user_version = %d", s.text, applicationID, number)
		if _, err := t.conn.ExecContext(ctx, script); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	_, err = t.exec(ctx, "COMMIT")
	return err
}

// copyDatabase writes path.bak-VERSION, whole or not at all: the copy is made beside it and
// renamed, as another process may be doing the same.
func copyDatabase(ctx context.Context, t *statements, path string, version int) error {
	// SQLite writes into an empty file that exists, which keeps the copy private.
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".bak-*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // fails once it is renamed
	if err := file.Close(); err != nil {
		return err
	}
	if _, err := t.conn.ExecContext(ctx, "VACUUM INTO ?", file.Name()); err != nil {
		return err
	}
	return os.Rename(file.Name(), fmt.Sprintf("%s.bak-%d", path, version))
}
