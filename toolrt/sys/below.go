package sys

import (
	"context"
	"io/fs"
	"os"
)

// Files calls visit for each regular file below dir, an absolute and resolved folder, with its
// slash-separated path below it: without hidden ones, without what ignore files exclude, and without
// following links. An error of visit ends the walk; folders that cannot be read are left out.
func Files(ctx context.Context, dir string, visit func(rel string) error) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // opened for reading
	t := &tree{root: root, dir: dir}
	top, below := ignoreTop(dir, dir)
	t.below, t.rules = below, above(top, below)
	return t.walk(ctx, func(rel string, entry fs.DirEntry) error {
		if entry.IsDir() {
			return nil
		}
		return visit(rel)
	})
}
