package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/toolrt"
)

// legacy is the protocol that is tried first: the next one begins with a request that older servers
// may leave unanswered.
const legacy = "2025-11-25"

// maxPages bounds the pages of a list of tools.
const maxPages = 100

// conn is a connection to a running server.
type conn struct {
	session *mcp.ClientSession
	proc    *process   // nil for a server behind a URL alone
	http    *transport // nil for one that is spoken to over stdin
	cancel  context.CancelFunc
	tail    *tail
	gone    chan struct{} // closed when the session has ended
	changed atomic.Bool   // the list of tools
	notify  func()        // told of that

	mu      sync.Mutex // guards the fields below
	remarks []string
	calls   []*running // oldest first
	tokens  int
}

// running is a call that waits for its result.
type running struct {
	token string
	call  Call
	// unanswered is why a question of the server got no answer.
	unanswered error
}

// Call is one call of a tool.
type Call struct {
	Tool      string
	Arguments json.RawMessage // an object
	// Out takes the progress that the server tells of, one a line.
	Out io.Writer
	// Ask puts a question of the server to the person. An error that is [toolrt.ErrDeclined] is an
	// answer; others end the call. Nil: nobody can be asked.
	Ask func(ctx context.Context, q toolrt.Question) (map[string]string, error)
}

// dial connects to a server within ctx.
func dial(ctx context.Context, cfg Config, p Place, version string, notify func()) (*conn, error) {
	c, err := open(ctx, cfg, p, version, legacy, notify)
	var refused *jsonrpc.Error
	if errors.As(err, &refused) && cfg.URL == "" {
		// It does not know the old handshake.
		if c, err := open(ctx, cfg, p, version, "", notify); err == nil {
			return c, nil
		}
	}
	return c, err
}

// open connects with one version of the protocol, "" being the newest.
func open(ctx context.Context, cfg Config, p Place, version, protocol string, notify func()) (*conn, error) {
	life, cancel := context.WithCancel(context.Background()) // the connection outlives the call that makes it
	c := &conn{cancel: cancel, tail: &tail{}, gone: make(chan struct{}), notify: notify}
	var err error
	if cfg.Command != "" {
		if c.proc, err = startProcess(cfg, p, c.tail, cfg.URL == "", c.remark); err != nil {
			cancel()
			return nil, err
		}
	}
	if cfg.URL != "" {
		err = c.connectHTTP(ctx, life, cfg, version, protocol)
	} else {
		err = c.connect(ctx, &mcp.IOTransport{Reader: c.proc.out, Writer: c.proc.in, MaxLineLength: -1}, version, protocol)
	}
	if err != nil {
		err = c.explain(ctx, err)
		close(c.gone)
		c.close()
		return nil, err
	}
	go func() {
		defer close(c.gone)
		_ = c.session.Wait() // why it ended is known from the process and its last line
		notify()
	}()
	return c, nil
}

func (c *conn) connectHTTP(ctx, life context.Context, cfg Config, version, protocol string) error {
	var err error
	if c.http, err = newTransport(life, cfg, c.remark); err != nil {
		return err
	}
	if c.proc != nil {
		if err := c.proc.answers(ctx, cfg.URL); err != nil {
			return err
		}
	}
	err = c.connect(ctx, &mcp.StreamableClientTransport{Endpoint: cfg.URL, HTTPClient: c.http.client(), MaxRetries: 2, MaxEventSize: -1}, version, protocol)
	if status := int(c.http.refused.Load()); err != nil && slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed}, status) {
		// The older transport's stream lives as long as the context it is opened with.
		opening, stop := context.WithCancel(life)
		inTime := context.AfterFunc(ctx, stop)
		if c.connect(opening, &mcp.SSEClientTransport{Endpoint: cfg.URL, HTTPClient: c.http.client(), MaxEventSize: -1}, version, protocol) == nil && inTime() {
			context.AfterFunc(life, stop)
			return nil
		}
		stop()
	}
	return err
}

// answers waits until a server that was started accepts connections.
func (p *process) answers(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("read the address: %w", err)
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		var d net.Dialer
		if con, err := d.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port)); err == nil {
			return con.Close()
		}
		select {
		case <-tick.C:
		case <-p.done:
			return errors.New("it ended before it answered")
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (c *conn) connect(ctx context.Context, t mcp.Transport, version, protocol string) error {
	client := mcp.NewClient(&mcp.Implementation{Name: "parley", Version: version}, &mcp.ClientOptions{
		Capabilities:                &mcp.ClientCapabilities{}, // no roots
		ElicitationHandler:          c.elicit,
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { c.changed.Store(true); c.notify() },
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { c.progress(r.Params) },
	})
	session, err := client.Connect(ctx, t, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		return err
	}
	c.session = session
	return nil
}

// explain says why a connection could not be made.
func (c *conn) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	} else if c.proc != nil {
		// What ended the connection may be seen a moment before the process is gone.
		timer := time.NewTimer(100 * time.Millisecond)
		defer timer.Stop()
		select {
		case <-c.proc.done:
		case <-timer.C:
		}
	}
	return reason(err, c.tail, c.proc)
}

// alive reports whether the connection stands.
func (c *conn) alive() bool {
	select {
	case <-c.gone:
		return false
	default:
		return c.proc.ended() == ""
	}
}

// close ends the connection and the server's process, and returns when both are gone.
func (c *conn) close() {
	var ending sync.WaitGroup
	if c.session != nil {
		timer := time.AfterFunc(endGrace, c.cancel) // a server that does not answer is not waited for
		defer timer.Stop()
		ending.Go(func() { _ = c.session.Close() }) // it ends either way
	}
	if c.proc != nil {
		c.proc.end()
	}
	ending.Wait()
	<-c.gone
	c.cancel()
	if c.http != nil {
		c.http.close()
	}
}

func (c *conn) remark(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.remarks) < tailLines {
		c.remarks = append(c.remarks, text)
	}
}

// list asks for the tools.
func (c *conn) list(ctx context.Context, key, name string) (Listing, error) {
	c.changed.Store(false)
	c.mu.Lock()
	c.remarks = nil
	c.mu.Unlock()
	l := Listing{Key: key, Server: name, Tools: []ListedTool{}}
	if init := c.session.InitializeResult(); init != nil {
		if init.ServerInfo != nil && init.ServerInfo.Name != "" {
			l.Server = clean(init.ServerInfo.Name, maxToolName)
		}
		l.Instructions = clean(init.Instructions, maxInstructions)
		if init.Capabilities != nil && init.Capabilities.Tools == nil {
			return l, nil // it has none
		}
	}
	params := &mcp.ListToolsParams{}
	for range maxPages {
		page, err := c.session.ListTools(ctx, params)
		if err != nil {
			return Listing{}, c.explain(ctx, fmt.Errorf("failed to list tools: %w", err))
		}
		for _, t := range page.Tools {
			l.add(t)
		}
		if page.NextCursor == "" {
			break
		}
		params.Cursor = page.NextCursor
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	l.Remarks = append(l.Remarks, c.remarks...)
	return l, nil
}

// call calls a tool and waits for its result.
func (c *conn) call(ctx context.Context, call Call) (*mcp.CallToolResult, error) {
	r := c.begin(call)
	defer c.finish(r)
	params := &mcp.CallToolParams{Name: call.Tool, Arguments: call.Arguments}
	params.SetProgressToken(r.token)
	result, err := c.session.CallTool(ctx, params)
	c.mu.Lock()
	unanswered := r.unanswered
	c.mu.Unlock()
	var refused *jsonrpc.Error
	switch {
	case unanswered != nil:
		return nil, unanswered
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &refused):
		return nil, err // in the server's words
	}
	return nil, c.explain(ctx, err)
}

func (c *conn) begin(call Call) *running {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tokens++
	r := &running{token: "parley-" + strconv.Itoa(c.tokens), call: call}
	c.calls = append(c.calls, r)
	return r
}

func (c *conn) finish(r *running) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = slices.DeleteFunc(c.calls, func(other *running) bool { return other == r })
}

// progress passes what a server tells of a call on to its output. What comes after the result is
// dropped.
func (c *conn) progress(p *mcp.ProgressNotificationParams) {
	c.mu.Lock()
	var out io.Writer
	for _, r := range c.calls {
		if r.token == p.ProgressToken {
			out = r.call.Out
		}
	}
	c.mu.Unlock()
	if out == nil {
		return
	}
	line := strconv.FormatFloat(p.Progress, 'f', -1, 64)
	if p.Total > 0 {
		line += "/" + strconv.FormatFloat(p.Total, 'f', -1, 64)
	}
	if text := clean(p.Message, tailLine); text != "" {
		line += " " + text
	}
	_, _ = io.WriteString(out, line+"\n") // writes to a call's output never fail
}
