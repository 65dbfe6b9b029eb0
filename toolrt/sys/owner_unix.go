//go:build unix

package sys

import (
	"io/fs"
	"os"
	"syscall"
)

// keepIdentity gives f the owner and the mode of the file it replaces. A changed owner that the
// system does not allow is no failure: the new file is then the user's, as any file they write.
func keepIdentity(f *os.File, old fs.FileInfo) error {
	if s, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(s.Uid), int(s.Gid))
	}
	return f.Chmod(old.Mode() & (fs.ModePerm | fs.ModeSticky))
}

// sameOwner reports whether two files belong to the same user.
func sameOwner(a, b fs.FileInfo) bool {
	x, ok := a.Sys().(*syscall.Stat_t)
	y, ok2 := b.Sys().(*syscall.Stat_t)
	return ok && ok2 && x.Uid == y.Uid
}
