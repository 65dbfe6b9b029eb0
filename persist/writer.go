package persist

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// busyStep is how long SQLite itself waits for a lock before the writer looks whether anybody
// still waits. Short enough to give up in time, long enough to cost nothing.
const busyStep = 200 * time.Millisecond

// sayBusyAfter is the wait from which Options.OnBusy hears of it.
const sayBusyAfter = 2 * time.Second

// maxBatch bounds how many writes share a commit.
const maxBatch = 256

// writer owns the one connection that writes. Requests queue; whoever holds the connection takes all
// that wait, runs them in one transaction and answers each. A caller that finds the connection free
// commits its own request, with no change of goroutine, which would cost as much as a commit; else,
// and while another process writes, the writer's goroutine does. A request that nobody has begun to
// run can still be given up by its caller.
type writer struct {
	stmts *statements
	// limit is how long a request waits for a busy database.
	limit  time.Duration
	onBusy func(waited time.Duration)
	files  *identity // nil in memory

	// turn holds one token: who takes it out has the connection, and full.
	turn chan struct{}
	full bool // the connection's synchronous mode

	// mu guards queue and closed.
	mu     sync.Mutex
	queue  []*request
	closed bool

	wake chan struct{} // holds one token while the queue may have something in it
	done chan struct{} // closed when the goroutine has ended
}

// request is one write.
type request struct {
	run func(ctx context.Context, t *statements) error
	// committed, which may be nil, runs after the commit, before the connection is free again, so
	// that what it changes in memory is changed in the order of the commits.
	committed func()
	durable   bool
	alone     bool // run outside a transaction
	since     time.Time
	result    chan error // has room for the one answer
	err       error      // of run
}

func newWriter(stmts *statements, files *identity, o Options) *writer {
	w := &writer{
		files:  files,
		stmts:  stmts,
		limit:  o.BusyTimeout,
		onBusy: o.OnBusy,
		turn:   make(chan struct{}, 1),
		wake:   make(chan struct{}, 1),
		done:   make(chan struct{}),
	}
	w.turn <- struct{}{}
	if w.onBusy == nil {
		w.onBusy = func(time.Duration) {}
	}
	return w
}

// do runs r in a transaction and returns after its commit. When ctx ends before the transaction
// has begun, nothing is written and the cause is returned; afterwards the outcome is waited for.
func (w *writer) do(ctx context.Context, r *request) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if !w.add(r) {
		return ErrClosed
	}
	if !w.lead(ctx, r) {
		w.notify()
	}
	select {
	case err := <-r.result:
		return err
	case <-ctx.Done():
	}
	if w.remove(r) {
		return context.Cause(ctx)
	}
	return <-r.result
}

// add queues r, unless the writer is closed. Somebody must see to it then: lead or notify.
func (w *writer) add(r *request) bool {
	r.since = time.Now()
	r.result = make(chan error, 1)
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return false
	}
	w.queue = append(w.queue, r)
	w.mu.Unlock()
	return true
}

// post queues r for the writer's goroutine. Nobody waits for its result.
func (w *writer) post(r *request) {
	if w.add(r) {
		w.notify()
	}
}

// lead commits what waits, r among it, if the connection is free. It reports whether nothing is
// left for the writer's goroutine to do.
func (w *writer) lead(ctx context.Context, r *request) bool {
	select {
	case <-w.turn:
	default:
		return false
	}
	defer func() { w.turn <- struct{}{} }()
	if !r.alone && w.waits(r) {
		w.commit(context.WithoutCancel(ctx), false)
	}
	return !w.pending()
}

// waits reports whether r is in the queue.
func (w *writer) waits(r *request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.queue, r)
}

func (w *writer) notify() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// remove takes r out of the queue; it reports false when the writer has it already.
func (w *writer) remove(r *request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.queue, r)
	if i < 0 {
		return false
	}
	w.queue = slices.Delete(w.queue, i, i+1)
	return true
}

// close lets the writes that wait finish and ends the goroutine.
func (w *writer) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.notify()
	<-w.done
}

// loop is the writer's goroutine, for what callers do not commit themselves. ctx is never cancelled: a commit is not broken off.
func (w *writer) loop(ctx context.Context) {
	defer close(w.done)
	for range w.wake {
		<-w.turn
		for w.pending() {
			w.commit(ctx, true)
		}
		w.mu.Lock()
		ended := w.closed && len(w.queue) == 0
		w.mu.Unlock()
		w.turn <- struct{}{}
		if ended {
			return
		}
	}
}

func (w *writer) pending() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.queue) > 0
}

// commit runs one transaction for the requests that wait when it has begun. patient says whether it
// waits for as long as they may while another process writes, or leaves them in the queue then.
func (w *writer) commit(ctx context.Context, patient bool) {
	if r := w.claimAlone(); r != nil {
		r.result <- translate(r.run(ctx, w.stmts))
		return
	}
	full := w.anyDurable()
	begun, err := w.begin(ctx, full, patient)
	if err != nil {
		w.answer(w.claim(true), err)
		return
	}
	if !begun {
		return
	}
	batch := w.claim(full)
	err = w.run(ctx, batch)
	if err == nil {
		err = w.files.check()
	}
	if err == nil {
		_, err = w.stmts.exec(ctx, "COMMIT")
	}
	if err == nil {
		w.files.committed()
	}
	if err != nil {
		// SQLite may have rolled back by itself (disk full), and then says so here.
		_, _ = w.stmts.exec(ctx, "ROLLBACK")
		w.answer(batch, translate(err))
		return
	}
	for _, r := range batch {
		if r.err == nil && r.committed != nil {
			r.committed()
		}
		r.result <- r.err
	}
}

// begin opens the transaction, waiting while another process writes. The requests that have waited
// too long are answered here; when none is left, or it is not to wait, it reports false.
func (w *writer) begin(ctx context.Context, full, patient bool) (bool, error) {
	if err := w.setSync(ctx, full); err != nil {
		return false, err
	}
	start, said := time.Now(), false
	for {
		_, err := w.stmts.exec(ctx, "BEGIN IMMEDIATE")
		busy := err != nil && isBusy(err)
		if busy && !patient {
			return false, nil
		}
		goOn := busy && w.expire()
		waited := time.Since(start)
		switch {
		case goOn && !said && waited >= sayBusyAfter:
			said = true
			w.onBusy(waited)
		case !goOn && said:
			w.onBusy(0)
		}
		if !busy {
			return err == nil, translate(err)
		}
		if !goOn {
			return false, nil
		}
	}
}

// setSync sets what the commit waits for: FULL is on the disk, NORMAL in the system's hands. It
// must be set before the transaction.
func (w *writer) setSync(ctx context.Context, full bool) error {
	if full == w.full {
		return nil
	}
	query := "PRAGMA synchronous = NORMAL"
	if full {
		query = "PRAGMA synchronous = FULL"
	}
	if _, err := w.stmts.exec(ctx, query); err != nil {
		return translate(err)
	}
	w.full = full
	return nil
}

// expire answers the requests that have waited for too long and reports whether others wait.
func (w *writer) expire() bool {
	now := time.Now()
	w.mu.Lock()
	var late []*request
	w.queue = slices.DeleteFunc(w.queue, func(r *request) bool {
		if now.Sub(r.since) < w.limit {
			return false
		}
		late = append(late, r)
		return true
	})
	left := len(w.queue) > 0
	w.mu.Unlock()
	for _, r := range late {
		r.result <- &busyError{now.Sub(r.since)}
	}
	return left
}

func (w *writer) anyDurable() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.queue, func(r *request) bool { return r.durable })
}

// claim takes requests off the queue in order. A durable one that came after the transaction had
// begun without full synchronisation waits for the next.
func (w *writer) claim(full bool) []*request {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for n < len(w.queue) && n < maxBatch && !w.queue[n].alone && (full || !w.queue[n].durable) {
		n++
	}
	batch := slices.Clone(w.queue[:n])
	w.queue = slices.Delete(w.queue, 0, n)
	return batch
}

// claimAlone takes the next request off the queue if it runs outside a transaction, else nil.
func (w *writer) claimAlone() *request {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 || !w.queue[0].alone {
		return nil
	}
	r := w.queue[0]
	w.queue = slices.Delete(w.queue, 0, 1)
	return r
}

// run runs each request behind a savepoint, so that one that fails takes no other with it. An
// error means that the whole transaction is lost.
func (w *writer) run(ctx context.Context, batch []*request) error {
	if len(batch) == 1 {
		return batch[0].run(ctx, w.stmts)
	}
	for _, r := range batch {
		if _, err := w.stmts.exec(ctx, "SAVEPOINT request"); err != nil {
			return err
		}
		if r.err = r.run(ctx, w.stmts); r.err != nil {
			r.err = translate(r.err)
			if _, err := w.stmts.exec(ctx, "ROLLBACK TO request"); err != nil {
				return errors.Join(r.err, err)
			}
		}
		if _, err := w.stmts.exec(ctx, "RELEASE request"); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) answer(batch []*request, err error) {
	for _, r := range batch {
		r.result <- err
	}
}
