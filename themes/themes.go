// Package themes has parley's colour themes. A theme is data: a JSON file that gives colours to
// named tokens ("text", "muted", "accent", ...). Some come with the program, a person may put more
// into the themes folder of the configuration. What the tokens look like on screen is decided by
// whoever draws; no other package holds a colour.
package themes

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed *.json
var builtin embed.FS

// Schema is the JSON Schema of a theme file.
//
//go:embed schema/theme.json
var Schema string

// Default is the theme used when none is named and the terminal's background is dark or unknown.
const Default = "dark"

// Light is the theme used when none is named and the terminal's background is light.
const Light = "light"

// ErrUnknown says that no theme of the given name exists.
var ErrUnknown = errors.New("no such theme")

// Theme is a set of named colours. The zero value has no colours at all.
type Theme struct {
	// Name is the name it is chosen by: the file's name without ".json".
	Name string `json:"-"`
	// Schema may name the schema, for editors.
	Schema string `json:"$schema,omitempty"`
	// Background is the background the colours were chosen for, "#rrggbb". It is never painted.
	Background string `json:"background"`
	// Tokens maps token names to colours, "#rrggbb". A missing or empty token means the
	// terminal's own colour.
	Tokens map[string]string `json:"tokens"`
}

// Color returns the colour of a token, "" for the terminal's own.
func (t Theme) Color(token string) string { return t.Tokens[token] }

// Load returns the theme of that name: from dir, if it has one, else the one that comes with the
// program. An empty name means [Default], an empty dir none. The error wraps [ErrUnknown] when
// there is no such theme, and names the file and the token when one cannot be used.
func Load(name, dir string) (Theme, error) {
	if name == "" {
		name = Default
	}
	if name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		return Theme{}, fmt.Errorf("theme %q: %w", name, ErrUnknown)
	}
	file := name + ".json"
	if dir != "" {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err == nil {
			return parse(name, filepath.Join(dir, file), data)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return Theme{}, fmt.Errorf("theme %q: %w", name, err)
		}
	}
	data, err := builtin.ReadFile(file)
	if err != nil {
		return Theme{}, fmt.Errorf("theme %q: %w: choose one of %s", name, ErrUnknown, strings.Join(Names(dir), ", "))
	}
	return parse(name, file, data)
}

// Names lists the themes that can be loaded, sorted, those in dir included.
func Names(dir string) []string {
	var names []string
	add := func(entries []fs.DirEntry) {
		for _, e := range entries {
			if name, ok := strings.CutSuffix(e.Name(), ".json"); ok && !e.IsDir() && !strings.HasPrefix(name, ".") {
				names = append(names, name)
			}
		}
	}
	if entries, err := builtin.ReadDir("."); err == nil {
		add(entries)
	}
	if dir != "" {
		if entries, err := os.ReadDir(dir); err == nil {
			add(entries)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// parse reads a theme file. Unknown tokens are refused, so that a misspelt one does not silently
// leave the terminal's colour.
func parse(name, file string, data []byte) (Theme, error) {
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	t := Theme{Name: name}
	if err := dec.Decode(&t); err != nil {
		return Theme{}, fmt.Errorf("theme file %s: %w", file, err)
	}
	if t.Background != "" && !isColor(t.Background) {
		return Theme{}, fmt.Errorf("theme file %s: background %q is not of the form #rrggbb", file, t.Background)
	}
	for token, color := range t.Tokens {
		if !slices.Contains(tokens, token) {
			return Theme{}, fmt.Errorf("theme file %s: unknown token %q", file, token)
		}
		if color != "" && !isColor(color) {
			return Theme{}, fmt.Errorf("theme file %s: token %q: %q is not of the form #rrggbb", file, token, color)
		}
	}
	return t, nil
}

func isColor(s string) bool {
	if len(s) != 7 || s[0] != '#' {
		return false
	}
	for _, c := range s[1:] {
		if !strings.ContainsRune("0123456789abcdefABCDEF", c) {
			return false
		}
	}
	return true
}
