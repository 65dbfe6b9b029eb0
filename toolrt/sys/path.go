package sys

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// maxLinks is how many symbolic links a path may go through.
const maxLinks = 64

// ResolvePath returns the absolute, clean path that path means in the folder dir, with symbolic
// links resolved as far as it exists. The last part is resolved too, even if it points to nothing:
// this is the file that a write would create.
func ResolvePath(dir, path string) string {
	rest := absolute(dir, path)
	volume := filepath.VolumeName(rest)
	done := volume + string(filepath.Separator)
	rest = rest[len(volume):]
	for links := 0; rest != ""; {
		var part string
		part, rest, _ = strings.Cut(strings.TrimLeft(rest, string(filepath.Separator)), string(filepath.Separator))
		switch part {
		case "", ".":
			continue
		case "..":
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, part)
		target, err := os.Readlink(next)
		if err != nil || links == maxLinks {
			done = next
			continue
		}
		links++
		if filepath.IsAbs(target) {
			done = filepath.VolumeName(target) + string(filepath.Separator)
			target = target[len(filepath.VolumeName(target)):]
		}
		rest = target + string(filepath.Separator) + rest
	}
	return done
}

// resolveEntry is ResolvePath for operations on a directory's entry, which do not follow a link
// in the last part.
func resolveEntry(dir, path string) string {
	full := absolute(dir, path)
	return filepath.Join(ResolvePath(filepath.Dir(full), "."), filepath.Base(full))
}

// absolute returns path in dir, absolute and clean.
func absolute(dir, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Clean(path)
}

// locate returns the file that a tool works on. Like the system, it finds nothing under no name.
func locate(dir, path, op string) (string, error) {
	if path == "" {
		return "", &fs.PathError{Op: op, Path: path, Err: syscall.ENOENT}
	}
	return absolute(dir, path), nil
}

// asGiven returns a system's error with the path as the model wrote it.
func asGiven(err error, path string) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return &fs.PathError{Op: p.Op, Path: path, Err: p.Err}
	}
	return err
}

// files are the locks of the files in use (7.1). They are the process's, like the files.
var files = lockTable{locks: map[string]*fileLock{}}

// lockTable hands out one lock a file and forgets it when nobody wants it.
type lockTable struct {
	mu    sync.Mutex // guards locks and the counts in it
	locks map[string]*fileLock
}

type fileLock struct {
	sync.RWMutex
	users int
}

func (t *lockTable) get(path string) *fileLock {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.locks[path]
	if l == nil {
		l = &fileLock{}
		t.locks[path] = l
	}
	l.users++
	return l
}

func (t *lockTable) put(path string, l *fileLock) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(t.locks, path)
	}
}

// lock locks a file for writing until the returned function runs.
func (t *lockTable) lock(path string) (unlock func()) {
	l := t.get(path)
	l.Lock()
	return func() { l.Unlock(); t.put(path, l) }
}

// share locks a file for reading until the returned function runs.
func (t *lockTable) share(path string) (unlock func()) {
	l := t.get(path)
	l.RLock()
	return func() { l.RUnlock(); t.put(path, l) }
}
