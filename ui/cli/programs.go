package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	goio "io"
	"os"
	"path/filepath"

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
	var unasked []string
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
		for _, server := range prg.Servers(entry) {
			unasked = append(unasked, fmt.Sprintf("%-24s an MCP server: its tools are known once it runs", text.Line(firstSet(server.Name, filepath.Base(server.Source.Location)))))
		}
		for _, o := range prg.Offered(entry, prg.Agents(prg.Entry())) {
			tools = append(tools, shownTool{o.Name, o.Tool.Description, o.Tool.Schema()})
		}
	}
	if asJSON {
		return printJSON(a.io.out, tools)
	}
	for _, t := range tools {
		fmt.Fprintf(a.io.out, "%-24s %s\n", text.Line(t.Name), oneLine(t.Description))
	}
	for _, line := range unasked {
		fmt.Fprintln(a.io.out, line)
	}
	return nil
}

func checkCommand(io streams) *cobra.Command {
	var f flags
	var asJSON bool
	cmd := &cobra.Command{Use: "check FILE…", Short: "Parse and link programs; print every error and warning with its place", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, io, &f, func(ctx context.Context, a *app) error { return checkPrograms(ctx, a, args, asJSON) })
		}}
	f.common(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "the errors and warnings as JSON")
	cmd.Flags().BoolVar(&f.update, "update", false, "take the repositories that the programs refer to as they are now")
	return cmd
}

// errCheck says that a checked program has errors, which were printed: exit code 1.
var errCheck = errors.New("there are errors")

// remark is an error or warning as parley check prints it.
type remark struct {
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`   // from 1, 0 where the file as a whole is meant
	Column   int    `json:"column,omitempty"` // from 1, in characters
	Severity string `json:"severity"`         // "error" or "warning"
	Message  string `json:"message"`

	text string
}

func checkPrograms(ctx context.Context, a *app, files []string, asJSON bool) error {
	remarks := []remark{}
	failed := false
	for _, file := range files {
		_, warnings, err := a.loadProgram(ctx, file, a.f.subTool)
		remarks = append(remarks, remarksOf(file, warnings, err)...)
		failed = failed || err != nil
	}
	if asJSON {
		if err := printJSON(a.io.out, remarks); err != nil {
			return err
		}
	} else {
		for _, r := range remarks {
			fmt.Fprintf(a.io.out, "%s\n", text.Clean(r.text))
		}
	}
	a.updated()
	if failed {
		return fmt.Errorf("%w: %w", errSaid, errCheck)
	}
	return nil
}

// remarksOf lists what loading a program came to, warnings first.
func remarksOf(file string, warnings []program.Warning, err error) []remark {
	var all []remark
	for _, w := range warnings {
		all = append(all, remark{w.File, w.Line, w.Column, "warning", w.Message, "warning: " + w.String()})
	}
	var faults *program.ParseErrors
	switch {
	case err == nil:
	case errors.As(err, &faults):
		for _, e := range faults.Errors {
			all = append(all, remark{e.File, e.Line, e.Column, "error", e.Message, e.Error()})
		}
	default:
		all = append(all, remark{File: file, Severity: "error", Message: err.Error(), text: err.Error()})
	}
	return all
}

// printJSON writes a value for people and programs.
func printJSON(to goio.Writer, value any) error {
	enc := json.NewEncoder(to)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}

func fmtCommand(io streams) *cobra.Command {
	var write bool
	cmd := &cobra.Command{Use: "fmt FILE…|-", Short: "Print a program in canonical form", Args: cobra.MinimumNArgs(1),
		Long: "Print a program in canonical form. The meaning stays. FILE may also be the JSON that parley parse prints; - is stdin.",
		RunE: func(_ *cobra.Command, args []string) error {
			var errs []error
			for _, file := range args {
				errs = append(errs, formatFile(io, file, write))
			}
			return errors.Join(errs...)
		}}
	cmd.Flags().BoolVarP(&write, "write", "w", false, "write it back to the file")
	return cmd
}

func formatFile(io streams, file string, write bool) error {
	if write && file == "-" {
		return usagef("stdin cannot be written back: leave out --write")
	}
	src, err := readSource(io, file)
	if err != nil {
		return err
	}
	doc, isJSON, err := readDocument(file, src)
	if err != nil {
		return err
	}
	if write && isJSON {
		return usagef("%s is JSON, not a program: parley fmt %[1]s prints the program", file)
	}
	out, err := program.Format(doc)
	if err != nil {
		return fmt.Errorf("format %s: %w", file, err)
	}
	if !write {
		_, err = fmt.Fprint(cleaned(io.out), out)
		return err
	}
	if out == string(src) {
		return nil
	}
	return rewriteFile(file, []byte(out))
}

// readSource reads a program's text without loading what it refers to.
func readSource(io streams, file string) ([]byte, error) {
	var src []byte
	var err error
	if file == "-" {
		src, err = goio.ReadAll(io.in)
	} else {
		src, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, fmt.Errorf("read program: %w", err)
	}
	return src, nil
}

// readDocument parses a program, or takes one as it was parsed from its JSON (1.13).
func readDocument(file string, src []byte) (doc *program.Document, isJSON bool, err error) {
	if trimmed := bytes.TrimSpace(src); len(trimmed) > 0 && trimmed[0] == '{' {
		var parsed struct {
			Nodes *json.RawMessage `json:"nodes"`
		}
		if json.Unmarshal(trimmed, &parsed) == nil && parsed.Nodes != nil {
			doc = &program.Document{}
			if err := json.Unmarshal(trimmed, doc); err != nil {
				return nil, true, fmt.Errorf("read %s: %w", file, err)
			}
			return doc, true, nil
		}
	}
	doc, err = program.Parse(file, src)
	return doc, false, err
}

func parseCommand(io streams) *cobra.Command {
	var pretty bool
	cmd := &cobra.Command{Use: "parse FILE|-", Short: "Print a program's blocks as JSON, without loading what it refers to", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			src, err := readSource(io, args[0])
			if err != nil {
				return err
			}
			doc, _, err := readDocument(args[0], src)
			if err != nil {
				return err
			}
			if pretty {
				return printJSON(io.out, doc)
			}
			enc := json.NewEncoder(io.out)
			enc.SetEscapeHTML(false)
			return enc.Encode(doc)
		}}
	cmd.Flags().BoolVarP(&pretty, "pretty-print", "p", false, "indent it")
	return cmd
}
