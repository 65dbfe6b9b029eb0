package sys

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"parley/toolrt"
)

// errEnough ends a walk that has found what it may return.
var errEnough = errors.New("enough was found")

// globFiles is sys.glob: paths below a folder by a pattern of the whole path.
func globFiles(ctx context.Context, inv *toolrt.Invocation, a args) (toolrt.Output, error) {
	dir := a.or("directory", ".")
	g, problem := parseGlob(a["pattern"])
	if problem != "" {
		return failed("%s", problem), nil
	}
	from := ResolvePath(inv.Call.Dir, dir)
	// The walk begins where the pattern's fixed part leads, which may lie in a hidden or an ignored
	// folder: it was asked for.
	start := ResolvePath(from, filepath.FromSlash(g.fixed))
	if rel, err := filepath.Rel(from, start); err != nil || !filepath.IsLocal(rel) {
		return failed("The pattern %s leads out of the folder %s", a["pattern"], dir), nil
	}
	t, err := openTree(inv.Call, start, filepath.Join(dir, filepath.FromSlash(g.fixed)))
	switch {
	case errors.Is(err, fs.ErrNotExist) && g.fixed != ".":
		return text("No files found"), nil
	case err != nil:
		return failed("Failed to search directory %s: %v", dir, asGiven(err, dir)), nil
	}
	defer t.close()
	t.hidden = g.hidden
	limit := a.number("limit", 200)
	var found []string
	err = t.walk(ctx, func(rel string, entry fs.DirEntry) error {
		if entry.IsDir() != g.folders || !doublestar.MatchUnvalidated(g.rest, rel) || t.keeps(rel) {
			return nil
		}
		if len(found) == limit {
			return errEnough
		}
		name := t.name(rel)
		if entry.IsDir() {
			name += "/"
		}
		found = append(found, name)
		return nil
	})
	switch {
	case ctx.Err() != nil:
		return toolrt.Output{}, ctx.Err()
	case err != nil && !errors.Is(err, errEnough):
		return failed("Failed to search directory %s: %v", dir, asGiven(err, dir)), nil
	case len(found) == 0:
		return text("No files found\n%s", t.unreadNote()), nil
	}
	slices.Sort(found)
	out := strings.Join(found, "\n") + "\n" + t.unreadNote()
	if errors.Is(err, errEnough) {
		out += "[there are more than these: narrow the pattern or raise the limit]\n"
	}
	return toolrt.Output{Text: out}, nil
}

// globPattern is a pattern taken apart.
type globPattern struct {
	fixed   string // the folders before the first wildcard, "." if there are none
	rest    string // for paths below them
	folders bool   // it is for folders
	hidden  bool   // it names hidden files
}

// parseGlob reads a pattern, or says what is wrong with it.
func parseGlob(pattern string) (g globPattern, problem string) {
	rest := filepath.ToSlash(pattern)
	for strings.HasPrefix(rest, "./") {
		rest = strings.TrimLeft(rest[2:], "/")
	}
	rest, g.folders = strings.CutSuffix(rest, "/")
	parts := strings.Split(rest, "/")
	switch {
	case rest == "":
		return g, "The pattern is empty"
	case strings.HasPrefix(rest, "/") || filepath.VolumeName(pattern) != "" || slices.Contains(parts, ".."):
		return g, "The pattern " + pattern + " must be relative to the folder: give another folder as directory"
	case !doublestar.ValidatePattern(rest):
		return g, "The pattern " + pattern + " is not a valid pattern"
	case len(parts) == 1 && rest != "**":
		rest = "**/" + rest
	}
	g.hidden = slices.ContainsFunc(parts, func(p string) bool {
		return strings.HasPrefix(p, ".") || strings.Contains(p, "{.") || strings.Contains(p, ",.")
	})
	g.fixed, g.rest = doublestar.SplitPattern(rest)
	return g, ""
}
