package tui

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"parley/agent"
	"parley/agent/model"
)

func TestApproveByKeyOnceArmed(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	q := NewQuestions()
	term := start(t, 100, 30, Options{Backend: b, Chat: chat, Questions: q})
	term.shows("@planner")
	answer := ask(t, q, approval("q1", "3", "github.create_issue"))
	term.shows("github.create_issue", "1 ask")
	term.shows("Tab text") // armed: no key came for a while
	term.typed("y")
	if a := got(term, answer); !a.Allow || a.Scope != "once" {
		t.Errorf("got %+v", a)
	}
	term.hides("1 ask")
}

// Enter, Space and digits never answer.
func TestNothingByAccident(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	q := NewQuestions()
	term := start(t, 100, 30, Options{Backend: b, Chat: chat, Questions: q})
	term.shows("@planner")
	answer := ask(t, q, approval("q1", "3", "github.create_issue"))
	term.shows("1 ask")
	term.armed()
	term.typed(" 1234567890<enter><enter>")
	term.shows("1 ask")
	term.typed("<esc>")
	if a := got(term, answer); a.Allow {
		t.Errorf("allowed: %+v", a)
	}
}

func TestP06SecondQuestionWaitsItsTurn(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	q := NewQuestions()
	term := start(t, 100, 30, Options{Backend: b, Chat: chat, Questions: q})
	term.shows("@planner")
	first := ask(t, q, approval("q1", "1", "tool.first"))
	term.shows("tool.first", "Tab text")
	second := ask(t, q, approval("q2", "2", "tool.second"))
	term.shows("tool.first", "2 ask")
	ctx, cancel := context.WithCancel(t.Context())
	third := make(chan error, 1)
	go func() {
		_, err := q.Authorize(ctx, approval("q3", "3", "tool.third"))
		third <- err
	}()
	term.shows("tool.first", "3 ask")
	term.typed("yy") // twice, fast: the second key is not an answer to what was not seen
	if a := got(term, first); !a.Allow {
		t.Errorf("first: %+v", a)
	}
	term.shows("tool.second", "2 ask")
	cancel() // a rule made for the first covers the third: its question is withdrawn
	if err := got(term, third); !errors.Is(err, context.Canceled) {
		t.Errorf("third: %v", err)
	}
	term.shows("tool.second", "1 ask")
	select {
	case a := <-second:
		t.Fatalf("the second question was answered: %+v", a)
	default:
	}
	term.shows("Tab text")
	term.typed("y")
	if a := got(term, second); !a.Allow {
		t.Errorf("second: %+v", a)
	}
}

func TestP06MoveBetweenQuestions(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	q := NewQuestions()
	term := start(t, 100, 30, Options{Backend: b, Chat: chat, Questions: q})
	term.shows("@planner")
	ask(t, q, approval("q1", "1", "tool.first"))
	term.shows("tool.first", "1 ask")
	second := ask(t, q, approval("q2", "2", "tool.second"))
	term.shows("2 ask")
	term.armed()
	term.typed("]")
	term.shows("tool.second")
	term.armed()
	term.typed("y")
	if a := got(term, second); !a.Allow {
		t.Errorf("second: %+v", a)
	}
	term.shows("tool.first", "1 ask")
}

func TestP07TypingWhileADialogOpens(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	hold := make(chan struct{})
	defer close(hold)
	chat.turn = held(hold)
	q := NewQuestions()
	term := start(t, 100, 30, Options{Backend: b, Chat: chat, Questions: q})
	term.shows("@planner")
	term.typed("go<enter>")
	term.shows("thinking")
	sentence := "yes say any name y a"
	var answer chan agent.ApprovalAnswer
	for i, r := range sentence {
		if i == 5 {
			answer = ask(t, q, approval("q1", "3", "tool.first"))
		}
		term.typed(string(r))
		time.Sleep(time.Second / 40) // the person's speed is the case itself
	}
	term.shows("❯ "+sentence, "1 ask")
	term.typed("<enter>")
	term.until("the text handed over", func() bool {
		_, steered, _ := chat.snapshot()
		return slices.Equal(steered, []string{sentence})
	})
	select {
	case a := <-answer:
		t.Fatalf("approved by typing: %+v", a)
	default:
	}
	// Empty and quiet now: it takes keys.
	term.shows("Tab text")
	term.typed("y")
	if a := got(term, answer); !a.Allow {
		t.Errorf("got %+v", a)
	}
}

func TestQuestionsEndWithTheScreen(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	q := NewQuestions()
	term := start(t, 80, 24, Options{Backend: b, Chat: chat, Questions: q})
	term.shows("@planner")
	answer := make(chan error, 1)
	go func() {
		_, err := q.Prompt(t.Context(), credential("q1"))
		answer <- err
	}()
	term.shows("1 ask")
	term.program().Quit()
	if err := term.end(); err != nil {
		t.Fatal(err)
	}
	if err := got(term, answer); !errors.Is(err, agent.ErrNobody) {
		t.Errorf("got %v", err)
	}
	if _, err := q.Authorize(t.Context(), approval("q2", "1", "t")); !errors.Is(err, agent.ErrNobody) {
		t.Errorf("after the end: %v", err)
	}
}

func TestResumeGoesOnWithoutAQuestion(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	chat.message(model.User, "earlier")
	chat.open = true
	term := start(t, 80, 24, Options{Backend: b, Chat: chat})
	term.shows("earlier")
	term.until("the turn resumed", func() bool { chat.mu.Lock(); defer chat.mu.Unlock(); return chat.resumed == 1 })
	term.hides(goingOn) // it is over
}

func TestResumeDialog(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	chat.open, chat.doubt = true, doubt()
	term := start(t, 100, 30, Options{Backend: b, Chat: chat})
	term.shows("sys.exec", "1 ask")
	term.armed()
	term.typed("i")
	term.until("the call resolved and the turn resumed", func() bool {
		chat.mu.Lock()
		defer chat.mu.Unlock()
		return slices.Equal(chat.resolved, []agent.Resolution{agent.ResolveInterrupted}) && chat.resumed == 1
	})
	term.hides("1 ask")
}

// A process of a call in doubt that ends while the dialog is open is noticed there.
func TestResumeDialogSeesTheEnd(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	chat.open, chat.doubt = true, doubt()
	chat.doubt[0].Alive, chat.doubt[0].Pgid = true, 4711
	term := start(t, 100, 30, Options{Backend: b, Chat: chat})
	term.shows("still runs, pid 4711", "end it")
	chat.mu.Lock()
	chat.doubt[0].Alive = false
	chat.mu.Unlock()
	term.shows("process 4711 has ended by itself")
	term.hides("still runs")
}

// The whole text of a question leaves the screen while one writes: nothing of the chat is hidden.
func TestTypingAfterExplain(t *testing.T) {
	b, chat, q := newBackend(), newChat("s1"), NewQuestions()
	chat.message(model.User, "earlier")
	term := start(t, 80, 24, Options{Backend: b, Chat: chat, Questions: q})
	term.shows("earlier")
	go func() { _, _ = q.Authorize(t.Context(), approval("q1", "1", "sys.write")) }()
	term.armed()
	term.typed("x")
	term.hides("earlier")
	term.typed("<tab>abc")
	term.shows("earlier", "❯ abc", "press Tab to answer, or keep typing")
}

// A message sent while the dialog is open answers "interrupted" for what is left.
func TestResumeDialogAndAMessage(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	chat.open, chat.doubt = true, doubt()
	term := start(t, 100, 30, Options{Backend: b, Chat: chat})
	term.shows("sys.exec", "1 ask")
	term.typed("never mind")
	term.shows("❯ never mind")
	term.typed("<enter>")
	term.until("the message", chat.hasSent("never mind"))
	term.hides("1 ask")
}

// A turn that asked for nothing but the person's wait ends no text: Esc on a question denies it and
// the turn goes on; Ctrl+C denies it and stops the turn.
func TestEscDeniesAndCtrlCStops(t *testing.T) {
	for _, c := range []struct {
		key  string
		stop bool
	}{{"<esc>", false}, {"<ctrl+c>", true}} {
		b, chat := newBackend(), newChat("s1")
		q := NewQuestions()
		hold := make(chan struct{})
		chat.turn = held(hold)
		term := start(t, 100, 30, Options{Backend: b, Chat: chat, Questions: q})
		term.shows("@planner")
		term.typed("go<enter>")
		term.shows("thinking about go")
		answer := ask(t, q, approval("q1", "3", "github.create_issue"))
		term.shows("1 ask")
		term.typed(c.key)
		if a := got(term, answer); a.Allow || a.Stop != c.stop {
			t.Errorf("%s: %+v", c.key, a)
		}
		term.hides("1 ask")
		term.shows("working")
		term.typed("later")
		term.shows("❯ later")
		term.typed("<tab>")
		term.shows("queued 1: later")
		close(hold)
		term.shows("done with go")
		if c.stop {
			term.shows("Enter sends the queued message")
		} else {
			term.until("the queued message", chat.hasSent("go", "later"))
		}
	}
}
