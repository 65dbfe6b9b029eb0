package toolrt

import "context"

// errOne is the cause of the context of a call that was cancelled by itself.
var errOne = stopCause("the user stopped this call")

// Cancel stops one running call; the others of its batch go on. It reports whether the call was
// running.
func (r *Runtime) Cancel(id string) bool {
	r.mu.Lock()
	cancel := r.running[id]
	r.mu.Unlock()
	if cancel == nil {
		return false
	}
	cancel(errOne)
	return true
}

// cancellable makes a running call known to Cancel until the returned function runs.
func (r *Runtime) cancellable(id string, cancel context.CancelCauseFunc) (forget func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running[id] = cancel
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.running, id)
	}
}
