package agent_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"parley/agent"
	"parley/agent/model"
)

// circling is a chat whose model makes the calls of the nth round until it is told that it goes
// round in circles end times.
func circling(t *testing.T, end int, round func(n int) model.Reply) *rig {
	t.Helper()
	return newRig(t, "Name: main\nChat: true\nTools: say, count\n\nmain\n---\nName: say\nParam: text: x\n\n#!/bin/sh\necho \"said $TEXT\"\n"+
		"---\nName: count\n\n#!/bin/sh\necho x >> n; wc -l < n\n",
		func(_ context.Context, req model.Request, _ func(model.Delta)) (model.Reply, error) {
			n, told := 0, 0
			for _, m := range req.Messages {
				switch {
				case m.Role == model.Assistant:
					n++
				case m.Role == model.ToolRole && strings.Contains(m.Text(), `"kind":"loop_detected"`):
					told++
				}
			}
			if told >= end {
				return says("stopped circling"), nil
			}
			return round(n), nil
		})
}

// results are the tool messages of the last request.
func results(r *rig) []string {
	asked := r.model.requests()
	var all []string
	for _, m := range asked[len(asked)-1].Messages {
		if m.Role == model.ToolRole {
			all = append(all, strings.TrimSpace(m.Text()))
		}
	}
	return all
}

// Three consecutive replies with an equal call and result: the third is loop_detected (case 55).
func TestCase55EqualCallsAreALoop(t *testing.T) {
	r := circling(t, 1, func(n int) model.Reply {
		if n%2 == 0 {
			return calling(`say {"text": "a"}`)
		}
		return calling(`say {"text":"a" }`, `say {"text":"a"}`) // equal calls of one reply count once
	})
	s := r.open()
	defer r.close(s)
	if resp := r.send(s, "go"); resp.Content != "stopped circling" {
		t.Errorf("got %+v", resp)
	}
	got := results(r)
	if len(got) != 4 || got[2] != "said a" || !strings.HasPrefix(got[3], `{"error":"the call did not run: the same call was made in 2 replies in a row`) {
		t.Errorf("results %q", got)
	}
}

// With changing results nothing is a loop, nor across a message of the person (case 55).
func TestCase55ChangingResultsAreNoLoop(t *testing.T) {
	r := circling(t, 1, func(n int) model.Reply {
		if n < 6 {
			return calling("count {}")
		}
		return says("done")
	})
	s := r.open()
	defer r.close(s)
	if resp := r.send(s, "go"); resp.Content != "done" {
		t.Errorf("got %+v", resp)
	}
}

func TestLoopWindowIsClearedByThePerson(t *testing.T) {
	r := circling(t, 1, func(n int) model.Reply {
		if n%3 < 2 {
			return calling(`say {"text":"a"}`)
		}
		return says("done")
	})
	s := r.open()
	defer r.close(s)
	for range 3 {
		if resp := r.send(s, "again"); resp.Content != "done" {
			t.Errorf("got %+v", resp)
		}
	}
}

// A cycle of two replies is a loop when it is gone through for the third time.
func TestLoopCycle(t *testing.T) {
	r := circling(t, 1, func(n int) model.Reply { return calling(fmt.Sprintf(`say {"text":"%d"}`, n%2)) })
	s := r.open()
	defer r.close(s)
	r.send(s, "go")
	if got := results(r); len(got) != 6 || !strings.Contains(got[5], "the same 2 replies with calls have followed each other 3 times") {
		t.Errorf("results %q", got)
	}
}

// circler answers the question about a loop.
type circler struct {
	mu      sync.Mutex
	asked   []agent.InputQuestion
	answers []map[string]string
}

func (p *circler) Prompt(_ context.Context, q agent.InputQuestion) (agent.InputAnswer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, q)
	if len(p.answers) == 0 {
		return agent.InputAnswer{}, agent.ErrNobody
	}
	values := p.answers[0]
	p.answers = p.answers[1:]
	return agent.InputAnswer{Values: values}, nil
}

// The second loop is put to the person, who lets it go on, steers it with a note, or stops.
func TestLoopSecondHitAsks(t *testing.T) {
	p := &circler{answers: []map[string]string{{"answer": "go on"}, {"answer": "steer", "note": "look in docs/"}}}
	r := circling(t, 2, func(int) model.Reply { return calling(`say {"text":"a"}`) })
	r.change = func(o *agent.Options) { o.Prompter = p }
	s := r.open()
	defer r.close(s)
	if resp := r.send(s, "go"); resp.Content != "stopped circling" {
		t.Errorf("got %+v", resp)
	}
	got := results(r)
	refused := 0
	for _, text := range got {
		if strings.Contains(text, "loop_detected") {
			refused++
		}
	}
	if len(p.asked) != 2 || refused != 2 || !strings.Contains(got[len(got)-1], `"feedback":"look in docs/"`) {
		t.Errorf("asked %d times, results %q", len(p.asked), got)
	}
	if !slices.Equal(p.asked[0].Question.Fields[0].Options, []string{"go on", "steer", "stop"}) {
		t.Errorf("asked %+v", p.asked[0])
	}
}

func TestLoopStoppedByThePerson(t *testing.T) {
	p := &circler{answers: []map[string]string{{"answer": "stop"}}}
	r := circling(t, 9, func(int) model.Reply { return calling(`say {"text":"a"}`) })
	r.change = func(o *agent.Options) { o.Prompter = p }
	s := r.open()
	defer r.close(s)
	r.send(s, "go")
	if status := s.LastStatus(); status != "aborted" || len(p.asked) != 1 {
		t.Errorf("%s after %d questions", status, len(p.asked))
	}
}

// With nobody there the guard warns again, until the limit of rounds ends the turn.
func TestLoopWithoutAPerson(t *testing.T) {
	r := circling(t, 99, func(int) model.Reply { return calling(`say {"text":"a"}`) })
	r.change = func(o *agent.Options) { o.MaxToolRounds = 6 }
	s := r.open()
	defer r.close(s)
	resp := r.send(s, "go")
	if !strings.HasPrefix(resp.Content, "We cannot continue") {
		t.Errorf("got %+v", resp)
	}
	calls, err := r.store.TurnCalls(t.Context(), "s1", 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, c := range calls {
		if c.Error == "loop_detected" {
			n++
		}
	}
	if n < 3 {
		t.Errorf("%d calls were refused", n)
	}
}
