package toolrt

import (
	"context"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// fakeRedactor replaces its values by a mark.
type fakeRedactor struct {
	replacer *strings.Replacer
	longest  int
}

func secrets(values ...string) *fakeRedactor {
	f := &fakeRedactor{}
	var pairs []string
	for _, v := range values {
		pairs = append(pairs, v, "‹secret›")
		f.longest = max(f.longest, len(v))
	}
	f.replacer = strings.NewReplacer(pairs...)
	return f
}

func (f *fakeRedactor) Redact(text string) string { return f.replacer.Replace(text) }
func (f *fakeRedactor) Longest() int              { return f.longest }

// inPieces writes text to a redaction, cut at random places.
func inPieces(r *redaction, text string, rng *rand.Rand) string {
	var out []byte
	for len(text) > 0 {
		n := 1 + rng.IntN(min(len(text), 12))
		out, text = r.write(out, []byte(text[:n])), text[n:]
	}
	return string(r.end(out))
}

func TestR69RedactionOverChunkBorders(t *testing.T) {
	values := secrets("sk-secret-key-1", "päss→wörd", "aaaa", "abababab")
	parts := []string{"sk-secret-key-1", "sk-secret-key-", "päss→wörd", "p", "aaaa", "aaa", "abababab", "ab", "ababababab", "\n", "text ", "…"}
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var text strings.Builder
		for range rng.IntN(30) {
			text.WriteString(parts[rng.IntN(len(parts))])
		}
		want := values.Redact(text.String())
		if got := inPieces(&redaction{redactor: values}, text.String(), rng); got != want {
			t.Fatalf("seed %d: %q\n got %q\nwant %q", seed, text.String(), got, want)
		}
	}
}

func TestR69RedactionHoldsBackLittle(t *testing.T) {
	r := redaction{redactor: secrets("12345678")}
	if got := string(r.write(nil, []byte("hello, world"))); got != "hello" {
		t.Errorf("passed on %q, want all but the last 7 bytes", got)
	}
}

func FuzzRedaction(f *testing.F) {
	f.Add("a secret-value here", "secret-value", uint64(1))
	f.Add("aXaXaXaX", "aXa", uint64(2))
	f.Fuzz(func(t *testing.T, text, value string, seed uint64) {
		if value == "" || !utf8.ValidString(text) || !utf8.ValidString(value) {
			return // the stream before it makes text valid
		}
		values := secrets(value)
		got := inPieces(&redaction{redactor: values}, text, rand.New(rand.NewPCG(seed, 3)))
		if want := values.Redact(text); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

// brokenRedactor fails on texts that hold its word.
type brokenRedactor struct{ *fakeRedactor }

func (b brokenRedactor) Redact(text string) string {
	if strings.Contains(text, "trap") {
		panic("broken")
	}
	return b.fakeRedactor.Redact(text)
}

// A text on which the redactor fails is withheld, from the message and from what is shown (R71).
func TestR71FailingRedactorWithholdsTheText(t *testing.T) {
	var shown strings.Builder
	r := newRuntime(t, Options{Redactor: brokenRedactor{secrets("sk-secret-key-1")}, Observer: observerFunc(func(_ *Call, chunk string) { shown.WriteString(chunk) })})
	o := run(t, r, call("t", exclusive, func(_ context.Context, inv *Invocation) (Output, error) {
		_, _ = io.WriteString(inv.Out, "a trap with sk-secret-key-1\n")
		return Output{FromOut: true}, nil
	}))
	for _, text := range []string{o.Message, shown.String()} {
		if strings.Contains(text, "sk-secret") || strings.Contains(text, "trap") || !strings.Contains(text, "could not be checked") {
			t.Errorf("got %q", text)
		}
	}
	if o := run(t, r, call("u", exclusive, says("also a trap"))); o.Message != withheld || o.Status != StatusSuccess {
		t.Errorf("got %q", o.Message)
	}
	if o := run(t, r, call("v", exclusive, says("it is sk-secret-key-1"))); o.Message != "it is ‹secret›" {
		t.Errorf("got %q", o.Message)
	}
}

// observerFunc makes a function an Observer.
type observerFunc func(call *Call, chunk string)

func (f observerFunc) Output(call *Call, chunk string) { f(call, chunk) }
