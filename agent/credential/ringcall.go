package credential

import (
	"context"
	"fmt"
	"time"
)

// call runs one keyring operation with our own limit. The library cannot be cancelled: a call that
// does not return is left behind, alone, and until it returns all others fail at once. This is the
// one goroutine of the package that nobody waits for.
func (r *ring) call(ctx context.Context, f func() error) error {
	if r.isHung() {
		return errSilent
	}
	timer := time.NewTimer(r.limit)
	defer timer.Stop()
	select {
	case r.slot <- struct{}{}:
	case <-timer.C:
		return errSilent
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	done := make(chan error, 1)
	go func() {
		err := guarded(f)
		r.mu.Lock()
		r.hung = false
		done <- err
		r.mu.Unlock()
		<-r.slot
	}()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return r.giveUp(done, errSilent)
	case <-ctx.Done():
		return r.giveUp(done, context.Cause(ctx))
	}
}

// giveUp marks the call as left behind unless it has just returned.
func (r *ring) giveUp(done chan error, why error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case err := <-done:
		return err
	default:
		r.hung = true
		return why
	}
}

func (r *ring) isHung() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hung
}

// guarded turns a panic of the library into an error (K-01).
func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the keyring library failed: %v", p)
		}
	}()
	return f()
}
