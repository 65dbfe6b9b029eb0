package command

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// readyWithin is how long a daemon may take until it answers (6.7: 120 tries, one a second).
	readyWithin = 2 * time.Minute
	// readyStep is the longest rest between two questions whether it is ready; the first are closer.
	readyStep = time.Second
	// answerWithin bounds one such question.
	answerWithin = 5 * time.Second
)

// Daemon is a "#!sys.daemon" tool: a server on this machine that runs in the background (6.7).
type Daemon struct {
	// ID names the tool: there is one instance of each.
	ID string
	// Name is the tool's name for people.
	Name string
	// Command is the line after "#!sys.daemon (path=…)", Script the rest of the body.
	Command, Script string
	// Path is asked until it answers 200, and is where the tool's own input is posted.
	Path string
	// ToolDir is the folder of the tool's file, Dir the folder it starts in.
	ToolDir, Dir string
}

// Endpoint is where a running daemon answers.
type Endpoint struct {
	URL   string // "http://127.0.0.1:PORT", no path
	Token string // it may ask callers for, header X-GPTScript-Daemon-Token
}

// Ports is a range of ports, both ends included. The zero value is the one of 6.7.
type Ports struct{ From, To int }

// ParsePorts reads "FROM-TO", or one port.
func ParsePorts(text string) (Ports, error) {
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	var p Ports
	var err1, err2 error
	p.From, err1 = strconv.Atoi(strings.TrimSpace(from))
	p.To, err2 = strconv.Atoi(strings.TrimSpace(to))
	if err1 != nil || err2 != nil || p.From < 1 || p.To > 65535 || p.From > p.To {
		return Ports{}, fmt.Errorf("%q is no range of ports: write FROM-TO, such as 11000-11100", text)
	}
	return p, nil
}

// DaemonOptions configure [Daemons].
type DaemonOptions struct {
	// Supervisor is a program with arguments that runs the command which follows them, and ends it
	// when its standard input ends: so no daemon outlives a parley that is killed. Nil starts
	// daemons without one.
	Supervisor []string
	Ports      Ports
	// Output takes what daemons print. Nil drops it. Writes do not overlap.
	Output io.Writer
}

// Daemons starts and ends the daemons of one session. Its methods are safe for concurrent use. Close
// it when done.
type Daemons struct {
	o      DaemonOptions
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex // guards the fields below
	running map[string]*runningDaemon
	ports   map[int]bool // in use
	closed  bool

	printing sync.Mutex // held while Output is written
}

// runningDaemon is a daemon that was started.
type runningDaemon struct {
	Endpoint
	ready chan struct{} // closed when it answers or has failed
	ended chan struct{} // closed when its process has ended
	err   error         // valid once ready is closed
	last  excerpt       // what it printed, guarded by Daemons.printing
	state string        // how it ended; valid once ended is closed
}

// NewDaemons returns what runs daemons. It starts nothing.
func NewDaemons(o DaemonOptions) *Daemons {
	if o.Ports == (Ports{}) {
		o.Ports = Ports{10240, 11240}
	}
	if o.Output == nil {
		o.Output = io.Discard
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Daemons{o: o, ctx: ctx, cancel: cancel, running: map[string]*runningDaemon{}, ports: map[int]bool{}}
}

// Close ends all daemons and returns when they are gone.
func (d *Daemons) Close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.cancel()
	d.wg.Wait()
}

// Endpoint returns where the daemon answers, and starts it if it does not run: in the environment
// environ, confined to the folders of confine unless that is nil. It returns when the daemon is
// ready. A daemon that ends before that, or is not ready within two minutes, is an error with what
// it had printed; the next call starts it again.
func (d *Daemons) Endpoint(ctx context.Context, of Daemon, environ, confine []string) (Endpoint, error) {
	r, err := d.find(of, environ, confine)
	if err != nil {
		return Endpoint{}, fmt.Errorf("start daemon tool %s: %w", of.Name, err)
	}
	select {
	case <-r.ready:
	case <-ctx.Done():
		return Endpoint{}, context.Cause(ctx)
	}
	if r.err != nil {
		return Endpoint{}, fmt.Errorf("start daemon tool %s: %w", of.Name, r.err)
	}
	return r.Endpoint, nil
}

// Running reports whether the daemon of that id has been started and has not ended.
func (d *Daemons) Running(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.running[id]
	return r != nil && !closed(r.ended)
}

// find returns the running daemon, or a new one.
func (d *Daemons) find(of Daemon, environ, confine []string) (*runningDaemon, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errors.New("parley is ending")
	}
	if r := d.running[of.ID]; r != nil && !closed(r.ended) {
		return r, nil
	}
	port, err := d.port()
	if err != nil {
		return nil, err
	}
	token := make([]byte, 16)
	_, _ = rand.Read(token) // never fails
	r := &runningDaemon{ready: make(chan struct{}), ended: make(chan struct{}),
		Endpoint: Endpoint{URL: fmt.Sprintf("http://127.0.0.1:%d", port), Token: hex.EncodeToString(token)}}
	p, file, err := d.process(of, r, port, environ, confine)
	if err != nil {
		delete(d.ports, port)
		return nil, err
	}
	d.running[of.ID] = r
	d.wg.Go(func() {
		defer func() { _ = file.close() }()
		d.run(of, r, p, port)
	})
	return r, nil
}

// port picks a port that nothing listens on. d.mu must be held.
func (d *Daemons) port() (int, error) {
	n := d.o.Ports.To - d.o.Ports.From + 1
	var first [2]byte
	_, _ = rand.Read(first[:]) // never fails
	start := int(first[0])<<8 | int(first[1])
	for i := range n {
		port := d.o.Ports.From + (start+i)%n
		if d.ports[port] {
			continue
		}
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		_ = l.Close()
		d.ports[port] = true
		return port, nil
	}
	return 0, fmt.Errorf("no port from %d to %d is free", d.o.Ports.From, d.o.Ports.To)
}

// process is the daemon's process: its command, run without a shell (6.1), below the supervisor.
func (d *Daemons) process(of Daemon, r *runningDaemon, port int, environ, confine []string) (Process, prepared, error) {
	environ = Merge(append(append([]string(nil), environ...), "PORT="+strconv.Itoa(port), "GPTSCRIPT_PORT="+strconv.Itoa(port),
		"GPTSCRIPT_DAEMON_TOKEN="+r.Token))
	file, err := prepareDirect(of.Command, of.Script, environ)
	if err != nil {
		return Process{}, prepared{}, err
	}
	words := append(append([]string(nil), d.o.Supervisor...), file.path)
	words = append(words, file.args...)
	return Process{Path: words[0], Args: words[1:], Env: environ, Dir: of.Dir, Lifeline: len(d.o.Supervisor) > 0, Confine: confine,
		Stdout: writerFunc(func(b []byte) { d.print(r, b) })}, file, nil
}

func (d *Daemons) print(r *runningDaemon, b []byte) {
	d.printing.Lock()
	defer d.printing.Unlock()
	r.last.write(b)
	_, _ = d.o.Output.Write(b) // who reads along does not stop a daemon
}

// run runs the process to its end and waits beside it until it is ready.
func (d *Daemons) run(of Daemon, r *runningDaemon, p Process, port int) {
	var asking sync.WaitGroup
	asking.Go(func() {
		defer close(r.ready)
		r.err = d.wait(r, of.Path)
	})
	ctx, stop := context.WithCancel(d.ctx)
	defer stop()
	asking.Go(func() {
		<-r.ready
		if r.err != nil {
			stop() // one that never was ready is of no use
		}
	})
	res, err := Run(ctx, p)
	r.state = res.State
	if err != nil {
		r.state = err.Error()
	}
	close(r.ended)
	asking.Wait()
	d.mu.Lock()
	delete(d.ports, port)
	d.mu.Unlock()
}

// wait asks until the daemon answers 200.
func (d *Daemons) wait(r *runningDaemon, path string) error {
	// The address is this machine's: no proxy has a say in it.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: answerWithin}
	ctx, cancel := context.WithTimeout(d.ctx, readyWithin)
	defer cancel()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for rest := 20 * time.Millisecond; ; rest = min(2*rest, readyStep) {
		timer.Reset(rest)
		select {
		case <-timer.C:
		case <-r.ended:
			return d.failure(r, "it ended before it was ready: "+r.state)
		case <-ctx.Done():
			if d.ctx.Err() != nil {
				return errors.New("parley is ending")
			}
			return d.failure(r, fmt.Sprintf("%s%s did not answer within %s", r.URL, path, readyWithin))
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL+path, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			continue
		}
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return nil
		}
	}
}

// failure is an error with the end of what the daemon printed.
func (d *Daemons) failure(r *runningDaemon, what string) error {
	d.printing.Lock()
	printed := strings.TrimSpace(r.last.String())
	d.printing.Unlock()
	if printed == "" {
		return errors.New(what)
	}
	const shown = 2000
	if len(printed) > shown {
		printed = "…" + strings.ToValidUTF8(printed[len(printed)-shown:], "")
	}
	return fmt.Errorf("%s\n%s", what, printed)
}

// Supervise runs a command until it ends, or until in ends or ctx does: then the command is asked to
// end, and killed a second later. Its output goes to out and errw. It returns the command's exit
// code. It is what a [DaemonOptions.Supervisor] does.
func Supervise(ctx context.Context, args []string, in io.Reader, out, errw io.Writer, environ []string) (int, error) {
	if len(args) == 0 {
		return 0, errNoInterpreter
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // ends with its process, whose standard input it reads
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	res, err := Run(ctx, Process{Path: args[0], Args: args[1:], Env: environ, Stdout: out, Stderr: errw})
	if err != nil && ctx.Err() != nil {
		return 0, nil
	}
	return res.Code, err
}
