package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"parley/agent"
	"parley/agent/monitor"
	"parley/toolrt/undo"
	"parley/ui/tui/text"
)

// undoLog is the memory of what tools did to files in a session, nil when nothing is saved.
func (a *app) undoLog(id string) *undo.Log {
	dir := a.store.UndoDir(id)
	if dir == "" {
		return nil
	}
	return undo.Open(dir, undo.Limits{})
}

// undoCommand is parley undo, or redo.
func undoCommand(io streams, name string) *cobra.Command {
	var f flags
	var skip, overwrite bool
	short := "Take back what tools did to files in the newest turn of a chat"
	if name == "redo" {
		short = "Do again what the last undo of a chat took back"
	}
	cmd := &cobra.Command{Use: name + " ID|NAME", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			how := undo.Refuse
			switch {
			case skip && overwrite:
				return usagef("--skip and --overwrite cannot both be")
			case skip:
				how = undo.Skip
			case overwrite:
				how = undo.Overwrite
			}
			return withApp(cmd, io, &f, func(ctx context.Context, a *app) error {
				return a.takeBack(ctx, args[0], func(s *agent.Session) (undo.Report, error) {
					if name == "redo" {
						return s.Redo(ctx, how)
					}
					return s.Undo(ctx, how)
				})
			})
		}}
	f.common(cmd.Flags())
	cmd.Flags().BoolVar(&skip, "skip", false, "leave files that somebody has changed since as they are")
	cmd.Flags().BoolVar(&overwrite, "overwrite", false, "bring back files that somebody has changed since, too")
	return cmd
}

// takeBack opens the session, acts and prints what was done.
func (a *app) takeBack(ctx context.Context, idOrName string, act func(*agent.Session) (undo.Report, error)) error {
	row, err := a.findSession(ctx, idOrName)
	if err != nil {
		return sessionError(idOrName, err)
	}
	journal, err := a.store.OpenSession(ctx, row.ID)
	if err != nil {
		return err
	}
	s, err := a.openSession(ctx, journal, &monitor.Hub{}, nil)
	if err != nil {
		return errors.Join(err, journal.Close())
	}
	report, err := act(s)
	err = errors.Join(err, s.Close())
	if conflict := (*undo.ConflictError)(nil); errors.As(err, &conflict) {
		return fmt.Errorf("%w\n--skip leaves these as they are, --overwrite brings them back too", err)
	}
	if err != nil {
		return err
	}
	a.printUndo(report)
	return nil
}

func (a *app) printUndo(r undo.Report) {
	fmt.Fprintf(a.io.out, "turn %d\n", r.Turn)
	for _, part := range []struct {
		word  string
		items []undo.Item
	}{{"ok", r.Done}, {"left", r.Left}, {"not covered", r.NotCovered}} {
		for _, item := range part.items {
			fmt.Fprintf(a.io.out, "%s  %s: %s\n", part.word, text.Line(item.Path), oneLine(item.What))
		}
	}
}
