package tui

import (
	"context"
	"errors"
	"strings"
	"testing"

	"parley/toolrt"
	"parley/ui/tui/keymap"
)

// Ctrl+D leaves wherever no text is being written. A question that waits is withdrawn, not denied: it is
// asked again when the chat is opened.
func TestCtrlDLeavesEverywhere(t *testing.T) {
	t.Run("question", func(t *testing.T) {
		b, chat, q := newBackend(), newChat("s1"), NewQuestions()
		term := start(t, 80, 24, Options{Backend: b, Chat: chat, Questions: q})
		term.shows("@planner")
		answer := make(chan error, 1)
		chat.turn = func(ctx context.Context, _ *fakeChat, _ string) error {
			_, err := q.Authorize(ctx, approval("q1", "3", "github.create_issue"))
			answer <- err
			return err
		}
		term.typed("go<enter>")
		term.armed()
		term.typed("<ctrl+d>")
		if err := term.end(); err != nil {
			t.Fatal(err)
		}
		if err := got(term, answer); !errors.Is(err, context.Canceled) {
			t.Errorf("the question ended with %v", err)
		}
	})
	t.Run("picker", func(t *testing.T) {
		b := newBackend()
		b.sessions = sessions()
		term := start(t, 80, 24, Options{Backend: b, StartPicker: true})
		term.shows("flaky ci")
		term.typed("r")
		term.shows("rename:")
		term.shows("Enter rename", "Esc back to the list")
		term.typed("<ctrl+d><esc>")
		term.hides("rename:")
		term.typed("<ctrl+d>")
		if err := term.end(); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("pane", func(t *testing.T) {
		b, chat := newBackend(), newChat("s1")
		term := start(t, 80, 24, Options{Backend: b, Chat: chat})
		term.shows("@planner")
		term.typed("<ctrl+t>")
		term.shows("no calls yet")
		term.typed("<ctrl+d>")
		if err := term.end(); err != nil {
			t.Fatal(err)
		}
	})
}

// While a command runs, leaving asks once.
func TestLeavingSaysWhatItEnds(t *testing.T) {
	for _, c := range []struct{ how, name string }{{"<ctrl+d>", keymap.Name("ctrl+d")}, {"/quit<enter>", "/quit"}} {
		b, chat := newBackend(), newChat("s1")
		hold := make(chan struct{})
		defer close(hold)
		chat.turn = held(hold)
		term := start(t, 80, 24, Options{Backend: b, Chat: chat})
		term.shows("@planner")
		term.typed("go<enter>")
		term.shows("thinking")
		chat.put(leaf(5, 0, "sys.exec", `{"command":"sleep 99"}`, toolrt.StatusRunning))
		term.shows("1 run")
		term.typed(c.how)
		term.shows("1 command is running: " + c.name + " again leaves and ends it")
		term.typed(c.how)
		if err := term.end(); err != nil {
			t.Fatal(err)
		}
	}
}

// The last line says what Esc does where something is typed inside a question.
func TestHintsInsideAQuestion(t *testing.T) {
	b, chat, q := newBackend(), newChat("s1"), NewQuestions()
	term := start(t, 80, 24, Options{Backend: b, Chat: chat, Questions: q})
	term.shows("@planner")
	answer := ask(t, q, approval("q1", "3", "github.create_issue"))
	term.armed()
	last := func() string {
		lines := strings.Split(strings.TrimRight(term.text(), "\n"), "\n")
		return lines[len(lines)-1]
	}
	for _, key := range []string{"e", "r", "a", "v"} {
		term.typed(key)
		term.until("Esc back after "+key, func() bool { return strings.Contains(last(), "Esc back") })
		term.typed("<esc>")
		term.until("Esc deny after "+key, func() bool { return strings.Contains(last(), "Esc deny") })
	}
	term.typed("an")
	term.shows("never in this project, from now on: github.create_issue(owner=acme,", "N yes, deny it for good")
	term.typed("N")
	if a := got(term, answer); a.Allow || a.Scope != "project" {
		t.Errorf("got %+v", a)
	}
	term.shows("denied from now on: github.create_issue", "kept in /home/me/shop/.parley/config.json")
}

// A command of ten parts is seen whole before it can be allowed, at every size.
func TestP08CommandOfManyParts(t *testing.T) {
	for _, size := range append(sizes, struct{ w, h int }{60, 20}) {
		b, chat, q := newBackend(), newChat("s1"), NewQuestions()
		term := start(t, size.w, size.h, Options{Backend: b, Chat: chat, Questions: q})
		term.shows("@planner")
		a := approval("q1", "1", "sys.exec")
		a.Preview = toolrt.Preview{Command: "echo 1; echo 2; echo 3; echo 4; echo 5; echo 6; echo 7; echo 8; touch evil; echo 9"}
		a.Arguments = `{"command":"` + a.Preview.Command + `"}`
		answer := ask(t, q, a)
		term.armed()
		if size.h > 12 {
			term.shows("evil; echo 9", "/home/me/shop", "it sends data")
		} else {
			term.typed("y")
			term.shows("read to its end")
			term.typed("G")
			term.shows("y once")
			select {
			case got := <-answer:
				t.Fatalf("allowed unseen: %+v", got)
			default:
			}
		}
		term.typed("y")
		if got := got(term, answer); !got.Allow {
			t.Errorf("%v: got %+v", size, got)
		}
	}
}
