package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"parley/agent"
	"parley/toolrt/approval"
	"parley/ui/tui/text"
)

// hooksConfig are commands of the person's own around calls.
type hooksConfig struct {
	Before []hookConfig `json:"before,omitempty"`
	After  []hookConfig `json:"after,omitempty"`
}

type hookConfig struct {
	Tool    string `json:"tool,omitempty"` // a name, or its beginning with * behind; every tool if empty
	Command string `json:"command"`
	Timeout string `json:"timeout,omitempty"` // 10s if empty
}

// hooks are those of a config file, which name says in errors.
func (h *hooksConfig) hooks(name string) (agent.Hooks, error) {
	if h == nil {
		return agent.Hooks{}, nil
	}
	list := func(key string, configs []hookConfig) ([]agent.Hook, error) {
		var hooks []agent.Hook
		for i, c := range configs {
			hook := agent.Hook{Tool: c.Tool, Command: c.Command}
			if strings.TrimSpace(c.Command) == "" {
				return nil, fmt.Errorf("config %s: hooks.%s[%d].command: it is empty", name, key, i)
			}
			if strings.Contains(strings.TrimSuffix(c.Tool, "*"), "*") {
				return nil, fmt.Errorf("config %s: hooks.%s[%d].tool: %q: a * may only stand at the end", name, key, i, c.Tool)
			}
			if c.Timeout != "" {
				d, err := time.ParseDuration(c.Timeout)
				if err != nil || d <= 0 {
					return nil, fmt.Errorf("config %s: hooks.%s[%d].timeout: %q is no duration such as 10s", name, key, i, c.Timeout)
				}
				hook.Timeout = d
			}
			hooks = append(hooks, hook)
		}
		return hooks, nil
	}
	before, err := list("before", h.Before)
	if err != nil {
		return agent.Hooks{}, err
	}
	after, err := list("after", h.After)
	return agent.Hooks{Before: before, After: after}, err
}

// projectHooks reads the hooks of the project's settings and the hash that they are trusted by.
func (a *app) projectHooks(file string) (hooks agent.Hooks, hash string, err error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return agent.Hooks{}, "", nil
	}
	if err != nil {
		return agent.Hooks{}, "", fmt.Errorf("read the project's settings: %w", err)
	}
	var c struct {
		Hooks *hooksConfig `json:"hooks"`
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return agent.Hooks{}, "", fmt.Errorf("read hooks of %s: %s", file, inWords(err))
	}
	hooks, err = c.Hooks.hooks(file)
	return hooks, approval.FileHash(data), err
}

// hooks are the person's and, as far as it is trusted, the project's (A4).
func (a *app) hooks(project string) (agent.Hooks, error) {
	own, err := a.cfg.Hooks.hooks(a.paths.config)
	if err != nil {
		return own, usageError{err}
	}
	theirs, hash, err := a.projectHooks(project)
	if err != nil {
		return own, usageError{err}
	}
	if len(theirs.Before)+len(theirs.After) == 0 {
		return own, nil
	}
	if !a.trusted(hash) {
		a.tell(fmt.Sprintf("hooks of %s do not run until you trust it: parley config trust", project))
		return own, nil
	}
	return agent.Hooks{Before: append(own.Before, theirs.Before...), After: append(own.After, theirs.After...)}, nil
}

// printHooks lists the project's hooks, which run once it is trusted.
func (a *app) printHooks() error {
	hooks, _, err := a.projectHooks(a.paths.project())
	if err != nil {
		return err
	}
	for _, l := range []struct {
		when  string
		hooks []agent.Hook
	}{{"before", hooks.Before}, {"after", hooks.After}} {
		for _, h := range l.hooks {
			fmt.Fprintf(a.io.out, "hook %s %s: %s\n", l.when, text.Line(firstSet(h.Tool, "every call")), text.Strict(h.Command))
		}
	}
	return nil
}
