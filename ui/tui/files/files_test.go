package files

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestMatch(t *testing.T) {
	x := &Index{}
	for _, p := range []string{"README.md", "ui/tui/root.go", "ui/tui/transcript/rows.go", "docs/my file.md", "auth/login_test.go", "auth/login.go", "Größe.txt"} {
		x.Add(p)
	}
	for query, want := range map[string][]string{
		"login":  {"auth/login.go", "auth/login_test.go"},
		"LOGIN_": {"auth/login_test.go"},
		"rogo":   {"ui/tui/root.go", "ui/tui/transcript/rows.go"},
		"tuiroo": {"ui/tui/root.go", "ui/tui/transcript/rows.go"},
		"my fi":  {"docs/my file.md"},
		"größe":  {"Größe.txt"},
		"zzz":    {},
	} {
		if got := x.Match(context.Background(), query, 5); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
	if got := x.Match(context.Background(), "", 2); len(got) != 2 {
		t.Errorf("without a query: %q", got)
	}
}

// 300,000 paths are searched in a time that no one notices (I-10).
func TestI10ManyFiles(t *testing.T) {
	x := &Index{}
	for i := range 300_000 {
		x.Add(fmt.Sprintf("packages/module%d/src/component%d/view_%d.ts", i%300, i%7000, i))
	}
	begin := time.Now()
	got := x.Match(context.Background(), "mod17view_2", 20)
	if took := time.Since(begin); took > 2*time.Second { // 40 ms on an idle machine
		t.Errorf("took %v", took)
	}
	if len(got) != 20 {
		t.Errorf("found %d", len(got))
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if got := x.Match(ended, "view", 20); len(got) != 0 {
		t.Errorf("goes on after its end: %q", got)
	}
}

func FuzzScore(f *testing.F) {
	f.Add("a/b_c.go", "abc")
	f.Add("", "x")
	f.Add("\xff/\xff", "\xff")
	f.Fuzz(func(t *testing.T, text, query string) {
		if s, ok := Score(text, query); ok && query == "" && s != -len(text) {
			t.Errorf("score %d", s)
		}
	})
}
