// Package web holds the tools that are requests: "#!http://…" and "#!https://…" tools of .gpt
// programs, which post their input to a URL (6.6). Start with [Tool].
package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"parley/toolrt"
	"parley/toolrt/command"
)

// bodyMax bounds an answer in bytes; it is held in memory.
const bodyMax = 16 << 20

// daemonDomain is the domain of hosts that stand for daemon tools (6.6).
const daemonDomain = ".daemon.gptscript.local"

// DaemonName returns the name of the daemon tool that the host of a URL stands for (6.6), "" when it
// stands for none.
func DaemonName(address string) string {
	_, rest, ok := strings.Cut(address, "://")
	if !ok {
		return ""
	}
	host, _, _ := strings.Cut(rest, "/")
	host, _, _ = strings.Cut(host, ":")
	name, ok := strings.CutSuffix(host, daemonDomain)
	if !ok {
		return ""
	}
	if plain, err := url.PathUnescape(name); err == nil {
		return plain
	}
	return name
}

// Daemon is the server behind a tool, which is started when it is needed (6.7).
type Daemon struct {
	// Start returns where it answers, ready for requests.
	Start func(ctx context.Context, inv *toolrt.Invocation) (command.Endpoint, error)
	// Command is what starting it runs, for questions.
	Command string
	// Wants are variables that it asks for (requestedEnvVars of its metadata).
	Wants []string
}

// Tool posts its input to a URL (6.6). Its fields are not changed once it is used.
type Tool struct {
	// Name is the tool's name as written, which the server is told; it may be empty.
	Name        string
	Description string
	// URL is the first line of the body without "#!". ${NAME} in it is replaced. With a Daemon its
	// host and port are the daemon's.
	URL string
	// Daemon is nil for a server that runs by itself.
	Daemon  *Daemon
	Params  json.RawMessage
	Flags   toolrt.Flags
	Timeout time.Duration
	// Abort says that a failure ends the run, as it does when the program's own entry is the tool.
	// Calls with a category always do; the others answer the model with the failure (Q30).
	Abort bool
}

// Failure is the error of a request that ended the run.
type Failure struct {
	URL string
	// Status is the status code of the answer, zero if none came.
	Status int
	Err    error
}

func (e *Failure) Error() string { return e.Err.Error() }

func (e *Failure) Unwrap() error { return e.Err }

var (
	_ toolrt.Tool      = (*Tool)(nil)
	_ toolrt.Previewer = (*Tool)(nil)
)

// Spec describes the tool.
func (t *Tool) Spec() toolrt.Spec {
	flags := t.Flags
	flags.External = true
	return toolrt.Spec{Name: t.Name, Description: t.Description, Parameters: t.Params, Flags: flags, Timeout: t.Timeout, Source: "http"}
}

// Preview shows where the request would go.
func (t *Tool) Preview(_ context.Context, call *toolrt.Call) (toolrt.Preview, error) {
	address := t.address(variables(call, call.Arguments, t.Params))
	p := toolrt.Preview{Summary: "Posting to " + address, URL: address}
	if t.Daemon != nil {
		p.Command = t.Daemon.Command
	}
	return p, nil
}

// Run sends the request. The result is the body of the answer; a JSON string is decoded.
func (t *Tool) Run(ctx context.Context, inv *toolrt.Invocation) (toolrt.Output, error) {
	vars := variables(inv.Call, inv.Args, t.Params)
	address := t.address(vars)
	text, status, err := t.post(ctx, inv, address, vars)
	switch {
	case err == nil:
		return toolrt.Output{Text: text, Secret: inv.Call.Category == "credential"}, nil
	case ctx.Err() != nil:
		return toolrt.Output{}, ctx.Err()
	case inv.Call.Category == "" && !t.Abort:
		return toolrt.Output{Text: fmt.Sprintf("ERROR: got (%v) while running tool, OUTPUT: ", err), IsError: true}, nil
	}
	failure := &Failure{URL: address, Status: status, Err: err}
	return toolrt.Output{}, &toolrt.Error{Kind: toolrt.KindExecutionFailed, Tool: t.Name, Message: err.Error(), Plain: true, Cause: failure}
}

// variables returns what ${NAME} means: the keys of the input by their derived names, under the
// variables of the process and the call, which win.
func variables(call *toolrt.Call, input string, params json.RawMessage) map[string]string {
	environ := call.Env
	if environ == nil {
		environ = command.StripProviderKeys(os.Environ())
	}
	vars := map[string]string{}
	layers := [][]string{command.Environment(command.Env{Input: input, Params: params}), environ}
	if call.Workspace != "" {
		layers = slices.Insert(layers, 1, []string{"GPTSCRIPT_WORKSPACE_DIR=" + call.Workspace, "GPTSCRIPT_WORKSPACE_ID=directory://" + call.Workspace})
	}
	for _, layer := range layers {
		for _, kv := range layer {
			name, value, _ := strings.Cut(kv, "=")
			if plain, err := command.Decompress(value); err == nil {
				value = plain
			}
			vars[name] = value
		}
	}
	return vars
}

// address is the URL with its variables replaced.
func (t *Tool) address(vars map[string]string) string {
	return os.Expand(t.URL, func(name string) string { return url.PathEscape(vars[name]) })
}

func (t *Tool) post(ctx context.Context, inv *toolrt.Invocation, address string, vars map[string]string) (text string, status int, err error) {
	req, err := t.request(ctx, inv, address, vars)
	if err != nil {
		return "", 0, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableKeepAlives = true
	if t.Daemon != nil {
		transport.Proxy = nil
	}
	resp, err := (&http.Client{Transport: transport, CheckRedirect: sameHost}).Do(req)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, bodyMax+1))
	switch {
	case err != nil:
		return "", resp.StatusCode, fmt.Errorf("read answer of [%s]: %w", address, err)
	case len(body) > bodyMax:
		return "", resp.StatusCode, fmt.Errorf("answer of [%s] is larger than %d bytes", address, bodyMax)
	case resp.StatusCode > 299:
		return "", resp.StatusCode, fmt.Errorf("error in request to [%s] [%d]: %s: %s", address, resp.StatusCode, resp.Status, body)
	}
	return decode(resp.Header.Get("Content-Type"), body), resp.StatusCode, nil
}

// request makes the request, for which a daemon is started first.
func (t *Tool) request(ctx context.Context, inv *toolrt.Invocation, address string, vars map[string]string) (*http.Request, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	var daemon command.Endpoint
	if t.Daemon != nil {
		if daemon, err = t.Daemon.Start(ctx, inv); err != nil {
			return nil, err
		}
		at, err := url.Parse(daemon.URL)
		if err != nil {
			return nil, err
		}
		u.Scheme, u.Host = at.Scheme, at.Host
	}
	input := inv.Args
	if body, ok := vars["BODY"]; ok {
		input = body
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), strings.NewReader(input))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", contentType(input))
	req.Header.Set("X-GPTScript-Tool-Name", headerText(t.Name))
	var wants []string
	if t.Daemon != nil {
		req.Header.Set("X-GPTScript-Daemon-Token", daemon.Token)
		wants = t.Daemon.Wants
	}
	for _, name := range exported(vars, wants) {
		req.Header.Add("X-GPTScript-Env", headerText(name+"="+vars[name]))
	}
	return req, nil
}

// contentType is JSON for the text of an object, else plain text.
func contentType(body string) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(body), &fields) == nil && fields != nil {
		return "application/json"
	}
	return "text/plain"
}

// decode returns the body of an answer; a JSON string becomes its text.
func decode(contentType string, body []byte) string {
	var text string
	if contentType == "application/json" && json.Unmarshal(body, &text) == nil {
		return text
	}
	return string(body)
}

// exported returns the names of the variables that the server gets, sorted: the workspace's, those
// that its daemon wants, and those that GPTSCRIPT_HTTP_ENV_PREFIX and GPTSCRIPT_HTTP_ENV name. Empty ones are left out, and
// those of several lines, which no header can hold.
func exported(vars map[string]string, wants []string) []string {
	prefixes := append(list(vars["GPTSCRIPT_HTTP_ENV_PREFIX"]), "GPTSCRIPT_WORKSPACE_")
	names := append(list(vars["GPTSCRIPT_HTTP_ENV"]), wants...)
	var all []string
	for name, value := range vars {
		wanted := slices.Contains(names, name) ||
			slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
		if wanted && value != "" && headerText(value) == value {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

func list(text string) []string {
	var parts []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// headerText takes out of a text what no header line can hold.
func headerText(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, text)
}

var errOtherHost = errors.New("redirected to another host, which was not asked for")

// sameHost follows redirects on the host of the request only: the approval was for that one, and
// the headers carry variables meant for it.
func sameHost(req *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("stopped after 10 redirects")
	}
	if req.URL.Host != via[0].URL.Host {
		return fmt.Errorf("%w: %s", errOtherHost, req.URL.Host)
	}
	return nil
}
