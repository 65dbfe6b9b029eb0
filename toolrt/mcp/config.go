package mcp

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Config says how a server is reached (8.3). With a command alone it is spoken to over stdin and
// stdout; with a URL over HTTP, and a command beside it is started first.
type Config struct {
	Command string
	Args    []string
	Env     []string // K=V, over the environment of the session
	URL     string
	Headers []string // K=V, sent to the URL
	// AllowedTools names the tools that are offered; nil or one that is "*" means all.
	AllowedTools []string
	// DisableInstruction leaves out what the server says of how to use it.
	DisableInstruction bool
	// StartTimeout is how long the server may take until it answers; zero means 30 s.
	StartTimeout time.Duration
}

// wireConfig is the form in files.
type wireConfig struct {
	Command            string   `json:"command"`
	Args               []string `json:"args"`
	Env                pairList `json:"env"`
	Server             string   `json:"server"`
	URL                string   `json:"url"`
	BaseURL            string   `json:"baseURL"`
	Headers            pairList `json:"headers"`
	Scope              string   `json:"scope"` // of credentials; nothing here depends on it
	AllowedTools       []string `json:"allowedTools"`
	DisableInstruction bool     `json:"disableInstruction"`
	StartTimeout       string   `json:"startTimeout"`
}

// pairList reads a list of K=V, or an object, which many existing files have (Q23).
type pairList []string

func (p *pairList) UnmarshalJSON(data []byte) error {
	var list []string
	if err := json.Unmarshal(data, &list); err == nil {
		for _, kv := range list {
			if key, _, ok := strings.Cut(kv, "="); !ok || key == "" {
				return fmt.Errorf("%q is not of the form NAME=value", kv)
			}
		}
		*p = list
		return nil
	}
	var object map[string]any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&object); err != nil {
		return errors.New("it must be a list of NAME=value or an object")
	}
	*p = nil
	for _, key := range slices.Sorted(maps.Keys(object)) {
		*p = append(*p, key+"="+fmt.Sprint(object[key]))
	}
	return nil
}

// UnmarshalJSON reads a server's object. Keys that are not known are passed over: files are shared
// with other programs.
func (c *Config) UnmarshalJSON(data []byte) error {
	var w wireConfig
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*c = Config{Command: w.Command, Args: w.Args, Env: w.Env, Headers: w.Headers, AllowedTools: w.AllowedTools, DisableInstruction: w.DisableInstruction}
	for _, url := range []string{w.BaseURL, w.Server, w.URL} {
		if c.URL == "" {
			c.URL = url
		}
	}
	if w.StartTimeout != "" {
		d, err := time.ParseDuration(w.StartTimeout)
		if err != nil || d <= 0 {
			return fmt.Errorf("startTimeout: %q is no duration such as 30s", w.StartTimeout)
		}
		c.StartTimeout = d
	}
	return nil
}

// Check says what is wrong with a configuration, nil if nothing is.
func (c Config) Check() error {
	switch {
	case c.Command == "" && c.URL == "":
		return errors.New("it has neither a command nor a url")
	case c.URL != "" && !strings.HasPrefix(c.URL, "http://") && !strings.HasPrefix(c.URL, "https://"):
		return fmt.Errorf("its url %q is not http or https", c.URL)
	}
	return nil
}

// Ref is what the body of a "#!mcp" tool names: a server of its own, or one of the settings.
type Ref struct {
	// Name is the server's name in the body, or in the settings; "" when the body has none.
	Name string
	// Settings says that Name is a server of the settings; Config is empty then.
	Settings bool
	Config   Config
}

// BodyPrefix begins the body of a tool that is a server.
const BodyPrefix = "#!mcp"

// SettingsBody is the body of a tool that stands for a server of the settings.
func SettingsBody(name string) string {
	text, _ := json.Marshal(map[string]string{"settings": name}) // texts
	return BodyPrefix + "\n" + string(text)
}

// ParseBody reads the body of a "#!mcp" tool: "mcpServers" with exactly one entry, or the server's
// object alone.
func ParseBody(body string) (Ref, error) {
	text, ok := strings.CutPrefix(body, BodyPrefix)
	if !ok {
		return Ref{}, fmt.Errorf("the body does not begin with %s", BodyPrefix)
	}
	var outer struct {
		Servers  map[string]json.RawMessage `json:"mcpServers"`
		Settings string                     `json:"settings"`
	}
	dec := json.NewDecoder(strings.NewReader(text))
	var raw json.RawMessage
	err := dec.Decode(&raw)
	if err == nil {
		if _, tail := dec.Token(); tail != io.EOF {
			err = errors.New("there is more after the object")
		}
	}
	if err == nil {
		err = json.Unmarshal(raw, &outer)
	}
	if err != nil {
		return Ref{}, fmt.Errorf("failed to parse MCP configuration: %w", err)
	}
	ref := Ref{Name: outer.Settings, Settings: outer.Settings != ""}
	switch {
	case ref.Settings:
		return ref, nil
	case len(outer.Servers) > 1:
		return Ref{}, errors.New("only a single MCP server definition is supported")
	}
	for name, server := range outer.Servers {
		ref.Name, raw = name, server
	}
	if err := json.Unmarshal(raw, &ref.Config); err != nil {
		return Ref{}, fmt.Errorf("failed to parse MCP configuration: %w", err)
	}
	if err := ref.Config.Check(); err != nil {
		return Ref{}, fmt.Errorf("no MCP server configuration found in tool instructions: %w", err)
	}
	return ref, nil
}

// Key names the connection: configurations that differ in the allowed tools only share it.
func (c Config) Key() string {
	c.AllowedTools, c.DisableInstruction = nil, false
	text, _ := json.Marshal(c) // texts
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Line is the server in one line for people: its command, or its address without secrets.
func (c Config) Line() string {
	var parts []string
	if c.Command != "" {
		parts = append(parts, strings.Join(append([]string{c.Command}, c.Args...), " "))
	}
	if c.URL != "" {
		parts = append(parts, redactURL(c.URL))
	}
	return strings.Join(parts, ", ")
}

// Secrets are the values of variables and headers whose names say that they are secret.
func (c Config) Secrets() map[string]string {
	secrets := map[string]string{}
	for _, kv := range slices.Concat(c.Env, c.Headers) {
		key, value, _ := strings.Cut(kv, "=")
		upper := strings.ToUpper(key)
		for _, word := range []string{"TOKEN", "KEY", "SECRET", "PASSWORD", "PASSWD", "AUTHORIZATION", "COOKIE"} {
			if strings.Contains(upper, word) && value != "" {
				if _, token, ok := strings.Cut(value, " "); ok && upper == "AUTHORIZATION" {
					value = token // "Bearer …"
				}
				secrets[key] = value
				break
			}
		}
	}
	return secrets
}
