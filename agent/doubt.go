package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"parley/agent/record"
)

// Processes looks after the process groups of executions by the name of their output.
type Processes interface {
	// Find returns the group that an execution started, ok false when none is recorded.
	Find(outputID string) (pgid int, started time.Time, ok bool)
	// Alive reports whether that very group still runs.
	Alive(pgid int, started time.Time) bool
	// End ends it and returns when it is gone.
	End(ctx context.Context, pgid int, started time.Time) error
	// Printed returns the end of what was printed so far.
	Printed(outputID string) string
}

// inDoubt lists the executions of the unfinished turn that had begun and may not simply run again.
func (s *Session) inDoubt(ctx context.Context) ([]OpenCall, error) {
	turn := s.last.Number
	entries, err := s.journal.Entries(ctx, turn)
	if err != nil {
		return nil, fmt.Errorf("read the turn's journal: %w", err)
	}
	s.undelivered(entries)
	var open []OpenCall
	for _, e := range entries {
		if e.Kind != record.EntryExecution || !e.InDoubt() {
			continue
		}
		o, err := s.openCall(ctx, e)
		if err != nil {
			return nil, err
		}
		if passing(o.Call.Category) {
			continue // its result is not in the record: it is fetched again in any case
		}
		open = append(open, o)
	}
	return open, nil
}

func (s *Session) openCall(ctx context.Context, e record.Entry) (OpenCall, error) {
	o := OpenCall{Key: e.Key, Started: e.Started, Effects: "not marked repeatable: it may happen twice"}
	calls, err := s.journal.Calls(ctx, e.Key.Turn)
	if err != nil {
		return o, fmt.Errorf("read the turn's calls: %w", err)
	}
	for _, c := range calls {
		if c.Path == e.Key.Path {
			o.Call = c
		}
	}
	var request execution
	if err := json.Unmarshal(e.Request, &request); err != nil {
		return o, fmt.Errorf("read the journal of call %s: %w", e.Key.Path, err)
	}
	if o.Call.Path == "" { // begun in an earlier turn: a chat command
		o.Call = record.Call{Path: e.Key.Path, Turn: e.Key.Turn, Tool: request.Tool, Input: request.Arguments}
	}
	if p := s.o.Processes; p != nil {
		o.Printed = p.Printed(request.OutputID)
		var started time.Time
		var ok bool
		if o.Pgid, started, ok = p.Find(request.OutputID); ok {
			o.Alive = p.Alive(o.Pgid, started)
		}
	}
	return o, nil
}

// InDoubt lists the calls that had begun when the last process ended and that may not simply run
// again, without those already resolved. Whether one's process group still runs is looked at anew.
func (s *Session) InDoubt() []OpenCall {
	s.mu.Lock()
	var open []OpenCall
	for _, o := range s.doubts {
		if _, ok := s.resolved[o.Key]; !ok {
			open = append(open, o)
		}
	}
	s.mu.Unlock()
	for i := range open {
		o := &open[i]
		if p := s.o.Processes; p != nil && o.Alive {
			id := outputID(o.Key.Turn, o.Key.Path, o.Key.Ordinal)
			_, started, ok := p.Find(id)
			o.Alive = ok && p.Alive(o.Pgid, started)
			o.Printed = p.Printed(id)
		}
	}
	return open
}

// Resolve answers one call of InDoubt. text is the result given by hand. The answer counts when
// the turn is resumed; a second run is recorded as approved by it.
func (s *Session) Resolve(_ context.Context, key record.Key, how Resolution, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.ContainsFunc(s.doubts, func(o OpenCall) bool { return o.Key == key }) {
		return fmt.Errorf("call %s is not in doubt", key.Path)
	}
	switch how {
	case ResolveRerun, ResolveResult, ResolveInterrupted:
		s.resolved[key] = resolution{how: how, text: text}
		return nil
	}
	return fmt.Errorf("unknown answer %q for call %s", how, key.Path)
}

// EndProcess ends the process group of a call of InDoubt that still runs.
func (s *Session) EndProcess(ctx context.Context, key record.Key) error {
	if s.o.Processes == nil {
		return errors.New("processes cannot be looked after on this system")
	}
	s.mu.Lock()
	i := slices.IndexFunc(s.doubts, func(o OpenCall) bool { return o.Key == key })
	s.mu.Unlock()
	if i < 0 {
		return fmt.Errorf("call %s is not in doubt", key.Path)
	}
	s.mu.Lock()
	pgid, id := s.doubts[i].Pgid, outputID(key.Turn, key.Path, key.Ordinal)
	s.mu.Unlock()
	_, started, ok := s.o.Processes.Find(id)
	if !ok {
		return nil
	}
	if err := s.o.Processes.End(ctx, pgid, started); err != nil {
		return fmt.Errorf("end process group %d of call %s: %w", pgid, key.Path, err)
	}
	s.mu.Lock()
	s.doubts[i].Alive = false
	s.mu.Unlock()
	return nil
}
