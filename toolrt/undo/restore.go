package undo

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// restore brings a path from the state it is in to another one and says what it did.
func (l *Log) restore(path string, now, to State) (what string, err error) {
	if to.Kind != Folder || now.Kind != Folder {
		if err := clear(path, now, to); err != nil {
			return "", err
		}
	}
	switch to.Kind {
	case None:
		return "removed", nil
	case Folder:
		if now.Kind != Folder {
			err = os.MkdirAll(path, 0o755)
		}
		return "folder is there again", errors.Join(err, os.Chmod(path, to.Mode))
	case Link:
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
		return "link is there again", os.Symlink(to.Link, path)
	case File:
		what = "is as it was"
		if now.Kind == None {
			what = "is there again"
		}
		return what, l.restoreFile(path, now, to)
	case Other:
	}
	return "", fmt.Errorf("it was %s", to.describe())
}

// clear takes away what stands at a path and is no file that will be replaced by a file.
func clear(path string, now, to State) error {
	switch now.Kind {
	case None:
		return nil
	case File:
		if to.Kind == File {
			return nil
		}
	case Folder:
		if entries, err := os.ReadDir(path); err == nil && len(entries) > 0 {
			return errFull
		}
	case Link, Other:
	}
	return os.Remove(path)
}

// restoreFile writes the kept bytes aside and renames them into place. The owner of a file that is
// there stays; where the folder takes no new file, the file itself is written.
func (l *Log) restoreFile(path string, now, to State) error {
	from, err := os.Open(filepath.Join(l.blobs(), to.Hash))
	if err != nil {
		return fmt.Errorf("the kept bytes are gone: %w", err)
	}
	defer from.Close() // only read from
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	aside, err := os.CreateTemp(dir, ".parley-undo-*.tmp")
	if errors.Is(err, fs.ErrPermission) && now.Kind == File {
		return overwrite(path, from, to.Mode)
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(aside, from)
	if err == nil {
		err = aside.Chmod(to.Mode)
	}
	err = errors.Join(err, aside.Sync(), aside.Close())
	if err == nil {
		err = os.Rename(aside.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(aside.Name()))
	}
	return nil
}

func overwrite(path string, from io.Reader, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close(), os.Chmod(path, mode))
}
