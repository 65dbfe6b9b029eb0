package persist

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/agent/model"
	"parley/agent/record"
	"parley/toolrt"
)

// round stores what one round of a chat does: a reply that calls a tool, the execution, its result.
func round(t testing.TB, j agent.Journal, turn, n int) {
	t.Helper()
	ctx := context.Background()
	text := strings.Repeat(fmt.Sprint("some words of round ", n, ". "), 20)
	completion := entry(turn, "0", n)
	completion.Kind, completion.Repeatable = record.EntryCompletion, true
	completion.Request = json.RawMessage(`{"conversation":"0","range":[0,` + fmt.Sprint(2*n) + `],"tools":"hash"}`)
	must(t, j.Begin(ctx, completion, record.Rows{Texts: []record.Text{{Hash: "tools", Body: "tool list"}}}))
	reply, err := json.Marshal(text)
	must(t, err)
	path := fmt.Sprintf("0.%d.0", n)
	completion.Result = reply
	must(t, j.Finish(ctx, completion, record.Rows{
		Messages: []record.Message{shown(turn, 2*n, model.Assistant, text)},
		Calls:    []record.Call{call(turn, path, toolrt.StatusPending)},
		Usage:    model.Usage{TotalTokens: 100},
		Context:  100 * n,
	}))
	execution := entry(turn, path, 0)
	must(t, j.Begin(ctx, execution, record.Rows{Calls: []record.Call{call(turn, path, toolrt.StatusRunning)}}))
	execution.Result = reply
	done := call(turn, path, toolrt.StatusSuccess)
	done.Result = text
	must(t, j.Finish(ctx, execution, record.Rows{
		Messages: []record.Message{shown(turn, 2*n+1, model.ToolRole, text)},
		Calls:    []record.Call{done},
	}))
}

// TestSizeGrowsInProportion stores 2,000 rounds: the second thousand may take at most a fifth more
// than the first.
func TestSizeGrowsInProportion(t *testing.T) {
	path := databasePath(t)
	s := openAt(t, path, Options{})
	j := create(t, s, record.Session{})
	size := func() int64 {
		must(t, s.truncateLog(context.Background()))
		info, err := os.Stat(path)
		must(t, err)
		return info.Size()
	}
	sizes := []int64{size()}
	for half := range 2 {
		for n := range 1000 {
			number := half*1000 + n
			turn := number/50 + 1
			if number%50 == 0 {
				beginTurn(t, j, turn, record.Rows{})
			}
			round(t, j, turn, number)
			if number%50 == 49 {
				endTurn(t, j, turn, record.Rows{})
			}
		}
		sizes = append(sizes, size())
	}
	first, second := sizes[1]-sizes[0], sizes[2]-sizes[1]
	t.Logf("first thousand rounds %d KiB, second %d KiB", first>>10, second>>10)
	if float64(second) > 1.2*float64(first) {
		t.Errorf("the second thousand rounds took %d bytes, the first %d", second, first)
	}
}

// fill stores n shown messages in turns of 100.
func fill(t testing.TB, s *Store, id string, n int) {
	t.Helper()
	j := create(t, s, record.Session{ID: id})
	for turn := 1; turn <= n/100; turn++ {
		var rows record.Rows
		for i := (turn - 1) * 100; i < turn*100; i++ {
			m := shown(turn, i, model.User, strings.Repeat("text ", 40))
			hidden := m
			hidden.Conversation, hidden.Shown = "0.1.0", false
			rows.Messages = append(rows.Messages, m, hidden)
		}
		beginTurn(t, j, turn, rows)
		endTurn(t, j, turn, record.Rows{})
	}
	must(t, j.Close())
}

// TestAPageCostsTheSameInALongSession compares the fastest of many reads of the last 50 messages.
func TestAPageCostsTheSameInALongSession(t *testing.T) {
	s := openAt(t, databasePath(t), Options{})
	fill(t, s, "short", 200)
	fill(t, s, "long", 10_000)
	ctx := context.Background()
	fastest := func(id string) time.Duration {
		best := time.Hour
		for range 60 {
			start := time.Now()
			page, err := s.ShownMessages(ctx, id, 0, 50)
			best = min(best, time.Since(start))
			if err != nil || len(page) != 50 {
				t.Fatalf("%d messages: %v", len(page), err)
			}
		}
		return best
	}
	short, long := fastest("short"), fastest("long")
	t.Logf("50 messages of 200: %s, of 10,000: %s", short, long)
	if long > 2*short {
		t.Errorf("50 messages of 10,000 take %s, of 200 %s", long, short)
	}
}

func BenchmarkShownMessages(b *testing.B) {
	s := openAt(b, databasePath(b), Options{})
	for _, n := range []int{200, 10_000} {
		id := fmt.Sprint("s", n)
		fill(b, s, id, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.ShownMessages(context.Background(), id, 0, 50); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBeginFinish compares an execution's two commits (entry, call, message) with two bare
// ones of SQLite: one row of the same size, the same synchronous mode, statements prepared. They
// take turns, so that a busy machine slows both, and their medians are compared. The budget is
// four times NORMAL and one and a half times FULL.
func BenchmarkBeginFinish(b *testing.B) {
	for name, durable := range map[string]bool{"normal": false, "full": true} {
		b.Run(name, func(b *testing.B) {
			bare := bareCommit(b, durable)
			s := openAt(b, databasePath(b), Options{})
			j := create(b, s, record.Session{})
			beginTurn(b, j, 1, record.Rows{})
			var ours, theirs []time.Duration
			for b.Loop() {
				n := len(ours)
				if n%1000 == 0 { // the commit of the reply has stored its calls
					pendingCalls(b, j, n, 1000)
				}
				start := time.Now()
				bare()
				bare()
				middle := time.Now()
				execution(b, j, n, durable)
				theirs, ours = append(theirs, middle.Sub(start)), append(ours, time.Since(middle))
			}
			slices.Sort(ours)
			slices.Sort(theirs)
			median, bareMedian := ours[len(ours)/2], theirs[len(theirs)/2]
			b.ReportMetric(float64(median.Microseconds()), "µs/execution")
			b.ReportMetric(float64(bareMedian.Microseconds()), "µs/bare")
			b.ReportMetric(float64(median)/float64(bareMedian), "ratio")
		})
	}
}

// execution stores the begin and the end of a call's execution.
func execution(b *testing.B, j agent.Journal, n int, durable bool) {
	b.Helper()
	ctx := context.Background()
	e := entry(1, fmt.Sprint("0.", n), 0)
	c := call(1, e.Key.Path, toolrt.StatusRunning)
	must(b, j.Begin(ctx, e, record.Rows{Calls: []record.Call{c}, Durable: durable}))
	e.Result, c.Status = json.RawMessage(`"`+strings.Repeat("x", 400)+`"`), toolrt.StatusSuccess
	m := shown(1, n, model.ToolRole, "done")
	must(b, j.Finish(ctx, e, record.Rows{Messages: []record.Message{m}, Calls: []record.Call{c}, Durable: durable}))
}

func pendingCalls(b *testing.B, j agent.Journal, from, count int) {
	b.Helper()
	var rows record.Rows
	for n := from; n < from+count; n++ {
		rows.Calls = append(rows.Calls, call(1, fmt.Sprint("0.", n), toolrt.StatusPending))
	}
	must(b, j.Finish(context.Background(), entry(1, "0", from), rows))
}

// bareCommit returns a function that commits one row to a database of its own.
func bareCommit(b *testing.B, full bool) func() {
	b.Helper()
	ctx := context.Background()
	params := writerParams()
	params.Set("_journal_mode", "WAL")
	if full {
		params.Set("_synchronous", "FULL")
	}
	path := databasePath(b)
	must(b, createFile(path))
	db := openPool(dsn(path, params))
	conn, err := db.Conn(ctx)
	must(b, err)
	stmts := newStatements(conn)
	b.Cleanup(func() { must(b, errors.Join(stmts.close(), db.Close())) })
	run := func(query string, args ...any) {
		if _, err := stmts.exec(ctx, query, args...); err != nil {
			b.Fatal(err)
		}
	}
	run(`CREATE TABLE bare (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT`)
	body := strings.Repeat("x", 480)
	return func() {
		run("BEGIN IMMEDIATE")
		run("INSERT INTO bare (body) VALUES (?)", body)
		run("COMMIT")
	}
}

// BenchmarkOpen is the warm start: the budget is 2 ms.
func BenchmarkOpen(b *testing.B) {
	path := databasePath(b)
	s := openAt(b, path, Options{})
	fill(b, s, "one", 2000)
	must(b, s.Close())
	for b.Loop() {
		s, err := Open(context.Background(), path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Last(context.Background(), "/work"); err != nil {
			b.Fatal(err)
		}
		must(b, s.Close())
	}
}
