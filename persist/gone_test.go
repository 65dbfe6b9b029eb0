package persist_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"parley/agent/record"
	"parley/persist"
)

// A database that is removed, or replaced by another file, while it is open takes no more writes.
func TestDatabaseGone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed there")
	}
	for name, harm := range map[string]func(path string) error{
		"removed":     os.Remove,
		"moved":       func(path string) error { return os.Rename(path, path+".old") },
		"replaced":    func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)) },
		"log removed": func(path string) error { return os.Remove(path + "-wal") },
		"folder gone": func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "data", "parley.db")
			store, err := persist.Open(t.Context(), path, persist.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			j, err := store.Create(t.Context(), record.Session{Dir: "/"})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			row := j.Session()
			row.Draft = "kept"
			if err := j.SaveSession(t.Context(), row); err != nil {
				t.Fatal(err)
			}
			if err := harm(path); err != nil {
				t.Fatal(err)
			}
			row.Draft = "lost"
			if err := j.SaveSession(t.Context(), row); !errors.Is(err, persist.ErrGone) {
				t.Errorf("saved into nowhere: %v", err)
			}
			if got := j.Session().Draft; got != "kept" {
				t.Errorf("what was not saved counts as saved: %q", got)
			}
		})
	}
}
