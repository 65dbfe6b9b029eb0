package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"parley/agent/model"
	"parley/agent/monitor"
	"parley/agent/program"
	"parley/agent/record"
	"parley/toolrt"
)

// journalVersion is the version of the journal's format: of keys, request hashes and results. An
// unfinished turn of another version is not walked again.
const journalVersion = 1

// errInterrupted is the cause of a turn's context when the person interrupts it.
var errInterrupted = errors.New("interrupted by the user")

// errDiverged says that a turn walked again came to an effect that differs from the recorded one.
var errDiverged = errors.New("the turn cannot be walked again: the program or its surroundings have changed")

// turn is one walk through a turn: the first, or again after a crash.
type turn struct {
	s       *Session
	ctx     context.Context
	row     record.Turn
	prg     atomic.Pointer[program.Program] // with the tools of the MCP servers that were asked
	servers turnServers
	root    *call        // the program's own; set before any other
	model   model.Model  // the default one
	effort  model.Effort // of all its requests

	recorded map[record.Key]record.Entry // effects of an earlier walk; not changed
	resolved map[record.Key]resolution   // answers of the resume dialog; not changed
	// played is set when the turn is only played from its record; nothing runs then.
	played *played

	mu      sync.Mutex                 // guards the fields below
	pending record.Rows                // rows for the next commit
	calls   map[string]*call           // open calls by path
	covered map[string]toolrt.Decision // contexts and filters allowed for the turn, by tool id
	said    map[string]bool            // notices given
	// hindered are the calls that failed and may have done so on how they were confined.
	hindered map[string]bool
	nobody   bool // a call was denied because nobody could be asked
}

type resolution struct {
	how  Resolution
	text string
}

// effect describes one effect to do.
type effect struct {
	kind       record.EntryKind
	key        record.Key
	request    any // what it is made of, without secrets; hashed and stored
	repeatable bool
	durable    bool
	// question says that the effect has no begin: unanswered, it is simply asked again.
	question bool
}

// program is the turn's program, with the tools of the MCP servers that were asked until now.
func (t *turn) program() *program.Program { return t.prg.Load() }

// do runs an effect once. A result recorded earlier under the same key is returned without running
// it. The begin is committed, with all rows that wait, before run starts, and the result with
// run's rows when it ends, also when ctx has ended meanwhile. If run returns an error, the effect
// stays begun. Rows that could not be committed wait for the next commit.
func (t *turn) do(ctx context.Context, ef effect, run func(ctx context.Context) (any, record.Rows, error)) (result json.RawMessage, recorded bool, err error) {
	request, err := json.Marshal(ef.request)
	if err != nil {
		return nil, false, fmt.Errorf("describe %s of call %s: %w", ef.kind, ef.key.Path, err)
	}
	entry := record.Entry{Key: ef.key, Kind: ef.kind, Hash: hashOf(request), Request: request,
		Repeatable: ef.repeatable, Started: t.s.now()}
	if t.played != nil {
		result, err := t.played.take(ctx, ef, entry)
		return result, err == nil, err
	}
	if old, ok := t.recorded[ef.key]; ok {
		if old.Kind != ef.kind || old.Hash != entry.Hash {
			return nil, false, fmt.Errorf("%w (%s of call %s)", errDiverged, ef.kind, ef.key.Path)
		}
		if old.Finished {
			return old.Result, true, nil
		}
	}
	if !ef.question {
		rows := t.take()
		rows.Durable = ef.durable
		if err := t.s.journal.Begin(ctx, &entry, rows); err != nil {
			t.putBack(rows)
			return nil, false, fmt.Errorf("begin %s of call %s: %w", ef.kind, ef.key.Path, err)
		}
		t.show(rows)
	}
	value, rows, err := run(ctx)
	if err != nil {
		return nil, false, err
	}
	if entry.Result, err = json.Marshal(value); err != nil {
		return nil, false, fmt.Errorf("record %s of call %s: %w", ef.kind, ef.key.Path, err)
	}
	entry.Finished, entry.Ended = true, t.s.now()
	rows = merge(t.take(), rows)
	rows.Durable = ef.durable
	if err := t.s.journal.Finish(context.WithoutCancel(ctx), &entry, rows); err != nil {
		t.putBack(rows)
		return nil, false, fmt.Errorf("record %s of call %s: %w", ef.kind, ef.key.Path, err)
	}
	t.show(rows)
	return entry.Result, false, nil
}

// unsaved keeps rows that could not be committed in a rescue file and says where.
func (t *turn) unsaved(rows record.Rows, err error) error {
	if rows.Empty() || t.s.o.Rescue == nil {
		return err
	}
	path, rescueErr := t.s.o.Rescue(rows)
	if rescueErr != nil {
		return errors.Join(err, rescueErr)
	}
	return fmt.Errorf("%w; what could not be saved is in %s", err, path)
}

// queue keeps rows for the next commit.
func (t *turn) queue(rows record.Rows) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending = merge(t.pending, rows)
}

// take returns the rows that wait and empties the queue.
func (t *turn) take() record.Rows {
	t.mu.Lock()
	defer t.mu.Unlock()
	rows := t.pending
	t.pending = record.Rows{}
	return rows
}

// putBack puts rows that could not be committed before those that wait: the end of the turn commits
// them, so that the state it stores never tells of messages that are not there.
func (t *turn) putBack(rows record.Rows) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending = merge(rows, t.pending)
}

// show tells the screens of rows that were committed.
func (t *turn) show(rows record.Rows) {
	if t.played != nil {
		t.played.times(rows)
	}
	if len(rows.Messages)+len(rows.Calls) > 0 {
		t.s.emit(monitor.Event{Type: monitor.RowsChanged, Messages: rows.Messages, Calls: rows.Calls})
	}
}

// say tells the screens something about the run that is not kept, once per turn.
func (t *turn) say(text string) {
	t.mu.Lock()
	again := t.said[text]
	t.said[text] = true
	t.mu.Unlock()
	if !again {
		t.s.emit(monitor.Event{Type: monitor.Notice, Text: text})
	}
}

// interrupted reports whether the person interrupted the turn.
func (t *turn) interrupted() bool { return errors.Is(context.Cause(t.ctx), errInterrupted) }

func merge(a, b record.Rows) record.Rows {
	a.Messages = append(a.Messages, b.Messages...)
	a.Calls = append(a.Calls, b.Calls...)
	a.Approvals = append(a.Approvals, b.Approvals...)
	a.Texts = append(a.Texts, b.Texts...)
	a.Usage = addUsage(a.Usage, b.Usage)
	a.CostMicro += b.CostMicro
	if b.Context != 0 {
		a.Context = b.Context
	}
	a.Durable = a.Durable || b.Durable
	return a
}

func addUsage(a, b model.Usage) model.Usage {
	a.PromptTokens += b.PromptTokens
	a.CompletionTokens += b.CompletionTokens
	a.TotalTokens += b.TotalTokens
	a.CachedTokens += b.CachedTokens
	a.ReasoningTokens += b.ReasoningTokens
	return a
}

// hashOf names bytes: the first 16 bytes of their SHA-256 in hex.
func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// text queues a text to be kept once and returns its hash.
func (t *turn) text(body string) string {
	hash := hashOf([]byte(body))
	if t.s.newText(hash) {
		t.queue(record.Rows{Texts: []record.Text{{Hash: hash, Body: body}}})
	}
	return hash
}

// elapsed is a duration for people and records: at least a millisecond.
func elapsed(d time.Duration) time.Duration { return max(d, time.Millisecond) }
