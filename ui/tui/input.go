package tui

import (
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"parley/ui/tui/composer"
)

// arrivals watch what is read from the terminal, as it is read. Keys are handled later, on a busy
// machine much later, so only here can a line end that was typed be told from one in the middle
// of a paste that the terminal did not mark as such (I-01).
type arrivals struct {
	mu      sync.Mutex // guards what follows: a command that has the terminal may read too
	last    time.Time  // of the last read
	ended   bool       // a line end was among what came without a pause
	pasting atomic.Bool
}

// saw takes one read.
func (a *arrivals) saw(data []byte, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Sub(a.last) > composer.Gap {
		a.ended = false
		a.pasting.Store(false)
	}
	a.last = now
	for _, c := range data {
		switch {
		case c == '\x1b': // a key, a mouse or a marked paste
			a.ended = false
			a.pasting.Store(false)
		case c == '\r' || c == '\n':
			a.ended = true
		case a.ended:
			a.pasting.Store(true)
		}
	}
}

// watched returns r with its reads watched. A terminal stays one.
func (a *arrivals) watched(r io.Reader) io.Reader {
	if f, ok := r.(*os.File); ok {
		return watchedFile{f, a}
	}
	return watchedReader{r, a}
}

// terminal returns the input to read keys from: o's, else the process's own, and nil when Bubble
// Tea has to find one.
func (a *arrivals) terminal(o Options) io.Reader {
	switch {
	case o.Input != nil:
		return a.watched(o.Input)
	case term.IsTerminal(int(os.Stdin.Fd())):
		return a.watched(os.Stdin)
	}
	return nil
}

type watchedReader struct {
	io.Reader
	arrivals *arrivals
}

func (r watchedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.arrivals.saw(p[:n], time.Now())
	return n, err
}

type watchedFile struct {
	*os.File
	arrivals *arrivals
}

func (f watchedFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.arrivals.saw(p[:n], time.Now())
	return n, err
}
