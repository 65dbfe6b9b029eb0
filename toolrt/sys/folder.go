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
	"sync"
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
	rel  string // below the outermost folder
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
	writeGuides(&b, inv.Call)
	return toolrt.Output{Text: b.String()}, nil
}

// previewFolder names the files with instructions, of which some may lie above the working folder.
func previewFolder(call *toolrt.Call, _ args, p *toolrt.Preview) {
	root, guides := guidesFor(call)
	if root == nil {
		return
	}
	_ = root.Close()
	for _, g := range guides {
		p.Paths = append(p.Paths, g.path)
	}
}

// writeGuides writes what the files with instructions say, as far as there is room.
func writeGuides(b *strings.Builder, call *toolrt.Call) {
	root, guides := guidesFor(call)
	if root == nil {
		return
	}
	defer func() { _ = root.Close() }()
	room, left := guidesMax, 0
	for _, g := range guides {
		text, err := guideText(root, g.rel)
		if err != nil || strings.TrimSpace(text) == "" {
			continue // it says nothing
		}
		if room -= len(text); room < 0 {
			left++
			continue
		}
		fmt.Fprintf(b, "\nInstructions from %s:\n\n%s\n", g.path, strings.TrimSpace(text))
	}
	if left > 0 {
		fmt.Fprintf(b, "\n[%s with instructions left out: they are too long]\n", plural(left, "file"))
	}
}

// guidesFor finds the instructions that hold in the call's folder, of the outermost folder first:
// from the top of its repository down, or below the home folder, else from the folder alone. Files
// outside, such as links may lead to, those in folders of somebody else and those that a rule keeps
// are left out. The root is the outermost folder, to be closed; nil when it cannot be read.
func guidesFor(call *toolrt.Call) (root *os.Root, guides []guide) {
	dir := ResolvePath(call.Dir, ".")
	top := guideTop(dir)
	mine, err := os.Stat(dir)
	if err != nil {
		return nil, nil
	}
	if root, err = os.OpenRoot(top); err != nil {
		return nil, nil
	}
	for _, below := range foldersTo(top, dir) {
		if its, err := root.Stat(below); err != nil || !sameOwner(its, mine) {
			continue
		}
		for _, name := range guideNames {
			g := guide{path: filepath.Join(top, below, name), rel: filepath.Join(below, name)}
			if info, err := root.Stat(g.rel); err == nil && info.Mode().IsRegular() && (call.Denied == nil || !call.Denied(g.path)) {
				guides = append(guides, g)
				break
			}
		}
	}
	return root, guides
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

// guideText reads one regular file below root. A long one is cut.
func guideText(root *os.Root, name string) (string, error) {
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

// system names the operating system, which stays the same.
var system = sync.OnceValue(func() string {
	name := runtime.GOOS
	if text, err := os.ReadFile("/etc/os-release"); err == nil && name == "linux" {
		for line := range strings.Lines(string(text)) {
			if pretty, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); ok {
				name += fmt.Sprintf(" (%s)", strings.Trim(pretty, `"'`))
			}
		}
	}
	return name + ", " + runtime.GOARCH
})
