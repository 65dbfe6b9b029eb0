package sys

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"parley/toolrt"
)

// What one view holds at most, so that it is not cut itself.
const (
	viewBytes = 48 << 10
	viewLine  = 2000 // bytes of one line
)

func displayView(a args) string {
	if a["filename"] == "" {
		return ""
	}
	if first := a.number("first", 1); first > 1 {
		return quoted("Reading `%s` from line %d", a["filename"], first)
	}
	return quoted("Reading `%s`", a["filename"])
}

// view is sys.view: some lines of a file with their numbers.
func view(ctx context.Context, inv *toolrt.Invocation, a args) (toolrt.Output, error) {
	name := a["filename"]
	target, refusal := openable(inv.Call, name)
	if refusal != "" {
		return failed("%s", refusal), nil
	}
	defer files.share(target)()
	f, err := os.Open(target)
	if err != nil {
		return failed("Failed to read file %s: %v", name, asGiven(err, name)), nil
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	w := window{first: a.number("first", 1), count: a.number("count", 500)}
	err = w.read(io.TeeReader(&cancellable{ctx, f}, sum))
	switch {
	case ctx.Err() != nil:
		return toolrt.Output{}, ctx.Err()
	case err != nil:
		return failed("Failed to read file %s: %v", name, asGiven(err, name)), nil
	case w.binary:
		return failed("The file %s cannot be read because it is not a plaintext file", name), nil
	}
	inv.Seen.Note(target, toolrt.Sum(sum.Sum(nil)))
	switch {
	case w.total == 0:
		return text("The file %s has no contents", name), nil
	case len(w.lines) == 0:
		return failed("The file %s ends before line %d: it has %s", name, w.first, plural(w.total, "line")), nil
	}
	return toolrt.Output{Text: w.text() + w.footer(name)}, nil
}

// openable returns the resolved path of a file that can be read as a file, or why it cannot.
func openable(call *toolrt.Call, name string) (target, refusal string) {
	full, err := locate(call.Dir, name, "open")
	if err != nil {
		return "", fmt.Sprintf("The file %s does not exist", name)
	}
	target = ResolvePath(full, ".")
	info, err := os.Stat(target)
	switch {
	case call.Denied != nil && call.Denied(target):
		return "", fmt.Sprintf("The file %s is kept from you by a rule", name)
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Sprintf("The file %s does not exist", name)
	case err != nil:
		return "", fmt.Sprintf("Failed to read file %s: %v", name, asGiven(err, name))
	case info.IsDir():
		return "", fmt.Sprintf("%s is a folder, not a file", name)
	case !info.Mode().IsRegular(): // a pipe or device may never end
		return "", fmt.Sprintf("Failed to read file %s: %v", name, errNotRegular)
	}
	return target, ""
}

// window takes some lines out of a text and counts the others.
type window struct {
	first, count int

	lines   []string
	size    int // bytes in lines
	total   int // lines of the whole text
	crlf    int // of them, those that end so
	binary  bool
	stopped bool // it was full before count was reached
}

// read reads the whole text. It stops early at what is no text.
func (w *window) read(r io.Reader) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var start []byte // of the line, as much as is shown
	length := 0
	for {
		part, err := in.ReadSlice('\n')
		if bytes.IndexByte(part, 0) >= 0 {
			w.binary = true
			return nil
		}
		start = append(start, part[:min(len(part), max(viewLine+2-len(start), 0))]...)
		length += len(part)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if length > 0 {
			w.add(start, length, bytes.HasSuffix(part, []byte("\r\n")))
		}
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return err
		}
		start, length = start[:0], 0
	}
}

// add takes one line with its end. start is its beginning, the whole of it if it is short.
func (w *window) add(start []byte, length int, crlf bool) {
	w.total++
	if crlf {
		w.crlf++
	}
	if w.total < w.first || len(w.lines) >= w.count || w.stopped {
		return
	}
	line := cutLine(strings.TrimSuffix(strings.TrimSuffix(string(start), "\n"), "\r"), length)
	if w.stopped = len(w.lines) > 0 && w.size+len(line) > viewBytes; w.stopped {
		return
	}
	w.lines, w.size = append(w.lines, line), w.size+len(line)+8
}

// cutLine shortens a long line, of which line is the beginning, with a note of its length.
func cutLine(line string, length int) string {
	if len(line) <= viewLine {
		return line
	}
	end := viewLine
	for end > 0 && !utf8.RuneStart(line[end]) {
		end--
	}
	return fmt.Sprintf("%s… [line cut: it has %d bytes]", line[:end], length)
}

// text is the lines with their numbers.
func (w *window) text() string {
	width := len(strconv.Itoa(w.first + len(w.lines) - 1))
	var b strings.Builder
	for i, line := range w.lines {
		fmt.Fprintf(&b, "%*d\t%s\n", width, w.first+i, line)
	}
	return b.String()
}

// footer says what part of the text was shown.
func (w *window) footer(name string) string {
	last := w.first + len(w.lines) - 1
	said := fmt.Sprintf("[lines %d to %d of %d of %s", w.first, last, w.total, name)
	switch {
	case w.crlf == w.total:
		said += "; line ends are CRLF"
	case w.crlf > 0:
		said += fmt.Sprintf("; %s CRLF, the others in LF", ends(w.crlf))
	}
	if last < w.total {
		said += fmt.Sprintf("; go on with first %d", last+1)
	}
	return said + "]"
}

func ends(n int) string {
	if n == 1 {
		return "1 line ends in"
	}
	return fmt.Sprintf("%d lines end in", n)
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// readOutput is sys.read.output: some lines of what an earlier call of the session printed (R64).
func readOutput(_ context.Context, inv *toolrt.Invocation, a args) (toolrt.Output, error) {
	id := a["id"]
	saved, err := inv.OpenOutput(id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return failed("There is no saved output %s in this session", id), nil
	case err != nil:
		return failed("The output %s cannot be read: %v", id, err), nil
	}
	defer func() { _ = saved.Close() }()
	w := window{first: a.number("first", 1), count: a.number("count", 200)}
	if w.lines, w.total, err = saved.Lines(w.first, w.count, viewBytes); err != nil {
		return toolrt.Output{}, fmt.Errorf("read output %s: %w", id, err)
	}
	if len(w.lines) == 0 {
		return failed("The output %s ends before line %d: it has %s", id, w.first, plural(w.total, "line")), nil
	}
	for i, line := range w.lines {
		w.lines[i] = cutLine(line, len(line))
	}
	return toolrt.Output{Text: w.text() + w.footer(id)}, nil
}
