//go:build !linux

package command

import (
	"io"
	"os"
	"sync"
	"time"
)

// pump reads a program's output pipes into writers, one goroutine a pipe. Writes are never made at
// the same time; the order between two pipes is as the readers happen to run.
type pump struct {
	readers []*os.File
	writers []io.Writer
	mu      sync.Mutex // held while a writer is called, so that the two streams take turns
	wg      sync.WaitGroup
	done    chan struct{} // closed when every pipe was read to its end or given up
	started bool
}

// newPump returns a pump and the ends for the program: one for both streams if stderr is nil, else
// two. The caller closes them once the program has started.
func newPump(stdout, stderr io.Writer) (*pump, []*os.File, error) {
	p := &pump{done: make(chan struct{}), writers: []io.Writer{stdout}}
	if stderr != nil {
		p.writers = append(p.writers, stderr)
	}
	var ends []*os.File
	for range p.writers {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(ends)
			closeAll(p.readers)
			return nil, nil, err
		}
		p.readers, ends = append(p.readers, r), append(ends, w)
	}
	return p, ends, nil
}

// inodes is known on Linux only.
func (p *pump) inodes() []uint64 { return nil }

// run starts reading.
func (p *pump) run() {
	p.started = true
	for i, r := range p.readers {
		p.wg.Go(func() { _, _ = io.Copy(turn{p, p.writers[i]}, r) })
	}
	go func() {
		defer close(p.done)
		p.wg.Wait()
	}()
}

// turn is a writer that waits for its turn.
type turn struct {
	p *pump
	w io.Writer
}

func (t turn) Write(b []byte) (int, error) {
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	_, _ = t.w.Write(b) // a reader of the output cannot stop the program
	return len(b), nil
}

// close gives up what is not read yet and waits for the readers.
func (p *pump) close() {
	for _, r := range p.readers {
		if r.SetReadDeadline(time.Unix(1, 0)) != nil {
			_ = r.Close() // no deadlines on this system's pipes
		}
	}
	if p.started {
		<-p.done
	}
	closeAll(p.readers)
}

// handOver stops reading and returns the reading ends of the pipes. The caller closes them.
func (p *pump) handOver() ([]*os.File, error) {
	for _, r := range p.readers {
		if err := r.SetReadDeadline(time.Unix(1, 0)); err != nil {
			return nil, err // no deadlines on this system's pipes
		}
	}
	<-p.done
	files := p.readers
	p.readers = nil
	return files, nil
}
