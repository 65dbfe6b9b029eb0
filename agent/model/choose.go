package model

import (
	"context"
	"fmt"
	"time"
)

// listLimit bounds the question to a server on this machine for its models.
const listLimit = 300 * time.Millisecond

// Choice is the model taken when nothing is configured.
type Choice struct {
	Ref string
	// Reason says in a few words why, for the status line.
	Reason string
}

// Choose picks a model when nothing is configured: the first provider of the registry whose key is
// known or whose address was set to a server on this machine, else the first model of Ollama if it
// answers, else the offline model. probe asks Ollama and must return soon; nil asks nobody. Apart
// from probe and such a server no network is used. Keys that cannot be read count as unknown, and
// the reason says so.
func Choose(ctx context.Context, r *Registry, o Options,
	probe func(context.Context) (models []string, ok bool),
) Choice {
	trouble := ""
	for _, p := range r.Providers() {
		if !p.NeedsKey(Options{Getenv: func(string) string { return "" }}) {
			continue // asked for below, or never chosen
		}
		if !p.NeedsKey(o) {
			return local(ctx, p, o)
		}
		if o.Keys == nil {
			continue
		}
		key, err := o.Keys(ctx, p.Name())
		if err != nil {
			trouble = fmt.Sprintf("; the key for %s cannot be read: %s", p.Name(), Clean(err.Error()))
		}
		if err == nil && key != "" {
			return Choice{ref(p, "", o), "a key for " + p.Name() + " is known"}
		}
	}
	if p, known := r.Provider("ollama"); known && probe != nil {
		if models, ok := probe(ctx); ok && len(models) > 0 {
			return Choice{ref(p, models[0], o), "Ollama answers on this machine"}
		}
	}
	reason := "no key is known and Ollama does not answer" + trouble
	if p, known := r.Provider("offline"); known {
		return Choice{ref(p, "", o), reason}
	}
	return Choice{"", reason}
}

// local chooses a model of a server on this machine: its first, if it says which it has.
func local(ctx context.Context, p Provider, o Options) Choice {
	c := Choice{ref(p, "", o), "the address for " + p.Name() + " is on this machine"}
	lister, ok := p.(Lister)
	if !ok {
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	if models, err := lister.Models(ctx, o); err == nil && len(models) > 0 {
		c.Ref = ref(p, models[0], o)
	}
	return c
}

// ref returns the full name of a provider's model; "" is its default.
func ref(p Provider, name string, o Options) string {
	m, err := p.Open(name, o)
	if err != nil {
		return p.Name() + "/" + name
	}
	return m.Ref()
}
