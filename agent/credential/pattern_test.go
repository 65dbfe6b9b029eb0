package credential

import (
	"strings"
	"testing"
)

func TestR68Patterns(t *testing.T) {
	for text, want := range map[string]string{
		"a -----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY----- b": "a -----BEGIN RSA PRIVATE KEY-----‹secret›-----END RSA PRIVATE KEY----- b",
		"cut -----BEGIN PRIVATE KEY-----\nMIIE":                                         "cut -----BEGIN PRIVATE KEY-----‹secret›",
		"token ghp_0123456789abcdefghij0123456789abcd used":                             "token ‹secret› used",
		"sk-" + strings.Repeat("ab1", 8) + " x":                                         "‹secret› x",
		"Authorization: Bearer abc.def-123":                                             "Authorization: Bearer ‹secret›",
		`"authorization":"Basic dXNlcjpwYXNz"`:                                          `"authorization":"Basic ‹secret›"`,
		"clone https://me:hunter22@example.org/x.git":                                   "clone https://me:‹secret›@example.org/x.git",
		"DB_PASSWORD=correct-horse next":                                                "DB_PASSWORD=‹secret› next",
		`{"api_key": "abcd1234"}`:                                                       `{"api_key": "‹secret›"}`,
		"https://example.org:8080/path?q=1 a:b@c secretary=true":                        "https://example.org:8080/path?q=1 a:b@c secretary=true",
		"the password is wrong; tokens: 12 of 40":                                       "the password is wrong; tokens: 12 of 40",
		"sk-short and ghp_short":                                                        "sk-short and ghp_short",
	} {
		if got := MaskPatterns(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
		if got := MaskPatterns(want); got != want {
			t.Errorf("%q: masked again: %q", want, got)
		}
	}
	if long := strings.Repeat("x=1 ", 100_000); MaskPatterns(long) != long {
		t.Error("a long text is changed")
	}
}
