package toolrt

import "context"

// errOne is the cause of the context of a call that was cancelled by itself.
var errOne = stopCause("the user stopped this call")

// handle is what can be done to a running call from outside.
type handle struct {
	cancel context.CancelCauseFunc
	pause  func() (resume func())
	detach func(why string) bool // nil when the call cannot go on in the background
}

// Cancel stops one running call, or the command that it left in the background; the others of its
// batch go on. It reports whether there was one.
func (r *Runtime) Cancel(id string) bool {
	if h, ok := r.handleOf(id); ok {
		h.cancel(errOne)
		return true
	}
	j, err := r.jobs.find(id)
	if err != nil || !r.jobs.snapshot(j).Running() {
		return false
	}
	j.cancel(errJobEnded)
	return true
}

// Pause stops the clock of a running call, as Invocation.Pause does, until the returned function
// runs: a person is asked on the call's behalf. A call that does not run is left alone.
func (r *Runtime) Pause(id string) (resume func()) {
	if h, ok := r.handleOf(id); ok {
		return h.pause()
	}
	return func() {}
}

func (r *Runtime) handleOf(id string) (handle, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, ok := r.running[id]
	return h, ok
}

// reachable makes a running call known to Cancel and Pause until the returned function runs.
func (r *Runtime) reachable(id string, h handle) (forget func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running[id] = h
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.running, id)
	}
}
