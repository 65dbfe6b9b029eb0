package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
)

// transport adds a server's headers to requests to its own host, repairs its messages, and ends its
// requests with ctx.
type transport struct {
	ctx     context.Context
	base    http.RoundTripper
	host    string
	headers []string
	remark  func(string)
	// refused is the status of the last answer to a POST that was no success.
	refused atomic.Int32
}

func newTransport(ctx context.Context, cfg Config, remark func(string)) (*transport, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("read the address: %w", err)
	}
	return &transport{ctx: ctx, base: http.DefaultTransport.(*http.Transport).Clone(), host: u.Host, headers: cfg.Headers, remark: remark}, nil
}

// client is an HTTP client that stays on the server's host: headers may be secrets for it.
func (t *transport) client() *http.Client {
	return &http.Client{Transport: t, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) >= 10 {
			return errors.New("stopped after 10 redirects")
		}
		if first := via[0].URL; req.URL.Host != first.Host || req.URL.Scheme != first.Scheme {
			return fmt.Errorf("redirected to another server, which was not asked for: %s", req.URL.Host)
		}
		return nil
	}}
}

func (t *transport) close() {
	if base, ok := t.base.(*http.Transport); ok {
		base.CloseIdleConnections()
	}
}

// RoundTrip sends a request.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	stop := context.AfterFunc(t.ctx, cancel)
	release := func() { stop(); cancel() }
	req = req.Clone(ctx)
	if req.URL.Host == t.host {
		for _, kv := range t.headers {
			key, value, _ := strings.Cut(kv, "=")
			req.Header.Set(key, value)
		}
	}
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		release()
		return nil, err
	}
	if req.Method == http.MethodPost && resp.StatusCode >= 400 {
		t.refused.Store(int32(resp.StatusCode))
	}
	resp.Body = &releasing{resp.Body, release}
	return resp, t.repair(resp)
}

// repair puts a repairing reader before the body of an answer.
func (t *transport) repair(resp *http.Response) error {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch kind {
	case "application/json":
		text, err := io.ReadAll(io.LimitReader(resp.Body, maxMessage+1))
		if err == nil && len(text) > maxMessage {
			err = errTooLong
		}
		if err != nil {
			return errors.Join(err, resp.Body.Close())
		}
		text = repair(text, t.remark)
		resp.Body = &replaced{bytes.NewReader(text), resp.Body}
		resp.ContentLength = int64(len(text))
		resp.Header.Del("Content-Length")
	case "text/event-stream":
		resp.Body = &eventReader{lines: bufio.NewReader(resp.Body), body: resp.Body, remark: t.remark}
		resp.ContentLength = -1
	}
	return nil
}

type releasing struct {
	io.ReadCloser
	release func()
}

func (r *releasing) Close() error {
	defer r.release()
	return r.ReadCloser.Close()
}

type replaced struct {
	io.Reader
	body io.Closer
}

func (r *replaced) Close() error { return r.body.Close() }

// eventReader repairs the messages in a stream of events.
type eventReader struct {
	lines  *bufio.Reader
	body   io.Closer
	remark func(string)
	rest   []byte
	err    error
}

func (r *eventReader) Close() error { return r.body.Close() }

func (r *eventReader) Read(b []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.rest, r.err = r.line()
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// line reads one line with its end, repaired if it is a message.
func (r *eventReader) line() ([]byte, error) {
	var line []byte
	for {
		part, err := r.lines.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxMessage {
			return nil, errTooLong
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		data, ok := bytes.CutPrefix(line, []byte("data:"))
		if !ok {
			return line, err
		}
		message := bytes.TrimSpace(data)
		fixed := repair(message, r.remark)
		if bytes.Equal(fixed, message) {
			return line, err
		}
		return append(append([]byte("data: "), fixed...), '\n'), err
	}
}
