package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"parley/agent"
	"parley/toolrt"
	"parley/toolrt/command"
	"parley/ui/tui/text"
)

// jobBook keeps a file for each command in the background, so that what a crash, or a person, has
// left running is found at the next start (agent.JobBook). A missing folder is an empty book.
type jobBook struct{ dir string }

// jobNote is a job in the book.
type jobNote struct {
	Session string    `json:"session"`
	Command string    `json:"command"`
	PGID    int       `json:"pgid"`
	Started time.Time `json:"started"`
	// Owner is the parley that started it, since OwnerSince.
	Owner      int       `json:"owner"`
	OwnerSince time.Time `json:"ownerSince"`
}

var _ agent.JobBook = jobBook{}

func (b jobBook) file(session string, j toolrt.Job) string {
	return filepath.Join(b.dir, fmt.Sprintf("%s-%d-%s.json", session, os.Getpid(), j.ID))
}

// Note keeps a job that has begun. One whose process is not known cannot be found again.
func (b jobBook) Note(session string, j toolrt.Job) error {
	if j.PGID <= 1 {
		return nil
	}
	since, _ := command.StartTime(os.Getpid())
	note := jobNote{Session: session, Command: j.Command, PGID: j.PGID, Started: j.Started, Owner: os.Getpid(), OwnerSince: since}
	if started, ok := command.StartTime(j.PGID); ok {
		note.Started = started
	}
	data, err := json.Marshal(note)
	if err != nil {
		return err
	}
	return writeFile(b.file(session, j), append(data, '\n'))
}

// Forget drops a job that has ended.
func (b jobBook) Forget(session string, j toolrt.Job) error {
	if err := os.Remove(b.file(session, j)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget job: %w", err)
	}
	return nil
}

// leftover is a command that goes on although the parley that started it has ended.
type leftover struct {
	jobNote
	file string
}

// leftovers lists what goes on without its parley, oldest first, and forgets what has ended.
func (b jobBook) leftovers() ([]leftover, error) {
	entries, err := os.ReadDir(b.dir)
	if b.dir == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for commands left running: %w", err)
	}
	var left []leftover
	var errs []error
	for _, e := range entries {
		l := leftover{file: filepath.Join(b.dir, e.Name())}
		data, err := os.ReadFile(l.file)
		if err != nil || json.Unmarshal(data, &l.jobNote) != nil {
			continue // it is being written or removed
		}
		switch {
		case l.Owner == os.Getpid() || command.Alive(l.Owner, l.OwnerSince):
		case command.Alive(l.PGID, l.Started):
			left = append(left, l)
		default:
			errs = append(errs, os.Remove(l.file))
		}
	}
	slices.SortFunc(left, func(x, y leftover) int { return x.Started.Compare(y.Started) })
	return left, errors.Join(errs...)
}

// jobs is the book of this installation.
func (a *app) jobs() jobBook {
	if a.paths.data == "" || a.notSaved != "" {
		return jobBook{}
	}
	return jobBook{dir: filepath.Join(a.paths.data, "jobs")}
}

// tellLeftovers says what an earlier parley has left running.
func (a *app) tellLeftovers() {
	left, err := a.jobs().leftovers()
	if err != nil {
		a.log.Warn("commands left running cannot be listed", "err", err)
	}
	for _, l := range left {
		a.tell(fmt.Sprintf("still running from an earlier parley, for %s: %s (process %d); parley jobs end %[3]d ends it",
			time.Since(l.Started).Round(time.Second), text.Strict(l.Command), l.PGID))
	}
}

// note keeps a job unless there is no place for a book.
func (a *app) jobBook() agent.JobBook {
	if b := a.jobs(); b.dir != "" {
		return b
	}
	return nil
}

func jobsCommand(io streams) *cobra.Command {
	var f flags
	cmd := &cobra.Command{Use: "jobs", Short: "List and end commands that an earlier parley has left running"}
	f.common(cmd.PersistentFlags())
	list := &cobra.Command{Use: "list", Short: "List them", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		return withApp(cmd, io, &f, func(_ context.Context, a *app) error { return listJobs(a) })
	}}
	all := false
	end := &cobra.Command{Use: "end PROCESS…", Short: "End them, with all they have started", Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return usagef("name the processes to end, or --all")
			}
			return withApp(cmd, io, &f, func(ctx context.Context, a *app) error { return endJobs(ctx, a, args) })
		}}
	end.Flags().BoolVar(&all, "all", false, "all of them")
	cmd.AddCommand(list, end)
	return cmd
}

func listJobs(a *app) error {
	left, err := a.jobs().leftovers()
	if err != nil {
		return err
	}
	if len(left) == 0 {
		_, err := fmt.Fprintln(a.io.out, "nothing is left running")
		return err
	}
	w := tabwriter.NewWriter(a.io.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "PROCESS\tAGE\tCHAT\tCOMMAND")
	for _, l := range left {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\n", l.PGID, time.Since(l.Started).Round(time.Second), text.Line(l.Session), text.Line(l.Command))
	}
	return w.Flush()
}

// endJobs ends the named ones, or all if none is named.
func endJobs(ctx context.Context, a *app, names []string) error {
	left, err := a.jobs().leftovers()
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.ContainsFunc(left, func(l leftover) bool { return fmt.Sprint(l.PGID) == name }) {
			return fmt.Errorf("parley has left no process %s running; parley jobs list shows those it has", name)
		}
	}
	var errs []error
	for _, l := range left {
		if len(names) > 0 && !slices.Contains(names, fmt.Sprint(l.PGID)) {
			continue
		}
		if err := command.End(ctx, l.PGID, l.Started); err != nil {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, os.Remove(l.file))
		fmt.Fprintf(a.io.out, "ended %d: %s\n", l.PGID, text.Line(strings.TrimSpace(l.Command)))
	}
	return errors.Join(errs...)
}
