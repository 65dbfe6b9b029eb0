package cli

import (
	"strings"
	"testing"
)

// What is written in pieces is cleaned as if it came whole.
func TestCleanedOutput(t *testing.T) {
	t.Parallel()
	const hostile = "a\x1b[2Jé\u202e\r\nb\xff\u009bz€"
	var whole strings.Builder
	if _, err := (&visibleWriter{w: &whole}).Write([]byte(hostile)); err != nil {
		t.Fatal(err)
	}
	for size := 1; size <= 4; size++ {
		var got strings.Builder
		c := &visibleWriter{w: &got}
		for rest := hostile; rest != ""; {
			n := min(size, len(rest))
			if written, err := c.Write([]byte(rest[:n])); err != nil || written != n {
				t.Fatalf("wrote %d of %d: %v", written, n, err)
			}
			rest = rest[n:]
		}
		if got.String() != whole.String() {
			t.Errorf("in pieces of %d: %q, whole %q", size, got.String(), whole.String())
		}
	}
	if strings.ContainsAny(whole.String(), "\x1b\r\u009b\u202e") {
		t.Errorf("not clean: %q", whole.String())
	}
}
