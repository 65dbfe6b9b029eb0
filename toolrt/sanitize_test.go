package toolrt

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestR57TerminalOutput(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", "a\tb\nc", "a\tb\nc"},
		{"colours", "\x1b[1;31mred\x1b[0m", "red"},
		{"line ends", "a\r\nb\r\r\nc\r\n", "a\nb\nc\n"},
		{"progress bar", "10%\r50%\r100%\r\ndone", "100%\ndone"},
		{"progress bar, unfinished", "10%\r50%\r", "50%"},
		{"progress bar in colour", "\x1b[32m10%\x1b[0m\r\x1b[32m99%\x1b[0m\n", "99%\n"},
		{"title", "\x1b]0;evil\x07text", "text"},
		{"link", "\x1b]8;;http://evil\x1b\\shown\x1b]8;;\x1b\\", "shown"},
		{"clipboard", "a\x1b]52;c;ZXZpbA==\x07b", "ab"},
		{"clear and move", "a\x1b[2J\x1b[5A\x1b[Kb", "ab"},
		{"C1 forms", "a\u009b31mb\u009d0;x\u009cc\u0090x\u009cd\u0085", "abcd"},
		{"raw C1 bytes", "a\x9b31mb", "a\ufffd31mb"},
		{"charset", "a\x1b(Bb\x1b=c", "abc"},
		{"unclosed title", "a\x1b]0;never closed\nnext line", "a\nnext line"},
		{"unclosed control", "a\x1b[31\nnext", "a\nnext"},
		{"escape at the end", "a\x1b", "a"},
		{"cancelled", "a\x1b[3\x18b", "ab"},
		{"escape in a title", "a\x1b]0;x\x1b[31mred", "ared"},
		{"bells and backspaces", "a\a\a\bb\x7f", "ab"},
		{"bidi signs stay", "a\u202eb", "a\u202eb"},
		{"invalid", "a\xffb\xe2\x82", "a\ufffdb\ufffd\ufffd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := cleanText(c.text, FormTerminal); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestR57LongUnclosedSequenceEnds(t *testing.T) {
	text := cleanText("\x1b]0;"+strings.Repeat("x", 10_000)+"end", FormTerminal)
	if !strings.HasSuffix(text, "end") || len(text) > 7000 {
		t.Errorf("%d bytes left", len(text))
	}
}

func TestR57OtherTextsKeepTheirCharacters(t *testing.T) {
	const text = "\x1b[31mred\r\n\a"
	if got := cleanText(text, FormText); got != text {
		t.Errorf("got %q", got)
	}
	if got := cleanText("a\xffb", FormText); got != "a\ufffdb" {
		t.Errorf("got %q", got)
	}
}

func TestR41R57BinaryData(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n" + strings.Repeat("\x00", 2000)
	for _, form := range []TextForm{FormText, FormTerminal, FormScript} {
		if got, want := cleanText(png, form), "[binary data: image/png, 2,008 bytes]"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		c := NewCapture(CaptureOptions{Form: form})
		c.Write([]byte(png[:100]))
		c.Write([]byte(png[100:]))
		if got := c.excerpt().head; got != cleanText(png, form) {
			t.Errorf("captured %q", got)
		}
	}
	if late := strings.Repeat("x", binaryProbe) + "\x00"; cleanText(late, FormText) != late {
		t.Error("NUL after the first 8 KiB counts as binary")
	}
}

// captured is what a capture makes of text that comes in random pieces.
func captured(text string, o CaptureOptions, rng *rand.Rand) excerpt {
	c := NewCapture(o)
	for text != "" {
		n := 1 + rng.IntN(min(len(text), 7))
		c.Write([]byte(text[:n]))
		if rng.IntN(3) == 0 { // a border between two batches
			c.mu.Lock()
			c.settle()
			c.mu.Unlock()
		}
		text = text[n:]
	}
	return c.excerpt()
}

// checkPieces: how a text is cut into pieces makes no difference, and the result is clean.
func checkPieces(t *testing.T, text string, form TextForm, rng *rand.Rand) {
	t.Helper()
	want := cleanText(text, form)
	got := captured(text, CaptureOptions{Form: form}, rng)
	if got.head != want || got.bytes != int64(len(want)) || got.lines != countLines(want) {
		t.Fatalf("%q in pieces\n got %q\nwant %q", text, got.head, want)
	}
	if !utf8.ValidString(want) {
		t.Fatalf("invalid UTF-8: %q", want)
	}
	if form != FormText && strings.ContainsFunc(want, func(c rune) bool {
		return c < ' ' && c != '\n' && c != '\t' && (c != '\r' || form == FormTerminal) || c >= 0x7f && c <= 0x9f
	}) {
		t.Fatalf("control characters left: %q", want)
	}
}

func TestR57PiecesMakeNoDifference(t *testing.T) {
	parts := []string{"\x1b", "[", "3", "1m", "]0;", "\x07", "\\", "\r", "\n", "é", "\xe2", "\x82", "\xac", "\xff", "text", "😀", "\u009b", "\b"}
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 6))
		var text strings.Builder
		for range rng.IntN(25) {
			text.WriteString(parts[rng.IntN(len(parts))])
		}
		checkPieces(t, text.String(), TextForm(seed%3), rng)
	}
}

func FuzzSanitize(f *testing.F) {
	f.Add([]byte("\x1b[31mred\x1b[0m\r\n50%\r100%\r\n"), true, uint64(1))
	f.Add([]byte("\x1b]0;x\x07\xff\xe2\x82"), true, uint64(2))
	f.Add([]byte("plain \x00"), false, uint64(3))
	f.Fuzz(func(t *testing.T, text []byte, terminal bool, seed uint64) {
		for _, form := range map[bool][]TextForm{true: {FormTerminal, FormScript}, false: {FormText}}[terminal] {
			checkPieces(t, string(text), form, rand.New(rand.NewPCG(seed, 7)))
		}
	})
}

// What a program's own command tool printed loses its control sequences and keeps its line ends (R57).
func TestR57ScriptOutput(t *testing.T) {
	for text, want := range map[string]string{
		"a\x1b[31mb\x1b[0m\r\nc\rd\n":           "ab\r\nc\rd\n",
		"\x1b]52;c;aGk=\x07x\x07\x1bc\u009b2Jy": "xy",
		"tab\tnbsp\u00a0 \u202eright":           "tab\tnbsp\u00a0 \u202eright",
	} {
		if got := cleanText(text, FormScript); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
		c := call("t", exclusive, says(text))
		c.Tool.(*FuncTool).SpecValue.Form = FormScript
		if o := run(t, newRuntime(t, Options{}), c); o.Message != want {
			t.Errorf("%q: the model reads %q", text, o.Message)
		}
		c.Whole = true // goes on to a filter, or is the program's own result
		if o := run(t, newRuntime(t, Options{}), c); o.Message != text {
			t.Errorf("%q: passed on as %q", text, o.Message)
		}
	}
}
