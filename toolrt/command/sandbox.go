package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"parley/toolrt"
)

// Confine returns the folders of [Process.Confine] for a sandbox, nil when it leaves files alone.
func Confine(s toolrt.Sandbox, folders ...string) []string {
	switch s.Profile {
	case toolrt.ProfileWrite:
		return Confinement(folders...)
	case toolrt.ProfileRead:
		return []string{}
	}
	return nil
}

// Applied says in words what of a sandbox is put around commands here, for questions and records:
// also plainly what of it cannot be. It is "" for a sandbox that confines nothing.
func Applied(s toolrt.Sandbox) string {
	cut := s.NoNetwork && CanCutNetwork()
	var parts []string
	if s.Profile == toolrt.ProfileWrite || s.Profile == toolrt.ProfileRead {
		where := "writes only in the working folder, the workspace, temporary and cache folders"
		if s.Profile == toolrt.ProfileRead {
			where = "no writes"
		}
		if !cut && !CanConfine() {
			where = "writes not confined: " + strings.TrimPrefix(SandboxSupport(), "none: ")
		}
		parts = append(parts, where)
	}
	switch {
	case cut:
		parts = append(parts, "no network")
	case s.NoNetwork:
		parts = append(parts, "network not cut off: "+cutSupport())
	}
	return strings.Join(parts, "; ")
}

// Confinement returns the folders below which a confined command may write: the given ones, the
// temporary folders, and the user's caches. The environment of the command has no say in it.
func Confinement(folders ...string) []string {
	all := append([]string{}, folders...)
	all = append(all, os.TempDir())
	if cache, err := os.UserCacheDir(); err == nil {
		all = append(all, cache)
	}
	if home, err := os.UserHomeDir(); err == nil {
		// Package managers keep downloads here instead of in the cache folder.
		for _, dir := range []string{"go/pkg/mod", ".npm/_cacache", ".cargo/registry"} {
			all = append(all, filepath.Join(home, filepath.FromSlash(dir)))
		}
	}
	return slices.DeleteFunc(all, func(dir string) bool { return dir == "" || !filepath.IsAbs(dir) })
}
