package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"parley/agent"
	"parley/agent/model"
	"parley/agent/model/relay"
	"parley/agent/record"
)

// lendLimit is how long the parley that runs this one may take to lend its provider.
const lendLimit = 5 * time.Second

// lender lends the providers of a session's models to the commands of its tools.
func (a *app) lender(row record.Session) func(ctx context.Context, ref string) (agent.Lent, error) {
	return func(ctx context.Context, ref string) (agent.Lent, error) {
		name, _, _ := strings.Cut(ref, "/")
		p, ok := a.models.Provider(name)
		if !ok {
			return agent.Lent{}, fmt.Errorf("%q names no provider", ref)
		}
		provider, ok := p.(model.Accessible)
		if !ok {
			// A model that is part of parley: the inner one has it too.
			return agent.Lent{Model: ref}, nil
		}
		o := a.optionsFor(row, ref, "")
		if _, err := provider.Access(ctx, o); err != nil {
			return agent.Lent{}, err
		}
		server, err := a.relay()
		if err != nil {
			return agent.Lent{}, err
		}
		token := server.Lend(func(ctx context.Context) (model.Access, error) { return provider.Access(ctx, o) })
		return agent.Lent{Model: ref, URL: server.URL(), Token: token, OpenAI: provider.OpenAI()}, nil
	}
}

// relay returns the process's relay, started at its first use.
func (a *app) relay() (*relay.Server, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.relayServer == nil {
		server, err := relay.Start(a.transport())
		if err != nil {
			return nil, err
		}
		a.relayServer = server
	}
	return a.relayServer, nil
}

// closeRelay ends the relay if one was started.
func (a *app) closeRelay() error {
	a.mu.Lock()
	server := a.relayServer
	a.mu.Unlock()
	if server == nil {
		return nil
	}
	return server.Close()
}

// lent asks the parley that runs this one for the use of a model's provider, "" for its own model.
// ok is false where there is none, or it cannot lend it.
func (a *app) lent(ctx context.Context, ref string) (agent.Lent, bool) {
	r := newRemote(a.io.getenv)
	if r == nil {
		return agent.Lent{}, false
	}
	a.mu.Lock()
	lent, known := a.borrowed[ref]
	a.mu.Unlock()
	if known {
		return lent, lent.Model != ""
	}
	lent, err := r.provider(ctx, ref)
	if err != nil {
		a.log.Warn("the parley that runs this one does not lend its provider", "model", ref, "err", err)
	}
	if lent.Token != "" {
		a.redactor.Add("provider", lent.Token)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.borrowed == nil {
		a.borrowed = map[string]agent.Lent{}
	}
	a.borrowed[ref] = lent
	return lent, lent.Model != ""
}
