//go:build unix && !linux

package command

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// newSession gives the program a session of its own: no controlling terminal, and a process group
// that can be ended as one.
func newSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// tree is the process group of one call. Processes that leave the group cannot be found here.
type tree struct {
	pgid    int
	killing bool
}

func newTree(pgid int, _ string, _ []uint64) tree { return tree{pgid: pgid} }

func (t *tree) terminate() {
	_ = unix.Kill(-t.pgid, unix.SIGTERM)
	_ = unix.Kill(-t.pgid, unix.SIGCONT) // a stopped process must run to end itself
}

func (t *tree) kill() {
	t.killing = true
	_ = unix.Kill(-t.pgid, unix.SIGKILL)
}

// again repeats the kill for processes that came after it.
func (t *tree) again() {
	if t.killing {
		t.kill()
	}
}

// hunt cannot find more than kill did here.
func (t *tree) hunt() {}

func (t *tree) alive() bool { return unix.Kill(-t.pgid, 0) == nil }

func (t *tree) release() {}

func (t *tree) left() []Left {
	if !t.alive() {
		return nil
	}
	return []Left{{PID: t.pgid}}
}

func groupTree(pgid int) (tree, bool) { return tree{pgid: pgid}, true }
