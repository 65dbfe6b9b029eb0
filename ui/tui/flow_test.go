package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent/model"
)

// held is a turn that runs until the channel is closed or the turn is cancelled.
func held(hold chan struct{}) func(context.Context, *fakeChat, string) error {
	return func(ctx context.Context, c *fakeChat, text string) error {
		c.piece("thinking about " + text)
		select {
		case <-hold:
			c.message(model.Assistant, "done with "+text)
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *fakeChat) snapshot() (sent, steered []string, k kept) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.sent), slices.Clone(c.steered), c.kept
}

func (c *fakeChat) hasSent(texts ...string) func() bool {
	return func() bool { sent, _, _ := c.snapshot(); return slices.Equal(sent, texts) }
}

func (c *fakeChat) hasRun(calls ...string) func() bool {
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return slices.Equal(c.ran, calls)
	}
}

func TestTypeSendStreamAnswer(t *testing.T) {
	b := newBackend()
	b.greeting = "Welcome to parley."
	chat := newChat("s1")
	hold := make(chan struct{})
	chat.turn = held(hold)
	b.fresh = chat
	term := start(t, 100, 30, Options{Backend: b})
	term.shows("Welcome to parley.", "@planner")
	term.typed("why?")
	term.shows("❯ why?")
	term.typed("<enter>")
	term.shows("thinking about why?", "working", "Esc interrupt")
	term.hides("Welcome")
	close(hold)
	term.shows("done with why?")
	term.hides("working")
	term.typed("<ctrl+d>")
	if err := term.end(); err != nil {
		t.Fatal(err)
	}
	if !chat.closed {
		t.Error("the chat was not closed")
	}
}

func TestEscInterruptsAndCtrlDLeaves(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	chat.turn = held(nil)
	term := start(t, 80, 24, Options{Backend: b, Chat: chat})
	term.shows("@planner")
	term.typed("go<enter>")
	term.shows("thinking about go")
	term.typed("draft stays<esc>")
	term.shows("interrupted", "draft stays")
	term.hides("working")
	term.typed("<ctrl+c>")
	term.shows("cleared")
	term.typed("<up>")
	term.shows("❯ draft stays")
	term.typed("<ctrl+c><ctrl+c>")
	term.shows("again to leave")
	term.typed("<ctrl+c>")
	if err := term.end(); err != nil {
		t.Fatal(err)
	}
}

func TestSteerAndQueue(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	hold := make(chan struct{})
	chat.turn = held(hold)
	term := start(t, 80, 24, Options{Backend: b, Chat: chat})
	term.shows("@planner")
	term.typed("go<enter>")
	term.shows("thinking about go")
	term.typed("also this<enter>")
	term.shows("handed over: also this")
	term.typed("later")
	term.shows("❯ later")
	term.typed("<tab>")
	term.shows("queued 1: later", "Alt+Up edit")
	term.typed("and then<tab>")
	term.shows("queued 2: and then")
	term.typed("<alt+up>")
	term.shows("❯ and then")
	term.typed("<ctrl+c>")
	close(hold)
	term.until("the queued message", chat.hasSent("go", "later"))
	if _, steered, _ := chat.snapshot(); !slices.Equal(steered, []string{"also this"}) {
		t.Errorf("handed over: %q", steered)
	}
}

// What was handed over comes back after an interruption only if it did not enter the turn. Its event
// may come later than the end of the turn.
func TestSteeredTextComesBackOnlyIfLost(t *testing.T) {
	for _, left := range [][]string{nil, {"also this"}} {
		b, chat := newBackend(), newChat("s1")
		chat.turn, chat.left = held(make(chan struct{})), left
		term := start(t, 80, 24, Options{Backend: b, Chat: chat})
		term.shows("@planner")
		term.typed("go<enter>")
		term.shows("thinking about go")
		term.typed("also this<enter>")
		term.shows("handed over: also this")
		term.typed("<esc>")
		term.shows("interrupted: what had come is kept")
		if want := len(left) > 0; strings.Contains(term.text(), "❯ also this") != want {
			t.Errorf("left over %q:\n%s", left, term.text())
		}
	}
}

// A text that can no longer be handed over is sent when the turn has ended.
func TestSteerTooLate(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	hold := make(chan struct{})
	chat.turn, chat.steer = held(hold), false
	term := start(t, 80, 24, Options{Backend: b, Chat: chat})
	term.shows("@planner")
	term.typed("go<enter>")
	term.shows("thinking about go")
	term.typed("also this<enter>")
	term.shows("queued 1: also this")
	close(hold)
	term.until("the message", chat.hasSent("go", "also this"))
}

// A turn that fails before its message was stored gives the text back.
func TestFailedTurnLosesNoText(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	chat.turn = func(context.Context, *fakeChat, string) error { return errors.New("the store is full") }
	term := start(t, 80, 24, Options{Backend: b, Chat: chat})
	term.shows("@planner")
	term.typed("precious words<enter>")
	term.shows("the turn failed: the store is full")
	// The fake stores the message before the turn runs: it is in the chat and not lost.
	term.shows("precious words")

	chat2 := &lossy{fakeChat: newChat("s2")}
	term2 := start(t, 80, 24, Options{Backend: newBackend(), Chat: chat2})
	term2.shows("@planner")
	term2.typed("precious words<enter>")
	term2.shows("the turn failed: disk full", "❯ precious words")
}

type lossy struct{ *fakeChat }

func (*lossy) Send(context.Context, string) error { return errors.New("disk full") }

// got waits for an answer.
func got[T any](term *terminal, from <-chan T) (v T) {
	term.t.Helper()
	select {
	case v = <-from:
	case <-time.After(patience):
		term.t.Fatalf("no answer; the screen:\n%s", term.text())
	}
	return v
}

func TestI01PasteIsNotSentBeforeEnter(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	term := start(t, 100, 30, Options{Backend: b, Chat: chat})
	term.shows("@planner")
	text := strings.Repeat(strings.Repeat("x", 99)+"\n", 10_000)
	term.paste(strings.ReplaceAll(text, "\n", "\r\n"))
	term.shows("[pasted 10,000 lines #1]")
	if sent, _, _ := chat.snapshot(); len(sent) > 0 {
		t.Fatal("sent before Enter")
	}
	began := time.Now()
	term.typed("!")
	term.shows("#1]!")
	if d := time.Since(began); d > 2*time.Second { // 200 ms on a quiet machine
		t.Errorf("a key after the paste took %v", d)
	}
	term.typed("<enter>")
	term.until("the text", chat.hasSent(text+"!"))
}

func TestI01RawKeys(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	term := startWith(t, 100, 30, Options{Backend: b, Chat: chat}, func(*screen) {})
	term.shows("@planner")
	term.typed("a script's message<enter>")
	term.until("the script's message", chat.hasSent("a script's message"))
	text := strings.Repeat("a line of raw keys\r", 500)
	term.typed(text)
	term.shows("lines #1]")
	term.until("all of it as a draft", func() bool {
		sent, _, k := chat.snapshot()
		if len(sent) > 1 {
			t.Fatalf("%d messages sent before Enter", len(sent)-1)
		}
		return k.draft == strings.ReplaceAll(text, "\r", "\n")
	})
	term.typed("<enter>")
	term.until("the text", chat.hasSent("a script's message", strings.ReplaceAll(text, "\r", "\n")))
}

func TestI04DraftIsKeptAndComesBack(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	term := start(t, 80, 24, Options{Backend: b, Chat: chat})
	term.shows("@planner")
	term.typed("one<ctrl+j>two<alt+enter>three")
	term.until("the draft kept", func() bool { _, _, k := chat.snapshot(); return k.draft == "one\ntwo\nthree" })
	term.typed(" four")
	term.shows("three four")
	term.program().Quit()
	if err := term.end(); err != nil {
		t.Fatal(err)
	}
	_, _, k := chat.snapshot()
	if k.draft != "one\ntwo\nthree four" {
		t.Fatalf("kept at the end: %q", k.draft)
	}
	again := newChat("s1")
	again.row.Draft, again.row.Queue = k.draft, []string{"queued before"}
	term = start(t, 80, 24, Options{Backend: b, Chat: again})
	term.shows("three four", "queued 1: queued before")
	if sent, _, _ := again.snapshot(); len(sent) > 0 {
		t.Errorf("sent by itself: %q", sent)
	}
}

func TestOlderMessagesLoad(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	for i := range 200 {
		chat.message(model.User, fmt.Sprintf("message number %d", i))
	}
	term := start(t, 80, 24, Options{Backend: b, Chat: chat})
	term.shows("message number 199")
	for range 60 {
		term.typed("<pgup>")
	}
	term.until("the first message", func() bool {
		if strings.Contains(term.text(), "message number 0\n") {
			return true
		}
		term.typed("<pgup>")
		return false
	})
}

func TestA01NoColor(t *testing.T) {
	b, _, _ := scene()
	term := start(t, 120, 36, Options{Backend: b, NoColor: true})
	term.shows("login-bug")
	term.typed("go<enter>")
	term.shows("1 run")
	s := term.snapshot()
	legend := s[strings.Index(s, "--- legend"):]
	for line := range strings.SplitSeq(legend, "\n") {
		if strings.Contains(line, "fg {") || strings.Contains(line, "bg {") {
			t.Errorf("a colour: %s", line)
		}
	}
}

func TestASCII(t *testing.T) {
	b, _, _ := scene()
	b.history = nil
	term := start(t, 120, 36, Options{Backend: b, ASCII: true})
	term.shows("login-bug")
	term.typed("go<enter>")
	term.shows("1 run", "git diff")
	for _, r := range term.text() {
		if r > 0x7e {
			t.Fatalf("%q on an ASCII screen:\n%s", r, term.text())
		}
	}
}

// What is typed, and sent, before the first session is open is not lost.
func TestTypingAheadOfTheSession(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	chat.row.Draft = "a draft from before"
	opening := make(chan struct{})
	term := start(t, 80, 24, Options{Backend: b, Open: func(ctx context.Context) (Chat, error) {
		select {
		case <-opening:
			return chat, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}})
	term.shows("opening")
	term.typed("first words<enter>")
	term.shows("sent as soon as the session is open")
	term.typed(", more")
	term.shows("❯ , more")
	close(opening)
	term.until("the message", chat.hasSent("first words"))
	term.shows("❯ a draft from before, more")
}

func TestInitialMessage(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	term := start(t, 80, 24, Options{Backend: b, Chat: chat, InitialMessage: "hello from the command line"})
	term.until("the message", chat.hasSent("hello from the command line"))
	term.shows("hello from the command line")
}

// Only plain Enter sends; each other key that arrives distinct makes a new line.
func TestI05Newlines(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	term := start(t, 80, 24, Options{Backend: b, Chat: chat})
	term.shows("@planner")
	term.typed(`a<shift+enter>b<alt+enter>c<ctrl+j>d\<enter>e`)
	term.shows("❯ a", " b ", " c ", " d ", " e ")
	if sent, _, _ := chat.snapshot(); len(sent) > 0 {
		t.Fatalf("sent %q", sent)
	}
	term.typed("<enter>")
	term.until("the message", chat.hasSent("a\nb\nc\nd\ne"))
}

// What is chosen in the chat opens in the pager, a code block under a name with its language.
func TestOpenInPager(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "pager")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ncp \"$1\" "+dir+"/seen\nbasename \"$1\" > "+dir+"/part; mv "+dir+"/part "+dir+"/name\n"), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	b, chat := newBackend(), newChat("s1")
	chat.message(model.User, "earlier")
	chat.message(model.Assistant, "See:\n\n```go\nx := 1\t// tab\n```\n")
	term := start(t, 80, 24, Options{Backend: b, Chat: chat, Getenv: func(name string) string {
		return map[string]string{"PAGER": script}[name]
	}})
	term.shows("x := 1")
	term.typed("<tab>jo")
	term.until("the pager", func() bool { _, err := os.Stat(filepath.Join(dir, "name")); return err == nil })
	seen, err := os.ReadFile(filepath.Join(dir, "seen"))
	if err != nil {
		t.Fatal(err)
	}
	name, err := os.ReadFile(filepath.Join(dir, "name"))
	if err != nil {
		t.Fatal(err)
	}
	if string(seen) != "x := 1\t// tab\n" || string(name) != "code.go\n" {
		t.Errorf("%q as %q", seen, name)
	}
}

// A command line after ! runs without the model; text that only looks so is a message.
func TestShellLine(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	term := start(t, 80, 24, Options{Backend: b, Chat: chat})
	term.shows("@planner ❯")
	term.typed("! ls -la <enter>")
	term.until("the command", chat.hasRun("sys.exec ls -la"))
	var texts []string
	for _, text := range []string{"!", "!two\nlines", "hello!"} {
		texts = append(texts, text)
		term.typed(strings.ReplaceAll(text, "\n", "<ctrl+j>") + "<enter>")
		term.until("the message", chat.hasSent(texts...))
	}
}
