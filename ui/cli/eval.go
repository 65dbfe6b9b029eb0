package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"parley/agent/program"
)

// evalCommand runs a text as a program of one tool (9.3).
func evalCommand(io streams) *cobra.Command {
	var f flags
	var t program.Tool
	var tools []string
	var temperature float32
	var internal bool
	cmd := &cobra.Command{Use: "eval TEXT…", Short: "Run a text as the body of a program", Args: cobra.MinimumNArgs(1),
		Long: "Run a text as the body of a program, with the tools that --tools names.",
		RunE: func(cmd *cobra.Command, args []string) error {
			fs := cmd.Flags()
			if err := f.fromEnvironment(fs, io.getenv); err != nil {
				return err
			}
			t.Instructions = strings.Join(args, " ")
			t.Tools = slices.DeleteFunc(tools, func(name string) bool { return strings.TrimSpace(name) == "" })
			if fs.Changed("temperature") {
				t.Temperature = &temperature
			}
			if fs.Changed("internal-prompt") {
				t.InternalPrompt = &internal
			}
			source, err := program.Format(&program.Document{Nodes: []program.Node{{ToolNode: &program.ToolNode{Tool: &t}}}})
			if err != nil {
				return usagef("%w", err)
			}
			io.source = []byte(source)
			if t.Chat {
				return openChat(cmd.Context(), io, &f, []string{"-"})
			}
			if err := f.check(); err != nil {
				return err
			}
			return runTurn(cmd.Context(), io, &f, "-", "")
		}}
	fs := cmd.Flags()
	fs.SetInterspersed(false)
	f.common(fs)
	f.approvals(fs)
	f.headless(fs)
	fs.StringSliceVar(&tools, "tools", nil, "the tools `A,B` that it may use: built-ins, files, NAME from FILE")
	fs.BoolVar(&t.Chat, "chat", false, "begin a chat with it")
	fs.BoolVar(&t.JSONResponse, "json", false, "ask the model for JSON")
	fs.IntVar(&t.MaxTokens, "max-tokens", 0, "the reply's limit in tokens")
	fs.Float32Var(&temperature, "temperature", 0, "the model's temperature")
	fs.BoolVar(&internal, "internal-prompt", true, "put parley's own prompt before the text")
	return cmd
}
