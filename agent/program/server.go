package program

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"parley/toolrt/mcp"
)

// servers returns the tools of the source that are MCP servers.
func (s *source) servers() []*Tool {
	var servers []*Tool
	for _, t := range s.tools {
		if t.Kind() == KindMCPServer {
			servers = append(servers, t)
		}
	}
	return servers
}

// entryFor returns the entry of a program that is an MCP server, or a tool of one: a chat with the
// server's tools, or a call of the tool.
func (s *source) entryFor(name string, whole bool) *Tool {
	t := &Tool{ID: s.location + ":" + name + ":entry", Tools: []string{name}, Source: Source{Location: s.location}, WorkingDir: s.absDir, Chat: whole}
	if whole {
		t.Name = name
	} else {
		t.Instructions = callPrefix + " " + name
	}
	return t
}

// Servers returns the MCP servers whose tools a tool uses or may use: those it refers to in whatever
// role, and those that what it uses shares. They are in the order of their ids, and not asked yet: a
// server that [Program.WithServer] has replaced is no more among them.
func (p *Program) Servers(t *Tool) []*Tool {
	found := map[string]*Tool{}
	seen := map[string]bool{t.ID: true}
	queue := [][]string{}
	owners := []*Tool{}
	push := func(owner *Tool, lists ...[]string) {
		for _, list := range lists {
			if len(list) > 0 {
				owners, queue = append(owners, owner), append(queue, list)
			}
		}
	}
	push(t, t.GlobalTools, t.Tools, t.Context, t.Agents, t.Credentials, t.InputFilters, t.OutputFilters)
	for len(queue) > 0 {
		owner, names := owners[0], queue[0]
		owners, queue = owners[1:], queue[1:]
		for _, name := range names {
			for _, link := range owner.ToolMapping[name] {
				target := p.ToolSet[link.ToolID]
				if target == nil {
					continue
				}
				if target.Kind() == KindMCPServer {
					found[target.ID] = target
				}
				if !seen[target.ID] {
					seen[target.ID] = true
					push(target, target.ExportContext, target.Export, target.ExportCredentials, target.ExportInputFilters, target.ExportOutputFilters)
				}
			}
		}
	}
	servers := make([]*Tool, 0, len(found))
	for _, id := range slices.Sorted(maps.Keys(found)) {
		servers = append(servers, found[id])
	}
	return servers
}

// HasServers reports whether any tool of the program is an MCP server that was not asked yet.
func (p *Program) HasServers() bool {
	for _, t := range p.ToolSet {
		if t.Kind() == KindMCPServer {
			return true
		}
	}
	return false
}

// WithServer returns the program in which the tool of that id, an MCP server, is replaced by what the
// server offers (8.3): it has no body any more and shares the server's tools, which are tools of the
// same file, and what the server says of them as a context. Tools of a server of the settings are
// named mcp_SERVER_TOOL. Other tools are as before; the program itself is not changed.
func (p *Program) WithServer(id string, l mcp.Listing) *Program {
	server := p.ToolSet[id]
	if server == nil || server.Kind() != KindMCPServer {
		return p
	}
	out := *p
	out.ToolSet = maps.Clone(p.ToolSet)
	e := expansion{program: &out, listing: l, links: map[string]Reference{}, apart: p.neighbours(server)}
	bundle := *server
	bundle.Instructions, bundle.Description = "", l.Server
	bundle.MetaData = maps.Clone(server.MetaData)
	if bundle.MetaData == nil {
		bundle.MetaData = map[string]string{}
	}
	bundle.MetaData["bundle"] = "true"
	bundle.LocalTools = maps.Clone(server.LocalTools)
	if bundle.LocalTools == nil {
		bundle.LocalTools = map[string]string{}
	}
	bundle.ToolMapping = maps.Clone(server.ToolMapping)
	if bundle.ToolMapping == nil {
		bundle.ToolMapping = map[string][]Reference{}
	}
	e.server = &bundle
	for _, tool := range l.Tools {
		e.add(tool)
	}
	e.instruct()
	out.ToolSet[id] = &bundle
	e.resolve(id)
	return &out
}

// neighbours reports whether the file of a server has other servers: then the ids of their tools are
// kept apart by the server's name.
func (p *Program) neighbours(server *Tool) bool {
	for _, t := range p.ToolSet {
		if t.ID != server.ID && t.Source.Location == server.Source.Location && (t.Kind() == KindMCPServer || t.MetaData["bundle"] == "true") {
			return true
		}
	}
	return false
}

// expansion is the replacement of one server.
type expansion struct {
	program *Program
	server  *Tool // the new one
	listing mcp.Listing
	apart   bool
	order   []string             // names of the tools
	links   map[string]Reference // name → tool
}

// settings reports whether the server is one of the settings.
func (e *expansion) settings() bool { return e.server.Source.Location == "" }

// id is the id of a tool of the server's file that no other tool has.
func (e *expansion) id(name string) string {
	if e.settings() {
		return name
	}
	id := e.server.Source.Location + ":" + name
	if _, taken := e.program.ToolSet[id]; taken || e.apart {
		id = e.server.Source.Location + ":" + e.server.Name + "/" + name
	}
	return id
}

// add adds a tool of the server.
func (e *expansion) add(tool mcp.ListedTool) {
	t := &Tool{Name: tool.Name, Description: tool.Description, Arguments: tool.Schema,
		Instructions: mcp.InvokeBody(tool.Name, e.listing.Key), Source: e.server.Source, WorkingDir: e.server.WorkingDir, MetaData: map[string]string{}}
	ref := tool.Name
	if e.settings() {
		t.Name = SettingsToolName(e.server.Name, tool.Name)
		ref = t.Name
	} else if aliasable(tool.Title) {
		ref += " as " + tool.Title
	}
	if _, taken := e.links[t.Name]; taken {
		return // names that differ in what a name must not have
	}
	if len(tool.Annotations) > 0 {
		t.MetaData["mcp-tool-annotations"] = string(tool.Annotations)
	}
	switch {
	case tool.ReadOnly:
		t.MetaData[flagsKey] = "read-only, parallel, idempotent"
	case tool.Idempotent:
		t.MetaData[flagsKey] = "idempotent"
	}
	t.ID = e.id(t.Name)
	e.program.ToolSet[t.ID] = t
	e.link(t, ref)
	e.server.Export = append(slices.Clip(e.server.Export), ref)
	e.order = append(e.order, t.Name)
}

// link lets the server refer to a new tool.
func (e *expansion) link(t *Tool, ref string) {
	e.links[t.Name] = Reference{Reference: ref, ToolID: t.ID}
	e.server.LocalTools[strings.ToLower(t.Name)] = t.ID
	e.server.ToolMapping[ref] = []Reference{{Reference: ref, ToolID: t.ID}}
}

// aliasable reports whether a title can stand after "as" in a reference.
func aliasable(title string) bool {
	if strings.TrimSpace(title) == "" || strings.ContainsAny(title, "\n\r") {
		return false
	}
	return !slices.ContainsFunc(strings.Fields(title), func(word string) bool {
		return slices.Contains([]string{"as", "with", "from", "checked"}, word)
	})
}

// instruct shares what the server says of how to use it as a context.
func (e *expansion) instruct() {
	if e.listing.Instructions == "" {
		return
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	if enc.Encode(map[string]any{"tools": e.server.Export, "instructions": e.listing.Instructions}) != nil {
		return // texts
	}
	t := &Tool{Name: e.listing.Key, Type: TypeContext, Source: e.server.Source, WorkingDir: e.server.WorkingDir,
		Instructions: fmt.Sprintf("%s\n# START MCP SERVER INFO: %s\nYou have available the following tools from an MCP Server that has provided "+
			"the following additional instructions\n%s# END MCP SERVER INFO\n", echoPrefix, e.listing.Server, &text)}
	if t.ID = e.id(t.Name); e.settings() {
		t.Name = e.server.Name + " instructions"
		t.ID = e.server.ID + ":instructions"
	}
	e.program.ToolSet[t.ID] = t
	e.link(t, t.Name)
	e.server.ExportContext = append(slices.Clip(e.server.ExportContext), t.Name)
}

// resolve puts the server's tools where references select some of them (2.2).
func (e *expansion) resolve(id string) {
	for owner, t := range e.program.ToolSet {
		var changed *Tool
		for text, links := range t.ToolMapping {
			i := slices.IndexFunc(links, func(r Reference) bool { return r.ToolID == id && r.Of != "" })
			if i < 0 {
				continue
			}
			if changed == nil {
				copied := *t
				copied.ToolMapping = maps.Clone(t.ToolMapping)
				changed = &copied
			}
			changed.ToolMapping[text] = slices.Concat(links[:i], e.selected(links[i]), links[i+1:])
		}
		if changed != nil {
			e.program.ToolSet[owner] = changed
			if owner == id {
				*e.server = *changed
				e.program.ToolSet[owner] = e.server
			}
		}
	}
}

// selected are the links to the tools that a reference selects, in the server's order.
func (e *expansion) selected(r Reference) []Reference {
	match := matcher(r.Of)
	if e.settings() && isGlob(r.Of) {
		match = func(name string) bool {
			ok, err := path.Match(strings.ToLower(r.Of), strings.ToLower(name))
			return ok && err == nil
		}
	}
	var links []Reference
	for _, name := range e.order {
		if match(name) {
			links = append(links, Reference{Reference: r.Reference, ToolID: e.links[name].ToolID})
		}
	}
	return links
}

// fromSettings reports whether the tool is one of a server of the settings.
func (t *Tool) fromSettings() bool { return t.Kind() == KindMCPTool && t.Source.Location == "" }

// maxSettingsName bounds the name of a tool of a server of the settings, which models get as it is.
const maxSettingsName = 64

// SettingsServerName is the name under which programs refer to a server of the settings.
func SettingsServerName(server string) string { return "mcp_" + server }

// SettingsToolName is the name of a tool of a server of the settings: mcp_SERVER_TOOL, in the letters
// that names for models have. server is the name that SettingsServerName made.
func SettingsToolName(server, tool string) string {
	name := strings.Map(func(r rune) rune {
		if isASCIIAlnum(r) || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, server+"_"+tool)
	return name[:min(len(name), maxSettingsName)]
}
