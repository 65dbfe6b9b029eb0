package program

import (
	"slices"
	"strings"
)

// Contexts returns the contexts of a tool in order (3.1, 3.2).
func (p *Program) Contexts(t *Tool) []Reference {
	return p.role(t, TypeContext, t.Context, func(s *Tool) []string { return s.ExportContext })
}

// InputFilters returns the input filters of a tool in order, without those that have no body.
func (p *Program) InputFilters(t *Tool) []Reference {
	refs := p.role(t, TypeInput, t.InputFilters, func(s *Tool) []string { return s.ExportInputFilters })
	return p.withBody(refs)
}

// OutputFilters returns the output filters of a tool in order, without those that have no body.
func (p *Program) OutputFilters(t *Tool) []Reference {
	refs := p.role(t, TypeOutput, t.OutputFilters, func(s *Tool) []string { return s.ExportOutputFilters })
	return p.withBody(refs)
}

// Credentials returns the credentials of a tool in order, each followed by what it shares,
// recursively, without those that have no body (3.1).
func (p *Program) Credentials(t *Tool) []Reference {
	var set refSet
	visited := map[string]bool{}
	var add func(owner *Tool, names []string)
	add = func(owner *Tool, names []string) {
		for _, r := range p.credentialRefs(owner, names) {
			set.add(r)
			if !visited[r.ToolID] {
				visited[r.ToolID] = true
				tool := p.ToolSet[r.ToolID]
				add(tool, tool.ExportCredentials)
			}
		}
	}
	add(t, t.Credentials)
	return p.withBody(set.list)
}

// Agents returns the tool's own agents in order (3.1). Named is set: the alias, else the name the
// model sees without a trailing "Agent" and "Assistant" (3.3).
func (p *Program) Agents(t *Tool) []Reference {
	var set refSet
	for _, r := range p.refs(t, t.Agents) {
		if r.Named == "" {
			r.Named = agentName(p.toolName(r))
		}
		set.add(r)
	}
	return set.list
}

func agentName(name string) string {
	name = Normalize(name)
	if short := strings.TrimSuffix(strings.TrimSuffix(name, "Agent"), "Assistant"); short != "" {
		return short
	}
	return name
}

// EntryAgent returns the tool that runs in the entry's place: its first agent if the entry has
// neither body nor contexts of its own (3.4), else the entry.
func (p *Program) EntryAgent() *Tool {
	entry := p.Entry()
	if entry == nil || !entry.IsNoop() || len(entry.Context) > 0 {
		return entry
	}
	if agents := p.Agents(entry); len(agents) > 0 {
		return p.ToolSet[agents[0].ToolID]
	}
	return entry
}

// Offered returns the tools that the model sees when it answers t, in order, with unique names
// (3.3). group is the agent group of the run; it counts for chat tools only, and t itself is left
// out of it.
func (p *Program) Offered(t *Tool, group []Reference) []Offered {
	var set refSet
	for _, r := range p.role(t, TypeTool, nil, nil) {
		set.add(r)
	}
	for _, r := range p.Agents(t) {
		set.add(r)
	}
	if t.Chat {
		for _, r := range group {
			if r.ToolID != t.ID {
				set.add(r)
			}
		}
	}
	names := newNamer()
	var offered []Offered
	for _, r := range p.withBody(set.list) {
		name := r.Named
		if name == "" {
			name = p.toolName(r)
		}
		tool := p.ToolSet[r.ToolID]
		if r.Named == "" && tool.fromSettings() {
			name = names.exact(name)
		} else {
			name = names.pick(name)
		}
		offered = append(offered, Offered{Name: name, Ref: r, Tool: tool})
	}
	return offered
}

// toolName returns the name of the tool that is referred to, else the text of the reference.
func (p *Program) toolName(r Reference) string {
	if t := p.ToolSet[r.ToolID]; t != nil && t.Name != "" {
		return t.Name
	}
	return r.Reference
}

// role computes a role list (3.2): direct references, then members of Tools: of a matching type,
// then what the sources share for the role. shared may be nil.
func (p *Program) role(t *Tool, typ Type, direct []string, shared func(*Tool) []string) []Reference {
	var set refSet
	for _, r := range p.refs(t, direct) {
		set.add(r)
	}
	addTyped := func(owner *Tool, names []string) {
		for _, r := range p.refs(owner, names) {
			if hasRole(p.ToolSet[r.ToolID].Type, typ) {
				set.add(r)
			}
		}
	}
	addTyped(t, t.Tools)
	for _, s := range p.sources(t) {
		source := p.ToolSet[s.ToolID]
		if shared != nil {
			for _, r := range p.refs(source, shared(source)) {
				set.add(r)
			}
		}
		addTyped(source, source.Export)
	}
	return set.list
}

// hasRole says whether a tool of that type takes the role when it stands in a list of tools.
func hasRole(typ, role Type) bool {
	if role == TypeTool {
		return typ == TypeNone || typ == TypeTool || typ == TypeAgent
	}
	return typ == role
}

// sources returns the tools whose shares reach t (3.2), nested ones before the sharer's own.
func (p *Program) sources(t *Tool) []Reference {
	var set refSet
	var addShares func(sharer *Tool)
	addShares = func(sharer *Tool) {
		for _, r := range p.shares(sharer) {
			if set.add(r) {
				addShares(p.ToolSet[r.ToolID])
			}
		}
	}
	for _, names := range [][]string{t.GlobalTools, t.Tools, t.Context, t.Agents} {
		for _, r := range p.refs(t, names) {
			addShares(p.ToolSet[r.ToolID])
			set.add(r)
		}
	}
	for _, r := range p.credentialRefs(t, t.Credentials) {
		addShares(p.ToolSet[r.ToolID])
		set.add(r)
	}
	for _, names := range [][]string{t.InputFilters, t.OutputFilters} {
		for _, r := range p.refs(t, names) {
			addShares(p.ToolSet[r.ToolID])
			set.add(r)
		}
	}
	return set.list
}

// shares returns everything that a tool shares.
func (p *Program) shares(t *Tool) []Reference {
	return slices.Concat(p.refs(t, t.ExportContext), p.refs(t, t.Export), p.credentialRefs(t, t.ExportCredentials),
		p.refs(t, t.ExportInputFilters), p.refs(t, t.ExportOutputFilters))
}

// refs returns the links of a tool's references, with alias and argument string.
func (p *Program) refs(t *Tool, names []string) []Reference {
	return p.links(t, names, false)
}

func (p *Program) credentialRefs(t *Tool, names []string) []Reference {
	return p.links(t, names, true)
}

// links passes over references that are not linked, which only a program that was not made by this
// package can have.
func (p *Program) links(t *Tool, names []string, credential bool) []Reference {
	var refs []Reference
	for _, name := range names {
		linked := t.ToolMapping[name]
		if len(linked) == 0 {
			continue
		}
		parsed, err := parseReference(name, t.isLocal, credential)
		if err != nil {
			continue
		}
		for _, l := range linked {
			target := p.ToolSet[l.ToolID]
			if target == nil || target.Kind() == KindMCPServer {
				continue // a server that was not asked has no tools, and is none
			}
			r := Reference{Named: parsed.alias, Reference: l.Reference, Arg: parsed.args, ToolID: l.ToolID}
			if credential {
				r.Arg = strings.TrimSpace(parsed.rest)
				_, r.Named, _, _, _ = ParseCredential(r, "") // loading has checked it
			}
			refs = append(refs, r)
		}
	}
	return refs
}

// isLocal says whether a text is the name of a tool in the same file, ignoring case (2.2, step 1).
func (t *Tool) isLocal(name string) bool {
	_, ok := t.LocalTools[strings.ToLower(name)]
	return ok && name != ""
}

// withBody leaves out what has no body, and agents of a group that the program has no more.
func (p *Program) withBody(refs []Reference) []Reference {
	return slices.DeleteFunc(refs, func(r Reference) bool {
		t := p.ToolSet[r.ToolID]
		return t == nil || t.IsNoop()
	})
}

// refSet is an ordered set of references: same alias, tool and argument string are one (3.2).
type refSet struct {
	list []Reference
	seen map[refKey]bool
}

type refKey struct{ named, toolID, arg string }

// add appends a reference that is new and says whether it was.
func (s *refSet) add(r Reference) bool {
	key := refKey{r.Named, r.ToolID, r.Arg}
	if s.seen[key] {
		return false
	}
	if s.seen == nil {
		s.seen = map[refKey]bool{}
	}
	s.seen[key] = true
	s.list = append(s.list, r)
	return true
}
