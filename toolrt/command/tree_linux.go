package command

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// newSession gives the program a session of its own: no controlling terminal, and a process group
// that can be ended as one.
func newSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// tree is all processes of one call: those of its session, those that carry its mark in their
// environment, children of these, and at last whoever holds its output pipes. A process may leave
// the session or clear its environment; leaving everything at once takes intent.
type tree struct {
	pgid    int
	mark    string
	pipes   []string
	killing bool
	hunting bool // look for holders of the pipes too
	// known remembers, by process and start, whether one belongs to the tree: reading an
	// environment is the costly part, and a process that lost its parent stays ours.
	known map[identity]bool
}

// identity tells a process from a later one with the same number.
type identity struct {
	pid   int
	start uint64
}

func newTree(pgid int, mark string, inodes []uint64) tree {
	t := tree{pgid: pgid, mark: mark, known: map[identity]bool{}}
	for _, inode := range inodes {
		t.pipes = append(t.pipes, "pipe:["+strconv.FormatUint(inode, 10)+"]")
	}
	return t
}

func (t *tree) terminate() {
	t.signal(unix.SIGTERM)
	t.signal(unix.SIGCONT) // a stopped process must run to end itself
}

func (t *tree) kill() {
	t.killing = true
	t.signal(unix.SIGKILL)
}

// hunt kills whoever holds the output pipes as well.
func (t *tree) hunt() {
	t.hunting = true
	clear(t.known)
	t.kill()
}

// again repeats the kill for processes that came after it.
func (t *tree) again() {
	if t.killing {
		t.signal(unix.SIGKILL)
	}
}

func (t *tree) alive() bool { return len(t.members()) > 0 }

func (t *tree) release() {}

func (t *tree) signal(sig unix.Signal) {
	_ = unix.Kill(-t.pgid, sig)
	for _, p := range t.members() {
		_ = unix.Kill(p.pid, sig)
	}
}

// left describes the processes that are still there.
func (t *tree) left() []Left {
	var all []Left
	for _, p := range t.members() {
		line, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.pid), "cmdline"))
		text := strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
		all = append(all, Left{PID: p.pid, Command: text[:min(len(text), 200)]})
	}
	return all
}

// members returns the living processes of the tree.
func (t *tree) members() []process {
	table := processes()
	ours := map[int]bool{}
	for _, p := range table {
		if p.group == t.pgid || p.session == t.pgid || t.belongs(p) {
			ours[p.pid] = true
		}
	}
	for grown := true; grown; {
		grown = false
		for _, p := range table {
			if ours[p.parent] && !ours[p.pid] {
				ours[p.pid], grown = true, true
			}
		}
	}
	var living []process
	for _, p := range table {
		if ours[p.pid] {
			t.known[p.identity()] = true
			if !p.zombie {
				living = append(living, p)
			}
		}
	}
	return living
}

// belongs reports whether a process outside the session is ours by its mark or, in a hunt, by the
// pipes it holds.
func (t *tree) belongs(p process) bool {
	id := p.identity()
	ours, seen := t.known[id]
	if !seen && !p.zombie {
		ours = marksOf(p.pid, t.mark) || t.hunting && holdsPipe(p.pid, t.pipes)
		t.known[id] = ours
	}
	return ours
}

// marksOf reports whether the environment of a process names the call.
func marksOf(pid int, mark string) bool {
	environ, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		return false // another user's process, or gone
	}
	for kv := range bytes.SplitSeq(environ, []byte{0}) {
		if value, ok := bytes.CutPrefix(kv, []byte(markVariable+"=")); ok {
			return slices.Contains(strings.Split(string(value), ":"), mark)
		}
	}
	return false
}

// holdsPipe reports whether a process has one of the pipes open. A child of parley that has not
// become its program yet holds copies of everything; it is told by running parley's own file.
func holdsPipe(pid int, pipes []string) bool {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	self, _ := os.Readlink("/proc/self/exe")
	if program, err := os.Readlink(dir + "/exe"); err != nil || program == self {
		return false
	}
	files, err := os.ReadDir(dir + "/fd")
	if err != nil {
		return false
	}
	for _, f := range files {
		if target, err := os.Readlink(dir + "/fd/" + f.Name()); err == nil && slices.Contains(pipes, target) {
			return true
		}
	}
	return false
}

// process is one line of the process table.
type process struct {
	pid, parent, group, session int
	start                       uint64 // clock ticks after boot
	zombie                      bool
}

func (p process) identity() identity { return identity{p.pid, p.start} }

// processes returns the process table without parley itself.
func processes() []process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	names, _ := dir.Readdirnames(-1)
	_ = dir.Close()
	var all []process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() {
			continue
		}
		if p, ok := readProcess(pid); ok {
			all = append(all, p)
		}
	}
	return all
}

func readProcess(pid int) (process, bool) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return process{}, false
	}
	return parseStat(pid, string(stat))
}

// parseStat reads a line of /proc/<pid>/stat. The program's name, which may hold anything, ends at
// the last parenthesis.
func parseStat(pid int, stat string) (process, bool) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return process{}, false
	}
	number := func(i int) int { n, _ := strconv.Atoi(fields[i]); return n }
	start, err := strconv.ParseUint(fields[19], 10, 64)
	dead := fields[0] == "Z" || fields[0] == "X"
	return process{pid, number(1), number(2), number(3), start, dead}, err == nil
}

// startTime returns when a living process started.
func startTime(pid int) (time.Time, bool) {
	p, ok := readProcess(pid)
	if !ok || p.zombie {
		return time.Time{}, false
	}
	boot, ok := bootTime()
	const ticks = 100 // USER_HZ of every architecture Go runs on
	return boot.Add(time.Duration(p.start) * time.Second / ticks), ok
}

// bootTime returns when the system started, to the second.
func bootTime() (time.Time, bool) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return time.Time{}, false
	}
	for line := range strings.Lines(string(stat)) {
		if value, ok := strings.CutPrefix(line, "btime "); ok {
			seconds, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			return time.Unix(seconds, 0), err == nil
		}
	}
	return time.Time{}, false
}

// groupTree returns the tree of a group found again after a crash, false if none of its processes
// was started by parley.
func groupTree(pgid int) (tree, bool) {
	t := newTree(pgid, "", nil)
	for _, p := range processes() {
		if p.zombie || p.group != pgid && p.session != pgid {
			continue
		}
		if mark := lastMark(p.pid); mark != "" {
			t.mark = mark
			return t, true
		}
	}
	return t, false
}

// lastMark returns the innermost call a process belongs to.
func lastMark(pid int) string {
	environ, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		return ""
	}
	value, _ := Lookup(strings.Split(string(environ), "\x00"), markVariable)
	return value[strings.LastIndexByte(value, ':')+1:]
}
