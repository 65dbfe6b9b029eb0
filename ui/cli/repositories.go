package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"parley/agent/program"
	"parley/agent/program/checkout"
)

// addRepositories lets programs refer to repositories, which are kept with parley's data. Without a
// place for them they cannot be used.
func (a *app) addRepositories(o *program.Options) {
	cache := a.toolCache()
	if cache == "" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.checkouts == nil {
		tokens := map[string]string{"github.com": a.io.getenv("GITHUB_AUTH_TOKEN")}
		if host := a.enterpriseHost(); host != "" {
			tokens[host] = a.io.getenv("GH_ENTERPRISE_TOKEN")
		}
		for host, token := range tokens {
			if token != "" {
				a.redactor.Add("the token for "+host, token)
			}
		}
		a.checkouts = &checkout.Store{Dir: filepath.Join(cache, "repositories"), Environ: os.Environ(), Tokens: tokens, Update: a.f.update}
	}
	o.Repositories = a.checkouts
	if host := a.enterpriseHost(); host != "" {
		o.RepositoryHosts = []string{host}
	}
}

func (a *app) enterpriseHost() string {
	return firstSet(a.f.enterprise, a.io.getenv("GPTSCRIPT_GITHUB_ENTERPRISE_HOSTNAME"))
}

// updated tells which repositories check --update has taken anew.
func (a *app) updated() {
	if a.checkouts == nil {
		return
	}
	for _, c := range a.checkouts.Changes() {
		fmt.Fprintf(a.io.err, "· %s@%s: %.12s is now %.12s\n", c.New.Repository, c.New.Ref, c.Old.Commit, c.New.Commit)
	}
}
