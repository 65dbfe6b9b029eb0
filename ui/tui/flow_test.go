package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/agent/model"
	"parley/toolrt"
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
	term.typed("<tab> 1234567890<enter><enter>")
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
	term.typed("<tab>]")
	term.shows("tool.second")
	term.typed("<tab>y")
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
	if sent, _, _ := chat.snapshot(); len(sent) > 1 {
		t.Fatalf("%d messages sent before Enter", len(sent)-1)
	}
	time.Sleep(50 * time.Millisecond) // a person takes longer than a burst lasts
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

func TestResumeGoesOnWithoutAQuestion(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	chat.message(model.User, "earlier")
	chat.open = true
	term := start(t, 80, 24, Options{Backend: b, Chat: chat})
	term.shows("earlier", "going on with the turn")
	term.until("the turn resumed", func() bool { chat.mu.Lock(); defer chat.mu.Unlock(); return chat.resumed == 1 })
}

func TestResumeDialog(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	chat.open, chat.doubt = true, doubt()
	term := start(t, 100, 30, Options{Backend: b, Chat: chat})
	term.shows("sys.exec", "1 ask")
	term.typed("<tab>i")
	term.until("the call resolved and the turn resumed", func() bool {
		chat.mu.Lock()
		defer chat.mu.Unlock()
		return slices.Equal(chat.resolved, []agent.Resolution{agent.ResolveInterrupted}) && chat.resumed == 1
	})
	term.hides("1 ask")
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

func TestPickerOpensRenamesDeletes(t *testing.T) {
	b := newBackend()
	b.sessions = sessions()
	chat := newChat("01J8M3TT0000000000000000Q5")
	chat.message(model.User, "write the notes")
	b.chats[chat.row.ID] = chat
	term := start(t, 120, 36, Options{Backend: b, StartPicker: true})
	term.shows("login-bug", "flaky ci", "stopped while a call waited for you")
	term.typed("<down>r<ctrl+u>notes<enter>")
	term.shows("notes")
	term.until("the new title", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.renamed["01J8M3TT0000000000000000Q5"] == "notes"
	})
	term.typed("<down>d")
	term.shows("delete flaky ci?")
	term.typed("n")
	term.hides("delete flaky ci?")
	term.typed("dy")
	term.shows("deleted: flaky ci", "u takes it back", "3 shown")
	term.typed("u")
	term.shows("4 shown")
	term.typed("/notes")
	term.hides("login-bug")
	term.typed("<enter>")
	term.shows("write the notes", "@planner")
}

func TestOpenFailureSaysWhatToDo(t *testing.T) {
	b := newBackend()
	b.sessions, b.openErr = sessions(), fmt.Errorf("open session: %w", agent.ErrLeased)
	term := start(t, 80, 24, Options{Backend: b, StartPicker: true})
	term.shows("login-bug")
	term.typed("<enter>")
	term.shows("open in another process")
	term.typed("<esc>")
	if err := term.end(); err != nil {
		t.Fatal(err)
	}
}

func TestSwitchSessionKeepsBoth(t *testing.T) {
	b := newBackend()
	first, second := newChat("s1"), newChat("s2")
	second.row.Title, second.row.Agent = "the other one", "writer"
	b.fresh = second
	term := start(t, 80, 24, Options{Backend: b, Chat: first})
	term.shows("login-bug")
	term.typed("/new<enter>")
	term.shows("the other one", "@writer")
	term.until("the first one closed", func() bool { first.mu.Lock(); defer first.mu.Unlock(); return first.closed && first.keeps > 0 })
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

func TestCommands(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	chat.calls = append(chat.calls, entry(1))
	chat.message(model.Assistant, "the newest reply", leaf(5, 0, "sys.exec", `{"command":"sleep 9"}`, toolrt.StatusRunning))
	term := start(t, 100, 30, Options{Backend: b, Chat: chat})
	term.shows("@planner", "sleep 9")
	for _, c := range []struct{ typed, shows string }{
		{"/nope", "there is no command /nope"},
		{"<ctrl+u>/mode edits", "mode edits: changes of files"},
		{"/mode", "mode edits"},
		{"/mode fast", `no mode "fast"`},
		{"/model", "Model from the next turn on"},
		{"<esc>/model anthropic/claude-y", "model anthropic/claude-y from the next turn on"},
		{"/model nonsense", "the model cannot be changed: no such model"},
		{"/copy", "copied 16 letters"},
		{"/copy 7", "there is no such reply"},
		{"/copy x", "takes a number"},
		{"/queue", "nothing is queued"},
		{"/status", "session s1"},
		{"/cancel 9", `no running call "9"`},
		{"/cancel 1", "login-bug"},
		{"/mode auto", "Run everything without asking"},
		{"<esc>/keys", "Keys and commands"},
	} {
		term.typed(c.typed + "<enter>")
		term.shows(c.shows)
	}
	chat.mu.Lock()
	defer chat.mu.Unlock()
	if !slices.Equal(chat.canceled, []string{"0/5.0"}) {
		t.Errorf("cancelled %q", chat.canceled)
	}
	if chat.row.Mode != "edits" {
		t.Errorf("mode %q", chat.row.Mode)
	}
}

func TestModeAutoAsksOnce(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	term := start(t, 100, 30, Options{Backend: b, Chat: chat})
	term.shows("mode ask")
	term.typed("<shift+tab>")
	term.shows("mode edits")
	term.typed("<shift+tab>")
	term.shows("mode plan")
	term.typed("<shift+tab>")
	term.shows("mode ask")
	term.typed("/mode auto<enter>")
	term.shows("no, keep asking")
	term.typed("<enter>") // the default is the safe one
	term.hides("keep asking")
	if r := chat.Row(); r.Mode != "ask" {
		t.Fatalf("mode %q", r.Mode)
	}
	term.typed("/mode auto<enter>")
	term.shows("keep asking")
	term.typed("<down><enter>")
	term.shows("mode auto")
}

func TestHelpComesFromTheTable(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	term := start(t, 100, 200, Options{Backend: b, Chat: chat})
	term.shows("@planner")
	term.typed("?")
	term.shows("Keys and commands", "call panel on or off", "/rename title", "Authorization", "reset")
	term.typed("<esc>x?")
	term.shows("❯ x?")
}

func TestThemeIsLoadedAndStored(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	term := start(t, 80, 24, Options{Backend: b, Chat: chat})
	term.shows("@planner")
	before := term.snapshot()
	term.typed("/theme light<enter>")
	term.until("the theme stored", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return b.config["theme"] == "light" })
	term.until("other colours", func() bool { return term.snapshot() != before })
	term.typed("/theme nowhere<enter>")
	term.shows("the theme cannot be used")
}

func TestPanelShowsAndCancels(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	chat.calls = append(chat.calls, entry(1))
	run := leaf(5, 0, "sys.exec", `{"command":"sleep 9"}`, toolrt.StatusRunning)
	chat.message(model.Assistant, "Waiting.", run)
	for _, size := range sizes {
		t.Run(fmt.Sprintf("%dx%d", size.w, size.h), func(t *testing.T) {
			chat.canceled = nil
			c := &fakeChat{row: chat.row, msgs: chat.msgs, calls: slices.Clone(chat.calls)}
			term := start(t, size.w, size.h, Options{Backend: b, Chat: c})
			term.shows("Waiting.")
			if size.w >= 110 {
				term.shows("Approvals")
				term.typed("<ctrl+t>")
				term.hides("Approvals")
			}
			term.typed("<ctrl+t>")
			term.shows("Approvals", "sys.exec")
			term.typed("x")
			term.until("the call cancelled", func() bool {
				c.mu.Lock()
				defer c.mu.Unlock()
				return slices.Equal(c.canceled, []string{run.Path})
			})
			c.output(run.Path, "live line\n")
			term.typed("<enter>")
			term.shows("live line", "sleep 9")
			done := run
			done.Status, done.Finished, done.Result = toolrt.StatusCancelled, epoch.Add(time.Second), "cancelled"
			c.put(done)
			term.typed("<esc><enter>")
			term.shows("whole output of " + run.Path)
			term.typed("<esc>2")
			term.shows("nothing was asked yet")
			term.typed("<esc>")
			if size.w < 110 {
				term.hides("Approvals")
			}
		})
	}
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
		close(hold)
		term.shows("done with go")
	}
}
