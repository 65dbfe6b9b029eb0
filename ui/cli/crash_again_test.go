package cli_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
	"time"

	"parley/agent"
	"parley/persist"
)

// TestCrashAgain kills the run at points counted from the start of its process, and then what goes on
// with it, again and again, before it lets it end (D-05). PARLEY_CRASH says how many times.
func TestCrashAgain(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program's commands are shell scripts")
	}
	runs := 3
	if n, err := strconv.Atoi(os.Getenv("PARLEY_CRASH")); err == nil {
		runs = n
	}
	server := newCrashServer(t)
	begun := time.Now()
	c0(t, server).uncut(t)
	whole := time.Since(begun)
	for i := range runs {
		c := c0(t, server)
		server.reset()
		// The first dies early or late; those that go on die a little later each time.
		at := whole * time.Duration(i) / time.Duration(runs)
		for k := range 4 {
			c.dies(t, c.goesOn(t), at+whole*time.Duration(k)/16)
		}
		if out, err := c.goesOn(t).CombinedOutput(); err != nil {
			t.Errorf("killed first after %s: the turn cannot be gone on with: %v\n%s", at, err, out)
		}
		if f := c.check(t); f != (found{}) {
			t.Errorf("killed first after %s: %+v", at, f)
		}
	}
}

// dies kills the command that long after its start, unless it has ended.
func (c *crashed) dies(t *testing.T, cmd *exec.Cmd, after time.Duration) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	timer := time.NewTimer(after)
	defer timer.Stop()
	select {
	case <-timer.C:
		_ = cmd.Process.Kill() // it may have ended
		<-ended
	case <-ended:
	}
}

// goesOn is the command that a person would give now: the message, if none is stored.
func (c *crashed) goesOn(t *testing.T) *exec.Cmd {
	t.Helper()
	if _, err := os.Stat(c.db()); os.IsNotExist(err) {
		return c.command("go")
	}
	ctx := context.Background()
	store, err := persist.Open(ctx, c.db(), persist.Options{})
	if err != nil {
		t.Fatal(err)
	}
	row, err := store.Session(ctx, "s")
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	switch {
	case errors.Is(err, agent.ErrNotFound) || err == nil && row.Turns == 0:
		return c.command("go")
	case err != nil:
		t.Fatal(err)
	}
	return c.command()
}
