package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/agent/program"
	"parley/toolrt/approval"
	"parley/toolrt/mcp"
)

// openServers brings the MCP servers of the user's and, as far as it is trusted, the project's
// settings together. The project's win. Their secrets are kept out of every output.
func (a *app) openServers() error {
	a.servers = map[string]mcp.Config{}
	for name, c := range a.cfg.MCP {
		a.servers[name] = c.Config
	}
	project, err := a.projectServers()
	if err != nil {
		return err
	}
	maps.Copy(a.servers, project)
	for name, c := range a.servers {
		for key, value := range c.Secrets() {
			a.redactor.Add("mcp:"+name+":"+key, value)
		}
	}
	return nil
}

// projectServers are the servers of the project's settings, none while these are not trusted.
func (a *app) projectServers() (map[string]mcp.Config, error) {
	path := a.paths.project()
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || path == "" {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the project's settings: %w", err)
	}
	servers, err := readServers(path, data)
	if err != nil || len(servers) == 0 {
		return nil, err
	}
	if !a.trusted(approval.FileHash(data)) {
		a.untrustedServers = fmt.Sprintf("MCP servers of %s have no effect until you trust it: parley config trust", path)
		return nil, nil
	}
	return servers, nil
}

// readServers reads the key mcp of a settings file.
func readServers(path string, data []byte) (map[string]mcp.Config, error) {
	var file struct {
		MCP map[string]serverConfig `json:"mcp"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("config %s%s: %s", path, position(data, err), inWords(err))
	}
	if err := checkServers(path, file.MCP); err != nil {
		return nil, err
	}
	servers := map[string]mcp.Config{}
	for name, c := range file.MCP {
		servers[name] = c.Config
	}
	return servers, nil
}

// serverTool is the tool that stands for the MCP server of the settings which a name is, or begins
// with: mcp_SERVER or mcp_SERVER_TOOL. Of several the longest counts.
func (a *app) serverTool(name string) *program.Tool {
	best := ""
	for server := range a.servers {
		prefix := program.SettingsServerName(server)
		if (name == prefix || strings.HasPrefix(name, prefix+"_")) && len(server) > len(best) {
			best = server
		}
	}
	if best == "" {
		return nil
	}
	return &program.Tool{Name: program.SettingsServerName(best), Description: "The MCP server " + best, Instructions: mcp.SettingsBody(best)}
}

// serverRefs are the references to all MCP servers of the settings, for the assistant.
func (a *app) serverRefs() []string {
	var refs []string
	for _, server := range slices.Sorted(maps.Keys(a.servers)) {
		refs = append(refs, program.SettingsServerName(server))
	}
	return refs
}

// doctorServers is how long doctor waits for an MCP server.
const doctorServers = 10 * time.Second

// serverStates starts each MCP server of the settings and says how it stands.
func (a *app) serverStates(ctx context.Context) []mcp.State {
	servers := mcp.New(mcp.Options{Settings: a.servers, Version: versionText(), Log: a.log})
	defer servers.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, doctorServers, fmt.Errorf("no answer within %v", doctorServers))
	defer cancel()
	var asking sync.WaitGroup
	errs := make([]error, len(a.servers))
	names := slices.Sorted(maps.Keys(a.servers))
	for i, name := range names {
		asking.Go(func() {
			_, errs[i] = servers.List(ctx, mcp.Ref{Name: name, Settings: true}, name, mcp.Place{Dir: a.paths.dir, Env: a.environment("")})
		})
	}
	asking.Wait()
	states := servers.States() // by name, as names is
	for i := range states {
		if errs[i] != nil && states[i].Status != mcp.Failed {
			states[i].Status, states[i].Detail = mcp.Failed, errs[i].Error()
		}
	}
	return states
}
