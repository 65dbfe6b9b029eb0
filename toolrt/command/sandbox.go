package command

import (
	"os"
	"path/filepath"
	"slices"
)

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
