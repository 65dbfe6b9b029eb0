package keymap

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/keys.md anew")

const docHead = `# Keys

Every key of parley, made from the table that the screen itself uses. ` + "`?`" + ` on an empty line shows the same page with your own changes.

## Your own keys

` + "`keys.json`" + ` beside the config file (` + "`parley config path`" + ` says where that is) gives actions other keys. It is a JSON object from the
name of an action to the list of its keys; an empty list unbinds it:

` + "```json" + `
{
  "palette": ["ctrl+k"],
  "mode": [],
  "chat.open": ["o", "f3"]
}
` + "```" + `

A key is a letter or sign (` + "`y`, `G`, `?`" + `), or a name (` + "`enter`, `tab`, `esc`, `space`, `up`, `pgdown`, `home`, `f1`" + `), with ` + "`ctrl+`, `alt+`, `shift+`" + `
before it in any order. The file replaces the keys of the actions that it names and leaves all others as they are. Faults are told at the start
with their place, all of them: an action that does not exist, and a key that would mean two things in one context.

Keys that are marked *fixed* belong to questions and cannot be changed: everybody must be able to rely on what ` + "`y` and `n`" + ` mean. Enter, Space
and digits answer no authorization, whatever is bound to them. Left free on purpose, for you and for tmux: Ctrl+S, Ctrl+Q, Ctrl+\, and F-keys.

Where a terminal cannot tell Shift+Enter from Enter, use Ctrl+J or ` + "`\\`" + ` and Enter for a new line. tmux tells them apart with
` + "`set -g extended-keys on`" + `.
`

// notes say when the keys of a context count.
var notes = map[Context]string{
	Composer:   "While you write.",
	Global:     "Wherever the pane with the focus has no meaning of its own for the key.",
	Chat:       "After Tab from an empty line.",
	Panel:      "After Ctrl+T.",
	Approval:   "While a question about a call takes keys: the line is empty and no key came for half a second, or after Tab.",
	Batch:      "After `b` in a question.",
	Credential: "While a tool asks for values.",
	Resume:     "When a call was running as the last process ended.",
	Picker:     "In the list of sessions.",
	Timeline:   "After Esc Esc on an empty line.",
	Lists:      "In every other list.",
	Leader:     "After Ctrl+X; the menu shows after a moment.",
	Edit:       "In every line that one writes in.",
}

// TestKeysDoc holds docs/keys.md to the table; -update writes it anew.
func TestKeysDoc(t *testing.T) {
	var b strings.Builder
	b.WriteString(docHead)
	m := Default()
	for _, c := range m.Contexts() {
		note, ok := notes[c]
		if !ok {
			t.Errorf("context %q has no note", c)
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| key | does | action |\n|---|---|---|\n", c, note)
		for _, row := range m.Bindings(c) {
			var keys []string
			for _, k := range row.Keys() {
				keys = append(keys, "`"+strings.ReplaceAll(Name(k), "|", `\|`)+"`")
			}
			action := "`" + string(row.Action) + "`"
			if row.Fixed {
				action = "*fixed*"
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.Join(keys, " "), strings.ReplaceAll(row.Help, "|", `\|`), action)
		}
	}
	path := filepath.Join("..", "..", "..", "docs", "keys.md")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != b.String() {
		t.Error("docs/keys.md is not what the table says: go test ./ui/tui/keymap -run TestKeysDoc -update")
	}
}
