package credential

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
)

func TestR67EveryFormIsHidden(t *testing.T) {
	secret := "s3cr&t/<val>=\"ü\" x"
	r := NewRedactor()
	if r.Add("gh", secret) {
		t.Fatal("too short")
	}
	js, _ := json.Marshal(map[string]string{"a": secret})
	for name, text := range map[string]string{
		"plain": secret, "query": url.QueryEscape(secret), "path": url.PathEscape(secret), "lower": strings.ToLower(url.QueryEscape("&")) + url.QueryEscape(secret),
		"json": string(js), "base64": base64.StdEncoding.EncodeToString([]byte(secret)), "base64url": base64.URLEncoding.EncodeToString([]byte(secret)),
		"basic": base64.StdEncoding.EncodeToString([]byte("u:" + secret)), "basic2": base64.StdEncoding.EncodeToString([]byte("me:" + secret + "!")),
		"basic3": base64.StdEncoding.EncodeToString([]byte("you:" + secret + "!!")),
	} {
		got := r.Redact("before " + text + " after")
		if !strings.Contains(got, "‹secret:gh›") || !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
			t.Errorf("%s: %q", name, got)
		}
		if len(got) > len(text)+len("before  after‹secret:gh›")-len(text)+12 {
			t.Errorf("%s: much is left: %q", name, got)
		}
	}
	if got := r.Redact("nothing here"); got != "nothing here" {
		t.Errorf("%q", got)
	}
	if got := r.Redact(r.Redact(secret)); got != "‹secret:gh›" {
		t.Errorf("twice: %q", got)
	}
	if r.Longest() < len(secret) {
		t.Errorf("longest %d", r.Longest())
	}
}

func TestRedactorShortAndOverlapping(t *testing.T) {
	r := NewRedactor()
	if r.Redact("x") != "x" || r.Longest() != 0 {
		t.Error("an empty redactor changes text")
	}
	if !r.Add("pin", "1234567") || !r.Add("umlaut", "äöüäöüä") || r.Add("none", "") || r.Add("ok", "12345678") {
		t.Error("short values are judged by characters")
	}
	if got := r.Redact("1234567"); got != "1234567" {
		t.Errorf("a short value is replaced: %q", got)
	}
	r.Add("long", "12345678-and-more")
	if got := r.Redact("12345678-and-more 12345678"); got != "‹secret:long› ‹secret:ok›" {
		t.Errorf("%q", got)
	}
	r.Add("again", "12345678")
	if got := r.Redact("12345678"); got != "‹secret:ok›" {
		t.Errorf("a second name replaced the first: %q", got)
	}
	r.Add("a\n›b", "abcdefghij\n")
	if got := r.Redact("abcdefghij"); got != "‹secret:a__b›" {
		t.Errorf("%q", got)
	}
}

func TestRedactorIsSafeForConcurrentUse(t *testing.T) {
	r := NewRedactor()
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 20 {
				v := fmt.Sprintf("secret-value-%d-%d", i, j)
				r.Add("n", v)
				if got := r.Redact("a " + v + " b"); got != "a ‹secret:n› b" {
					t.Errorf("%q", got)
				}
				r.Longest()
			}
		})
	}
	wg.Wait()
}

func FuzzRedactHidesValue(f *testing.F) {
	f.Add("before ", "value-of-secret", " after")
	f.Add("‹secret:x›", "‹secret:x›y", "")
	f.Fuzz(func(t *testing.T, before, value, after string) {
		r := NewRedactor()
		if r.Add("name", value) || strings.TrimSpace(value) == "" || strings.Contains("‹secret:name›", strings.TrimSpace(value)) {
			return
		}
		value = strings.TrimSpace(value)
		got := r.Redact(before + value + after)
		// A value can also be made anew by what stands around it; what was there must be gone.
		if n := strings.Count(got, value); n > 0 && !strings.Contains(before+"‹secret:name›"+after, value) && !strings.Contains(got, "‹secret:name›") {
			t.Errorf("%q is still in %q", value, got)
		}
	})
}

// BenchmarkRedact is about output as it streams: it should stay above 50 MB/s with a dozen secrets.
func BenchmarkRedact(b *testing.B) {
	r := NewRedactor()
	for i := range 12 {
		r.Add("n", fmt.Sprintf("sk-%032d", i))
	}
	text := strings.Repeat("a line of ordinary output with words and 12345 numbers\n", 1000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r.Redact(text)
	}
}
