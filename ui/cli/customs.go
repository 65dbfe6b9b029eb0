package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"parley/agent/program"
	"parley/ui/tui"
)

// Bounds of the person's own commands: more than this is not meant as some.
const (
	maxCommands     = 200
	maxCommandBytes = 64 << 10
)

// commandName is what a command may be called.
var commandName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

// CustomCommands reads the Markdown files of the commands folder beside the config file, and the tools
// of the program that say of themselves that they are commands (tui.Customized).
func (c *screenChat) CustomCommands(ctx context.Context) ([]tui.CustomCommand, error) {
	own, err := readCommands(c.a.paths.commands())
	prg, loadErr := c.program(ctx)
	if loadErr != nil {
		return own, err // the program's faults are told when it runs
	}
	return append(own, toolCommands(prg)...), err
}

// readCommands reads the commands of a folder; without the folder there are none.
func readCommands(dir string) ([]tui.CustomCommand, error) {
	if dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []tui.CustomCommand
	errs := []error{err}
	for _, e := range entries {
		name, isCommand := strings.CutSuffix(e.Name(), ".md")
		if !isCommand {
			continue
		}
		if len(out) == maxCommands {
			errs = append(errs, fmt.Errorf("%s holds more than %d commands", dir, maxCommands))
			break
		}
		c, err := readCommand(filepath.Join(dir, e.Name()), name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out = append(out, c)
	}
	return out, errors.Join(errs...)
}

func readCommand(path, name string) (tui.CustomCommand, error) {
	if !commandName.MatchString(name) {
		return tui.CustomCommand{}, fmt.Errorf("%s: a command's name has small letters, digits, - and _ only", path)
	}
	if info, err := os.Stat(path); err != nil {
		return tui.CustomCommand{}, fmt.Errorf("read a command: %w", err)
	} else if !info.Mode().IsRegular() || info.Size() > maxCommandBytes {
		return tui.CustomCommand{}, fmt.Errorf("%s is no file of at most %d KB", path, maxCommandBytes>>10)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return tui.CustomCommand{}, fmt.Errorf("read a command: %w", err)
	}
	c, err := commandOf(name, strings.ToValidUTF8(string(data), "\uFFFD"))
	if err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// commandOf reads a command's front matter, in YAML between lines of three dashes, and its text.
func commandOf(name, text string) (tui.CustomCommand, error) {
	c := tui.CustomCommand{Name: name, Args: "[text]"}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		head, body, closed := strings.Cut(rest, "\n---\n")
		if !closed {
			return c, errors.New("its front matter is not closed by a line of three dashes")
		}
		var front struct {
			Description string `yaml:"description"`
			Hint        string `yaml:"argument-hint"`
		}
		if err := yaml.Unmarshal([]byte(head), &front); err != nil {
			return c, fmt.Errorf("its front matter cannot be read: %w", err)
		}
		c.Help, text = strings.TrimSpace(front.Description), body
		if front.Hint != "" {
			c.Args = strings.TrimSpace(front.Hint)
		}
	}
	c.Text = strings.TrimSpace(text)
	if c.Text == "" {
		return c, errors.New("it has no text")
	}
	if c.Help == "" {
		c.Help, _, _ = strings.Cut(c.Text, "\n")
	}
	return c, nil
}

// toolCommands are the tools of a program with the word "command" in their meta data.
func toolCommands(prg *program.Program) []tui.CustomCommand {
	var out []tui.CustomCommand
	for _, id := range slices.Sorted(maps.Keys(prg.ToolSet)) {
		t := prg.ToolSet[id]
		name := strings.ReplaceAll(strings.ToLower(t.Name), " ", "-")
		if !t.OnMenu() || !commandName.MatchString(name) {
			continue
		}
		c := tui.CustomCommand{Name: name, Help: t.Description, Tool: t.ID}
		var schema struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if json.Unmarshal(t.Schema(), &schema) == nil {
			params := slices.Sorted(maps.Keys(schema.Properties))
			switch len(params) {
			case 0:
			case 1:
				c.Param, c.Args = params[0], "["+params[0]+"]"
			default:
				c.Args = "{" + strings.Join(params, ", ") + "}"
			}
		}
		out = append(out, c)
	}
	return out
}
