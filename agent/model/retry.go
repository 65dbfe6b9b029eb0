package model

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Retrier tries requests again that failed for a reason that may pass: a Retryable Error, a stream
// that was cut, a model that was silent. It is the only place where requests are repeated. The zero
// value has the defaults; it is safe for concurrent use.
type Retrier struct {
	// Retries is how often a request is tried again. Zero takes 5, a negative number none. A
	// silence is retried once only: each costs its whole limit.
	Retries int
	// First is the longest wait before the second try; it doubles with each try up to Longest.
	// Zero takes 1 second and 30 seconds. The wait is random below that, so that many programs
	// that failed together do not come back together.
	First, Longest time.Duration
	// Cap bounds what a provider may ask for with Retry-After. Zero takes 2 minutes.
	Cap time.Duration
	// Wait waits, or returns early with the context's cause. Nil takes a timer.
	Wait func(ctx context.Context, d time.Duration) error
	// Random returns a number in [0,1). Nil takes math/rand.
	Random func() float64
}

// Run calls try until it gives a reply or fails for good, and announces each further try with a
// DeltaRetry, which voids what was streamed before. A reply is returned at once and never asked for
// again. When ctx ends, Run returns the reply of the try that was running with the context's cause;
// during a wait the reply is empty.
func (r Retrier) Run(ctx context.Context, emit func(Delta),
	try func(ctx context.Context) (Reply, error),
) (Reply, error) {
	silences := 0
	for attempt := 1; ; attempt++ {
		reply, err := try(ctx)
		if err == nil {
			return reply, nil
		}
		if ctx.Err() != nil {
			return reply, context.Cause(ctx)
		}
		if errors.Is(err, ErrSilent) {
			silences++
		}
		if attempt > r.retries() || silences > 1 || !retryable(err) {
			return reply, err
		}
		wait := r.delay(attempt, err)
		emit(Delta{Kind: DeltaRetry, Text: err.Error(), Wait: wait, Attempt: attempt + 1})
		if err := r.wait(ctx, wait); err != nil {
			return Reply{}, err
		}
	}
}

func (r Retrier) retries() int {
	if r.Retries == 0 {
		return 5
	}
	return max(r.Retries, 0)
}

func retryable(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Retryable
	}
	return errors.Is(err, ErrCutStream) || errors.Is(err, ErrSilent)
}

// delay returns the wait after the given failed attempt: what the provider asked for, else the
// backoff.
func (r Retrier) delay(attempt int, err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok && e.RetryAfter > 0 {
		return min(e.RetryAfter, orDefault(r.Cap, 2*time.Minute))
	}
	longest := orDefault(r.Longest, 30*time.Second)
	backoff := orDefault(r.First, time.Second)
	for range attempt - 1 {
		if backoff >= longest {
			break
		}
		backoff *= 2
	}
	random := r.Random
	if random == nil {
		random = rand.Float64
	}
	return time.Duration(random() * float64(min(backoff, longest)))
}

func (r Retrier) wait(ctx context.Context, d time.Duration) error {
	if r.Wait != nil {
		return r.Wait(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func orDefault(d, fallback time.Duration) time.Duration {
	if d <= 0 {
		return fallback
	}
	return d
}
