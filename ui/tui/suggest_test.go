package tui

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// listing is a backend that lists files.
type listing struct {
	*fakeBackend
	paths func(visit func(string) error) error
}

func (l listing) Files(_ context.Context, visit func(string) error) error { return l.paths(visit) }

// A file is found by a part of its name, quoted where it must be, and an ignored one by its folder;
// one that no model could read is refused with its size (I-10).
func TestI10MentionFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"src/my notes.md", "build/out.bin", "huge.iso"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(filepath.Join(dir, "huge.iso"), 2<<30); err != nil {
		t.Skip(err)
	}
	b, chat := newBackend(), newChat("s1")
	chat.row.Dir = dir
	term := start(t, 80, 24, Options{Backend: listing{b, func(visit func(string) error) error {
		for _, p := range []string{"src/my notes.md", "huge.iso"} {
			if err := visit(p); err != nil {
				return err
			}
		}
		return nil
	}}, Chat: chat})
	term.shows("@planner ❯")
	term.typed("look at @mynot")
	term.shows("src/my notes.md", "Tab complete")
	term.typed("<tab>")
	term.shows(`❯ look at @"src/my notes.md"`)
	term.typed("and @huge")
	term.shows("huge.iso")
	term.typed("<tab>")
	term.shows("huge.iso has 2.0 GiB: too large")
	term.typed("<ctrl+u>@./bu")
	term.shows("./build/")
	term.typed("<tab>")
	term.shows("./build/out.bin")
	term.typed("<tab>")
	term.shows("❯ @./build/out.bin")
}

// The first names are there while a large tree is still being walked (I-10).
func TestI10FirstNamesWhileWalking(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	hold := make(chan struct{})
	term := start(t, 80, 24, Options{Backend: listing{b, func(visit func(string) error) error {
		for i := range 1000 {
			if err := visit(fmt.Sprintf("pkg/file%d.go", i)); err != nil {
				return err
			}
		}
		<-hold
		return visit("pkg/last.go")
	}}, Chat: chat})
	defer close(hold)
	term.shows("@planner ❯")
	term.typed("@file99")
	term.shows("pkg/file99.go")
	term.typed("<esc> x")
	term.hides("pkg/file99.go")
}

func TestCompleteCommands(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	term := start(t, 80, 24, Options{Backend: b, Chat: chat})
	term.shows("@planner ❯")
	term.typed("/mod")
	term.shows("/mode [ask|edits|plan|auto]", "/model [provider/name]")
	term.typed("<tab>")
	term.shows("❯ /mode", "changes of files in the working folder")
	term.typed("<down><enter>") // a line that was moved to is taken, and not sent yet
	term.shows("❯ /mode edits")
	term.typed("<enter>")
	term.shows("mode edits: changes")
}

// The leader key shows what may follow when nothing does, and commands wait for the end of a turn
// unless they only look.
func TestLeaderPaletteAndQueuedCommands(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	hold := make(chan struct{})
	chat.turn = held(hold)
	b.chats["s2"] = newChat("s2")
	term := start(t, 80, 24, Options{Backend: b, Chat: chat})
	term.shows("@planner ❯")
	term.typed("\x18")
	term.shows("Ctrl+X then", "undo edits", "permissions")
	term.typed("q")
	term.shows("nothing is queued")
	term.typed("\x10mode")
	term.shows("Commands  /mode", "what is asked before it runs")
	term.typed("<enter>")
	term.shows("Mode, now ask")
	term.typed("<esc>go<enter>")
	term.shows("thinking about go")
	term.typed("/back later<enter>")
	term.shows("/back waits for the end of the turn", "queued 1: /back later")
	close(hold)
	term.until("the queued command", func() bool {
		chat.mu.Lock()
		defer chat.mu.Unlock()
		return len(chat.back) == 1 && chat.back[0] == "later"
	})
}

func TestMention(t *testing.T) {
	for in, want := range map[string]string{
		"@": "@", "a @b": "@b", "mail me@here": "", `see @"my fi`: `@"my fi`, `@"a b" c`: "", "@a b": "", "x\n@y": "@y", "(@z": "@z", "": "",
	} {
		if got := mention(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// Every key of the leader belongs to a command, and every command is found by its own name.
func TestCommandsAreWhole(t *testing.T) {
	for a, name := range leaderCommands {
		if _, ok := findCommand(name); !ok {
			t.Errorf("%s: there is no command %q", a, name)
		}
	}
	seen := map[string]bool{}
	for _, c := range commands() {
		for _, name := range append([]string{c.name}, c.aliases...) {
			if seen[name] {
				t.Errorf("/%s is there twice", name)
			}
			seen[name] = true
		}
		if c.help == "" || c.group == "" || c.run == nil || strings.HasSuffix(c.help, ".") || c.needs && c.args == "" {
			t.Errorf("/%s: %+v", c.name, c)
		}
	}
}

// A theme is shown while one looks at it, and the old one comes back with Esc.
func TestThemePreview(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	term := start(t, 80, 24, Options{Backend: b, Chat: chat})
	term.shows("@planner ❯")
	before := term.snapshot()
	term.typed("/theme<enter>")
	term.shows("Theme", "dark", "light")
	opened := term.snapshot()
	term.typed("<down>")
	term.until("another look", func() bool { return strings.Count(term.snapshot(), "fg") > 0 && term.snapshot() != opened })
	term.typed("<esc>")
	term.hides("Theme")
	term.until("the old look", func() bool { return term.snapshot() == before })
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.config["theme"] != "" {
		t.Errorf("the theme %q was stored", b.config["theme"])
	}
}
