package toolrt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func savedText(t *testing.T, dir, id string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, id))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// filesIn are the names of all files in dir.
func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// prints is a tool whose result is what it writes.
func prints(text string) toolFunc {
	return func(_ context.Context, inv *Invocation) (Output, error) {
		fmt.Fprint(inv.Out, text)
		return Output{FromOut: true}, nil
	}
}

func TestR62R63WholeOutputIsSaved(t *testing.T) {
	long := lines(50_000, "line %d")
	for name, tool := range map[string]toolFunc{"returned": says(long), "written": prints(long)} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "outputs")
			r := newRuntime(t, Options{OutputDir: dir, ReadTool: "sysOutput"})
			c := call("x", exclusive, tool)
			c.OutputID = "t1.r2-3_x"
			o := run(t, r, c)
			if !o.Truncated || o.OutputID != c.OutputID || o.OutputBytes != int64(len(long)) || o.OutputLines != 50_000 {
				t.Errorf("outcome %+v", o)
			}
			if !strings.Contains(o.Message, "; saved as t1.r2-3_x, read it with sysOutput ...]") || len(o.Message) > 97280 {
				t.Errorf("%d bytes: no mention of the file", len(o.Message))
			}
			if savedText(t, dir, o.OutputID) != long || !slices.Equal(filesIn(t, dir), []string{c.OutputID}) {
				t.Errorf("files %q", filesIn(t, dir))
			}
			if info, err := os.Stat(filepath.Join(dir, o.OutputID)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
		})
	}
}

func TestR63ShortOutputLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	r := newRuntime(t, Options{OutputDir: dir})
	for _, tool := range []toolFunc{says("short"), prints("short")} {
		if o := run(t, r, call("x", exclusive, tool)); o.Message != "short" || o.OutputID != "" || o.Truncated {
			t.Errorf("outcome %+v", o)
		}
	}
	if files := filesIn(t, dir); len(files) > 0 {
		t.Errorf("files %q", files)
	}
}

func TestR62FailedSaveIsNotClaimed(t *testing.T) {
	notDir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(notDir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	long := lines(50_000, "line %d")
	for name, dir := range map[string]string{"no folder": "", "not a folder": notDir} {
		for _, tool := range []toolFunc{says(long), prints(long)} {
			o := run(t, newRuntime(t, Options{OutputDir: dir, ReadTool: "sysOutput"}), call("x", exclusive, tool))
			if o.OutputID != "" || !strings.Contains(o.Message, "; the rest was not kept ...]") || strings.Contains(o.Message, "sysOutput") {
				t.Errorf("%s: output id %q", name, o.OutputID)
			}
		}
	}
}

func TestR63R64IDsStayInTheFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "outputs")
	for _, id := range []string{"../../x", "/etc/passwd", "a/b", `a\b`, "", ".", "..", ".hidden", "a\x00", strings.Repeat("x", 200), "x\n"} {
		c := call("x", exclusive, prints(lines(50_000, "%d")))
		c.OutputID = id
		if o := run(t, newRuntime(t, Options{OutputDir: dir}), c); o.OutputID != "" {
			t.Errorf("%q was used", id)
		}
		if _, err := OpenOutput(dir, id); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if files := filesIn(t, filepath.Dir(dir)); len(files) > 0 {
		t.Errorf("files %q", files)
	}
	if _, err := OpenOutput(dir, "unknown"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestR65CappedFileKeepsBothEnds(t *testing.T) {
	for _, size := range []int{999, 1000, 1001, 1499, 1500, 1501, 2000, 2499, 9999} {
		text := strings.Repeat("0123456789", 1000)[:size]
		for _, piece := range []int{1, 7, 500, 100_000} {
			f := outputFile{path: filepath.Join(t.TempDir(), "x"), limit: 1000}
			for rest := text; rest != ""; {
				n := min(piece, len(rest))
				f.write([]byte(rest[:n]))
				rest = rest[n:]
			}
			if ok, err := f.finish(); !ok || err != nil {
				t.Fatal(ok, err)
			}
			want := text
			if size > 1000 {
				want = text[:500] + fmt.Sprintf("\n[... %s bytes were not kept ...]\n", grouped(int64(size-1000))) + text[size-500:]
			}
			if got := savedText(t, filepath.Dir(f.path), "x"); got != want || f.partial() != (size > 1000) {
				t.Errorf("%d bytes in pieces of %d: got %d bytes %q", size, piece, len(got), got)
			}
			if files := filesIn(t, filepath.Dir(f.path)); len(files) != 1 {
				t.Errorf("files %q", files)
			}
		}
	}
}

func TestR64ReadLines(t *testing.T) {
	dir := t.TempDir()
	text := "one\n\nthree\n" + strings.Repeat("€", 40_000) + "\nfive"
	if _, err := saveOutput(filepath.Join(dir, "x"), text, 1<<20); err != nil {
		t.Fatal(err)
	}
	out, err := OpenOutput(dir, "x")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	for _, c := range []struct {
		first, count, max int
		want              []string
	}{
		{1, 3, 1 << 20, []string{"one", "", "three"}},
		{2, 1, 1 << 20, []string{""}},
		{5, 10, 1 << 20, []string{"five"}},
		{6, 10, 1 << 20, nil},
		{1, 10, 4, []string{"one", ""}},
		{1, 10, 0, []string{"one"}},
		{1, 0, 0, nil},
	} {
		got, total, err := out.Lines(c.first, c.count, c.max)
		if !slices.Equal(got, c.want) || total != 5 || err != nil {
			t.Errorf("%+v: got %q of %d, %v", c, got, total, err)
		}
	}
	long, _, _ := out.Lines(4, 1, 1)
	if len(long) != 1 || len(long[0]) > maxLine+20 || !strings.HasSuffix(long[0], "€ [line cut]") {
		t.Errorf("the long line: %d bytes", len(long[0]))
	}
}

// TestHalfDoneOutputIsReadable: while a call runs its file holds what it printed, and its process
// is on record; both are what a resumed program finds after a crash.
func TestHalfDoneOutputIsReadable(t *testing.T) {
	dir := t.TempDir()
	r := newRuntime(t, Options{OutputDir: dir, Policy: Policy{MaxSavedBytes: 4000}})
	born := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := call("x", exclusive, func(_ context.Context, inv *Invocation) (Output, error) {
		inv.Process(4711, born)
		inv.Process(4712, born)
		fmt.Fprint(inv.Out, lines(1000, "line %d"))
		for deadline := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
			out, err := OpenOutput(dir, "x")
			if err == nil {
				_, total, err := out.Lines(1, 1, 1)
				last, _, _ := out.Lines(total, 1, 1000)
				out.Close()
				if err == nil && len(last) == 1 && last[0] == "line 1000" {
					break
				}
			}
			if time.Now().After(deadline) {
				return Output{Text: "the last line never came"}, nil
			}
		}
		found, err := Processes(dir, "x")
		want := []Process{{4711, born}, {4712, born}}
		if err != nil || !slices.Equal(found, want) {
			return Output{}, fmt.Errorf("processes %v, %v", found, err)
		}
		return Output{Text: "fine"}, nil
	})
	if o := run(t, r, c); o.Message != "fine" {
		t.Errorf("message %q", o.Message)
	}
	if files := filesIn(t, dir); len(files) > 0 {
		t.Errorf("files %q", files)
	}
	if found, err := Processes(dir, "x"); found != nil || err != nil {
		t.Errorf("processes %v, %v after the call", found, err)
	}
}

func TestLeftoversOfACrashAreCleared(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"x", "x.tail", "x.tail0", "x.proc"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, newRuntime(t, Options{OutputDir: dir}), call("x", exclusive, says("new")))
	if files := filesIn(t, dir); len(files) > 0 {
		t.Errorf("files %q", files)
	}
}

func TestStdoutIsTheResultStderrIsShown(t *testing.T) {
	dir := t.TempDir()
	seen := &observed{}
	r := newRuntime(t, Options{OutputDir: dir, Observer: seen})
	o := run(t, r, call("x", exclusive, func(_ context.Context, inv *Invocation) (Output, error) {
		stdout := inv.NewCapture()
		for _, s := range []string{"result ", "more"} {
			fmt.Fprint(stdout, s)
			fmt.Fprint(inv.Out, s)
		}
		fmt.Fprint(inv.Out, "warning")
		return Output{Capture: stdout}, nil
	}))
	if o.Message != "result more" || o.OutputID != "x" || savedText(t, dir, "x") != "result morewarning" {
		t.Errorf("message %q, files %q", o.Message, filesIn(t, dir))
	}
	if got := strings.Join(seen.pieces["x"], ""); got != "result morewarning" {
		t.Errorf("shown %q", got)
	}
	o = run(t, r, call("fails", exclusive, func(_ context.Context, inv *Invocation) (Output, error) {
		fmt.Fprint(inv.Out, "out\nerr\n")
		return Output{Text: "ERROR: got (exit status 1) while running tool, OUTPUT: ", FromOut: true, IsError: true}, nil
	}))
	if want := "ERROR: got (exit status 1) while running tool, OUTPUT: out\nerr\n"; o.Message != want || o.Status != StatusFailed || o.OutputID != "" || o.OutputLines != 2 {
		t.Errorf("outcome %+v", o)
	}
}

func TestR37ProgressIsJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &observed{}
		r := newRuntime(t, Options{Observer: seen})
		o := run(t, r, call("x", exclusive, func(_ context.Context, inv *Invocation) (Output, error) {
			for i := range 1000 {
				fmt.Fprintln(inv.Out, i)
				time.Sleep(100 * time.Microsecond)
			}
			return Output{FromOut: true}, nil
		}))
		pieces := seen.pieces["x"]
		if len(pieces) == 0 || len(pieces) > 3 || strings.Join(pieces, "") != o.Message {
			t.Errorf("%d pieces for 1,000 writes in 0.1 s", len(pieces))
		}
	})
}

func TestR37ProgressComesWhileTheToolRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &observed{}
		r := newRuntime(t, Options{Observer: seen})
		o := run(t, r, call("x", exclusive, func(_ context.Context, inv *Invocation) (Output, error) {
			fmt.Fprint(inv.Out, "question? ")
			time.Sleep(time.Second)
			synctest.Wait()
			return Output{Text: fmt.Sprint(seen.pieces["x"])}, nil
		}))
		if o.Message != "[question? ]" {
			t.Errorf("shown while running: %s", o.Message)
		}
	})
}

// TestR37BurstThenSilence: what comes faster than it is shown is shown all the same, without
// waiting for more.
func TestR37BurstThenSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &observed{}
		o := run(t, newRuntime(t, Options{Observer: seen}), call("x", exclusive, func(_ context.Context, inv *Invocation) (Output, error) {
			fmt.Fprint(inv.Out, "a")
			time.Sleep(60 * time.Millisecond)                            // shown
			fmt.Fprint(inv.Out, strings.Repeat("x", streamRoom-3)+"end") // no more room: taken at once
			time.Sleep(time.Second)
			synctest.Wait()
			pieces := seen.pieces["x"]
			return Output{Text: fmt.Sprint(strings.HasSuffix(pieces[len(pieces)-1], "end"))}, nil
		}))
		if o.Message != "true" {
			t.Error("the end of the burst was not shown")
		}
	})
}

func TestR63CaptureAloneIsSaved(t *testing.T) {
	dir := t.TempDir()
	long := lines(10_000, "line %d") // within twice what is kept
	o := run(t, newRuntime(t, Options{OutputDir: dir}), call("x", exclusive, func(_ context.Context, inv *Invocation) (Output, error) {
		c := inv.NewCapture()
		fmt.Fprint(c, long)
		return Output{Capture: c}, nil
	}))
	if !o.Truncated || o.OutputID != "x" || savedText(t, dir, "x") != long {
		t.Errorf("output id %q", o.OutputID)
	}
}

func TestR37ProgressBars(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &observed{}
		c := call("x", exclusive, func(_ context.Context, inv *Invocation) (Output, error) {
			for i := range 101 {
				fmt.Fprintf(inv.Out, "\r\x1b[K%d%%", i)
				time.Sleep(10 * time.Millisecond)
			}
			fmt.Fprint(inv.Out, "\r\ndone")
			return Output{FromOut: true}, nil
		})
		c.Tool.(*FuncTool).SpecValue.Form = FormTerminal
		o := run(t, newRuntime(t, Options{Observer: seen}), c)
		live := strings.Join(seen.pieces["x"], "")
		if o.Message != "100%\ndone" || !strings.HasSuffix(live, "100%\ndone") || strings.ContainsAny(live, "\r\x1b") {
			t.Errorf("message %q, shown %q", o.Message, live)
		}
		if n := strings.Count(live, "\n"); n < 5 || n > 15 {
			t.Errorf("%d steps shown in a second", n)
		}
	})
}

func TestR37WritesAfterTheEndAreDropped(t *testing.T) {
	var inv *Invocation
	run(t, newRuntime(t, Options{Observer: &observed{}}), call("x", exclusive, func(_ context.Context, i *Invocation) (Output, error) {
		inv = i
		return Output{}, nil
	}))
	for range 100 {
		if n, err := inv.Out.Write(make([]byte, 100_000)); n != 100_000 || err != nil {
			t.Fatal(n, err)
		}
	}
}

func TestT05R66HugeOutputStaysSmall(t *testing.T) {
	total := int64(1 << 30)
	if underRace {
		total = 1 << 26
	}
	if testing.Short() {
		total = 64 << 20
	}
	dir := t.TempDir()
	seen := &counting{}
	r := newRuntime(t, Options{OutputDir: dir, Observer: seen})
	line := strings.Repeat("y", 63) + "\n"
	chunk := []byte(strings.Repeat(line, 512))
	var peak uint64
	c := call("yes", exclusive, func(_ context.Context, inv *Invocation) (Output, error) {
		stdout := inv.NewCapture()
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		before := m.HeapAlloc
		fmt.Fprint(stdout, "first\n")
		fmt.Fprint(inv.Out, "first\n")
		for written := int64(0); written < total; written += int64(len(chunk)) {
			stdout.Write(chunk)
			inv.Out.Write(chunk)
			if written%(total/16) == 0 {
				runtime.GC()
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc-min(before, m.HeapAlloc))
			}
		}
		fmt.Fprint(stdout, "last\n")
		fmt.Fprint(inv.Out, "last\n")
		return Output{Capture: stdout}, nil
	})
	c.Tool.(*FuncTool).SpecValue.Form = FormTerminal
	o := run(t, r, c)
	if peak > 8<<20 {
		t.Errorf("%d bytes of memory in use", peak)
	}
	if o.OutputBytes != total+11 || o.OutputLines != total/64+2 || len(o.Message) > 97280 ||
		!strings.HasPrefix(o.Message, "first\nyyy") || !strings.HasSuffix(o.Message, "yyy\nlast\n") {
		t.Errorf("%d bytes, %d lines, message of %d bytes", o.OutputBytes, o.OutputLines, len(o.Message))
	}
	info, err := os.Stat(filepath.Join(dir, "yes"))
	if err != nil || info.Size() < 32<<20 || info.Size() > 32<<20+100 {
		t.Errorf("file of %d bytes, %v", info.Size(), err)
	}
	if seen.longest > maxLive {
		t.Errorf("a piece of %d bytes was shown", seen.longest)
	}
}

// counting is an observer that keeps nothing.
type counting struct{ longest int }

func (c *counting) Output(_ *Call, chunk string) { c.longest = max(c.longest, len(chunk)) }
