package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// paths are the places where parley keeps things, by the XDG rules.
type paths struct {
	data   string // database, outputs, leases, workspaces; "" when there is no place
	state  string // log and rescue files; "" when there is no place
	config string // config file
	dir    string // working folder, absolute
}

// findPaths works out the places. A home that is missing leaves them empty: nothing is kept then.
func findPaths(getenv func(string) string, dir string) paths {
	home := getenv("HOME")
	if home == "" {
		home, _ = os.UserHomeDir() // Windows has it elsewhere
	}
	place := func(variable, fallback string) string {
		if base := getenv(variable); filepath.IsAbs(base) {
			return filepath.Join(base, "parley")
		}
		if home == "" {
			return ""
		}
		return filepath.Join(home, fallback, "parley")
	}
	p := paths{
		data:  place("XDG_DATA_HOME", filepath.Join(".local", "share")),
		state: place("XDG_STATE_HOME", filepath.Join(".local", "state")),
		dir:   dir,
	}
	if conf := place("XDG_CONFIG_HOME", ".config"); conf != "" {
		p.config = filepath.Join(conf, "config.json")
	}
	return p
}

// project is the project's own settings file.
func (p paths) project() string { return filepath.Join(p.dir, ".parley", "config.json") }

// themes is the folder of the user's own themes.
func (p paths) themes() string { return p.besideConfig("themes") }

// commands is the folder of the person's own commands.
func (p paths) commands() string { return p.besideConfig("commands") }

// besideConfig is a folder beside the config file, "" where there is no place for one.
func (p paths) besideConfig(name string) string {
	if p.config == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(p.config), name)
}

// workingDir is the folder to work in: where parley was started, or the one of -C.
func workingDir(chdir string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the working folder: %w", err)
	}
	if chdir == "" {
		return dir, nil
	}
	if !filepath.IsAbs(chdir) {
		chdir = filepath.Join(dir, chdir)
	}
	info, err := os.Stat(chdir)
	if err != nil {
		return "", fmt.Errorf("working folder: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("working folder %s is no folder", chdir)
	}
	return filepath.Clean(chdir), nil
}

// expand makes a path given by the person absolute: "~/" is the home, "directory://" is dropped.
func expand(dir, path string) string {
	const scheme = "directory://"
	if len(path) > len(scheme) && path[:len(scheme)] == scheme {
		path = path[len(scheme):]
	}
	if path == "~" || len(path) > 1 && path[:2] == "~/" {
		if home, err := os.UserHomeDir(); err == nil {
			path = filepath.Join(home, path[1:])
		}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Clean(path)
}

// usable makes a folder if it is missing and reports whether files can be made in it.
func usable(dir string) error {
	if dir == "" {
		return errors.New("there is no home folder")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	probe, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}
