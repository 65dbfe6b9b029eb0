package sys

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"parley/toolrt"
)

// chunk is the size in which files are read. Larger files are never held in memory as a whole.
const chunk = 256 << 10

var errNotRegular = errors.New("not a regular file")

// readFile is sys.read: the text of a file, which must hold no NUL byte.
func readFile(ctx context.Context, inv *toolrt.Invocation, a args) (toolrt.Output, error) {
	name := a["filename"]
	full, err := locate(inv.Call.Dir, name, "open")
	if err == nil {
		target := ResolvePath(full, ".")
		defer files.share(target)()
		var out toolrt.Output
		sum := sha256.New()
		if out, err = readText(ctx, inv, full, name, sum); err == nil {
			if !out.IsError {
				inv.Seen.Note(target, toolrt.Sum(sum.Sum(nil)))
			}
			return out, nil
		}
	}
	switch {
	case ctx.Err() != nil:
		return toolrt.Output{}, ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		return failed("The file %s does not exist", name), nil
	}
	return failed("Failed to read file %s: %v", name, asGiven(err, name)), nil
}

// readText reads the text of a file, and writes it to sum.
func readText(ctx context.Context, inv *toolrt.Invocation, full, name string, sum io.Writer) (toolrt.Output, error) {
	info, err := os.Stat(full)
	var p *fs.PathError
	if errors.As(err, &p) {
		p.Op = "open" // the look before it is ours
	}
	if err != nil {
		return toolrt.Output{}, err
	}
	if mode := info.Mode(); !mode.IsRegular() && !mode.IsDir() { // a pipe or device may never end
		return toolrt.Output{}, &fs.PathError{Op: "read", Path: name, Err: errNotRegular}
	}
	f, err := os.Open(full)
	if err != nil {
		return toolrt.Output{}, err
	}
	defer func() { _ = f.Close() }()
	start, err := io.ReadAll(io.LimitReader(f, chunk))
	switch {
	case err != nil:
		return toolrt.Output{}, err
	case len(start) == 0:
		return text("The file %s has no contents", name), nil
	case len(start) < chunk && bytes.IndexByte(start, 0) < 0:
		_, err := sum.Write(start)
		return toolrt.Output{Text: string(start)}, err
	}
	binary, err := hasNUL(ctx, f, start)
	if err != nil || binary {
		return failed("The file %s cannot be read because it is not a plaintext file", name), err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return toolrt.Output{}, err
	}
	_, err = io.Copy(io.MultiWriter(inv.Out, sum), &cancellable{ctx, f})
	return toolrt.Output{FromOut: true}, err
}

// hasNUL looks for a NUL byte in what was read of f and in the rest.
func hasNUL(ctx context.Context, f *os.File, start []byte) (bool, error) {
	r := cancellable{ctx, f}
	for buf := start; ; {
		if bytes.IndexByte(buf, 0) >= 0 {
			return true, nil
		}
		n, err := r.Read(start[:cap(start)])
		if buf = start[:n]; n == 0 && err != nil {
			if err == io.EOF {
				err = nil
			}
			return false, err
		}
	}
}

// cancellable ends reading with its context.
type cancellable struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancellable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// list is sys.ls: the names in a folder.
func list(_ context.Context, inv *toolrt.Invocation, a args) (toolrt.Output, error) {
	dir := a.or("dir", ".")
	entries, err := os.ReadDir(absolute(inv.Call.Dir, dir))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return failed("directory does not exist: %s", dir), nil
	case err != nil:
		return failed("Failed to read directory %s: %v", dir, asGiven(err, dir)), nil
	case len(entries) == 0:
		return text("Empty directory"), nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
		if e.IsDir() {
			names[i] += "/"
		}
	}
	slices.Sort(names)
	return toolrt.Output{Text: strings.Join(names, "\n")}, nil
}

// findFiles is sys.find: paths below a folder by the pattern of their last part.
func findFiles(ctx context.Context, inv *toolrt.Invocation, a args) (toolrt.Output, error) {
	dir := a.or("directory", ".")
	var found []string
	err := fs.WalkDir(os.DirFS(absolute(inv.Call.Dir, dir)), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return asGiven(err, filepath.Join(dir, filepath.FromSlash(name)))
		}
		match, err := filepath.Match(a["pattern"], path.Base(name))
		if err != nil || !match {
			return err
		}
		full := filepath.Join(dir, filepath.FromSlash(name))
		if entry.IsDir() {
			full += "/"
		}
		found = append(found, full)
		return nil
	})
	switch {
	case ctx.Err() != nil:
		return toolrt.Output{}, ctx.Err()
	case err != nil:
		return failed("Failed to traverse directory %s: %v", dir, err), nil
	case len(found) == 0:
		return text("No files found"), nil
	}
	slices.Sort(found)
	return toolrt.Output{Text: strings.Join(found, "\n")}, nil
}

// stat is sys.stat.
func stat(_ context.Context, inv *toolrt.Invocation, a args) (toolrt.Output, error) {
	name := a["filepath"]
	full, err := locate(inv.Call.Dir, name, "stat")
	if err != nil {
		return failed("failed to stat %s: %v", name, err), nil
	}
	info, err := os.Stat(full)
	if err != nil {
		return failed("failed to stat %s: %v", name, asGiven(err, name)), nil
	}
	kind := "File"
	if info.IsDir() {
		kind = "Directory"
	}
	return text("%s %s mode: %s, size: %d bytes, modtime: %s", kind, name, info.Mode(), info.Size(), info.ModTime()), nil
}
