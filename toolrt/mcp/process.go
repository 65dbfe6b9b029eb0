package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"parley/toolrt/command"
)

const (
	// maxMessage bounds one message of a server in bytes.
	maxMessage = 80 << 20
	// endGrace is how long a server may take to end by itself once its input has ended.
	endGrace = time.Second
	// tailLines and tailLine bound what is kept of what a server prints beside its messages.
	tailLines = 20
	tailLine  = 500
)

// Place is where a server's command runs.
type Place struct {
	Dir string
	Env []string // whole environment
	// Confine limits writes to these folders; nil does not confine.
	Confine []string
	// NoNetwork cuts the command off from the network where that can be done.
	NoNetwork bool
}

// process is a running command.
type process struct {
	in   *os.File       // our end of its input
	out  *io.PipeReader // its messages
	stop context.CancelFunc
	done chan struct{} // closed when it has ended
	err  error         // why it could not be started; valid once done is closed
	how  string        // it ended; valid once done is closed
}

// startProcess starts a server's command. What it prints beside messages goes to the tail; with
// spoken false all of it does.
func startProcess(cfg Config, p Place, t *tail, spoken bool, remark func(string)) (*process, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make pipes: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background()) // it outlives the call that starts it
	out, messages := io.Pipe()
	proc := &process{in: ours, out: out, stop: stop, done: make(chan struct{})}
	var stdout io.Writer = t.writer()
	if spoken {
		stdout = &messageWriter{to: messages, tail: t, remark: remark, limit: maxMessage}
	}
	run := command.Process{Path: cfg.Command, Args: cfg.Args, Dir: p.Dir, Env: command.Merge(append(append([]string(nil), p.Env...), cfg.Env...)),
		Stdin: theirs, Tied: true, Stdout: stdout, Stderr: t.writer(), Confine: p.Confine, NoNetwork: p.NoNetwork}
	go func() {
		defer close(proc.done)
		runtime.LockOSThread() // it is tied to the thread
		defer runtime.UnlockOSThread()
		res, err := command.Run(ctx, run)
		if err != nil && ctx.Err() == nil {
			proc.err = fmt.Errorf("start %s: %w", cfg.Command, err)
		}
		proc.how = res.State
		_ = theirs.Close() // not taken if it could not be started
		_ = messages.Close()
	}()
	return proc, nil
}

// end ends the command: its input ends first, so that it can end by itself; then its whole process
// group is ended.
func (p *process) end() {
	_ = p.in.Close()
	timer := time.NewTimer(endGrace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
	}
	p.stop()
	_ = p.out.Close() // a write that nobody reads ends
	<-p.done
}

// ended says how the command ended, "" while it runs.
func (p *process) ended() string {
	if p == nil {
		return ""
	}
	select {
	case <-p.done:
	default:
		return ""
	}
	if p.err != nil {
		return p.err.Error()
	}
	return "it ended: " + p.how
}

// messageWriter passes the messages of a server on, one a line, repaired. Lines that are no
// messages, such as a banner, go to the tail.
type messageWriter struct {
	to     io.Writer
	tail   *tail
	remark func(string)
	limit  int // of a message, in bytes
	line   []byte
	failed error
}

var errTooLong = fmt.Errorf("the server sent a message of more than %d MB", maxMessage>>20)

func (w *messageWriter) Write(b []byte) (int, error) {
	n := len(b)
	for w.failed == nil {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			w.line = append(w.line, b...)
			break
		}
		w.line = append(w.line, b[:i]...)
		b = b[i+1:]
		w.failed = w.send(bytes.TrimSpace(w.line))
		if w.line = w.line[:0]; cap(w.line) > 1<<20 {
			w.line = nil
		}
	}
	if len(w.line) > w.limit {
		w.failed, w.line = errTooLong, nil
		w.tail.add(errTooLong.Error())
		if closer, ok := w.to.(*io.PipeWriter); ok {
			_ = closer.CloseWithError(errTooLong)
		}
	}
	return n, nil // what comes after a failure is dropped, so that the server can end
}

func (w *messageWriter) send(line []byte) error {
	if len(line) == 0 {
		return nil
	}
	// Long lines are no banners; to read them once more would only take time.
	if line[0] != '{' && line[0] != '[' || len(line) < 1<<20 && !json.Valid(line) {
		w.tail.add(string(line))
		return nil
	}
	_, err := w.to.Write(append(repair(line, w.remark), '\n'))
	return err
}

// tail keeps the last lines of what a server prints. Safe for concurrent use.
type tail struct {
	mu    sync.Mutex // guards lines
	lines []string
}

func (t *tail) add(line string) {
	line = clean(strings.TrimSpace(line), tailLine)
	if line == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, line)
	if len(t.lines) > tailLines {
		t.lines = t.lines[len(t.lines)-tailLines:]
	}
}

// last is the last line that looks like an error, else the last line.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := len(t.lines) - 1; i >= 0; i-- {
		if strings.Contains(strings.ToLower(t.lines[i]), "error") {
			return t.lines[i]
		}
	}
	if len(t.lines) == 0 {
		return ""
	}
	return t.lines[len(t.lines)-1]
}

// writer returns a writer whose lines are kept.
func (t *tail) writer() io.Writer { return &tailWriter{tail: t} }

type tailWriter struct {
	tail *tail
	line []byte
}

func (w *tailWriter) Write(b []byte) (int, error) {
	n := len(b)
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			if w.line = append(w.line, b...); len(w.line) > 4*tailLine {
				w.tail.add(string(w.line))
				w.line = w.line[:0]
			}
			return n, nil
		}
		w.tail.add(string(append(w.line, b[:i]...)))
		w.line, b = w.line[:0], b[i+1:]
	}
}

// reason joins what is known of a failure: the error, and the last line that was printed.
func reason(err error, t *tail, p *process) error {
	text := err.Error()
	if how := p.ended(); how != "" {
		text = how
	}
	if line := t.last(); line != "" && !strings.Contains(text, line) {
		text += ": " + line
	}
	return errors.New(text)
}
