package cli

import (
	"context"
	"fmt"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"parley/themes"
	"parley/ui/tui/text"
)

func themesCommand(io streams) *cobra.Command {
	var f flags
	cmd := &cobra.Command{Use: "themes", Short: "List the colour themes, show one, or print the schema of theme files"}
	f.stored(cmd.PersistentFlags())
	with := func(run func(a *app, args []string) error) func(cmd *cobra.Command, args []string) error {
		return func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, io, &f, func(_ context.Context, a *app) error { return run(a, args) })
		}
	}
	cmd.AddCommand(
		&cobra.Command{Use: "list", Short: "List the themes that can be chosen", Args: cobra.NoArgs, RunE: with(listThemes)},
		&cobra.Command{Use: "show NAME", Short: "Print the colours of a theme", Args: cobra.ExactArgs(1), RunE: with(showTheme)},
		&cobra.Command{Use: "schema", Short: "Print the JSON Schema of theme files", Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error {
				_, err := fmt.Fprint(io.out, themes.Schema)
				return err
			}})
	return cmd
}

// listThemes prints each theme with the background it is for; one that cannot be used is told.
func listThemes(a *app, _ []string) error {
	w := tabwriter.NewWriter(a.io.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "THEME\tFOR")
	var bad []error
	for _, name := range themes.Names(a.paths.themes()) {
		theme, err := themes.Load(name, a.paths.themes())
		if err != nil {
			bad = append(bad, err)
			continue
		}
		fmt.Fprintf(w, "%s\t%s\n", text.Line(name), background(theme.Background))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, err := range bad {
		fmt.Fprintln(a.io.err, "· "+text.Clean(err.Error()))
	}
	return nil
}

// background says for which terminals a theme is.
func background(color string) string {
	if len(color) != 7 {
		return "any background"
	}
	green, err := strconv.ParseUint(color[3:5], 16, 8) // most of what the eye sees as light
	if err == nil && green > 0x80 {
		return "a light background"
	}
	return "a dark background"
}

// showTheme prints the tokens of a theme, on a terminal in their colours.
func showTheme(a *app, args []string) error {
	theme, err := themes.Load(args[0], a.paths.themes())
	if err != nil {
		return usageError{err}
	}
	colours := isTerminal(a.io.out) && a.io.getenv("NO_COLOR") == ""
	for _, token := range themes.Tokens() {
		color := theme.Color(token)
		line := fmt.Sprintf("%-13s %s", token, firstSet(color, "the terminal's own"))
		if colours && color != "" {
			r, g, b := channel(color, 1), channel(color, 3), channel(color, 5)
			line = fmt.Sprintf("\x1b[38;2;%d;%d;%dm%s\x1b[0m", r, g, b, line)
		}
		if _, err := fmt.Fprintln(a.io.out, line); err != nil {
			return err
		}
	}
	return nil
}

// channel is one of the three parts of a colour "#rrggbb".
func channel(color string, at int) uint64 {
	n, _ := strconv.ParseUint(color[at:at+2], 16, 8) // a loaded theme has only such colours
	return n
}
