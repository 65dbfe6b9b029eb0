package toolrt

import (
	"errors"
	"fmt"
)

// errUnexpected says that a batch got an input that its state cannot take.
var errUnexpected = errors.New("unexpected input")

// slotKind says how a call takes part in the order of its batch.
type slotKind int

const (
	slotParallel  slotKind = iota // may overlap its parallel neighbours
	slotExclusive                 // a barrier: alone between those before and those after it
	// slotVoid is a call that cannot run (unknown tool, bad arguments). It holds nothing and is in
	// nobody's way; its failure takes effect when all calls before it have ended (R14).
	slotVoid
)

type slotState int

const (
	slotWaiting  slotState = iota // not prepared (not allowed yet)
	slotPrepared                  // may start at its turn
	slotRunning
	slotDone
)

type inputKind int

const (
	inPrepared inputKind = iota // the call may run
	inRefused                   // the call ended before it ran
	inFinished                  // the call ran and ended
	inStop                      // start nothing more
	inCancel                    // start nothing more and end what runs
)

// input is one fact that a batch reacts to. call is not used by inStop and inCancel.
type input struct {
	kind   inputKind
	call   int
	failed bool // the call ended with a failure that counts (R44); a denial does not
}

// step is what must be done after an input. Its lists are in order of the batch.
type step struct {
	start   []int // calls to start
	settle  []int // void calls whose failure takes effect
	skip    []int // calls that will not run because the batch was stopped
	abandon []int // calls that will not run because the batch was cancelled
	cancel  bool  // end the running calls
}

// batchRules are the parts of a policy that a batch's order depends on.
type batchRules struct {
	sequential      bool
	concurrentFirst bool
	stopOnFailure   bool
	cancelOnStop    bool
}

// batch decides which calls of one model reply may start when. It is a state machine without
// I/O, clock or goroutines.
//
// The calls are cut into segments: each longest run of neighbouring parallel calls is one, each
// exclusive call is one of its own, and a segment begins when those before it have ended (R16).
// Within a segment a call starts as soon as it is prepared.
type batch struct {
	rules    batchRules
	kinds    []slotKind
	states   []slotState
	order    []int // call indexes in order of their turn
	segments []int // segment of each call, by index
	stopped  bool
}

// newBatch returns a batch of calls that are all waiting. begin must be called first.
func newBatch(kinds []slotKind, rules batchRules) *batch {
	b := &batch{
		rules:    rules,
		kinds:    kinds,
		states:   make([]slotState, len(kinds)),
		segments: make([]int, len(kinds)),
	}
	exclusive := func(i int) bool { return kinds[i] == slotExclusive }
	for i := range kinds {
		if !rules.concurrentFirst || !exclusive(i) {
			b.order = append(b.order, i)
		}
	}
	for i := range kinds {
		if rules.concurrentFirst && exclusive(i) {
			b.order = append(b.order, i)
		}
	}
	segment, open := 0, false // open: the segment takes further parallel calls
	for _, i := range b.order {
		alone := exclusive(i) || rules.sequential && kinds[i] != slotVoid
		if alone && open {
			segment++
		}
		b.segments[i] = segment
		if alone {
			segment, open = segment+1, false
		} else {
			open = true
		}
	}
	return b
}

// begin returns what may happen before any input.
func (b *batch) begin() step { return b.advance() }

// next takes one input and returns what must be done. An input for a call that the batch has
// closed itself (skipped, abandoned) is taken without effect: the two may have crossed. Any other
// input that does not fit is errUnexpected, never ignored.
func (b *batch) next(in input) (step, error) {
	switch in.kind {
	case inStop:
		return b.close(), nil
	case inCancel:
		s := b.close()
		s.abandon, s.skip, s.cancel = s.skip, nil, true
		return s, nil
	}
	state := b.states[in.call]
	switch in.kind {
	case inPrepared:
		switch {
		case state == slotWaiting:
			b.states[in.call] = slotPrepared
		case !b.closed(state):
			return step{}, b.misfit(in)
		}
	case inRefused:
		switch {
		case state == slotWaiting:
			return b.end(in), nil
		case !b.closed(state):
			return step{}, b.misfit(in)
		}
	case inFinished:
		if state != slotRunning {
			return step{}, b.misfit(in)
		}
		return b.end(in), nil
	default:
		return step{}, b.misfit(in)
	}
	return b.advance(), nil
}

// end closes the call of in.
func (b *batch) end(in input) step {
	b.states[in.call] = slotDone
	if in.failed && b.rules.stopOnFailure && !b.stopped {
		return b.fail()
	}
	return b.advance()
}

// fail stops the batch after a failure.
func (b *batch) fail() step {
	s := b.close()
	s.cancel = b.rules.cancelOnStop
	return s
}

// closed reports whether a call in this state may have been closed by the batch itself.
func (b *batch) closed(state slotState) bool { return state == slotDone && b.stopped }

func (b *batch) misfit(in input) error {
	return fmt.Errorf("batch: %w %d for call %d in state %d", errUnexpected, in.kind, in.call, b.states[in.call])
}

// done reports whether every call has ended.
func (b *batch) done() bool {
	for _, s := range b.states {
		if s != slotDone {
			return false
		}
	}
	return true
}

// advance starts what has its turn: calls of the first segment with an open call, and void calls
// with nothing open before them.
func (b *batch) advance() step {
	var s step
	if b.stopped {
		return s
	}
	current, open := -1, false // segment whose turn it is; whether a call before this one is open
	for _, i := range b.order {
		if b.states[i] == slotDone {
			continue
		}
		if b.kinds[i] == slotVoid {
			if open {
				continue
			}
			b.states[i] = slotDone
			s.settle = append(s.settle, i)
			if b.rules.stopOnFailure {
				rest := b.fail()
				rest.start, rest.settle = s.start, append(s.settle, rest.settle...)
				return rest
			}
			continue
		}
		open = true
		if current < 0 {
			current = b.segments[i]
		}
		if b.segments[i] == current && b.states[i] == slotPrepared {
			b.states[i] = slotRunning
			s.start = append(s.start, i)
		}
	}
	return s
}

// close ends every call that has not started.
func (b *batch) close() step {
	var s step
	b.stopped = true
	for _, i := range b.order {
		if b.states[i] != slotWaiting && b.states[i] != slotPrepared {
			continue
		}
		b.states[i] = slotDone
		if b.kinds[i] == slotVoid {
			s.settle = append(s.settle, i)
		} else {
			s.skip = append(s.skip, i)
		}
	}
	return s
}
