// Package relay lends a model provider to the commands of tools: a server on this machine that passes
// their requests on and puts the key in. A command gets the server's address and a token that is
// worth nothing elsewhere and nothing later, never the key. Start with [Start].
package relay

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"parley/agent/model"
)

// Server passes requests on. Its methods are safe for concurrent use. Close it when done.
type Server struct {
	url       string
	http      *http.Server
	transport *http.Transport
	done      chan struct{} // closed when the server has ended

	mu     sync.Mutex // guards access
	access map[string]func(ctx context.Context) (model.Access, error)
}

// Start starts a server on the loopback address that reaches the providers through transport.
func Start(transport *http.Transport) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the relay to the model provider: %w", err)
	}
	s := &Server{url: "http://" + listener.Addr().String(), done: make(chan struct{}),
		transport: transport, access: map[string]func(context.Context) (model.Access, error){}}
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(listener) // ends with Close
	}()
	return s, nil
}

// URL is what clients put their paths behind, in place of the provider's own base URL.
func (s *Server) URL() string { return s.url }

// Lend returns a token for requests to the provider that access describes, which is asked for each
// request. The token is good until Close.
func (s *Server) Lend(access func(ctx context.Context) (model.Access, error)) (token string) {
	token = rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.access[token] = access
	return token
}

// Close ends the server and the requests that are open.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.done
	s.transport.CloseIdleConnections()
	return err
}

// find returns the access that a request's token stands for.
func (s *Server) find(r *http.Request) func(ctx context.Context) (model.Access, error) {
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		given = r.Header.Get("X-Api-Key")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for token, access := range s.access {
		if subtle.ConstantTimeCompare([]byte(token), []byte(given)) == 1 {
			return access
		}
	}
	return nil
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	find := s.find(r)
	if find == nil {
		refuse(w, http.StatusUnauthorized, "this token is not known to the parley that lends the provider")
		return
	}
	access, err := find(r.Context())
	if err != nil {
		refuse(w, http.StatusBadGateway, err.Error())
		return
	}
	base, err := url.Parse(access.BaseURL)
	if err != nil {
		refuse(w, http.StatusBadGateway, err.Error())
		return
	}
	proxy := &httputil.ReverseProxy{
		Transport: s.transport, FlushInterval: -1, // a stream is passed on as it comes
		Rewrite: func(p *httputil.ProxyRequest) { rewrite(p, base, access.Header) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			refuse(w, http.StatusBadGateway, "the model provider cannot be reached: "+err.Error())
		},
	}
	proxy.ServeHTTP(w, r)
}

// rewrite points a request at the provider. Clients differ in whether "/v1" belongs to the base URL.
func rewrite(p *httputil.ProxyRequest, base *url.URL, header http.Header) {
	path := p.In.URL.Path
	if strings.HasSuffix(base.Path, "/v1") {
		path = strings.TrimPrefix(path, "/v1")
	}
	root := *base
	root.Path = "/" + strings.TrimPrefix(root.Path, "/") // an address without one cannot be joined
	p.Out.URL = root.JoinPath(path)
	p.Out.URL.RawQuery = p.In.URL.RawQuery
	p.Out.Host = base.Host
	p.Out.Header.Del("Authorization")
	p.Out.Header.Del("X-Api-Key")
	p.Out.Header.Del("Cookie")
	for name, values := range header {
		p.Out.Header[name] = values
	}
}

// refuse answers in the form in which providers tell errors.
func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"message": message, "type": "relay"}}) // the client may have gone
}
