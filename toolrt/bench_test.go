package toolrt

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

const benchCalls = 64

// BenchmarkScheduler measures what the runtime adds to a call that does nothing, against a bare
// errgroup with the same limit. Budget: 20 µs a call.
func BenchmarkScheduler(b *testing.B) {
	nothing := func(context.Context, *Invocation) (Output, error) { return Output{}, nil }
	bare := bareCall(b)
	for name, flags := range map[string]Flags{"parallel": parallel, "exclusive": exclusive} {
		b.Run(name, func(b *testing.B) {
			r := New(Options{Policy: DefaultPolicy()})
			var calls []*Call
			for _, n := range names(benchCalls) {
				calls = append(calls, call(n, flags, nothing))
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.ExecuteBatch(context.Background(), calls); err != nil {
					b.Fatal(err)
				}
			}
			perCall := float64(b.Elapsed().Nanoseconds()) / float64(b.N*benchCalls)
			b.ReportMetric(perCall, "ns/call")
			b.ReportMetric(perCall/bare, "x-errgroup")
		})
	}
}

// bareCall is how many nanoseconds a bare errgroup takes for a call that does nothing.
func bareCall(b *testing.B) float64 {
	const rounds = 500
	begin := time.Now()
	for range rounds {
		var g errgroup.Group
		g.SetLimit(4)
		for range benchCalls {
			g.Go(func() error { return nil })
		}
		if err := g.Wait(); err != nil {
			b.Fatal(err)
		}
	}
	return float64(time.Since(begin).Nanoseconds()) / (rounds * benchCalls)
}

// BenchmarkOutput measures the way of what a command prints: cleaned, searched for secrets, kept.
func BenchmarkOutput(b *testing.B) {
	line := []byte("a line of output like many others, 64 bytes long with its end..\n")
	for name, o := range map[string]CaptureOptions{"plain": {}, "terminal": {Form: FormTerminal}, "redacted": {Form: FormTerminal, Redactor: secrets("sk-0123456789abcdef")}} {
		b.Run(name, func(b *testing.B) {
			c := NewCapture(o)
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				c.Write(line)
			}
		})
	}
}

// TestSchedulerBudget: a batch of calls that do nothing costs no more than a person could notice.
func TestSchedulerBudget(t *testing.T) {
	r := newRuntime(t, Options{Policy: Policy{MaxConcurrency: 4, MaxCalls: 1000}})
	var mu sync.Mutex
	ran := 0
	var calls []*Call
	for i := range 1000 {
		calls = append(calls, call(fmt.Sprint(i), parallel, func(context.Context, *Invocation) (Output, error) {
			mu.Lock()
			defer mu.Unlock()
			ran++
			return Output{}, nil
		}))
	}
	begin := time.Now()
	runBatch(t, r, calls...)
	if took := time.Since(begin); ran != 1000 || took > 2*time.Second {
		t.Errorf("%d calls took %v", ran, took)
	}
}
