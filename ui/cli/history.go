package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"parley/agent/model"
	"parley/agent/record"
	"parley/persist"
	"parley/toolrt"
	"parley/ui/tui/text"
)

func historyCommand(io streams) *cobra.Command {
	var f flags
	var q persist.HistoryQuery
	var status, since string
	var asJSON bool
	cmd := &cobra.Command{Use: "history [ID|NAME]", Short: "List what tools have run, newest first, of one chat or of all", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, io, &f, func(ctx context.Context, a *app) error {
				q.Status = toolrt.Status(status)
				if err := a.chosen(ctx, args, since, &q.Session, &q.Since); err != nil {
					return err
				}
				return history(ctx, a, q, asJSON)
			})
		}}
	f.stored(cmd.Flags())
	cmd.Flags().StringVar(&q.Tool, "tool", "", "of that tool only, e.g. sys.exec")
	cmd.Flags().StringVar(&status, "status", "", "that ended so: success, failed, denied, cancelled, timeout, interrupted")
	cmd.Flags().StringVar(&q.Text, "text", "", "with that text in the arguments or the result")
	cmd.Flags().StringVar(&since, "since", "", "asked for since a time ago (90m, 24h, 7d) or a date (2026-01-31)")
	cmd.Flags().IntVar(&q.Limit, "limit", 100, "at most so many")
	cmd.Flags().BoolVar(&q.Agents, "agents", false, "calls of agents too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}

func history(ctx context.Context, a *app, q persist.HistoryQuery, asJSON bool) error {
	list, err := a.store.History(ctx, q)
	if err != nil {
		return err
	}
	if asJSON {
		return writeJSONLines(a, list, func(e persist.Execution) any { return e })
	}
	w := tabwriter.NewWriter(a.io.out, 0, 4, 2, ' ', 0)
	for _, e := range list {
		by := ""
		if e.Decision != nil {
			if by = "by " + e.Decision.By; e.Decision.Sandbox != "" {
				by += ", confined"
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", e.Created.Local().Format("2006-01-02 15:04:05"), word(e.Status), text.Line(e.Tool),
			took(e.Call), by, oneLine(e.Input))
	}
	return w.Flush()
}

func searchCommand(io streams, f *flags) *cobra.Command {
	var all bool
	cmd := &cobra.Command{Use: "search WORDS…", Short: "Find messages that hold all the words", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, io, f, func(ctx context.Context, a *app) error {
				q := persist.SearchQuery{Text: strings.Join(args, " "), Dir: a.paths.dir}
				if all {
					q.Dir = ""
				}
				hits, err := a.store.Search(ctx, q)
				if err != nil {
					return err
				}
				for _, h := range hits {
					fmt.Fprintf(a.io.out, "%s  turn %d  %s: %s\n", h.Session.ID, h.Message.Turn, speaker(h.Message), text.Line(h.Snippet))
				}
				return nil
			})
		}}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "in every folder")
	return cmd
}

func speaker(m record.Message) string {
	switch m.Message.Role {
	case model.User:
		if m.ByCaller() {
			return "to @" + text.Line(m.Agent)
		}
		return "you"
	case model.ToolRole:
		return "result"
	}
	return "@" + text.Line(m.Agent)
}

// said is the text of a message, fit for a terminal.
func said(m record.Message) string {
	if m.ByCaller() {
		return text.Clean(model.PromptText(m.Message.Text()))
	}
	return text.Clean(m.Message.Text())
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

func exportCommand(io streams, f *flags) *cobra.Command {
	var format string
	cmd := &cobra.Command{Use: "export ID|NAME", Short: "Write a chat as Markdown or JSON to stdout", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, io, f, func(ctx context.Context, a *app) error {
				row, err := a.findSession(ctx, args[0])
				if err != nil {
					return sessionError(args[0], err)
				}
				return export(ctx, a, row, format)
			})
		}}
	cmd.Flags().StringVar(&format, "format", "markdown", "markdown or json")
	return cmd
}

// exported is a chat as parley sessions export writes it in JSON.
type exported struct {
	Session  record.Session   `json:"session"`
	Messages []record.Message `json:"messages"`
	Calls    []record.Call    `json:"calls"`
}

func export(ctx context.Context, a *app, row record.Session, format string) error {
	messages, err := a.allShown(ctx, row.ID)
	if err != nil {
		return err
	}
	calls, err := a.store.TurnCalls(ctx, row.ID, 1, row.Turns)
	if err != nil {
		return err
	}
	switch format {
	case "json":
		enc := json.NewEncoder(a.io.out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(exported{row, messages, calls})
	case "markdown", "md":
		return exportMarkdown(a, row, messages, calls)
	}
	return usagef("--format %q: it must be markdown or json", format)
}

func exportMarkdown(a *app, row record.Session, messages []record.Message, calls []record.Call) error {
	var errs []error
	write := func(format string, args ...any) {
		_, err := fmt.Fprintf(a.io.out, format, args...)
		errs = append(errs, err)
	}
	write("# %s\n\n%s, %s, %d turns\n", text.Line(firstSet(row.Title, row.ID)), programName(row.Program), row.Created.Local().Format("2006-01-02 15:04"), row.Turns)
	for _, m := range messages {
		switch {
		case m.Notice != "":
			write("\n*%s*\n", text.Line(m.Notice))
		case m.Message.Role == model.ToolRole:
		default:
			write("\n## %s\n\n%s\n", speaker(m), said(m))
			for _, c := range callsOf(m, calls) {
				write("\n- `%s` %s %s: %s\n", text.Line(c.Tool), c.Label, word(c.Status), oneLine(c.Input))
			}
		}
	}
	return errors.Join(errs...)
}

// callsOf are the calls that a reply made, in its order.
func callsOf(m record.Message, calls []record.Call) []record.Call {
	var made []record.Call
	for _, tc := range m.Message.Calls() {
		for _, c := range calls {
			if c.WireID == tc.ID && c.Parent == m.Conversation && c.Turn == m.Turn {
				made = append(made, c)
			}
		}
	}
	return made
}
