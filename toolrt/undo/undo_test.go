package undo_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/toolrt"
	"parley/toolrt/undo"
)

// folder is a working folder with a log of its own.
type folder struct {
	t   *testing.T
	dir string
	log *undo.Log
	n   int
}

func newFolder(t *testing.T, limits undo.Limits) *folder {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &folder{t: t, dir: dir, log: undo.Open(filepath.Join(t.TempDir(), "undo"), limits)}
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

// call changes the named paths in a turn, as a tool does.
func (f *folder) call(turn int, change func(), names ...string) {
	f.t.Helper()
	f.n++
	var paths []string
	for _, n := range names {
		paths = append(paths, f.path(n))
	}
	call := &toolrt.Call{OutputID: "call" + string(rune('a'+f.n)), Turn: turn, ID: "1/1.0", Name: "sys.write"}
	done, err := f.log.Begin(call, paths...)
	if err != nil {
		f.t.Fatal(err)
	}
	change()
	done()
}

func (f *folder) write(name, text string, mode os.FileMode) {
	f.t.Helper()
	path := f.path(name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) remove(name string) {
	f.t.Helper()
	if err := os.Remove(f.path(name)); err != nil {
		f.t.Fatal(err)
	}
}

// tree is what the folder holds, with modes.
func (f *folder) tree() string {
	f.t.Helper()
	var b strings.Builder
	err := filepath.Walk(f.dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || path == f.dir {
			return err
		}
		b.WriteString(strings.TrimPrefix(path, f.dir) + " " + info.Mode().String())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b.WriteString(" " + string(data))
		}
		if link, err := os.Readlink(path); err == nil {
			b.WriteString(" -> " + link)
		}
		b.WriteString("\n")
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return b.String()
}

// T-12: a turn that edits, creates, and removes files is taken back and done again with bytes, modes,
// links and folders.
func TestT12UndoRedo(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes and links are other things there")
	}
	f := newFolder(t, undo.Limits{})
	f.write("a.sh", "one", 0o755)
	f.write("old/c", "untracked", 0o640)
	if err := os.Symlink("a.sh", f.path("link")); err != nil {
		t.Fatal(err)
	}
	before := f.tree()
	f.call(1, func() { f.write("a.sh", "two", 0o755) }, "a.sh")
	f.call(1, func() { f.write("new/deep/b", "made", 0o644) }, "new", "new/deep", "new/deep/b")
	f.call(1, func() { f.remove("old/c") }, "old/c")
	f.call(1, func() { f.remove("old") }, "old")
	f.call(1, func() { f.remove("link") }, "link")
	f.call(1, func() { f.write("a.sh", "three", 0o755) }, "a.sh")
	after := f.tree()

	report, err := f.log.Undo(undo.Refuse)
	if err != nil || report.Turn != 1 || len(report.Left) > 0 {
		t.Fatalf("undo: %+v, %v", report, err)
	}
	if got := f.tree(); got != before {
		t.Errorf("after undo:\n%swant:\n%s", got, before)
	}
	if _, err := f.log.Undo(undo.Refuse); !errors.Is(err, undo.ErrNothing) {
		t.Errorf("a second undo: %v", err)
	}
	if report, err := f.log.Redo(undo.Refuse); err != nil || report.Turn != 1 {
		t.Fatalf("redo: %+v, %v", report, err)
	}
	if got := f.tree(); got != after {
		t.Errorf("after redo:\n%swant:\n%s", got, after)
	}
	if _, err := f.log.Redo(undo.Refuse); !errors.Is(err, undo.ErrNothing) {
		t.Errorf("a second redo: %v", err)
	}
	if _, err := f.log.Undo(undo.Refuse); err != nil || f.tree() != before {
		t.Errorf("undo again: %v\n%s", err, f.tree())
	}
}

// T-12: a change made by hand since is not overwritten without the person's word, and then not lost.
func TestT12HandChange(t *testing.T) {
	t.Parallel()
	f := newFolder(t, undo.Limits{})
	f.write("a", "one", 0o600)
	f.write("b", "one", 0o600)
	f.call(3, func() { f.write("a", "two", 0o600) }, "a")
	f.call(3, func() { f.write("b", "two", 0o600) }, "b")
	f.write("a", "by hand", 0o600)
	hand := f.tree()

	_, err := f.log.Undo(undo.Refuse)
	var conflict *undo.ConflictError
	if !errors.As(err, &conflict) || len(conflict.Conflicts) != 1 || conflict.Conflicts[0].Path != f.path("a") {
		t.Fatalf("undo: %v", err)
	}
	if got := f.tree(); got != hand {
		t.Errorf("refused, but:\n%s", got)
	}
	if _, err := f.log.Undo(undo.Overwrite); err != nil || strings.Contains(f.tree(), "by hand") || strings.Count(f.tree(), "one") != 2 {
		t.Fatalf("overwrite: %v\n%s", err, f.tree())
	}
	if _, err := f.log.Redo(undo.Refuse); err != nil || f.tree() != hand {
		t.Errorf("redo must bring the hand-made change back: %v\n%s", err, f.tree())
	}
	if report, err := f.log.Undo(undo.Skip); err != nil || len(report.Left) != 1 || !strings.Contains(f.tree(), "by hand") {
		t.Errorf("the change by hand is one still: %+v %v", report, err)
	}
}

// Skipped files stay, others go back; a change by hand between two calls is seen.
func TestT12SkipAndBetween(t *testing.T) {
	t.Parallel()
	f := newFolder(t, undo.Limits{})
	f.write("a", "one", 0o600)
	f.call(1, func() { f.write("a", "two", 0o600) }, "a")
	f.write("a", "by hand", 0o600)
	f.call(1, func() { f.write("a", "three", 0o600) }, "a")
	f.call(1, func() { f.write("b", "new", 0o600) }, "b")
	report, err := f.log.Undo(undo.Skip)
	if err != nil || len(report.Left) != 1 || !strings.Contains(report.Left[0].What, "between") {
		t.Fatalf("%+v, %v", report, err)
	}
	if got := f.tree(); !strings.Contains(got, "three") || strings.Contains(got, "/b ") {
		t.Errorf("got\n%s", got)
	}
}

// A turn taken back is followed by the one before it; a later change ends what can be done again.
func TestT12SeveralTurns(t *testing.T) {
	t.Parallel()
	f := newFolder(t, undo.Limits{})
	for turn, text := range []string{1: "one", 2: "two", 3: "three"} {
		if turn > 0 {
			f.call(turn, func() { f.write("a", text, 0o600) }, "a")
		}
	}
	for _, want := range []string{"two", "one"} {
		if _, err := f.log.Undo(undo.Refuse); err != nil || !strings.Contains(f.tree(), want) {
			t.Fatalf("want %s: %v\n%s", want, err, f.tree())
		}
	}
	if _, err := f.log.Redo(undo.Refuse); err != nil || !strings.Contains(f.tree(), "two") {
		t.Fatalf("redo: %v\n%s", err, f.tree())
	}
	f.call(4, func() { f.write("a", "four", 0o600) }, "a")
	if _, err := f.log.Redo(undo.Refuse); !errors.Is(err, undo.ErrNothing) {
		t.Errorf("redo of turn 3 after turn 4: %v", err)
	}
	if report, err := f.log.Undo(undo.Refuse); err != nil || report.Turn != 4 || !strings.Contains(f.tree(), "two") {
		t.Errorf("undo turn 4: %+v %v\n%s", report, err, f.tree())
	}
}

// What is too large to keep is named and left; so is a folder that a link leads elsewhere now.
func TestT12LeavesWhatItCannotBringBack(t *testing.T) {
	t.Parallel()
	f := newFolder(t, undo.Limits{File: 10})
	f.write("big", strings.Repeat("x", 11), 0o600)
	f.call(1, func() { f.write("big", "small", 0o600) }, "big")
	f.call(1, func() { f.write("d/x", "made", 0o600) }, "d", "d/x")
	outside := t.TempDir()
	if err := errors.Join(os.Rename(f.path("d"), f.path("moved")), os.WriteFile(filepath.Join(outside, "x"), []byte("made"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, f.path("d")); err != nil {
		t.Skip(err)
	}
	report, err := f.log.Undo(undo.Overwrite)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(outside, "x")); err != nil {
		t.Errorf("a file behind a link was removed: %+v", report)
	}
	if len(report.Left) < 2 || !strings.Contains(f.tree(), "small") {
		t.Errorf("%+v\n%s", report, f.tree())
	}
}

// A call that was cut off while it changed a file is asked about.
func TestT12CutOffCall(t *testing.T) {
	t.Parallel()
	f := newFolder(t, undo.Limits{})
	f.write("a", "one", 0o600)
	if _, err := f.log.Begin(&toolrt.Call{OutputID: "t1_1", Turn: 1}, f.path("a"), f.path("b")); err != nil {
		t.Fatal(err)
	}
	f.write("a", "tw", 0o600)
	var conflict *undo.ConflictError
	if _, err := f.log.Undo(undo.Refuse); !errors.As(err, &conflict) || len(conflict.Conflicts) != 1 {
		t.Fatalf("%v", err)
	}
	if _, err := f.log.Undo(undo.Overwrite); err != nil || !strings.Contains(f.tree(), "one") {
		t.Errorf("%v\n%s", err, f.tree())
	}
}

// Files that changed while a command ran are found by their times.
func TestT12ChangedDuring(t *testing.T) {
	t.Parallel()
	f := newFolder(t, undo.Limits{})
	f.write("before", "x", 0o600)
	old := time.Now().Add(-time.Hour)
	if runtime.GOOS == "linux" {
		time.Sleep(60 * time.Millisecond) // times of change cannot be set there
	} else if err := os.Chtimes(f.path("before"), old, old); err != nil {
		t.Fatal(err)
	}
	from := time.Now()
	f.write("sub/e", "y", 0o600)
	found, complete := undo.ChangedDuring(t.Context(), f.dir, []undo.Window{{From: from, To: time.Now(), Command: "make e"}})
	var names []string
	for _, item := range found {
		names = append(names, strings.TrimPrefix(item.Path, f.dir))
	}
	if got := strings.Join(names, " "); !complete || got != " /sub /sub/e" {
		t.Errorf("found %q, complete %v", got, complete)
	}
}

func TestDifferences(t *testing.T) {
	f := newFolder(t, undo.Limits{File: 64})
	f.write("kept", "same\n", 0o644)
	f.write("edited", "one\n", 0o644)
	f.write("gone", "x\n", 0o644)
	f.write("script", "y\n", 0o644)
	f.write("large", strings.Repeat("z", 100), 0o644)
	f.call(1, func() { f.write("edited", "two\n", 0o644); f.write("kept", "other\n", 0o644) }, "edited", "kept")
	f.call(1, func() { f.remove("gone"); f.write("new", "n\n", 0o644) }, "gone", "new")
	f.call(2, func() { f.write("edited", "three\n", 0o644); f.write("kept", "same\n", 0o644) }, "edited", "kept")
	f.call(2, func() { f.write("script", "y\n", 0o755); f.write("large", "small", 0o644) }, "script", "large")
	list, err := f.log.Differences()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range list {
		got = append(got, filepath.Base(d.Path)+": "+d.String()+" "+strconv.Quote(d.Was)+" "+strconv.Quote(d.Is))
	}
	want := []string{
		`edited: changed "one\n" "three\n"`, `gone: removed: was a file of 2 bytes, mode -rw-r--r-- "x\n" ""`,
		`new: new: a file of 2 bytes, mode -rw-r--r-- "" "n\n"`, `script: mode -rw-r--r--, now -rwxr-xr-x "y\n" "y\n"`, `large: changed "" ""`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
