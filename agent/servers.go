package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/agent/program"
	"parley/agent/record"
	"parley/toolrt"
	"parley/toolrt/mcp"
)

// turnServers are the MCP servers of a turn's program. A server is asked for its tools when a call
// first could use them, by a call of its own below the program's: it is put to the person like any
// command, and what the server said is on record, so that a turn that is walked again offers the same
// tools.
type turnServers struct {
	base *program.Program // as it was read, before any server was asked
	ids  []string         // of its servers, sorted
	lock chan struct{}    // held while servers are asked; guards the fields below

	listings map[string]mcp.Listing // by the id of the server's tool
	failed   map[string]bool        // servers that are not asked again in this turn
	asked    map[string]int         // how often
}

func newTurnServers(prg *program.Program) turnServers {
	s := turnServers{base: prg, lock: make(chan struct{}, 1), listings: map[string]mcp.Listing{}, failed: map[string]bool{}, asked: map[string]int{}}
	for id, t := range prg.ToolSet {
		if t.Kind() == program.KindMCPServer {
			s.ids = append(s.ids, id)
		}
	}
	slices.Sort(s.ids)
	return s
}

// hold takes the lock; the caller calls release.
func (s *turnServers) hold(ctx context.Context) (release func(), err error) {
	select {
	case s.lock <- struct{}{}:
		return func() { <-s.lock }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// expand puts the tools of the MCP servers that the call's tool uses into the program: servers that
// were not asked in this turn, or whose tools have changed, are asked, all at once. Servers that
// cannot be used are said, and what they would offer is left out.
func (c *call) expand(ctx context.Context) error {
	t := c.t
	if len(t.servers.ids) == 0 || c.ofServer() {
		return nil
	}
	tool := t.servers.base.Tool(c.tool.ID)
	if tool == nil {
		return nil // one of a server
	}
	release, err := t.servers.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	var ask []*program.Tool
	for _, server := range t.servers.base.Servers(tool) {
		if t.toAsk(server) {
			ask = append(ask, server)
		}
	}
	if err := t.ask(ctx, ask); err != nil {
		return err
	}
	if now := t.program().Tool(c.tool.ID); now != nil {
		c.tool = now
	}
	return nil
}

// ofServer reports whether the call is part of asking a server, as its credentials are.
func (c *call) ofServer() bool {
	for p := c; p != nil; p = p.parent {
		if p.state.Category == categoryServer {
			return true
		}
	}
	return false
}

// toAsk reports whether a server is to be asked now. What an earlier walk of the turn had asked is
// asked again, and answered from the record.
func (t *turn) toAsk(server *program.Tool) bool {
	s := &t.servers
	if _, ok := t.recorded[record.Key{Turn: t.row.Number, Path: t.serverPath(server)}]; ok {
		return true
	}
	if s.failed[server.ID] {
		return false
	}
	l, known := s.listings[server.ID]
	if !known {
		return true
	}
	_, changed := t.s.mcp.Running(l.Key)
	return changed
}

// ask asks servers for their tools, side by side, and puts these into the program. The caller holds
// the lock.
func (t *turn) ask(ctx context.Context, servers []*program.Tool) error {
	if len(servers) == 0 {
		return nil
	}
	listings := make([]mcp.Listing, len(servers))
	errs := make([]error, len(servers))
	calls := make([]*call, len(servers))
	var asking sync.WaitGroup
	for i, server := range servers {
		var err error
		if calls[i], err = t.serverCall(server); err != nil {
			return err
		}
		asking.Go(func() { listings[i], errs[i] = calls[i].listing(ctx) })
	}
	asking.Wait()
	var failed []serverFailure
	for i, server := range servers {
		switch err := errs[i]; {
		case err == nil:
			t.servers.listings[server.ID] = listings[i]
			delete(t.servers.failed, server.ID)
			t.sayRemarks(server, listings[i])
		case t.stops(err):
			return err
		default:
			delete(t.servers.listings, server.ID)
			t.servers.failed[server.ID] = true
			t.s.refuse(calls[i])
			failed = append(failed, serverFailure{serverName(server), err.Error()})
		}
	}
	t.sayFailures(failed)
	t.rebuild()
	return nil
}

// rebuild makes the program anew from what it was and what the servers said, so that it does not
// depend on the order in which they were asked.
func (t *turn) rebuild() {
	prg := t.servers.base
	for _, id := range slices.Sorted(maps.Keys(t.servers.listings)) {
		prg = prg.WithServer(id, t.servers.listings[id])
	}
	t.prg.Store(prg)
}

// stops reports whether an error ends the turn rather than the use of a server.
func (t *turn) stops(err error) bool {
	return t.interrupted() || context.Cause(t.ctx) != nil || errors.Is(err, errInterrupted) || errors.Is(err, ErrNobody) || errors.Is(err, errDiverged)
}

// serverPath is the path of the next call that asks a server. It depends on nothing but how often
// that server was asked, since calls side by side may come to it in any order.
func (t *turn) serverPath(server *program.Tool) string {
	return fmt.Sprintf("%s/m%d.%d.%d", t.root.path, t.row.Number, slices.Index(t.servers.ids, server.ID), t.servers.asked[server.ID])
}

func (t *turn) serverCall(server *program.Tool) (*call, error) {
	st := t.root.sub("m", t.row.Number, 0, program.Reference{ToolID: server.ID}, categoryServer)
	st.Path, st.ToolName = t.serverPath(server), toolName(server)
	t.servers.asked[server.ID]++
	return t.newCall(t.root, st)
}

// listing runs the call of a server's tool and reads what it offers.
func (c *call) listing(ctx context.Context) (mcp.Listing, error) {
	st, err := c.start(ctx, "")
	if err != nil {
		return mcp.Listing{}, err
	}
	var l mcp.Listing
	if err := json.Unmarshal([]byte(st.content()), &l); err != nil {
		return l, fmt.Errorf("read the tools of the MCP server %s: %w", c.name(), err)
	}
	return l, nil
}

type serverFailure struct{ name, reason string }

// sayFailures tells of servers that cannot be used in one line, with the cause if it is common. A
// failure that is known is not told again.
func (t *turn) sayFailures(failed []serverFailure) {
	var names []string
	reasons := map[string]bool{}
	var parts []string
	for _, f := range failed {
		why := strings.TrimPrefix(f.reason, mcp.FailureText(f.name))
		if !t.s.newly("server " + f.name + "\x00" + why) {
			continue
		}
		names, reasons[why] = append(names, f.name), true
		parts = append(parts, f.name+": "+why)
	}
	again := "; /mcp reconnect tries again"
	switch {
	case len(names) == 0:
	case len(names) == 1:
		t.say("the MCP server " + parts[0] + again)
	case len(reasons) == 1:
		t.say(fmt.Sprintf("%d MCP servers cannot be used (%s): %s%s", len(names), strings.Join(names, ", "), slices.Collect(maps.Keys(reasons))[0], again))
	default:
		t.say(fmt.Sprintf("%d MCP servers cannot be used: %s%s", len(names), strings.Join(parts, "; "), again))
	}
}

// sayRemarks tells, once in a session, what was left out of a server's tools.
func (t *turn) sayRemarks(server *program.Tool, l mcp.Listing) {
	if len(l.Remarks) > 0 && t.s.newly("remarks "+server.ID+"\x00"+strings.Join(l.Remarks, "\n")) {
		t.say(fmt.Sprintf("the MCP server %s: %s", serverName(server), strings.Join(l.Remarks, "; ")))
	}
}

// refuse remembers that the person did not let a server start: it is not asked about again in this
// session, until it is reconnected.
func (s *Session) refuse(c *call) {
	d := c.decided
	if d == nil || d.Allow || d.By != "user" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused[c.tool.ID] = true
}

// wasRefused reports whether the call would start a server that the person did not let start.
func (c *call) wasRefused() bool {
	s := c.t.s
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.tool.Kind() == program.KindMCPServer && s.refused[c.tool.ID]
}

// newly reports whether something is said for the first time in this session.
func (s *Session) newly(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.toldOnce[text] {
		return false
	}
	s.toldOnce[text] = true
	return true
}

// serverName is what people know a server by: its name in the settings, else that of its tool.
func serverName(server *program.Tool) string {
	if ref, err := mcp.ParseBody(server.Instructions); err == nil && ref.Settings {
		return ref.Name
	}
	return toolName(server)
}

// serverOf returns the tool of the server whose connection has that key.
func (t *turn) serverOf(key string) *program.Tool {
	for _, id := range t.servers.ids {
		server := t.servers.base.Tool(id)
		if ref, err := mcp.ParseBody(server.Instructions); err == nil && ref.KeyOf() == key {
			return server
		}
	}
	return nil
}

// reached reports whether the call needs no MCP server, or one that runs.
func (c *call) reached() bool {
	if c.tool.Kind() != program.KindMCPTool {
		return true
	}
	_, key, err := mcp.ParseInvoke(c.tool.Instructions)
	if err != nil || c.t.played != nil || c.t.recorded[c.executionKey()].Finished {
		return true
	}
	running, _ := c.t.s.mcp.Running(key)
	return running
}

// reach starts the server of a call's tool if it does not run any more: it has ended, or the turn is
// walked again by another process. That it cannot be started is said by the call itself.
func (c *call) reach(ctx context.Context) error {
	if c.reached() {
		return nil
	}
	_, key, _ := mcp.ParseInvoke(c.tool.Instructions) // reached has read it
	server := c.t.serverOf(key)
	if server == nil {
		return nil
	}
	release, err := c.t.servers.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	if c.reached() {
		return nil // started meanwhile
	}
	again, err := c.t.serverCall(server)
	if err != nil {
		return err
	}
	if _, err = again.listing(ctx); err != nil && c.t.stops(err) {
		return err
	}
	return nil
}

// starter is the runtime's tool that starts the server.
func (c *call) starter() (toolrt.Tool, error) {
	ref, err := mcp.ParseBody(c.tool.Instructions)
	if err != nil {
		return nil, err
	}
	cfg := ref.Config
	if ref.Settings {
		cfg = c.t.s.o.Servers[ref.Name]
	}
	return &mcp.Starter{Servers: c.t.s.mcp, Ref: ref, Name: c.name(), Server: serverName(c.tool), Config: cfg}, nil
}

// serverTool is the runtime's tool of a tool of a server.
func (c *call) serverTool(flags toolrt.Flags, timeout time.Duration) (toolrt.Tool, error) {
	remote, key, err := mcp.ParseInvoke(c.tool.Instructions)
	if err != nil {
		return nil, err
	}
	name := "unknown"
	if server := c.t.serverOf(key); server != nil {
		name = serverName(server)
	}
	return &mcp.Tool{Servers: c.t.s.mcp, Name: c.tool.Name, Server: name, Remote: remote, Key: key, Description: c.tool.Description,
		Params: c.tool.Arguments, Flags: flags, Timeout: timeout, Abort: c.parent == nil}, nil
}

// ownServer reports whether the call starts a server that the person has put into the settings.
func (c *call) ownServer() bool {
	if c.tool.Kind() != program.KindMCPServer {
		return false
	}
	ref, err := mcp.ParseBody(c.tool.Instructions)
	return err == nil && ref.Settings
}

// runningServer reports whether the call only asks a server that runs for its tools.
func (c *call) runningServer() bool {
	if c.tool.Kind() != program.KindMCPServer {
		return false
	}
	ref, err := mcp.ParseBody(c.tool.Instructions)
	if err != nil {
		return false
	}
	running, _ := c.t.s.mcp.Running(ref.KeyOf())
	return running
}

// Servers returns the MCP servers of the settings and those that the program has used, by name.
func (s *Session) Servers() []mcp.State { return s.mcp.States() }

// ReconnectServer ends the connection to the MCP servers of that name, "" being all that failed, and
// forgets that they had: each is started again when it is needed next.
func (s *Session) ReconnectServer(name string) error {
	s.mu.Lock()
	clear(s.refused)
	clear(s.toldOnce) // what fails again is told again
	s.mu.Unlock()
	return s.mcp.Reconnect(name)
}

// EnableServer switches an MCP server on or off for this session.
func (s *Session) EnableServer(name string, on bool) error { return s.mcp.SetEnabled(name, on) }
