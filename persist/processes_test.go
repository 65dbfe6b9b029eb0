package persist

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/agent"
	"parley/agent/record"
)

// TestD05KilledWhileCommitting kills a process inside its commits, again and again: what it was
// told is stored must be there, and it is the session last worked in.
func TestD05KilledWhileCommitting(t *testing.T) {
	path := databasePath(t)
	s := openAt(t, path, Options{})
	for round := range 6 {
		cmd, lines := startRole(t, "write", path, "0")
		lines.Scan()
		id := lines.Text()
		acknowledged := -1
		for enough := rand.IntN(150); acknowledged < enough && lines.Scan(); {
			acknowledged = atoi(t, lines.Text())
		}
		must(t, cmd.Process.Kill())
		for lines.Scan() {
			if n, err := strconv.Atoi(lines.Text()); err == nil { // the last line may be cut
				acknowledged = n
			}
		}
		_ = cmd.Wait()
		checkKilled(t, s, id, acknowledged)
		checkIntegrity(t, s)
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
}

// checkKilled opens the session of the dead process at once.
func checkKilled(t *testing.T, s *Store, id string, acknowledged int) {
	t.Helper()
	ctx := context.Background()
	last, err := s.Last(ctx, "/work")
	must(t, err)
	if last.ID != id || last.State != record.StateStop {
		t.Errorf("last session %s in state %s, want %s in state stop", last.ID, last.State, id)
	}
	j := reopen(t, s, id)
	messages, err := j.Messages(ctx, "0", -1)
	must(t, err)
	if n := len(messages); n != acknowledged+1 && n != acknowledged+2 {
		t.Errorf("%d messages stored, %d acknowledged", n, acknowledged+1)
	}
	for i, m := range messages {
		if want := fmt.Sprint("reply ", i); m.Index != i || m.Message.Text() != want {
			t.Errorf("message %d is %d %q", i, m.Index, m.Message.Text())
		}
	}
	entries, err := j.Entries(ctx, 1)
	must(t, err)
	for i, e := range entries {
		if unfinished := i >= len(messages); e.Key.Ordinal != i || e.Finished == unfinished {
			t.Errorf("entry %d of %d messages: %+v", i, len(messages), e)
		}
	}
	if n := len(entries); n != len(messages) && n != len(messages)+1 {
		t.Errorf("%d entries for %d messages", n, len(messages))
	}
	turn, err := j.LastTurn(ctx)
	must(t, err)
	must(t, j.EndTurn(ctx, record.Turn{Number: turn.Number, Status: record.TurnInterrupted}, record.Rows{}))
	must(t, j.Close())
}

func checkIntegrity(t *testing.T, s *Store) {
	t.Helper()
	ctx := context.Background()
	result, _, err := viewRow(ctx, s, `PRAGMA integrity_check`, nil,
		func(row scanner) (text string, err error) { return text, row.Scan(&text) })
	must(t, err)
	if result != "ok" {
		t.Errorf("integrity check: %s", result)
	}
	broken, err := viewList(ctx, s, `SELECT "table" FROM pragma_foreign_key_check`, nil,
		func(row scanner) (text string, err error) { return text, row.Scan(&text) })
	must(t, err)
	if len(broken) > 0 {
		t.Errorf("foreign keys broken in %v", broken)
	}
}

func atoi(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	must(t, err)
	return n
}

// TestD03TenProcessesWriteToOneDatabase lets them begin on a file that does not exist yet.
func TestD03TenProcessesWriteToOneDatabase(t *testing.T) {
	path := databasePath(t)
	const processes, messages = 10, 200
	ids := make([]string, processes)
	var group sync.WaitGroup
	for i := range processes {
		cmd, lines := startRole(t, "write", path, strconv.Itoa(messages))
		group.Go(func() {
			lines.Scan()
			ids[i] = lines.Text()
			for lines.Scan() {
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("process %d: %v", i, err)
			}
		})
	}
	group.Wait()
	s := openAt(t, path, Options{})
	ctx := context.Background()
	for i, id := range ids {
		list, err := s.ShownMessages(ctx, id, 0, messages+1)
		must(t, err)
		if len(list) != messages {
			t.Fatalf("process %d has %d messages", i, len(list))
		}
		for n, m := range list {
			if m.Index != n || n > 0 && m.Seq <= list[n-1].Seq {
				t.Fatalf("process %d: message %d is %d at %d", i, n, m.Index, m.Seq)
			}
		}
		row, err := s.Session(ctx, id)
		must(t, err)
		if row.State != record.StateDone || row.Turns != 1 {
			t.Errorf("session of process %d: %+v", i, row)
		}
	}
	checkIntegrity(t, s)
}

// TestD03WritesWaitForALock holds the write lock until the store has said that it waits.
func TestD03WritesWaitForALock(t *testing.T) {
	path := databasePath(t)
	said := make(chan time.Duration, 2)
	s := openAt(t, path, Options{OnBusy: func(waited time.Duration) { said <- waited }})
	j := create(t, s, record.Session{})
	cmd, lines := startRole(t, "hold", path)
	lines.Scan()

	var writing sync.WaitGroup
	var err error
	writing.Go(func() {
		err = j.BeginTurn(context.Background(), record.Turn{Number: 1, Input: "go"}, record.Rows{})
	})
	if waited := <-said; waited < 2*time.Second || waited > 4*time.Second {
		t.Errorf("said after %s, want 2s", waited)
	}
	if _, err := s.Session(context.Background(), j.Session().ID); err != nil {
		t.Errorf("a read while the database is locked: %v", err)
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	writing.Wait()
	must(t, err)
	if waited := <-said; waited != 0 {
		t.Errorf("the end of the wait was said as %s, want 0", waited)
	}
	turn, err := j.LastTurn(context.Background())
	must(t, err)
	equal(t, "input", turn.Input, "go")
}

func TestD03AWriteGivesUpInTheEnd(t *testing.T) {
	path := databasePath(t)
	s := openAt(t, path, Options{BusyTimeout: 300 * time.Millisecond})
	j := create(t, s, record.Session{})
	_, lines := startRole(t, "hold", path)
	lines.Scan()

	errs := make([]error, 3)
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() { errs[i] = j.SaveSession(context.Background(), j.Session()) })
	}
	group.Wait()
	for _, err := range errs {
		if !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "busy for ") {
			t.Errorf("got %v, want ErrBusy and how long it waited", err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	group.Go(func() { errs[0] = j.SaveSession(ctx, j.Session()) })
	waitFor(t, s.writer, 1)
	cancel() // Esc does not wait for the lock
	group.Wait()
	if !errors.Is(errs[0], context.Canceled) {
		t.Errorf("got %v, want cancelled", errs[0])
	}
}

// TestOpenWhileLocked holds the write lock all the time: the list of sessions must still show.
func TestOpenWhileLocked(t *testing.T) {
	path := databasePath(t)
	openAt(t, path, Options{})
	_, lines := startRole(t, "hold", path)
	lines.Scan()
	s := openAt(t, path, Options{BusyTimeout: time.Second})
	if _, err := s.Sessions(context.Background(), Query{}); err != nil {
		t.Error(err)
	}
}

func TestD03SecondOpenerIsTold(t *testing.T) {
	path := databasePath(t)
	s := openAt(t, path, Options{})
	ctx := context.Background()
	j := create(t, s, record.Session{})
	id := j.Session().ID
	if _, err := s.OpenSession(ctx, id); !errors.Is(err, agent.ErrLeased) {
		t.Errorf("opened twice in one process: %v, want ErrLeased", err)
	}
	must(t, j.Close())

	cmd, lines := startRole(t, "lease", path, id)
	lines.Scan()
	equal(t, "the other process", lines.Text(), "leased")
	if _, err := s.OpenSession(ctx, id); !errors.Is(err, agent.ErrLeased) {
		t.Errorf("opened beside another process: %v, want ErrLeased", err)
	}
	for what, refused := range map[string]func() error{
		"delete": func() error { return s.Delete(ctx, id) },
		"purge":  func() error { return s.Purge(ctx, id) },
		"rename": func() error { return s.Rename(ctx, id, "t", "n") },
	} {
		if err := refused(); !errors.Is(err, agent.ErrLeased) {
			t.Errorf("%s: %v, want ErrLeased", what, err)
		}
	}
	row, err := s.Session(ctx, id)
	must(t, err)
	equal(t, "state while the other process lives", row.State, record.StateRun)

	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	row, err = s.Session(ctx, id)
	must(t, err)
	equal(t, "state after it was killed", row.State, record.StateStop)
	again := reopen(t, s, id) // at once
	equal(t, "state of the session opened", again.Session().State, record.StateStop)
}

// TestLookingDoesNotLease opens a session again and again while others look at its state.
func TestLookingDoesNotLease(t *testing.T) {
	path := databasePath(t)
	s, looker := openAt(t, path, Options{}), openAt(t, path, Options{})
	ctx := context.Background()
	j := create(t, s, record.Session{})
	id := j.Session().ID
	beginTurn(t, j, 1, record.Rows{})
	must(t, j.Close())
	done := make(chan struct{})
	var looking sync.WaitGroup
	for range 2 {
		looking.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					if _, err := looker.Session(ctx, id); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	for range 100 {
		j, err := s.OpenSession(ctx, id)
		if err != nil {
			t.Errorf("refused because somebody looked: %v", err)
			break
		}
		must(t, j.Close())
	}
	close(done)
	looking.Wait()
}
