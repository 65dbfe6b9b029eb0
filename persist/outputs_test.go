package persist_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/agent/record"
	"parley/persist"
)

// R65: outputs older than the limit go, then the oldest until the rest is within it; those of a
// session that is open stay, and it is looked at no more than once an hour.
func TestR65Quota(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Now()
	store, err := persist.Open(t.Context(), filepath.Join(dir, "parley.db"), persist.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	j, err := store.Create(t.Context(), record.Session{ID: "open", Dir: "/"})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	put := func(name string, size int, age time.Duration) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Repeat("x", size)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	put("outputs/a/week", 1, 8*24*time.Hour)
	put("outputs/a/old", 60, 3*time.Hour)
	put("outputs/a/new", 60, time.Hour)
	put("outputs/open/week", 30, 8*24*time.Hour)
	put("undo/a/bytes/1", 200, 9*24*time.Hour)
	put("undo/b/bytes/1", 60, time.Hour)
	limits := persist.OutputLimits{Total: 100, Undo: 100}
	removed, err := store.PruneOutputs(t.Context(), limits)
	if err != nil || removed != 1+60+200 {
		t.Errorf("removed %d bytes, %v", removed, err)
	}
	for name, want := range map[string]bool{"outputs/a/week": false, "outputs/a/old": false, "outputs/a/new": true,
		"outputs/open/week": true, "undo/a": false, "undo/b/bytes/1": true} {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); (err == nil) != want {
			t.Errorf("%s: there %v, want %v", name, err == nil, want)
		}
	}
	put("outputs/a/week", 1, 8*24*time.Hour)
	if removed, err := store.PruneOutputs(t.Context(), limits); err != nil || removed != 0 {
		t.Errorf("again at once: %d, %v", removed, err)
	}
	now = now.Add(2 * time.Hour)
	if removed, err := store.PruneOutputs(t.Context(), limits); err != nil || removed != 1 {
		t.Errorf("two hours later: %d, %v", removed, err)
	}
}
