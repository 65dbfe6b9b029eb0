package toolrt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Detached is a program that goes on in the background after the call that started it.
type Detached interface {
	// Wait returns how the program ended. When ctx ends first its whole tree is ended, and Wait
	// returns within two seconds. It is called once.
	Wait(ctx context.Context) Ended
	// Leave lets the program go on without parley, and makes Wait return: what it prints from then
	// on is dropped. The error says that this cannot be done.
	Leave() error
}

// Ended says how a program in the background ended.
type Ended struct {
	State string // in words, e.g. "exit status 3"
	Code  int    // exit code, -1 when there is none
	// Left is [Output.Meta] about processes that could not be ended, nil if there are none.
	Left []byte
}

// Job is a command in the background: a snapshot.
type Job struct {
	// ID is its number within the runtime, from "1".
	ID string
	// Call is the ID of the call that started it, Label the call's short number, Agents who asked
	// for it, outermost first.
	Call, Label string
	Agents      []string
	Tool        string
	Command     string // in one line, redacted
	OutputID    string // of the file that holds its whole output, "" when outputs are not kept
	PGID        int    // its process group, zero when unknown
	Started     time.Time
	Ended       time.Time // zero while it runs
	State       string    // "running", or how it ended
	Failed      bool      // it ended with another code than 0
	Bytes       int64     // printed so far
	// Keep says that it goes on when the runtime is closed.
	Keep bool
}

// Running reports whether the job has not ended.
func (j Job) Running() bool { return j.Ended.IsZero() }

// Left reports whether the job goes on without the program that started it.
func (j Job) Left() bool { return j.State == stateLeft }

const (
	// jobsKept is how many ended jobs are remembered, jobTail how much of what each had printed.
	jobsKept = 20
	jobTail  = 16 << 10

	stateRunning = "running"
	stateLeft    = "left running"
)

// errJobEnded is the cause of a job's end by a person, an agent, or the end of the program.
var errJobEnded = errors.New("ended on request")

// job is a Job with what belongs to it.
type job struct {
	row    Job
	out    *stream // nil once it has ended
	tail   string  // what is kept of the output then
	run    Detached
	cancel context.CancelCauseFunc
	done   chan struct{}
}

// jobs are the commands in the background of a runtime. Safe for concurrent use.
type jobs struct {
	mu   sync.Mutex // guards the rest
	all  []*job     // in the order they began
	last int
	busy sync.WaitGroup
}

func (js *jobs) add(j *job) {
	js.mu.Lock()
	defer js.mu.Unlock()
	js.last++
	j.row.ID = strconv.Itoa(js.last)
	js.all = append(js.all, j)
	ended := 0
	for _, o := range js.all {
		if !o.row.Running() {
			ended++
		}
	}
	js.all = slices.DeleteFunc(js.all, func(o *job) bool {
		drop := ended > jobsKept && !o.row.Running()
		if drop {
			ended--
		}
		return drop
	})
}

func (js *jobs) find(id string) (*job, error) {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, j := range js.all {
		if j.row.ID == id || j.row.Call == id {
			return j, nil
		}
	}
	return nil, fmt.Errorf("there is no command %q in the background", id)
}

// snapshot is the job's row as things are.
func (js *jobs) snapshot(j *job) Job {
	js.mu.Lock()
	row, out := j.row, j.out
	js.mu.Unlock()
	if out != nil {
		row.Bytes = out.soFar().bytes
	}
	return row
}

// Jobs lists the commands in the background, oldest first, with the last ones that have ended.
func (r *Runtime) Jobs() []Job {
	r.jobs.mu.Lock()
	all := slices.Clone(r.jobs.all)
	r.jobs.mu.Unlock()
	rows := make([]Job, len(all))
	for i, j := range all {
		rows[i] = r.jobs.snapshot(j)
	}
	return rows
}

// JobOutput returns the last part, at most 16 KiB, of what a job has printed: cleaned and redacted.
// id is the job's or its call's.
func (r *Runtime) JobOutput(id string) (string, error) {
	j, err := r.jobs.find(id)
	if err != nil {
		return "", err
	}
	r.jobs.mu.Lock()
	out, tail := j.out, j.tail
	r.jobs.mu.Unlock()
	if out != nil {
		tail = cutStart(lastPart(out.soFar()), jobTail)
	}
	return tail, nil
}

// WaitJob waits until a job has ended or ctx ends, and returns how it stands. The error says that
// there is no such job.
func (r *Runtime) WaitJob(ctx context.Context, id string) (Job, error) {
	j, err := r.jobs.find(id)
	if err != nil {
		return Job{}, err
	}
	select {
	case <-j.done:
	case <-ctx.Done():
	}
	return r.jobs.snapshot(j), nil
}

// EndJob ends a job with its whole process tree and returns when it is gone, or ctx ends. Ending
// one that has ended changes nothing.
func (r *Runtime) EndJob(ctx context.Context, id string) error {
	j, err := r.jobs.find(id)
	if err != nil {
		return err
	}
	j.cancel(errJobEnded)
	select {
	case <-j.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("end %s: %w", j.row.Command, context.Cause(ctx))
	}
}

// KeepJob says whether a job goes on when the runtime is closed; unsaid it is ended then.
func (r *Runtime) KeepJob(id string, keep bool) error {
	j, err := r.jobs.find(id)
	if err != nil {
		return err
	}
	r.jobs.mu.Lock()
	defer r.jobs.mu.Unlock()
	j.row.Keep = keep
	return nil
}

// Background moves a running call to the background: its result is what it has printed so far, and
// its command goes on as a [Job]. It reports false when no such call runs or it cannot go on by
// itself.
func (r *Runtime) Background(id string) bool {
	h, ok := r.handleOf(id)
	return ok && h.detach != nil && h.detach("the user moved it there")
}

// detaching is how a running call is asked to go on in the background.
type detaching struct {
	asked chan struct{} // closed by the first ask
	mu    sync.Mutex    // guards why
	why   string
}

func newDetaching() *detaching { return &detaching{asked: make(chan struct{})} }

func (d *detaching) ask(why string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.why == "" {
		d.why = why
		close(d.asked)
	}
	return true
}

func (d *detaching) reason() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.why == "" {
		return "as it was asked to"
	}
	return d.why
}

// detached is the outcome of a call whose command goes on in the background.
func (p *Prepared) detached(res Output, out *stream, why string) *Outcome {
	ctx, cancel := context.WithCancelCause(context.Background())
	j := &job{out: out, run: res.Detached, cancel: cancel, done: make(chan struct{})}
	j.row = Job{Call: p.call.ID, Label: p.call.Label, Agents: slices.Clone(p.call.Agents), Tool: p.call.Name,
		Command: p.commandLine(), PGID: int(p.group.Load()), Started: p.r.opts.Now(), State: stateRunning, Keep: p.r.policy.KeepJobs}
	if p.r.opts.OutputDir != "" {
		j.row.OutputID = p.call.OutputID
	}
	p.r.jobs.add(j)
	o := p.passed(res, p.presentJob(j, res, out, why))
	o.Job = j.row.ID
	p.tellJob(j)
	p.r.jobs.busy.Go(func() { p.follow(ctx, j) })
	return o
}

// commandLine is the job's command for people.
func (p *Prepared) commandLine() string {
	shown := *p.call
	shown.Arguments = p.args
	text := p.call.Name
	if tool, ok := p.call.Tool.(Previewer); ok {
		var preview Preview
		err := p.guard(func() (err error) { preview, err = tool.Preview(context.Background(), &shown); return err })
		if err == nil && strings.TrimSpace(preview.Command) != "" {
			text = preview.Command
		}
	}
	const enough = 200
	return cutText(p.r.redact(strings.Join(strings.Fields(text), " ")), enough)
}

func (p *Prepared) tellJob(j *job) {
	if p.r.opts.OnJob != nil {
		p.r.opts.OnJob(p.r.jobs.snapshot(j))
	}
}

// presentJob is what the model reads of a call that went to the background.
func (p *Prepared) presentJob(j *job, res Output, out *stream, why string) presented {
	text := out.soFar()
	if res.Capture != nil {
		text = res.Capture.soFar()
	}
	note := fmt.Sprintf("[The command goes on in the background as job %s (%s). What stands above is what it has printed so far. "+
		"Where you have the tools jobs and jobsEnd, they tell how it stands and end it.]", j.row.ID, why)
	limits := p.r.limits(p.call, p.spec)
	limits.Bytes, limits.Lines = max(limits.Bytes-len(note)-1, minBytes), max(limits.Lines-1, minLines)
	mark := marker{tool: p.r.opts.ReadTool, id: j.row.OutputID}
	t := presented{excerpt: text, id: j.row.OutputID}
	t.text, t.cut = truncate(text, limits, mark)
	return t.with(note)
}

// follow waits for the end of a job and puts away what belongs to it.
func (p *Prepared) follow(ctx context.Context, j *job) {
	ended := Ended{State: "its end could not be seen", Code: -1}
	_ = p.guard(func() error { ended = j.run.Wait(ctx); return nil })
	j.cancel(nil)
	j.out.close()
	text := j.out.excerpt()
	p.closeJobFile(j.out)
	p.r.jobs.mu.Lock()
	left := j.row.State == stateLeft
	if !left {
		j.row.State, j.row.Failed = ended.State, ended.Code != 0
	}
	j.row.Ended, j.row.Bytes = p.r.opts.Now(), text.bytes
	j.out, j.tail = nil, cutStart(lastPart(text), jobTail)
	p.r.jobs.mu.Unlock()
	if !left {
		p.forgetProcesses()
	}
	close(j.done)
	p.tellJob(j)
}

// closeJobFile ends the file that a job's output went to.
func (p *Prepared) closeJobFile(out *stream) {
	if out.file == nil || out.file.total == 0 {
		return
	}
	if _, err := out.file.finish(); err != nil {
		p.r.log.Warn("the output of a command in the background could not be saved", "call", p.call.ID, "err", err)
	}
}

// closeJobs ends the jobs that are not to be kept, leaves the others to themselves, and waits.
func (r *Runtime) closeJobs() {
	r.jobs.mu.Lock()
	all := slices.Clone(r.jobs.all)
	r.jobs.mu.Unlock()
	for _, j := range all {
		if !r.leaveJob(j) {
			j.cancel(errJobEnded)
		}
	}
	r.jobs.busy.Wait()
}

// leaveJob lets a job that is to be kept go on without the program.
func (r *Runtime) leaveJob(j *job) bool {
	r.jobs.mu.Lock()
	keep := j.row.Keep && j.row.Running()
	if keep {
		j.row.State = stateLeft
	}
	r.jobs.mu.Unlock()
	if !keep {
		return false
	}
	err := j.run.Leave()
	if err != nil {
		r.log.Warn("a command in the background cannot be left running", "command", j.row.Command, "err", err)
		r.jobs.mu.Lock()
		defer r.jobs.mu.Unlock()
		j.row.State = stateRunning
	}
	return err == nil
}
