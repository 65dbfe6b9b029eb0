package persist

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"parley/agent/model"
	"parley/agent/record"
	"parley/toolrt"
)

// The two commits of an execution write few pages, whatever has been stored before: of the begin the
// entry and the call, of the end the entry, the call and the message with its places.
func TestExecutionPages(t *testing.T) {
	t.Parallel()
	path := databasePath(t)
	s := openAt(t, path, Options{})
	j := create(t, s, record.Session{})
	beginTurn(t, j, 1, record.Rows{})
	var rows record.Rows
	const before, count = 300, 40
	for n := range before + count {
		rows.Calls = append(rows.Calls, call(1, fmt.Sprint("0.", n), toolrt.StatusPending))
	}
	must(t, j.Finish(context.Background(), entry(1, "0", 0), rows))
	must(t, s.writer.do(t.Context(), &request{alone: true, run: func(ctx context.Context, st *statements) error {
		_, err := st.exec(ctx, `PRAGMA wal_autocheckpoint = 0`)
		return err
	}}))
	frames := func() int64 {
		info, err := os.Stat(path + "-wal")
		must(t, err)
		return (info.Size() - 32) / (4096 + 24)
	}
	var begin, finish int64
	for n := range before + count {
		e, c := entry(1, fmt.Sprint("0.", n), 0), call(1, fmt.Sprint("0.", n), toolrt.StatusRunning)
		start := frames()
		must(t, j.Begin(t.Context(), e, record.Rows{Calls: []record.Call{c}}))
		middle := frames()
		e.Result, c.Status = json.RawMessage(`"`+strings.Repeat("x", 400)+`"`), toolrt.StatusSuccess
		must(t, j.Finish(t.Context(), e, record.Rows{Messages: []record.Message{shown(1, n, model.ToolRole, "done")}, Calls: []record.Call{c}}))
		if n >= before {
			begin, finish = begin+middle-start, finish+frames()-middle
		}
	}
	if b, f := float64(begin)/count, float64(finish)/count; b > 3.3 || f > 7 {
		t.Errorf("a begin writes %.2f pages and a finish %.2f: want 3 and 6, and a few new ones", b, f)
	}
}
