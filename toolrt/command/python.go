package command

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// requirementFiles are looked for beside a Python tool, the first one there counts (6.10).
var requirementFiles = []string{"requirements-gptscript.txt", "requirements.txt"}

// isPython reports whether an interpreter line runs python by a bare name, found in PATH.
func isPython(interpreter string) (program string, ok bool) {
	program = firstWord(interpreter)
	rest, ok := strings.CutPrefix(program, "python")
	return program, ok && strings.Trim(rest, ".0123456789") == ""
}

// firstWord is the program of an interpreter line, behind env.
func firstWord(interpreter string) string {
	words := strings.Fields(interpreter)
	if len(words) > 1 && (words[0] == "/usr/bin/env" || words[0] == "/bin/env") {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// Requirements returns the packages that a tool needs before it can run: for Python in pip's format,
// from a file beside it, else given, its metadata; for Node the package.json beside it. "" means that
// it needs none, or is run by neither.
func Requirements(interpreter, toolDir, given string) string {
	if isNode(interpreter) {
		if text, needs := nodePackages(toolDir); needs {
			return text
		}
		return ""
	}
	if _, ok := isPython(interpreter); !ok {
		return ""
	}
	if filepath.IsAbs(toolDir) {
		for _, name := range requirementFiles {
			if text, err := os.ReadFile(filepath.Join(toolDir, name)); err == nil {
				given = string(text)
				break
			}
		}
	}
	return strings.TrimSpace(given)
}

// venv is the virtual environment of a tool with requirements: made once, kept in the cache folder,
// and shared by all tools that need the same.
type venv struct {
	program      string // "python3"
	requirements string
	cache        string // folder of all environments
	installer
}

// installer runs the programs that install packages.
type installer struct {
	toolDir   string
	environ   []string
	confine   []string // nil: not confined
	noNetwork bool
}

// runtimeEnv returns the variables by which the tool's own python is found, nil if it needs none. It
// makes the environment first if that is not there.
func (t *Tool) runtimeEnv(ctx context.Context, environ, confine []string, noNetwork bool) ([]string, error) {
	in := installer{toolDir: t.ToolDir, environ: environ, confine: confine, noNetwork: noNetwork}
	if isNode(t.Interpreter) {
		return t.nodeEnv(ctx, in)
	}
	text := Requirements(t.Interpreter, t.ToolDir, t.Requirements)
	if text == "" || t.Cache == "" {
		return nil, nil
	}
	program, _ := isPython(t.Interpreter)
	v := venv{program: program, requirements: text, cache: filepath.Join(t.Cache, "python"), installer: in}
	dir, err := v.find(ctx)
	if err != nil {
		return nil, fmt.Errorf("install the requirements of tool %s: %w", t.Name, err)
	}
	bin, list := filepath.Join(dir, "bin"), ":"
	if runtime.GOOS == "windows" {
		bin, list = filepath.Join(dir, "Scripts"), ";"
	}
	outer, _ := Lookup(environ, "PATH")
	return []string{"VIRTUAL_ENV=" + dir, "PATH=" + bin + list + outer}, nil
}

// find returns the folder of the environment.
func (v venv) find(ctx context.Context) (string, error) {
	python, err := v.output(ctx, v.program, "-c", "import sys; print(sys.executable, sys.version)")
	if err != nil {
		return "", fmt.Errorf("%s cannot be run: %w", v.program, err)
	}
	pointer := filepath.Join(v.cache, v.key(python))
	if dir, ok := pointed(pointer); ok {
		return dir, nil
	}
	if err := os.MkdirAll(v.cache, 0o700); err != nil {
		return "", err
	}
	if v.confine != nil {
		v.confine = append(slices.Clone(v.confine), v.cache)
	}
	// Its programs hold its path, so it is made where it stays. Of two that are made at once the
	// first one is taken.
	dir := pointer + "-" + strings.ToLower(rand.Text()[:8])
	if err := v.create(ctx, dir); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	switch err := publish(pointer, filepath.Base(dir)); {
	case errors.Is(err, fs.ErrExist):
		if first, ok := pointed(pointer); ok {
			return first, os.RemoveAll(dir)
		}
		return dir, nil
	case err != nil:
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// publish writes a pointer file that must not be there yet.
func publish(pointer, target string) error {
	temp := pointer + "-" + rand.Text() + ".tmp"
	if err := os.WriteFile(temp, []byte(target), 0o600); err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp) }()
	if err := os.Link(temp, pointer); err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Rename(temp, pointer) // a file system without links
}

// pointed returns the folder that a pointer file names, if both are there.
func pointed(pointer string) (string, bool) {
	target, err := os.ReadFile(pointer)
	if err != nil {
		return "", false
	}
	dir := filepath.Join(filepath.Dir(pointer), filepath.Base(string(target)))
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		_ = os.Remove(pointer) // somebody emptied the cache: it is made anew
		return "", false
	}
	return dir, true
}

// key names the environment by what it is made of.
func (v venv) key(python string) string {
	parts := []string{python, v.requirements}
	// Options and paths do not mean the same from every folder.
	if strings.Contains(v.requirements, "/") || strings.HasPrefix(v.requirements, "-") || strings.Contains(v.requirements, "\n-") {
		parts = append(parts, v.toolDir)
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:12])
}

// create makes the environment and installs the requirements. The pip that is there does it where it
// can: putting another one into each environment takes far longer than most installs.
func (v venv) create(ctx context.Context, dir string) error {
	python := filepath.Join(dir, "bin", "python")
	if runtime.GOOS == "windows" {
		python = filepath.Join(dir, "Scripts", "python.exe")
	}
	build, install := []string{"-m", "venv", dir}, []string{"-m", "pip"}
	installer := python
	if v.hasPip(ctx) {
		build = append(build, "--without-pip")
		installer, install = v.program, append(install, "--python", python)
	}
	if _, err := v.output(ctx, v.program, build...); err != nil {
		return fmt.Errorf("%s -m venv: %w", v.program, err)
	}
	list := filepath.Join(dir, "requirements.txt")
	if err := os.WriteFile(list, []byte(v.requirements+"\n"), 0o600); err != nil {
		return err
	}
	install = append(install, "install", "--disable-pip-version-check", "--no-input", "-q", "-r", list)
	if _, err := v.output(ctx, installer, install...); err != nil {
		return fmt.Errorf("pip install: %w", err)
	}
	return nil
}

// hasPip reports whether python has a pip that installs into another environment (22.3).
func (v venv) hasPip(ctx context.Context) bool {
	text, err := v.output(ctx, v.program, "-m", "pip", "--version") // "pip 24.0 from …"
	if err != nil {
		return false
	}
	var major, minor int
	n, _ := fmt.Sscanf(text, "pip %d.%d", &major, &minor)
	return n == 2 && (major > 22 || major == 22 && minor >= 3)
}

// output runs a program beside the tool and returns what it printed to stdout. The error of one that
// fails holds the end of all that it printed.
func (in installer) output(ctx context.Context, program string, args ...string) (string, error) {
	if !strings.ContainsAny(program, `/\`) {
		program = findIn(program, in.environ)
	}
	var out strings.Builder
	var all excerpt
	res, err := Run(ctx, Process{Path: program, Args: args, Dir: in.toolDir, Env: in.environ, Confine: in.confine, NoNetwork: in.noNetwork,
		Stdout: writerFunc(func(b []byte) { out.Write(b[:min(len(b), 4096)]); all.write(b) }),
		Stderr: writerFunc(all.write)})
	switch {
	case err != nil:
		return "", err
	case res.Code != 0:
		return "", fmt.Errorf("%s\n%s", res.State, lastLines(all.String()))
	}
	return out.String(), nil
}

// lastLines is the end of what a program printed: there it says what went wrong.
func lastLines(text string) string {
	const most = 8
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}

// findIn looks a program up in PATH of an environment. It returns name itself if nothing is found, so
// that the start reports it.
func findIn(name string, environ []string) string {
	if runtime.GOOS == "windows" {
		return findProgram(name, environ)
	}
	list, _ := Lookup(environ, "PATH")
	for dir := range strings.SplitSeq(list, ":") {
		file := path.Join(dir, name)
		if info, err := os.Stat(file); path.IsAbs(dir) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file
		}
	}
	return name
}
