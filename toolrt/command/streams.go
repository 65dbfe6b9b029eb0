package command

import (
	"fmt"
	"io"

	"parley/toolrt"
)

// streams takes a command's two outputs to where they belong: both to the call's progress and into
// the text of a failure, stdout alone into the result. Writes come one at a time.
type streams struct {
	out    io.Writer
	result *toolrt.Capture
	first  finisher
	failed excerpt
	secret bool
}

func newStreams(inv *toolrt.Invocation) *streams {
	s := &streams{out: inv.Out, result: inv.NewCapture(), secret: inv.Call.Category == "credential"}
	if s.out == nil {
		s.out = io.Discard
	}
	return s
}

// writerFunc makes a function a writer that takes everything.
type writerFunc func(b []byte)

func (f writerFunc) Write(b []byte) (int, error) {
	f(b)
	return len(b), nil
}

func (s *streams) stdout() io.Writer {
	return writerFunc(func(b []byte) {
		s.first.write(b)
		_, _ = s.result.Write(b) // neither buffer fails
		if !s.secret {           // a credential is on stdout
			s.failed.write(b)
			_, _ = s.out.Write(b)
		}
	})
}

func (s *streams) stderr() io.Writer {
	return writerFunc(func(b []byte) {
		s.failed.write(b)
		_, _ = s.out.Write(b)
	})
}

// output is the result of a command that was not found at fault.
func (s *streams) output() toolrt.Output {
	return toolrt.Output{Capture: s.result, Secret: s.secret}
}

// excerptMax is how much of each end of the output the text of a failure holds.
const excerptMax = 32 << 10

// excerpt keeps the start and the end of a text of any length.
type excerpt struct {
	head, tail []byte
	total      int64
}

func (e *excerpt) write(b []byte) {
	e.total += int64(len(b))
	n := min(len(b), excerptMax-len(e.head))
	e.head = append(e.head, b[:n]...)
	b = b[n:]
	if len(b) > excerptMax {
		b = b[len(b)-excerptMax:]
	}
	e.tail = append(e.tail, b...)
	if extra := len(e.tail) - excerptMax; extra > excerptMax { // move rarely
		e.tail = append(e.tail[:0], e.tail[extra:]...)
	}
}

// String returns the text, with a line in place of what was left out of it.
func (e *excerpt) String() string {
	tail := e.tail[max(0, len(e.tail)-excerptMax):]
	left := e.total - int64(len(e.head)) - int64(len(tail))
	if left == 0 {
		return string(e.head) + string(tail)
	}
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", e.head, left, tail)
}
