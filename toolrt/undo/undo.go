package undo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// How says what becomes of files that somebody has changed since.
type How int

// The ways. The zero value changes nothing when there is a conflict.
const (
	Refuse    How = iota // a *ConflictError, and nothing is touched
	Skip                 // they stay as they are, the others go back
	Overwrite            // they go back too; what they held is kept for the opposite step
)

// ErrNothing says that there is no turn to take back, or to do again.
var ErrNothing = errors.New("there is no change of files to take back")

// Item is a path with what was done to it, or why it was not touched.
type Item struct {
	Path string `json:"path"`
	What string `json:"what"`
}

// Report is what an undo or redo did.
type Report struct {
	Turn int `json:"turn"`
	// Done are the paths that were changed, Left those that were not: somebody had changed them and
	// they were skipped, or what they had been is not kept.
	Done []Item `json:"done"`
	Left []Item `json:"left,omitempty"`
	// NotCovered names what commands of the turn changed, which cannot be taken back.
	NotCovered []Item `json:"notCovered,omitempty"`
}

// ConflictError says which files somebody has changed since. Nothing was touched.
type ConflictError struct {
	Turn      int
	Conflicts []Item
}

func (e *ConflictError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d files of turn %d have been changed since, nothing was touched:", len(e.Conflicts), e.Turn)
	for _, c := range e.Conflicts {
		fmt.Fprintf(&b, "\n  %s: %s", c.Path, c.What)
	}
	return b.String()
}

// undone is a turn that was taken back: what stood at each path before, and after.
type undone struct {
	Turn  int    `json:"turn"`
	Steps []step `json:"steps"` // in the order of the undo
}

// step changes one path from a state to another one.
type step struct {
	Path string `json:"path"`
	From State  `json:"from"`
	To   State  `json:"to"`
	// broken says why From is not to be trusted, "" if it is.
	broken string
}

const undoneFile = "undone.json"

// Undo takes back the changes of the newest turn that made some and was not taken back yet.
func (l *Log) Undo(how How) (Report, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	back, err := l.undone()
	if err != nil {
		return Report{}, err
	}
	records, err := l.records(0)
	if err != nil {
		return Report{}, err
	}
	turn := 0
	for _, r := range records {
		if !slices.ContainsFunc(back, func(u undone) bool { return u.Turn == r.Turn }) {
			turn = max(turn, r.Turn)
		}
	}
	if turn == 0 {
		return Report{}, ErrNothing
	}
	records = slices.DeleteFunc(records, func(r Record) bool { return r.Turn != turn })
	done, report, err := l.apply(turn, backwards(records), how)
	if err != nil {
		return report, err
	}
	return report, l.writeJSON(undoneFile, append(back, undone{turn, done}))
}

// Redo does the changes of the turn again that was taken back last, unless later turns have changed
// files since.
func (l *Log) Redo(how How) (Report, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	back, err := l.undone()
	if err != nil || len(back) == 0 {
		return Report{}, errors.Join(err, ErrNothing)
	}
	last := back[len(back)-1]
	records, err := l.records(0)
	if err != nil {
		return Report{}, err
	}
	for _, r := range records {
		if r.Turn > last.Turn && !slices.ContainsFunc(back, func(u undone) bool { return u.Turn == r.Turn }) {
			return Report{}, fmt.Errorf("%w: turn %d has changed files since turn %d was taken back", ErrNothing, r.Turn, last.Turn)
		}
	}
	var steps []step
	for _, s := range slices.Backward(last.Steps) {
		steps = append(steps, step{Path: s.Path, From: s.To, To: s.From})
	}
	_, report, err := l.apply(last.Turn, steps, how)
	if err != nil {
		return report, err
	}
	return report, l.writeJSON(undoneFile, back[:len(back)-1])
}

func (l *Log) undone() (list []undone, err error) {
	data, err := os.ReadFile(filepath.Join(l.dir, undoneFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	return list, err
}

// backwards is what takes a turn's records back: for each path from what its last change left to
// what its first one found, the last path first.
func backwards(records []Record) []step {
	var order []string
	net := map[string]*step{}
	for _, r := range records {
		for _, c := range r.Changes {
			s := net[c.Path]
			if s == nil {
				order = append(order, c.Path)
				s = &step{Path: c.Path, To: c.Before}
				net[c.Path] = s
			} else if !s.From.equal(c.Before) && s.broken == "" {
				s.broken = "it was changed by hand between the calls of the turn"
			}
			s.From = c.After
			if c.After.Kind == "" {
				s.broken = "the call that changed it was cut off"
			}
		}
	}
	var steps []step
	for _, path := range slices.Backward(order) {
		if s := net[path]; !s.From.equal(s.To) {
			steps = append(steps, *s)
		}
	}
	return steps
}

// apply makes the steps, after it has looked at all of them. It returns those made, with what stood
// there before, kept.
func (l *Log) apply(turn int, steps []step, how How) ([]step, Report, error) {
	report := Report{Turn: turn}
	var todo []step
	var conflicts []Item
	for _, s := range steps {
		now, err := look(s.Path)
		if err != nil {
			return nil, report, err
		}
		switch why := l.conflict(s, now); {
		case now.equal(s.To):
			report.Done = append(report.Done, Item{s.Path, "is so already"})
		case s.To.Kind == File && !s.To.Kept || s.To.Kind == Other || s.To.Kind == "":
			report.Left = append(report.Left, Item{s.Path, "what it was is not kept: " + s.To.describe()})
		case now.Kind == Other || elsewhere(s.Path):
			report.Left = append(report.Left, Item{s.Path, "something else stands there now, or its folder leads elsewhere"})
		case why == "" || how == Overwrite:
			todo = append(todo, s)
		default:
			conflicts = append(conflicts, Item{s.Path, why})
		}
	}
	if len(conflicts) > 0 && how == Refuse {
		return nil, report, &ConflictError{Turn: turn, Conflicts: conflicts}
	}
	report.Left = append(report.Left, conflicts...)
	return l.make(todo, report)
}

// conflict says why the path is not as it was left, "" if it is.
func (l *Log) conflict(s step, now State) string {
	switch {
	case s.broken != "":
		return s.broken
	case now.equal(s.From):
		return ""
	case now.Kind == s.From.Kind && now.Hash == s.From.Hash && now.Link == s.From.Link && now.Mode != s.From.Mode:
		return fmt.Sprintf("its mode was changed to %s", now.Mode)
	case now.Kind == File && s.From.Kind == File:
		return "it holds something else now"
	}
	return fmt.Sprintf("it is %s now", now.describe())
}

// elsewhere reports whether the folder of a path is not where it was: a link has taken the place of
// one above it.
func elsewhere(path string) bool {
	dir := filepath.Dir(path)
	for {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return real != dir
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return true
		}
		dir = filepath.Dir(dir)
	}
}

func (l *Log) make(todo []step, report Report) ([]step, Report, error) {
	var done []step
	for _, s := range todo {
		was, err := l.keep(s.Path)
		if err != nil {
			return done, report, fmt.Errorf("keep %s: %w", s.Path, err)
		}
		what, err := l.restore(s.Path, was, s.To)
		if errors.Is(err, errFull) {
			report.Left = append(report.Left, Item{s.Path, err.Error()})
			continue
		}
		if err != nil {
			return done, report, fmt.Errorf("bring %s back: %w", s.Path, err)
		}
		report.Done = append(report.Done, Item{s.Path, what})
		done = append(done, step{Path: s.Path, From: was, To: s.To})
	}
	return done, report, nil
}

// errFull says that a folder that a tool made holds something of somebody else.
var errFull = errors.New("the folder stays: other things are in it")
