package persist

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/agent/model"
	"parley/agent/record"
	"parley/toolrt"
)

// TestFullDiskLosesNothingElse lets the database take no more pages: the write that needs some
// fails as a whole, and the session goes on when there is room again.
func TestFullDiskLosesNothingElse(t *testing.T) {
	s := openAt(t, databasePath(t), Options{})
	ctx := context.Background()
	j := create(t, s, record.Session{})
	beginTurn(t, j, 1, record.Rows{})
	before := j.Session()
	pages := func(n int) {
		must(t, s.write(ctx, &request{run: func(ctx context.Context, t *statements) error {
			_, err := queryRow(ctx, t, fmt.Sprint("PRAGMA max_page_count = ", n), nil, new(int))
			return err
		}}))
	}
	pages(1) // as many as there are
	big := record.Rows{
		Calls:    []record.Call{call(1, "0.1.0", toolrt.StatusSuccess)},
		Messages: []record.Message{shown(1, 0, model.Assistant, strings.Repeat("x", 1<<20))},
		Usage:    model.Usage{TotalTokens: 1},
	}
	e := entry(1, "0", 0)
	e.Result = json.RawMessage(`{}`)
	err := j.Finish(ctx, e, big)
	if err == nil || !strings.Contains(err.Error(), "full") || !strings.Contains(err.Error(), j.Session().ID) {
		t.Fatalf("got %v, want that the disk is full, and for which session", err)
	}
	equal(t, "session after the failure", j.Session(), before)
	if e.Finished {
		t.Error("the entry says that it is finished")
	}
	pages(1 << 30)
	entries, err := j.Entries(ctx, 1)
	must(t, err)
	calls, err := j.Calls(ctx, 1)
	must(t, err)
	equal(t, "rows of the failed commit", len(entries)+len(calls), 0)
	must(t, j.Finish(ctx, e, big))
	equal(t, "calls counted", j.Session().Calls, 1)
	checkIntegrity(t, s)
}

func TestRescueWritesAPrivateFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there")
	unsaved := map[string]any{"turn": 3, "text": "lost & found"}
	path, err := Rescue(dir, unsaved)
	must(t, err)
	other, err := Rescue(dir, unsaved)
	must(t, err)
	if other == path || filepath.Dir(path) != dir {
		t.Errorf("files %s and %s, want two in %s", path, other, dir)
	}
	text, err := os.ReadFile(path)
	must(t, err)
	var got map[string]any
	must(t, json.Unmarshal(text, &got))
	equal(t, "text", got["text"], "lost & found")
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %v: others can read it", info.Mode())
	}
	if _, err := Rescue(filepath.Join(path, "below"), unsaved); err == nil {
		t.Error("no error although the folder cannot be made")
	}
	if _, err := Rescue(dir, func() {}); err == nil {
		t.Error("no error although it cannot be written as JSON")
	}
}

// FuzzSearchText: whatever a person types is words, never an error of the query language.
func FuzzSearchText(f *testing.F) {
	for _, seed := range []string{`a "b`, `body:x`, `NEAR(a b)`, `-x`, `^x*`, "\x00a\xff", `'; DROP TABLE`, `a + b`, `{a b}: c`, "ｆ́oo"} {
		f.Add(seed)
	}
	s, err := OpenMemory(context.Background())
	must(f, err)
	f.Cleanup(func() { _ = s.Close() })
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := s.Search(context.Background(), SearchQuery{Text: text}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := s.Sessions(context.Background(), Query{Text: text, Messages: true}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if title := firstLine(text); len(title) > maxTitle || strings.Contains(title, "\n") {
			t.Errorf("title %q", title)
		}
		if cut := snippet(text, strings.Fields(text)); len([]rune(cut)) > snippetRunes+2 {
			t.Errorf("snippet %q", cut)
		}
	})
}

// FuzzDamagedFile changes one byte of a database: it may be refused or give wrong rows, but
// nothing panics or hangs.
func FuzzDamagedFile(f *testing.F) {
	for offset := range uint32(40) {
		f.Add(offset*2500, byte(0xff))
	}
	f.Add(uint32(18), byte(9)) // an unknown file format
	f.Add(uint32(28), byte(0))
	whole, err := os.ReadFile(filepath.Join("testdata", "schema1.db"))
	must(f, err)
	f.Fuzz(func(t *testing.T, offset uint32, value byte) {
		path := filepath.Join(t.TempDir(), "x.db")
		damaged := append([]byte(nil), whole...)
		damaged[int(offset)%len(damaged)] ^= value
		must(t, os.WriteFile(path, damaged, 0o600))
		ctx := context.Background()
		s, err := Open(ctx, path, Options{})
		if err != nil {
			return
		}
		defer s.Close()
		list, _ := s.Sessions(ctx, Query{IncludeDeleted: true})
		for _, row := range list {
			_, _ = s.ShownMessages(ctx, row.ID, 0, 10)
			_, _ = s.TurnCalls(ctx, row.ID, 1, 9)
			j, err := s.OpenSession(ctx, row.ID)
			if err != nil {
				continue
			}
			_, _ = j.Entries(ctx, 1)
			_ = j.BeginTurn(ctx, record.Turn{Number: 3}, record.Rows{})
			_ = j.Close()
		}
	})
}
