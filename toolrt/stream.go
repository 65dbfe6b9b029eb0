package toolrt

import (
	"bytes"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	// liveInterval is the least time between two pieces that an observer gets (R37).
	liveInterval = 100 * time.Millisecond
	// maxLive bounds what is kept for the next piece; of more only the last part is shown.
	maxLive = 64 << 10
	// streamRoom is how much may wait to be cleaned and saved before writers have to wait.
	streamRoom = 64 << 10
)

// stream is the Out of an Invocation: it cleans what a tool writes, keeps its two ends, saves it,
// and shows it. Everything but the copying happens in one goroutine, which starts with the first
// write and ends with close.
type stream struct {
	show func(chunk string) // nil: nobody watches
	done sync.WaitGroup     // the goroutine
	wake chan struct{}      // something was written, there is no more room, or the end
	full chan struct{}

	mu      sync.Mutex // guards the next five
	room    *sync.Cond
	waiting []byte
	spare   []byte // takes turns with waiting
	started bool
	closed  bool

	// work is held while what was written is processed; it is taken before mu. It guards the rest
	// until the stream is closed; live belongs to the goroutine.
	work    sync.Mutex
	cleaner cleaner
	ends    ends
	file    *outputFile // nil: not saved
	live    liveText
}

func newStream(o CaptureOptions, file *outputFile, show func(string)) *stream {
	s := &stream{
		show: show,
		wake: make(chan struct{}, 1),
		full: make(chan struct{}, 1),
		file: file,
		ends: ends{keep: o.Keep},
	}
	s.room = sync.NewCond(&s.mu)
	s.cleaner = newCleaner(o)
	if show != nil {
		s.cleaner.live = s.live.add
	}
	return s
}

// Write takes p, waiting while too much is unsaved. After close it drops p.
func (s *stream) Write(p []byte) (int, error) {
	n := len(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(p) > 0 {
		for len(s.waiting) >= streamRoom && !s.closed {
			s.room.Wait()
		}
		if s.closed {
			return n, nil
		}
		if !s.started {
			s.started = true
			s.done.Go(s.pump)
		}
		m := min(len(p), streamRoom-len(s.waiting))
		s.waiting, p = append(s.waiting, p[:m]...), p[m:]
		signal(s.wake)
		if len(s.waiting) >= streamRoom {
			signal(s.full)
		}
	}
	return n, nil
}

// signal leaves a token in c unless there is one; it never waits.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// pump takes what was written every tenth of a second, or when there is no more room.
func (s *stream) pump() {
	var shown time.Time
	timer := time.NewTimer(liveInterval)
	timer.Stop()
	defer timer.Stop()
	for range s.wake {
		timer.Reset(max(liveInterval-time.Since(shown), liveInterval/2))
		select {
		case <-timer.C:
		case <-s.full:
		}
		if s.take() {
			return
		}
		if time.Since(shown) < liveInterval {
			signal(s.wake) // come back to show it
			continue
		}
		s.emit()
		shown = time.Now()
	}
}

// take processes what waits and reports whether the stream is closed.
func (s *stream) take() (closed bool) {
	s.work.Lock()
	defer s.work.Unlock()
	s.mu.Lock()
	p := s.waiting
	s.waiting, s.spare = s.spare[:0], nil
	closed = s.closed
	s.room.Broadcast()
	s.mu.Unlock()
	s.keep(s.cleaner.write(p))
	s.mu.Lock()
	s.spare = p
	s.mu.Unlock()
	return closed
}

func (s *stream) keep(text []byte) {
	s.ends.add(text)
	if s.file != nil {
		s.file.write(text)
	}
}

func (s *stream) emit() {
	if chunk := s.live.take(); chunk != "" && s.show != nil {
		s.show(chunk)
	}
}

// close ends the stream: everything written is processed and the last piece shown. Calls after
// the first change nothing.
func (s *stream) close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	s.room.Broadcast()
	s.mu.Unlock()
	signal(s.wake)
	signal(s.full)
	s.done.Wait()
	s.take() // what the goroutine, if there was one, has left
	s.keep(s.cleaner.end())
	s.emit()
}

// soFar returns what was written to a stream until now, what the cleaner holds back included.
func (s *stream) soFar() excerpt {
	s.take()
	s.work.Lock()
	defer s.work.Unlock()
	if s.cleaner.binary {
		return wholeText(binaryLine(s.cleaner.probe, s.cleaner.size))
	}
	c, e := s.cleaner.clone(), s.ends.clone()
	e.add(c.end())
	return e.excerpt()
}

// excerpt returns what was written to a closed stream.
func (s *stream) excerpt() excerpt {
	if s.cleaner.binary {
		return wholeText(binaryLine(s.cleaner.probe, s.cleaner.size))
	}
	return s.ends.excerpt()
}

// printed is how much text was written to a closed stream.
func (s *stream) printed() int64 { return s.ends.bytes }

// liveText gathers the next piece for an observer.
type liveText struct {
	text  []byte
	shown bool // the line under way was shown in part
}

func (l *liveText) add(p []byte) {
	for {
		i := bytes.IndexByte(p, '\r')
		if i < 0 {
			l.text = append(l.text, p...)
			break
		}
		l.text, p = append(l.text, p[:i]...), p[i+1:]
		// The line begins anew: what was not shown of it is dropped, what was cannot be taken back.
		start := bytes.LastIndexByte(l.text, '\n') + 1
		l.text = l.text[:start]
		if start == 0 && l.shown {
			l.text = append(l.text, '\n')
		}
	}
	if over := len(l.text) - maxLive; over > 0 {
		for over < len(l.text) && !utf8.RuneStart(l.text[over]) {
			over++
		}
		l.text = append(l.text[:0], l.text[over:]...)
	}
}

func (l *liveText) take() string {
	if len(l.text) == 0 {
		return ""
	}
	chunk := string(l.text)
	l.text = l.text[:0]
	l.shown = chunk[len(chunk)-1] != '\n'
	return chunk
}
