package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"parley/agent/program"
	"parley/ui/tui/text"
)

func toolsCommand(io streams) *cobra.Command {
	var f flags
	var asJSON bool
	cmd := &cobra.Command{Use: "tools [FILE]", Short: "List the tools of a program as the model sees them, or the built-in tools", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, io, &f, func(ctx context.Context, a *app) error { return listTools(ctx, a, args, asJSON) })
		}}
	f.common(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "names and schemas as JSON")
	return cmd
}

// shownTool is a tool as parley tools prints it.
type shownTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

func listTools(ctx context.Context, a *app, args []string, asJSON bool) error {
	var tools []shownTool
	if len(args) == 0 {
		for _, spec := range a.builtins.Specs() {
			tools = append(tools, shownTool{spec.Name, spec.Description, spec.Parameters})
		}
	} else {
		prg, _, err := a.loadProgram(ctx, a.programRef(args[0]), a.f.subTool)
		if err != nil {
			return a.loadError(args[0], err)
		}
		entry := prg.EntryAgent()
		for _, o := range prg.Offered(entry, prg.Agents(prg.Entry())) {
			tools = append(tools, shownTool{o.Name, o.Tool.Description, o.Tool.Schema()})
		}
	}
	if asJSON {
		enc := json.NewEncoder(a.io.out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(tools)
	}
	for _, t := range tools {
		fmt.Fprintf(a.io.out, "%-24s %s\n", text.Line(t.Name), oneLine(t.Description))
	}
	return nil
}

func checkCommand(io streams) *cobra.Command {
	var f flags
	cmd := &cobra.Command{Use: "check FILE…", Short: "Parse and link programs; print every error and warning with its place", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, io, &f, func(ctx context.Context, a *app) error { return checkPrograms(ctx, a, args) })
		}}
	f.common(cmd.Flags())
	return cmd
}

// errCheck says that a checked program has errors, which were printed: exit code 1.
var errCheck = errors.New("there are errors")

func checkPrograms(ctx context.Context, a *app, files []string) error {
	failed := false
	for _, file := range files {
		_, warnings, err := a.loadProgram(ctx, file, a.f.subTool)
		for _, w := range warnings {
			fmt.Fprintf(a.io.out, "%s\n", text.Clean(w.String()))
		}
		if err == nil {
			continue
		}
		failed = true
		var all *program.ParseErrors
		if errors.As(err, &all) {
			for _, e := range all.Unwrap() {
				fmt.Fprintf(a.io.out, "%s\n", text.Clean(e.Error()))
			}
			continue
		}
		fmt.Fprintf(a.io.out, "%s\n", text.Clean(err.Error()))
	}
	if failed {
		return fmt.Errorf("%w: %w", errSaid, errCheck)
	}
	return nil
}

func fmtCommand(io streams) *cobra.Command {
	var write bool
	cmd := &cobra.Command{Use: "fmt FILE…", Short: "Print a program in canonical form", Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, file := range args {
				if err := formatFile(io, file, write); err != nil {
					return err
				}
			}
			return nil
		}}
	cmd.Flags().BoolVarP(&write, "write", "w", false, "write it back to the file")
	return cmd
}

func formatFile(io streams, file string, write bool) error {
	src, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read program: %w", err)
	}
	doc, err := program.Parse(file, src)
	if err != nil {
		return err
	}
	out, err := program.Format(doc)
	if err != nil {
		return fmt.Errorf("format %s: %w", file, err)
	}
	if write {
		if out == string(src) {
			return nil
		}
		return writeFile(file, []byte(out))
	}
	_, err = fmt.Fprint(io.out, out)
	return err
}
