package themes

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Text can be read at 4.5:1, what only separates or is said elsewhere too at 3:1.
func TestA01Contrast(t *testing.T) {
	for _, name := range Names("") {
		theme, err := Load(name, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, token := range Tokens() {
			color := theme.Color(token)
			back, least := theme.Background, 4.5
			switch token {
			case Selection:
				continue
			case Selected:
				back = theme.Color(Selection)
			case Border:
				least = 3
			}
			if color == "" {
				continue // the terminal's own
			}
			if got := contrast(color, back); got < least {
				t.Errorf("%s: %s %s on %s is %.2f:1, want %.1f:1", name, token, color, back, got, least)
			}
		}
	}
}

// Terminals differ in what they call dark and light: colours hold on the extremes as well.
func TestA01ContrastOnOtherBackgrounds(t *testing.T) {
	for name, backs := range map[string][]string{"dark": {"#000000", "#282c34"}, "light": {"#ffffff", "#f5f0e1"}} {
		theme, err := Load(name, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, back := range backs {
			for _, token := range Tokens() {
				color := theme.Color(token)
				if color == "" || token == Selection || token == Selected {
					continue
				}
				if got := contrast(color, back); got < 3 {
					t.Errorf("%s: %s on %s is %.2f:1", name, token, back, got)
				}
			}
		}
	}
}

// Who needs contrast gets 7:1 for all text.
func TestA01HighContrast(t *testing.T) {
	for _, name := range []string{"high-contrast", "high-contrast-light"} {
		theme, err := Load(name, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, token := range Tokens() {
			least := 7.0
			switch token {
			case Selection, Selected:
				continue
			case Border:
				least = 4.5
			}
			if got := contrast(theme.Color(token), theme.Background); got < least {
				t.Errorf("%s: %s is %.2f:1", name, token, got)
			}
		}
	}
}

// The schema for editors knows just the tokens that there are, and every theme of ours follows it.
func TestSchema(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(Schema))
	if err != nil {
		t.Fatal(err)
	}
	known := doc.(map[string]any)["properties"].(map[string]any)["tokens"].(map[string]any)["properties"].(map[string]any)
	for _, token := range Tokens() {
		if _, ok := known[token]; !ok {
			t.Errorf("the schema has no %s", token)
		}
	}
	if len(known) != len(Tokens()) {
		t.Errorf("the schema has %d tokens, the themes %d", len(known), len(Tokens()))
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("theme.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("theme.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Names("") {
		data, err := builtin.ReadFile(name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		theme, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(theme); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// contrast is the ratio of WCAG 2.
func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (math.Max(x, y) + 0.05) / (math.Min(x, y) + 0.05)
}

func luminance(color string) float64 {
	channel := func(s string) float64 {
		n, _ := strconv.ParseUint(s, 16, 8)
		v := float64(n) / 255
		if v <= 0.03928 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(color[1:3]) + 0.7152*channel(color[3:5]) + 0.0722*channel(color[5:7])
}

func TestThemesAreComplete(t *testing.T) {
	for _, name := range Names("") {
		if name == "mono" {
			continue // has no colours
		}
		theme, err := Load(name, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, token := range Tokens() {
			if _, ok := theme.Tokens[token]; !ok {
				t.Errorf("%s has no %s", name, token)
			}
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("mine.json", `{"background":"#000000","tokens":{"accent":"#ff0000"}}`)
	write("dark.json", `{"tokens":{"accent":"#00ff00"}}`)
	write("typo.json", `{"tokens":{"acent":"#ff0000"}}`)
	write("name.json", `{"tokens":{"accent":"red"}}`)
	write("key.json", `{"colours":{}}`)
	write("back.json", `{"background":"black","tokens":{}}`)

	got := Names(dir)
	if !slices.IsSorted(got) || len(got) != len(Names(""))+5 {
		t.Errorf("names %q", got)
	}
	for _, name := range []string{"back", "dark", "light", "mine", "mono", "typo"} {
		if !slices.Contains(got, name) {
			t.Errorf("%s is not among %q", name, got)
		}
	}
	if theme, err := Load("mine", dir); err != nil || theme.Color(Accent) != "#ff0000" || theme.Color(Muted) != "" {
		t.Errorf("mine: %+v, %v", theme, err)
	}
	if theme, err := Load("dark", dir); err != nil || theme.Color(Accent) != "#00ff00" {
		t.Errorf("a person's own theme does not win: %+v, %v", theme, err)
	}
	if theme, err := Load("", ""); err != nil || theme.Name != Default {
		t.Errorf("default: %+v, %v", theme, err)
	}
	for name, want := range map[string]string{"typo": `"acent"`, "name": `"red"`, "key": "colours", "back": "black", "nothing": "choose one of"} {
		if _, err := Load(name, dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v does not name %s", name, err, want)
		}
	}
	for _, name := range []string{"nothing", "../dark", ".hidden", "a/b"} {
		if _, err := Load(name, dir); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
