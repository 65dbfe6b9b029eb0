package tui

import (
	"context"
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

// cmd makes a command of f. Its context ends with the screen.
func (t *tasks) cmd(f func(ctx context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		t.mu.Lock()
		if t.closed {
			t.mu.Unlock()
			return nil
		}
		t.wg.Add(1)
		t.mu.Unlock()
		defer t.wg.Done()
		return f(t.ctx)
	}
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
