package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// maxLine bounds one line of a stream, its end included. The scanner of one library takes no more.
const maxLine = 32<<20 - 1

// Lines reads the lines of an event stream for a library that reads lines itself. It refuses lines
// over 32 MiB, leaves out comments (keep-alive signs that libraries take for text) and ends the
// last line if the server did not. Rewrite, unless nil, may change the first bytes of a line.
func Lines(r io.Reader, rewrite func(start []byte) []byte) io.Reader {
	return &lines{in: bufio.NewReaderSize(r, 64<<10), rewrite: rewrite}
}

type lines struct {
	in      *bufio.Reader
	rewrite func([]byte) []byte
	pending []byte // of the line under way, not yet handed out
	inside  bool   // the next bytes go on with a line
	skip    bool   // the line is left out
	length  int    // of the line under way
	err     error
}

func (l *lines) Read(p []byte) (int, error) {
	for len(l.pending) == 0 {
		if l.err != nil {
			return 0, l.err
		}
		l.next()
	}
	n := copy(p, l.pending)
	l.pending = l.pending[n:]
	return n, nil
}

// next reads a piece of a line, at most one buffer long.
func (l *lines) next() {
	piece, err := l.in.ReadSlice('\n')
	if !l.inside {
		l.length, l.skip = 0, bytes.HasPrefix(piece, []byte(":"))
		if l.rewrite != nil && len(piece) > 0 {
			piece = l.rewrite(piece)
		}
	}
	l.length += len(piece)
	l.inside = len(piece) > 0 && piece[len(piece)-1] != '\n'
	switch {
	case err == bufio.ErrBufferFull:
	case err != nil:
		l.err = err
		if l.inside && err == io.EOF {
			piece = append(bytes.Clone(piece), '\n')
		}
	}
	if l.length > maxLine {
		l.err = fmt.Errorf("%w: a line has more than %d MiB", errTooLong, (maxLine+1)>>20)
		piece = nil
	}
	if !l.skip {
		l.pending = piece
	}
}
