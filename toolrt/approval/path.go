package approval

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// resolve returns the cleaned absolute path that name leads to, links resolved on its deepest
// existing parent (A10). name must be absolute.
func resolve(name string) string {
	name = filepath.Clean(name)
	rest := ""
	for dir := name; ; {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		// A link that leads nowhere still says where a write would go.
		if to, err := os.Readlink(dir); err == nil {
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(dir), to)
			}
			if to = filepath.Clean(to); to != dir && len(rest) < 4096 {
				if parent, err := filepath.EvalSymlinks(filepath.Dir(to)); err == nil {
					return filepath.Join(parent, filepath.Base(to), rest)
				}
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return name
		}
		rest = filepath.Join(filepath.Base(dir), rest)
		dir = parent
	}
}

// variants returns the absolute paths that p may mean in dir. With ".." behind a link there are
// two: programs that clean a path first and the system itself go different ways (A10).
func variants(dir, p string) []string {
	if !filepath.IsAbs(p) {
		p = dir + string(filepath.Separator) + p
	}
	clean := filepath.Clean(p)
	if !strings.Contains(p, "..") {
		return []string{clean}
	}
	root := filepath.VolumeName(p) + string(filepath.Separator)
	real := root
	for _, seg := range strings.FieldsFunc(p[len(filepath.VolumeName(p)):], func(r rune) bool { return r == filepath.Separator }) {
		if seg == ".." {
			real = filepath.Dir(resolve(real))
			continue
		}
		real = filepath.Join(real, seg)
	}
	return uniq(clean, real)
}

// under reports whether path is dir or below it. Both must be cleaned.
func under(path, dir string) bool {
	if dir == "" {
		return false
	}
	if runtime.GOOS != "windows" && filepath.IsAbs(path) && filepath.IsAbs(dir) {
		rest, ok := strings.CutPrefix(path, dir)
		return ok && (rest == "" || rest[0] == '/' || strings.HasSuffix(dir, "/"))
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// foldCase reports whether file names usually differ only by more than case here.
func foldCase() bool { return runtime.GOOS == "darwin" || runtime.GOOS == "windows" }

// pathPattern is a rule's path glob made absolute.
type pathPattern struct {
	segs []string
	// file is the path itself when it holds no wildcard: such a rule also finds other names of
	// the same file (hard links, another case).
	file string
}

// newPathPattern makes a glob absolute: ~/ is the home folder, a relative one starts at base. The
// part before the first wildcard is resolved like the paths that it is compared with.
func newPathPattern(glob, base string) pathPattern {
	glob = filepath.FromSlash(glob)
	if rest, ok := strings.CutPrefix(glob, "~"+string(filepath.Separator)); ok && homeDir() != "" {
		glob = filepath.Join(homeDir(), rest)
	}
	if !filepath.IsAbs(glob) {
		glob = filepath.Join(base, glob)
	}
	segs := splitPath(filepath.Clean(glob))
	n := 0
	for n < len(segs) && !strings.ContainsAny(segs[n], "*?") {
		n++
	}
	root := filepath.VolumeName(glob) + string(filepath.Separator)
	fixed := resolve(root + strings.Join(segs[:n], string(filepath.Separator)))
	p := pathPattern{segs: append(splitPath(fixed), segs[n:]...)}
	if n == len(segs) {
		p.file = fixed
	}
	return p
}

func splitPath(p string) []string {
	p = strings.Trim(p[len(filepath.VolumeName(p)):], string(filepath.Separator))
	if p == "" {
		return nil
	}
	return strings.Split(p, string(filepath.Separator))
}

// match reports whether the pattern matches a resolved path. strict patterns also match by the
// file itself and, where names usually ignore case, without it; g remembers what files are.
func (p pathPattern) match(path string, strict bool, g guard) bool {
	fold := strict && foldCase()
	if matchSegs(p.segs, splitPath(path), fold) {
		return true
	}
	return strict && p.file != "" && g.sameFile(p.file, path)
}

// matchSegs matches names against glob segments, ** standing for any number of them. It runs in
// the product of the lengths whatever the pattern.
func matchSegs(pat, path []string, fold bool) bool {
	ok := make([]bool, len(path)+1) // ok[j]: the pattern so far matches path[:j]
	ok[0] = true
	for _, seg := range pat {
		next := make([]bool, len(path)+1)
		if seg == "**" {
			seen := false
			for j := range next {
				seen = seen || ok[j]
				next[j] = seen
			}
		} else {
			for j, name := range path {
				next[j+1] = ok[j] && matchName(seg, name, fold)
			}
		}
		ok = next
	}
	return ok[len(path)]
}

// matchName matches one name: * any characters, ? one.
func matchName(pat, name string, fold bool) bool {
	if fold {
		pat, name = strings.ToLower(pat), strings.ToLower(name)
	}
	p, n := []rune(pat), []rune(name)
	star, mark := -1, 0
	i, j := 0, 0
	for j < len(n) {
		switch {
		case i < len(p) && p[i] == '*':
			star, mark = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == n[j]):
			i, j = i+1, j+1
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}

// globMeets reports whether a shell glob (absolute, cleaned) could expand to file, to a folder
// above it, or to something below it. As in the shell, a wildcard does not stand for a leading dot.
func globMeets(glob, file string) bool {
	g, f := splitPath(glob), splitPath(file)
	for i := 0; i < len(g) && i < len(f); i++ {
		if strings.HasPrefix(f[i], ".") && !strings.HasPrefix(g[i], ".") && !strings.HasPrefix(g[i], "{") && !strings.HasPrefix(g[i], "[") {
			return false
		}
		if strings.ContainsAny(g[i], "[{") {
			continue // a class or braces: taken to match
		}
		if !matchName(g[i], f[i], true) {
			return false
		}
	}
	return true
}
