package toolrt

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func lines(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format+"\n", i+1)
	}
	return b.String()
}

func TestR58WithinTheLimitsNothingChanges(t *testing.T) {
	for _, text := range []string{"", "\n", "a", lines(10, "%d"), strings.Repeat("x", 1024), strings.Repeat("\n", 10), strings.Repeat("x\n", 9) + "x"} {
		if got, cut := truncate(wholeText(text), Limits{Lines: 10, Bytes: 1024, Head: 0.5}, marker{}); got != text || cut != nil {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestR60R62OneLineMore(t *testing.T) {
	got, _ := truncate(wholeText(lines(100, "line %d")), Limits{Lines: 10, Bytes: 1 << 20, Head: 0.3}, marker{id: "s1.2", tool: "sysRead"})
	want := "line 1\nline 2\nline 3\n[... 91 lines, 723 bytes left out of 100 lines, 792 bytes; saved as s1.2, read it with sysRead ...]\n" +
		"line 95\nline 96\nline 97\nline 98\nline 99\nline 100\n"
	if got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestR62MarkerSaysWhatIsTrue(t *testing.T) {
	for _, c := range []struct {
		m    marker
		want string
	}{
		{marker{}, "; the rest was not kept ...]"},
		{marker{tool: "sysRead"}, "; the rest was not kept ...]"},
		{marker{id: "x"}, "; saved as x ...]"},
		{marker{id: "x", partial: true}, "; saved as x, first and last part only ...]"},
		{marker{jsonText: true}, "; the JSON is incomplete; the rest was not kept ...]"},
	} {
		if got := c.m.text(1, 2, excerpt{bytes: 3, lines: 4}); !strings.HasSuffix(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%+v: %s", c.m, got)
		}
	}
}

func TestR60OneLongLineOfWideCharacters(t *testing.T) {
	text := strings.Repeat("€", 500_000/3)
	got, cut := truncate(wholeText(text), Limits{Lines: 2000, Bytes: 51200, Head: 0.5}, marker{})
	if len(got) > 51200 || len(got) < 51100 || !utf8.ValidString(got) {
		t.Errorf("%d bytes, valid %v", len(got), utf8.ValidString(got))
	}
	if !strings.Contains(got, "[... 0 lines, ") || !cut.HeadPart || !cut.TailPart {
		t.Errorf("cut %+v: %s", cut, got[cut.Head:cut.Head+100])
	}
}

var markerPattern = regexp.MustCompile(`\[\.\.\. ([\d,]+) lines, ([\d,]+) bytes left out of ([\d,]+) lines, ([\d,]+) bytes; `)

func markerNumbers(t *testing.T, text string) (n [4]int64) {
	t.Helper()
	found := markerPattern.FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		t.Fatalf("no marker in %q", text)
	}
	for i := range n {
		n[i], _ = strconv.ParseInt(strings.ReplaceAll(found[0][i+1], ",", ""), 10, 64)
	}
	return n
}

// checkTruncation holds R58 to R62 for one text.
func checkTruncation(t *testing.T, text string, l Limits) {
	t.Helper()
	got, cut := truncate(wholeText(text), l, marker{id: "id"})
	l = l.normal()
	if len(got) > l.Bytes || countLines(got) > int64(l.Lines) {
		t.Fatalf("%d bytes, %d lines; limits %+v", len(got), countLines(got), l)
	}
	if utf8.ValidString(text) && !utf8.ValidString(got) {
		t.Fatalf("invalid UTF-8: %q", got)
	}
	if again, cut := truncate(wholeText(got), l, marker{id: "id"}); again != got || cut != nil {
		t.Fatalf("a second pass changed %q to %q", got, again)
	}
	if cut == nil {
		if got != text {
			t.Fatal("changed without a cut")
		}
		return
	}
	head, tail := got[:cut.Head], got[len(got)-cut.Tail:]
	if !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) || cut.Head+cut.Tail >= len(text) {
		t.Fatalf("head %d and tail %d of %d bytes are not the text's own", cut.Head, cut.Tail, len(text))
	}
	n := markerNumbers(t, got[cut.Head:])
	shown := countLines(head+"\n") + countLines(tail)
	if countLines(text) == 1 {
		shown = 1
	}
	want := [4]int64{countLines(text) - shown, int64(len(text) - len(head) - len(tail)), countLines(text), int64(len(text))}
	if n != want {
		t.Fatalf("marker says %v, want %v", n, want)
	}
}

func randomText(rng *rand.Rand) string {
	alphabet := []string{"a", "é", "€", "😀", "\n", " ", "\n\n", "word"}
	weights := 1 + rng.IntN(len(alphabet))
	var b strings.Builder
	for range rng.IntN(4000) {
		if rng.IntN(200) == 0 {
			b.WriteString(strings.Repeat("x", rng.IntN(2000)))
		}
		b.WriteString(alphabet[rng.IntN(weights)])
	}
	return b.String()
}

func TestR58R59R60R61R62Property(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 4))
		checkTruncation(t, randomText(rng), Limits{Lines: rng.IntN(100), Bytes: rng.IntN(5000), Head: rng.Float64()})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func FuzzTruncate(f *testing.F) {
	f.Add(lines(50, "line %d"), 10, 1024, 0.5)
	f.Add(strings.Repeat("€", 1000), 0, 1100, 0.3)
	f.Add(strings.Repeat("\n", 1000), 20, 0, 0.9)
	f.Fuzz(func(t *testing.T, text string, lines, bytes int, head float64) {
		checkTruncation(t, text, Limits{Lines: lines, Bytes: bytes, Head: head})
	})
}

// TestR66CaptureCutsLikeTheWholeText: what a bounded capture gives is what cutting the whole text
// would.
func TestR66CaptureCutsLikeTheWholeText(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 5))
		text := randomText(rng)
		l := Limits{Lines: 10 + rng.IntN(100), Bytes: 1024 + rng.IntN(3000), Head: rng.Float64()}
		c := NewCapture(CaptureOptions{Keep: l.Bytes})
		for rest := text; rest != ""; {
			n := 1 + rng.IntN(min(len(rest), 500))
			c.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		got, _ := truncate(c.excerpt(), l, marker{})
		if want, _ := truncate(wholeText(text), l, marker{}); got != want {
			t.Fatalf("seed %d, limits %+v\n got %q\nwant %q", seed, l, got, want)
		}
	}
}

func TestR66CommonLevel(t *testing.T) {
	for _, c := range []struct {
		sizes  []int
		budget int
		want   int
	}{
		{[]int{2000, 3000}, 10_000, 3000},
		{[]int{2000, 9000, 9000}, 10_000, 4000},
		{[]int{9000, 9000}, 10_000, 5000},
		{[]int{9000, 9000}, 100, minBytes},
		{[]int{9000}, -5, minBytes},
		{nil, 10, minBytes},
	} {
		if got := commonLevel(c.sizes, c.budget); got != c.want {
			t.Errorf("%v in %d: %d, want %d", c.sizes, c.budget, got, c.want)
		}
	}
}

func TestR66BatchBudget(t *testing.T) {
	dir := t.TempDir()
	r := newRuntime(t, Options{OutputDir: dir, Policy: Policy{MaxConcurrency: 4, MaxOutputBytes: 20_000, MaxBatchBytes: 30_000}})
	big, cut := lines(1500, "line %d"), lines(50_000, "line %d")
	got := runBatch(t, r,
		call("small", parallel, says("short")), call("whole", parallel, says(big)), call("cut", parallel, says(cut)),
		call("agent", Flags{Parallel: true, Delegating: true}, says(strings.Repeat("x", 9000))))
	total := 0
	for _, o := range got {
		total += len(o.Message)
	}
	if total > 30_000 || total < 29_000 {
		t.Errorf("%d bytes in all", total)
	}
	if len(got[3].Message) != 9000 || got[0].Message != "short" {
		t.Error("a short or delegated message was changed")
	}
	for i, text := range map[int]string{1: big, 2: cut} {
		o := got[i]
		n := markerNumbers(t, o.Message)
		head, tail := o.Message[:o.Cut.Head], o.Message[len(o.Message)-o.Cut.Tail:]
		want := [4]int64{countLines(text) - countLines(head+"\n") - countLines(tail), int64(len(text) - len(head) - len(tail)), countLines(text), int64(len(text))}
		if n != want || !o.Truncated || o.OutputID == "" || o.Output.Text != o.Message {
			t.Errorf("call %d: marker says %v, want %v", i, n, want)
		}
		if saved := savedText(t, dir, o.OutputID); saved != text {
			t.Errorf("call %d: %d bytes saved of %d", i, len(saved), len(text))
		}
	}
}

// TestR66BatchBudgetOnLongLines: cutting a cut message again keeps its counts when all that is left
// of a line is a part.
func TestR66BatchBudgetOnLongLines(t *testing.T) {
	r := newRuntime(t, Options{Policy: Policy{MaxOutputBytes: 9000, MaxBatchBytes: 4000}})
	for name, text := range map[string]string{
		"one line":        strings.Repeat("x", 50_000),
		"a long first":    strings.Repeat("x", 50_000) + "\n" + lines(3, "line %d"),
		"a long last":     lines(3, "line %d") + strings.Repeat("x", 50_000),
		"long at the end": strings.Repeat("x", 50_000) + "\n" + strings.Repeat("y", 50_000),
	} {
		o := run(t, r, call("x", exclusive, says(text)))
		n := markerNumbers(t, o.Message)
		shown := map[string]int64{"one line": 1, "a long first": 4, "a long last": 4, "long at the end": 2}[name]
		if n[0] != countLines(text)-shown || n[1] != int64(len(text)-o.Cut.Head-o.Cut.Tail) || len(o.Message) > 4000 {
			t.Errorf("%s: marker says %v; cut %+v", name, n, o.Cut)
		}
	}
}

func TestR66JSONIsLaidOutBeforeItIsCut(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"items":[`)
	for i := range 5000 {
		fmt.Fprintf(&b, `{"id":%d,"n":9007199254740993},`, i)
	}
	b.WriteString(`null]}`)
	r := newRuntime(t, Options{Policy: Policy{MaxOutputBytes: 4096}})
	o := run(t, r, call("x", exclusive, says(b.String())))
	if !strings.Contains(o.Message, "the JSON is incomplete") || !strings.HasPrefix(o.Message, "{\n \"items\": [\n  {\n   \"id\": 0,\n   \"n\": 9007199254740993\n") {
		t.Errorf("message %q", o.Message[:200])
	}
	if o := run(t, r, call("x", exclusive, says(`{"a":1}`))); o.Message != `{"a":1}` {
		t.Errorf("a short one: %q", o.Message)
	}
}

func TestLimitsGrowWithTheWindow(t *testing.T) {
	for _, c := range []struct {
		name         string
		o            Options
		window       int
		lines, bytes int
	}{
		{"unknown window", Options{}, 0, 3800, 97280},
		{"small window", Options{Window: 8192}, 0, 2000, 51200},
		{"large window", Options{Window: 1_000_000}, 0, 29687, 760_000},
		{"window of the call", Options{Window: 8192}, 1_000_000, 29687, 760_000},
		{"set limits stay", Options{Window: 1_000_000, Policy: Policy{MaxOutputBytes: 10_000}}, 0, 2000, 10_000},
		{"off", Options{Policy: Policy{MaxOutputBytes: -1, MaxOutputLines: -1}}, 0, 1<<63 - 1, 1<<63 - 1},
	} {
		if got := New(c.o).limits(&Call{Window: c.window}, Spec{}); got.Lines != c.lines || got.Bytes != c.bytes {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
