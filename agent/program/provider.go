package program

import (
	"net/url"
	"strings"
)

// providerRef is the reference after "from" in the name of a tool's model (4.9), "" when the
// provider is none of a tool: not named, or an address.
func (t *Tool) providerRef() string {
	_, from, ok := strings.Cut(t.ModelName, " from ")
	if !ok || t.IsCommand() {
		return ""
	}
	from = strings.TrimSpace(from)
	if u, err := url.Parse(from); err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") {
		return ""
	}
	return from
}

// Provider returns the tool that serves the tool's model, where its model names one (4.9).
func (p *Program) Provider(t *Tool) (Reference, bool) {
	ref := t.providerRef()
	if ref == "" {
		return Reference{}, false
	}
	refs := p.refs(t, []string{ref})
	if len(refs) != 1 {
		return Reference{}, false
	}
	return refs[0], true
}
