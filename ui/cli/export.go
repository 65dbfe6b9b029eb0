package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"parley/agent/model"
	"parley/agent/record"
	"parley/themes"
	"parley/ui/cli/export"
	"parley/ui/tui/text"
)

func exportCommand(io streams, f *flags) *cobra.Command {
	var format string
	var asHTML bool
	cmd := &cobra.Command{Use: "export ID|NAME", Short: "Write a chat as Markdown, JSON or one HTML page to stdout", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, io, f, func(ctx context.Context, a *app) error {
				row, err := a.findSession(ctx, args[0])
				if err != nil {
					return sessionError(args[0], err)
				}
				if asHTML {
					format = "html"
				}
				return exportSession(ctx, a, row, format)
			})
		}}
	cmd.Flags().StringVar(&format, "format", "markdown", "markdown, json or html")
	cmd.Flags().BoolVar(&asHTML, "html", false, "one page with the calls as a tree, a search box and timelines; it loads nothing")
	return cmd
}

// exported is a chat as parley sessions export writes it in JSON.
type exported struct {
	Session  record.Session   `json:"session"`
	Messages []record.Message `json:"messages"`
	Calls    []record.Call    `json:"calls"`
}

// exported reads a chat.
func (a *app) exported(ctx context.Context, row record.Session) (exported, error) {
	messages, err := a.allShown(ctx, row.ID)
	if err != nil {
		return exported{}, err
	}
	calls, err := a.store.TurnCalls(ctx, row.ID, 1, row.Turns)
	return exported{row, messages, calls}, err
}

func exportSession(ctx context.Context, a *app, row record.Session, format string) error {
	chat, err := a.exported(ctx, row)
	if err != nil {
		return err
	}
	switch format {
	case "json":
		return printJSON(a.io.out, chat)
	case "markdown", "md":
		return exportMarkdown(a, row, chat.Messages, chat.Calls)
	case "html":
		return exportHTML(ctx, a, export.Chat{Session: row, Program: programName(row.Program), Messages: chat.Messages, Calls: chat.Calls})
	}
	return usagef("--format %q: it must be markdown, json or html", format)
}

// exportHTML reads what a page shows beside the conversation, and writes it.
func exportHTML(ctx context.Context, a *app, c export.Chat) error {
	rec, err := a.store.Record(ctx, c.Session.ID)
	if err != nil {
		return err
	}
	for n := 1; n <= c.Session.Turns; n++ {
		turn := export.Turn{}
		if turn.Turn, err = rec.Turn(ctx, n); err != nil {
			return err
		}
		entries, err := rec.Entries(ctx, n)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.Kind == record.EntryCompletion {
				turn.Completions = append(turn.Completions, e)
			}
		}
		c.Turns = append(c.Turns, turn)
	}
	c.Inner = map[string][]record.Message{}
	for _, call := range c.Calls {
		if call.Agent && call.Parent != "" {
			if c.Inner[call.Path], err = rec.Messages(ctx, call.Path, -1); err != nil {
				return err
			}
		}
	}
	dark, err := themes.Load(themes.Default, a.paths.themes())
	if err != nil {
		return err
	}
	light, err := themes.Load(themes.Light, a.paths.themes())
	if err != nil {
		return err
	}
	return export.HTML(a.io.out, c, dark, light)
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
