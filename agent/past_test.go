package agent_test

import (
	"testing"

	"parley/agent"
	"parley/agent/model"
)

// A12: the count of past calls that a rule would have matched holds for a chat opened again: calls
// that an earlier process judged count too, and none twice.
func TestA12PastCallsOfAnEarlierProcess(t *testing.T) {
	t.Parallel()
	r, ask := askRig(t, writeProgram, map[string][]model.Reply{"main": {
		calling(`exec {"command":"mktemp -d"}`), says("1"),
		calling(`exec {"command":"mktemp -d"}`), says("2"),
		calling(`exec {"command":"mktemp -d"}`), says("3"),
	}}, allow)
	s := r.open()
	r.send(s, "a")
	r.send(s, "b")
	r.close(s)
	s = r.open()
	r.send(s, "c")
	r.close(s)
	past := func(q agent.ApprovalQuestion) int {
		if len(q.Rules) == 0 {
			t.Fatalf("no rule is offered: %+v", q)
		}
		return q.Rules[0].Past
	}
	for i, q := range ask.asked {
		if got := past(q); got != i {
			t.Errorf("question %d: %d past calls, want %d", i+1, got, i)
		}
	}
	if len(ask.asked) != 3 {
		t.Errorf("%d questions", len(ask.asked))
	}
}
