package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"parley/agent/model"
	"parley/agent/record"
	"parley/persist"
	"parley/ui/tui/text"
)

// withApp runs a command that needs the store.
func withApp(cmd *cobra.Command, io streams, f *flags, run func(ctx context.Context, a *app) error) error {
	a, err := openApp(cmd.Context(), io, f)
	if err != nil {
		return err
	}
	return errors.Join(run(cmd.Context(), a), a.close())
}

func sessionsCommand(io streams) *cobra.Command {
	var f flags
	cmd := &cobra.Command{Use: "sessions", Short: "List, show, search, rename, fork, export and delete saved chats"}
	f.common(cmd.PersistentFlags())
	var all, asJSON bool
	list := &cobra.Command{Use: "list [TEXT]", Short: "List the chats of this folder, newest first", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, io, &f, func(ctx context.Context, a *app) error {
				return listSessions(ctx, a, strings.Join(args, ""), all, asJSON)
			})
		}}
	list.Flags().BoolVarP(&all, "all", "a", false, "of every folder")
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
	undelete := &cobra.Command{Use: "undelete ID", Short: "Take a chat back from the bin", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, io, &f, func(ctx context.Context, a *app) error { return a.store.Undelete(ctx, args[0]) })
		}}
	rename := &cobra.Command{Use: "rename ID|NAME TITLE", Short: "Give a chat another title", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, io, &f, func(ctx context.Context, a *app) error {
				row, err := a.store.Session(ctx, args[0])
				if err != nil {
					return sessionError(args[0], err)
				}
				return a.store.Rename(ctx, row.ID, args[1], row.Name)
			})
		}}
	cmd.AddCommand(list, show, del, undelete, rename, searchCommand(io, &f), forkCommand(io, &f), exportCommand(io, &f))
	return cmd
}

func sessionError(id string, err error) error {
	return fmt.Errorf("session %q: %w (parley sessions list --all shows what there is)", id, err)
}

func listSessions(ctx context.Context, a *app, search string, all, asJSON bool) error {
	q := persist.Query{Text: search, Limit: 1000}
	if !all {
		q.Dir = a.paths.dir
	}
	rows, err := a.store.Sessions(ctx, q)
	if err != nil {
		return err
	}
	if asJSON {
		return writeJSONLines(a, rows, func(r record.Session) any { return r })
	}
	w := tabwriter.NewWriter(a.io.out, 0, 4, 2, ' ', 0)
	for _, r := range rows {
		if empty(r) {
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.ID, age(time.Since(r.Updated)), r.State,
			text.Line(programName(r.Program)), text.Line(firstSet(r.Name, r.Title)))
	}
	return w.Flush()
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
	row, err := a.store.Session(ctx, id)
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
	fmt.Fprintf(a.io.out, "# %s\n\n%s · %s · %s\n", text.Line(firstSet(row.Title, row.ID)), row.ID, programName(row.Program), row.State)
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
		fmt.Fprintf(a.io.out, "\nyou\n%s\n", text.Clean(m.Message.Text()))
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
	row, err := a.store.Session(ctx, id)
	if err != nil {
		return sessionError(id, err)
	}
	if purge {
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
