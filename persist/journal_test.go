package persist

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"parley/agent"
	"parley/agent/model"
	"parley/agent/record"
	"parley/toolrt"
)

// stores runs a test on a file and in memory: the same code must do both.
func stores(t *testing.T, test func(t *testing.T, s *Store)) {
	t.Run("file", func(t *testing.T) { test(t, openAt(t, databasePath(t), Options{})) })
	t.Run("memory", func(t *testing.T) { test(t, openAt(t, "", Options{Memory: true})) })
}

func TestRowsComeBackAsTheyWere(t *testing.T) {
	stores(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		j := create(t, s, record.Session{Name: "n", Program: "/p.gpt", Model: "offline/demo", Mode: "ask"})
		id := j.Session().ID
		exit := 3
		arguments := `{"a":1}`
		full := record.Call{
			Path: "0.1.0", Parent: "0", Turn: 1, Label: "1.1", Round: 1, Index: 0, WireID: "call_1", Tool: "sys.exec",
			ToolID: "sys.exec:1", Agent: true, Chat: true, Category: "context", Display: "Running `ls`",
			Input: "bytes \x00 \xff <&>", Status: toolrt.StatusFailed, Result: "text\x00more", Error: "timeout",
			Decision: &toolrt.Decision{Allow: true, By: "user", Scope: "once", Arguments: &arguments, At: at, Wait: time.Second},
			ExitCode: &exit, Truncated: true, OutputBytes: 1 << 40, OutputLines: 7, OutputID: "o-1",
			Created: at, Started: at.Add(time.Millisecond), Finished: at.Add(time.Second),
			Usage: model.Usage{PromptTokens: 1, CompletionTokens: 2, TotalTokens: 3, CachedTokens: 4, ReasoningTokens: 5},
		}
		bare := record.Call{Path: "0", Turn: 1, Status: toolrt.StatusRunning}
		message := record.Message{
			Conversation: "0", Index: 0, Turn: 1, Agent: "helper", Shown: true, Label: "1.", Time: at, Model: "offline/demo",
			Message: model.Message{Role: model.Assistant, Content: []model.Part{{Text: "<b>hi</b> & 'ö' ‹x›\n"}}},
		}
		notice := record.Message{Index: 0, Turn: 1, Shown: true, Time: at, Notice: "now with @tester, for @planner"}
		turn := record.Turn{
			Session: id, Number: 1, Input: "do\nit", Program: "hash1", Model: "offline/demo", Version: 2,
			Base: json.RawMessage(`{"a":null}`), Started: at,
		}
		must(t, j.BeginTurn(ctx, turn, record.Rows{
			Messages: []record.Message{message, notice}, Calls: []record.Call{bare, full},
			Texts: []record.Text{{Hash: "hash1", Body: "the program"}},
		}))
		turn.Status, turn.State, turn.Output, turn.Error, turn.Finished = record.TurnFailed, json.RawMessage(`{}`), "o", "e", at.Add(time.Hour)
		must(t, j.EndTurn(ctx, turn, record.Rows{}))

		gotTurn, err := j.LastTurn(ctx)
		must(t, err)
		equal(t, "turn", gotTurn, turn)
		gotCalls, err := j.Calls(ctx, 1)
		must(t, err)
		equal(t, "calls", gotCalls, []record.Call{bare, full})
		gotCall, err := s.Call(ctx, id, full.Path)
		must(t, err)
		equal(t, "call", gotCall, full)
		message.Seq, notice.Seq = 1, 2
		gotMessages, err := j.Messages(ctx, "0", -1)
		must(t, err)
		equal(t, "messages", gotMessages, []record.Message{message})
		gotShown, err := s.ShownMessages(ctx, id, 0, 10)
		must(t, err)
		equal(t, "shown", gotShown, []record.Message{message, notice})
		text, err := j.Text(ctx, "hash1")
		must(t, err)
		equal(t, "text", text, "the program")
		if _, err := j.Text(ctx, "other"); !errors.Is(err, agent.ErrNotFound) {
			t.Errorf("unknown text: %v, want ErrNotFound", err)
		}

		row := j.Session()
		if row.State != record.StateErr || row.Turns != 1 || row.Calls != 1 || row.Title != "do" {
			t.Errorf("session %+v", row)
		}
		stored, err := s.Session(ctx, "n")
		must(t, err)
		equal(t, "session", stored, row)
	})
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

func TestEntryPassesFromBegunToFinished(t *testing.T) {
	stores(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		j := create(t, s, record.Session{})
		beginTurn(t, j, 1, record.Rows{})
		first, second := entry(1, "0", 0), entry(1, "0.1.0", 0)
		must(t, j.Begin(ctx, first, record.Rows{}))
		must(t, j.Begin(ctx, second, record.Rows{}))

		entries, err := j.Entries(ctx, 1)
		must(t, err)
		equal(t, "begun", entries, []record.Entry{*first, *second})
		if !entries[0].InDoubt() || first.Seq >= second.Seq {
			t.Errorf("begun entries %+v", entries)
		}

		again := entry(1, "0", 0) // begun anew after a crash, by a process that knows no seq
		again.Hash, again.Repeatable = "h2", true
		must(t, j.Begin(ctx, again, record.Rows{}))
		equal(t, "seq of the entry begun anew", again.Seq, first.Seq)

		again.Result, again.Ended = json.RawMessage(`"ok"`), at
		must(t, j.Finish(ctx, again, record.Rows{}))
		answer := entry(1, "0", 1) // not begun: an answer
		answer.Kind, answer.Result, answer.Ended = record.EntryPrompt, json.RawMessage(`{}`), at
		must(t, j.Finish(ctx, answer, record.Rows{}))
		entries, err = j.Entries(ctx, 1)
		must(t, err)
		equal(t, "finished", entries, []record.Entry{*again, *second, *answer})
		if !answer.Finished || answer.Seq <= second.Seq {
			t.Errorf("answer %+v", answer)
		}
		if err := j.Begin(ctx, again, record.Rows{}); !errors.Is(err, ErrRecorded) {
			t.Errorf("begin of a finished entry: %v, want ErrRecorded", err)
		}
		if err := j.Begin(ctx, entry(2, "0", 0), record.Rows{}); err == nil {
			t.Error("an entry of a turn that does not exist was stored")
		}
	})
}

func TestD01TurnWalkedAgainWritesNothingTwice(t *testing.T) {
	stores(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		j := create(t, s, record.Session{})
		id := j.Session().ID
		decision := toolrt.Decision{Allow: true, By: "user", At: at}
		beginTurn(t, j, 1, record.Rows{})
		walk := func(reply string) record.Rows {
			e := entry(1, "0", 0)
			e.Result = json.RawMessage(`{}`)
			rows := record.Rows{
				Messages:  []record.Message{shown(1, 0, model.User, "q"), shown(1, 1, model.Assistant, reply)},
				Calls:     []record.Call{call(1, "0.1.0", toolrt.StatusSuccess), call(1, "0.1.1", toolrt.StatusPending)},
				Approvals: []record.Approval{{Turn: 1, Path: "0.1.0", Tool: "sys.exec", ArgsHash: "a", Decision: decision}},
				Texts:     []record.Text{{Hash: "x", Body: "body"}},
				Usage:     model.Usage{TotalTokens: 5}, CostMicro: 7, Context: 11,
			}
			must(t, j.Finish(ctx, e, rows))
			return rows
		}
		before := walk("first")
		must(t, j.Close())
		j = reopen(t, s, id)
		after := walk("second")

		equal(t, "places", []int64{after.Messages[0].Seq, after.Messages[1].Seq, after.Approvals[0].ID},
			[]int64{before.Messages[0].Seq, before.Messages[1].Seq, before.Approvals[0].ID})
		messages, err := s.ShownMessages(ctx, id, 0, 10)
		must(t, err)
		equal(t, "messages", messages, after.Messages)
		calls, err := s.TurnCalls(ctx, id, 1, 1)
		must(t, err)
		equal(t, "calls", calls, after.Calls)
		row := j.Session()
		if row.Calls != 2 || row.Usage.TotalTokens != 5 || row.CostMicro != 7 || row.Context != 11 {
			t.Errorf("counted twice: %+v", row)
		}
		equal(t, "counts", counts(t, s), map[string]int{"approvals": 1, "texts": 1, "session_texts": 1, "journal": 1})
	})
}

func counts(t *testing.T, s *Store) map[string]int {
	t.Helper()
	got := make(map[string]int)
	for _, table := range []string{"approvals", "texts", "session_texts", "journal"} {
		n, _, err := viewRow(context.Background(), s, `SELECT count(*) FROM `+table, nil,
			func(row scanner) (n int, err error) { return n, row.Scan(&n) })
		must(t, err)
		got[table] = n
	}
	return got
}

func TestTurnsAreNumbered(t *testing.T) {
	s := openAt(t, databasePath(t), Options{})
	ctx := context.Background()
	j := create(t, s, record.Session{})
	if _, err := j.LastTurn(ctx); !errors.Is(err, agent.ErrNotFound) {
		t.Errorf("last turn of a new session: %v, want ErrNotFound", err)
	}
	if err := j.BeginTurn(ctx, record.Turn{Number: 2}, record.Rows{}); err == nil {
		t.Error("turn 2 began before turn 1")
	}
	beginTurn(t, j, 1, record.Rows{})
	if got := j.Session().State; got != record.StateRun {
		t.Errorf("state %q inside a turn, want run", got)
	}
	if err := j.BeginTurn(ctx, record.Turn{Number: 1}, record.Rows{}); err == nil {
		t.Error("turn 1 began twice")
	}
	endTurn(t, j, 1, record.Rows{})
	if err := j.EndTurn(ctx, record.Turn{Number: 1, Status: record.TurnAborted}, record.Rows{}); !errors.Is(err, agent.ErrNotFound) {
		t.Errorf("turn 1 ended twice: %v, want ErrNotFound", err)
	}
}

func TestEndOfTurnSetsTheState(t *testing.T) {
	s := openAt(t, "", Options{Memory: true})
	for i, test := range []struct {
		status record.TurnStatus
		state  string
		want   record.SessionState
	}{
		{record.TurnDone, `{}`, record.StateIdle},
		{record.TurnDone, "", record.StateDone},
		{record.TurnAborted, `{}`, record.StateIdle},
		{record.TurnAborted, "", record.StateIdle},
		{record.TurnInterrupted, `{}`, record.StateIdle},
		{record.TurnFailed, `{}`, record.StateErr},
	} {
		t.Run(fmt.Sprint(test.status, test.state), func(t *testing.T) {
			j := create(t, s, record.Session{ID: fmt.Sprint("s", i)})
			beginTurn(t, j, 1, record.Rows{})
			turn := record.Turn{Number: 1, Status: test.status}
			if test.state != "" {
				turn.State = json.RawMessage(test.state)
			}
			must(t, j.EndTurn(context.Background(), turn, record.Rows{}))
			equal(t, "state", j.Session().State, test.want)
		})
	}
}

func TestSaveSessionWritesWhatIsNotDerived(t *testing.T) {
	s := openAt(t, databasePath(t), Options{})
	ctx := context.Background()
	j := create(t, s, record.Session{Title: "old"})
	beginTurn(t, j, 1, record.Rows{Usage: model.Usage{TotalTokens: 9}})
	row := j.Session()
	row.Title, row.State, row.Model, row.Mode, row.Agent = "new", record.StateAsk, "m", "plan", "tester"
	row.Draft, row.Queue, row.Panel = "half a wo", []string{"one", "two"}, `{"open":true}`
	row.Turns, row.Usage, row.Calls = 77, model.Usage{}, 88 // derived: must not count
	must(t, j.SaveSession(ctx, row))
	row.Queue[0] = "changed by the caller"
	stored, err := s.Session(ctx, row.ID)
	must(t, err)
	if stored.Turns != 1 || stored.Usage.TotalTokens != 9 || stored.Calls != 0 {
		t.Errorf("derived fields were written: %+v", stored)
	}
	equal(t, "queue", stored.Queue, []string{"one", "two"})
	got := j.Session()
	for _, r := range []record.Session{stored, got} {
		if r.Title != "new" || r.State != record.StateAsk || r.Model != "m" || r.Mode != "plan" || r.Agent != "tester" ||
			r.Draft != "half a wo" || r.Queue[0] != "one" || r.Panel != `{"open":true}` {
			t.Errorf("row %+v", r)
		}
	}
}

func TestLaterTurnTakesUpAConversationEarlier(t *testing.T) {
	s := openAt(t, databasePath(t), Options{})
	ctx := context.Background()
	j := create(t, s, record.Session{})
	beginTurn(t, j, 1, record.Rows{Messages: []record.Message{shown(1, 0, model.User, "a"), shown(1, 1, model.Assistant, "b")}})
	endTurn(t, j, 1, record.Rows{})
	rows := record.Rows{Messages: []record.Message{shown(2, 0, model.User, "c")}}
	beginTurn(t, j, 2, rows)
	if rows.Messages[0].Seq != 3 {
		t.Errorf("seq %d, want a new place", rows.Messages[0].Seq)
	}
	first, err := j.Messages(ctx, "0", 1)
	must(t, err)
	equal(t, "first message", first, rows.Messages)
}

func TestParallelWritesAllArrive(t *testing.T) {
	stores(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		j := create(t, s, record.Session{})
		beginTurn(t, j, 1, record.Rows{})
		const writers = 1000
		var group sync.WaitGroup
		errs := make([]error, writers)
		for i := range writers {
			group.Go(func() {
				e := entry(1, fmt.Sprint("0.1.", i), 0)
				if errs[i] = j.Begin(ctx, e, record.Rows{Durable: i%10 == 0}); errs[i] != nil {
					return
				}
				e.Result = json.RawMessage(`{}`)
				errs[i] = j.Finish(ctx, e, record.Rows{
					Messages: []record.Message{shown(1, i, model.ToolRole, "r")},
					Calls:    []record.Call{call(1, e.Key.Path, toolrt.StatusSuccess)},
					Usage:    model.Usage{TotalTokens: 1},
				})
			})
		}
		group.Wait()
		must(t, errors.Join(errs...))
		entries, err := j.Entries(ctx, 1)
		must(t, err)
		seen := make(map[int64]bool)
		for _, e := range entries {
			seen[e.Seq] = e.Finished
		}
		if row := j.Session(); len(seen) != writers || row.Calls != writers || row.Usage.TotalTokens != writers {
			t.Errorf("%d entries, session %+v", len(seen), row)
		}
		stored, err := s.Session(ctx, j.Session().ID)
		must(t, err)
		equal(t, "stored usage", stored.Usage, j.Session().Usage)
	})
}

func TestOneFailedWriteTakesNoOtherWithIt(t *testing.T) {
	s := openAt(t, databasePath(t), Options{})
	ctx := context.Background()
	j := create(t, s, record.Session{})
	beginTurn(t, j, 1, record.Rows{})
	blocked, release := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() { // keeps the writer busy until all others wait together
		err := s.write(ctx, &request{run: func(context.Context, *statements) error {
			close(blocked)
			<-release
			return nil
		}})
		if err != nil {
			t.Error(err)
		}
	})
	<-blocked
	errs := make([]error, 6)
	for i := range errs {
		group.Go(func() {
			turn := 1 + i%2 // turn 2 does not exist
			errs[i] = j.Begin(ctx, entry(turn, fmt.Sprint(i), 0), record.Rows{Calls: []record.Call{call(turn, fmt.Sprint(i), toolrt.StatusRunning)}})
		})
	}
	waitFor(t, s.writer, len(errs))
	close(release)
	group.Wait()
	for i, err := range errs {
		if (err != nil) != (i%2 == 1) {
			t.Errorf("write %d: %v", i, err)
		}
	}
	calls, err := s.TurnCalls(ctx, j.Session().ID, 0, 9)
	must(t, err)
	if len(calls) != 3 || j.Session().Calls != 3 {
		t.Errorf("%d calls stored, session counts %d, want 3", len(calls), j.Session().Calls)
	}
}

// waitFor returns when n requests wait.
func waitFor(t *testing.T, w *writer, n int) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for time.Now().Before(deadline) {
		w.mu.Lock()
		waiting := len(w.queue)
		w.mu.Unlock()
		if waiting == n {
			return
		}
	}
	t.Fatalf("%d requests do not wait", n)
}

func TestCancelledWriteIsNotWritten(t *testing.T) {
	s := openAt(t, databasePath(t), Options{})
	j := create(t, s, record.Session{})
	beginTurn(t, j, 1, record.Rows{})
	blocked, release := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		_ = s.write(context.Background(), &request{run: func(context.Context, *statements) error {
			close(blocked)
			<-release
			return nil
		}})
	})
	<-blocked
	ctx, cancel := context.WithCancelCause(context.Background())
	reason := errors.New("esc")
	var got error
	var waiting sync.WaitGroup
	waiting.Go(func() { got = j.Begin(ctx, entry(1, "0", 0), record.Rows{}) })
	waitFor(t, s.writer, 1)
	cancel(reason)
	waiting.Wait()
	close(release)
	group.Wait()
	if !errors.Is(got, reason) {
		t.Errorf("got %v, want the cause", got)
	}
	entries, err := j.Entries(context.Background(), 1)
	must(t, err)
	if len(entries) != 0 {
		t.Errorf("a cancelled begin was stored: %+v", entries)
	}
}
