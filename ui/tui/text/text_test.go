package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, in, lenient, strict string }{
		{"plain", "ls -l\n\tok", "ls -l\n\tok", "ls -l\n\tok"},
		{"clear screen", "a\x1b[2Jb", "a␛[2Jb", "a<U+001B>[2Jb"},
		{"clipboard", "\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇", "<U+001B>]52;c;aGk=<U+0007>"},
		{"c1 csi", "\u009b31m", "<U+009B>31m", "<U+009B>31m"},
		{"raw c1 byte", "\x9b31m", "\ufffd31m", "\ufffd31m"},
		{"crlf", "a\r\nb", "a\nb", "a<U+000D>\nb"},
		{"bare cr", "safe\revil", "safe␍evil", "safe<U+000D>evil"},
		{"delete", "a\x7f", "a␡", "a<U+007F>"},
		{"bidi override", "a\u202eb", "a<U+202E>b", "a<U+202E>b"},
		{"zero width", "r\u200bm", "r<U+200B>m", "r<U+200B>m"},
		{"byte order mark", "\ufeffx", "<U+FEFF>x", "<U+FEFF>x"},
		{"joiner in a word", "r\u200dm", "r<U+200D>m", "r<U+200D>m"},
		{"family", "👨\u200d👩", "👨\u200d👩", "👨<U+200D>👩"},
		{"heart", "❤\ufe0f", "❤\ufe0f", "❤<U+FE0F>"},
		{"persian", "می\u200cخواهم", "می\u200cخواهم", "می<U+200C>خواهم"},
		{"tag letters", "a\U000e0041", "a<U+E0041>", "a<U+E0041>"},
		{"no-break space", "a\u00a0b", "a\u00a0b", "a<U+00A0>b"},
		{"look-alike", "rm /etc/p\u0430sswd", "rm /etc/p\u0430sswd", "rm /etc/p\u0430<U+0430>sswd"},
		{"russian", "привет, мир", "привет, мир", "привет, мир"},
		{"umlaut", "größer", "größer", "größer"},
		{"invalid", "a\xffb", "a\ufffdb", "a\ufffdb"},
		{"line separator", "a\u2028b", "a<U+2028>b", "a<U+2028>b"},
		{"stacked marks", "a" + strings.Repeat("\u0301", 8), "a" + strings.Repeat("\u0301", 6) + "<U+0301><U+0301>", "a" + strings.Repeat("\u0301", 6) + "<U+0301><U+0301>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Clean(c.in); got != c.lenient {
				t.Errorf("Clean(%q) = %q, want %q", c.in, got, c.lenient)
			}
			if got := Strict(c.in); got != c.strict {
				t.Errorf("Strict(%q) = %q, want %q", c.in, got, c.strict)
			}
		})
	}
}

func TestCleanSGR(t *testing.T) {
	for _, c := range []struct{ name, in, colour, mono string }{
		{"one colour", "\x1b[31mred\x1b[0m x", "\x1b[31mred\x1b[0m x", "red x"},
		{"over lines", "\x1b[1;31ma\nb\x1b[mc\nd", "\x1b[1;31ma\x1b[m\n\x1b[1;31mb\x1b[0mc\nd", "a\nbc\nd"},
		{"unclosed", "\x1b[32mgreen", "\x1b[32mgreen\x1b[m", "green"},
		{"conceal", "\x1b[8mhidden\x1b[0m", "hidden\x1b[0m", "hidden"},
		{"256 colours", "\x1b[38;5;8mgrey\x1b[0m", "\x1b[38;5;8mgrey\x1b[0m", "grey"},
		{"not a colour", "\x1b[38;8mx", "x", "x"},
		{"other csi", "\x1b[2J\x1b[31mx\x1b[0m", "␛[2J\x1b[31mx\x1b[0m", "␛[2Jx"},
		{"csi in parts", "\x1b[3\x1b[31mx\x1b[0m", "␛[3\x1b[31mx\x1b[0m", "␛[3x"},
		{"reset and set", "\x1b[31ma\x1b[0;32mb\nc", "\x1b[31ma\x1b[0;32mb\x1b[m\n\x1b[32mc\x1b[m", "ab\nc"},
		{"title", "\x1b]0;x\x07\x1b[31mr\x1b[0m", "␛]0;x␇\x1b[31mr\x1b[0m", "␛]0;x␇r"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := CleanSGR(c.in); got != c.colour {
				t.Errorf("CleanSGR(%q) = %q, want %q", c.in, got, c.colour)
			}
			if got := StripSGR(c.in); got != c.mono {
				t.Errorf("StripSGR(%q) = %q, want %q", c.in, got, c.mono)
			}
		})
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"", 0, ""}, {"abc", 5, "abc  "}, {"abcdef", 4, "abc…"}, {"日本語", 4, "日… "}, {"日本", 1, "…"},
		{"👨\u200d👩\u200d👧x", 2, "… "},
	} {
		if got := Fit(c.in, c.width, "…"); got != c.want {
			t.Errorf("Fit(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
	if got := Spread("left side", "right", 10, "…"); got != "left…right" {
		t.Errorf("Spread = %q", got)
	}
	if got := Spread("l", "a long right side", 6, "…"); got != "a lon…" {
		t.Errorf("Spread with no room = %q", got)
	}
}

func TestWrapKeepsLooksOnEachLine(t *testing.T) {
	lines := Wrap("\x1b[31mone two three\x1b[m", 5)
	if len(lines) != 3 {
		t.Fatalf("lines = %q", lines)
	}
	for _, l := range lines {
		if !strings.HasPrefix(l, "\x1b[31m") || !strings.HasSuffix(l, "\x1b[m") {
			t.Errorf("line %q is not whole by itself", l)
		}
	}
	if got := Hard("ab  cd", 3); strings.Join(got, "|") != "ab | cd" {
		t.Errorf("Hard = %q", got)
	}
	if got := Expand("a\tb\n日\tc", 4); got != "a   b\n日  c" {
		t.Errorf("Expand = %q", got)
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"plain", "\x1b[31mred\x1b[0m", "\x1b]52;c;x\x07", "a\u202eb\u200b", "\xff\x9b2J", "a\r\nb\rc", "👨\u200d👩\ufe0f", "\x1b[38;5;8m\x1b[8mx", "\x1b[4:3mx"} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, s string, width int) {
		for name, out := range map[string]string{"Clean": Clean(s), "Strict": Strict(s), "Line": Line(s), "StripSGR": StripSGR(s)} {
			inert(t, name, out)
		}
		colour := CleanSGR(s)
		for _, line := range strings.Split(colour, "\n") {
			rest := line
			for rest != "" {
				before, _, after, _ := nextSGR(rest)
				inert(t, "CleanSGR", before)
				rest = after
			}
		}
		if ansi.Strip(colour) != StripSGR(s) {
			t.Errorf("colours change the text: %q and %q", ansi.Strip(colour), StripSGR(s))
		}
		width = (width%40 + 40) % 40
		for _, line := range append(Wrap(colour, width), Hard(Clean(s), width)...) {
			if Width(line) > width {
				t.Errorf("line %q is wider than %d", line, width)
			}
		}
		if got := Width(Fit(Line(s), width, "…")); got != width {
			t.Errorf("Fit is %d cells, want %d", got, width)
		}
	})
}

// inert fails when text could act on a terminal.
func inert(t *testing.T, name, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Errorf("%s: invalid UTF-8 in %q", name, s)
	}
	for _, r := range s {
		if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			t.Errorf("%s: control %U in %q", name, r, s)
		}
	}
}

func BenchmarkCleanASCII(b *testing.B) {
	s := strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 200)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Clean(s)
	}
}
