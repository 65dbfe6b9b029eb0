package monitor

import (
	"context"
	"errors"
	"strings"
	"sync"
)

// ErrClosed says that the hub or the reader was closed and everything was read.
var ErrClosed = errors.New("monitor closed")

// Hub passes events on to readers. The zero value is ready. Safe for concurrent use.
type Hub struct {
	mu      sync.Mutex // guards readers and closed
	readers map[*Reader]struct{}
	closed  bool
	early   []Event // notices from before the first reader
}

// maxEarly bounds the notices that wait for a first reader.
const maxEarly = 32

// Subscribe returns a reader of all events from now on; the first one also gets the notices that came
// before. Close it when done.
func (h *Hub) Subscribe() *Reader {
	r := &Reader{hub: h, wake: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		r.closed = true
		return r
	}
	if h.readers == nil {
		h.readers = map[*Reader]struct{}{}
	}
	h.readers[r] = struct{}{}
	for _, e := range h.early {
		r.put(e)
	}
	h.early = nil
	return r
}

// Event gives e to every reader. It never waits for one.
func (h *Hub) Event(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.readers == nil && e.Type == Notice && len(h.early) < maxEarly {
		h.early = append(h.early, e)
	}
	for r := range h.readers {
		r.put(e)
	}
}

// Close ends all readers after they have read what waits.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for r := range h.readers {
		r.end()
	}
	h.readers = nil
}

// Reader is one watcher's queue. One goroutine at a time may call Next.
type Reader struct {
	hub  *Hub
	wake chan struct{} // one token: there is something to read

	mu      sync.Mutex // guards the fields below
	waiting []pending
	closed  bool
}

// pending is an event with the pieces joined to it so far: text is built only when it is read, so
// that many small pieces cost their length and not its square.
type pending struct {
	Event
	pieces []string
}

func (r *Reader) put(e Event) {
	r.mu.Lock()
	if n := len(r.waiting); n > 0 && joins(r.waiting[n-1].Event, e) {
		r.waiting[n-1].pieces = append(r.waiting[n-1].pieces, e.Delta.Text)
	} else {
		r.waiting = append(r.waiting, pending{Event: e})
	}
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// joins reports whether the piece of e continues that of last.
func joins(last, e Event) bool {
	a, b := last.Delta, e.Delta
	return a != nil && b != nil && last.Type == CallProgress && e.Type == CallProgress &&
		last.Path == e.Path && a.Kind == b.Kind && a.Conversation == b.Conversation &&
		a.Index == b.Index && a.Call == b.Call && b.Name == "" && b.Kind != PieceVoid
}

// Next returns all events that wait, in order, with neighbouring pieces of one call joined. It
// blocks until there is one. It returns ErrClosed when there will be no more, or ctx's error.
func (r *Reader) Next(ctx context.Context) ([]Event, error) {
	for {
		r.mu.Lock()
		waiting, closed := r.waiting, r.closed
		r.waiting = nil
		r.mu.Unlock()
		if len(waiting) > 0 {
			return events(waiting), nil
		}
		if closed {
			return nil, ErrClosed
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-r.wake:
		}
	}
}

func events(waiting []pending) []Event {
	out := make([]Event, len(waiting))
	for i, w := range waiting {
		out[i] = w.Event
		if len(w.pieces) > 0 {
			d := *w.Delta
			d.Text += strings.Join(w.pieces, "")
			out[i].Delta = &d
		}
	}
	return out
}

// Close stops the reader. Next returns what waits, then ErrClosed.
func (r *Reader) Close() {
	r.hub.mu.Lock()
	delete(r.hub.readers, r)
	r.hub.mu.Unlock()
	r.end()
}

func (r *Reader) end() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}
