package persist

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// ErrGone says that the database's file was removed, or another one was put in its place, while this
// process had it open: what is written would go nowhere.
var ErrGone = errors.New("the database was removed or replaced while it was in use")

// identity knows which files are the database's, so that a commit into files that nobody can find
// any more is refused. SQLite itself would go on writing into them.
type identity struct {
	path string

	mu   sync.Mutex // guards the files
	main os.FileInfo
	log  os.FileInfo // the write-ahead log, nil until one was seen after a commit
}

// identify remembers the file at path.
func identify(path string) (*identity, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return &identity{path: path, main: info}, nil
}

// check returns ErrGone when the files are not those that were opened. It costs two looks at a
// folder's entry. A nil identity, of a database in memory, is always whole.
func (i *identity) check() error {
	if i == nil {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if info, err := os.Stat(i.path); err != nil || !os.SameFile(i.main, info) {
		return fmt.Errorf("%w: %s", ErrGone, i.path)
	}
	if i.log == nil {
		return nil
	}
	if info, err := os.Stat(i.path + "-wal"); err != nil || !os.SameFile(i.log, info) {
		return fmt.Errorf("%w: %s-wal", ErrGone, i.path)
	}
	return nil
}

// committed remembers the write-ahead log, which is there from the first commit on and goes only
// with the last process that has the database open.
func (i *identity) committed() {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.log != nil {
		return
	}
	if info, err := os.Stat(i.path + "-wal"); err == nil {
		i.log = info
	}
}
