package toolrt

import (
	"context"
	"sync"
)

// ticket is one execution's place at the gate. Its fields belong to the gate.
type ticket struct {
	exclusive bool
	state     ticketState
	ready     chan struct{} // closed when admitted
}

type ticketState int

const (
	ticketWaiting ticketState = iota
	ticketHolding
	ticketGone
)

// turnstile decides who may pass the gate. It is plain state: no clock, no goroutine, no channel.
//
// Parallel tickets share limit permits; an exclusive one excludes every other (R17, R18). Tickets
// are served strictly in order of arrival, so a waiting exclusive one holds back those behind it
// (R19).
type turnstile struct {
	limit     int
	parallel  int  // parallel tickets holding
	exclusive bool // an exclusive ticket holds
	queue     []*ticket
}

// join puts t at the end of the queue and returns the tickets that may pass now.
func (s *turnstile) join(t *ticket) []*ticket {
	s.queue = append(s.queue, t)
	return s.admit()
}

// leave gives up t's place or permit and returns the tickets that may pass now. Leaving twice
// changes nothing.
func (s *turnstile) leave(t *ticket) []*ticket {
	switch t.state {
	case ticketGone:
		return nil
	case ticketHolding:
		if t.exclusive {
			s.exclusive = false
		} else {
			s.parallel--
		}
	case ticketWaiting:
		for i, q := range s.queue {
			if q == t {
				s.queue = append(s.queue[:i], s.queue[i+1:]...)
				break
			}
		}
	}
	t.state = ticketGone
	return s.admit()
}

func (s *turnstile) admit() []*ticket {
	var admitted []*ticket
	for len(s.queue) > 0 {
		t := s.queue[0]
		switch {
		case s.exclusive, t.exclusive && s.parallel > 0, !t.exclusive && s.parallel >= s.limit:
			return admitted
		case t.exclusive:
			s.exclusive = true
		default:
			s.parallel++
		}
		t.state = ticketHolding
		s.queue[0] = nil
		s.queue = s.queue[1:]
		admitted = append(admitted, t)
	}
	return admitted
}

// gate is the turnstile shared by all batches and sub-agents of a runtime. Safe for concurrent
// use.
type gate struct {
	mu    sync.Mutex // guards state and the tickets
	state turnstile
}

func newGate(limit int) *gate { return &gate{state: turnstile{limit: max(limit, 1)}} }

// join takes a place without waiting; wait or leave must follow.
func (g *gate) join(exclusive bool) *ticket {
	t := &ticket{exclusive: exclusive, ready: make(chan struct{})}
	g.mu.Lock()
	defer g.mu.Unlock()
	open(g.state.join(t))
	return t
}

// wait returns when t is admitted, or gives up its place and returns the cause when ctx ends
// first (R21).
func (g *gate) wait(ctx context.Context, t *ticket) error {
	if ctx.Err() == nil {
		select {
		case <-t.ready:
			return nil
		case <-ctx.Done():
		}
	}
	g.leave(t)
	return context.Cause(ctx)
}

// leave gives up t's place or permit; further calls change nothing.
func (g *gate) leave(t *ticket) {
	g.mu.Lock()
	defer g.mu.Unlock()
	open(g.state.leave(t))
}

func open(admitted []*ticket) {
	for _, t := range admitted {
		close(t.ready)
	}
}
