package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// writeFile replaces a private file at once: a crash leaves the old one or the new one. A link is
// followed, so that it stays a link.
func writeFile(path string, data []byte) error { return replaceFile(path, data, 0) }

// rewriteFile is writeFile for a file of the person's own, whose permissions stay.
func rewriteFile(path string, data []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return replaceFile(path, data, info.Mode().Perm())
}

// replaceFile replaces a file; mode 0 is that of a private file.
func replaceFile(path string, data []byte, mode os.FileMode) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = tmp.Write(data)
	if mode != 0 {
		err = errors.Join(err, tmp.Chmod(mode))
	}
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, errors.Join(err, os.Remove(tmp.Name())))
	}
	return nil
}

// newLines returns a function that reads one line after the other.
func newLines(r io.Reader) func() (string, error) {
	buf := bufio.NewReader(r)
	return func() (string, error) {
		line, err := buf.ReadString('\n')
		if line == "" && err != nil {
			return "", err
		}
		return strings.TrimRight(line, "\r\n"), nil
	}
}
