package model_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent/model"
)

func TestL01BackoffDoublesUpToItsLimit(t *testing.T) {
	var waits []time.Duration
	r := model.Retrier{
		Retries: 7, Random: func() float64 { return 0.5 },
		Wait: func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil },
	}
	failure := &model.Error{Retryable: true}
	_, err := r.Run(t.Context(), func(model.Delta) {}, func(context.Context) (model.Reply, error) { return model.Reply{}, failure })
	if !errors.Is(err, error(failure)) {
		t.Errorf("error %v", err)
	}
	want := []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 15 * time.Second, 15 * time.Second}
	if len(waits) != len(want) {
		t.Fatalf("waits %v", waits)
	}
	for i := range want {
		if waits[i] != want[i] {
			t.Errorf("wait %d is %v, want %v", i+1, waits[i], want[i])
		}
	}
}

func TestL01WaitIsRealAndEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		tries := 0
		try := func(context.Context) (model.Reply, error) {
			if tries++; tries == 1 {
				return model.Reply{}, &model.Error{Retryable: true, RetryAfter: 90 * time.Second}
			}
			return model.Reply{Finish: model.FinishStop}, nil
		}
		if _, err := (model.Retrier{}).Run(t.Context(), func(model.Delta) {}, try); err != nil || time.Since(begin) != 90*time.Second {
			t.Errorf("error %v after %v", err, time.Since(begin))
		}

		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("Esc")
		tries, begin = 0, time.Now()
		time.AfterFunc(3*time.Second, func() { cancel(why) })
		r, err := (model.Retrier{}).Run(ctx, func(model.Delta) {}, try)
		if !errors.Is(err, why) || time.Since(begin) != 3*time.Second || r.Finish != "" || tries != 1 {
			t.Errorf("error %v after %v and %d tries", err, time.Since(begin), tries)
		}
	})
}

func TestL01AReplyIsNeverAskedForAgain(t *testing.T) {
	tries := 0
	_, err := model.Retrier{}.Run(t.Context(), func(model.Delta) { t.Error("something was announced") },
		func(context.Context) (model.Reply, error) { tries++; return model.Reply{}, nil })
	if err != nil || tries != 1 {
		t.Errorf("error %v, %d tries", err, tries)
	}
}

func TestL01PlainErrorsAreNotRetried(t *testing.T) {
	for _, failure := range []error{errors.New("x"), &model.Error{Status: 400}} {
		tries := 0
		_, err := model.Retrier{}.Run(t.Context(), func(model.Delta) {},
			func(context.Context) (model.Reply, error) { tries++; return model.Reply{}, failure })
		if err != failure || tries != 1 {
			t.Errorf("error %v, %d tries", err, tries)
		}
	}
}
