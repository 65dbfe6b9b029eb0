package sys

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"parley/toolrt"
)

// The bounds of what a folder's instructions may hold, in bytes.
const (
	guideMax  = 32 << 10 // of one file
	guidesMax = 96 << 10 // of all
)

// guideNames are the names of files that tell agents how to work in a folder, best first: one of
// them counts.
var guideNames = []string{"AGENTS.md", "CLAUDE.md"}

// guide is one file with instructions.
type guide struct {
	path string // absolute, as it is named
	text string
}

// describeFolder is sys.context.folder: where an agent is and how to work there. It gives the same
// bytes as long as nothing of that has changed, so that a provider's cache of the request holds.
func describeFolder(_ context.Context, inv *toolrt.Invocation, _ args) (toolrt.Output, error) {
	dir := inv.Call.Dir
	var b strings.Builder
	fmt.Fprintf(&b, "Working folder: %s\nSystem: %s\nShell of commands: %s\nToday: %s\n",
		dir, system(), shell(), time.Now().Format("Monday, 2 January 2006"))
	if state := gitState(dir); state != "" {
		fmt.Fprintf(&b, "Git: %s\n", state)
	}
	guides, left := guidesFor(inv.Call)
	for _, g := range guides {
		fmt.Fprintf(&b, "\nInstructions from %s:\n\n%s\n", g.path, strings.TrimSpace(g.text))
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n[%s with instructions left out: they are too long]\n", plural(left, "file"))
	}
	return toolrt.Output{Text: b.String()}, nil
}

// previewFolder names the files with instructions, of which some may lie above the working folder.
func previewFolder(call *toolrt.Call, _ args, p *toolrt.Preview) {
	guides, _ := guidesFor(call)
	for _, g := range guides {
		p.Paths = append(p.Paths, g.path)
	}
}

// guidesFor reads the instructions that hold in the call's folder, of the outermost folder first:
// from the top of its repository down, or below the home folder, else from the folder alone. Files
// outside, such as links may lead to, those in folders of somebody else and those that a rule keeps
// are left out. left counts those that found no room.
func guidesFor(call *toolrt.Call) (guides []guide, left int) {
	dir := ResolvePath(call.Dir, ".")
	top := guideTop(dir)
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, 0
	}
	defer func() { _ = root.Close() }()
	mine, err := os.Stat(dir)
	if err != nil {
		return nil, 0
	}
	room := guidesMax
	for _, below := range foldersTo(top, dir) {
		if its, err := root.Stat(below); err != nil || !sameOwner(its, mine) {
			continue
		}
		for _, name := range guideNames {
			rel := filepath.Join(below, name)
			path := filepath.Join(top, rel)
			if call.Denied != nil && call.Denied(path) {
				continue
			}
			text, err := guideText(root, rel)
			if err != nil {
				continue
			}
			if room -= len(text); room < 0 {
				left++
			} else if strings.TrimSpace(text) != "" {
				guides = append(guides, guide{path, text})
			}
			break
		}
	}
	return guides, left
}

// guideTop returns the outermost folder whose instructions hold in dir.
func guideTop(dir string) string {
	if top, ok := repository(dir); ok {
		return top
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return dir
	}
	rel, err := filepath.Rel(ResolvePath(home, "."), dir)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return dir // anybody may put files above it
	}
	return filepath.Join(ResolvePath(home, "."), strings.Split(rel, string(filepath.Separator))[0])
}

// foldersTo lists the folders from top down to dir, relative to top.
func foldersTo(top, dir string) []string {
	folders := []string{"."}
	rel, err := filepath.Rel(top, dir)
	if err != nil || rel == "." {
		return folders
	}
	for i, c := range rel {
		if c == filepath.Separator {
			folders = append(folders, rel[:i])
		}
	}
	return append(folders, rel)
}

// guideText reads one file below root. A long one is cut.
func guideText(root *os.Root, name string) (string, error) {
	if info, err := root.Stat(name); err != nil {
		return "", err
	} else if !info.Mode().IsRegular() {
		return "", errNotRegular
	}
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(f, guideMax+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	if len(text) <= guideMax {
		return string(text), nil
	}
	end := guideMax
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return string(text[:end]) + "\n[the rest of the file is left out]", nil
}

// shell is what sys.exec runs commands with.
func shell() string {
	if runtime.GOOS == "windows" {
		return "cmd.exe"
	}
	return "/bin/sh"
}

// system names the operating system.
func system() string {
	name := runtime.GOOS
	if text, err := os.ReadFile("/etc/os-release"); err == nil && name == "linux" {
		for line := range strings.Lines(string(text)) {
			if pretty, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); ok {
				name += fmt.Sprintf(" (%s)", strings.Trim(pretty, `"'`))
			}
		}
	}
	return name + ", " + runtime.GOARCH
}
