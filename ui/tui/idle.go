package tui

import (
	"reflect"
	"sync"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"
)

// idleAfter is how long after the last message the frame clock is stopped: many frames, so that
// what the message changed has been drawn.
const idleAfter = 250 * time.Millisecond

// frameClock stops Bubble Tea's frame clock while nothing happens. The library ticks as often as it
// may draw, also when there is nothing to draw: at 120 frames a second that is one per cent of a
// core for a chat that waits. It has no way to say so; its ticker is found by name, and where a
// later version has none of that name, it just goes on ticking.
type frameClock struct {
	program *tea.Program
	every   time.Duration

	mu      sync.Mutex // guards the fields below
	ticker  *time.Ticker
	sleep   *time.Timer // stops the ticker
	stopped bool
}

func newFrameClock(p *tea.Program, fps int) *frameClock {
	return &frameClock{program: p, every: time.Second / time.Duration(fps)}
}

// wake makes the clock tick for the message that came. It is called from the program's own
// goroutine; nil does nothing.
func (c *frameClock) wake() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ticker == nil {
		if c.ticker = tickerOf(c.program); c.ticker == nil {
			return
		}
		c.sleep = time.AfterFunc(idleAfter, c.stop)
		return
	}
	if c.stopped {
		c.ticker.Reset(c.every)
		c.stopped = false
	}
	c.sleep.Reset(idleAfter)
}

func (c *frameClock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ticker.Stop()
	c.stopped = true
}

// close stops the timer. The clock must not be used afterwards.
func (c *frameClock) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sleep != nil {
		c.sleep.Stop()
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
