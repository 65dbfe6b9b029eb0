package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Prefix begins the body of a tool that is an operation; the JSON of its [Request] follows.
const Prefix = "#!sys.openapi"

// bodyArgument is the argument that holds the body of the request (8.1).
const bodyArgument = "requestBodyContent"

// Types of request bodies that are supported, best first (8.1, Q22).
const (
	mimeJSON      = "application/json"
	mimeForm      = "application/x-www-form-urlencoded"
	mimeMultipart = "multipart/form-data"
	mimeText      = "text/plain"
	anyType       = "*/*"
)

var supportedTypes = []string{mimeJSON, mimeForm, mimeMultipart, mimeText}

// Parameter says how an argument is written into a request.
type Parameter struct {
	Name    string `json:"name"`
	Style   string `json:"style"`
	Explode *bool  `json:"explode"`
	// JSON says that the value is written as JSON (a parameter with "content").
	JSON bool `json:"json,omitempty"`
}

// Security is one entry of a way of authentication (8.2).
type Security struct {
	Name       string `json:"name"`       // of the scheme
	Type       string `json:"type"`       // http or apiKey
	Scheme     string `json:"scheme"`     // bearer or basic, for http
	APIKeyName string `json:"apiKeyName"` // for apiKey
	In         string `json:"in"`         // header, query or cookie, for apiKey
}

// Request describes the request of an operation: the JSON in the body of its tool (8.1).
type Request struct {
	Server           string       `json:"server"`
	Path             string       `json:"path"`
	Method           string       `json:"method"`
	BodyContentMIME  string       `json:"bodyContentMIME"`
	SecurityInfos    [][]Security `json:"securityInfos"`
	QueryParameters  []Parameter  `json:"queryParameters"`
	PathParameters   []Parameter  `json:"pathParameters"`
	HeaderParameters []Parameter  `json:"headerParameters"`
	CookieParameters []Parameter  `json:"cookieParameters"`
}

// Body returns the body of the operation's tool.
func (r Request) Body() (string, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return "", fmt.Errorf("describe %s %s: %w", r.Method, r.Path, err)
	}
	return Prefix + " '" + strings.TrimSuffix(buf.String(), "\n") + "'", nil
}

// ParseBody reads the body of an operation's tool.
func ParseBody(body string) (Request, error) {
	text, ok := strings.CutPrefix(body, Prefix)
	if !ok {
		return Request{}, fmt.Errorf("the body does not begin with %s", Prefix)
	}
	text = strings.TrimSpace(text)
	text = strings.TrimSuffix(strings.TrimPrefix(text, "'"), "'")
	var r Request
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return Request{}, fmt.Errorf("failed to unmarshal tool instructions: %w", err)
	}
	return r, nil
}

// add adds a parameter to the request, false if it is nowhere that is known.
func (r *Request) add(p *openapi3.Parameter) bool {
	list := map[string]*[]Parameter{"query": &r.QueryParameters, "path": &r.PathParameters,
		"header": &r.HeaderParameters, "cookie": &r.CookieParameters}[p.In]
	if list == nil {
		return false
	}
	*list = append(*list, Parameter{Name: p.Name, Style: p.Style, Explode: p.Explode, JSON: p.Schema == nil && len(p.Content) > 0})
	return true
}

// body adds the request's body to the operation, or says why that cannot be done.
func (o *Operation) body(args *arguments, body *openapi3.RequestBody) (why string) {
	for _, mime := range supportedTypes {
		content := findContent(body.Content, mime)
		if content == nil && mime == mimeJSON {
			content = findContent(body.Content, anyType) // version 2 without "consumes"
		}
		if content == nil {
			continue
		}
		o.Request.BodyContentMIME = mime
		args.body(content.Schema, body)
		return ""
	}
	return "its body has no type that is supported"
}

// findContent finds the content of a type, parameters such as "; charset=utf-8" aside.
func findContent(all openapi3.Content, mime string) *openapi3.MediaType {
	if c := all[mime]; c != nil {
		return c
	}
	var best *openapi3.MediaType
	bestName := ""
	for name, c := range all {
		plain, _, _ := strings.Cut(name, ";")
		if c != nil && strings.EqualFold(strings.TrimSpace(plain), mime) && (best == nil || name < bestName) {
			best, bestName = c, name
		}
	}
	return best
}
