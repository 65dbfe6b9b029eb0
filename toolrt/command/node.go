package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// nodePrograms are the interpreters whose tools may have packages in a package.json (6.10).
var nodePrograms = []string{"node", "npm", "npx"}

// installedMark is the file in node_modules that names what was installed there.
const installedMark = ".parley-installed"

// lockStep is the rest between two tries to get the lock of an installation.
const lockStep = 50 * time.Millisecond

// isNode reports whether an interpreter line runs one of Node's programs by a bare name.
func isNode(interpreter string) bool { return slices.Contains(nodePrograms, firstWord(interpreter)) }

// nodePackages returns the package.json beside a tool, with its lock file, and whether it asks for
// packages. text is "" when there is none.
func nodePackages(toolDir string) (text string, needs bool) {
	if !filepath.IsAbs(toolDir) {
		return "", false
	}
	data, err := os.ReadFile(filepath.Join(toolDir, "package.json"))
	if err != nil {
		return "", false
	}
	var project struct {
		Dependencies, DevDependencies, OptionalDependencies, PeerDependencies map[string]any
	}
	_ = json.Unmarshal(data, &project) // npm says what is wrong with it
	lock, _ := os.ReadFile(filepath.Join(toolDir, "package-lock.json"))
	n := len(project.Dependencies) + len(project.DevDependencies) + len(project.OptionalDependencies) + len(project.PeerDependencies)
	return strings.TrimSpace(string(data) + string(lock)), n > 0
}

// nodeEnv returns the variables of a tool with a package.json, whose packages it installs first:
// beside it, since Node looks for them there. A node_modules that somebody else made is left alone.
func (t *Tool) nodeEnv(ctx context.Context, in installer) ([]string, error) {
	text, needs := nodePackages(t.ToolDir)
	if text == "" {
		return nil, nil
	}
	if needs && t.Cache != "" {
		if err := installNode(ctx, in, filepath.Join(t.Cache, "node"), text); err != nil {
			return nil, fmt.Errorf("install the packages of tool %s: %w", t.Name, err)
		}
	}
	return []string{"GPTSCRIPT_TMPDIR=" + t.ToolDir}, nil
}

func installNode(ctx context.Context, in installer, cache, text string) error {
	sum := sha256.Sum256([]byte(text))
	want := hex.EncodeToString(sum[:])
	modules := filepath.Join(in.toolDir, "node_modules")
	mark := filepath.Join(modules, installedMark)
	installed := func() bool {
		have, err := os.ReadFile(mark)
		if errors.Is(err, fs.ErrNotExist) {
			_, err := os.Stat(modules)
			return err == nil // somebody else's
		}
		return err == nil && string(have) == want
	}
	if installed() {
		return nil
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return err
	}
	place := sha256.Sum256([]byte(in.toolDir))
	lock := flock.New(filepath.Join(cache, hex.EncodeToString(place[:8])+".lock"), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockStep); err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	if installed() {
		return nil // by another parley meanwhile
	}
	if in.confine != nil {
		in.confine = append(slices.Clone(in.confine), cache, in.toolDir)
	}
	if err := os.RemoveAll(mark); err != nil {
		return err
	}
	args := []string{"install", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error", "--cache", filepath.Join(cache, "npm")}
	if _, err := os.Stat(filepath.Join(in.toolDir, "package-lock.json")); err != nil {
		args = append(args, "--no-package-lock") // what rules bind to stays the same
	}
	if _, err := in.output(ctx, "npm", args...); err != nil {
		return errors.Join(fmt.Errorf("npm install: %w", err), os.RemoveAll(modules))
	}
	if err := os.MkdirAll(modules, 0o700); err != nil {
		return err
	}
	return os.WriteFile(mark, []byte(want), 0o600)
}
