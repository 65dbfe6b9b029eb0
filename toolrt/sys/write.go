package sys

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"parley/toolrt"
)

// writeFile is sys.write: it replaces a file by new text in one step.
func writeFile(_ context.Context, inv *toolrt.Invocation, a args) (toolrt.Output, error) {
	name, content := a["filename"], a["content"]
	full, err := locate(inv.Call.Dir, name, "open")
	if err != nil {
		return failed("Failed to write file %s: %v", name, err), nil
	}
	target := ResolvePath(full, ".")
	defer files.lock(target)()
	kept, err := keep(inv, target)
	if err != nil {
		return failed("Failed to write file %s: %v", name, err), nil
	}
	defer kept()
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return failed("Failed to create directory %s: %v", filepath.Dir(name), asGiven(err, filepath.Dir(name))), nil
	}
	if err := replace(target, func(w io.Writer) error { _, err := io.WriteString(w, content); return err }); err != nil {
		return failed("Failed to write file %s: %v", name, asGiven(err, name)), nil
	}
	inv.Seen.Note(target, sha256.Sum256([]byte(content)))
	out := text("Wrote (%d) bytes to file %s", len(content), name)
	out.FilesTouched = []string{target}
	return out, nil
}

// appendFile is sys.append.
func appendFile(_ context.Context, inv *toolrt.Invocation, a args) (toolrt.Output, error) {
	name, content := a["filename"], a["content"]
	full, err := locate(inv.Call.Dir, name, "open")
	if err != nil {
		return failed("Failed to open file %s: %v", name, err), nil
	}
	target := ResolvePath(full, ".")
	defer files.lock(target)()
	if info, err := os.Stat(target); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return failed("Failed to open file %s: %v", name, &fs.PathError{Op: "open", Path: name, Err: errNotRegular}), nil
	}
	kept, err := keep(inv, target)
	if err != nil {
		return failed("Failed to open file %s: %v", name, err), nil
	}
	defer kept()
	f, err := os.OpenFile(target, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return failed("Failed to open file %s: %v", name, asGiven(err, name)), nil
	}
	follow := follows(inv.Seen, target, content)
	_, err = f.WriteString(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return failed("Failed to write file %s: %v", name, asGiven(err, name)), nil
	}
	follow()
	out := text("Appended (%d) bytes to file %s", len(content), name)
	out.FilesTouched = []string{target}
	return out, nil
}

// follows returns what remembers the file with the text that is about to be appended, if it still
// holds what was seen of it. A file that somebody else has changed stays a changed one.
func follows(seen *toolrt.Seen, target, more string) func() {
	if !seen.Knows(target) {
		return func() {}
	}
	h := sha256.New()
	f, err := os.Open(target)
	if err == nil {
		_, err = io.Copy(h, f)
		err = errors.Join(err, f.Close())
	}
	if err != nil || seen.Changed(target, toolrt.Sum(h.Sum(nil))) {
		return func() {}
	}
	_, _ = io.WriteString(h, more) // a hash takes everything
	return func() { seen.Note(target, toolrt.Sum(h.Sum(nil))) }
}

// remove is sys.remove: a file, a link or an empty folder.
func remove(_ context.Context, inv *toolrt.Invocation, a args) (toolrt.Output, error) {
	name := a["location"]
	full, err := locate(inv.Call.Dir, name, "remove")
	if err != nil {
		return failed("Failed to removed %s: %v", name, err), nil
	}
	target := resolveEntry(full, ".")
	defer files.lock(target)()
	kept, err := keep(inv, target)
	if err != nil {
		return failed("Failed to removed %s: %v", name, err), nil
	}
	defer kept()
	if err := os.Remove(full); err != nil {
		return failed("Failed to removed %s: %v", name, asGiven(err, name)), nil
	}
	out := text("Removed file: %s", name)
	out.FilesTouched = []string{target}
	return out, nil
}

// replace gives the file new contents in one step: they are written aside and renamed, so that a
// crash leaves the old file or the new one. Mode and owner of an existing file stay. Where the
// folder takes no new file, the file itself is written.
func replace(target string, write func(io.Writer) error) error {
	old, err := os.Stat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case old.IsDir() || old.Mode().IsRegular():
		// A file that may not be written is refused as it would be without the rename.
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_ = f.Close()
	default:
		return &fs.PathError{Op: "open", Path: target, Err: errNotRegular}
	}
	aside := filepath.Join(filepath.Dir(target), ".parley-"+uuid.NewString()+".tmp")
	f, err := os.OpenFile(aside, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrPermission) && old != nil {
		return overwrite(target, write)
	}
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil && old != nil {
		err = keepIdentity(f, old)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(aside, target)
	}
	if err != nil {
		return errors.Join(err, os.Remove(aside))
	}
	return nil
}

func overwrite(target string, write func(io.Writer) error) error {
	f, err := os.OpenFile(target, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
