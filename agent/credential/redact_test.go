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

// A value that a colour code or a sign that is not seen divides is found all the same, and what is
// around it stays (R67, R69).
func TestR67DividedValuesAreHidden(t *testing.T) {
	r := NewRedactor()
	r.Add("gh", "ghp_0123456789")
	for text, want := range map[string]string{
		"a ghp_01\x1b[31m23456\x1b[0m789 b": "a ‹secret:gh› b",
		"\x1b[1mghp_0123456789\x1b[0m":      "\x1b[1m‹secret:gh›\x1b[0m",
		"ghp_\x1b]0;title\x070123456789 x":  "‹secret:gh› x",
		"ghp_\x1b]0;abc":                    "ghp_\x1b]0;abc", "gh\x1b]0;p_0123456789": "‹secret:gh›",
		"g\u200bhp_0123\u00ad456789, g\u009b1mhp_0123456789": "‹secret:gh›, ‹secret:gh›",
		"gh\bp_0123456\r789":                                   "‹secret:gh›",
		"\x1b[32mghp_01234567\x1b[0m no":                       "\x1b[32mghp_01234567\x1b[0m no",
		"one ghp_0123456789 two \x1b[m ghp_0\x1b(B123456789 é": "one ‹secret:gh› two \x1b[m ‹secret:gh› é",
		"Z2hwXzAxM\x1b[0mjM0NTY3ODk=":                          "‹secret:gh›",
	} {
		if got := r.Redact(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func FuzzDividedValues(f *testing.F) {
	f.Add("a \x1b[31mb", "\x1b[0m", uint8(3))
	f.Add("\x1b]0;", "\u200b", uint8(8))
	f.Fuzz(func(t *testing.T, around, between string, at uint8) {
		const value = "ghp_0123456789"
		r := NewRedactor()
		r.Add("gh", value)
		if plain, _ := visible(between, false); plain != "" || strings.HasSuffix(between, "\x1b") || strings.HasSuffix(between, "[") {
			return // it divides the value by something that is seen, or swallows a part of it
		}
		cut := int(at) % len(value)
		got := r.Redact(around + "\n" + value[:cut] + between + value[cut:])
		for _, strs := range []bool{true, false} {
			if plain, _ := visible(got, strs); strings.Contains(plain, value) {
				t.Fatalf("%q is left in %q", value, got)
			}
		}
	})
}
