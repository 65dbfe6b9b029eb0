package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// startTimeout is how long a server may take until it answers, unless its configuration says
// otherwise.
const startTimeout = 30 * time.Second

// Options configure [Servers].
type Options struct {
	// Settings are the servers of the settings by name.
	Settings map[string]Config
	// Changed is told when the state of a server changes; it must return soon. May be nil.
	Changed func()
	Version string       // of parley, told to servers
	Log     *slog.Logger // nil logs nothing
}

// Status says how a server stands.
type Status string

// The states of a server.
const (
	NotStarted Status = "not started"
	Starting   Status = "starting"
	Ready      Status = "ready"
	Failed     Status = "failed"
	Disabled   Status = "disabled"
)

// State is a server as people see it.
type State struct {
	Name   string
	Status Status
	// Detail is the last error line of a server that failed.
	Detail   string
	Line     string // its command or address
	Settings bool   // it is a server of the settings
	Tools    int    // that it offers, once it was ready
	// Remarks tell of tools that were left out or made safe.
	Remarks []string
}

// String is the state in one line.
func (s State) String() string {
	switch s.Status {
	case Failed:
		return "failed: " + s.Detail
	case Ready:
		return fmt.Sprintf("ready, %d tools", s.Tools)
	}
	return string(s.Status)
}

// FailedError says that a server cannot be used.
type FailedError struct {
	Name   string
	Reason string
	// Before says that it had failed earlier and was not tried again.
	Before bool
}

func (e *FailedError) Error() string { return FailureText(e.Name) + e.Reason }

// FailureText begins the text of a [FailedError]; the reason follows.
func FailureText(name string) string { return "the MCP server " + name + " cannot be used: " }

// Servers holds the connections of a session. Its methods are safe for concurrent use. Close it when
// done.
type Servers struct {
	o      Options
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup // connections that are being made or used

	mu     sync.Mutex // guards the fields below
	byKey  map[string]*server
	off    map[string]bool // names of servers that are switched off
	closed bool
}

// server is one configuration.
type server struct {
	name     string
	cfg      Config
	settings bool
	busy     chan struct{} // held while it is started or listed

	mu      sync.Mutex // guards the fields below
	status  Status
	reason  string // why it failed
	place   Place  // where it was started last
	conn    *conn
	listing Listing
	served  bool // it was ready since it was started last
}

// New returns what connects to servers. It starts none.
func New(o Options) *Servers {
	if o.Changed == nil {
		o.Changed = func() {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Servers{o: o, ctx: ctx, cancel: cancel, byKey: map[string]*server{}, off: map[string]bool{}}
	for _, name := range slices.Sorted(maps.Keys(o.Settings)) {
		s.byKey[settingsKey(name)] = newServer(name, o.Settings[name], true)
	}
	return s
}

func newServer(name string, cfg Config, settings bool) *server {
	return &server{name: name, cfg: cfg, settings: settings, status: NotStarted, busy: make(chan struct{}, 1)}
}

// settingsKey is the key of a server of the settings: its configuration may hold secrets and change.
func settingsKey(name string) string { return "settings:" + name }

// KeyOf is the key of the server that a body names.
func (r Ref) KeyOf() string {
	if r.Settings {
		return settingsKey(r.Name)
	}
	return r.Config.Key()
}

// Close ends all connections and the processes of servers, and returns when they are gone.
func (s *Servers) Close() {
	s.mu.Lock()
	s.closed = true
	all := slices.Collect(maps.Values(s.byKey))
	s.mu.Unlock()
	s.cancel()
	var ending sync.WaitGroup
	for _, srv := range all {
		ending.Go(func() { srv.drop(NotStarted, "") })
	}
	ending.Wait()
	s.wg.Wait()
	for _, srv := range all {
		srv.drop(NotStarted, "") // made while the others ended
	}
}

// drop ends the connection, if there is one.
func (srv *server) drop(status Status, reason string) {
	srv.mu.Lock()
	c := srv.conn
	srv.conn, srv.status, srv.reason = nil, status, reason
	srv.mu.Unlock()
	if c != nil {
		c.close()
	}
}

var errEnding = errors.New("parley is ending")

// enter admits a user, who leaves by s.wg.Done; false once Close has begun.
func (s *Servers) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.wg.Add(1)
	}
	return !s.closed
}

// find returns the server of a body, nil if the settings have none of that name.
func (s *Servers) find(r Ref, name string) (*server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := r.KeyOf()
	srv := s.byKey[key]
	switch {
	case srv != nil:
		return srv, nil
	case r.Settings:
		return nil, &FailedError{Name: r.Name, Reason: "the settings have no such server any more"}
	}
	srv = newServer(name, r.Config, false)
	s.byKey[key] = srv
	return srv, nil
}

// List returns what a server offers. A server that does not run is started there; one that had
// failed to start is not tried again until [Servers.Reconnect]. name is for people. The error is a
// [FailedError] unless ctx ended or the session did.
func (s *Servers) List(ctx context.Context, r Ref, name string, p Place) (Listing, error) {
	if !s.enter() {
		return Listing{}, errEnding
	}
	defer s.wg.Done()
	srv, err := s.find(r, name)
	if err != nil {
		return Listing{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(errEnding) })()
	select {
	case srv.busy <- struct{}{}:
		defer func() { <-srv.busy }()
	case <-ctx.Done():
		return Listing{}, context.Cause(ctx)
	}
	c, err := s.connected(ctx, srv, p)
	if err != nil {
		return Listing{}, err
	}
	l, err := s.listed(ctx, srv, c, r.KeyOf())
	if err != nil {
		return Listing{}, err
	}
	if r.Settings {
		return l.Allowed(srv.cfg), nil
	}
	return l.Allowed(r.Config), nil
}

// connected returns the connection, made if there is none. The caller holds srv.busy.
func (s *Servers) connected(ctx context.Context, srv *server, p Place) (*conn, error) {
	s.mu.Lock()
	off := s.off[srv.name]
	s.mu.Unlock()
	if off {
		return nil, &FailedError{Name: srv.name, Reason: "it is switched off", Before: true}
	}
	srv.mu.Lock()
	c, status, why := srv.conn, srv.status, srv.reason
	srv.mu.Unlock()
	switch {
	case c != nil && c.alive():
		return c, nil
	case c == nil && status == Failed:
		return nil, &FailedError{Name: srv.name, Reason: why, Before: true}
	case c != nil:
		srv.drop(Starting, "") // it ended; it is started again
	}
	srv.set(Starting, "")
	s.o.Changed()
	limit := srv.cfg.StartTimeout
	if limit == 0 {
		limit = startTimeout
	}
	late := fmt.Errorf("no answer within %v", limit)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, late)
	defer cancel()
	c, err := dial(ctx, srv.cfg, p, s.o.Version, func() { s.noticed(srv) })
	if err != nil {
		return nil, s.failed(ctx, srv, late, err)
	}
	srv.mu.Lock()
	srv.conn, srv.place, srv.status, srv.served = c, p, Ready, false
	srv.mu.Unlock()
	s.o.Changed()
	return c, nil
}

// failed notes that a server could not be used. A turn that was stopped meanwhile says nothing about
// the server.
func (s *Servers) failed(ctx context.Context, srv *server, late, err error) error {
	defer s.o.Changed()
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, late) {
		srv.drop(NotStarted, "")
		return cause
	}
	srv.drop(Failed, err.Error())
	s.o.Log.Warn("an MCP server cannot be used", "server", srv.name, "err", err)
	return &FailedError{Name: srv.name, Reason: err.Error()}
}

func (srv *server) set(status Status, reason string) {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	srv.status, srv.reason = status, reason
}

// noticed looks at a server that told of something: it may have ended.
func (s *Servers) noticed(srv *server) {
	srv.mu.Lock()
	if c := srv.conn; c != nil && !c.alive() && srv.status == Ready {
		srv.status, srv.reason = Failed, reason(errors.New("the connection ended"), c.tail, c.proc).Error()
	}
	srv.mu.Unlock()
	s.o.Changed()
}

// listed returns the tools of a connected server, asked for again when they have changed.
func (s *Servers) listed(ctx context.Context, srv *server, c *conn, key string) (Listing, error) {
	srv.mu.Lock()
	l, served := srv.listing, srv.served
	srv.mu.Unlock()
	if served && !c.changed.Load() {
		return l, nil
	}
	limit := fmt.Errorf("no answer within %v", startTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, limit)
	defer cancel()
	l, err := c.list(ctx, key, srv.name)
	if err != nil {
		return Listing{}, s.failed(ctx, srv, limit, err)
	}
	srv.mu.Lock()
	srv.listing, srv.served = l, true
	srv.mu.Unlock()
	s.o.Changed()
	return l, nil
}

// Running reports whether the server runs and its list of tools is the one that was given last.
func (s *Servers) Running(key string) (running, changed bool) {
	s.mu.Lock()
	srv := s.byKey[key]
	s.mu.Unlock()
	if srv == nil {
		return false, false
	}
	srv.mu.Lock()
	defer srv.mu.Unlock()
	c := srv.conn
	if c == nil || !c.alive() {
		return false, false
	}
	return true, c.changed.Load()
}

// call calls a tool of a running server.
func (s *Servers) call(ctx context.Context, key string, call Call) (*mcp.CallToolResult, error) {
	if !s.enter() {
		return nil, errEnding
	}
	defer s.wg.Done()
	s.mu.Lock()
	srv := s.byKey[key]
	s.mu.Unlock()
	if srv == nil {
		return nil, errors.New("the MCP server does not run")
	}
	srv.mu.Lock()
	c, why := srv.conn, srv.reason
	srv.mu.Unlock()
	if c == nil || !c.alive() {
		if why == "" {
			why = "it does not run"
		}
		return nil, &FailedError{Name: srv.name, Reason: why}
	}
	return c.call(ctx, call)
}

// States returns the servers by name: those of the settings, and those that programs named.
func (s *Servers) States() []State {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.byKey))
	off := maps.Clone(s.off)
	s.mu.Unlock()
	var states []State
	for _, srv := range all {
		srv.mu.Lock()
		st := State{Name: srv.name, Status: srv.status, Detail: srv.reason, Line: srv.cfg.Line(), Settings: srv.settings,
			Tools: len(srv.listing.Tools), Remarks: srv.listing.Remarks}
		srv.mu.Unlock()
		if off[srv.name] {
			st.Status = Disabled
		}
		states = append(states, st)
	}
	slices.SortFunc(states, func(a, b State) int { return strings.Compare(a.Name+a.Line, b.Name+b.Line) })
	return states
}

// named returns the servers of a name; "" is all of them.
func (s *Servers) named(name string) ([]*server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*server
	for _, srv := range s.byKey {
		if name == "" || srv.name == name {
			found = append(found, srv)
		}
	}
	if len(found) == 0 && name != "" {
		return nil, fmt.Errorf("there is no MCP server %q", name)
	}
	return found, nil
}

// Reconnect ends the connections of a server, "" being all that failed, and forgets that it had
// failed: it is started when it is needed next.
func (s *Servers) Reconnect(name string) error {
	found, err := s.named(name)
	if err != nil {
		return err
	}
	for _, srv := range found {
		srv.mu.Lock()
		skip := name == "" && srv.status != Failed
		srv.mu.Unlock()
		if !skip {
			srv.drop(NotStarted, "")
		}
	}
	s.o.Changed()
	return nil
}

// SetEnabled switches a server on or off for this session. One that is switched off is ended, and
// its tools are not offered.
func (s *Servers) SetEnabled(name string, on bool) error {
	found, err := s.named(name)
	if err != nil {
		return err
	}
	if name == "" {
		return errors.New("name a server")
	}
	s.mu.Lock()
	s.off[name] = !on
	s.mu.Unlock()
	for _, srv := range found {
		if !on {
			srv.drop(NotStarted, "")
		}
	}
	s.o.Changed()
	return nil
}

// Enabled reports whether a server is switched on.
func (s *Servers) Enabled(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.off[name]
}
