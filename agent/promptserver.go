package agent

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"parley/toolrt/sys"
)

// The variables by which a command finds the prompt server (7.3).
const (
	PromptURLVariable   = "GPTSCRIPT_PROMPT_URL"
	PromptTokenVariable = "GPTSCRIPT_PROMPT_TOKEN"
)

// maxQuestion bounds the body of a question in bytes.
const maxQuestion = 1 << 20

// promptServer lets a command of a call, which may run parley again, ask the person at this
// process: POST / with a question as sys.prompt takes it, POST /authorize with a question about a
// call, POST /provider with {"model": "provider/name"} (or without, for the program's own) for the
// use of a model's provider, see [Lent]. It listens on the loopback address, and each call has a token of its own, so that the
// question names who asks.
type promptServer struct {
	url  string
	http *http.Server
	done chan struct{} // closed when the server has ended

	mu     sync.Mutex // guards tokens
	tokens map[string]*call
}

// startPromptServer starts a server. The caller closes it.
func startPromptServer() (*promptServer, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the prompt server: %w", err)
	}
	p := &promptServer{url: "http://" + listener.Addr().String(), done: make(chan struct{}), tokens: map[string]*call{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{$}", p.handle(p.prompt))
	mux.HandleFunc("POST /authorize", p.handle(p.authorize))
	mux.HandleFunc("POST /provider", p.handle(p.provider))
	p.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(p.done)
		_ = p.http.Serve(listener) // ends with close
	}()
	return p, nil
}

// close ends the server and the questions that are open through it.
func (p *promptServer) close() error {
	err := p.http.Close()
	<-p.done
	return err
}

// environment admits the call and returns the variables by which its commands reach the server. The
// call is forgotten when forget runs.
func (p *promptServer) environment(c *call) (env []string, forget func()) {
	token := rand.Text()
	p.mu.Lock()
	p.tokens[token] = c
	p.mu.Unlock()
	return []string{PromptURLVariable + "=" + p.url, PromptTokenVariable + "=" + token}, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.tokens, token)
	}
}

// callOf returns the call whose token the request carries.
func (p *promptServer) callOf(r *http.Request) *call {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for known, c := range p.tokens {
		if subtle.ConstantTimeCompare([]byte(known), []byte(token)) == 1 {
			return c
		}
	}
	return nil
}

// handle checks the token, reads the body, and stops the call's clock while the person is asked.
func (p *promptServer) handle(answer func(ctx context.Context, c *call, body []byte) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := p.callOf(r)
		if c == nil {
			http.Error(w, "unknown token", http.StatusUnauthorized)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxQuestion))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		ctx, cancel := context.WithCancelCause(r.Context())
		defer cancel(nil)
		defer context.AfterFunc(c.t.ctx, func() { cancel(context.Cause(c.t.ctx)) })()
		resume := c.t.s.runtime.Pause(c.path)
		value, err := answer(ctx, c, body)
		resume()
		switch {
		case errors.Is(err, ErrNobody):
			if waits, ok := errors.AsType[*NobodyError](err); ok {
				c.unanswered.Store(waits)
			}
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		case err != nil:
			http.Error(w, err.Error(), http.StatusBadRequest)
		default:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(value) // the command may have gone
		}
	}
}

func (p *promptServer) prompt(ctx context.Context, c *call, body []byte) (any, error) {
	q, err := sys.ParseQuestion(string(body))
	if err != nil {
		return nil, err
	}
	return host{c}.Prompt(ctx, q)
}

// authorize puts a question of a parley that the call's command runs to the person, under the path
// of agents that led to it.
func (p *promptServer) authorize(ctx context.Context, c *call, body []byte) (any, error) {
	var q ApprovalQuestion
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, fmt.Errorf("read the question: %w", err)
	}
	s := c.t.s
	if s.o.Authorizer == nil {
		return nil, ErrNobody
	}
	q.ID = fmt.Sprintf("%d:%s:%s", c.t.row.Number, c.path, q.ID)
	q.Agents = append(append(c.agents(), c.name()), q.Agents...)
	q.Path, q.Label, q.Placed = c.path, c.state.Label, func() {}
	// A rule made here would not hold there.
	q.Rules = nil
	return s.o.Authorizer.Authorize(ctx, q)
}

// provider lends the provider of a model to a parley that the call's command runs.
func (p *promptServer) provider(ctx context.Context, c *call, body []byte) (any, error) {
	var asked struct{ Model string }
	if err := json.Unmarshal(body, &asked); err != nil {
		return nil, fmt.Errorf("read the question: %w", err)
	}
	if asked.Model == "" {
		asked.Model = c.t.model.Ref()
	}
	return c.lend(ctx, asked.Model)
}

// prompts returns the session's prompt server, started at its first use. Nil means that it cannot be
// started. It is there where nobody can be asked too: it lends the model provider, and tells what had
// to be asked.
func (s *Session) prompts() *promptServer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server == nil && !s.closed {
		server, err := startPromptServer()
		if err != nil {
			return nil // commands that ask will say that they cannot
		}
		s.server = server
	}
	return s.server
}
