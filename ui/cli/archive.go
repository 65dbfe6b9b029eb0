package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"parley/agent/record"
	"parley/persist"
	"parley/ui/tui/text"
)

// archiveCommand is parley sessions archive, or unarchive.
func archiveCommand(io streams, f *flags, archived bool) *cobra.Command {
	name, short := "archive", "Put a chat away: it is kept, but stands in no list"
	if !archived {
		name, short = "unarchive", "Take a chat back into the lists"
	}
	return &cobra.Command{Use: name + " ID|NAME", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, io, f, func(ctx context.Context, a *app) error {
				row, err := a.store.Session(ctx, args[0])
				if err != nil {
					return sessionError(args[0], err)
				}
				if err := a.store.Archive(ctx, row.ID, archived); err != nil {
					return fmt.Errorf("%s session %q: %w", name, args[0], err)
				}
				_, err = fmt.Fprintf(a.io.out, "%sd %s\n", name, row.ID)
				return err
			})
		}}
}

// sure asks a person at a terminal to confirm; without one, the command's own words count.
func (a *app) sure(question string) bool {
	if a.f.yes || !isTerminal(a.io.in) || !isTerminal(a.io.err) {
		return true
	}
	fmt.Fprintf(a.io.err, "%s [y/N] ", text.Line(question))
	line, err := newLines(a.io.in)()
	return err == nil && strings.EqualFold(strings.TrimSpace(line), "y")
}

func pruneCommand(io streams, f *flags) *cobra.Command {
	var older string
	var keep int
	var yes, all bool
	cmd := &cobra.Command{Use: "prune", Short: "List old chats with their sizes; with --yes move them to the bin", Args: cobra.NoArgs,
		Long: "List old chats with their sizes; with --yes move them to the bin, where they stay for 7 days.\n\n" +
			"Chats are never removed by themselves. This names those older than --older-than, or beyond the\n" +
			"newest --keep, of this folder (--all: of every folder). Chats that are open stay.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if older == "" && keep < 0 {
				return usagef("say which chats: --older-than 90d, or --keep 100")
			}
			return withApp(cmd, io, f, func(ctx context.Context, a *app) error {
				q := persist.Query{Dir: a.paths.dir, Archived: persist.WithArchived, Limit: 1_000_000}
				if all {
					q.Dir = ""
				}
				rows, err := a.oldSessions(ctx, q, older, keep)
				if err != nil {
					return err
				}
				return a.pruneSessions(ctx, rows, yes)
			})
		}}
	cmd.Flags().StringVar(&older, "older-than", "", "chats last worked in before a time ago (90d) or a date")
	cmd.Flags().IntVar(&keep, "keep", -1, "chats beyond the newest `N`")
	cmd.Flags().BoolVarP(&all, "all", "a", false, "of every folder")
	cmd.Flags().BoolVar(&yes, "yes", false, "move them to the bin")
	return cmd
}

// oldSessions lists the sessions that are older than a time, or beyond the newest keep (negative:
// whatever their number), oldest first.
func (a *app) oldSessions(ctx context.Context, q persist.Query, older string, keep int) ([]record.Session, error) {
	before, err := parseSince(older, time.Now())
	if err != nil {
		return nil, err
	}
	rows, err := a.store.Sessions(ctx, q) // newest first
	if err != nil {
		return nil, err
	}
	var old []record.Session
	for i, r := range rows {
		if older != "" && r.Updated.Before(before) || keep >= 0 && i >= keep {
			old = append(old, r)
		}
	}
	slices.SortStableFunc(old, func(x, y record.Session) int { return cmp.Compare(x.Updated.UnixMilli(), y.Updated.UnixMilli()) })
	return old, nil
}

// pruneSessions lists the sessions, and moves them to the bin if that was said.
func (a *app) pruneSessions(ctx context.Context, rows []record.Session, yes bool) error {
	w := tabwriter.NewWriter(a.io.out, 0, 4, 2, ' ', 0)
	var sum int64
	var errs []error
	moved := 0
	for _, r := range rows {
		size, err := a.store.SizesOf(ctx, r.ID)
		errs = append(errs, err)
		what := ""
		switch {
		case a.store.InUse(r.ID):
			what = "open: stays"
		case yes:
			if err := a.store.Delete(ctx, r.ID); err != nil {
				errs = append(errs, err)
				continue
			}
			what = "moved to the bin"
			moved++
			sum += size.Sum()
		default:
			moved++
			sum += size.Sum()
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, r.Updated.Local().Format("2006-01-02"), bytesWord(size.Sum()), what, text.Line(r.Name), shownTitle(r))
	}
	errs = append(errs, w.Flush())
	verb := "would be moved to the bin (--yes does it)"
	if yes {
		verb = "were moved to the bin for 7 days"
	}
	fmt.Fprintf(a.io.out, "%d chats, %s, %s\n", moved, bytesWord(sum), verb)
	return errors.Join(errs...)
}

// bytesWord is a size for people.
func bytesWord(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}
