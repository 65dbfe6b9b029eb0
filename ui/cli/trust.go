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
	"slices"

	"parley/toolrt/approval"
	"parley/ui/tui/text"
)

// trustFile lists the hashes of project settings that the person has trusted.
func (a *app) trustFile() string {
	if a.paths.data == "" {
		return ""
	}
	return filepath.Join(a.paths.data, "trusted.json")
}

// trusted reports whether a project's settings with that content hash were trusted.
func (a *app) trusted(hash string) bool {
	hashes, err := a.trustedHashes()
	return err == nil && slices.Contains(hashes, hash)
}

func (a *app) trustedHashes() ([]string, error) {
	data, err := os.ReadFile(a.trustFile())
	if errors.Is(err, fs.ErrNotExist) || a.trustFile() == "" {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read trusted projects: %w", err)
	}
	var hashes []string
	if err := json.Unmarshal(data, &hashes); err != nil {
		return nil, fmt.Errorf("read trusted projects %s: %w", a.trustFile(), err)
	}
	return hashes, nil
}

// settingsOf is the settings file that rules of a scope stand in.
func (a *app) settingsOf(scope approval.Scope) (string, error) {
	path := a.paths.config
	if scope == approval.Project {
		path = a.paths.project()
	}
	if path == "" {
		return "", errors.New("there is no home folder to keep it in")
	}
	return path, nil
}

// saveRule keeps a rule in the project's or the user's settings.
func (a *app) saveRule(_ context.Context, r approval.Rule) error {
	path, err := a.settingsOf(r.Scope)
	if err != nil {
		return err
	}
	return a.changeRules(path, r.Scope, func(data []byte) ([]byte, error) { return addRule(data, r.Effect.String(), r.String()) })
}

// forgetRule takes a rule out of the project's or the user's settings.
func (a *app) forgetRule(_ context.Context, r approval.Rule) error {
	path, err := a.settingsOf(r.Scope)
	if err != nil {
		return err
	}
	return a.changeRules(path, r.Scope, func(data []byte) ([]byte, error) {
		return removeRule(data, r.Effect.String(), func(text string) bool {
			old, err := approval.ParseRule(r.Effect, text, r.Scope)
			return err == nil && old.String() == r.String()
		})
	})
}

// changeRules changes the rules in a settings file. A project file that parley itself changed at the
// person's word stays as trusted as it was, or is trusted if it is new.
func (a *app) changeRules(path string, scope approval.Scope, edit func(data []byte) ([]byte, error)) error {
	trusted := false
	err := a.changeSettings(path, func(data []byte) ([]byte, error) {
		before, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		trusted = len(before) == 0 || a.trusted(approval.FileHash(before))
		return edit(data)
	})
	if err != nil || scope != approval.Project || !trusted {
		return err
	}
	after, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return a.trust(approval.FileHash(after))
}

func (a *app) trust(hash string) error {
	if a.trustFile() == "" {
		return nil
	}
	hashes, err := a.trustedHashes()
	if err != nil {
		return err
	}
	data, err := json.Marshal(append(hashes, hash))
	if err != nil {
		return fmt.Errorf("keep trusted projects: %w", err)
	}
	return writeFile(a.trustFile(), data)
}

// trustProject prints the rules of the project's settings and trusts them as they are.
func trustProject(a *app) error {
	data, err := os.ReadFile(a.paths.project())
	if err != nil {
		return fmt.Errorf("read the project's settings: %w", err)
	}
	hash := approval.FileHash(data)
	rules, errs := approval.Load(a.paths.project(), "", func(h string) bool { return h == hash })
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	for _, r := range rules {
		fmt.Fprintf(a.io.out, "%s %s\n", r.Effect, text.Line(r.String()))
	}
	if err := a.printHooks(); err != nil {
		return err
	}
	servers, err := readServers(a.paths.project(), data)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		fmt.Fprintf(a.io.out, "mcp %s: %s\n", name, text.Line(servers[name].Line()))
	}
	if a.trustFile() == "" || a.notSaved != "" {
		return fmt.Errorf("this cannot be kept: %s", firstSet(a.notSaved, "there is no home folder"))
	}
	if a.trusted(hash) {
		return nil
	}
	return a.trust(hash)
}
