package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"parley/agent/model"
	"parley/agent/model/replay"
	"parley/agent/program"
	"parley/agent/record"
)

// Record is what a replay reads: a session's rows as they were stored. It needs no lease.
type Record interface {
	// Session returns the session's row.
	Session() record.Session
	// Turn returns one turn, ErrNotFound when there is none of that number.
	Turn(ctx context.Context, number int) (record.Turn, error)
	// Entries, Messages, Calls and Text are as in [Journal].
	Entries(ctx context.Context, turn int) ([]record.Entry, error)
	Messages(ctx context.Context, conversation string, n int) ([]record.Message, error)
	Calls(ctx context.Context, turn int) ([]record.Call, error)
	Text(ctx context.Context, hash string) (string, error)
}

// ReplayOptions say how turns are walked again.
type ReplayOptions struct {
	// Verify compares each request with the recorded one and stops at the first that differs.
	// Without it the record is played as it is.
	Verify bool
	// Current takes the program as it is now, not the one that a turn was pinned to.
	Current bool
}

// Replay walks the turns of a session again through the runner, with every effect taken from the
// record: no model is asked, no tool is run, nothing is written. Close it when done.
type Replay struct {
	s    *Session
	rec  Record
	opts ReplayOptions
}

// NewReplay opens a replay of what rec holds. Of o count Hub, Program, OpenModel, Builtins, Policy,
// Dir, Workspace, Runtime and the limits; models are opened but never asked.
func NewReplay(ctx context.Context, o Options, rec Record, opts ReplayOptions) (*Replay, error) {
	open := o.OpenModel
	o.OpenModel = func(ref, provider string) (model.Model, error) {
		m, err := open(ref, provider)
		if err != nil { // a provider that is gone: its name is enough
			return replay.New(ref, model.Info{Ref: ref}), nil
		}
		return replay.New(m.Ref(), m.Info()), nil
	}
	o.Journal = replayJournal{rec}
	o.Authorizer, o.Prompter, o.SaveRule, o.ForgetRule, o.Credentials, o.Undo, o.Rescue = nil, noPrompter{}, nil, nil, nil, nil, nil
	s, err := Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &Replay{s: s, rec: rec, opts: opts}, nil
}

// Close ends the replay.
func (r *Replay) Close() error { return r.s.Close() }

// Interrupt ends the turn that is being played.
func (r *Replay) Interrupt() { r.s.Interrupt() }

// Turn plays one turn. Turns must be played in order. The error is a [*Difference] when a request
// differs; how a turn ended on record (it failed, it was interrupted) is no error.
func (r *Replay) Turn(ctx context.Context, number int) (Response, record.Turn, error) {
	row, err := r.rec.Turn(ctx, number)
	if err != nil {
		return Response{}, row, err
	}
	if row.Input == "" && row.Base == nil && row.State != nil {
		entries, err := r.rec.Entries(ctx, number)
		if err != nil || len(entries) == 0 { // a chat state that was brought in: nothing happened
			return Response{Content: row.Output}, row, err
		}
	}
	var p *played
	resp, walkErr := r.s.run(ctx, func(ctx context.Context) (*turn, error) {
		t, err := r.prepare(ctx, row)
		if t != nil {
			p = t.played
		}
		return t, err
	})
	if p == nil {
		return Response{}, row, walkErr
	}
	diff := p.found()
	if diff == nil && r.opts.Verify {
		diff = p.compareEnd(resp, walkErr)
	}
	if diff != nil && r.opts.Verify {
		return resp, row, diff
	}
	if resp.Content != row.Output || diff != nil { // it could not be walked to its end: the record says it
		resp = Response{Content: row.Output, Agent: r.rec.Session().Agent, Done: row.State == nil && row.Status == record.TurnDone}
	}
	return resp, row, ctx.Err()
}

func (r *Replay) prepare(ctx context.Context, row record.Turn) (*turn, error) {
	prg, err := r.program(ctx, row)
	if err != nil {
		return nil, err
	}
	m, err := r.s.o.OpenModel(row.Model, "")
	if err != nil {
		return nil, err
	}
	entries, err := r.rec.Entries(ctx, row.Number)
	if err != nil {
		return nil, fmt.Errorf("read the turn's journal: %w", err)
	}
	calls, err := r.rec.Calls(ctx, row.Number)
	if err != nil {
		return nil, fmt.Errorf("read the turn's calls: %w", err)
	}
	t := r.s.turnOf(ctx, prg, m)
	t.row = row
	t.row.Status = record.TurnOpen
	t.know(entries)
	t.played = &played{turn: t, row: row, verify: r.opts.Verify, taken: map[record.Key]bool{}, calls: map[string]record.Call{}}
	for _, c := range calls {
		t.played.calls[c.Path] = c
	}
	return t, nil
}

func (r *Replay) program(ctx context.Context, row record.Turn) (*program.Program, error) {
	if r.opts.Current {
		return r.s.o.Program(ctx)
	}
	text, err := r.rec.Text(ctx, row.Program)
	if err != nil {
		return nil, fmt.Errorf("read the program of turn %d: %w", row.Number, err)
	}
	prg, err := program.FromJSON([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("read the program of turn %d: %w", row.Number, err)
	}
	return prg, nil
}

// errRecordEnds says that the record of a turn has nothing more.
var errRecordEnds = errors.New("the record of the turn ends here")

// played is what a replay knows of the turn that it walks.
type played struct {
	turn   *turn
	row    record.Turn // as recorded
	verify bool
	calls  map[string]record.Call // as recorded, by path

	mu    sync.Mutex // guards what follows
	taken map[record.Key]bool
	first *Difference
}

func (p *played) found() *Difference {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.first
}

// differs notes a difference, the first one only, and returns it as the error that ends the walk.
func (p *played) differs(d Difference) error {
	d.Turn = p.row.Number
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.first == nil {
		p.first = &d
	}
	return fmt.Errorf("%w: %w", errDiverged, p.first)
}

// take gives the recorded result of an effect. An effect that is not on record ends the turn where
// its record ends, if it did not end by itself; in a turn that did it is a difference.
func (p *played) take(ctx context.Context, ef effect, now record.Entry) (json.RawMessage, error) {
	old, ok := p.turn.recorded[ef.key]
	switch {
	case ok && old.Kind == ef.kind && old.Finished:
		if old.Hash != now.Hash && p.verify {
			return nil, p.differs(p.describe(ctx, ef, old, now))
		}
		p.mu.Lock()
		p.taken[ef.key] = true
		p.mu.Unlock()
		p.turn.show(p.turn.take())
		return old.Result, nil
	case !ok && ef.kind == record.EntryPrompt:
		return nil, ErrNobody // nobody was asked then
	case ef.kind == record.EntryCompaction && (!ok || old.Kind == ef.kind):
		return nil, errRecordEnds // it failed then, and the turn went on without it
	case p.row.Status == record.TurnDone || ok && old.Kind != ef.kind:
		d := Difference{Path: ef.key.Path, Kind: ef.kind, What: "is not on record", Now: string(now.Request)}
		if ok {
			d.What = fmt.Sprintf("is a %s on record", old.Kind)
		}
		return nil, p.differs(d)
	case p.row.Status == record.TurnAborted:
		p.turn.s.stop(errInterrupted)
		return nil, errInterrupted
	case p.row.Error != "":
		return nil, errors.New(p.row.Error)
	}
	return nil, errRecordEnds
}

// times gives rows that are shown the times on record.
func (p *played) times(rows record.Rows) {
	for i := range rows.Calls {
		if was, ok := p.calls[rows.Calls[i].Path]; ok {
			c := &rows.Calls[i]
			c.Created, c.Started = was.Created, was.Started
			if c.Status.Terminal() {
				c.Finished = was.Finished
			}
		}
	}
}

// compareEnd compares how a turn ended with how its record says it ended.
func (p *played) compareEnd(resp Response, err error) *Difference {
	if p.row.Status != record.TurnDone {
		return nil
	}
	for _, e := range p.turn.recorded {
		c := p.calls[e.Key.Path]
		if (e.Kind == record.EntryCompletion || e.Kind == record.EntryExecution && !passing(c.Category)) && !p.taken[e.Key] {
			return &Difference{Turn: p.row.Number, Path: e.Key.Path, Kind: e.Kind, Label: c.Label, Tool: c.Tool,
				What: "is on record and is not made now", Recorded: string(e.Request)}
		}
	}
	if now := p.turn.s.redact(resp.Content); err != nil || now != p.row.Output {
		if err != nil {
			now = err.Error()
		}
		return &Difference{Turn: p.row.Number, What: "ends otherwise", Recorded: p.row.Output, Now: now}
	}
	return nil
}

// Difference is the first request of a replay that is not the recorded one.
type Difference struct {
	Turn  int
	Path  string           // of the call, "" when it is about the end of the turn
	Label string           // of the call, e.g. "2.1"
	Tool  string           // of the call
	Kind  record.EntryKind // of the effect
	// What differs, in words; Recorded and Now are the two sides, "" where there is none.
	What          string
	Recorded, Now string
}

func (d *Difference) Error() string {
	where := fmt.Sprintf("turn %d", d.Turn)
	if d.Path != "" {
		where += fmt.Sprintf(", call %s", d.Path)
	}
	if name := strings.TrimSpace(d.Label + " " + d.Tool); name != "" {
		where += " (" + name + ")"
	}
	if d.Kind != "" {
		where += ": the " + string(d.Kind)
	}
	text := where + " " + d.What
	if d.Recorded != "" {
		text += "\n  recorded: " + d.Recorded
	}
	if d.Now != "" {
		text += "\n  now:      " + d.Now
	}
	return text
}

// noPrompter is there so that questions on record are found; it answers none.
type noPrompter struct{}

func (noPrompter) Prompt(context.Context, InputQuestion) (InputAnswer, error) {
	return InputAnswer{}, ErrNobody
}
