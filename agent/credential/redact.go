package credential

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"parley/toolrt"
)

// minSecret is the length in characters from which a value can be found safely: a shorter one
// would hide ordinary text.
const minSecret = 8

// Redactor replaces secret values by ‹secret:NAME› in one pass (R67). It is safe for concurrent
// use, and reading takes no lock.
type Redactor struct {
	mu    sync.Mutex        // guards known
	known map[string]string // form to mark
	state atomic.Pointer[redaction]
}

// redaction is what Redact uses; it is replaced as a whole.
type redaction struct {
	replace *strings.Replacer
	longest int
	forms   []string          // longest first
	known   map[string]string // form to mark
}

var _ toolrt.Redactor = (*Redactor)(nil)

// NewRedactor returns a redactor that knows nothing yet.
func NewRedactor() *Redactor { return &Redactor{known: map[string]string{}} }

// Add makes a value known, with its URL-, Base64- and JSON-escaped forms. It reports whether the
// value is too short (under 8 characters) to be found, in which case nothing is added.
func (r *Redactor) Add(name, value string) (short bool) {
	value = strings.TrimSpace(value)
	if utf8.RuneCountInString(value) < minSecret {
		return value != ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.known[value]; ok {
		return false
	}
	mark := "‹secret:" + cleanName(name) + "›"
	for _, f := range forms(value) {
		if _, ok := r.known[f]; !ok {
			r.known[f] = mark
		}
	}
	r.rebuild()
	return false
}

// rebuild makes the replacer anew. At one place the longest form wins: earlier pairs go first.
func (r *Redactor) rebuild() {
	found := make([]string, 0, len(r.known))
	for f := range r.known {
		found = append(found, f)
	}
	slices.SortFunc(found, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	pairs := make([]string, 0, 2*len(found))
	for _, f := range found {
		pairs = append(pairs, f, r.known[f])
	}
	r.state.Store(&redaction{strings.NewReplacer(pairs...), len(found[0]), found, maps.Clone(r.known)})
}

// Redact returns text with every known value replaced, also one that is divided by colour codes,
// other control sequences or signs that are not seen.
func (r *Redactor) Redact(text string) string {
	s := r.state.Load()
	if s == nil || len(text) < minSecret {
		return text
	}
	text = s.replace.Replace(text)
	if concealing(text) {
		text = s.through(text)
	}
	return text
}

// Longest returns the length in bytes of the longest form of a known value.
func (r *Redactor) Longest() int {
	if s := r.state.Load(); s != nil {
		return s.longest
	}
	return 0
}

// cleanName keeps a mark on one line and closed.
func cleanName(name string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || c == '‹' || c == '›' || c == utf8.RuneError {
			return '_'
		}
		return c
	}, name)
}

// forms returns the ways in which a value appears in texts. Forms that are too short to be told
// from ordinary text are left out.
func forms(v string) []string {
	query, path := url.QueryEscape(v), url.PathEscape(v)
	out := []string{v, query, path, lowerHex(query), lowerHex(path), strings.ReplaceAll(query, "+", "%20")}
	if b, err := json.Marshal(v); err == nil {
		out = append(out, string(b[1:len(b)-1]))
	}
	out = append(out, jsonPlain(v))
	out = append(out, base64.StdEncoding.EncodeToString([]byte(v)), base64.URLEncoding.EncodeToString([]byte(v)))
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			out = append(out, base64Core(enc, v, shift))
		}
	}
	if strings.Contains(v, "\n") {
		out = append(out, strings.ReplaceAll(v, "\n", "\r\n"))
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(f string) bool { return utf8.RuneCountInString(f) < minSecret })
}

// jsonPlain is the JSON form without HTML escapes.
func jsonPlain(v string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return v
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(b.String(), "\n"), `"`), `"`)
}

// lowerHex writes percent escapes in lower case.
func lowerHex(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			b.WriteString(strings.ToLower(s[i : i+3]))
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// base64Core returns the characters that v gives inside a longer Base64 text, when it begins at a
// byte whose place is shift modulo three: the ones that depend on v alone.
func base64Core(enc *base64.Encoding, v string, shift int) string {
	text := enc.EncodeToString([]byte(strings.Repeat("\x00", shift) + v))
	from := []int{0, 2, 3}[shift]
	to := (shift + len(v)) * 8 / 6
	return text[from:min(to, len(text))]
}
