package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	// termGrace is how long processes may take to end after the request to end.
	termGrace = time.Second
	// killGrace is how long they may take to disappear after they were killed. Together the two
	// stay below the 2 s within which a cancelled call must return.
	killGrace = 600 * time.Millisecond
	// pollEvery is the least time between two looks at the process table while something is ended.
	pollEvery = 10 * time.Millisecond
	// markVariable names the calls a process belongs to, outermost first, separated by ':'. It
	// finds processes that left their session.
	markVariable = "PARLEY_CALL"
)

// Process is one program to run in a session of its own, without a terminal.
type Process struct {
	Path string
	Args []string // without the program's name
	Dir  string
	Env  []string
	// Input is what the program reads; empty is the null device.
	Input string
	// Lifeline gives the program an input in which nothing comes and that ends with this process,
	// however it ends. Input is not used then.
	Lifeline bool
	// Stdin, if not nil, is the file that the program reads instead of Input; Run closes it. It is
	// for programs that are spoken to while they run.
	Stdin *os.File
	// Tied ends the program when this process dies, however that is, where the system can do so
	// (Linux, unless it is confined). The caller locks its OS thread until Run returns: the system
	// looks at that thread.
	Tied bool
	// Stdout and Stderr take the output as it comes, never two writes at a time. A nil Stderr
	// sends both to Stdout through one pipe, which keeps their order exactly.
	Stdout, Stderr io.Writer
	// Confine limits writes to these folders where [CanConfine] says so; nil does not confine, an
	// empty list allows no writes.
	Confine []string
	// NoNetwork cuts the network off where [CanCutNetwork] says so.
	NoNetwork bool
	// Started is told of the process group; may be nil.
	Started func(pgid int, started time.Time)
	// Detach, once it is closed, makes Run return while the program goes on: see [Result.Detached].
	// Nil never does.
	Detach <-chan struct{}
}

// Result says how a program ended.
type Result struct {
	// Code is the exit code, -1 if a signal ended the program.
	Code int
	// State is the end in words, e.g. "exit status 3" or "signal: killed".
	State string
	// Left names processes of the call that still run and could not be ended.
	Left []Left
	// Detached is set when Process.Detach was closed first: the program goes on, its output goes
	// where it went, and the other fields say nothing. The caller waits for it.
	Detached *Detached
}

// Left is a process that outlived its call.
type Left struct {
	PID     int    `json:"pid"`
	Command string `json:"command,omitempty"`
}

// Run starts p and waits until it has ended and its output was read to the end. When ctx ends
// first, the whole tree is asked to end, is killed one second later, and Run returns within two
// seconds with the context's cause, whatever still holds the output. Any other error says that the
// program could not be started. A program that fails is no error: see [Result].
func Run(ctx context.Context, p Process) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, context.Cause(ctx)
	}
	mark := uuid.NewString()
	r, err := start(p, mark)
	if err != nil {
		return Result{}, err
	}
	if p.Started != nil { // before any of its output is passed on
		p.Started(r.pgid, r.started)
	}
	r.run()
	if r.wait(ctx, p.Detach) == endDetach {
		return Result{Code: -1, State: "still running", Detached: &Detached{r: r}}, nil
	}
	return r.finish(ctx)
}

// finish waits for the end of the program, ends it when ctx ends first, and lets go of it.
func (r *running) finish(ctx context.Context) (Result, error) {
	defer r.close()
	switch r.wait(ctx, nil) {
	case endContext:
		left := r.end()
		res := r.result()
		res.Left = left
		return res, context.Cause(ctx)
	}
	return r.result(), nil
}

// errNUL says that a command cannot be passed on: the system ends every argument at such a byte.
var errNUL = errors.New("the command holds a NUL byte, which no command can have")

// running is a started process with its helpers.
type running struct {
	cmd     *exec.Cmd
	tree    tree
	pgid    int
	started time.Time
	pump    *pump
	feed    *feeder
	exited  chan struct{} // closed when the program was waited for
	left    chan struct{} // closed when the program is to go on without us
	waitErr error         // valid once exited is closed
}

// start starts p with mark in its environment.
func start(p Process, mark string) (*running, error) {
	if slices.ContainsFunc(p.Args, func(arg string) bool { return strings.Contains(arg, "\x00") }) {
		return nil, errNUL // the system's own error does not say so
	}
	cmd := &exec.Cmd{Path: p.Path, Args: append([]string{p.Path}, p.Args...), Dir: p.Dir, Env: marked(p.Env, mark)}
	if p.Path != "" && !strings.ContainsAny(p.Path, `/\`) {
		path, err := exec.LookPath(p.Path)
		if err != nil {
			return nil, err
		}
		cmd.Path = path
	}
	if _, err := os.Stat(p.Dir); p.Dir != "" && err != nil {
		return nil, &os.PathError{Op: "chdir", Path: p.Dir, Err: errors.Unwrap(err)} // as package os words it
	}
	pump, ends, err := newPump(p.Stdout, p.Stderr)
	if err != nil {
		return nil, fmt.Errorf("make pipes: %w", err)
	}
	defer closeAll(ends)
	cmd.Stdout, cmd.Stderr = ends[0], ends[len(ends)-1]
	feed, in, err := newFeeder(p)
	if err != nil {
		pump.close()
		return nil, fmt.Errorf("make pipes: %w", err)
	}
	defer func() { _ = in.Close() }()
	cmd.Stdin = in
	r := &running{cmd: cmd, pump: pump, feed: feed, exited: make(chan struct{}), left: make(chan struct{})}
	if err := r.launch(p, mark); err != nil {
		pump.close()
		feed.close()
		return nil, err
	}
	return r, nil
}

// run starts the helpers: one reads, one writes, one waits.
func (r *running) run() {
	r.pump.run()
	r.feed.run()
	go func() {
		defer close(r.exited)
		r.waitErr = r.cmd.Wait()
	}()
}

// launch starts the program, confined as it asks for, and notes its place in the tree.
func (r *running) launch(p Process, mark string) error {
	newSession(r.cmd)
	begin := r.cmd.Start
	switch {
	case p.NoNetwork && CanCutNetwork():
		wrapCut(r.cmd, p.Confine)
	case p.Confine != nil:
		begin = func() error { return startConfined(r.cmd, p.Confine) }
	case p.Tied:
		tie(r.cmd)
	}
	if err := begin(); err != nil {
		return err
	}
	r.pgid = r.cmd.Process.Pid
	var ok bool
	if r.started, ok = startTime(r.pgid); !ok {
		r.started = time.Now()
	}
	r.tree = newTree(r.pgid, mark, r.pump.inodes())
	return nil
}

// waitEnd says what ended a wait for a program.
type waitEnd int

const (
	endProgram waitEnd = iota // it has ended and its output was read
	endContext
	endDetach
	endLeft // it was left to itself
)

// wait waits for the end of the program and of its output, or for what comes before.
func (r *running) wait(ctx context.Context, detach <-chan struct{}) waitEnd {
	for _, done := range []<-chan struct{}{r.exited, r.pump.done} {
		select {
		case <-done:
		case <-r.left:
			return endLeft
		case <-detach:
			return endDetach
		case <-ctx.Done():
			return endContext
		}
	}
	return endProgram
}

// end ends the whole tree: ask, wait, force, and at last look for whoever still holds the output.
// It returns the processes that resisted.
func (r *running) end() []Left {
	r.tree.terminate()
	if r.gone(termGrace) {
		return nil
	}
	r.tree.kill()
	if r.gone(killGrace / 2) {
		return nil
	}
	if !closed(r.pump.done) {
		r.tree.hunt()
	}
	if r.gone(killGrace / 2) {
		return nil
	}
	return r.tree.left()
}

// gone waits until nothing of the tree is left, at most for limit. A kill is repeated, because new
// children may have come. Looking at all processes costs, so it rests as long as it looked.
func (r *running) gone(limit time.Duration) bool {
	deadline := time.Now().Add(limit)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		looked := time.Now()
		if closed(r.exited) && closed(r.pump.done) && !r.tree.alive() {
			return true
		}
		rest := min(max(time.Since(looked), pollEvery), time.Until(deadline))
		if rest <= 0 {
			return false
		}
		timer.Reset(rest)
		<-timer.C
		r.tree.again()
	}
}

// close gives up reading and waits for the helpers. A program that even a kill did not end is
// left to the goroutine that waits for it.
func (r *running) close() {
	r.pump.close()
	r.feed.close()
	r.tree.release()
}

func (r *running) result() Result {
	if !closed(r.exited) {
		return Result{Code: -1, State: "still running"}
	}
	state := r.cmd.ProcessState
	if state == nil {
		return Result{Code: -1, State: fmt.Sprint(r.waitErr)}
	}
	return Result{Code: state.ExitCode(), State: state.String()}
}

// marked returns environ with mark appended to the calls it belongs to. The result is never nil,
// because a nil environment would be parley's own.
func marked(environ []string, mark string) []string {
	if outer, ok := Lookup(environ, markVariable); ok && outer != "" {
		mark = outer + ":" + mark
	}
	out := make([]string, 0, len(environ)+1)
	for _, kv := range environ {
		if !strings.HasPrefix(kv, markVariable+"=") {
			out = append(out, kv)
		}
	}
	return append(out, markVariable+"="+mark)
}

// feeder writes a program's input.
type feeder struct {
	w    *os.File
	text string
	wg   sync.WaitGroup
}

// newFeeder returns the end that the program reads: the null device when there is nothing for it.
func newFeeder(p Process) (*feeder, *os.File, error) {
	switch {
	case p.Stdin != nil:
		return &feeder{}, p.Stdin, nil
	case p.Input == "" && !p.Lifeline:
		in, err := os.Open(os.DevNull)
		return &feeder{}, in, err
	}
	in, w, err := os.Pipe()
	return &feeder{w: w, text: p.Input}, in, err
}

func (f *feeder) run() {
	if f.w != nil && f.text != "" { // a lifeline stays open
		f.wg.Go(func() {
			_, _ = io.WriteString(f.w, f.text) // a program need not read all of its input
			_ = f.w.Close()
		})
	}
}

func (f *feeder) close() {
	if f.w != nil {
		_ = f.w.Close() // ends a write that nobody reads
		f.wg.Wait()
	}
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
