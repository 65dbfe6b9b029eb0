//go:build linux

package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/creack/pty"
)

// startPty shows the screen in a real pseudo-terminal, whose other end is the emulator.
func startPty(t *testing.T, w, h int, o Options) (*terminal, *os.File) {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo-terminal here: %v", err)
	}
	if err := pty.Setsize(tty, &pty.Winsize{Rows: uint16(h), Cols: uint16(w)}); err != nil {
		t.Fatal(err)
	}
	o.Input, o.Output = tty, tty
	ended := make(chan struct{}, 2)
	t.Cleanup(func() { // after the screen has ended
		_ = tty.Close()
		_ = master.Close()
		<-ended
		<-ended
	})
	tm := start(t, w, h, o)
	go func() {
		defer func() { ended <- struct{}{} }()
		_, _ = io.Copy(tm, master) // ends with an error when the terminal is closed
	}()
	go func() {
		defer func() { ended <- struct{}{} }()
		_, _ = io.Copy(master, tm.in)
	}()
	return tm, tty
}

func TestI08Editor(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "with space")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "edit")
	body := `#!/bin/sh
case "$1" in
save) printf 'from the editor\n' >"$2" ;;
fail) printf 'saved before\n' >"$2"; exit 1 ;;
gone) rm "$2" ;;
kill) printf 'half' >"$2"; kill -9 $$ ;;
esac
`
	if err := os.WriteFile(script, []byte(body), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, editor string
		shows        []string
	}{
		{"arguments and quotes", fmt.Sprintf("%q save", script), []string{"❯ from the editor"}},
		{"saves then fails", fmt.Sprintf("%q fail", script), []string{"❯ saved before", "ended with an error"}},
		{"deletes the file", fmt.Sprintf("%q gone", script), []string{"❯ my draft", "left no file"}},
		{"is killed", fmt.Sprintf("%q kill", script), []string{"❯ my draft", "the editor failed"}},
		{"is missing", "no-such-editor-here", []string{"❯ my draft", "the editor failed"}},
		{"is no command", `"unclosed`, []string{"❯ my draft", "which is no command"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, chat := newBackend(), newChat("s1")
			chat.turn = held(nil)
			tm, _ := startPty(t, 80, 24, Options{Backend: b, Chat: chat, Getenv: func(k string) string {
				return map[string]string{"EDITOR": c.editor}[k]
			}})
			tm.shows("@planner")
			tm.typed("go<enter>")
			tm.shows("thinking about go")
			tm.typed("my draft")
			tm.shows("❯ my draft")
			tm.typed("<ctrl+g>")
			tm.shows(c.shows...)
			chat.piece(" and on") // the stream went on meanwhile
			tm.shows("thinking about go and on", "login-bug")
		})
	}
}

// boom panics where it is told to.
type boom struct{ where string }

func (b boom) apply(m *screen) tea.Cmd {
	switch b.where {
	case "update":
		panic("a fault in Update")
	case "view":
		m.opts.Backend = bomb{m.opts.Backend}
		m.session.blank = true
	case "command":
		return tea.Batch(nil, m.tasks.cmd(func(context.Context) tea.Msg { panic("a fault in a command") }))
	}
	return nil
}

type bomb struct{ Backend }

func (bomb) Greeting() string { panic("a fault in View") }

// However it ends, the terminal is as it was.
func TestR10TerminalIsRestored(t *testing.T) {
	self := func(s os.Signal) func(*testing.T, *terminal) {
		return func(t *testing.T, _ *terminal) {
			p, err := os.FindProcess(os.Getpid())
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Signal(s); err != nil {
				t.Fatal(err)
			}
		}
	}
	fault := func(where string) func(*testing.T, *terminal) {
		return func(_ *testing.T, tm *terminal) { tm.program().Send(boom{where}) }
	}
	signal := func(s os.Signal) func(error) bool {
		return func(err error) bool {
			var e *SignalError
			return errors.As(err, &e) && e.Signal == s
		}
	}
	none := func(err error) bool { return err == nil }
	panicked := func(err error) bool {
		var e *PanicError
		return errors.Is(err, ErrPanic) && errors.As(err, &e) && strings.Contains(string(e.Stack), "pty_linux_test.go")
	}
	for _, c := range []struct {
		name string
		end  func(*testing.T, *terminal)
		ok   func(error) bool
	}{
		{"quit key", func(_ *testing.T, tm *terminal) { tm.typed("<ctrl+d>") }, none},
		{"Ctrl+C twice", func(_ *testing.T, tm *terminal) { tm.typed("<ctrl+c><ctrl+c>") }, none},
		{"/quit", func(_ *testing.T, tm *terminal) { tm.typed("/quit<enter>") }, none},
		{"end of the context", func(_ *testing.T, tm *terminal) { tm.cancel() }, func(err error) bool { return errors.Is(err, context.Canceled) }},
		{"TERM", self(syscall.SIGTERM), signal(syscall.SIGTERM)},
		{"HUP", self(syscall.SIGHUP), signal(syscall.SIGHUP)},
		{"fault in Update", fault("update"), panicked},
		{"fault in View", fault("view"), panicked},
		{"fault in a command", fault("command"), panicked},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, chat := newBackend(), newChat("s1")
			tm, tty := startPty(t, 80, 24, Options{Backend: b, Chat: chat})
			tm.shows("@planner")
			c.end(t, tm)
			if err := tm.end(); !c.ok(err) {
				t.Errorf("ended with %v", err)
			}
			tm.until("the ordinary screen with its cursor", func() bool { return !tm.em.IsAltScreen() && !tm.em.CursorHidden() })
			out := tm.output()
			for _, m := range []struct{ on, off string }{
				{"\x1b[?2004h", "\x1b[?2004l"}, {"\x1b[?1049h", "\x1b[?1049l"}, {"\x1b[?1002h", "\x1b[?1002l"},
				{"\x1b[?1003h", "\x1b[?1003l"}, {"\x1b[?1004h", "\x1b[?1004l"}, {"\x1b[>4;2m", "\x1b[>4"}, {"\x1b[=1;1u", "\x1b[=0"},
			} {
				if strings.LastIndex(out, m.on) > strings.LastIndex(out, m.off) {
					t.Errorf("%q was left on", m.on)
				}
			}
			if echo, raw := echoes(t, tty); !echo || raw {
				t.Errorf("the terminal: echo %v, raw %v", echo, raw)
			}
			if !chat.closed {
				t.Error("the chat was not closed")
			}
		})
	}
}
