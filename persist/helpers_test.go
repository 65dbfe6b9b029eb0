package persist

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"parley/agent"
	"parley/agent/model"
	"parley/agent/record"
	"parley/toolrt"
)

// at is a time with milliseconds, as the store keeps them.
var at = time.Date(2026, 12, 1, 10, 20, 30, 456_000_000, time.UTC)

func databasePath(t testing.TB) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "data", "parley.db")
}

func openAt(t testing.TB, path string, o Options) *Store {
	t.Helper()
	s, err := Open(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func create(t testing.TB, s *Store, row record.Session) agent.Journal {
	t.Helper()
	if row.Dir == "" {
		row.Dir = "/work"
	}
	j, err := s.Create(context.Background(), row)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func reopen(t testing.TB, s *Store, id string) agent.Journal {
	t.Helper()
	j, err := s.OpenSession(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func beginTurn(t testing.TB, j agent.Journal, number int, rows record.Rows) {
	t.Helper()
	turn := record.Turn{Session: j.Session().ID, Number: number, Input: fmt.Sprintf("question %d", number), Version: 1, Started: at}
	must(t, j.BeginTurn(context.Background(), turn, rows))
}

func endTurn(t testing.TB, j agent.Journal, number int, rows record.Rows) {
	t.Helper()
	must(t, j.EndTurn(context.Background(), record.Turn{
		Number: number, Status: record.TurnDone, State: json.RawMessage(`{"open":1}`), Output: "answer", Finished: at,
	}, rows))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// shown is a message of the conversation on screen.
func shown(turn, index int, role model.Role, text string) record.Message {
	return record.Message{
		Conversation: "0", Index: index, Turn: turn, Agent: "helper", Shown: true, Time: at,
		Message: model.TextMessage(role, text),
	}
}

func call(turn int, path string, status toolrt.Status) record.Call {
	return record.Call{Path: path, Parent: "0", Turn: turn, Label: "1.1", Round: 1, Tool: "sys.exec", Status: status, Created: at}
}

func entry(turn int, path string, ordinal int) *record.Entry {
	return &record.Entry{
		Key:  record.Key{Turn: turn, Path: path, Ordinal: ordinal},
		Kind: record.EntryExecution, Hash: "h", Request: json.RawMessage(`{"do":"it"}`), Started: at,
	}
}
