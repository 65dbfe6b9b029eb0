package toolrt

import (
	"context"
	"sync"
	"time"
)

// lease is what a leaf call holds while it runs: its place past the gate, and its clock. While a
// person is asked (Invocation.Pause) it holds neither. Safe for concurrent use.
type lease struct {
	gate      *gate
	exclusive bool
	expire    func() // called when the limit has passed
	now       func() time.Time

	mu      sync.Mutex // guards the rest
	ticket  *ticket    // nil while paused and after the end
	timer   *time.Timer
	left    time.Duration // of the limit; less than zero: no limit
	since   time.Time     // when the clock was started
	ran     time.Duration // until then
	pauses  int
	running bool
	ended   bool
}

// start starts the clock. The ticket is admitted.
func (l *lease) start(t *ticket, limit time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ticket, l.left = t, limit
	l.run()
}

// run starts the clock. l.mu is held.
func (l *lease) run() {
	l.running, l.since = true, l.now()
	if l.left >= 0 {
		l.timer = time.AfterFunc(l.left, l.expire)
	}
}

// halt stops the clock. l.mu is held.
func (l *lease) halt() {
	if !l.running {
		return
	}
	l.running = false
	d := l.now().Sub(l.since)
	l.ran += d
	if l.timer != nil {
		l.timer.Stop()
		l.left = max(l.left-d, 0)
	}
}

// pause lets others run until the returned function has run, which waits for a place again. It is
// the Pause of an Invocation.
func (l *lease) pause(ctx context.Context) (resume func()) {
	l.mu.Lock()
	l.pauses++
	var free *ticket
	if l.pauses == 1 {
		l.halt()
		free, l.ticket = l.ticket, nil
	}
	l.mu.Unlock()
	if free != nil {
		l.gate.leave(free)
	}
	var once sync.Once
	return func() { once.Do(func() { l.resume(ctx) }) }
}

func (l *lease) resume(ctx context.Context) {
	l.mu.Lock()
	l.pauses--
	idle := l.pauses > 0 || l.ended || l.running
	l.mu.Unlock()
	if idle {
		return
	}
	t := l.gate.join(l.exclusive)
	if l.gate.wait(ctx, t) != nil {
		return // the call is being cancelled and needs no place any more
	}
	l.mu.Lock()
	keep := l.pauses == 0 && !l.ended && !l.running
	if keep {
		l.ticket = t
		l.run()
	}
	l.mu.Unlock()
	if !keep {
		l.gate.leave(t)
	}
}

// end stops the clock for good and returns the place past the gate, which the caller gives up;
// nil if it holds none.
func (l *lease) end() *ticket {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.halt()
	l.ended = true
	t := l.ticket
	l.ticket = nil
	return t
}

// elapsed is how long the call ran, at least 1 ms (R52). The lease has ended.
func (l *lease) elapsed() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(l.ran, time.Millisecond)
}
