package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"parley/agent/model"
	"parley/agent/program"
	"parley/toolrt"
	"parley/toolrt/command"
	"parley/toolrt/web"
)

// categoryProvider marks calls that start the server behind "Model: NAME from TOOL" (4.9).
const categoryProvider = "provider"

// providerEnv begins the names of variables that providers are sent with each request.
const providerEnv = "GPTSCRIPT_MODEL_PROVIDER_"

// providerServer is where a provider that is a tool answers. Its endpoint starts it again if it has
// ended meanwhile.
type providerServer struct {
	endpoint func(ctx context.Context) (command.Endpoint, error)
	running  func() bool
}

// providerModel opens the model of a tool whose provider is a tool. That one is started by a call of
// its own, before the first request (see reachProvider).
func (t *turn) providerModel(tool *program.Tool, ref program.Reference) (model.Model, error) {
	if t.s.o.OpenVia == nil {
		return nil, fmt.Errorf("model %q: providers that are tools cannot be used here", tool.ModelName)
	}
	name, _, _ := strings.Cut(tool.ModelName, " from ")
	return t.s.o.OpenVia(strings.TrimSpace(name), func(next http.RoundTripper) http.RoundTripper {
		return providerTransport{t.s, ref.ToolID, next}
	})
}

// reachProvider starts the provider of the call's model if that is a tool which does not run.
func (c *call) reachProvider(ctx context.Context) error {
	ref, ok := c.t.program().Provider(c.tool)
	if !ok || c.t.played != nil || c.t.s.provider(ref.ToolID).running() {
		return nil
	}
	address, err := c.inner(ctx, "p", c.t.row.Number, 0, ref, "{}", categoryProvider)
	if err != nil {
		return fmt.Errorf("start the provider of model %q: %w", c.tool.ModelName, err)
	}
	if c.t.program().Tool(ref.ToolID).Kind() == program.KindDaemon {
		return nil // it has told the session where it is
	}
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("the provider of model %q is to print the address of its server, and printed %q", c.tool.ModelName, address)
	}
	c.t.s.setProvider(ref.ToolID, providerServer{
		endpoint: func(context.Context) (command.Endpoint, error) { return command.Endpoint{URL: u.String()}, nil },
		running:  func() bool { return true },
	})
	return nil
}

// provider returns the provider of that tool; one that never ran has no endpoint.
func (s *Session) provider(toolID string) providerServer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.providers[toolID]; ok {
		return p
	}
	return providerServer{
		endpoint: func(context.Context) (command.Endpoint, error) {
			return command.Endpoint{}, errors.New("the provider of the model was not started")
		},
		running: func() bool { return false },
	}
}

func (s *Session) setProvider(toolID string, p providerServer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.providers[toolID] = p
}

// providerStart is the runtime's tool that starts a daemon which is a model's provider. Its result is
// where that answers.
type providerStart struct {
	*web.Tool
	c *call
}

// Preview shows what is started.
func (p providerStart) Preview(context.Context, *toolrt.Call) (toolrt.Preview, error) {
	return toolrt.Preview{Summary: "Starting the provider of a model", Command: p.Daemon.Command}, nil
}

// Run starts it and waits until it answers.
func (p providerStart) Run(ctx context.Context, inv *toolrt.Invocation) (toolrt.Output, error) {
	at, err := p.Daemon.Start(ctx, inv)
	if err != nil {
		return toolrt.Output{}, &toolrt.Error{Kind: toolrt.KindExecutionFailed, Tool: p.Name, Message: err.Error(), Plain: true, Cause: err}
	}
	s, id := p.c.t.s, p.c.tool.ID
	s.setProvider(id, providerServer{
		endpoint: func(ctx context.Context) (command.Endpoint, error) { return p.Daemon.Start(ctx, inv) },
		running:  func() bool { return s.daemons.Running(id) },
	})
	return toolrt.Output{Text: at.URL}, nil
}

// providerTransport sends the requests for a model to its provider.
type providerTransport struct {
	s      *Session
	toolID string
	next   http.RoundTripper
}

// RoundTrip sends one request.
func (p providerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	out, err := p.addressed(r)
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // as every RoundTripper must
		}
		return nil, err
	}
	return p.next.RoundTrip(out)
}

// addressed is the request as it goes to the provider.
func (p providerTransport) addressed(r *http.Request) (*http.Request, error) {
	at, err := p.s.provider(p.toolID).endpoint(r.Context())
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(at.URL)
	if err != nil {
		return nil, err
	}
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host, out.Host = base.Scheme, base.Host, ""
	out.URL.Path = strings.TrimSuffix(base.Path, "/") + out.URL.Path
	if at.Token != "" {
		out.Header.Set("X-GPTScript-Daemon-Token", at.Token)
	}
	environ := p.s.o.Env
	if environ == nil {
		environ = os.Environ()
	}
	var sent []string
	for _, kv := range environ {
		if strings.HasPrefix(kv, providerEnv) {
			sent = append(sent, kv)
		}
	}
	if len(sent) > 0 {
		out.Header.Set("X-GPTScript-Env", strings.Join(sent, ","))
	}
	return out, nil
}
