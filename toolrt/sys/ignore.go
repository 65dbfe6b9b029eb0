package sys

import (
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ignoreFiles are the names of files that say what is of no interest, in the order in which they
// count: a later one wins.
var ignoreFiles = []string{".gitignore", ".ignore"}

// ignoreMax bounds what is read of one of them.
const ignoreMax = 1 << 20

// ignoreRule is one line of an ignore file, as a pattern of slash-separated paths.
type ignoreRule struct {
	pattern string
	literal bool // it has no wildcard: pattern is a name, or with anchored a path
	// anchored rules match the path from the file's folder, others the last name of it.
	anchored bool
	dirOnly  bool
	negate   bool
}

// ignoreSet holds the rules of one folder.
type ignoreSet struct {
	dir   string // of the files, slash-separated below the top; "" is the top itself
	rules []ignoreRule
}

// parseIgnore reads the text of an ignore file in the syntax of gitignore(5). Lines that are no
// patterns are left out.
func parseIgnore(text string) []ignoreRule {
	var rules []ignoreRule
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		if r, ok := parseIgnoreLine(strings.TrimRight(line, "\r\n")); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

func parseIgnoreLine(line string) (ignoreRule, bool) {
	var r ignoreRule
	if strings.HasPrefix(line, "#") {
		return r, false
	}
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if rest, ok := strings.CutPrefix(line, "!"); ok {
		r.negate, line = true, rest
	}
	if rest, ok := strings.CutSuffix(line, "/"); ok {
		r.dirOnly, line = true, rest
	}
	r.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	// What lies in a folder is meant by a final /**, not the folder itself.
	if strings.HasSuffix(line, "/**") {
		line += "/*"
	}
	r.literal = !strings.ContainsAny(line, `*?[\`)
	if !r.literal {
		line = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(line) // braces are nothing special here
	}
	r.pattern = line
	return r, line != "" && (r.literal || doublestar.ValidatePattern(line))
}

// matches reports whether the rule speaks of the path, which is relative to the rule's folder.
func (r *ignoreRule) matches(name string, dir bool) bool {
	if r.dirOnly && !dir {
		return false
	}
	if !r.anchored {
		name = path.Base(name)
	}
	if r.literal {
		return r.pattern == name
	}
	return doublestar.MatchUnvalidated(r.pattern, name)
}

// ignores are the rules that hold in a folder, of the outermost folder first.
type ignores []ignoreSet

// ignored reports whether a path below the top is left out: the last rule that speaks of it
// decides. Folders above it are not looked at, a walk does not come below one that is left out.
func (i ignores) ignored(name string, dir bool) bool {
	for n := len(i) - 1; n >= 0; n-- {
		below := name
		if i[n].dir != "" {
			rest, ok := strings.CutPrefix(name, i[n].dir+"/")
			if !ok {
				continue
			}
			below = rest
		}
		for k := len(i[n].rules) - 1; k >= 0; k-- {
			if r := &i[n].rules[k]; r.matches(below, dir) {
				return !r.negate
			}
		}
	}
	return false
}

// enter returns the rules that hold in the folder dir below the top: those of the folders it lies
// in, and its own, which are read from the folder in of fsys.
func (i ignores) enter(dir string, fsys fs.FS, in string) ignores {
	for len(i) > 0 && i[len(i)-1].dir != "" && !strings.HasPrefix(dir+"/", i[len(i)-1].dir+"/") {
		i = i[:len(i)-1]
	}
	set := ignoreSet{dir: dir}
	for _, name := range ignoreFiles {
		set.rules = append(set.rules, parseIgnore(ignoreText(fsys, path.Join(in, name)))...)
	}
	if len(set.rules) == 0 {
		return i
	}
	return append(i[:len(i):len(i)], set)
}

// above returns the rules that the folders from top down to below set for what is in below, its own
// not yet among them, and those of the repository that top may be.
func above(top, below string) ignores {
	var rules ignores
	fsys := os.DirFS(top)
	if excluded := parseIgnore(ignoreText(fsys, ".git/info/exclude")); len(excluded) > 0 {
		rules = ignores{{rules: excluded}}
	}
	if below == "" {
		return rules
	}
	rules = rules.enter("", fsys, ".")
	for n, c := range below {
		if c == '/' {
			rules = rules.enter(below[:n], fsys, below[:n])
		}
	}
	return rules
}

// ignoreText reads an ignore file; one that cannot be read says nothing.
func ignoreText(fsys fs.FS, name string) string {
	if info, err := fs.Stat(fsys, name); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := fsys.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, ignoreMax))
	if err != nil {
		return ""
	}
	return string(text)
}

// ignoreTop returns the folder whose ignore files hold in dir, and dir's slash-separated path below
// it: the top of the repository that dir lies in, else the working folder if dir is below that,
// else dir itself.
func ignoreTop(dir, workDir string) (top, below string) {
	top = dir
	if repo, ok := repository(dir); ok {
		top = repo
	} else if work := ResolvePath(workDir, "."); workDir != "" && strings.HasPrefix(dir, work+string(filepath.Separator)) {
		top = work
	}
	rel, err := filepath.Rel(top, dir)
	if err != nil || rel == "." {
		return top, ""
	}
	return top, filepath.ToSlash(rel)
}

// repository returns the top folder of the git repository that dir lies in.
func repository(dir string) (top string, ok bool) {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}
