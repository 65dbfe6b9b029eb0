package tui

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// osc are operating system commands: they may end with a bell that nobody hears.
var osc = regexp.MustCompile(`\x1b\][^\x07\x1b]*(\x07|\x1b\\)`)

// bells counts the bells that were rung.
func (t *terminal) bells() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Count(osc.ReplaceAllString(t.raw.String(), ""), "\a")
}

func (t *terminal) rung(n int) {
	t.t.Helper()
	t.until("bells", func() bool { return t.bells() >= n })
	if got := t.bells(); got != n {
		t.t.Errorf("%d bells, want %d", got, n)
	}
}

func TestA03ABellPerEventWhileAnotherWindowHasTheFocus(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	ends := make(chan error)
	chat.turn = func(context.Context, *fakeChat, string) error { return <-ends }
	q := NewQuestions()
	var seconds atomic.Int64
	o := Options{Backend: b, Chat: chat, Questions: q, Getenv: func(string) string { return "" },
		Now: func() time.Time { return epoch.Add(time.Duration(seconds.Add(6)) * time.Second) }}
	term := start(t, 100, 30, o)
	turn := func(err error, shows string) {
		term.typed("go<enter>")
		term.shows("working")
		ends <- err
		term.hides("working")
		term.shows(shows)
	}
	turn(nil, "@planner")
	term.rung(0) // somebody is looking

	term.typed("\x1b[O")
	turn(nil, "@planner")
	term.rung(1)
	answer := ask(t, q, approval("q1", "1", "tool.first"))
	term.shows("1 ask")
	term.rung(2)
	term.typed("<esc>")
	got(term, answer)
	turn(errors.New("no network"), "no network")
	term.rung(3)

	term.typed("\x1b[I")
	turn(nil, "@planner")
	term.rung(3)
}

func TestA03BellsAreLimited(t *testing.T) {
	m := &screen{opts: Options{Notify: NotifyAlways, Getenv: func(string) string { return "" }, Now: func() time.Time { return epoch }}}
	rung := 0
	for range 20 {
		if m.notify("the turn is done") != nil {
			rung++
		}
	}
	if rung != 1 {
		t.Errorf("%d bells for 20 events at once", rung)
	}
	off := &screen{opts: Options{Notify: NotifyOff, Now: func() time.Time { return epoch }}}
	if off.notify("the turn is done") != nil {
		t.Error("a bell although they are off")
	}
}

func TestA03NotificationsWhereTheTerminalShowsThem(t *testing.T) {
	for env, want := range map[string]bool{"": false, "TERM_PROGRAM=ghostty": true, "TERM_PROGRAM=WezTerm TMUX=/tmp/x": false, "TERM=xterm-kitty": true, "TERM_PROGRAM=vscode": false} {
		set := map[string]string{}
		for _, pair := range strings.Fields(env) {
			name, value, _ := strings.Cut(pair, "=")
			set[name] = value
		}
		if got := showsNotifications(func(name string) string { return set[name] }); got != want {
			t.Errorf("%q: %v", env, got)
		}
	}
}

// The terminal's tab shows that a turn runs, and that it waits, where that is not taken for a
// notification; at the end nothing of it is left.
func TestProgressWhereTheTerminalShowsIt(t *testing.T) {
	for env, want := range map[string]bool{"": false, "TERM_PROGRAM=ghostty": true, "TERM_PROGRAM=iTerm.app": false, "TERM_PROGRAM=WezTerm TMUX=/tmp/x": false,
		"VTE_VERSION=8000": true, "VTE_VERSION=6800": false, "WT_SESSION=1": true, "ConEmuANSI=ON": true} {
		set := map[string]string{}
		for _, pair := range strings.Fields(env) {
			name, value, _ := strings.Cut(pair, "=")
			set[name] = value
		}
		if got := showsProgress(func(name string) string { return set[name] }); got != want {
			t.Errorf("%q: %v", env, got)
		}
	}
	b, chat := newBackend(), newChat("s1")
	ends := make(chan error)
	chat.turn = func(context.Context, *fakeChat, string) error { return <-ends }
	q := NewQuestions()
	term := start(t, 100, 30, Options{Backend: b, Chat: chat, Questions: q, Getenv: func(name string) string {
		return map[string]string{"TERM_PROGRAM": "ghostty"}[name]
	}})
	last := func(want string) {
		t.Helper()
		term.until("progress "+want, func() bool {
			term.mu.Lock()
			defer term.mu.Unlock()
			raw := term.raw.String()
			i := strings.LastIndex(raw, "\x1b]9;4;")
			return i >= 0 && strings.HasPrefix(raw[i+len("\x1b]9;4;"):], want)
		})
	}
	term.shows("@planner")
	term.typed("go<enter>")
	last("3")
	answer := ask(t, q, approval("q1", "1", "tool.first"))
	last("4;100")
	term.typed("<esc>")
	got(term, answer)
	last("3")
	ends <- nil
	last("0")
}
