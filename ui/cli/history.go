package cli

import (
	"context"
	"fmt"
	"slices"
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
				if q.Status = toolrt.Status(status); status != "" && !slices.Contains(ended, q.Status) {
					return usagef("--status %q: it must be %s", status, endedWords())
				}
				if err := a.chosen(ctx, args, since, &q.Session, &q.Since); err != nil {
					return err
				}
				return history(ctx, a, q, asJSON)
			})
		}}
	f.stored(cmd.Flags())
	cmd.Flags().StringVar(&q.Tool, "tool", "", "of that tool only, e.g. sys.exec")
	cmd.Flags().StringVar(&status, "status", "", "that ended so: "+endedWords())
	cmd.Flags().StringVar(&q.Text, "text", "", "with that text in the arguments or the result")
	cmd.Flags().StringVar(&since, "since", "", "asked for since a time ago (90m, 24h, 7d) or a date (2026-01-31)")
	cmd.Flags().IntVar(&q.Limit, "limit", 100, "at most so many")
	cmd.Flags().BoolVar(&q.Agents, "agents", false, "calls of agents too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}

// ended are the states that executions end in.
var ended = []toolrt.Status{toolrt.StatusSuccess, toolrt.StatusFailed, toolrt.StatusDenied, toolrt.StatusCancelled, toolrt.StatusTimeout,
	toolrt.StatusSkipped, toolrt.StatusInterrupted}

func endedWords() string {
	words := make([]string, len(ended))
	for i, s := range ended {
		words[i] = string(s)
	}
	return strings.Join(words, ", ")
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
				if len(hits) == 0 {
					where := " in this folder; --all searches every folder"
					if all {
						where = ""
					}
					fmt.Fprintf(a.io.err, "no message holds all of: %s%s\n", text.Line(q.Text), where)
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
