package docs

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Every command of the README's console blocks runs, in their order, on a machine with nothing on
// it but parley.
func TestREADMECommands(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the commands are written for a POSIX shell")
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := consoleCommands(string(readme))
	if len(commands) < 5 {
		t.Fatalf("found only %d commands in the README", len(commands))
	}
	bin, home, dir := t.TempDir(), t.TempDir(), t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(bin, "parley"), ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for _, command := range commands {
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = dir
		cmd.Env = []string{"HOME=" + home, "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "PARLEY_OFFLINE_DELAY=0", "PARLEY_KEYRING=off"}
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			t.Errorf("%s: %v\n%s", command, err, out.String())
		}
		if out.Len() == 0 {
			t.Errorf("%s printed nothing", command)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "notes.txt")); err != nil || !strings.Contains(string(text), "hello") {
		t.Errorf("notes.txt = %q, %v: want hello", text, err)
	}
}

// consoleCommands returns the lines that begin with "$ " in the console blocks.
func consoleCommands(readme string) []string {
	var commands []string
	in := false
	for line := range strings.Lines(readme) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			in = line == "```console"
		case in && strings.HasPrefix(line, "$ "):
			commands = append(commands, line[2:])
		}
	}
	return commands
}
