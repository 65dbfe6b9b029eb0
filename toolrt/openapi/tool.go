package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"parley/toolrt"
	"parley/toolrt/command"
)

// bodyMax bounds an answer in bytes; it is held in memory.
const bodyMax = 16 << 20

// Tool sends the request of an operation. Its fields are not changed once it is used.
type Tool struct {
	Name        string
	Description string
	// Source names the document, for rules and people.
	Source  string
	Request Request
	// Params is the JSON Schema that arguments are held to; nil takes any object.
	Params  json.RawMessage
	Flags   toolrt.Flags
	Timeout time.Duration
	// Abort says that a failure ends the run, as it does when the program's own entry is the tool.
	// Calls with a category always do; the others answer the model with the failure (Q30).
	Abort bool
}

var (
	_ toolrt.Tool      = (*Tool)(nil)
	_ toolrt.Previewer = (*Tool)(nil)
)

// Spec describes the tool. Arguments are checked before a call, which the schema of a document
// allows (design, Compatibility).
func (t *Tool) Spec() toolrt.Spec {
	flags := t.Flags
	flags.External = true
	return toolrt.Spec{Name: t.Name, Description: t.Description, Parameters: t.Params, Validate: true, Flags: flags,
		Timeout: t.Timeout, Source: "openapi:" + t.Source}
}

// Preview shows where the request would go. Secrets are no part of it.
func (t *Tool) Preview(ctx context.Context, call *toolrt.Call) (toolrt.Preview, error) {
	in, err := parseInput(call.Arguments)
	if err != nil {
		return toolrt.Preview{Summary: t.Request.Method + " " + t.Request.Server + t.Request.Path, URL: t.Request.Server}, nil
	}
	req, err := t.request(ctx, in)
	if err != nil {
		return toolrt.Preview{Summary: t.Request.Method + " " + t.Request.Server + t.Request.Path, URL: t.Request.Server}, nil
	}
	return toolrt.Preview{Summary: req.Method + " " + req.URL.String(), URL: req.URL.String()}, nil
}

// Run sends the request. The result is the body of the answer, below a line with the status unless
// it is one of success (Q22).
func (t *Tool) Run(ctx context.Context, inv *toolrt.Invocation) (toolrt.Output, error) {
	out, err := t.send(ctx, inv)
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return toolrt.Output{}, ctx.Err()
	case inv.Call.Category == "" && !t.Abort:
		return toolrt.Output{Text: fmt.Sprintf("ERROR: got (%v) while running tool, OUTPUT: ", err), IsError: true}, nil
	}
	return toolrt.Output{}, &toolrt.Error{Kind: toolrt.KindExecutionFailed, Tool: t.Name, Message: err.Error(), Plain: true, Cause: err}
}

func (t *Tool) send(ctx context.Context, inv *toolrt.Invocation) (toolrt.Output, error) {
	in, err := parseInput(inv.Args)
	if err != nil {
		return toolrt.Output{}, err
	}
	req, err := t.request(ctx, in)
	if err != nil {
		return toolrt.Output{}, err
	}
	if err := t.Request.authenticate(req, Environment(inv.Call.Env)); err != nil {
		return toolrt.Output{}, fmt.Errorf("error setting up authentication: %w", err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableKeepAlives = true
	resp, err := (&http.Client{Transport: transport, CheckRedirect: sameServer}).Do(req)
	if err != nil {
		return toolrt.Output{}, fmt.Errorf("failed to make request: %w", withoutQuery(err))
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, bodyMax+1))
	switch {
	case err != nil:
		return toolrt.Output{}, fmt.Errorf("failed to read response: %w", err)
	case len(body) > bodyMax:
		return toolrt.Output{}, fmt.Errorf("the answer of %s is larger than %d bytes", req.URL.Host, bodyMax)
	}
	text := readable(resp.Header.Get("Content-Type"), body)
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return toolrt.Output{Text: fmt.Sprintf("HTTP status %s\n%s", status(resp), text), IsError: true}, nil
	}
	return toolrt.Output{Text: text}, nil
}

func status(resp *http.Response) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode)))
}

// Environment looks variables up in the environment of a call; nil is the process's, without keys of
// model providers.
func Environment(environ []string) func(name string) string {
	if environ == nil {
		environ = command.StripProviderKeys(os.Environ())
	}
	return func(name string) string {
		value, _ := command.Lookup(environ, name)
		return value
	}
}

// withoutQuery takes the query, which may hold a secret, out of an error's address.
func withoutQuery(err error) error {
	var failed *url.Error
	if !errors.As(err, &failed) {
		return err
	}
	short := *failed
	if u, parseErr := url.Parse(failed.URL); parseErr == nil {
		u.RawQuery = ""
		short.URL = u.Redacted()
	}
	return &short
}

// readable is the body of an answer as text; what is no text is only named.
func readable(contentType string, body []byte) string {
	if utf8.Valid(body) {
		return string(body)
	}
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind = "application/octet-stream"
	}
	if params["charset"] != "" || strings.HasPrefix(kind, "text/") {
		return strings.ToValidUTF8(string(body), string(utf8.RuneError))
	}
	return fmt.Sprintf("[%d bytes of %s, not shown]", len(body), kind)
}

// request makes the request without its secrets.
func (t *Tool) request(ctx context.Context, in input) (*http.Request, error) {
	path, err := t.Request.path(in)
	if err != nil {
		return nil, err
	}
	address := strings.TrimSuffix(t.Request.Server, "/") + "/" + strings.TrimPrefix(path, "/")
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("failed to parse server URL %s: %w", address, err)
	}
	q := u.Query()
	t.Request.query(in, q)
	u.RawQuery = q.Encode()
	body, contentType, err := t.Request.content(in)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, t.Request.Method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("failed to create request: %w", err)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	} else {
		req.Body, req.GetBody, req.ContentLength = nil, nil, 0
	}
	return req, t.Request.headers(in, req)
}

// content is the body of the request and its type, "" when there is none.
func (r Request) content(in input) (body []byte, contentType string, err error) {
	value, given := in.value(bodyArgument)
	switch r.BodyContentMIME {
	case "":
		return nil, "", nil
	case mimeJSON:
		if !given {
			value = map[string]any{}
		}
		return []byte(jsonText(value) + "\n"), mimeJSON, nil
	case mimeText:
		if given {
			body = []byte(command.ValueText(value))
		}
		return body, mimeText, nil
	case mimeForm:
		object, ok := value.(map[string]any)
		if given && !ok {
			return nil, "", fmt.Errorf("%s requires an object as the %s", mimeForm, bodyArgument)
		}
		form := url.Values{}
		for _, key := range pairs(object) {
			if list, ok := object[key[0]].([]any); ok {
				form[key[0]] = texts(list)
				continue
			}
			form.Set(key[0], key[1])
		}
		return []byte(form.Encode()), mimeForm, nil
	case mimeMultipart:
		object, ok := value.(map[string]any)
		if !ok {
			return nil, "", fmt.Errorf("%s requires an object as the %s", mimeMultipart, bodyArgument)
		}
		return multiPart(object)
	}
	return nil, "", fmt.Errorf("unsupported MIME type: %s", r.BodyContentMIME)
}

func multiPart(object map[string]any) ([]byte, string, error) {
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	for _, kv := range pairs(object) {
		if err := w.WriteField(kv[0], kv[1]); err != nil {
			return nil, "", fmt.Errorf("failed to write multipart field: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", fmt.Errorf("failed to close multipart writer: %w", err)
	}
	return buf.Bytes(), w.FormDataContentType(), nil
}

var errOtherServer = errors.New("redirected to another server, which was not asked for")

// sameServer follows redirects on the server of the request only: the approval was for that one, and
// the request may carry secrets for it.
func sameServer(req *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("stopped after 10 redirects")
	}
	if first := via[0].URL; req.URL.Host != first.Host || req.URL.Scheme != first.Scheme {
		return fmt.Errorf("%w: %s", errOtherServer, req.URL.Host)
	}
	return nil
}
