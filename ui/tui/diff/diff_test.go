package diff

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"parley/themes"
	"parley/ui/tui/style"
)

func set() *style.Set {
	return style.New(themes.Theme{}, style.Options{NoColor: true, ASCII: true})
}

const change = "--- a\n+++ a\n@@ -1,3 +1,4 @@\n same\n-old line\n+new line\n+another\n end\n"

func TestLines(t *testing.T) {
	narrow := Lines(change, 40, set())
	if got := ansi.Strip(strings.Join(narrow, "\n")); got != strings.TrimRight(change, "\n") {
		t.Errorf("narrow:\n%s", got)
	}
	wide := strings.Join(Lines(change, 100, set()), "\n")
	for _, want := range []string{"-old line", "+new line"} {
		found := false
		for l := range strings.SplitSeq(ansi.Strip(wide), "\n") {
			found = found || strings.Contains(l, "-old line") && strings.Contains(l, "+new line")
		}
		if !found {
			t.Errorf("%s does not stand beside its counterpart:\n%s", want, wide)
		}
	}
	if Lines("", 100, set()) != nil || Of("a", "x\n", "x\n") != "" {
		t.Error("equal texts have a difference")
	}
	if got := Of("a", "x\ny\n", "x\nz\n"); !strings.Contains(got, "-y\n+z") {
		t.Errorf("of: %q", got)
	}
}

// No sign is lost, none gets out, and every row keeps to the width.
func FuzzLines(f *testing.F) {
	f.Add(change, 100)
	f.Add("+\x1b]52;c;x\x07\u202e日本語\n-"+strings.Repeat("x", 300), 97)
	f.Fuzz(func(t *testing.T, d string, w int) {
		w = 1 + (w%200+200)%200
		for _, l := range Lines(d, w, set()) {
			if n := ansi.StringWidth(l); n > w && w > 4 {
				t.Fatalf("%d cells of %d: %q", n, w, l)
			}
			if strings.Contains(ansi.Strip(l), "\x1b") || strings.Contains(l, "\x1b]") {
				t.Fatalf("not clean: %q", l)
			}
		}
	})
}
