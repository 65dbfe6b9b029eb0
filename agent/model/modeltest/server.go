package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Server answers from a script. Its methods may be called from several goroutines.
type Server struct {
	url    string
	http   *http.Server
	closed chan struct{}
	served sync.WaitGroup // the accepting goroutine

	// mu guards the fields below.
	mu       sync.Mutex
	script   Script
	used     []int // by reply
	requests []Request
	holds    map[string]*hold
}

// hold is a place where replies wait.
type hold struct {
	release chan struct{} // closed by Release
	arrived chan struct{} // closed by the first reply that waits
	once    sync.Once
	freed   sync.Once
}

// Start starts a server on a free port of this machine. Close must be called.
func Start(script Script) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("model server: %w", err)
	}
	s := &Server{
		url: "http://" + listener.Addr().String() + "/v1", closed: make(chan struct{}),
		script: script, used: make([]int, len(script.Replies)), holds: map[string]*hold{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.handle(openAI{}))
	mux.HandleFunc("POST /v1/messages", s.handle(anthropic{}))
	mux.HandleFunc("GET /v1/models", s.models)
	s.http = &http.Server{Handler: mux}
	s.served.Go(func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			panic(err) // nothing of a test can be trusted then
		}
	})
	return s, nil
}

// URL returns the base URL for both providers.
func (s *Server) URL() string { return s.url }

// Close ends the server, also replies that hang or are held, and waits for them.
func (s *Server) Close() {
	close(s.closed)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close() // a client that does not read keeps a handler busy
	}
	s.served.Wait()
}

// Requests returns what was asked so far, in order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Golden returns the bodies of all requests so far, for comparison with a file.
func (s *Server) Golden() string {
	var b strings.Builder
	for _, r := range s.Requests() {
		b.Write(r.Body)
		b.WriteByte('\n')
	}
	return b.String()
}

// Left returns how many replies were never used.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := 0
	for _, n := range s.used {
		if n == 0 {
			left++
		}
	}
	return left
}

// Release lets replies go on that hold at that name, now and later.
func (s *Server) Release(name string) {
	h := s.hold(name)
	h.freed.Do(func() { close(h.release) })
}

// Held returns a channel that is closed when a reply waits at that name.
func (s *Server) Held(name string) <-chan struct{} { return s.hold(name).arrived }

func (s *Server) hold(name string) *hold {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, ok := s.holds[name]
	if !ok {
		h = &hold{release: make(chan struct{}), arrived: make(chan struct{})}
		s.holds[name] = h
	}
	return h
}

// handle answers requests of one wire.
func (s *Server) handle(w format) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		request := newRequest(w, r, body)
		reply, ok := s.take(request)
		if !ok {
			reply = Reply{Status: http.StatusBadRequest, Error: &Error{
				Code: "no_reply", Message: "the script has no reply for: " + request.Last,
			}}
		}
		s.answer(rw, r, w, reply)
	}
}

// take records a request and chooses its reply.
func (s *Server) take(r Request) (Reply, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	for i, reply := range s.script.Replies {
		if reply.Repeat >= 0 && s.used[i] > reply.Repeat || !reply.When.holds(r) {
			continue
		}
		s.used[i]++
		return reply, true
	}
	return Reply{}, false
}

// answer sends a reply.
func (s *Server) answer(rw http.ResponseWriter, r *http.Request, w format, reply Reply) {
	for name, value := range reply.Headers {
		rw.Header().Set(name, value)
	}
	var events []string
	switch {
	case reply.Raw != "":
		events = []string{reply.Raw}
	case reply.Status != 0 && reply.Status != http.StatusOK:
		events = []string{w.failure(reply)}
		rw.Header().Set("Content-Type", "application/json")
	default:
		events = w.events(reply)
	}
	if rw.Header().Get("Content-Type") == "" {
		rw.Header().Set("Content-Type", "text/event-stream")
	}
	if reply.Status != 0 {
		rw.WriteHeader(reply.Status)
	}
	s.send(&sender{rw: rw, request: r, closed: s.closed}, reply, events)
}

// send writes the events as the reply says.
func (s *Server) send(out *sender, reply Reply, events []string) {
	out.flush()
	for i, e := range events {
		if reply.Hold != "" && i == reply.HoldAfter && !out.wait(s.hold(reply.Hold)) {
			return
		}
		if reply.Cut != nil && out.cut(reply, i, e) {
			return
		}
		out.write(e)
	}
	if reply.Hang {
		out.hang()
	}
}

// sender writes one answer.
type sender struct {
	rw      http.ResponseWriter
	request *http.Request
	closed  chan struct{}
	bytes   int
}

func (o *sender) write(text string) {
	n, _ := io.WriteString(o.rw, text) // a client that went away ends the request's context
	o.bytes += n
	o.flush()
}

func (o *sender) flush() {
	if f, ok := o.rw.(http.Flusher); ok {
		f.Flush()
	}
}

// wait waits at a hold and reports whether it was released.
func (o *sender) wait(h *hold) bool {
	h.once.Do(func() { close(h.arrived) })
	select {
	case <-h.release:
		return true
	case <-o.request.Context().Done():
	case <-o.closed:
	}
	return false
}

func (o *sender) hang() {
	select {
	case <-o.request.Context().Done():
	case <-o.closed:
	}
}

// cut ends the stream before the event if it is time, and reports whether it did.
func (o *sender) cut(reply Reply, sent int, event string) bool {
	c := reply.Cut
	switch {
	case c.Bytes > 0 && o.bytes+len(event) > c.Bytes:
		o.write(event[:c.Bytes-o.bytes])
	case c.Bytes == 0 && sent >= c.Events:
	default:
		return false
	}
	if reply.Hang {
		o.hang()
	}
	if c.Abort {
		panic(http.ErrAbortHandler)
	}
	return true
}

// models answers with the list of models.
func (s *Server) models(rw http.ResponseWriter, _ *http.Request) {
	list := []map[string]string{}
	for _, name := range s.script.Models {
		list = append(list, map[string]string{"id": name, "object": "model", "type": "model"})
	}
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(map[string]any{"object": "list", "data": list, "has_more": false})
}
