package program

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Options says from where and how a program is loaded. The zero value loads local files and URLs
// from the current folder and knows no built-ins.
type Options struct {
	// Dir is the base folder of relative paths, the working folder. It must be absolute; "" is the
	// current folder.
	Dir string
	// Stdin is read when the program is "-". Nil is an empty input.
	Stdin io.Reader
	// Builtins returns the built-in tool of that exact name, nil when there is none. For the name of
	// an MCP server of the settings, or of one of its tools, it returns the server. Nil knows none.
	Builtins func(name string) *Tool
	// EntryTools are references that the tools of the program's first tool are extended by.
	EntryTools []string
	// SubTool names the tool of the file to start with, ignoring case. "" is the first one.
	SubTool string
	// Remap replaces beginnings of references by local paths: "prefix=path,prefix2=path2" (2.4,
	// GPTSCRIPT_TOOL_REMAP).
	Remap string
	// OperationCatalogue has OpenAPI documents give three tools in place of one for each operation: they
	// list the operations, tell the schema of one, and run it (8.2).
	OperationCatalogue bool
	// DefaultModel is the model of prompt tools that name none; "" leaves them without.
	DefaultModel string
	// Repositories gets the repositories of references such as github.com/OWNER/REPO. Nil: they cannot
	// be used. RepositoryHosts are further hosts beside github.com.
	Repositories    Repositories
	RepositoryHosts []string
	// HTTP gets sources from the web. Nil is http.DefaultClient. Each fetch is limited to 30 s and
	// 32 MB.
	HTTP *http.Client
}

// Load loads and links the program that ref names: a path, a folder, a URL, the name of a
// built-in, "SELECT from PATH", or "-" for standard input (2.2). It runs nothing. All faults of
// all files that are reached come at once as a *ParseErrors, each with its place; a ref that names
// nothing is a plain error. Warnings are returned in both cases, file by file.
func Load(ctx context.Context, ref string, o Options) (*Program, []Warning, error) {
	l, err := newLoader(o)
	if err != nil {
		return nil, nil, err
	}
	ref = strings.TrimSpace(ref)
	if ref == "" {
		return nil, nil, errors.New("no program is named")
	}
	if ref == "-" {
		return l.loadStdin(ctx)
	}
	// All paths are written with forward slashes, as in the files.
	ref = strings.ReplaceAll(ref, `\`, "/")
	target, sel := l.splitProgram(ref)
	if o.SubTool != "" {
		sel = o.SubTool
	}
	if sel == "" {
		if t := l.builtin(target); t != nil && t.Kind() == KindMCPServer {
			src := &source{location: stdinLocation, dir: ".", absDir: l.opts.Dir, name: stdinLocation, doc: &Document{}}
			return l.link(ctx, target, []*Tool{src.entryFor(target, t.ID == target)}, src)
		} else if t != nil {
			return l.link(ctx, target, []*Tool{t}, nil)
		}
	}
	src, err := l.open(ctx, nil, target)
	if err != nil {
		return nil, l.warnings(), err
	}
	return l.start(ctx, target, src, sel)
}

// LoadSource is Load for text that is at hand, such as an embedded program. name is its location
// and decides what kind of source it is (1.1); its references are relative to the base folder.
func LoadSource(ctx context.Context, name string, src []byte, o Options) (*Program, []Warning, error) {
	l, err := newLoader(o)
	if err != nil {
		return nil, nil, err
	}
	return l.loadText(ctx, name, name, src)
}

// stdinLocation is the location of a program that came from standard input (2.2).
const stdinLocation = "inline"

func (l *loader) loadStdin(ctx context.Context) (*Program, []Warning, error) {
	var data []byte
	if l.opts.Stdin != nil {
		var err error
		if data, err = readBounded(l.opts.Stdin, "standard input"); err != nil {
			return nil, nil, err
		}
	}
	return l.loadText(ctx, "-", stdinLocation, data)
}

// loadText links a program whose text did not come from a place that references can name.
func (l *loader) loadText(ctx context.Context, name, location string, data []byte) (*Program, []Warning, error) {
	src, err := l.addSource("text:"+location, &source{
		location: location, dir: ".", absDir: l.opts.Dir, name: path.Base(location), data: data,
	})
	if err != nil {
		return nil, l.warnings(), err
	}
	return l.start(ctx, name, src, l.opts.SubTool)
}

// start links from the selected tool of the program's first source.
func (l *loader) start(ctx context.Context, name string, src *source, sel string) (*Program, []Warning, error) {
	tools := src.selected(sel)
	if len(tools) > 0 && tools[0].Kind() == KindMCPServer {
		tools = []*Tool{src.entryFor(cmp.Or(tools[0].Name, src.location), true)}
	} else if len(tools) == 0 && len(src.servers()) > 0 && !isGlob(sel) {
		tools = []*Tool{src.entryFor(sel, false)} // a tool of one of them, perhaps
	}
	switch {
	case len(tools) > 0:
	case src.bad:
		return nil, l.warnings(), l.failure()
	default:
		return nil, l.warnings(), fmt.Errorf("tool not found: %s from %s", sel, name)
	}
	tools[0].Tools = append(tools[0].Tools, l.opts.EntryTools...)
	return l.link(ctx, name, tools, src)
}

// splitProgram takes the text of the command line apart. The name of an existing file wins, so
// that its words need not be quoted.
func (l *loader) splitProgram(ref string) (target, sel string) {
	if _, err := os.Stat(l.abs(l.localPath("", ref))); err == nil {
		return ref, ""
	}
	r, err := parseReference(ref, func(string) bool { return false }, false)
	if err != nil {
		return ref, ""
	}
	return r.target, r.sel
}

func newLoader(o Options) (*loader, error) {
	if o.Dir == "" {
		dir, err := os.Getwd()
		if err != nil {
			return nil, fmt.Errorf("find the current folder: %w", err)
		}
		o.Dir = dir
	}
	if !filepath.IsAbs(o.Dir) {
		return nil, fmt.Errorf("the base folder %q is not an absolute path", o.Dir)
	}
	return &loader{
		opts: o, sources: map[string]*source{}, repositories: map[string]*repository{}, unusable: map[string]error{}, locations: map[string]bool{},
		prog: &Program{ToolSet: map[string]*Tool{}},
		told: map[string]bool{}, asked: map[string]bool{}, credentials: map[string]bool{},
	}, nil
}

// builtin returns the built-in of that name, "?" at its end dropped (2.2, step 3), or nil.
func (l *loader) builtin(name string) *Tool {
	name = strings.TrimSuffix(name, "?")
	if l.opts.Builtins == nil || name == "" {
		return nil
	}
	given := l.opts.Builtins(name)
	if given == nil {
		return nil
	}
	t := *given
	t.ID = name
	if isMCPServer(t.Instructions) {
		t.ID = given.Name // a server of the settings, or one whose tool is named
	}
	if t.Instructions == "" {
		t.Instructions = commandPrefix + name
	}
	// The form that Program.JSON writes, so that a pinned program has the same schemas.
	var compact bytes.Buffer
	if json.Compact(&compact, t.Arguments) == nil {
		t.Arguments = compact.Bytes()
	}
	return &t
}

// open finds the source that a target names, seen from base; nil is the command line (2.2, steps
// 4 to 7).
func (l *loader) open(ctx context.Context, base *source, target string) (*source, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if u, err := url.Parse(target); err == nil && u.Host == gitHub {
		// What lies there is a web page about the program.
		return nil, fmt.Errorf("remote tools are disabled: %s (write %s to get the repository)", target, strings.TrimPrefix(u.Host+u.Path, "/"))
	}
	if base != nil && base.repo != nil {
		return l.openFromRepository(ctx, base, target)
	}
	if base != nil && base.remote {
		if address, ok := remoteTarget(base.dir, target); ok {
			return l.openURL(ctx, address)
		}
		if t, ok := l.parseRepoTarget(target); ok {
			return l.openRepository(ctx, t)
		}
		return nil, notLoadable(base.dir, target)
	}
	if isURL(target) {
		return l.openURL(ctx, target)
	}
	dir, shown := "", l.opts.Dir
	if base != nil {
		dir, shown = base.dir, base.dir
	}
	s, err := l.openLocal(l.localPath(dir, target), base == nil)
	if errors.Is(err, errNoSource) {
		if t, ok := l.parseRepoTarget(target); ok {
			return l.openRepository(ctx, t)
		}
		return nil, notLoadable(shown, target)
	}
	return s, err
}

// notLoadable is the error for a target that no loader takes (2.3, 2.5).
func notLoadable(dir, target string) error {
	return &notFoundError{dir, target}
}

// notFoundError says that a target names nothing (2.3).
type notFoundError struct{ dir, target string }

func (e *notFoundError) Error() string {
	return fmt.Sprintf("can not load tools path=%s name=%s", e.dir, e.target)
}
