package sys

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"parley/toolrt"
)

// tree is the files below a folder as a developer sees them: without hidden ones, without what
// ignore files exclude, and without links and what is no regular file. Nothing outside the folder
// is reached. Close it.
type tree struct {
	root   *os.Root
	dir    string // absolute and resolved
	shown  string // as the call names it
	below  string // slash-separated, from the folder whose ignore files hold
	rules  ignores
	hidden bool // hidden files count too
	denied func(path string) bool
	// unread counts the folders that could not be read.
	unread int
}

// openTree opens the tree below the absolute, resolved folder dir.
func openTree(call *toolrt.Call, dir, shown string) (*tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	t := &tree{root: root, dir: dir, shown: shown, denied: call.Denied}
	top, below := ignoreTop(dir, call.Dir)
	t.below, t.rules = below, above(top, below)
	return t, nil
}

func (t *tree) close() { _ = t.root.Close() }

// walk calls visit for each folder and regular file in the order of their names. rel is
// slash-separated, below the tree's folder, which is not visited itself. An error of visit ends the
// walk.
func (t *tree) walk(ctx context.Context, visit func(rel string, entry fs.DirEntry) error) error {
	fsys := t.root.FS()
	return fs.WalkDir(fsys, ".", func(rel string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && rel == ".":
			return err
		case err != nil:
			t.unread++
			return nil
		case rel == ".":
			t.rules = t.rules.enter(t.below, fsys, ".")
			return nil
		case t.skips(rel, entry):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			t.rules = t.rules.enter(path.Join(t.below, rel), fsys, rel)
		case !entry.Type().IsRegular():
			return nil
		}
		return visit(rel, entry)
	})
}

func (t *tree) skips(rel string, entry fs.DirEntry) bool {
	name := entry.Name()
	if name == ".git" || !t.hidden && strings.HasPrefix(name, ".") {
		return true
	}
	return t.rules.ignored(path.Join(t.below, rel), entry.IsDir())
}

// keeps reports whether a rule keeps the call from a file (P-11).
func (t *tree) keeps(rel string) bool {
	return t.denied != nil && t.denied(filepath.Join(t.dir, filepath.FromSlash(rel)))
}

// name is a path as the call would name it.
func (t *tree) name(rel string) string { return filepath.Join(t.shown, filepath.FromSlash(rel)) }

// unreadNote says that folders could not be read, "" if all could.
func (t *tree) unreadNote() string {
	if t.unread == 0 {
		return ""
	}
	return fmt.Sprintf("[%s could not be read]\n", plural(t.unread, "folder"))
}
