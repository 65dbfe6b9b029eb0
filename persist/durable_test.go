package persist

import (
	"context"
	"errors"
	"sync"
	"testing"
)

// TestDurableCommitsAreSynchronisedFully covers the one that comes when a transaction without full
// synchronisation has begun already: it must not be carried along.
func TestDurableCommitsAreSynchronisedFully(t *testing.T) {
	s := openAt(t, databasePath(t), Options{})
	const normal, full = 1, 2
	mode := func(durable bool, got *int, begun func()) *request {
		return &request{durable: durable, run: func(ctx context.Context, q *statements) error {
			begun()
			_, err := queryRow(ctx, q, `SELECT synchronous FROM pragma_synchronous`, nil, got)
			return err
		}}
	}
	nothing := func() {}
	for _, durable := range []bool{false, true, true, false} {
		var got int
		must(t, s.write(context.Background(), mode(durable, &got, nothing)))
		want := normal
		if durable {
			want = full
		}
		equal(t, "mode", got, want)
	}

	var first, second int
	blocked, release := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	errs := make([]error, 2)
	group.Go(func() {
		errs[0] = s.write(context.Background(), mode(false, &first, func() { close(blocked); <-release }))
	})
	<-blocked
	group.Go(func() { errs[1] = s.write(context.Background(), mode(true, &second, nothing)) })
	waitFor(t, s.writer, 1)
	close(release)
	group.Wait()
	must(t, errors.Join(errs...))
	equal(t, "modes of two that overlap", [2]int{first, second}, [2]int{normal, full})
}

// TestClaimLeavesWhatMustWait is the rule by itself: which of those that wait share a commit.
func TestClaimLeavesWhatMustWait(t *testing.T) {
	plain, durable, alone := &request{}, &request{durable: true}, &request{alone: true}
	for _, test := range []struct {
		name  string
		queue []*request
		full  bool
		want  int
	}{
		{"all plain", []*request{plain, plain, plain}, false, 3},
		{"a durable one that came late", []*request{plain, durable, plain}, false, 1},
		{"with full synchronisation", []*request{plain, durable, plain}, true, 3},
		{"one that runs outside a transaction", []*request{plain, alone, plain}, true, 1},
		{"more than a batch", make([]*request, maxBatch+5), true, maxBatch},
	} {
		for i, r := range test.queue {
			if r == nil {
				test.queue[i] = plain
			}
		}
		w := &writer{queue: test.queue}
		count := len(test.queue)
		if got := w.claim(test.full); len(got) != test.want || len(w.queue) != count-test.want {
			t.Errorf("%s: claimed %d and left %d of %d, want %d", test.name, len(got), len(w.queue), count, test.want)
		}
	}
}
