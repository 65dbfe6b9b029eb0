package openapi

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Credential is a secret that an operation needs, kept under a name of its own (8.2).
type Credential struct {
	Name     string // the alias it is kept under: host and scheme
	Variable string
	// Field is what the person is asked for, e.g. "bearer token".
	Field string
}

// schemeName is what the name of a security scheme may be: it becomes part of a reference and of the
// names of variables.
var schemeName = regexp.MustCompile(`^[a-zA-Z0-9._-]+$`)

// secure adds the ways of authentication of an operation: its own, else the document's. Ways with a
// scheme that is not supported are left out. For the first way that is left the credentials are
// named, unless the document says that the operation can do without.
func (r *reader) secure(o *Operation, op *openapi3.Operation) {
	ways := r.doc.Security
	if op.Security != nil {
		ways = *op.Security
	}
	optional := false
	for _, way := range ways {
		optional = optional || len(way) == 0
		if infos, ok := r.securityOf(way); ok {
			o.Request.SecurityInfos = append(o.Request.SecurityInfos, infos)
		}
	}
	switch {
	case len(o.Request.SecurityInfos) == 0:
		return
	case optional: // asked of nobody, used where it is there
		o.Request.SecurityInfos = append(o.Request.SecurityInfos, []Security{})
		return
	}
	host := hostName(o.Request.Server)
	for _, s := range o.Request.SecurityInfos[0] {
		o.Credentials = append(o.Credentials, s.credentials(host)...)
	}
}

// securityOf returns the entries of one way, sorted by name; false when it is empty or cannot be
// used.
func (r *reader) securityOf(way openapi3.SecurityRequirement) ([]Security, bool) {
	var infos []Security
	for name := range way {
		if r.doc.Components == nil {
			return nil, false
		}
		ref := r.doc.Components.SecuritySchemes[name]
		if ref == nil || ref.Value == nil || !schemeName.MatchString(name) {
			return nil, false
		}
		s := Security{Name: name, Type: ref.Value.Type, Scheme: strings.ToLower(ref.Value.Scheme), APIKeyName: ref.Value.Name, In: ref.Value.In}
		if !s.supported() {
			return nil, false
		}
		infos = append(infos, s)
	}
	slices.SortFunc(infos, func(a, b Security) int { return strings.Compare(a.Name, b.Name) })
	return infos, len(infos) > 0
}

func (s Security) supported() bool {
	switch s.Type {
	case "apiKey":
		return s.APIKeyName != "" && slices.Contains([]string{"header", "query", "cookie"}, s.In)
	case "http":
		return s.Scheme == "basic" || s.Scheme == "bearer"
	}
	return false
}

// variables are those that hold the secret of the entry.
func (s Security) variables(host string) []string {
	name := "GPTSCRIPT_" + envLike(host) + "_" + envLike(s.Name)
	if s.Type == "http" && s.Scheme == "basic" {
		return []string{name + "_USERNAME", name + "_PASSWORD"}
	}
	return []string{name}
}

func (s Security) credentials(host string) []Credential {
	vars := s.variables(host)
	if len(vars) == 2 {
		return []Credential{{host + s.Name + "Username", vars[0], "username"}, {host + s.Name + "Password", vars[1], "password"}}
	}
	field := "bearer token"
	if s.Type == "apiKey" {
		field = s.APIKeyName
	}
	return []Credential{{host + s.Name, vars[0], field}}
}

// envLike makes a name part of a variable's.
func envLike(name string) string {
	return strings.ToUpper(strings.NewReplacer(".", "_", "-", "_", ":", "_").Replace(name))
}

func hostName(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// Satisfied reports whether env has every variable of one of the ways of authentication, or none is
// needed: then nobody has to be asked for a credential.
func (r Request) Satisfied(env func(name string) string) bool {
	_, missing := r.way(env)
	return missing == nil
}

// way returns the first way of authentication whose variables are all set, or which are missing of
// each. Both are nil when none is needed.
func (r Request) way(env func(name string) string) (found []Security, missing [][]string) {
	host := hostName(r.Server)
	for _, infos := range r.SecurityInfos {
		var lacks []string
		for _, s := range infos {
			for _, name := range s.variables(host) {
				if env(name) == "" {
					lacks = append(lacks, name)
				}
			}
		}
		if len(lacks) == 0 {
			return infos, nil
		}
		missing = append(missing, lacks)
	}
	return nil, missing
}

// authenticate puts the secrets of the first usable way into the request (8.2).
func (r Request) authenticate(req *http.Request, env func(name string) string) error {
	infos, missing := r.way(env)
	if missing != nil {
		return fmt.Errorf("did not find the needed environment variables for any of the security options. "+
			"At least one of these sets of environment variables must be provided: %v", missing)
	}
	bearer := env("GPTSCRIPT_" + envLike(hostName(r.Server)) + "_BEARER_TOKEN")
	if len(infos) == 0 && bearer == "" {
		return nil
	}
	if req.URL.Scheme != "https" && !loopback(req.URL.Hostname()) {
		return fmt.Errorf("the secret for %s is not sent over plain http: the server in the document must be https", req.URL.Host)
	}
	for _, s := range infos {
		s.apply(req, s.values(hostName(r.Server), env))
	}
	if bearer != "" && req.Header.Get("Authorization") == "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	return nil
}

func (s Security) values(host string, env func(name string) string) []string {
	var values []string
	for _, name := range s.variables(host) {
		values = append(values, env(name))
	}
	return values
}

func (s Security) apply(req *http.Request, values []string) {
	switch {
	case s.Type == "http" && s.Scheme == "basic":
		req.SetBasicAuth(values[0], values[1])
	case s.Type == "http":
		req.Header.Set("Authorization", "Bearer "+values[0])
	case s.In == "header":
		req.Header.Set(s.APIKeyName, values[0])
	case s.In == "query":
		q := req.URL.Query()
		q.Set(s.APIKeyName, values[0])
		req.URL.RawQuery = q.Encode()
	case s.In == "cookie":
		req.AddCookie(&http.Cookie{Name: s.APIKeyName, Value: values[0]})
	}
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
