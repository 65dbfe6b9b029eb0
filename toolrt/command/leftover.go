package command

import (
	"context"
	"fmt"
	"time"
)

// startTolerance is how far two readings of a process's start may differ: the system tells the
// time of its own start to the second, and corrections of the clock move it.
const startTolerance = 5 * time.Second

// StartTime returns when a living process started, false where that cannot be known.
func StartTime(pid int) (time.Time, bool) { return startTime(pid) }

// Alive reports whether something of a process group that parley started earlier still runs. The
// start time tells it from a later process with the same number.
func Alive(pgid int, started time.Time) bool {
	if pgid <= 1 {
		return false
	}
	if at, ok := startTime(pgid); ok {
		return at.Sub(started).Abs() <= startTolerance
	}
	// The leader is gone. Its number is not given away while the group has members, but these
	// count only if they carry parley's mark.
	t, ok := groupTree(pgid)
	defer t.release()
	return ok && t.alive()
}

// End ends a process group left over by a crash: it is asked to end and killed one second later.
// It does nothing if the group is not alive. The error names what could not be ended, or is the
// context's cause.
func End(ctx context.Context, pgid int, started time.Time) error {
	if !Alive(pgid, started) {
		return nil
	}
	t, _ := groupTree(pgid)
	defer t.release()
	t.terminate()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	begun, killed := time.Now(), false
	for t.alive() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		if !killed && time.Since(begun) > termGrace {
			t.kill()
			killed = true
		}
		t.again()
		if time.Since(begun) > termGrace+killGrace {
			return fmt.Errorf("end process group %d: still running: %v", pgid, t.left())
		}
	}
	return nil
}
