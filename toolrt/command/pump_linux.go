package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// pump reads a program's output pipes into writers. One goroutine serves both pipes in the order
// in which they became readable, so that a message on stderr stands where it was written among
// the lines of stdout; two readers would mix them at random.
type pump struct {
	poll    *os.File // an epoll instance, itself waited for by Go's poller
	sources []source
	done    chan struct{} // closed when every pipe was read to its end or given up
	started bool
	keep    atomic.Bool // the pipes are handed over when reading stops
}

// source is the reading end of one pipe, closed when fd is -1.
type source struct {
	fd    int
	inode uint64
	to    io.Writer
}

// newPump returns a pump and the ends for the program: one for both streams if stderr is nil, else
// two. The caller closes them once the program has started.
func newPump(stdout, stderr io.Writer) (*pump, []*os.File, error) {
	ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, nil, os.NewSyscallError("epoll_create", err)
	}
	if err := unix.SetNonblock(ep, true); err != nil {
		return nil, nil, errors.Join(err, unix.Close(ep))
	}
	p := &pump{poll: os.NewFile(uintptr(ep), "output pipes"), done: make(chan struct{})}
	writers := []io.Writer{stdout}
	if stderr != nil {
		writers = append(writers, stderr)
	}
	var ends []*os.File
	for _, w := range writers {
		end, err := p.add(ep, w)
		if err != nil {
			closeAll(ends)
			p.close()
			return nil, nil, err
		}
		ends = append(ends, end)
	}
	return p, ends, nil
}

// add makes a pipe into w and returns its writing end.
func (p *pump) add(ep int, w io.Writer) (*os.File, error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, os.NewSyscallError("pipe2", err)
	}
	p.sources = append(p.sources, source{fd: fds[0], to: w})
	end := os.NewFile(uintptr(fds[1]), "output")
	var stat unix.Stat_t
	err := unix.Fstat(fds[0], &stat)
	p.sources[len(p.sources)-1].inode = stat.Ino
	if err == nil {
		err = unix.SetNonblock(fds[0], true) // the reading end only; the program's end blocks
	}
	if err == nil {
		event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLHUP, Fd: int32(len(p.sources) - 1)}
		err = unix.EpollCtl(ep, unix.EPOLL_CTL_ADD, fds[0], &event)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("watch pipe: %w", err), end.Close())
	}
	return end, nil
}

// inodes identifies the pipes, to find processes that hold them.
func (p *pump) inodes() []uint64 {
	var all []uint64
	for _, s := range p.sources {
		all = append(all, s.inode)
	}
	return all
}

// run starts reading.
func (p *pump) run() {
	p.started = true
	go func() {
		defer close(p.done)
		if p.read(); !p.keep.Load() {
			p.closeSources()
		}
	}()
}

func (p *pump) read() {
	conn, err := p.poll.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, 64<<10)
	var events [2]unix.EpollEvent
	for open := len(p.sources); open > 0; {
		n := 0
		err := conn.Read(func(fd uintptr) bool {
			var err error
			n, err = unix.EpollWait(int(fd), events[:], 0)
			return n > 0 || err != nil && err != unix.EINTR
		})
		if err != nil { // the deadline of close
			return
		}
		for _, event := range events[:max(n, 0)] {
			if !p.sources[event.Fd].copy(buf) {
				open--
			}
		}
	}
}

// copy passes on what one read brings and reports whether the pipe is still open.
func (s *source) copy(buf []byte) bool {
	n, err := unix.Read(s.fd, buf)
	if n > 0 {
		_, _ = s.to.Write(buf[:n]) // a reader of the output cannot stop the program
		return true
	}
	if n < 0 && (err == unix.EAGAIN || err == unix.EINTR) {
		return true
	}
	s.close()
	return false
}

// close closes the reading end, which also takes it out of the epoll instance.
func (s *source) close() {
	if s.fd >= 0 {
		_ = unix.Close(s.fd)
		s.fd = -1
	}
}

func (p *pump) closeSources() {
	for i := range p.sources {
		p.sources[i].close()
	}
}

// close gives up what is not read yet and waits for the reader.
func (p *pump) close() {
	if p.started {
		_ = p.poll.SetReadDeadline(time.Unix(1, 0))
		<-p.done
	} else {
		p.closeSources()
	}
	_ = p.poll.Close()
}

// handOver stops reading and returns the reading ends of the pipes that are still open. The caller
// closes them.
func (p *pump) handOver() ([]*os.File, error) {
	p.keep.Store(true)
	_ = p.poll.SetReadDeadline(time.Unix(1, 0))
	<-p.done
	var files []*os.File
	for i := range p.sources {
		fd := p.sources[i].fd
		if fd < 0 {
			continue
		}
		if err := unix.SetNonblock(fd, false); err != nil { // whoever reads now waits
			closeAll(files)
			p.closeSources()
			return nil, os.NewSyscallError("fcntl", err)
		}
		files = append(files, os.NewFile(uintptr(fd), "output"))
		p.sources[i].fd = -1
	}
	return files, nil
}
