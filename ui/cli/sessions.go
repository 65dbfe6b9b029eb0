package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"parley/agent"
	"parley/agent/model"
	"parley/agent/record"
	"parley/persist"
	"parley/ui/tui/text"
)

// withApp runs a command that needs the store.
func withApp(cmd *cobra.Command, io streams, f *flags, run func(ctx context.Context, a *app) error) error {
	io.out = cleaned(io.out)
	a, err := openApp(cmd.Context(), io, f)
	if err != nil {
		return err
	}
	return errors.Join(run(cmd.Context(), a), a.close())
}

func sessionsCommand(io streams) *cobra.Command {
	var f flags
	cmd := &cobra.Command{Use: "sessions", Short: "List, show, search, rename, fork, export, archive and delete saved chats"}
	f.stored(cmd.PersistentFlags())
	var all, deleted, archived, asJSON bool
	list := &cobra.Command{Use: "list [TEXT]", Short: "List the chats of this folder, newest first", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, io, &f, func(ctx context.Context, a *app) error {
				q := persist.Query{Text: strings.Join(args, ""), Dir: a.paths.dir, IncludeDeleted: deleted, Limit: 1000}
				if all {
					q.Dir = ""
				}
				if archived {
					q.Archived = persist.OnlyArchived
				}
				if deleted {
					q.Archived = persist.WithArchived
				}
				return listSessions(ctx, a, q, asJSON)
			})
		}}
	list.Flags().BoolVarP(&all, "all", "a", false, "of every folder")
	list.Flags().BoolVar(&deleted, "deleted", false, "those in the bin")
	list.Flags().BoolVar(&archived, "archived", false, "those that were put away")
	list.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	show := &cobra.Command{Use: "show ID|NAME", Short: "Print a chat", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, io, &f, func(ctx context.Context, a *app) error { return showSession(ctx, a, args[0], asJSON) })
		}}
	show.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	var purge bool
	del := &cobra.Command{Use: "delete ID|NAME", Short: "Move a chat to the bin, where it stays for 7 days", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, io, &f, func(ctx context.Context, a *app) error { return deleteSession(ctx, a, args[0], purge) })
		}}
	del.Flags().BoolVar(&purge, "purge", false, "remove it for good, now")
	undelete := &cobra.Command{Use: "undelete ID|NAME", Short: "Take a chat back from the bin", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, io, &f, func(ctx context.Context, a *app) error { return undeleteSession(ctx, a, args[0]) })
		}}
	rename := &cobra.Command{Use: "rename ID|NAME TITLE", Short: "Give a chat another title", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, io, &f, func(ctx context.Context, a *app) error {
				row, err := a.findSession(ctx, args[0])
				if err != nil {
					return sessionError(args[0], err)
				}
				return a.store.Rename(ctx, row.ID, args[1], row.Name)
			})
		}}
	cmd.AddCommand(list, show, del, undelete, rename, searchCommand(io, &f), forkCommand(io, &f), exportCommand(io, &f),
		archiveCommand(io, &f, true), archiveCommand(io, &f, false), pruneCommand(io, &f))
	return cmd
}

func listSessions(ctx context.Context, a *app, q persist.Query, asJSON bool) error {
	if a.notSaved != "" {
		return fmt.Errorf("no chats are saved: %s", a.notSaved)
	}
	rows, err := a.store.Sessions(ctx, q)
	if err != nil {
		return err
	}
	rows = slices.DeleteFunc(rows, func(r record.Session) bool { return empty(r) || r.Deleted.IsZero() == q.IncludeDeleted })
	if asJSON {
		return writeJSONLines(a, rows, func(r record.Session) any { return r })
	}
	if len(rows) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(a.io.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tAGE\tSTATE\tPROGRAM\tNAME\tTITLE")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, age(time.Since(r.Updated)), stateWord(r.State),
			text.Line(programName(r.Program)), text.Line(r.Name), shownTitle(r))
	}
	return w.Flush()
}

// titleCells is how wide a title is in a list at most.
const titleCells = 60

// shownTitle is a title for one line of a list. A copy of another chat says whose it is.
func shownTitle(r record.Session) string {
	title := text.Cut(text.Line(r.Title), titleCells, "…")
	if r.Parent != "" {
		title = fmt.Sprintf("fork of %s: %s", text.Line(r.Parent), title)
	}
	return title
}

// stateWord is what a chat waits for, in capitals where it waits for the person: idle, run, ASK (an
// approval), CRED (a credential or an answer), STOP (its process ended inside a turn), ERR, done.
func stateWord(s record.SessionState) string {
	switch s {
	case record.StateAsk, record.StateCred, record.StateStop, record.StateErr:
		return strings.ToUpper(string(s))
	case record.StateIdle, record.StateRun, record.StateDone:
	}
	return text.Line(string(s))
}

// empty reports whether nothing was ever said in a session.
func empty(r record.Session) bool { return r.Turns == 0 && r.Draft == "" && len(r.Queue) == 0 }

func writeJSONLines[T any](a *app, rows []T, value func(T) any) error {
	enc := json.NewEncoder(a.io.out)
	enc.SetEscapeHTML(false)
	for _, r := range rows {
		if err := enc.Encode(value(r)); err != nil {
			return fmt.Errorf("write JSON: %w", err)
		}
	}
	return nil
}

// age is a duration in the largest unit that fits.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// showPage is how many messages are read at once.
const showPage = 200

func showSession(ctx context.Context, a *app, id string, asJSON bool) error {
	row, err := a.findSession(ctx, id)
	if err != nil {
		return sessionError(id, err)
	}
	messages, err := a.allShown(ctx, row.ID)
	if err != nil {
		return err
	}
	if asJSON {
		return writeJSONLines(a, messages, func(m record.Message) any { return m })
	}
	calls, err := a.store.TurnCalls(ctx, row.ID, 1, row.Turns)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.io.out, "# %s\n\n%s · %s · %s\n", text.Line(firstSet(row.Title, row.ID)), row.ID, text.Line(programName(row.Program)), stateWord(row.State))
	for _, m := range messages {
		printMessage(a, m, calls)
	}
	return nil
}

// allShown reads the conversation on screen, oldest first.
func (a *app) allShown(ctx context.Context, id string) ([]record.Message, error) {
	var all []record.Message
	for before := int64(0); ; {
		page, err := a.store.ShownMessages(ctx, id, before, showPage)
		if err != nil {
			return nil, err
		}
		all = append(page, all...)
		if len(page) < showPage {
			return all, nil
		}
		before = page[0].Seq
	}
}

func printMessage(a *app, m record.Message, calls []record.Call) {
	if m.Notice != "" {
		fmt.Fprintf(a.io.out, "\n· %s\n", text.Clean(m.Notice))
		return
	}
	switch m.Message.Role {
	case model.User:
		fmt.Fprintf(a.io.out, "\n%s\n%s\n", speaker(m), said(m))
	case model.Assistant:
		if body := m.Message.Text(); body != "" {
			fmt.Fprintf(a.io.out, "\n@%s\n%s\n", text.Line(m.Agent), text.Clean(body))
		}
		for _, c := range callsOf(m, calls) {
			fmt.Fprintf(a.io.out, "%s %s %s  %s\n", word(c.Status), c.Label, text.Line(c.Tool), oneLine(c.Input))
		}
	}
}

func deleteSession(ctx context.Context, a *app, id string, purge bool) error {
	row, err := a.findSession(ctx, id)
	if err != nil {
		return sessionError(id, err)
	}
	if purge {
		if !a.sure(fmt.Sprintf("Remove %q for good? It cannot be taken back.", firstSet(row.Title, row.Name, row.ID))) {
			return errors.New("nothing was removed")
		}
		if err := a.store.Purge(ctx, row.ID); err != nil {
			return fmt.Errorf("delete session %q: %w", id, err)
		}
		fmt.Fprintf(a.io.out, "removed %s for good\n", row.ID)
		return nil
	}
	if err := a.store.Delete(ctx, row.ID); err != nil {
		return fmt.Errorf("delete session %q: %w", id, err)
	}
	fmt.Fprintf(a.io.out, "moved %s to the bin for 7 days (parley sessions undelete %s takes it back)\n", row.ID, row.ID)
	return nil
}

// undeleteSession takes a chat back by its id or the name that it had.
func undeleteSession(ctx context.Context, a *app, idOrName string) error {
	rows, err := a.store.Sessions(ctx, persist.Query{Text: idOrName, IncludeDeleted: true, Archived: persist.WithArchived, Limit: 1000})
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.Deleted.IsZero() || idOrName != r.ID && idOrName != r.Name {
			continue
		}
		if err := a.store.Undelete(ctx, r.ID); err != nil {
			return fmt.Errorf("take back session %q: %w", idOrName, err)
		}
		fmt.Fprintf(a.io.out, "took back %s\n", r.ID)
		return nil
	}
	return fmt.Errorf("session %q: %w in the bin (parley sessions list --all --deleted shows what there is)", idOrName, agent.ErrNotFound)
}

func forkCommand(io streams, f *flags) *cobra.Command {
	var seq int64
	cmd := &cobra.Command{Use: "fork ID|NAME", Short: "Begin a new chat with a copy of another one's turns", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, io, f, func(ctx context.Context, a *app) error {
				from, err := a.findSession(ctx, args[0])
				if err != nil {
					return sessionError(args[0], err)
				}
				row := a.newRow("", "")
				row.Mode = ""
				journal, err := a.store.Fork(ctx, from.ID, seq, row)
				if err != nil {
					return err
				}
				fmt.Fprintln(a.io.out, journal.Session().ID)
				return journal.Close()
			})
		}}
	cmd.Flags().Int64Var(&seq, "seq", 0, "at this place of its journal; 0 is its end")
	return cmd
}
