//go:build unix

package sys

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/toolrt"
)

// shellRuntime is a runtime with a folder for outputs that the test closes.
func shellRuntime(t *testing.T, p toolrt.Policy) (*toolrt.Runtime, chan toolrt.Job) {
	t.Helper()
	told := make(chan toolrt.Job, 16)
	r := toolrt.New(toolrt.Options{Policy: p, OutputDir: t.TempDir(), ReadTool: ReadOutput, OnJob: func(j toolrt.Job) { told <- j }})
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r, told
}

// shellCall is a call of a built-in for the runtime.
func shellCall(t *testing.T, id, name, arguments string) *toolrt.Call {
	t.Helper()
	tool, ok := New(name)
	if !ok {
		t.Fatalf("no tool %s", name)
	}
	return &toolrt.Call{ID: id, OutputID: id, Label: "1", Name: name, Arguments: arguments, Tool: tool, Dir: t.TempDir(), Agents: []string{"assistant"}}
}

func runCall(t *testing.T, r *toolrt.Runtime, c *toolrt.Call) *toolrt.Outcome {
	t.Helper()
	o, err := r.Execute(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// A server that prints "ready" and then runs for ever is started in the background: the call
// returns, the model reads what it said, and sys.jobs and sys.jobs.end reach it.
func TestT02ServerInTheBackground(t *testing.T) {
	r, told := shellRuntime(t, toolrt.DefaultPolicy())
	o := runCall(t, r, shellCall(t, "a", "sys.shell", `{"command":"echo ready; exec sleep 300","background":true}`))
	if o.Status != toolrt.StatusSuccess || !strings.HasPrefix(o.Message, "ready\n[The command goes on in the background as job 1 ") || o.Job != "1" {
		t.Fatalf("got %s, job %q: %s", o.Status, o.Job, o.Message)
	}
	begun := <-told
	if !begun.Running() || begun.PGID <= 1 || begun.Command != "echo ready; exec sleep 300" || begun.Agents[0] != "assistant" {
		t.Errorf("told of %+v", begun)
	}
	list := runCall(t, r, shellCall(t, "b", "sys.jobs", `{}`))
	if !strings.Contains(list.Message, "job 1: running for 0s, 6 bytes printed: echo ready; exec sleep 300 (asked for by assistant)") {
		t.Errorf("list: %s", list.Message)
	}
	if end := runCall(t, r, shellCall(t, "c", "sys.jobs.end", `{"id":"1"}`)); end.Failed() {
		t.Errorf("end: %s", end.Message)
	}
	if j := <-told; j.Running() || j.State != "ended on request" {
		t.Errorf("told of %+v", j)
	}
	if err := syscall.Kill(-begun.PGID, 0); err != syscall.ESRCH {
		t.Errorf("the process group is still there: %v", err)
	}
	show := runCall(t, r, shellCall(t, "d", "sys.jobs", `{"id":"1"}`))
	if !strings.Contains(show.Message, "ended on request") || !strings.HasSuffix(show.Message, "\nready") {
		t.Errorf("show: %s", show.Message)
	}
}

// A running command is moved by the person; its whole output, from before and after, is in its
// file.
func TestT02MovedByThePerson(t *testing.T) {
	r, told := shellRuntime(t, toolrt.DefaultPolicy())
	c := shellCall(t, "a", "sys.exec", `{"command":"echo one; while [ ! -e go ]; do sleep 0.01; done; echo two; exit 3"}`)
	done := make(chan *toolrt.Outcome, 1)
	go func() {
		o, _ := r.Execute(t.Context(), c)
		done <- o
	}()
	for !r.Background("a") {
		time.Sleep(time.Millisecond)
	}
	o := <-done
	if !strings.Contains(o.Message, "as job 1 (the user moved it there)") || o.OutputID != "a" {
		t.Fatalf("got %q: %s", o.OutputID, o.Message)
	}
	<-told
	if err := os.WriteFile(c.Dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if j, err := r.WaitJob(t.Context(), "1"); err != nil || j.State != "exit status 3" || !j.Failed {
		t.Errorf("got %+v, %v", j, err)
	}
	read := runCall(t, r, shellCall(t, "b", "sys.read.output", `{"id":"a"}`))
	if !strings.Contains(read.Message, "one") || !strings.Contains(read.Message, "two") {
		t.Errorf("whole output: %s", read.Message)
	}
	if text, err := r.JobOutput("a"); err != nil || text != "one\ntwo\n" {
		t.Errorf("last part %q, %v", text, err)
	}
	if r.Background("a") {
		t.Error("a call that has ended can be moved")
	}
}

// At its limit a command is stopped, or moved to the background where that is set.
func TestT02AtTheLimit(t *testing.T) {
	for name, move := range map[string]bool{"stopped": false, "moved": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := shellRuntime(t, toolrt.Policy{DetachAtLimit: move})
			o := runCall(t, r, shellCall(t, "a", "sys.shell", `{"command":"echo so far; exec sleep 300","timeout":1}`))
			switch {
			case move && (o.Failed() || !strings.HasPrefix(o.Message, "so far\n") || !strings.Contains(o.Message, "(it was at its limit of 1s)")):
				t.Errorf("got %s", o.Message)
			case !move && (o.Status != toolrt.StatusTimeout || !strings.Contains(o.Message, "so far") || len(r.Jobs()) != 0):
				t.Errorf("got %s: %s", o.Status, o.Message)
			}
		})
	}
}

// A command that fails at once is answered as such, even if it was to run in the background.
func TestT02FailsAtOnce(t *testing.T) {
	r, _ := shellRuntime(t, toolrt.DefaultPolicy())
	o := runCall(t, r, shellCall(t, "a", "sys.shell", `{"command":"echo no; exit 7","background":true}`))
	if o.Message != "ERROR: exit status 7\nOUTPUT:\nno\n" || len(r.Jobs()) != 0 {
		t.Errorf("got %s", o.Message)
	}
}

// All jobs end with the runtime, but for those that are to be kept.
func TestT02JobsAtTheEnd(t *testing.T) {
	r, _ := shellRuntime(t, toolrt.DefaultPolicy())
	kept := shellCall(t, "a", "sys.shell", `{"command":"trap 'echo > alive' USR1; echo on; while :; do sleep 0.02; echo more; done","background":true}`)
	o := runCall(t, r, kept)
	runCall(t, r, shellCall(t, "b", "sys.shell", `{"command":"exec sleep 300","background":true}`))
	if err := r.KeepJob("1", true); err != nil {
		t.Fatal(o.Message, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	jobs := r.Jobs()
	defer func() { _ = syscall.Kill(-jobs[0].PGID, syscall.SIGKILL) }()
	if jobs[0].State != "left running" || jobs[1].State != "ended on request" {
		t.Fatalf("got %+v", jobs)
	}
	if err := syscall.Kill(-jobs[1].PGID, 0); err != syscall.ESRCH {
		t.Errorf("the other is still there: %v", err)
	}
	// It goes on printing and does not die of it.
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	time.Sleep(100 * time.Millisecond)
	if err := syscall.Kill(jobs[0].PGID, syscall.SIGUSR1); err != nil {
		t.Errorf("the kept one is gone: %v", err)
	}
	for ctx.Err() == nil {
		if _, err := os.Stat(kept.Dir + "/alive"); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the kept one does not answer")
}

// What is passed on whole cannot go to the background.
func TestT02WholeResultsStay(t *testing.T) {
	r, _ := shellRuntime(t, toolrt.DefaultPolicy())
	c := shellCall(t, "a", "sys.shell", `{"command":"sleep 300","background":true}`)
	c.Whole = true
	if o := runCall(t, r, c); !o.Failed() || len(r.Jobs()) != 0 {
		t.Errorf("got %s", o.Message)
	}
}
