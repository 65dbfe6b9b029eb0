package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"parley/agent"
	"parley/agent/model"
	"parley/agent/record"
)

const longChat = "Chat: true\nTools: big\n\nYou are the talker.\n\n---\nName: big\nDescription: Prints much\n\n" +
	"#!/bin/sh\nhead -c 40000 /dev/zero | tr '\\0' x\n"

// window is a model's window: it refuses requests that are larger, sums up when asked to, and
// answers everything else by a function.
type window struct {
	tokens  int
	summary func(text string) (model.Reply, error)
	answer  func(req model.Request) model.Reply
	sums    []string // what was to be summed up
	largest int
}

func (w *window) Stream(_ context.Context, req model.Request, _ func(model.Delta)) (model.Reply, error) {
	size := 0
	for _, m := range req.Messages {
		size += len(m.Text())/4 + 8
	}
	if w.tokens > 0 && size > w.tokens {
		return model.Reply{}, &model.Error{Status: 400, Message: "maximum context length exceeded", Overflow: true}
	}
	w.largest = max(w.largest, size)
	if strings.HasPrefix(req.Messages[0].Text(), "You sum up") {
		text := req.Messages[len(req.Messages)-1].Text()
		w.sums = append(w.sums, text)
		return w.summary(text)
	}
	return w.answer(req), nil
}

func shortSummary(string) (model.Reply, error) { return says("They talked about boats."), nil }

func echo(req model.Request) model.Reply {
	return says("about " + req.Messages[len(req.Messages)-1].Text() + strings.Repeat(" word", 400))
}

func lastRequest(r *rig) model.Request { all := r.model.requests(); return all[len(all)-1] }

func TestCompactionSumsUpAtTheWindowsEndAndKeepsTheLastTurns(t *testing.T) {
	w := &window{tokens: 8_000, summary: shortSummary, answer: echo}
	r := newRig(t, longChat, w.Stream)
	r.model.window = 8_000
	r.change = func(o *agent.Options) { o.Compaction.KeepTokens = 2_000 }
	s := r.open()
	for i := range 12 {
		r.send(s, fmt.Sprintf("message %d", i))
	}
	if len(w.sums) == 0 {
		t.Fatal("nothing was summed up")
	}
	req := lastRequest(r)
	r.wellFormed(req)
	if got := req.Messages[1].Text(); !strings.Contains(got, "They talked about boats.") {
		t.Errorf("the request begins with %q", got)
	}
	if got := line(req.Messages[len(req.Messages)-1]); got != "user: message 11" {
		t.Errorf("the request ends with %q", got)
	}
	all := r.conversation("1")
	for i := range 12 {
		if !strings.Contains(all, fmt.Sprintf("user: message %d", i)) {
			t.Errorf("message %d is gone from the conversation", i)
		}
	}
	before := len(w.sums)
	r.close(s)

	// The next process goes on with the same summary.
	s = r.open()
	r.send(s, "message 12")
	if req := lastRequest(r); !strings.Contains(req.Messages[1].Text(), "They talked about boats.") || len(w.sums) > before+1 {
		t.Errorf("after coming back it was summed up %d more times; the request begins with %q", len(w.sums)-before, req.Messages[1].Text())
	}
	r.close(s)
}

func TestCompactionAskedForTakesTheHintAndIsNoMessage(t *testing.T) {
	w := &window{summary: shortSummary, answer: echo}
	r := newRig(t, longChat, w.Stream)
	r.change = func(o *agent.Options) { o.Compaction.KeepTokens = 100 }
	s := r.open()
	defer r.close(s)
	if _, err := s.Compact(t.Context(), ""); err == nil {
		t.Error("an empty chat was summed up")
	}
	for i := range 4 {
		r.send(s, fmt.Sprintf("message %d", i))
	}
	before := r.conversation("1")
	if _, err := s.Compact(t.Context(), "the colour of the boat"); err != nil {
		t.Fatal(err)
	}
	if len(w.sums) != 1 || !strings.Contains(w.sums[0], "the colour of the boat") || !strings.Contains(w.sums[0], "message 0") {
		t.Errorf("summed up: %q", w.sums)
	}
	if after := r.conversation("1"); after != before {
		t.Errorf("the conversation has changed:\n%s\n\nwas\n%s", after, before)
	}
	r.send(s, "and now")
	if req := lastRequest(r); len(req.Messages) >= 9 || strings.Contains(fmt.Sprint(req.Messages), "/compact") {
		t.Errorf("%d messages were sent", len(req.Messages))
	}
}

func TestL02AnOverflowSumsUpInPiecesAndCutsTheBigResult(t *testing.T) {
	w := &window{tokens: 7_000, summary: shortSummary}
	w.answer = func(req model.Request) model.Reply {
		if last := req.Messages[len(req.Messages)-1]; last.Role == model.User && strings.Contains(last.Text(), "print") {
			return calling("big {}")
		}
		return echo(req)
	}
	r := newRig(t, longChat, w.Stream)
	r.model.window = 0 // nobody said how large it is
	s := r.open()
	defer r.close(s)
	for i := range 9 {
		r.send(s, fmt.Sprintf("message %d %s", i, strings.Repeat("text ", 200)))
	}
	r.model.window = 7_000
	resp := r.send(s, "print it")
	if !strings.HasPrefix(resp.Content, "about ") {
		t.Errorf("the reply is %q", resp.Content)
	}
	if len(w.sums) < 2 {
		t.Errorf("it was summed up in %d pieces", len(w.sums))
	}
	req := lastRequest(r)
	r.wellFormed(req)
	if got := fmt.Sprint(req.Messages); !strings.Contains(got, "print it") || !strings.Contains(got, "to make room") {
		t.Errorf("the request is %.2000s", got)
	}
	if got := r.conversation("1"); !strings.Contains(got, strings.Repeat("x", 40_000)) {
		t.Error("the whole result is no longer in the conversation")
	}
}

func TestL02AFailingSummaryLeavesTheChatAlive(t *testing.T) {
	w := &window{tokens: 8_000, answer: echo}
	w.summary = func(string) (model.Reply, error) { return model.Reply{}, errors.New("no summaries today") }
	r := newRig(t, longChat, w.Stream)
	r.model.window = 8_000
	s := r.open()
	defer r.close(s)
	for i := range 20 {
		r.send(s, fmt.Sprintf("message %d", i))
	}
	if len(w.sums) != 3 {
		t.Errorf("it was tried %d times", len(w.sums))
	}
	if got := line(lastRequest(r).Messages[len(lastRequest(r).Messages)-1]); got != "user: message 19" {
		t.Errorf("the last request ends with %q", got)
	}
}

func TestL03ASummaryWithoutGainIsNotPaidForAgain(t *testing.T) {
	w := &window{tokens: 8_000, answer: echo}
	w.summary = func(text string) (model.Reply, error) { return says(text), nil }
	r := newRig(t, longChat, w.Stream)
	r.model.window = 8_000
	s := r.open()
	defer r.close(s)
	for i := range 20 {
		r.send(s, fmt.Sprintf("message %d", i))
	}
	pieces := len(w.sums)
	r.send(s, "one more")
	if pieces == 0 || pieces > 3 || len(w.sums) != pieces {
		t.Errorf("it was asked for %d and then %d more summaries", pieces, len(w.sums)-pieces)
	}
}

func TestL03InstructionsLargerThanTheWindowAreExplained(t *testing.T) {
	w := &window{tokens: 1_000, summary: shortSummary, answer: echo}
	r := newRig(t, "Chat: true\n\n"+strings.Repeat("Be good. ", 1_000), w.Stream)
	r.model.window = 1_000
	s := r.open()
	defer r.close(s)
	_, err := s.Send(t.Context(), "hello")
	if err == nil || !strings.Contains(err.Error(), "instructions and tools are about 2368 tokens") {
		t.Errorf("the error is %v", err)
	}
	if got := r.conversation("1"); got != "user: hello" {
		t.Errorf("the conversation is %q", got)
	}
	if len(w.sums) != 0 {
		t.Error("it paid for a summary")
	}
}

// A turn in which room was made, cut off after every commit, is walked again with the same digest
// and asks for no summary twice.
func TestD01CompactionIsNotRepeatedAfterACrash(t *testing.T) {
	met := false // a crash after the summary was recorded
	for cut := 1; ; cut++ {
		w := &window{tokens: 8_000, summary: shortSummary, answer: echo}
		r := newRig(t, longChat, w.Stream)
		r.change = func(o *agent.Options) { o.Compaction.KeepTokens = 2_000 }
		s := r.open()
		for i := range 11 {
			r.send(s, fmt.Sprintf("message %d", i))
		}
		r.close(s)
		r.model.window = 8_000
		s = r.openWith(&hooked{Journal: r.journal(), before: func(i int) error {
			if i > cut {
				return errors.New("the process is dead")
			}
			return nil
		}})
		_, err := s.Send(t.Context(), "the last")
		r.close(s)
		finished := 0
		s = r.open()
		if turn, lastErr := r.opened.LastTurn(t.Context()); lastErr == nil {
			entries, entriesErr := r.opened.Entries(t.Context(), turn.Number)
			if entriesErr != nil {
				t.Fatal(entriesErr)
			}
			for _, e := range entries {
				if e.Kind == record.EntryCompaction && e.Finished {
					finished++
				}
			}
		}
		sums := len(w.sums)
		if _, resumeErr := s.Resume(t.Context()); resumeErr != nil {
			t.Fatalf("cut after %d commits: %v", cut, resumeErr)
		}
		met = met || finished > 0 && err != nil
		if finished > 0 && len(w.sums) != sums {
			t.Errorf("cut after %d commits: summed up again", cut)
		}
		r.close(s)
		if err == nil {
			if cut < 4 || !met {
				t.Errorf("the turn has only %d commits, with a summary: %v", cut, met)
			}
			return
		}
	}
}
