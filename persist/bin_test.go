package persist

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"parley/agent"
	"parley/agent/model"
	"parley/agent/record"
	"parley/toolrt"
)

const marker = "xylophonist"

// TestD07NoTraceAfterPurge puts a marker wherever a session keeps text, purges it, and searches all
// files for it, as whole words of the search index too.
func TestD07NoTraceAfterPurge(t *testing.T) {
	path := databasePath(t)
	s := openAt(t, path, Options{})
	ctx := context.Background()
	keep := create(t, s, record.Session{})
	beginTurn(t, keep, 1, record.Rows{Messages: []record.Message{shown(1, 0, model.User, "stays")}, Texts: []record.Text{{Hash: "both", Body: "shared text"}}})
	endTurn(t, keep, 1, record.Rows{})

	j := create(t, s, record.Session{Name: marker, Title: marker})
	id := j.Session().ID
	long := string(bytes.Repeat([]byte(marker+" "), 2000)) // overflow pages
	for number := 1; number <= 3; number++ {
		c := call(number, marker, toolrt.StatusSuccess)
		c.Input, c.Result = marker, long
		must(t, j.BeginTurn(ctx, record.Turn{Number: number, Input: marker}, record.Rows{
			Messages:  []record.Message{shown(number, number, model.User, long)},
			Calls:     []record.Call{c},
			Approvals: []record.Approval{{Turn: number, Path: "p", Args: marker, Decision: toolrt.Decision{Reason: marker}}},
			Texts:     []record.Text{{Hash: "mine", Body: long}, {Hash: "both", Body: "shared text"}},
		}))
		e := entry(number, "0", 0)
		e.Request, e.Result = json.RawMessage(`"`+marker+`"`), json.RawMessage(`"`+marker+`"`)
		must(t, j.Finish(ctx, e, record.Rows{}))
		endTurn(t, j, number, record.Rows{})
	}
	row := j.Session()
	row.Draft, row.Queue, row.Panel = long, []string{marker}, marker
	must(t, j.SaveSession(ctx, row))
	row.Draft, row.Queue, row.Panel, row.Title = "", nil, "", ""
	must(t, j.SaveSession(ctx, row)) // overwritten ones count too
	must(t, os.MkdirAll(j.OutputDir(), 0o700))
	write(t, filepath.Join(j.OutputDir(), "o-1"), marker)
	write(t, path+".bak-1", marker)
	hits, err := s.Search(ctx, SearchQuery{Text: marker})
	must(t, err)
	if len(hits) != 3 || len(filesWith(t, filepath.Dir(path))) < 3 {
		t.Fatalf("%d hits: the marker is not where it should be", len(hits))
	}

	if err := s.Purge(ctx, id); !errors.Is(err, agent.ErrLeased) {
		t.Fatalf("purged while open: %v", err)
	}
	must(t, j.Close())
	must(t, s.Purge(ctx, id))
	if files := filesWith(t, filepath.Dir(path)); len(files) > 0 {
		t.Errorf("the marker is in %v", files)
	}
	hits, err = s.Search(ctx, SearchQuery{Text: marker, IncludeDeleted: true})
	must(t, err)
	if len(hits) > 0 {
		t.Errorf("still found: %+v", hits)
	}
	if _, err := s.Session(ctx, id); !errors.Is(err, agent.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	if _, err := os.Stat(s.leases.file(id)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("lock file: %v", err)
	}
	if text, err := keep.Text(ctx, "both"); err != nil || text != "shared text" {
		t.Errorf("a text that another session needs: %q %v", text, err)
	}
	if _, err := keep.Text(ctx, "mine"); !errors.Is(err, agent.ErrNotFound) {
		t.Errorf("a text that nobody needs: %v, want ErrNotFound", err)
	}
	hits, err = s.Search(ctx, SearchQuery{Text: "stays"})
	must(t, err)
	equal(t, "hits of the other session", len(hits), 1)
	checkIntegrity(t, s)
}

// filesWith returns the files that have the marker's bytes in them, whatever their case. A piece
// of it would do: the index leaves out what two words begin with.
func filesWith(t *testing.T, dir string) (found []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(bytes.ToLower(text), []byte(marker[2:])) {
			found = append(found, filepath.Base(path))
		}
		return err
	}))
	return found
}

func TestDeleteMovesToTheBin(t *testing.T) {
	stores(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		j := create(t, s, record.Session{Name: "n"})
		id := j.Session().ID
		must(t, s.Delete(ctx, id)) // its own process may
		if _, err := s.Last(ctx, "/work"); !errors.Is(err, agent.ErrNotFound) {
			t.Errorf("last: %v, want ErrNotFound", err)
		}
		list, err := s.Sessions(ctx, Query{IncludeDeleted: true})
		must(t, err)
		if len(list) != 1 || list[0].Deleted.IsZero() {
			t.Errorf("list %+v", list)
		}
		must(t, j.Close())
		must(t, s.Undelete(ctx, id))
		row, err := s.Session(ctx, "n")
		must(t, err)
		equal(t, "deleted", row.Deleted, time.Time{})

		must(t, s.Delete(ctx, id))
		create(t, s, record.Session{Name: "n"})
		if err := s.Undelete(ctx, id); !errors.Is(err, ErrNameTaken) {
			t.Errorf("undelete: %v, want ErrNameTaken", err)
		}
		for what, err := range map[string]error{
			"delete": s.Delete(ctx, "none"), "undelete": s.Undelete(ctx, "none"), "purge": s.Purge(ctx, "../x"),
		} {
			if !errors.Is(err, agent.ErrNotFound) {
				t.Errorf("%s of an unknown session: %v, want ErrNotFound", what, err)
			}
		}
	})
}

func TestPurgeExpired(t *testing.T) {
	now := at
	s := openAt(t, databasePath(t), Options{Now: func() time.Time { return now }})
	ctx := context.Background()
	for _, id := range []string{"old", "open", "young", "kept"} {
		must(t, create(t, s, record.Session{ID: id}).Close())
	}
	must(t, s.Delete(ctx, "old"))
	must(t, s.Delete(ctx, "open"))
	now = now.Add(3 * 24 * time.Hour)
	must(t, s.Delete(ctx, "young"))
	reopen(t, s, "open")
	now = now.Add(4 * 24 * time.Hour)
	n, err := s.PurgeExpired(ctx, 7*24*time.Hour)
	must(t, err)
	equal(t, "purged", n, 1)
	list, err := s.Sessions(ctx, Query{IncludeDeleted: true})
	must(t, err)
	ids := make(map[string]bool)
	for _, row := range list {
		ids[row.ID] = true
	}
	equal(t, "left", ids, map[string]bool{"open": true, "young": true, "kept": true})
}
