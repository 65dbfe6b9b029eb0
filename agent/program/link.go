package program

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"parley/toolrt/mcp"
)

// loader loads the files of one program and links their tools. It works through a queue, so that
// cycles end and depth costs no stack.
type loader struct {
	opts Options
	prog *Program

	sources      map[string]*source     // absolute path or URL → source
	unusable     map[string]error       // the same → why it has no tools
	locations    map[string]bool        // printed locations that are taken
	repositories map[string]*repository // "github.com/owner/repo@ref"
	order        []*source              // in the order of loading

	faults []*ParseError
	told   map[string]bool // broken references that are noted
	queue  []pending
	asked  map[string]bool // ids of tools that are or were in the queue
	// credentials holds the ids of tools that some reference uses as a credential (Q28).
	credentials map[string]bool
	remarks     []Warning
}

// pending is a tool that is to be linked and how it was reached.
type pending struct {
	tool *Tool
	src  *source
	via  *step
}

// step is one reference on the way from the entry to a tool.
type step struct {
	parent *step
	ref    string
	src    *source // that holds the reference
	local  bool    // to a tool of the same file
}

// String returns the step as messages tell it.
func (s *step) String() string {
	if s.local {
		return fmt.Sprintf("failed linking %s at %s", s.ref, s.src)
	}
	return fmt.Sprintf("failed resolving %s from %s", s.ref, s.src)
}

// maxSteps bounds how much of the way to a broken reference its message tells.
const maxSteps = 4

// trail tells how a tool was reached, innermost steps only.
func (s *step) trail() string {
	var parts []string
	for ; s != nil && len(parts) < maxSteps; s = s.parent {
		parts = append(parts, s.String()+": ")
	}
	slices.Reverse(parts)
	return strings.Join(parts, "")
}

// link makes the program whose entry is the first of tools. src is their source, nil for a
// built-in.
func (l *loader) link(ctx context.Context, name string, tools []*Tool, src *source) (*Program, []Warning, error) {
	l.prog.Name = name
	l.prog.EntryToolID = tools[0].ID
	l.enqueue(tools[0], src, nil)
	for len(l.queue) > 0 {
		next := l.queue[0]
		l.queue = l.queue[1:]
		if err := ctx.Err(); err != nil {
			return nil, l.warnings(), fmt.Errorf("load program %s: %w", name, err)
		}
		l.linkTool(ctx, next)
	}
	l.checkSharedCredentials()
	if len(l.faults) > 0 {
		return nil, l.warnings(), l.failure()
	}
	return l.prog, l.warnings(), nil
}

// enqueue puts a tool into the program, once, and has its references linked.
func (l *loader) enqueue(t *Tool, src *source, via *step) {
	if l.asked[t.ID] {
		return
	}
	l.asked[t.ID] = true
	l.prog.ToolSet[t.ID] = t
	if src != nil {
		l.queue = append(l.queue, pending{t, src, via})
	}
}

// usage says what a list of references is for.
type usage struct {
	names      []string
	credential bool
	mapsArgs   bool // "with" arguments are always mapped (5.9)
	// field is the directive whose value holds the reference among other words, "" for lists.
	field string
}

// usages lists the references of a tool that are linked, in order.
func usages(t *Tool) []usage {
	var providers []string
	if ref := t.providerRef(); ref != "" {
		providers = []string{ref}
	}
	return []usage{
		{names: t.Tools}, {names: t.Agents}, {names: t.Export},
		{names: t.ExportContext, mapsArgs: true}, {names: t.Context, mapsArgs: true},
		{names: t.Credentials, credential: true}, {names: t.ExportCredentials, credential: true},
		{names: t.InputFilters, mapsArgs: true}, {names: t.ExportInputFilters, mapsArgs: true},
		{names: t.OutputFilters, mapsArgs: true}, {names: t.ExportOutputFilters, mapsArgs: true},
		{names: providers, field: "modelName"},
	}
}

// linkTool resolves every reference of a tool and notes the faults.
func (l *loader) linkTool(ctx context.Context, p pending) {
	t := p.tool
	if t.Kind() == KindMCPServer {
		if _, err := mcp.ParseBody(t.Instructions); err != nil {
			l.fail(p.src, pos{max(t.Source.LineNo, 1), 1}, fmt.Errorf("%stool %q is an MCP server: %w", p.via.trail(), t.Name, err))
			return
		}
	}
	if l.opts.DefaultModel != "" && t.ModelName == "" && !t.IsCommand() {
		t.ModelName = l.opts.DefaultModel
	}
	t.LocalTools = p.src.ids
	t.ToolMapping = map[string][]Reference{}
	var broken map[string]bool
	for _, u := range usages(t) {
		for _, text := range u.names {
			if broken[text] {
				continue
			}
			if err := l.linkReference(ctx, p, text, u); err != nil {
				if broken == nil {
					broken = map[string]bool{}
				}
				broken[text] = true
				at := p.src.doc.at(t, text)
				if u.field != "" {
					at = p.src.doc.mark(t, u.field)
				}
				l.failReference(p.src, at, text, err)
			}
		}
	}
	if len(t.ToolMapping) == 0 {
		t.ToolMapping = nil
	}
}

// linkReference resolves one reference. A source with faults of its own, which are noted already,
// is no further error.
func (l *loader) linkReference(ctx context.Context, p pending, text string, u usage) error {
	r, err := parseReference(text, p.src.isLocal, u.credential)
	if err != nil {
		return err
	}
	found, err := l.resolve(ctx, p.src, r)
	if err != nil {
		return fmt.Errorf("%sfailed resolving %s from %s: %w", p.via.trail(), text, p.src, err)
	}
	if r.alias != "" && len(found.tools) > 1 {
		return fmt.Errorf("can not combine 'as' syntax with wildcard: %s", text)
	}
	via := &step{parent: p.via, ref: text, src: p.src, local: found.src == p.src}
	_, linked := p.tool.ToolMapping[text] // the same text in another list
	for _, target := range found.tools {
		link := Reference{Reference: r.nameMatch(target), ToolID: target.ID}
		if err := checkArgs(r, target, u, link); err != nil {
			return err
		}
		if u.credential {
			l.credentials[target.ID] = true
		}
		if !linked {
			p.tool.ToolMapping[text] = append(p.tool.ToolMapping[text], link)
		}
		l.enqueue(target, found.src, via)
	}
	for _, server := range found.servers {
		if !linked {
			p.tool.ToolMapping[text] = append(p.tool.ToolMapping[text], Reference{Reference: r.text, ToolID: server.ID, Of: found.of})
		}
		l.enqueue(server, found.src, via)
	}
	return nil
}

// nameMatch is the text of the reference, with a glob replaced by the name of the tool (2.2).
func (r reference) nameMatch(t *Tool) string {
	if r.sel == "" || !isGlob(r.sel) {
		return r.text
	}
	from := strings.Index(r.text, " from")
	if i := strings.Index(r.text, r.sel); i >= 0 {
		return r.text[:i] + t.Name + r.text[i+len(r.sel):]
	}
	return t.Name + r.text[max(from, 0):]
}

// checkArgs finds arguments that can not be read (Q41, 5.10) before anything runs.
func checkArgs(r reference, target *Tool, u usage, link Reference) error {
	if u.credential {
		link.Arg = strings.TrimSpace(r.rest)
		_, _, _, _, err := ParseCredential(link, "")
		return err
	}
	mapped := u.mapsArgs || target.Type == TypeContext || target.Type == TypeInput || target.Type == TypeOutput
	if !mapped || r.args == "" || r.args == "*" {
		return nil
	}
	if _, err := parseArgs(r.args); err != nil {
		return fmt.Errorf("reference %s has %w", r.text, err)
	}
	return nil
}

// found is what a reference names.
type found struct {
	tools []*Tool
	src   *source // of the tools; nil for built-ins and servers of the settings
	// servers are MCP servers of which tools may be named: by of, a name or a glob.
	servers []*Tool
	of      string
}

// resolve finds the tools that a reference names (2.2). No tools and no error mean that the source
// has faults.
func (l *loader) resolve(ctx context.Context, base *source, r reference) (found, error) {
	if r.sel == "" {
		for _, name := range []string{r.whole, r.target} {
			if base.isLocal(name) {
				return found{tools: []*Tool{base.byKey[strings.ToLower(name)]}, src: base}, nil
			}
		}
		if t := l.prog.ToolSet[strings.TrimSuffix(r.target, "?")]; t != nil && t.BuiltinName() != "" {
			return found{tools: []*Tool{t}}, nil
		}
		if t := l.builtin(r.target); t != nil && t.Kind() == KindMCPServer && t.ID != r.target {
			return found{servers: []*Tool{t}, of: r.target}, nil
		} else if t != nil {
			return found{tools: []*Tool{t}}, nil
		}
	}
	src, err := l.open(ctx, base, r.target)
	if err != nil {
		if servers := base.servers(); r.sel == "" && len(servers) > 0 && errors.As(err, new(*notFoundError)) {
			return found{servers: servers, src: base, of: r.target}, nil // a tool of one of them, perhaps
		}
		return found{}, err
	}
	f := found{tools: src.selected(r.sel), src: src, of: r.sel}
	if r.sel != "" && (len(f.tools) == 0 || isGlob(r.sel)) {
		f.servers = slices.DeleteFunc(src.servers(), func(s *Tool) bool { return slices.Contains(f.tools, s) })
	}
	if len(f.tools)+len(f.servers) == 0 && !src.bad {
		return found{}, fmt.Errorf("tool not found: %s from %s", r.sel, r.target)
	}
	return f, nil
}

// failReference notes a reference that is broken, once for each place where one is written: global
// tools are references of every tool of their file.
func (l *loader) failReference(s *source, at pos, text string, err error) {
	key := fmt.Sprintf("%s:%d:%d:%s", s.location, at.line, at.col, text)
	if !l.told[key] {
		l.told[key] = true
		l.fail(s, at, err)
	}
}

// fail notes a fault of a source.
func (l *loader) fail(s *source, at pos, err error) {
	l.faults = append(l.faults, &ParseError{
		File: s.location, Line: at.line, Column: at.col, Message: err.Error(), Err: err,
	})
}

// failure returns the faults file by file, by their place in each.
func (l *loader) failure() error {
	rank := map[string]int{}
	for i, s := range l.order {
		rank[s.location] = i
	}
	sort.SliceStable(l.faults, func(i, j int) bool {
		a, b := l.faults[i], l.faults[j]
		if rank[a.File] != rank[b.File] {
			return rank[a.File] < rank[b.File]
		}
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		return a.Column < b.Column
	})
	return &ParseErrors{Errors: l.faults}
}

// warnings returns the remarks of all sources in the order of loading.
func (l *loader) warnings() []Warning {
	var all []Warning
	for _, s := range l.order {
		all = append(all, s.doc.Warnings...)
	}
	return append(all, l.remarks...)
}

// checkSharedCredentials warns of shares that reach nobody: only what is itself used as a
// credential can share credentials (Q28).
func (l *loader) checkSharedCredentials() {
	for _, s := range l.order {
		for _, t := range s.tools {
			if len(t.ExportCredentials) == 0 || !l.asked[t.ID] || l.credentials[t.ID] {
				continue
			}
			at := s.doc.at(t, t.ExportCredentials[0])
			l.remarks = append(l.remarks, Warning{File: s.location, Line: at.line, Column: at.col,
				Message: "shared credentials have no effect here: only credential tools can share them"})
		}
	}
}
