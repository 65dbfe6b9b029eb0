package undo

import (
	"os"
	"path/filepath"
	"unicode/utf8"
)

// maxShown bounds the files whose texts Differences returns, in bytes.
const maxShown = 1 << 20

// Difference is a path that is not as it was before a tool of the session first changed it.
type Difference struct {
	Path        string // absolute
	Before, Now State
	// Was and Is are the texts of both. Text says that they are known: both sides are text or
	// nothing, and neither is too large.
	Was, Is string
	Text    bool
}

// Differences returns what the session's tools have made of the files that they changed, in the order
// of their first change: each as it stood before, and as it stands now, whoever changed it last. Paths
// that are again as they were are left out.
func (l *Log) Differences() ([]Difference, error) {
	l.mu.Lock()
	records, err := l.records(0)
	l.mu.Unlock() // a tool that begins a change does not wait for the files to be read
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var list []Difference
	for _, r := range records {
		for _, c := range r.Changes {
			if seen[c.Path] {
				continue
			}
			seen[c.Path] = true
			now, err := look(c.Path)
			if err != nil {
				now = State{}
			}
			if c.Before.equal(now) {
				continue
			}
			d := Difference{Path: c.Path, Before: c.Before, Now: now}
			was, ok := shown(c.Before, filepath.Join(l.blobs(), c.Before.Hash), c.Before.Kept)
			is, okNow := shown(now, c.Path, true)
			if ok && okNow {
				d.Was, d.Is, d.Text = was, is, true
			}
			list = append(list, d)
		}
	}
	return list, nil
}

// shown returns the text of a state whose bytes are in a file; false when it has none to show.
func shown(s State, file string, kept bool) (string, bool) {
	switch {
	case s.Kind == None:
		return "", true
	case s.Kind != File || !kept || s.Size > maxShown:
		return "", false
	}
	data, err := os.ReadFile(file)
	return string(data), err == nil && len(data) <= maxShown && utf8.Valid(data)
}

// String says what became of the path.
func (d Difference) String() string {
	switch {
	case d.Before.Kind == None:
		return "new: " + d.Now.describe()
	case d.Now.Kind == None:
		return "removed: was " + d.Before.describe()
	case d.Before.Kind == d.Now.Kind && d.Before.Hash == d.Now.Hash && d.Before.Link == d.Now.Link:
		return "mode " + d.Before.Mode.String() + ", now " + d.Now.Mode.String()
	case d.Before.Kind == File && d.Now.Kind == File && d.Before.Mode == d.Now.Mode:
		return "changed"
	}
	return "was " + d.Before.describe() + ", now " + d.Now.describe()
}
