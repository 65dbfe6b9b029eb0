package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"parley/agent"
	"parley/toolrt"
	"parley/toolrt/mcp"
	"parley/ui/tui"
)

// config holds the settings, as they stand in the user's config file. A zero value is unset.
type config struct {
	Model   string `json:"model,omitempty"`   // provider/name
	BaseURL string `json:"baseURL,omitempty"` // of the provider
	// CAFile has certificates to trust beside the system's, in PEM form.
	CAFile string `json:"caFile,omitempty"`
	Theme  string `json:"theme,omitempty"`
	Mode   string `json:"mode,omitempty"` // ask, edits or plan
	ASCII  bool   `json:"ascii,omitempty"`
	// ReducedMotion stops spinners.
	ReducedMotion bool `json:"reducedMotion,omitempty"`
	// Notify says when a person is told by bell or notification: "unfocused", "always" or "off".
	Notify string `json:"notify,omitempty"`
	// Keyring says whether the system's keyring is used; unset means yes.
	Keyring     *bool        `json:"keyring,omitempty"`
	Permissions *permissions `json:"permissions,omitempty"`
	// Hooks are commands around calls.
	Hooks *hooksConfig `json:"hooks,omitempty"`
	// Sandbox is how commands are confined that nobody was asked about.
	Sandbox *sandboxConfig `json:"sandbox,omitempty"`
	// Jobs says what becomes of commands in the background at the end: "end" or "keep".
	Jobs   string `json:"jobs,omitempty"`
	Limits limits `json:"limits,omitzero"`
	// Compaction says when a long chat is summed up for its model.
	Compaction compaction        `json:"compaction,omitzero"`
	Env        map[string]string `json:"env,omitempty"` // added to the environment of tools
	// MCP are MCP servers by name; the assistant is offered their tools.
	MCP map[string]serverConfig `json:"mcp,omitempty"`
}

// permissions are read by package approval, each a text or an object; here they only must be known
// keys.
type permissions struct {
	Allow []json.RawMessage `json:"allow,omitempty"`
	Ask   []json.RawMessage `json:"ask,omitempty"`
	Deny  []json.RawMessage `json:"deny,omitempty"`
}

// compaction says when a long chat is summed up for its model.
type compaction struct {
	Auto         *bool `json:"auto,omitempty"` // unset means yes
	KeepTokens   int   `json:"keepTokens,omitempty"`
	BufferTokens int   `json:"bufferTokens,omitempty"`
}

func (c compaction) options() agent.Compaction {
	return agent.Compaction{Off: c.Auto != nil && !*c.Auto, KeepTokens: c.KeepTokens, BufferTokens: c.BufferTokens}
}

// limits are the limits a person may change.
type limits struct {
	Concurrency    int    `json:"concurrency,omitempty"`
	Timeout        string `json:"timeout,omitempty"`        // of a tool, e.g. "2m"
	CommandTimeout string `json:"commandTimeout,omitempty"` // of a "#!" command
	ToolRounds     int    `json:"toolRounds,omitempty"`
	// OnTimeout says what becomes of a command at its limit: "stop" or "background".
	OnTimeout string `json:"onTimeout,omitempty"`
	// Repeats is in how many replies in a row the same call with the same result is a loop; less
	// than zero switches the guard off.
	Repeats int `json:"repeats,omitempty"`
}

// sandboxConfig is how commands are confined.
type sandboxConfig struct {
	Profile string `json:"profile,omitempty"` // off, workspace-write or read-only
	Network *bool  `json:"network,omitempty"` // false cuts it off; unset means it stays
	// Always confines what a person allowed by key too.
	Always bool `json:"always,omitempty"`
}

// serverConfig is an MCP server as it stands in the file.
type serverConfig struct {
	mcp.Config
	text json.RawMessage
}

func (c *serverConfig) UnmarshalJSON(data []byte) error {
	c.text = bytes.Clone(data)
	return json.Unmarshal(data, &c.Config)
}

// MarshalJSON returns what was read.
func (c serverConfig) MarshalJSON() ([]byte, error) { return c.text, nil }

// serverName is what the name of an MCP server may be: it becomes part of the names of its tools.
var serverName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

// checkServers says what is wrong with the MCP servers of a file.
func checkServers(path string, servers map[string]serverConfig) error {
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		if !serverName.MatchString(name) {
			return fmt.Errorf("config %s: mcp: the name %q must be letters, digits, _ and -, 32 at most", path, name)
		}
		if err := servers[name].Check(); err != nil {
			return fmt.Errorf("config %s: mcp.%s: %w", path, name, err)
		}
	}
	return nil
}

// loadConfig reads the user's config file. A missing file is an empty one; an unknown key is an
// error that names it.
func loadConfig(path string) (config, error) {
	var c config
	if path == "" {
		return c, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("read config: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return c, fmt.Errorf("config %s%s: %s", path, position(data, err), inWords(err))
	}
	return c, c.check(path)
}

// inWords is an error of the JSON decoder without the words of Go.
func inWords(err error) string {
	var kind *json.UnmarshalTypeError
	if !errors.As(err, &kind) {
		return strings.TrimPrefix(err.Error(), "json: ")
	}
	want := map[reflect.Kind]string{reflect.Bool: "true or false", reflect.Int: "a whole number", reflect.String: "a text",
		reflect.Slice: "a list", reflect.Map: "an object", reflect.Struct: "an object"}[kind.Type.Kind()]
	return fmt.Sprintf("%s: it must be %s, not a %s", kind.Field, want, kind.Value)
}

// position says where in the file an error is, as ":line:column".
func position(data []byte, err error) string {
	var offset int64
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	default:
		name := strings.TrimSuffix(strings.TrimPrefix(err.Error(), `json: unknown field "`), `"`)
		offset = int64(bytes.Index(data, []byte(`"`+name+`"`))) + 1
	}
	if offset <= 0 || offset > int64(len(data)) {
		return ""
	}
	before := data[:offset-1]
	line := bytes.Count(before, []byte("\n")) + 1
	return fmt.Sprintf(":%d:%d", line, len(before)-bytes.LastIndexByte(before, '\n'))
}

func (c config) check(path string) error {
	switch c.Mode {
	case "", "ask", "edits", "plan":
	case "auto":
		return fmt.Errorf("config %s: mode: auto is never a default; use --mode auto, or /mode auto in the chat", path)
	default:
		return fmt.Errorf("config %s: mode: %q is none of ask, edits, plan", path, c.Mode)
	}
	if _, err := c.Hooks.hooks(path); err != nil {
		return err
	}
	if s := c.Sandbox; s != nil && s.Profile != "" {
		if _, err := toolrt.ParseProfile(s.Profile); err != nil {
			return fmt.Errorf("config %s: sandbox.profile: %w", path, err)
		}
	}
	for _, choice := range []struct {
		key, value string
		of         []string
	}{
		{"jobs", c.Jobs, []string{"end", "keep"}},
		{"limits.onTimeout", c.Limits.OnTimeout, []string{"stop", "background"}},
		{"notify", c.Notify, []string{tui.NotifyUnfocused, tui.NotifyAlways, tui.NotifyOff}},
	} {
		if choice.value != "" && !slices.Contains(choice.of, choice.value) {
			return fmt.Errorf("config %s: %s: %q is none of %s", path, choice.key, choice.value, strings.Join(choice.of, ", "))
		}
	}
	if err := checkServers(path, c.MCP); err != nil {
		return err
	}
	for key, text := range map[string]string{"limits.timeout": c.Limits.Timeout, "limits.commandTimeout": c.Limits.CommandTimeout} {
		if text == "" {
			continue
		}
		if d, err := time.ParseDuration(text); err != nil || d <= 0 {
			return fmt.Errorf("config %s: %s: %q is no duration such as 2m or 30s", path, key, text)
		}
	}
	return nil
}

// policy is the runtime's policy with the limits set.
func (c config) policy() toolrt.Policy {
	p := toolrt.DefaultPolicy()
	if c.Limits.Concurrency > 0 {
		p.MaxConcurrency = c.Limits.Concurrency
	}
	if d, err := time.ParseDuration(c.Limits.Timeout); err == nil {
		p.Timeout = d
	}
	if d, err := time.ParseDuration(c.Limits.CommandTimeout); err == nil {
		p.CommandTimeout = d
	}
	if s := c.Sandbox; s != nil {
		p.Sandbox, p.SandboxAll = toolrt.Sandbox{Profile: toolrt.Profile(s.Profile), NoNetwork: s.Network != nil && !*s.Network}, s.Always
		p = p.WithDefaults()
	}
	p.DetachAtLimit, p.KeepJobs = c.Limits.OnTimeout == "background", c.Jobs == "keep"
	return p
}

// loop is when an agent goes round in circles.
func (c config) loop() agent.LoopPolicy {
	return agent.LoopPolicy{Off: c.Limits.Repeats < 0, Repeats: c.Limits.Repeats}
}

// setConfig changes one top-level setting in the file at path and leaves every other byte as it is.
func (a *app) setConfig(path, key string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("set %s: %w", key, err)
	}
	return a.changeSettings(path, func(data []byte) ([]byte, error) { return setMember(data, 0, key, text) })
}
