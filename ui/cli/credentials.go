package cli

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"parley/agent"
	"parley/agent/credential"
	"parley/toolrt"
	"parley/ui/tui/text"
)

func credentialsCommand(io streams) *cobra.Command {
	var f flags
	var all, env bool
	cmd := &cobra.Command{Use: "credentials", Aliases: []string{"credential", "cred", "creds"}, Short: "List, set, show and delete stored credentials"}
	f.common(cmd.PersistentFlags())
	listing := func(cmd *cobra.Command) *cobra.Command {
		cmd.Args = cobra.NoArgs
		cmd.RunE = func(cmd *cobra.Command, _ []string) error {
			return withApp(cmd, io, &f, func(ctx context.Context, a *app) error { return listCredentials(ctx, a, all, env) })
		}
		cmd.Flags().BoolVar(&all, "all-contexts", false, "of every context")
		cmd.Flags().BoolVar(&env, "show-env-vars", false, "the names of their variables too")
		return cmd
	}
	listing(cmd) // as in GPTScript
	list := listing(&cobra.Command{Use: "list", Short: "List the stored credentials, without their values"})
	one := func(use, short string, aliases []string, run func(ctx context.Context, a *app, name string) error) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Aliases: aliases, Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, io, &f, func(ctx context.Context, a *app) error { return run(ctx, a, args[0]) })
		}}
	}
	set := &cobra.Command{Use: "set NAME [VAR…]", Short: "Store a credential; its values are asked for, or read from stdin line by line", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, io, &f, func(ctx context.Context, a *app) error { return setCredential(ctx, a, args[0], args[1:]) })
		}}
	cmd.AddCommand(list, set,
		one("show NAME", "Print a credential with its values", []string{"reveal"}, showCredential),
		one("delete NAME", "Delete a credential", []string{"rm", "del"}, deleteCredential))
	return cmd
}

func listCredentials(ctx context.Context, a *app, all, env bool) error {
	contexts := a.f.credentialContexts
	if all {
		contexts = []string{"*"}
	}
	creds, err := a.creds.List(ctx, contexts)
	if err != nil {
		return fmt.Errorf("list credentials: %w", err)
	}
	slices.SortFunc(creds, func(x, y credential.Credential) int {
		return strings.Compare(x.ToolName+"\x00"+x.Context, y.ToolName+"\x00"+y.Context)
	})
	w := tabwriter.NewWriter(a.io.out, 0, 4, 2, ' ', 0)
	head := []string{"CREDENTIAL", "EXPIRES IN"}
	several := all || len(contexts) > 1
	if several {
		head = append([]string{"CONTEXT"}, head...)
	}
	if env {
		head = append(head, "ENV")
	}
	fmt.Fprintln(w, strings.Join(head, "\t"))
	for _, c := range creds {
		row := []string{text.Line(c.ToolName), expiry(c)}
		if several {
			row = append([]string{c.Context}, row...)
		}
		if env {
			row = append(row, strings.Join(slices.Sorted(maps.Keys(c.Env)), ", "))
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	if _, err := os.Stat(filepath.Join(a.paths.data, credential.FileName)); err == nil && a.io.getenv("PARLEY_PASSPHRASE") == "" {
		fmt.Fprintln(a.io.err, "· an encrypted file of credentials is there but not open: set PARLEY_PASSPHRASE to see what it holds")
	}
	return w.Flush()
}

func expiry(c credential.Credential) string {
	switch {
	case c.ExpiresAt == nil:
		return "never"
	case c.ExpiresAt.Before(time.Now()):
		return "expired"
	}
	return time.Until(*c.ExpiresAt).Round(time.Second).String()
}

// setCredential stores values for the variables; a provider's key needs no variable named.
func setCredential(ctx context.Context, a *app, name string, vars []string) error {
	if len(vars) == 0 {
		provider, ok := strings.CutPrefix(name, "sys.")
		if !ok {
			return usagef("name the variables: parley credentials set %s VAR…", name)
		}
		vars = []string{credential.KeyVariable(provider)}
	}
	values, err := readValues(ctx, a, name, vars)
	if err != nil {
		return err
	}
	if err := a.storeCredential(ctx, name, values); err != nil {
		return err
	}
	if a.creds.Kind() == "memory" {
		return fmt.Errorf("credential %s cannot be kept: there is no keyring; set PARLEY_PASSPHRASE to keep credentials in an encrypted file", name)
	}
	fmt.Fprintf(a.io.out, "stored %s in the %s\n", name, a.creds.Kind())
	return nil
}

// storeCredential stores values under a name in the context that is written.
func (a *app) storeCredential(ctx context.Context, name string, values map[string]string) error {
	c := credential.Credential{ToolName: name, Type: "tool", Env: values}
	if strings.HasPrefix(name, "sys.") {
		c.Type = "modelProvider"
	}
	if len(a.f.credentialContexts) > 0 {
		c.Context = a.f.credentialContexts[0]
	}
	if err := a.creds.Put(ctx, c); err != nil {
		return fmt.Errorf("store credential %s: %w", name, err)
	}
	return nil
}

// readValues asks for the values without showing them, or reads them from a pipe line by line.
func readValues(ctx context.Context, a *app, name string, vars []string) (map[string]string, error) {
	c := newConsole(a.io)
	if ask := c.asker(); ask != nil {
		q := toolrt.Question{Message: "Values for " + name, Sensitive: true}
		for _, v := range vars {
			q.Fields = append(q.Fields, toolrt.Field{Name: v})
		}
		ans, err := ask.Prompt(ctx, agent.InputQuestion{Question: q})
		return ans.Values, err
	}
	values := map[string]string{}
	lines := newLines(a.io.in)
	for _, v := range vars {
		line, err := lines()
		if err != nil {
			return nil, fmt.Errorf("read the value of %s from stdin: %w", v, err)
		}
		values[v] = line
	}
	return values, nil
}

func showCredential(ctx context.Context, a *app, name string) error {
	c, ok, err := a.creds.Get(ctx, a.f.credentialContexts, name)
	if err != nil {
		return fmt.Errorf("read credential %s: %w", name, err)
	}
	if !ok {
		return fmt.Errorf("credential %q not found", name)
	}
	w := tabwriter.NewWriter(a.io.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "ENV\tVALUE")
	for _, k := range slices.Sorted(maps.Keys(c.Env)) {
		fmt.Fprintf(w, "%s\t%s\n", k, c.Env[k])
	}
	return w.Flush()
}

func deleteCredential(ctx context.Context, a *app, name string) error {
	where := "default"
	switch contexts := a.f.credentialContexts; {
	case len(contexts) > 1 || len(contexts) == 1 && contexts[0] == "*":
		return usagef("name one context to delete from, not several")
	case len(contexts) == 1:
		where = contexts[0]
	}
	ok, err := a.creds.Delete(ctx, where, name)
	if err != nil {
		return fmt.Errorf("delete credential %s: %w", name, err)
	}
	if !ok {
		return fmt.Errorf("credential %q not found", name)
	}
	return nil
}
