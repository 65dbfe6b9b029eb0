package undo

import (
	"context"
	"io/fs"
	"path/filepath"
	"time"
)

// Window is the time in which a command ran.
type Window struct {
	From, To time.Time
	Command  string // in a line, for people
}

// maxLooked bounds how many files ChangedDuring looks at.
const maxLooked = 100_000

// slack is how far a file system's clock may be off: some keep times in steps.
const slack = 20 * time.Millisecond

// ChangedDuring finds the files below dir that were changed last while one of the commands ran, and
// the folders in which names appeared or went then. It looks at times only: a file that was changed
// again later, or that a command gave an old time, is not found. Version control's own folder is
// left out. complete is false when there was too much to look at.
func ChangedDuring(ctx context.Context, dir string, windows []Window) (found []Item, complete bool) {
	if len(windows) == 0 {
		return nil, true
	}
	looked, complete := 0, true
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			complete = false
			return nil
		}
		if entry.IsDir() && entry.Name() == ".git" {
			return fs.SkipDir
		}
		if looked++; looked > maxLooked {
			complete = false
			return fs.SkipAll
		}
		info, err := entry.Info()
		if err != nil {
			return nil // gone meanwhile
		}
		if w, ok := during(changeTime(info), windows); ok {
			what := "changed while this ran: " + w.Command
			if entry.IsDir() {
				what = "names in it came or went while this ran: " + w.Command
			}
			found = append(found, Item{path, what})
		}
		return nil
	})
	return found, complete && err == nil
}

func during(t time.Time, windows []Window) (Window, bool) {
	for _, w := range windows {
		if !t.Before(w.From.Add(-slack)) && !t.After(w.To.Add(slack)) {
			return w, true
		}
	}
	return Window{}, false
}
