package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Bounds of what is read from one place.
const (
	maxSourceBytes = 32 << 20
	maxSources     = 10_000
	fetchTimeout   = 30 * time.Second
)

// defaultFiles are looked for in a folder, or under a URL, that is named as a tool (2.2).
var defaultFiles = []string{"agent.gpt", "tool.gpt"}

// errNoSource says that a target names nothing that can be loaded from here.
var errNoSource = errors.New("no such source")

// source is one loaded file with its tools.
type source struct {
	location string // as printed, and first part of the ids of its tools
	dir      string // folder as printed; references are relative to it
	absDir   string // folder as the tools' working folder: absolute, or a URL
	name     string // file name
	remote   bool
	repo     *repository // that it is a file of, nil for others
	data     []byte

	doc   *Document
	tools []*Tool
	byKey map[string]*Tool  // lower-case name → tool
	ids   map[string]string // lower-case name → id, shared by all tools of the source
	bad   bool              // has faults, which are reported

	filtered map[string][]*Tool // selection → tools of a catalogue of operations
}

// String returns the source as messages name it: <dir>/<file>.
func (s *source) String() string {
	if s.dir == "" {
		return s.name
	}
	return strings.TrimSuffix(s.dir, "/") + "/" + s.name
}

// isLocal says whether a text is the name of a tool of the source, ignoring case.
func (s *source) isLocal(name string) bool {
	return name != "" && s.byKey[strings.ToLower(name)] != nil
}

// localPath applies the remap table (2.4) and joins a target to the folder of the file that
// mentions it. The result has forward slashes and may be relative to the base folder.
func (l *loader) localPath(dir, target string) string {
	name := target
	remapped := false
	if !strings.HasPrefix(name, ".") {
		name, remapped = remap(l.opts.Remap, name)
	}
	if remapped || path.IsAbs(name) || filepath.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(dir, name)
}

// remap replaces the longest prefix of name that the table "prefix=replacement,…" lists. A prefix
// ends where a part of the path ends.
func remap(table, name string) (string, bool) {
	best, replacement := "", ""
	for entry := range strings.SplitSeq(table, ",") {
		prefix, to, ok := strings.Cut(strings.TrimSpace(entry), "=")
		rest, has := strings.CutPrefix(name, prefix)
		whole := rest == "" || strings.HasSuffix(prefix, "/") || strings.ContainsAny(rest[:min(1, len(rest))], "/@")
		if ok && has && whole && len(prefix) > len(best) {
			best, replacement = prefix, to
		}
	}
	if best == "" {
		return name, false
	}
	return filepath.ToSlash(replacement) + name[len(best):], true
}

// openLocal reads a local file. location is its printed path, from localPath. A path that does not
// exist is errNoSource.
func (l *loader) openLocal(location string, entry bool) (*source, error) {
	abs := l.abs(location)
	info, err := os.Stat(abs)
	if err == nil && info.IsDir() {
		folder := location
		if location, abs, info = l.defaultFile(folder); info == nil {
			return nil, fmt.Errorf("%s is a folder that holds neither %s nor %s", folder, defaultFiles[0], defaultFiles[1])
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil, errNoSource
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() && !entry:
		// A pipe that a program refers to would be waited for without end.
		return nil, fmt.Errorf("%s is not a regular file", location)
	}
	return l.once(abs, func() (*source, error) {
		data, err := readFile(abs)
		if err != nil {
			return nil, err
		}
		return l.addSource(abs, &source{
			location: location, dir: path.Dir(location), absDir: filepath.Dir(abs), name: path.Base(location), data: data,
		})
	})
}

// once gives back the source of that key, or why it can not be used, without reading it again.
func (l *loader) once(key string, read func() (*source, error)) (*source, error) {
	if s := l.sources[key]; s != nil {
		return s, nil
	}
	if err := l.unusable[key]; err != nil {
		return nil, err
	}
	s, err := read()
	if err != nil {
		l.unusable[key] = err
	}
	return s, err
}

// defaultFile finds the file that stands for a folder; info is nil when there is none.
func (l *loader) defaultFile(folder string) (location, abs string, info fs.FileInfo) {
	for _, name := range defaultFiles {
		location = path.Join(folder, name)
		abs = l.abs(location)
		if info, err := os.Stat(abs); err == nil && !info.IsDir() {
			return location, abs, info
		}
	}
	return "", "", nil
}

// abs returns the absolute path of a location.
func (l *loader) abs(location string) string {
	p := filepath.FromSlash(location)
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(l.opts.Dir, p)
}

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readBounded(f, name)
}

func readBounded(r io.Reader, name string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxSourceBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > maxSourceBytes {
		return nil, fmt.Errorf("%s is larger than %d MB", name, maxSourceBytes>>20)
	}
	return data, nil
}

func isURL(text string) bool {
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
}

// openURL gets a source from the web (2.5). An address without a file name may stand for the
// default files below it.
func (l *loader) openURL(ctx context.Context, address string) (*source, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	tries := []*url.URL{u}
	if !strings.Contains(path.Base(u.Path), ".") || strings.HasSuffix(u.Path, "/") {
		for _, name := range defaultFiles {
			tries = append(tries, u.JoinPath(name))
		}
	}
	var first error
	for _, u := range tries {
		s, err := l.once(u.String(), func() (*source, error) { return l.fetch(ctx, u) })
		if err == nil {
			return s, nil
		}
		if first == nil {
			first = err
		}
		if !errors.Is(err, errStatus) {
			break
		}
	}
	return nil, first
}

// errStatus marks an answer other than 200.
var errStatus = errors.New("unexpected status")

func (l *loader) fetch(ctx context.Context, u *url.URL) (*source, error) {
	location := u.String()
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, location, nil)
	if err != nil {
		return nil, err
	}
	resp, err := l.client().Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%w %s from %s", errStatus, resp.Status, u.Redacted())
	}
	data, err := readBounded(resp.Body, u.Redacted())
	if err != nil {
		return nil, err
	}
	folder := *u
	folder.Path, folder.RawPath, folder.RawQuery, folder.Fragment = path.Dir(u.Path), "", "", ""
	return l.addSource(location, &source{
		location: location, dir: folder.String(), absDir: folder.String(), name: path.Base(u.Path), remote: true, data: data,
	})
}

func (l *loader) client() *http.Client {
	if l.opts.HTTP != nil {
		return l.opts.HTTP
	}
	return http.DefaultClient
}

// remoteTarget turns a reference inside a remote file into an address, ok is false when it names
// nothing on the web. Nothing that a remote file says reaches a local file.
func remoteTarget(dir, target string) (address string, ok bool) {
	if isURL(target) {
		return target, true
	}
	if !strings.HasPrefix(target, ".") && strings.Contains(target, "/") {
		return "", false
	}
	u, err := url.Parse(dir)
	if err != nil {
		return "", false
	}
	return u.JoinPath(target).String(), true
}
