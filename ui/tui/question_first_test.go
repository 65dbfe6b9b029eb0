package tui

import (
	"sync"
	"testing"

	"parley/agent"
)

// Of two answers at once exactly one is taken; the other finds the question gone (A16).
func TestA16FirstAnswerWins(t *testing.T) {
	for range 100 {
		q := NewQuestions()
		placed := make(chan struct{})
		got := make(chan agent.ApprovalAnswer, 1)
		go func() {
			a, err := q.Authorize(t.Context(), agent.ApprovalQuestion{ID: "1", Placed: func() { close(placed) }})
			if err != nil {
				t.Error(err)
			}
			got <- a
		}()
		<-placed
		var both sync.WaitGroup
		for _, allow := range []bool{true, false} {
			both.Go(func() { q.answer("1", agent.ApprovalAnswer{Allow: allow, Note: "late"}) })
		}
		both.Wait()
		first := <-got
		if len(q.list()) != 0 {
			t.Fatal("the question is still open")
		}
		q.answer("1", agent.ApprovalAnswer{Allow: !first.Allow})
	}
}
