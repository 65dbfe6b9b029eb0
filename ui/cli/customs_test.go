package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOwnCommandFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"review.md":   "---\ndescription: Look at a file\nargument-hint: FILE\n---\nReview $1 with care.\n",
		"plain.md":    "Say hello\nto everyone\n",
		"empty.md":    "---\ndescription: x\n---\n\n",
		"open.md":     "---\ndescription: x\n",
		"bad.md":      "---\ndescription: [\n---\nx\n",
		"Big Name.md": "x",
		"huge.md":     strings.Repeat("x", maxCommandBytes+1),
		"notes.txt":   "no command",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := readCommands(dir)
	var got []string
	for _, c := range list {
		got = append(got, c.Name+"|"+c.Help+"|"+c.Args+"|"+c.Text)
	}
	if want := "plain|Say hello|[text]|Say hello\nto everyone, review|Look at a file|FILE|Review $1 with care."; strings.Join(got, ", ") != want {
		t.Errorf("got %q", got)
	}
	for _, part := range []string{"empty.md: it has no text", "open.md: its front matter is not closed", "bad.md: its front matter cannot be read", "Big Name.md: a command's name", "huge.md is no file of at most 64 KB"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %v", part, err)
		}
	}
	if list, err := readCommands(filepath.Join(dir, "nowhere")); list != nil || err != nil {
		t.Errorf("got %v, %v", list, err)
	}
}
