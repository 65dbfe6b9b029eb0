package approval

import (
	"path/filepath"
	"slices"
)

// maxFolders is how many folders a command may be in at once before it is given up on.
const maxFolders = 8

// folders are the places that a command may run in: several after a cd that may have failed.
type folders struct {
	list    []string // absolute
	unknown bool
}

func inFolder(dir string) folders { return folders{list: []string{dir}} }

// enter returns where "cd to" leads. A relative one in a loop could be taken any number of times.
func (f folders) enter(to word, repeated bool) folders {
	if f.unknown && !filepath.IsAbs(to.path) || to.path == "" || to.glob || to.multi && !to.literal ||
		to.text == "-" || repeated && !filepath.IsAbs(to.path) {
		return folders{unknown: true}
	}
	var out folders
	for _, p := range f.paths(to.path) {
		out = out.join(inFolder(p))
	}
	return out
}

// join returns the folders of both.
func (f folders) join(o folders) folders {
	out := folders{list: slices.Clone(f.list), unknown: f.unknown || o.unknown}
	for _, d := range o.list {
		if !slices.Contains(out.list, d) {
			out.list = append(out.list, d)
		}
	}
	if len(out.list) > maxFolders {
		return folders{unknown: true}
	}
	return out
}

// paths returns the absolute paths that p may mean, nil when that cannot be told.
func (f folders) paths(p string) []string {
	switch {
	case p == "":
		return nil
	case filepath.IsAbs(p):
		return variants("", p)
	case f.unknown:
		return nil
	}
	var out []string
	for _, d := range f.list {
		out = append(out, variants(d, p)...)
	}
	return out
}
