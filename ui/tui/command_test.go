package tui

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"parley/agent"
	"parley/agent/model"
	"parley/toolrt"
)

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
	term.shows("open in another parley")
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

func TestCommands(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	chat.calls = append(chat.calls, entry(1))
	chat.message(model.Assistant, "the newest reply", leaf(5, 0, "sys.exec", `{"command":"sleep 9"}`, toolrt.StatusRunning))
	term := start(t, 100, 30, Options{Backend: b, Chat: chat})
	term.shows("@planner", "sleep 9")
	for _, c := range []struct{ typed, shows string }{
		{"/nope", "there is no command /nope"},
		{"<ctrl+u>/mode edits", "mode edits: changes of files"},
		{"/mode", "Mode, now edits"},
		{"<esc>/mode fast", `no mode "fast"`},
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
	term := start(t, 100, 320, Options{Backend: b, Chat: chat})
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
