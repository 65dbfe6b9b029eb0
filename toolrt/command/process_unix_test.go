//go:build unix

package command

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// lockedBuffer can be read while a program writes.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// shell is a Process that runs a script.
func shell(t *testing.T, script string, out, errs io.Writer) Process {
	t.Helper()
	return Process{Path: "/bin/sh", Args: []string{"-c", script}, Dir: t.TempDir(), Env: os.Environ(), Stdout: out, Stderr: errs}
}

func TestRunResult(t *testing.T) {
	var out, errs bytes.Buffer
	p := shell(t, "cat; pwd; echo oops >&2; exit 3", &out, &errs)
	p.Input = "in\n"
	res, err := Run(t.Context(), p)
	if err != nil || res.Code != 3 || res.State != "exit status 3" {
		t.Fatalf("got %+v, %v", res, err)
	}
	if out.String() != "in\n"+p.Dir+"\n" || errs.String() != "oops\n" {
		t.Errorf("stdout %q, stderr %q", &out, &errs)
	}

	res, err = Run(t.Context(), shell(t, "kill -9 $$", &out, nil))
	if err != nil || res.Code != -1 || res.State != "signal: killed" {
		t.Errorf("killed: %+v, %v", res, err)
	}

	p = shell(t, ":", &out, nil)
	p.Dir = filepath.Join(p.Dir, "none")
	if _, err = Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), "chdir "+p.Dir+": no such file or directory") {
		t.Errorf("missing folder: %v", err)
	}
	if _, err = Run(t.Context(), Process{Path: "/nonexistent/program", Stdout: &out}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing program: %v", err)
	}
}

func TestRunKeepsOrderOfStreams(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the order between two pipes is kept on Linux")
	}
	for range 20 {
		var both bytes.Buffer
		if _, err := Run(t.Context(), shell(t, "echo out; echo err >&2", &both, &both)); err != nil || both.String() != "out\nerr\n" {
			t.Fatalf("got %q, %v", &both, err)
		}
		both.Reset()
		if _, err := Run(t.Context(), shell(t, "echo err >&2; echo out", &both, &both)); err != nil || both.String() != "err\nout\n" {
			t.Fatalf("got %q, %v", &both, err)
		}
	}
}

func TestRunWaitsForBackgroundOutput(t *testing.T) {
	var out bytes.Buffer
	// The child writes only after the shell is gone.
	res, err := Run(t.Context(), shell(t, "(while kill -0 $$ 2>/dev/null; do sleep 0.01; done; echo late) & echo now", &out, nil))
	if err != nil || res.Code != 0 || out.String() != "now\nlate\n" {
		t.Errorf("got %q, %+v, %v", &out, res, err)
	}
}

// started runs script until it printed "ready", cancels it, and returns what Run returned and how
// long it took after the cancel.
func cancelled(t *testing.T, script string) (string, Result, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("esc")
	out := &lockedBuffer{}
	var at time.Time
	ready := writerFunc(func(b []byte) {
		_, _ = out.Write(b)
		if at.IsZero() && strings.Contains(out.String(), "ready\n") {
			at = time.Now()
			cancel(cause)
		}
	})
	res, err := Run(ctx, shell(t, script, ready, nil))
	if !errors.Is(err, cause) {
		t.Fatalf("Run returned %v, want the cause of the cancel", err)
	}
	return out.String(), res, time.Since(at)
}

// pids returns the numbers in text, one on each line of the form "pid N".
func pids(t *testing.T, text string) []int {
	t.Helper()
	var all []int
	for line := range strings.Lines(text) {
		if n, ok := strings.CutPrefix(strings.TrimSpace(line), "pid "); ok {
			pid, err := strconv.Atoi(n)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, pid)
		}
	}
	return all
}

func isRunning(pid int) bool { _, ok := startTime(pid); return ok }

func TestR31T03CancelEndsTheTree(t *testing.T) {
	tests := []struct {
		name, script string
		want         time.Duration // at most
		linux        bool
	}{
		{"pipeline of busy children", `yes | (echo pid $$; echo ready; exec cat >/dev/null)`, 900 * time.Millisecond, false},
		{"child that ignores TERM", `trap "" TERM; echo pid $$; sleep 300 & echo pid $!; echo ready; while :; do sleep 300; done`, 2 * time.Second, false},
		{"stopped child", `sleep 300 & echo pid $!; kill -STOP $!; echo ready; wait`, 900 * time.Millisecond, false},
		{"new session holding stdout", `setsid sh -c 'echo pid $$; echo ready; exec sleep 300' & wait`, 900 * time.Millisecond, true},
		{"new session ignoring TERM", `setsid sh -c 'trap "" TERM; echo pid $$; echo ready; while :; do sleep 300; done'`, 2 * time.Second, true},
		{"orphan in a new session", `(setsid sh -c 'echo pid $$; echo ready; exec sleep 300' &) ; exec sleep 300`, 900 * time.Millisecond, true},
		{"orphan without environment", `(env -i setsid /bin/sh -c 'trap "" TERM; echo pid $$; echo ready; while :; do /bin/sleep 300; done' &) ; sleep 0.2`, 2 * time.Second, true},
		{"fork burst", `i=0; while [ $i -lt 40 ]; do setsid sh -c 'trap "" TERM; sleep 300; sleep 300' & echo pid $!; i=$((i+1)); done; echo ready; wait`, 2 * time.Second, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.linux && runtime.GOOS != "linux" {
				t.Skip("processes that left their group are found on Linux only")
			}
			out, res, took := cancelled(t, tt.script)
			if took > tt.want+200*time.Millisecond {
				t.Errorf("returned after %v, want at most %v", took, tt.want)
			}
			if len(res.Left) > 0 {
				t.Errorf("left: %+v", res.Left)
			}
			all := pids(t, out)
			if len(all) == 0 {
				t.Fatalf("no process in %q", out)
			}
			for _, pid := range all {
				if isRunning(pid) {
					t.Errorf("process %d still runs", pid)
				}
			}
		})
	}
}

func TestT03CancelLetsProgramsClean(t *testing.T) {
	out, res, took := cancelled(t, `trap 'echo cleaned; exit 4' TERM; echo ready; while :; do sleep 0.01; done`)
	if !strings.HasSuffix(out, "cleaned\n") || res.Code != 4 || took > time.Second {
		t.Errorf("got %q, %+v after %v", out, res, took)
	}
}

func TestT03CancelledBeforeStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	if _, err := Run(ctx, shell(t, "touch "+dir+"/ran", io.Discard, nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(dir + "/ran"); err == nil {
		t.Error("the command ran")
	}
}

func TestT01NoTerminal(t *testing.T) {
	script := `read x; echo "read: $? <$x>"; (echo ask >/dev/tty) 2>/dev/null; echo "tty: $?"; tty; test -t 0 || echo "no terminal"`
	var out bytes.Buffer
	res, err := Run(t.Context(), shell(t, script, &out, nil))
	if err != nil || res.Code != 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	lines := strings.Split(out.String(), "\n")
	if lines[0] != "read: 1 <>" || lines[1] == "tty: 0" || !strings.Contains(out.String(), "no terminal") {
		t.Errorf("got %q", &out)
	}
}

func TestT05MuchOutput(t *testing.T) {
	var n int64
	count := writerFunc(func(b []byte) { n += int64(len(b)) })
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	res, err := Run(t.Context(), shell(t, "head -c 300000000 /dev/zero; head -c 200000000 /dev/zero >&2", count, count))
	runtime.ReadMemStats(&after)
	if err != nil || res.Code != 0 || n != 500_000_000 {
		t.Fatalf("%d bytes, %+v, %v", n, res, err)
	}
	if grown := int64(after.TotalAlloc - before.TotalAlloc); grown > 4<<20 {
		t.Errorf("allocated %d bytes", grown)
	}
}

func TestRunReportsGroup(t *testing.T) {
	var pgid int
	var at time.Time
	var out bytes.Buffer
	p := shell(t, "echo pid $$", &out, nil)
	p.Started = func(g int, s time.Time) { pgid, at = g, s }
	if _, err := Run(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if got := pids(t, out.String()); len(got) != 1 || got[0] != pgid {
		t.Errorf("group %d, process %v", pgid, got)
	}
	if since := time.Since(at).Abs(); since > startTolerance {
		t.Errorf("started %v ago", since)
	}
}

func TestRunUnreadInput(t *testing.T) {
	p := shell(t, "exit 0", io.Discard, nil)
	p.Input = strings.Repeat("x", 1<<20)
	if res, err := Run(t.Context(), p); err != nil || res.Code != 0 {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestMarksNest(t *testing.T) {
	environ := marked([]string{"A=1", markVariable + "=outer"}, "inner")
	if got, _ := Lookup(environ, markVariable); got != "outer:inner" || len(environ) != 2 {
		t.Errorf("got %q", environ)
	}
}

func TestLeftOverProcess(t *testing.T) {
	started := make(chan struct{})
	var pgid int
	var at time.Time
	p := shell(t, "trap '' TERM; setsid sh -c 'trap \"\" TERM; echo pid $$; while :; do sleep 300; done' & echo pid $!; while :; do sleep 300; done", nil, nil)
	out := &lockedBuffer{}
	once := sync.Once{}
	p.Stdout = writerFunc(func(b []byte) {
		_, _ = out.Write(b)
		if strings.Count(out.String(), "pid ") == 2 {
			once.Do(func() { close(started) })
		}
	})
	p.Started = func(g int, s time.Time) { pgid, at = g, s }
	done := make(chan error, 1)
	go func() {
		_, err := Run(t.Context(), p)
		done <- err
	}()
	<-started
	if !Alive(pgid, at) {
		t.Error("a running group is not alive")
	}
	if Alive(pgid, at.Add(-time.Hour)) {
		t.Error("a process with another start time was taken for ours")
	}
	if err := End(t.Context(), pgid, at.Add(time.Hour)); err != nil || !Alive(pgid, at) {
		t.Errorf("End touched another process: %v", err)
	}
	if err := End(t.Context(), pgid, at); err != nil {
		t.Errorf("End: %v", err)
	}
	if Alive(pgid, at) {
		t.Error("still alive after End")
	}
	if err := <-done; err != nil {
		t.Errorf("Run: %v", err)
	}
	for _, pid := range pids(t, out.String()) {
		if isRunning(pid) && runtime.GOOS == "linux" {
			t.Errorf("process %d still runs", pid)
		}
	}
	if Alive(0, at) || Alive(1, at) || Alive(-1, at) {
		t.Error("numbers that are no process groups are alive")
	}
}
