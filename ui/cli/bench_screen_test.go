package cli_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
)

// prompt is the sign before what one types, in parley as in its floor.
const prompt = "❯"

// shown is a program in a terminal of 120x40 that answers no query, and what it has drawn.
type shown struct {
	t       *testing.T
	cmd     *exec.Cmd
	tty     *os.File
	started time.Time
	read    chan struct{} // closed when the terminal was read to its end

	mu   sync.Mutex // guards the fields below
	out  []byte
	last time.Time // when the last piece came
	more *sync.Cond
}

// show starts a program. It is ended with the test.
func (b *bench) show(t *testing.T, env []string, program string, args ...string) *shown {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = b.home, env
	s := &shown{t: t, cmd: cmd, started: time.Now(), read: make(chan struct{})}
	s.more = sync.NewCond(&s.mu)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		t.Skipf("no pseudo-terminal here: %v", err)
	}
	s.tty = tty
	go s.pump()
	t.Cleanup(s.end)
	return s
}

func (s *shown) pump() {
	defer close(s.read)
	buf := make([]byte, 64<<10)
	for {
		n, err := s.tty.Read(buf)
		s.mu.Lock()
		s.out, s.last = append(s.out, buf[:n]...), time.Now()
		s.mu.Unlock()
		s.more.Broadcast()
		if err != nil { // the program has ended
			return
		}
	}
}

// end ends the program and waits for it.
func (s *shown) end() {
	if s.cmd.ProcessState != nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // one that does not listen is ended by force
	force := time.AfterFunc(5*time.Second, func() { _ = s.cmd.Process.Kill() })
	_ = s.cmd.Wait() // a program ended by a signal is no failure
	force.Stop()
	_ = s.tty.Close()
	<-s.read
}

// drawn is how many bytes came so far.
func (s *shown) drawn() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.out)
}

// until waits until what was drawn after the mark holds a text and returns when that came.
func (s *shown) until(mark int, text string) time.Time {
	s.t.Helper()
	giveUp := time.AfterFunc(60*time.Second, func() { _ = s.cmd.Process.Kill() })
	defer giveUp.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !strings.Contains(ansi.Strip(string(s.out[mark:])), text) {
		select {
		case <-s.read:
			s.t.Fatalf("%s never drew %q; it ended with:\n%s", filepath.Base(s.cmd.Path), text, ansi.Strip(string(s.out[max(0, len(s.out)-4000):])))
		default:
		}
		s.more.Wait()
	}
	return s.last
}

// keys writes to the terminal.
func (s *shown) keys(text string) {
	s.t.Helper()
	if _, err := s.tty.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// cpu is the processor time that the program has used.
func (s *shown) cpu() time.Duration {
	s.t.Helper()
	d, err := cpuOf(s.cmd.Process.Pid)
	if err != nil {
		s.t.Skipf("processor time cannot be read here: %v", err)
	}
	return d
}

// quiet waits until the program has stopped working and returns its processor time. It is not for
// hello, whose frame clock never stands still.
func (s *shown) quiet() time.Duration {
	s.t.Helper()
	const step = 100 * time.Millisecond
	used, still := s.cpu(), 0
	for n := 0; still < 5; n++ {
		if n > 600 {
			s.t.Fatalf("%s never stops working", filepath.Base(s.cmd.Path))
		}
		time.Sleep(step) // nothing tells that another process does nothing
		now := s.cpu()
		still++
		if now-used > step/100 {
			still = 0
		}
		used = now
	}
	return used
}

// cpuOf reads the processor time of a process: the kernel's count of each thread in nanoseconds or,
// where it has none, user and system time in ticks of 10 ms.
func cpuOf(pid int) (time.Duration, error) {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	threads, err := filepath.Glob(proc + "/task/*/schedstat")
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	for _, path := range threads {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has ended
		}
		ns, err := strconv.ParseInt(strings.Fields(string(data))[0], 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(ns)
	}
	if sum > 0 {
		return sum, nil
	}
	data, err := os.ReadFile(proc + "/stat")
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	for _, field := range fields[11:13] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(ticks) * 10 * time.Millisecond
	}
	return sum, nil
}

// memory reads a field of the process's memory in MiB.
func (s *shown) memory(field string) float64 {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(s.cmd.Process.Pid), "status"))
	if err != nil {
		s.t.Skipf("memory cannot be read here: %v", err)
	}
	_, rest, _ := strings.Cut(string(data), field+":")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		s.t.Fatal(err)
	}
	return float64(kib) / 1024
}

// Budget: 2.5 times the floor. The two take turns, so that both meet the same noise.
func benchStart(t *testing.T, b *bench) {
	start := func(program string) time.Duration {
		s := b.show(t, b.env(), program)
		defer s.end()
		return s.until(0, prompt).Sub(s.started)
	}
	start(b.parley) // makes the database
	var ours, floor []time.Duration
	for range 20 {
		floor = append(floor, start(b.hello))
		ours = append(ours, start(b.parley))
	}
	figure{name: "cold start to the prompt", got: ms(median(ours)), unit: "ms", floorName: "hello", floor: ms(median(floor)), maxRatio: 2.5}.print()
}

// Budgets: 45 MiB resident, and in 10 s less processor time than the kernel's tick of 10 ms.
func benchPrompt(t *testing.T, b *bench) {
	hello := b.show(t, b.env(), b.hello)
	hello.until(0, prompt)
	s := b.show(t, b.env(), b.parley)
	s.until(0, prompt)
	before := s.quiet()
	figure{name: "resident at the prompt", got: s.memory("VmRSS"), unit: "MiB", floorName: "hello", floor: hello.memory("VmRSS"), max: 45}.print()
	figure{name: "  of that not pages of the binary", got: s.memory("RssAnon"), unit: "MiB", floorName: "hello", floor: hello.memory("RssAnon")}.print()
	hello.end()
	time.Sleep(10 * time.Second)
	figure{name: "idle, processor time in 10 s", got: ms(s.cpu() - before), unit: "ms", max: 10}.print()
}

// typing is what one key costs.
type typing struct {
	p50, p99, cpu time.Duration
	resident      float64
}

// typeKeys types letters one by one and waits for each to be drawn. The pauses between them are
// of random length, or each key would meet the frame clock at the same place.
func typeKeys(s *shown) typing {
	const count = 300
	letters := "qwxzyvjk" // no terminal sequence ends with one of them
	random := rand.New(rand.NewPCG(1, 2))
	before := s.cpu()
	var echo []time.Duration
	for i := range count {
		if i%40 == 39 {
			s.keys("\x15") // keeps the line short
		}
		letter := letters[i%len(letters) : i%len(letters)+1]
		time.Sleep(time.Duration(5+random.IntN(25)) * time.Millisecond)
		mark := s.drawn()
		typed := time.Now()
		s.keys(letter)
		echo = append(echo, s.until(mark, letter).Sub(typed))
	}
	used := s.cpu() - before
	return typing{median(echo), quantile(echo, 0.99), used / count, s.memory("VmRSS")}
}

// Budgets: 7 ms for half of the keys and 15 ms for 99 of 100, of which 8 are the frame clock; with
// 10,000 messages 1.3 times the echo with 200; 55 MiB with 200 messages.
func benchKey(t *testing.T, b *bench) {
	measure := func(session int) typing {
		s := b.show(t, b.env(), b.parley, "--resume="+b.session(t, session))
		defer s.end()
		s.until(0, lastWords)
		s.quiet() // the rest of the session is read
		return typeKeys(s)
	}
	hello := b.show(t, b.env(), b.hello)
	hello.until(0, prompt)
	floor := typeKeys(hello)
	hello.end()
	short, long := measure(200), measure(10_000)
	figure{name: "key echo p50, 200 messages", got: ms(short.p50), unit: "ms", floorName: "hello", floor: ms(floor.p50), max: 7}.print()
	figure{name: "key echo p99, 200 messages", got: ms(short.p99), unit: "ms", floorName: "hello", floor: ms(floor.p99), max: 15}.print()
	figure{name: "key echo p50, 10,000 messages", got: ms(long.p50), unit: "ms", floorName: "200 messages", floor: ms(short.p50), maxRatio: 1.3}.print()
	figure{name: "key echo p99, 10,000 messages", got: ms(long.p99), unit: "ms", floorName: "200 messages", floor: ms(short.p99), maxRatio: 1.3}.print()
	figure{name: "processor time a key, 200 messages", got: ms(short.cpu), unit: "ms", floorName: "hello", floor: ms(floor.cpu)}.print()
	figure{name: "processor time a key, 10,000 messages", got: ms(long.cpu), unit: "ms", floorName: "200 messages", floor: ms(short.cpu), maxRatio: 1.3}.print()
	figure{name: "resident with 200 messages", got: short.resident, unit: "MiB", floorName: "hello", floor: floor.resident, max: 55}.print()
	figure{name: "resident with 10,000 messages", got: long.resident, unit: "MiB", floorName: "200 messages", floor: short.resident, maxRatio: 1.3}.print()
}

// Budgets: 75 ms to the last turn of a chat of 200 messages, and 1.5 times that for 10,000.
func benchResume(t *testing.T, b *bench) {
	resume := func(session int) time.Duration {
		s := b.show(t, b.env(), b.parley, "--resume="+b.session(t, session))
		defer s.end()
		return s.until(0, lastWords).Sub(s.started)
	}
	var short, long []time.Duration
	for range 15 {
		short = append(short, resume(200))
		long = append(long, resume(10_000))
	}
	figure{name: "resume of 200 messages", got: ms(median(short)), unit: "ms", max: 75}.print()
	figure{name: "resume of 10,000 messages", got: ms(median(long)), unit: "ms", floorName: "200 messages", floor: ms(median(short)), maxRatio: 1.5}.print()
}
