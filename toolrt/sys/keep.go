package sys

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"parley/toolrt"
)

// keep notes what stands at the target before the call changes it, and which folders above it the
// call will make. The returned function is called when the call has made its change.
func keep(inv *toolrt.Invocation, target string) (done func(), err error) {
	if inv.Changes == nil {
		return func() {}, nil
	}
	return inv.Changes.Begin(inv.Call, append(missing(filepath.Dir(target)), target)...)
}

// missing lists the folders that are not there yet, the outermost first.
func missing(dir string) []string {
	var list []string
	for {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		list = append(list, dir)
		dir = filepath.Dir(dir)
	}
	slices.Reverse(list)
	return list
}
