package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"parley/agent/credential"
	"parley/agent/model"
	"parley/toolrt/command"
	"parley/ui/tui/text"
)

func doctorCommand(io streams) *cobra.Command {
	var f flags
	cmd := &cobra.Command{Use: "doctor", Short: "Say what parley finds here: places, models, keys, keyring, sandbox, terminal", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withApp(cmd, io, &f, doctor)
		}}
	f.common(cmd.Flags())
	return cmd
}

func doctor(ctx context.Context, a *app) error {
	w := tabwriter.NewWriter(a.io.out, 0, 4, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%s\t%s\n", name, text.Line(fmt.Sprintf(format, args...)))
	}
	line("parley", "%s, %s", versionText(), goosName())
	line("working folder", "%s", a.paths.dir)
	line("config", "%s%s", firstSet(a.paths.config, "none: there is no home folder"), missing(a.paths.config))
	if a.notSaved != "" {
		line("data", "not saved: %s", a.notSaved)
	} else {
		line("data", "%s", firstSet(a.f.db, a.paths.data))
	}
	line("log", "%s", firstSet(a.paths.state, "none: there is no home folder"))
	ref, why := a.chooseModel(ctx)
	line("model", "%s%s", ref, because(why))
	for _, p := range a.models.Providers() {
		line("provider "+p.Name(), "%s", a.keyState(ctx, p))
	}
	if a.creds != nil {
		line("secrets", "%s", credentialState(ctx, a))
	}
	for _, s := range a.serverStates(ctx) {
		line("mcp "+s.Name, "%s (%s)", s, s.Line)
	}
	if a.untrustedServers != "" {
		line("mcp", "%s", a.untrustedServers)
	}
	line("sandbox", "%s", command.SandboxSupport())
	line("terminal", "TERM=%s COLORTERM=%s", a.io.getenv("TERM"), a.io.getenv("COLORTERM"))
	line("after a crash", "if the terminal stays strange: run the command reset")
	return w.Flush()
}

func missing(path string) string {
	if _, err := os.Stat(path); path != "" && err != nil {
		return " (not there: the defaults hold)"
	}
	return ""
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

// keyState says where a provider's key comes from, never the key.
func (a *app) keyState(ctx context.Context, p model.Provider) string {
	if !p.NeedsKey(a.modelOptions()) {
		return "needs no key"
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	source, err := credential.KeySource(ctx, a.creds, a.io.getenv, p.Name())
	if err != nil {
		return "key: " + err.Error()
	}
	if source == "" {
		return fmt.Sprintf("no key: set %s_API_KEY, or parley credentials set sys.%s", strings.ToUpper(p.Name()), p.Name())
	}
	return "key from " + source
}

// credentialState says which store is used, after it was asked.
func credentialState(ctx context.Context, a *app) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := a.creds.List(ctx, []string{"*"}); err != nil {
		return err.Error()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.credsNote
}

func modelsCommand(io streams) *cobra.Command {
	var f flags
	cmd := &cobra.Command{Use: "models [PROVIDER…]", Short: "List the models of the providers that can be asked", Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, io, &f, func(ctx context.Context, a *app) error { return a.printModels(ctx, args) })
		}}
	f.common(cmd.Flags())
	return cmd
}

// printModels lists the models of the named providers, of all without a name.
func (a *app) printModels(ctx context.Context, providers []string) error {
	for _, p := range a.models.Providers() {
		if len(providers) > 0 && !slices.Contains(providers, p.Name()) {
			continue
		}
		models, err := a.listModels(ctx, p)
		if err != nil {
			fmt.Fprintf(a.io.err, "%s: %s\n", p.Name(), text.Clean(strings.TrimPrefix(err.Error(), p.Name()+": ")))
			continue
		}
		for _, m := range models {
			fmt.Fprintf(a.io.out, "%s/%s\n", p.Name(), text.Line(m))
		}
	}
	return nil
}

// listModels asks a provider for its models; one whose key is missing is not asked.
func (a *app) listModels(ctx context.Context, p model.Provider) ([]string, error) {
	lister, ok := p.(model.Lister)
	if !ok {
		return nil, nil
	}
	o := a.modelOptions()
	if p.NeedsKey(o) {
		if key, err := a.keys(ctx, p.Name()); err != nil || key == "" {
			return nil, fmt.Errorf("no key is known%s", because(errText(err)))
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return lister.Models(ctx, o)
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func configCommand(io streams) *cobra.Command {
	var f flags
	cmd := &cobra.Command{Use: "config", Short: "Show the settings, their schema or their place"}
	f.stored(cmd.PersistentFlags())
	show := func(run func(a *app) error) func(cmd *cobra.Command, _ []string) error {
		return func(cmd *cobra.Command, _ []string) error {
			return withApp(cmd, io, &f, func(_ context.Context, a *app) error { return run(a) })
		}
	}
	var asJSON bool
	shown := &cobra.Command{Use: "show", Short: "Print the settings in force and where each comes from", Args: cobra.NoArgs,
		RunE: show(func(a *app) error { return showConfig(a, asJSON) })}
	shown.Flags().BoolVar(&asJSON, "json", false, "what is set, as in the config file")
	cmd.AddCommand(
		shown,
		&cobra.Command{Use: "trust", Short: "Let the allow rules and hooks of this folder's .parley/config.json count until it changes", Args: cobra.NoArgs,
			RunE: show(trustProject)},
		&cobra.Command{Use: "path", Short: "Print where the settings are kept", Args: cobra.NoArgs, RunE: show(func(a *app) error {
			_, err := fmt.Fprintln(a.io.out, a.paths.config)
			return err
		})},
		&cobra.Command{Use: "schema", Short: "Print the JSON Schema of the settings", Args: cobra.NoArgs, RunE: show(func(a *app) error {
			_, err := fmt.Fprint(a.io.out, configSchema)
			return err
		})})
	return cmd
}
