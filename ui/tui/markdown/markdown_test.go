package markdown

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"parley/themes"
	"parley/ui/tui/style"
	"parley/ui/tui/text"
)

const sample = `I will look at the **failing test** first, then compare it with the last
green commit. See [the log](https://example.com/log) and ` + "`auth/login.go`" + `.

## Steps
1. read the test, which is long enough to be wrapped at forty columns
2. run it
   - once with -race
   - once without

     and a paragraph in the item
10. done

- [ ] open
- [x] closed

> A quote that is also long enough to be wrapped somewhere.
> - with a list
>   ` + "```" + `
>   code	in it
>   ` + "```" + `

` + "```go" + `
// auth/login.go:41
if tok.Expiry.Before(now) { return fmt.Errorf("the token has expired at %v", tok.Expiry) }

` + "```" + `

| file | line | what |
|------|-----:|------|
| login.go | 41 | compares with the real clock |
| token.go | 7 | fine |

---

Vec<String> stays, <b>tags</b> too, &amp; is &. See [later][1].

Heading
=======
    indented code

[1]: https://example.com/later
`

func set(t testing.TB, name string, o style.Options) *style.Set {
	t.Helper()
	theme, err := themes.Load(name, "")
	if err != nil {
		t.Fatal(err)
	}
	return style.New(theme, o)
}

func plain(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(ansi.Strip(l) + "\n")
	}
	return b.String()
}

func TestRender(t *testing.T) {
	r := New(set(t, "mono", style.Options{ASCII: true}))
	want := `I will look at the failing test first,
then compare it with the last
green commit. See the log
https://example.com/log and
` + "`auth/login.go`" + `.

Steps
1. read the test, which is long enough
   to be wrapped at forty columns
2. run it
   - once with -race
   - once without

     and a paragraph in the item
`
	got := plain(r.Render(sample, 40))
	if !strings.HasPrefix(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	for _, part := range []string{
		"[ ] open\n[x] closed\n",
		"| A quote that is also long enough to be\n| wrapped somewhere.\n| - with a list\n|     code    in it\n",
		"\n  // auth/login.go:41\n  if tok.Expiry.Before(now) { return fmt\n  .Errorf(",
		" login.go |   41 | compares with the\n          |      | real clock\n",
		"Vec<String> stays, <b>tags</b> too, & is", "later https://example.com/later",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("%q is not in:\n%s", part, got)
		}
	}
}

func TestR05TableWordsAreAllThere(t *testing.T) {
	var b strings.Builder
	b.WriteString("| a | b | c | d | e |\n|---|---|---|---|---|\n")
	var words []string
	for c := range 5 {
		b.WriteString("| ")
		for i := range 50 {
			w := fmt.Sprintf("w%d%d", c, i)
			words = append(words, w)
			b.WriteString(w + " ")
		}
	}
	b.WriteString("|\n")
	for _, width := range []int{40, 80, 200} {
		lines := New(set(t, "dark", style.Options{})).Render(b.String(), width)
		fit(t, lines, width)
		all := plain(lines)
		for _, w := range words {
			if !strings.Contains(all, w) {
				t.Errorf("width %d: %q cannot be found", width, w)
			}
		}
	}
}

func fit(t *testing.T, lines []string, width int) {
	t.Helper()
	for _, l := range lines {
		if w := ansi.StringWidth(l); w > width {
			t.Errorf("line of %d cells in width %d: %q", w, width, l)
		}
		if bare := ansi.Strip(l); strings.TrimRight(bare, " ") != bare {
			t.Errorf("spaces at the end of %q", l)
		}
	}
}

// However the pieces come and whenever a frame is drawn, the finished text looks the same.
func TestStreamedEqualsWhole(t *testing.T) {
	s := set(t, "dark", style.Options{})
	random := rand.New(rand.NewPCG(1, 2))
	source := sample + strings.Repeat("- a long list item\n", 250) + "\nend [x][1]\n\n```\nopen <b> &#27;\nfence"
	for _, width := range []int{1, 9, 40, 100} {
		want := New(s).Render(source, width)
		fit(t, want, width)
		for range 2 {
			r, d := New(s), &Doc{}
			for rest := source; rest != ""; {
				n := min(1+random.IntN(40), len(rest))
				d.Append(rest[:n])
				rest = rest[n:]
				if random.IntN(3) == 0 {
					fit(t, d.Lines(r, width), width)
				}
			}
			d.Finish()
			if got := d.Lines(r, width); strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Fatalf("width %d: streamed:\n%s\nwhole:\n%s", width, plain(got), plain(want))
			}
		}
	}
}

func TestIndentedLists(t *testing.T) {
	r := New(set(t, "mono", style.Options{ASCII: true}))
	for source, want := range map[string]string{
		"  - one\n  - two\n    more\n":       "- one\n- two\n  more\n",
		" 7) seven\n 8) eight\n":             "7) seven\n8) eight\n",
		">  - in a quote\n>    more\n":       "| - in a quote\n|   more\n",
		"-\n  below its sign\n":              "- below its sign\n",
		"- a\n\n      code in an item\n":     "- a\n\n    code in an item\n",
		"10. ten\n    - below\n11. eleven\n": "10. ten\n    - below\n11. eleven\n",
	} {
		if got := plain(r.Render(source, 40)); got != want {
			t.Errorf("%q is drawn as\n%s\nwant\n%s", source, got, want)
		}
	}
}

func TestLinesFollowWidthAndStyle(t *testing.T) {
	r := New(set(t, "dark", style.Options{}))
	var d Doc
	d.Append("one two three four")
	if got := len(d.Lines(r, 40)); got != 1 {
		t.Errorf("%d lines at 40", got)
	}
	if got := len(d.Lines(r, 10)); got != 2 {
		t.Errorf("%d lines at 10", got)
	}
	d.Append(" `code`\n")
	d.Finish()
	dark := strings.Join(d.Lines(r, 40), "\n")
	mono := strings.Join(d.Lines(New(set(t, "dark", style.Options{NoColor: true})), 40), "\n")
	if !strings.Contains(dark, "\x1b[38") || strings.Contains(mono, "\x1b[38") {
		t.Errorf("dark %q, without colour %q", dark, mono)
	}
	if want := "one two three four `code`"; ansi.Strip(mono) != want {
		t.Errorf("without colour %q, want %q", ansi.Strip(mono), want)
	}
}

func TestR09BlocksAreTheSource(t *testing.T) {
	source := "text\n\n> - item\n>   ```go\n>   \tx := 1\n>   \n>   ```\n\n```\n" + strings.Repeat("y", 300) + "\n\ttab\n\n```\n"
	got := Blocks(source)
	if len(got) != 2 || got[0].Language != "go" {
		t.Fatalf("blocks %+v", got)
	}
	if want := strings.Repeat("y", 300) + "\n\ttab\n\n"; got[1].Text != want {
		t.Errorf("block %q, want %q", got[1].Text, want)
	}
	if want := "\tx := 1\n\n"; got[0].Text != want {
		t.Errorf("nested block %q, want %q", got[0].Text, want)
	}
}

// Text made to be slow is not: the parser and the layout cost about its length.
func TestHostileNesting(t *testing.T) {
	dark := set(t, "dark", style.Options{})
	const deadline = 2 * time.Minute // of what takes about a second; a busy machine and the race detector take ten times that
	for name, source := range map[string]string{
		"quotes":          strings.Repeat("> ", 3000) + "x",
		"quotes unspaced": strings.Repeat(">", 5000) + " x",
		"in a definition": "term\n: " + strings.Repeat("> ", 3000) + "x",
		"lists":           strings.Repeat("- ", 3000) + "x",
		"brackets":        strings.Repeat("[", 5000),
		"emphasis":        strings.Repeat("**a *b ", 3000),
	} {
		done := make(chan []string, 1)
		go func() { done <- New(dark).Render(source, 40) }()
		select {
		case lines := <-done:
			inert(t, lines, 40)
		case <-time.After(deadline):
			t.Fatalf("%s: not drawn after %v", name, deadline)
		}
	}
}

func FuzzDoc(f *testing.F) {
	f.Add(sample, 40, 7)
	f.Add("&#27;[2J &#x202e; &Tab; \x1b]52;c;x\x07 <a href='x'>", 30, 1)
	f.Add("[a](javascript:&#7;) ![b](\x1b]8;;x\x07)", 20, 3)
	f.Add("> > > - 1. # a\n```\nx", 12, 2)
	s := set(f, "dark", style.Options{})
	f.Fuzz(func(t *testing.T, source string, width, step int) {
		width, step = (width%60+60)%60, (step%50+50)%50+1
		r, d := New(s), &Doc{}
		for i := 0; i < len(source); i += step {
			d.Append(source[i:min(i+step, len(source))])
			inert(t, d.Lines(r, width), width)
		}
		d.Finish()
		got := d.Lines(r, width)
		inert(t, got, width)
		if want := New(s).Render(source, width); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("streamed %q, whole %q", got, want)
		}
	})
}

func inert(t *testing.T, lines []string, width int) {
	t.Helper()
	for _, l := range lines {
		if strings.ContainsRune(l, '\n') {
			t.Errorf("line feed in %q", l)
		}
		if w := ansi.StringWidth(l); w > width {
			t.Errorf("line of %d cells in width %d: %q", w, width, l)
		}
		if text.StripSGR(l) != ansi.Strip(l) {
			t.Errorf("not clean: %q", l)
		}
	}
}

// A reply of 20,000 tokens drawn every 50 of them: the budget is 600 ms of CPU with all the rest.
func BenchmarkStream20000(b *testing.B) {
	benchmarkStream(b, 20_000, 50)
}

// A reply of 2,000 tokens drawn every 3 of them, as at 200 tokens/s and 60 frames/s.
func BenchmarkStream2000(b *testing.B) { benchmarkStream(b, 2000, 3) }

func benchmarkStream(b *testing.B, tokens, every int) {
	s := set(b, "dark", style.Options{})
	source := strings.Repeat(sample, tokens*4/len(sample)+1)[:tokens*4]
	b.ReportAllocs()
	for b.Loop() {
		r, d := New(s), &Doc{}
		for i := 0; i < tokens; i++ {
			d.Append(source[i*4 : i*4+4])
			if i%every == 0 {
				d.Lines(r, 100)
			}
		}
		d.Finish()
		d.Lines(r, 100)
	}
}

// One code block of 20,000 tokens that stays open, drawn every 10 tokens.
func BenchmarkOpenFence(b *testing.B) {
	s := set(b, "dark", style.Options{})
	line := "\tif err := run(ctx, name); err != nil {\n"
	for b.Loop() {
		r, d := New(s), &Doc{}
		d.Append("```go\n")
		for range 2000 {
			d.Append(line)
			d.Lines(r, 100)
		}
	}
}
