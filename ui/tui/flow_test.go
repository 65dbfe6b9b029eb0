package tui

import (
	"context"
	"testing"

	"parley/agent/model"
)

func TestTypeSendStreamAnswer(t *testing.T) {
	b := newBackend()
	b.greeting = "Welcome to parley."
	chat := newChat("s1")
	go_ := make(chan struct{})
	chat.turn = func(ctx context.Context, c *fakeChat, text string) error {
		for _, p := range []string{"I will ", "look ", "at the test."} {
			c.piece(p)
		}
		select {
		case <-go_:
		case <-ctx.Done():
			return ctx.Err()
		}
		c.message(model.Assistant, "I will look at the test.")
		return nil
	}
	b.fresh = chat
	term := start(t, 100, 30, Options{Backend: b})
	term.shows("Welcome to parley.", "@planner")
	term.typed("Find out why login fails")
	term.shows("Find out why login fails")
	term.typed("<enter>")
	term.shows("I will look at the test.", "working")
	close(go_)
	term.hides("working")
	term.typed("<ctrl+d>")
	if err := term.end(); err != nil {
		t.Fatal(err)
	}
	if !chat.closed {
		t.Error("the chat was not closed")
	}
}
