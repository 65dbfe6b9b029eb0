package persist

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"parley/agent/model"
	"parley/agent/record"
	"parley/toolrt"
)

func TestSearchFindsWords(t *testing.T) {
	stores(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		j := create(t, s, record.Session{ID: "one", Dir: "/a"})
		calling := shown(1, 1, model.Assistant, "I look.")
		calling.Message.Content = append(calling.Message.Content, model.Part{ToolCall: &model.ToolCall{
			Function: model.Function{Name: "read", Arguments: `{"file":"budget.txt"}`},
		}})
		beginTurn(t, j, 1, record.Rows{Messages: []record.Message{shown(1, 0, model.User, "Où est le café?\n\"quoted\" NEAR AND (x"), calling}})
		none, err := s.Search(ctx, SearchQuery{Text: "cafe"})
		must(t, err)
		equal(t, "hits inside the turn", len(none), 0)
		endTurn(t, j, 1, record.Rows{})
		other := create(t, s, record.Session{ID: "two", Dir: "/b"})
		beginTurn(t, other, 1, record.Rows{Messages: []record.Message{shown(1, 0, model.User, strings.Repeat("ü ", 200)+"the cafe again"+strings.Repeat(" and", 200))}})
		endTurn(t, other, 1, record.Rows{})

		for _, test := range []struct {
			query SearchQuery
			want  []string
		}{
			{SearchQuery{Text: "CAFE"}, []string{"two/0", "one/0"}},
			{SearchQuery{Text: "café ou"}, []string{"one/0"}},
			{SearchQuery{Text: "caf"}, []string{"two/0", "one/0"}},
			{SearchQuery{Text: "caf le"}, nil},
			{SearchQuery{Text: "budget.txt"}, []string{"one/1"}},
			{SearchQuery{Text: `"quoted" NEAR AND (x`}, []string{"one/0"}},
			{SearchQuery{Text: `body:x* OR "`}, nil},
			{SearchQuery{Text: "  ?! "}, nil},
			{SearchQuery{Text: "cafe", Dir: "/b"}, []string{"two/0"}},
			{SearchQuery{Text: "cafe", Session: "one"}, []string{"one/0"}},
			{SearchQuery{Text: "cafe", Limit: 1}, []string{"two/0"}},
		} {
			hits, err := s.Search(ctx, test.query)
			must(t, err)
			var got []string
			for _, hit := range hits {
				got = append(got, fmt.Sprint(hit.Session.ID, "/", hit.Message.Index))
			}
			equal(t, fmt.Sprintf("%+v", test.query), got, test.want)
		}
		hits, err := s.Search(ctx, SearchQuery{Text: "cafe again"})
		must(t, err)
		snippet := hits[0].Snippet
		if !strings.Contains(snippet, "the cafe again and") || !strings.HasPrefix(snippet, "…") ||
			!strings.HasSuffix(snippet, "…") || len([]rune(snippet)) > snippetRunes+2 {
			t.Errorf("snippet %q", snippet)
		}
		list, err := s.Sessions(ctx, Query{Text: "budget", Messages: true})
		must(t, err)
		if len(list) != 1 || list[0].ID != "one" {
			t.Errorf("sessions with the word: %+v", list)
		}
		must(t, s.Delete(ctx, "one"))
		hits, err = s.Search(ctx, SearchQuery{Text: "budget"})
		must(t, err)
		equal(t, "hits in the bin", len(hits), 0)
	})
}

func TestSearchForgetsWhatALaterTurnReplaced(t *testing.T) {
	s := openAt(t, databasePath(t), Options{})
	ctx := context.Background()
	j := create(t, s, record.Session{})
	for number, word := range []string{"apple", "pear"} {
		beginTurn(t, j, number+1, record.Rows{Messages: []record.Message{shown(number+1, 0, model.User, word)}})
		endTurn(t, j, number+1, record.Rows{})
	}
	for word, want := range map[string]int{"apple": 0, "pear": 1} {
		hits, err := s.Search(ctx, SearchQuery{Text: word})
		must(t, err)
		equal(t, word, len(hits), want)
	}
}

func TestHistoryComesInPages(t *testing.T) {
	s := openAt(t, databasePath(t), Options{})
	ctx := context.Background()
	var want []string
	for _, id := range []string{"one", "two"} {
		j := create(t, s, record.Session{ID: id})
		for number := 1; number <= 3; number++ {
			failed := call(number, fmt.Sprint(number, ".1"), toolrt.StatusFailed)
			failed.Tool, failed.Result = "sys.read", "No such File"
			beginTurn(t, j, number, record.Rows{Calls: []record.Call{
				{Path: fmt.Sprint(number), Turn: number, Agent: true},
				call(number, fmt.Sprint(number, ".0"), toolrt.StatusSuccess), failed,
			}})
			endTurn(t, j, number, record.Rows{})
			want = append([]string{fmt.Sprint(id, " ", number, ".1"), fmt.Sprint(id, " ", number, ".0")}, want...)
		}
	}
	pages := func(q HistoryQuery) (got []string) {
		for {
			page, err := s.History(ctx, q)
			must(t, err)
			for _, e := range page {
				got = append(got, e.Session+" "+e.Path)
			}
			if len(page) == 0 {
				return got
			}
			q.Before = &page[len(page)-1]
		}
	}
	equal(t, "all", pages(HistoryQuery{Limit: 4}), want)
	equal(t, "of one", pages(HistoryQuery{Session: "one", Limit: 4}), want[6:])
	equal(t, "with agents", len(pages(HistoryQuery{Agents: true})), 18)
	equal(t, "failed", len(pages(HistoryQuery{Status: toolrt.StatusFailed, Text: "such f"})), 6)
	equal(t, "of a tool", len(pages(HistoryQuery{Tool: "sys.exec", Session: "two"})), 3)
	must(t, s.Delete(ctx, "one"))
	equal(t, "without the bin", pages(HistoryQuery{}), want[:6])
}

func TestForkCopiesTheTurnsUpToAPlace(t *testing.T) {
	stores(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		j := create(t, s, record.Session{ID: "from", Name: "n", Title: "Title", Model: "m", Workspace: "/w"})
		agentCall := record.Call{Path: "0", Turn: 1, Agent: true, Status: toolrt.StatusRunning, Created: at}
		var ends []int64
		for number := 1; number <= 3; number++ {
			index := 2 * (number - 1)
			beginTurn(t, j, number, record.Rows{
				Messages: []record.Message{shown(number, index, model.User, fmt.Sprint("q", number))},
				Texts:    []record.Text{{Hash: "h", Body: "text"}},
			})
			e := entry(number, fmt.Sprint("0.", number, ".0"), 0)
			e.Result = json.RawMessage(`{}`)
			reply := record.Rows{
				Messages:  []record.Message{shown(number, index+1, model.Assistant, fmt.Sprint("a", number))},
				Calls:     []record.Call{agentCall, call(number, e.Key.Path, toolrt.StatusSuccess)},
				Approvals: []record.Approval{{Turn: number, Path: e.Key.Path}},
				CostMicro: 5,
			}
			must(t, j.Finish(ctx, e, reply))
			ends = append(ends, max(e.Seq, reply.Messages[0].Seq))
			endTurn(t, j, number, record.Rows{})
		}
		ended := agentCall
		ended.Status, ended.Result, ended.Finished = toolrt.StatusSuccess, "bye", at.Add(1)
		ended.Finished = at.Add(1000000000)
		beginTurn(t, j, 4, record.Rows{Calls: []record.Call{ended}}) // open: never copied

		for _, test := range []struct {
			name  string
			seq   int64
			turns int
			draft string
		}{
			{"end", 0, 3, ""},
			{"end of turn 2", ends[1], 2, ""},
			{"inside turn 2", ends[1] - 1, 1, "question 2"},
			{"inside turn 1", 1, 0, "question 1"},
			{"beyond", 1 << 40, 3, "question 4"},
		} {
			t.Run(test.name, func(t *testing.T) {
				fork, err := s.Fork(ctx, "from", test.seq, record.Session{Mode: "plan"})
				must(t, err)
				defer fork.Close()
				row := fork.Session()
				if row.Turns != test.turns || row.Draft != test.draft || row.Calls != test.turns || row.Parent != "from" ||
					row.Title != "Title" || row.Name != "" || row.Mode != "plan" || row.CostMicro != 0 || row.State != record.StateIdle {
					t.Errorf("row %+v", row)
				}
				messages, err := s.ShownMessages(ctx, row.ID, 0, 100)
				must(t, err)
				original, err := s.ShownMessages(ctx, "from", 0, 100)
				must(t, err)
				if len(messages) != 2*test.turns {
					t.Fatalf("%d messages", len(messages))
				}
				for i := range messages {
					equal(t, "message", messages[i], original[i])
				}
				calls, err := s.TurnCalls(ctx, row.ID, 1, 9)
				must(t, err)
				if test.turns > 0 && (len(calls) != test.turns+1 || calls[0].Status != toolrt.StatusRunning || calls[0].Result != "") {
					t.Errorf("calls %+v", calls)
				}
				entries, err := fork.Entries(ctx, 1)
				must(t, err)
				equal(t, "entries of turn 1", len(entries), min(test.turns, 1))
				rows := record.Rows{Messages: []record.Message{shown(test.turns+1, 2*test.turns, model.User, "new")}}
				beginTurn(t, fork, test.turns+1, rows)
				if test.turns > 0 && rows.Messages[0].Seq <= ends[test.turns-1] {
					t.Errorf("the fork goes on at %d", rows.Messages[0].Seq)
				}
			})
		}
	})
}
