package toolrt

import (
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
