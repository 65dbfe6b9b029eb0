package undo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"parley/toolrt"
)

var _ toolrt.Changes = (*Log)(nil)

// Limits bound what a log keeps. Zero fields take the defaults.
type Limits struct {
	File  int64 // bytes of one file; 32 MiB
	Total int64 // bytes of all files of a session; 256 MiB
}

func (l Limits) withDefaults() Limits {
	if l.File <= 0 {
		l.File = 32 << 20
	}
	if l.Total <= 0 {
		l.Total = 256 << 20
	}
	return l
}

// Log keeps the file changes of one session in a folder of its own. It is used by the process that
// has the session open; its methods are safe for concurrent use.
type Log struct {
	dir    string
	limits Limits

	mu   sync.Mutex // guards the files of the log and size
	size int64      // of all kept bytes; -1: not counted yet
}

// Open returns the log in that folder, which is made with the first change.
func Open(dir string, limits Limits) *Log {
	return &Log{dir: dir, limits: limits.withDefaults(), size: -1}
}

// Change is what one call did to one path.
type Change struct {
	Path   string `json:"path"` // absolute, its folder resolved
	Before State  `json:"before"`
	// After has no kind while the call runs, or when it never ended.
	After State `json:"after"`
}

// Record is what one call did to files.
type Record struct {
	ID      string    `json:"id"` // of the execution
	Turn    int       `json:"turn"`
	Call    string    `json:"call"` // path of the call
	Tool    string    `json:"tool"`
	Time    time.Time `json:"time"`
	Changes []Change  `json:"changes"`
}

// Begin notes what stands at the paths before the call changes them, in the order in which the call
// will. The function it returns notes what the call left; it must be called whether or not the
// change worked. An error says that the change could not be taken back: the call must not make it.
// A file beyond the limits is noted without its bytes, which is no error.
func (l *Log) Begin(call *toolrt.Call, paths ...string) (done func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, err := l.read(call.OutputID)
	if errors.Is(err, fs.ErrNotExist) {
		r = Record{ID: call.OutputID, Turn: call.Turn, Call: call.ID, Tool: call.Name, Time: time.Now().UTC()}
	} else if err != nil {
		return nil, fmt.Errorf("read what was kept to undo it: %w", err)
	}
	from := len(r.Changes)
	for _, path := range paths {
		state, err := l.keep(path)
		if err != nil {
			return nil, fmt.Errorf("keep %s to undo the change: %w", path, err)
		}
		r.Changes = append(r.Changes, Change{Path: path, Before: state})
	}
	if err := l.write(r); err != nil {
		return nil, fmt.Errorf("keep what is changed to undo it: %w", err)
	}
	return func() { l.finish(r, from) }, nil
}

// finish notes what the call left. If that fails the change stands in the log as one whose end is
// not known, which undo asks about.
func (l *Log) finish(r Record, from int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := from; i < len(r.Changes); i++ {
		if state, err := look(r.Changes[i].Path); err == nil {
			r.Changes[i].After = state
		}
	}
	_ = l.write(r)
}

// keep returns the state of a path and puts a file's bytes into the log.
func (l *Log) keep(path string) (State, error) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return look(path)
	}
	if info.Size() > l.limits.File || l.total()+info.Size() > l.limits.Total {
		return look(path)
	}
	if err := os.MkdirAll(l.blobs(), 0o700); err != nil {
		return State{}, err
	}
	aside, err := os.CreateTemp(l.blobs(), "new-*")
	if err != nil {
		return State{}, err
	}
	state, err := look(path, aside)
	err = errors.Join(err, aside.Sync(), aside.Close())
	if err != nil || state.Hash == "" {
		return state, errors.Join(err, os.Remove(aside.Name()))
	}
	target := filepath.Join(l.blobs(), state.Hash)
	state.Kept = true
	if _, err := os.Stat(target); err == nil {
		return state, os.Remove(aside.Name())
	}
	l.size += state.Size
	return state, os.Rename(aside.Name(), target)
}

func (l *Log) blobs() string { return filepath.Join(l.dir, "bytes") }

// total is the size of all kept bytes.
func (l *Log) total() int64 {
	if l.size >= 0 {
		return l.size
	}
	l.size = 0
	files, err := os.ReadDir(l.blobs())
	if err != nil {
		return 0
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			l.size += info.Size()
		}
	}
	return l.size
}

const recordEnding = ".change.json"

func (l *Log) read(id string) (r Record, err error) {
	path := filepath.Join(l.dir, id+recordEnding)
	data, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func (l *Log) write(r Record) error { return l.writeJSON(r.ID+recordEnding, r) }

// writeJSON replaces a file of the log at once.
func (l *Log) writeJSON(name string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return err
	}
	aside, err := os.CreateTemp(l.dir, "new-*")
	if err != nil {
		return err
	}
	_, err = aside.Write(data)
	err = errors.Join(err, aside.Sync(), aside.Close())
	if err == nil {
		err = os.Rename(aside.Name(), filepath.Join(l.dir, name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(aside.Name()))
	}
	return nil
}

// records returns the records of a turn (0: of all) in the order of the changes.
func (l *Log) records(turn int) ([]Record, error) {
	files, err := os.ReadDir(l.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Record
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), recordEnding)
		if !ok {
			continue
		}
		r, err := l.read(id)
		if err != nil {
			return nil, err
		}
		if turn == 0 || r.Turn == turn {
			list = append(list, r)
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Time.Before(list[j].Time) })
	return list, nil
}
