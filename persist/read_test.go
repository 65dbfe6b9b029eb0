package persist

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"parley/agent"
	"parley/agent/model"
	"parley/agent/record"
	"parley/toolrt"
)

func TestShownMessagesComeInPages(t *testing.T) {
	stores(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		j := create(t, s, record.Session{})
		id := j.Session().ID
		var rows record.Rows
		for i := range 10 {
			inner := shown(1, i, model.Assistant, "inner")
			inner.Conversation, inner.Shown = "0.1.0", false
			rows.Messages = append(rows.Messages, shown(1, i, model.User, fmt.Sprint("m", i)), inner,
				record.Message{Index: i, Turn: 1, Notice: fmt.Sprint("n", i)})
		}
		beginTurn(t, j, 1, rows)
		var got []string
		var before int64
		for {
			page, err := s.ShownMessages(ctx, id, before, 3)
			must(t, err)
			if len(page) == 0 {
				break
			}
			before = page[0].Seq
			var texts []string
			for i, m := range page {
				if i > 0 && m.Seq <= page[i-1].Seq {
					t.Errorf("page is not ascending: %+v", page)
				}
				texts = append(texts, m.Notice+m.Message.Text())
			}
			got = append(texts, got...)
		}
		var want []string
		for i := range 10 {
			want = append(want, fmt.Sprint("m", i), fmt.Sprint("n", i))
		}
		equal(t, "shown", got, want)

		inner, err := s.ConversationMessages(ctx, id, "0.1.0", 0, 2)
		must(t, err)
		equal(t, "inner", inner, []record.Message{rows.Messages[25], rows.Messages[28]})
		inner, err = s.ConversationMessages(ctx, id, "0.1.0", 8, 1)
		must(t, err)
		equal(t, "inner before 8", inner, []record.Message{rows.Messages[22]})
		first, err := j.Messages(ctx, "0.1.0", 2)
		must(t, err)
		equal(t, "first two", first, []record.Message{rows.Messages[1], rows.Messages[4]})
		none, err := j.Messages(ctx, "0.1.0", 0)
		must(t, err)
		equal(t, "first none", len(none), 0)
	})
}

func TestCallsOfTurnsAndReplies(t *testing.T) {
	s := openAt(t, databasePath(t), Options{})
	ctx := context.Background()
	j := create(t, s, record.Session{})
	id := j.Session().ID
	entryCall := record.Call{Path: "0", Turn: 1, Agent: true, Chat: true, Status: toolrt.StatusRunning}
	second := call(1, "0.1.1", toolrt.StatusPending)
	second.Index = 1
	beginTurn(t, j, 1, record.Rows{Calls: []record.Call{entryCall, call(1, "0.1.0", toolrt.StatusPending), second}})
	endTurn(t, j, 1, record.Rows{})
	later := call(2, "0.2.0", toolrt.StatusSuccess)
	later.Round = 2
	entryCall.Result = "still the call of turn 1"
	beginTurn(t, j, 2, record.Rows{Calls: []record.Call{later, entryCall}})

	for _, test := range []struct {
		from, to int
		want     []record.Call
	}{
		{1, 1, []record.Call{entryCall, call(1, "0.1.0", toolrt.StatusPending), second}},
		{2, 2, []record.Call{later}},
		{1, 9, []record.Call{entryCall, call(1, "0.1.0", toolrt.StatusPending), second, later}},
		{3, 9, nil},
	} {
		got, err := s.TurnCalls(ctx, id, test.from, test.to)
		must(t, err)
		equal(t, fmt.Sprint("calls of turns ", test.from, " to ", test.to), got, test.want)
	}
	got, err := s.CallsOfMessage(ctx, id, "0", 1)
	must(t, err)
	equal(t, "calls of the first reply", got, []record.Call{call(1, "0.1.0", toolrt.StatusPending), second})
	turn, err := s.Turn(ctx, id, 1)
	must(t, err)
	equal(t, "status of turn 1", turn.Status, record.TurnDone)
	for what, err := range map[string]error{
		"call":    second2(s.Call(ctx, id, "9")),
		"turn":    second2(s.Turn(ctx, id, 3)),
		"session": second2(s.ShownMessages(ctx, "none", 0, 1)),
	} {
		if !errors.Is(err, agent.ErrNotFound) {
			t.Errorf("unknown %s: %v, want ErrNotFound", what, err)
		}
	}
}

func second2[T any](_ T, err error) error { return err }

func TestSessionsAreListedByUse(t *testing.T) {
	now := at
	s := openAt(t, databasePath(t), Options{Now: func() time.Time { return now }})
	ctx := context.Background()
	for i := range 7 {
		now = now.Add(time.Duration(i%2) * time.Second) // some at the same instant
		row := record.Session{ID: fmt.Sprint("s", i), Title: fmt.Sprint("Title 100% ", i), Dir: fmt.Sprint("/d", i%2)}
		must(t, create(t, s, row).Close())
	}
	now = now.Add(time.Second)
	j := reopen(t, s, "s1")
	beginTurn(t, j, 1, record.Rows{})

	var got []string
	var last *record.Session
	for {
		page, err := s.Sessions(ctx, Query{Limit: 2, Before: last})
		must(t, err)
		if len(page) == 0 {
			break
		}
		for _, row := range page {
			got = append(got, row.ID)
		}
		last = &page[len(page)-1]
	}
	equal(t, "order", got, []string{"s1", "s6", "s5", "s4", "s3", "s2", "s0"})
	for _, test := range []struct {
		query Query
		want  int
	}{
		{Query{Dir: "/d0"}, 4}, {Query{Dir: "/d"}, 0}, {Query{Text: "title 100% 3"}, 1}, {Query{Text: "100_"}, 0},
		{Query{Text: "S2"}, 1}, {Query{Text: "question"}, 0},
	} {
		list, err := s.Sessions(ctx, test.query)
		must(t, err)
		if len(list) != test.want {
			t.Errorf("%+v gives %d, want %d", test.query, len(list), test.want)
		}
	}
	row, err := s.Last(ctx, "/d0")
	must(t, err)
	equal(t, "last in /d0", row.ID, "s6")
}

func TestNamesAreUnique(t *testing.T) {
	s := openAt(t, databasePath(t), Options{})
	ctx := context.Background()
	a, b := create(t, s, record.Session{ID: "a", Name: "n"}), create(t, s, record.Session{ID: "b"})
	if _, err := s.Create(ctx, record.Session{Name: "n"}); !errors.Is(err, ErrNameTaken) {
		t.Errorf("create: %v, want ErrNameTaken", err)
	}
	if err := s.Rename(ctx, "b", "t", "n"); !errors.Is(err, ErrNameTaken) {
		t.Errorf("rename: %v, want ErrNameTaken", err)
	}
	must(t, s.Rename(ctx, "b", "t", "m"))
	equal(t, "name in the open journal", b.Session().Name, "m")
	must(t, a.Close())
	must(t, s.Rename(ctx, "a", "title", ""))
	row, err := s.Session(ctx, "a")
	must(t, err)
	if row.Name != "" || row.Title != "title" {
		t.Errorf("row %+v", row)
	}
	if _, err := s.Session(ctx, ""); !errors.Is(err, agent.ErrNotFound) {
		t.Errorf("session without a name: %v, want ErrNotFound", err)
	}
	for _, id := range []string{"../x", "a/b", "a b", "", "ö"} {
		if id == "" {
			continue // is given one
		}
		if _, err := s.Create(ctx, record.Session{ID: id}); err == nil {
			t.Errorf("id %q was taken", id)
		}
	}
}

func TestTruthfulStates(t *testing.T) {
	s := openAt(t, databasePath(t), Options{})
	ctx := context.Background()
	for state, want := range map[record.SessionState]record.SessionState{
		record.StateIdle: record.StateIdle, record.StateRun: record.StateStop, record.StateAsk: record.StateStop,
		record.StateCred: record.StateCred, record.StateErr: record.StateErr, record.StateDone: record.StateDone,
	} {
		j := create(t, s, record.Session{ID: string(state)})
		row := j.Session()
		row.State = state
		must(t, j.SaveSession(ctx, row))
		open, err := s.Session(ctx, row.ID)
		must(t, err)
		equal(t, "state while open", open.State, state)
		must(t, j.Close())
		left, err := s.Session(ctx, row.ID)
		must(t, err)
		equal(t, "state "+string(state)+" left", left.State, want)
	}
}

// Usage is added up by agent, by model and by tool.
func TestSpent(t *testing.T) {
	s := openAt(t, databasePath(t), Options{})
	ctx := context.Background()
	j := create(t, s, record.Session{})
	reply := func(i, tokens int) record.Message {
		m := shown(1, i, model.Assistant, "a")
		m.Agent, m.Model = "planner", "offline/parley"
		m.Message.Usage = &model.Usage{PromptTokens: tokens - 1, CompletionTokens: 1, TotalTokens: tokens}
		return m
	}
	failed := call(1, "0.1.1", toolrt.StatusFailed)
	failed.Started, failed.Finished = time.UnixMilli(1000), time.UnixMilli(3500)
	done := call(1, "0.1.0", toolrt.StatusSuccess)
	done.Started, done.Finished = time.UnixMilli(1000), time.UnixMilli(2000)
	beginTurn(t, j, 1, record.Rows{Messages: []record.Message{shown(1, 0, model.User, "q"), reply(1, 10), reply(2, 5)}, Calls: []record.Call{done, failed}})
	got, err := s.Spent(ctx, j.Session().ID)
	must(t, err)
	sum := model.Usage{PromptTokens: 13, CompletionTokens: 2, TotalTokens: 15}
	equal(t, "spent", got, []record.Spent{
		{By: record.SpentAgent, Name: "planner", Count: 2, Usage: sum},
		{By: record.SpentModel, Name: "offline/parley", Count: 2, Usage: sum},
		{By: record.SpentTool, Name: done.Tool, Count: 2, Failed: 1, Time: 3500 * time.Millisecond},
	})
}
