package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"parley/persist"
	"parley/ui/tui/text"
)

func sqlCommand(io streams) *cobra.Command {
	var f flags
	var limit int
	var asJSON bool
	cmd := &cobra.Command{Use: "sql STATEMENT", Short: "Run one SELECT over the views v_sessions, v_turns, v_messages, v_calls, v_decisions, v_completions",
		Long: "Run one SELECT over what is on record. It can change nothing.\n\n" +
			"The views are v_sessions, v_turns, v_messages, v_calls, v_decisions and v_completions; their columns\n" +
			"stand in docs/history.md, and in: parley sql 'SELECT name, sql FROM sqlite_schema WHERE type = ''view'''.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, io, &f, func(ctx context.Context, a *app) error { return selectRows(ctx, a, args[0], limit, asJSON) })
		}}
	f.common(cmd.Flags())
	cmd.Flags().IntVar(&limit, "limit", 1000, "at most so many rows")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}

func selectRows(ctx context.Context, a *app, statement string, limit int, asJSON bool) error {
	if a.notSaved != "" {
		return fmt.Errorf("nothing is saved: %s", a.notSaved)
	}
	w := tabwriter.NewWriter(a.io.out, 0, 4, 2, ' ', 0)
	enc := json.NewEncoder(a.io.out)
	enc.SetEscapeHTML(false)
	head := false
	more, err := a.store.Select(ctx, statement, limit, func(columns []string, values []any) error {
		if asJSON {
			return writeRow(enc, columns, values)
		}
		if !head {
			head = true
			fmt.Fprintln(w, cells(columns))
		}
		shown := make([]string, len(values))
		for i, v := range values {
			shown[i] = cell(v)
		}
		_, err := fmt.Fprintln(w, strings.Join(shown, "\t"))
		return err
	})
	if errors.Is(err, persist.ErrNotSelect) {
		return usageError{err}
	}
	if err == nil && more {
		fmt.Fprintf(a.io.err, "· there are more than %d rows (--limit)\n", limit)
	}
	return errors.Join(err, w.Flush())
}

// writeRow writes a row as an object; of columns with the same name the last one counts.
func writeRow(enc *json.Encoder, columns []string, values []any) error {
	row := make(map[string]any, len(columns))
	for i, name := range columns {
		if b, ok := values[i].([]byte); ok {
			values[i] = string(b)
		}
		row[name] = values[i]
	}
	return enc.Encode(row)
}

func cells(names []string) string {
	shown := make([]string, len(names))
	for i, name := range names {
		shown[i] = text.Line(name)
	}
	return strings.Join(shown, "\t")
}

// cell is a value fit for a line of a table.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case []byte:
		return oneLine(string(v))
	case string:
		return oneLine(v)
	}
	return fmt.Sprint(v)
}
