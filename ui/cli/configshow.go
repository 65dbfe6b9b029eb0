package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"text/tabwriter"

	"parley/ui/tui/text"
)

// setting is one setting in force.
type setting struct {
	key, value, fallback string
	env                  string // the variable that sets it too
}

// settings are the settings in force, with what holds where nothing is set.
func (a *app) settings() []setting {
	c, l := a.cfg, a.cfg.Limits
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	yes := func(b bool) string {
		if b {
			return "true"
		}
		return ""
	}
	no := func(b *bool) string {
		if b == nil {
			return ""
		}
		return strconv.FormatBool(*b)
	}
	return []setting{
		{"model", c.Model, "chosen at the start", "PARLEY_MODEL"},
		{"baseURL", c.BaseURL, "the provider's", "PARLEY_BASE_URL"},
		{"caFile", c.CAFile, "the system's certificates", "PARLEY_CA_FILE"},
		{"theme", c.Theme, "dark or light, as the terminal is", "PARLEY_THEME"},
		{"mode", c.Mode, "ask", "PARLEY_MODE"},
		{"ascii", yes(c.ASCII), "false", ""},
		{"reducedMotion", yes(c.ReducedMotion), "false", ""},
		{"notify", c.Notify, "unfocused", ""},
		{"keyring", no(c.Keyring), "true", "PARLEY_KEYRING"},
		{"jobs", c.Jobs, "end", ""},
		{"limits.concurrency", number(l.Concurrency), "4", ""},
		{"limits.timeout", l.Timeout, "2m", ""},
		{"limits.commandTimeout", l.CommandTimeout, "30m", ""},
		{"limits.onTimeout", l.OnTimeout, "stop", ""},
		{"limits.toolRounds", number(l.ToolRounds), "50", ""},
		{"limits.repeats", number(l.Repeats), "3", ""},
		{"compaction.auto", no(c.Compaction.Auto), "true", ""},
		{"compaction.keepTokens", number(c.Compaction.KeepTokens), "8000", ""},
		{"compaction.bufferTokens", number(c.Compaction.BufferTokens), "20000", ""},
	}
}

// showConfig prints the settings in force and the rules, each with where it comes from.
func showConfig(a *app, asJSON bool) error {
	if asJSON {
		out, err := json.MarshalIndent(a.cfg, "", "  ")
		if err != nil {
			return fmt.Errorf("show config: %w", err)
		}
		_, err = fmt.Fprintln(a.io.out, a.redactor.Redact(string(out)))
		return err
	}
	w := tabwriter.NewWriter(a.io.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "SETTING\tVALUE\tFROM")
	for _, s := range a.settings() {
		from := "default"
		switch {
		case s.value == "":
			s.value = s.fallback
		case s.env != "" && a.io.getenv(s.env) != "":
			from = s.env
		default:
			from = a.paths.config
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", s.key, text.Line(s.value), text.Line(from))
	}
	for _, name := range slices.Sorted(maps.Keys(a.cfg.Env)) {
		fmt.Fprintf(w, "env.%s\t%s\t%s\n", text.Line(name), text.Line(a.redactor.Redact(a.cfg.Env[name])), a.paths.config)
	}
	for _, name := range slices.Sorted(maps.Keys(a.servers)) {
		from := a.paths.config
		if own, ok := a.cfg.MCP[name]; !ok || own.Key() != a.servers[name].Key() {
			from = a.paths.project()
		}
		fmt.Fprintf(w, "mcp.%s\t%s\t%s\n", text.Line(name), text.Line(a.servers[name].Line()), text.Line(from))
	}
	rules, errs := a.rulesInForce()
	for _, r := range rules {
		from, err := a.settingsOf(r.Scope)
		if err != nil {
			from = "command line"
		}
		fmt.Fprintf(w, "permissions.%s\t%s\t%s\n", r.Effect, text.Line(r.String()), text.Line(from))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, err := range errs {
		fmt.Fprintln(a.io.err, "· "+text.Clean(err.Error()))
	}
	return nil
}
