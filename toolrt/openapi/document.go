package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
	"github.com/getkin/kin-openapi/openapi3"
)

const (
	// maxOperations bounds the tools of one document.
	maxOperations = 10_000
	// maxDescription bounds a tool's description in bytes (8.1).
	maxDescription = 1024
)

// ErrNoDocument says that a text is no OpenAPI document that can be read. It is used as what it is
// otherwise, such as plain text (1.1).
var ErrNoDocument = errors.New("not a readable OpenAPI document")

// Document is an OpenAPI document as tools.
type Document struct {
	Title string
	// Operations are sorted by path, then method.
	Operations []Operation
	// Remarks tell of operations and parts that were left out, and why.
	Remarks []string
}

// Operation is one operation as a tool.
type Operation struct {
	Name        string
	Description string
	// Parameters is the JSON Schema of the arguments; nil when there are none.
	Parameters json.RawMessage
	Request    Request
	// Credentials are what the first usable way of authentication needs (8.2).
	Credentials []Credential
}

// ReadOnly reports whether the operation only reads, by its method.
func (o Operation) ReadOnly() bool { return o.Request.Method == "GET" || o.Request.Method == "HEAD" }

// Load reads a document, JSON or YAML, of version 2 or 3. origin is the address that it was
// downloaded from, "" for a local file: a document that names no server is about that host. A text
// that is no document is [ErrNoDocument]; other errors say why the document cannot be used.
func Load(data []byte, origin string) (doc *Document, err error) {
	defer func() {
		// The library is given whatever people find on the web.
		if p := recover(); p != nil {
			doc, err = nil, fmt.Errorf("%w: reading it failed: %v", ErrNoDocument, p)
		}
	}()
	t, err := parse(data)
	switch {
	case errors.Is(err, errNested):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrNoDocument, err)
	}
	r := reader{doc: t, origin: origin}
	return r.read()
}

// parse reads and resolves a document; version 2 is converted.
func parse(data []byte) (*openapi3.T, error) {
	text, version2, err := normalize(data)
	if err != nil {
		return nil, err
	}
	loader := openapi3.NewLoader() // follows no reference out of the document
	if version2 {
		var old openapi2.T
		if err := json.Unmarshal(text, &old); err != nil {
			return nil, err
		}
		return openapi2conv.ToV3WithLoader(&old, loader, nil)
	}
	t := &openapi3.T{}
	if err := json.Unmarshal(text, t); err != nil {
		return nil, err
	}
	return t, loader.ResolveRefsIn(t, nil)
}

// reader makes the operations of a document.
type reader struct {
	doc    *openapi3.T
	origin string
	out    Document
}

func (r *reader) read() (*Document, error) {
	if r.doc.Info != nil {
		r.out.Title = r.doc.Info.Title
	}
	if r.doc.Paths == nil || r.doc.Paths.Len() == 0 {
		return nil, fmt.Errorf("%w: it has no paths", ErrNoDocument)
	}
	server, err := r.documentServer()
	if err != nil {
		return nil, err
	}
	paths := r.doc.Paths.Map()
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item := paths[path]
		if item == nil {
			continue
		}
		if err := r.readPath(server, path, item); err != nil {
			return nil, err
		}
		if len(r.out.Operations) > maxOperations {
			return nil, fmt.Errorf("the document has more than %d operations", maxOperations)
		}
	}
	return &r.out, nil
}

func (r *reader) readPath(server, path string, item *openapi3.PathItem) error {
	var err error
	if len(item.Servers) > 0 {
		if server, err = r.server(item.Servers[0]); err != nil {
			return err
		}
	}
	operations := item.Operations()
	for _, method := range slices.Sorted(maps.Keys(operations)) {
		op := operations[method]
		if op == nil {
			continue
		}
		at := server
		if op.Servers != nil && len(*op.Servers) > 0 {
			if at, err = r.server((*op.Servers)[0]); err != nil {
				return err
			}
		}
		o, why := r.operation(at, path, method, item, op)
		if why != "" {
			r.out.Remarks = append(r.out.Remarks, fmt.Sprintf("the operation %s %s is left out: %s", method, path, why))
			continue
		}
		r.out.Operations = append(r.out.Operations, o)
	}
	return nil
}

// operation describes one operation, or says why it is left out.
func (r *reader) operation(server, path, method string, item *openapi3.PathItem, op *openapi3.Operation) (_ Operation, why string) {
	o := Operation{Name: operationName(op.OperationID, method, path), Description: op.Description,
		Request: Request{Server: server, Path: path, Method: method}}
	if o.Description == "" {
		o.Description = op.Summary
	}
	o.Description = cut(o.Description, maxDescription)
	args := newArguments()
	for _, p := range parameters(op.Parameters, item.Parameters) {
		if !o.Request.add(p) {
			r.out.Remarks = append(r.out.Remarks, fmt.Sprintf("a parameter of the operation %s %s is left out: it is in %q", method, path, p.In))
			continue
		}
		args.parameter(p)
	}
	if op.RequestBody != nil && op.RequestBody.Value != nil {
		if why := o.body(args, op.RequestBody.Value); why != "" {
			return o, why
		}
	}
	var err error
	if o.Parameters, err = args.schema(); err != nil {
		return o, "its arguments cannot be described: " + err.Error()
	}
	r.secure(&o, op)
	return o, ""
}

// parameters returns those of the operation, then those of the path that it does not replace.
func parameters(operation, path openapi3.Parameters) []*openapi3.Parameter {
	type place struct{ in, name string }
	seen := map[place]bool{}
	var all []*openapi3.Parameter
	for _, ref := range slices.Concat(operation, path) {
		if ref == nil || ref.Value == nil || ref.Value.Name == "" {
			continue
		}
		at := place{ref.Value.In, ref.Value.Name}
		if !seen[at] {
			seen[at] = true
			all = append(all, ref.Value)
		}
	}
	return all
}

var noName = regexp.MustCompile(`[^a-zA-Z0-9_-]+`)

// operationName is the operation's id, else its method and path (8.1).
func operationName(id, method, path string) string {
	if id != "" {
		return id
	}
	return noName.ReplaceAllString(strings.ToLower(method)+strings.ReplaceAll(path, "/", "_"), "")
}

// cut shortens a text to at most n bytes without splitting a character.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// documentServer is the document's first server, or the host it came from.
func (r *reader) documentServer() (string, error) {
	if len(r.doc.Servers) > 0 && r.doc.Servers[0] != nil {
		return r.server(r.doc.Servers[0])
	}
	if r.origin == "" {
		return "", errors.New("no servers found in OpenAPI spec")
	}
	u, err := url.Parse(r.origin)
	if err != nil {
		return "", fmt.Errorf("invalid default host URL: %w", err)
	}
	return r.server(&openapi3.Server{URL: u.Scheme + "://" + u.Host})
}

// server is the address of a server: its variables are replaced by their default or first value. One
// that is relative is below the host the document came from.
func (r *reader) server(s *openapi3.Server) (string, error) {
	if s == nil {
		return "", errors.New("a server of the OpenAPI spec is empty")
	}
	address := s.URL
	for _, name := range slices.Sorted(maps.Keys(s.Variables)) {
		v := s.Variables[name]
		switch {
		case v == nil:
		case v.Default != "":
			address = strings.ReplaceAll(address, "{"+name+"}", v.Default)
		case len(v.Enum) > 0:
			address = strings.ReplaceAll(address, "{"+name+"}", v.Enum[0])
		}
	}
	if r.origin != "" && !strings.Contains(address, "://") {
		if base, err := url.Parse(r.origin); err == nil {
			if u, err := base.Parse(address); err == nil {
				address = u.String()
			}
		}
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("invalid server URL: %s (must use HTTP or HTTPS; relative URLs not supported)", address)
	}
	return strings.TrimSuffix(address, "/"), nil
}
