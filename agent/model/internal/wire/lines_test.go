package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestLinesDropsCommentsAndEndsTheLastLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "",
		"data: a\n\n":            "data: a\n\n",
		": ping\n\ndata: a":      "\ndata: a\n",
		"data: a\r\n: b\r\n\r\n": "data: a\r\n\r\n",
		":":                      "",
		"a: b\n:c\n:d\nevent: e": "a: b\nevent: e\n",
		"data: x: y\n":           "data: x: y\n",
	} {
		got, err := io.ReadAll(Lines(iotest.OneByteReader(strings.NewReader(in)), nil))
		if err != nil || string(got) != want {
			t.Errorf("%q: got %q, %v, want %q", in, got, err, want)
		}
	}
}

func TestLinesPassesErrorsOn(t *testing.T) {
	broken := errors.New("reset")
	got, err := io.ReadAll(Lines(io.MultiReader(strings.NewReader("data: a\nda"), iotest.ErrReader(broken)), nil))
	if !errors.Is(err, broken) || string(got) != "data: a\nda" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestLinesBoundsALineAndNotTheStream(t *testing.T) {
	line := append(bytes.Repeat([]byte("x"), maxLine-1), '\n')
	n, err := io.Copy(io.Discard, Lines(io.MultiReader(bytes.NewReader(line), bytes.NewReader(line)), nil))
	if err != nil || n != 2*maxLine {
		t.Errorf("two lines at the limit: %d bytes, %v", n, err)
	}
	if _, err := io.Copy(io.Discard, Lines(bytes.NewReader(append([]byte("x"), line...)), nil)); !errors.Is(err, errTooLong) {
		t.Errorf("a line above the limit: %v", err)
	}
}

// FuzzLines compares with the plain way to do it.
func FuzzLines(f *testing.F) {
	f.Add("data: a\n: b\n\nc")
	f.Add(strings.Repeat("long ", 20_000) + "\n:" + strings.Repeat("c", 70_000) + "\nx")
	f.Fuzz(func(t *testing.T, in string) {
		var want strings.Builder
		for line := range strings.Lines(in) {
			if !strings.HasPrefix(line, ":") {
				want.WriteString(strings.TrimSuffix(line, "\n") + "\n")
			}
		}
		got, err := io.ReadAll(Lines(strings.NewReader(in), nil))
		if err != nil || string(got) != want.String() {
			t.Errorf("got %q, %v, want %q", got, err, want.String())
		}
	})
}
