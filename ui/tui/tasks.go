package tui

import (
	"context"
	"runtime/debug"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// tasks runs the commands that wait or do I/O. Bubble Tea does not wait for commands at its end;
// tasks does, so that nothing of the screen is left running.
type tasks struct {
	ctx context.Context // ends when the screen does

	mu     sync.Mutex // guards closed, and wg against a start after the wait
	closed bool
	wg     sync.WaitGroup
}

// start counts one more task, if the screen has not ended.
func (t *tasks) start() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.wg.Add(1)
	}
	return !t.closed
}

// cmd makes a command of f. Its context ends with the screen; a panic ends the screen.
func (t *tasks) cmd(f func(ctx context.Context) tea.Msg) tea.Cmd {
	return func() (msg tea.Msg) {
		if !t.start() {
			return nil
		}
		defer t.wg.Done()
		defer func() {
			if v := recover(); v != nil {
				msg = faulted{&PanicError{Value: v, Stack: debug.Stack()}}
			}
		}()
		return f(t.ctx)
	}
}

// goes runs f beside everything else.
func (t *tasks) goes(f func()) {
	if !t.start() {
		return
	}
	go func() {
		defer t.wg.Done()
		f()
	}()
}

// after gives msg when d has gone by.
func (t *tasks) after(d time.Duration, msg tea.Msg) tea.Cmd {
	return t.cmd(func(ctx context.Context) tea.Msg {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return msg
		case <-ctx.Done():
			return nil
		}
	})
}

// wait waits for all commands that run; later ones do not start. The context must have ended.
func (t *tasks) wait() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.wg.Wait()
}
