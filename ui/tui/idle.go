package tui

import (
	"reflect"
	"sync"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"
)

// The phases of the frame clock. What comes after a pause is drawn at once, what follows at the
// frame rate, and while nothing comes the clock rests. It is not stopped: a last frame that a slow
// terminal held up still gets out.
const (
	quickEvery = time.Millisecond
	quickFor   = 4 * time.Millisecond
	steadyFor  = 250 * time.Millisecond
	restEvery  = 2 * time.Second
)

type phase int

const (
	resting phase = iota
	quick
	steady
)

// frameClock drives Bubble Tea's frame clock. The library ticks as often as it may draw, also when
// there is nothing to draw: at 120 frames a second that is one per cent of a core for a chat that
// waits, and a key waits for half a frame on average before it is seen. It has no setting for that;
// its ticker is found by name, and where a later version has none of that name, it just goes on
// ticking.
type frameClock struct {
	program *tea.Program
	frame   time.Duration

	mu     sync.Mutex // guards the fields below
	ticker *time.Ticker
	phase  phase
	alone  bool        // rest after the quick phase
	over   *time.Timer // ends the phase
	closed bool
}

func newFrameClock(p *tea.Program, fps int) *frameClock {
	return &frameClock{program: p, frame: time.Second / time.Duration(min(max(fps, 1), 120))}
}

// wake says that a message came; alone says that none will follow soon, so that one frame is enough.
// It is called from the program's own goroutine, which starts the ticker before it gives the first
// message; nil does nothing.
func (c *frameClock) wake(alone bool) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ticker == nil {
		c.ticker = tickerOf(c.program)
	}
	switch {
	case c.ticker == nil || c.closed:
	case c.phase == resting:
		c.alone = alone
		c.turn(quick, quickEvery, quickFor)
	case alone:
	case c.phase == quick:
		c.alone = false
	case c.phase == steady:
		c.over.Reset(steadyFor)
	}
}

// turn begins a phase. The caller holds mu.
func (c *frameClock) turn(p phase, every, length time.Duration) {
	c.phase = p
	c.ticker.Reset(every)
	switch {
	case length == 0:
	case c.over == nil:
		c.over = time.AfterFunc(length, c.next)
	default:
		c.over.Reset(length)
	}
}

// next ends a phase.
func (c *frameClock) next() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
	case c.phase == quick && c.alone:
		c.turn(resting, restEvery, 0)
	case c.phase == quick:
		c.turn(steady, c.frame, steadyFor)
	case c.phase == steady:
		c.turn(resting, restEvery, 0)
	}
}

// close lets go of the ticker, which the ending program stops.
func (c *frameClock) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.over != nil {
		c.over.Stop()
	}
}

// tickerOf returns the program's frame ticker, nil if it has not started or has none of that name.
func tickerOf(p *tea.Program) *time.Ticker {
	field := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*time.Ticker]() {
		return nil
	}
	return *(**time.Ticker)(unsafe.Pointer(field.UnsafeAddr()))
}
