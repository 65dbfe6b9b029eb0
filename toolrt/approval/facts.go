package approval

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"parley/toolrt"
)

// Facts is what is known of a call when it is judged.
type Facts struct {
	// Call gives the working folder, the script's hash and text, and the category when Category
	// is empty. It may be nil in tests and previews.
	Call *toolrt.Call
	Spec toolrt.Spec // its Name is what rules name
	Args string      // the effective argument text
	// Preview adds paths and an address to what the arguments show.
	Preview  toolrt.Preview
	Category string // "", "context", "credential", "input", "output" or "provider"
	// Embedded says that the tool belongs to the embedded program, whose contexts and filters
	// are allowed by a built-in rule.
	Embedded bool
}

// pathKeys and the like name the arguments of file tools.
var (
	pathKeys = []string{"path", "paths", "file", "files", "filename", "filepath", "file_path", "dir", "directory", "folder", "location",
		"root", "cwd", "source", "destination", "from", "to", "target", "old_path", "new_path"}
	urlKeys = []string{"url", "uri", "href", "endpoint"}
	dirKeys = []string{"directory", "dir", "cwd"}
)

// arguments are a call's arguments taken apart.
type arguments struct {
	raw    string
	fields map[string]json.RawMessage   // by exact key; the last one of several
	folded map[string][]json.RawMessage // by key in lower case, in order
	// broken says that the text is no JSON object, doubled that two keys differ at most by case,
	// so that readers may disagree about their value.
	broken, doubled bool
}

func parseArguments(text string) arguments {
	a := arguments{raw: text, fields: map[string]json.RawMessage{}, folded: map[string][]json.RawMessage{}}
	if strings.TrimSpace(text) == "" {
		return a
	}
	a.broken = !a.read(json.NewDecoder(strings.NewReader(text)))
	return a
}

// read reads the one object that the text must be.
func (a *arguments) read(dec *json.Decoder) bool {
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	for dec.More() {
		k, err := dec.Token()
		key, ok := k.(string)
		var v json.RawMessage
		if err != nil || !ok || dec.Decode(&v) != nil {
			return false
		}
		low := strings.ToLower(key)
		a.doubled = a.doubled || len(a.folded[low]) > 0
		a.fields[key] = v
		a.folded[low] = append(a.folded[low], v)
	}
	if _, err := dec.Token(); err != nil {
		return false
	}
	_, err := dec.Token()
	return err == io.EOF
}

// field returns a top-level argument by its name without regard to case, as Go's decoder reads it.
func (a arguments) field(name string) (json.RawMessage, bool) {
	if v, ok := a.fields[name]; ok {
		return v, true
	}
	all := a.folded[strings.ToLower(name)]
	if len(all) == 0 {
		return nil, false
	}
	return all[len(all)-1], true
}

// text returns the value of a dotted argument as text: strings as they are, others as JSON.
func (a arguments) text(key string) (string, bool) {
	if v, ok := a.fields[key]; ok {
		return valueText(v), true
	}
	head, rest, dotted := strings.Cut(key, ".")
	v, ok := a.fields[head]
	for ; ok && dotted; v, ok = child(v, head) {
		head, rest, dotted = strings.Cut(rest, ".")
	}
	if !ok {
		return "", false
	}
	return valueText(v), true
}

func child(v json.RawMessage, key string) (json.RawMessage, bool) {
	var m map[string]json.RawMessage
	if json.Unmarshal(v, &m) != nil {
		return nil, false
	}
	c, ok := m[key]
	return c, ok
}

func valueText(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	var b bytes.Buffer
	if json.Compact(&b, v) != nil {
		return string(v)
	}
	return b.String()
}

// list returns the texts of the given arguments, of each that a reader could take for them; a list
// gives each of its items.
func (a arguments) list(names []string) []string {
	var out []string
	for _, n := range names {
		for _, v := range a.folded[n] {
			var items []json.RawMessage
			if json.Unmarshal(v, &items) != nil {
				items = []json.RawMessage{v}
			}
			for _, i := range items {
				if s := valueText(i); s != "" {
					out = append(out, s)
				}
			}
		}
	}
	return out
}

// isShell reports whether a tool's rules are written as commands.
func isShell(name string) bool { return name == "sys.exec" || name == "sys.shell" }

func (f Facts) builtin() bool { return f.Spec.Source == "builtin" }

func (f Facts) shell() bool { return f.builtin() && isShell(f.Spec.Name) }

func (f Facts) category() string {
	if f.Category == "" && f.Call != nil {
		return f.Call.Category
	}
	return f.Category
}

func (f Facts) scriptHash() string {
	if f.Call == nil {
		return ""
	}
	return f.Call.ScriptHash
}

// folder returns the folder that the call's paths are relative to.
func (f Facts) folder(def string) string {
	if f.Call != nil && f.Call.Dir != "" {
		return f.Call.Dir
	}
	return def
}

// paths returns the files that a call names, absolute. A glob or search root counts as the folder
// before its first wildcard.
func (f Facts) paths(a arguments, dir string) []string {
	var out []string
	names := a.list(pathKeys)
	if f.builtin() && f.Spec.Name == "sys.glob" {
		names = append(names, a.list([]string{"pattern"})...)
	}
	for _, n := range slices.Concat(names, f.Preview.Paths) {
		if i := strings.IndexAny(n, "*?["); i >= 0 && f.builtin() && f.Spec.Name == "sys.glob" {
			n = n[:strings.LastIndexAny(n[:i], `/\`)+1]
		}
		if rest, ok := strings.CutPrefix(n, "~/"); ok && homeDir() != "" {
			// Built-ins take ~ as a name; other servers' tools may expand it.
			out = append(out, filepath.Join(homeDir(), rest))
		}
		out = append(out, variants(dir, strings.TrimPrefix(n, "file://"))...)
	}
	return uniq(out...)
}

// hosts returns where a call's requests go.
func (f Facts) hosts(a arguments) []hostPort {
	var out []hostPort
	texts := a.list(urlKeys)
	if f.Preview.URL != "" {
		texts = append(texts, f.Preview.URL)
	}
	for _, t := range texts {
		if h, ok := parseHost(t); ok {
			out = append(out, h)
		}
	}
	return out
}

// hostPort is a destination. Scheme and port are filled in: https, and the scheme's own port.
type hostPort struct{ scheme, name, port string }

func parseHost(s string) (hostPort, bool) {
	if !strings.Contains(s, "://") {
		s = "https://" + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" {
		return hostPort{}, false
	}
	h := hostPort{strings.ToLower(u.Scheme), strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), u.Port()}
	if h.port == "" {
		h.port = map[string]string{"https": "443", "http": "80", "wss": "443", "ws": "80"}[h.scheme]
	}
	return h, true
}

// matches reports whether a rule's host names h; "*.name" stands for any name below.
func (h hostPort) matches(rule hostPort) bool {
	if h.scheme != rule.scheme || h.port != rule.port {
		return false
	}
	if below, ok := strings.CutPrefix(rule.name, "*"); ok {
		return strings.HasPrefix(below, ".") && strings.HasSuffix(h.name, below)
	}
	return h.name == rule.name
}

// private reports whether a destination is in the local network, as far as its name tells.
func (h hostPort) private() bool {
	n := h.name
	if n == "localhost" || strings.HasSuffix(n, ".localhost") || strings.HasSuffix(n, ".local") || strings.HasSuffix(n, ".internal") || !strings.ContainsAny(n, ".:") {
		return true
	}
	ip, err := netip.ParseAddr(n)
	if err != nil {
		// forms such as 127.1 or 0x7f.1 that resolvers take for addresses
		return net.ParseIP(n) != nil || strings.Trim(n, "0123456789abcdefx.") == "" && strings.ContainsAny(n[:1], "0123456789")
	}
	ip = ip.Unmap()
	return ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() || ip.IsMulticast() || ip.IsInterfaceLocalMulticast()
}
