package model

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Keys finds a provider's API key: from the environment, else from the credential store. It
// returns "" when there is none.
type Keys func(ctx context.Context, provider string) (string, error)

// Options is what a provider needs to open a model.
type Options struct {
	BaseURL string // overrides the provider's own address
	Keys    Keys   // nil: no keys
	// Transport carries the requests; nil takes a transport of the provider's own.
	Transport http.RoundTripper
	// DisableRetries turns off retries of 429, 5xx and broken streams.
	DisableRetries bool
	// Retrier says how failures are retried. The zero value has the defaults.
	Retrier Retrier
	// Silence is how long a model may send nothing, before its first byte or later, until the
	// request counts as broken. Zero takes 2 minutes.
	Silence time.Duration
	// Getenv reads the environment; nil takes os.Getenv.
	Getenv func(string) string
}

// Provider opens models.
type Provider interface {
	// Name is the part before the slash, e.g. "openai".
	Name() string
	// Open returns the model of that name. It asks no network and no key: both wait until the
	// first request.
	Open(name string, o Options) (Model, error)
	// NeedsKey reports whether requests need a key with these options.
	NeedsKey(o Options) bool
}

// Registry knows the providers. It is not changed after start-up and safe for concurrent use.
type Registry struct {
	providers []Provider
}

// NewRegistry returns a registry of the given providers, in the order in which a default is
// chosen.
func NewRegistry(p ...Provider) *Registry { return &Registry{providers: p} }

// Providers returns the providers in order.
func (r *Registry) Providers() []Provider { return slices.Clone(r.providers) }

// Provider returns the provider of that name.
func (r *Registry) Provider(name string) (Provider, bool) {
	for _, p := range r.providers {
		if p.Name() == name {
			return p, true
		}
	}
	return nil, false
}

// Open opens the model of a "provider/name"; a provider's name alone opens its default model. A ref
// without a known provider before its first slash goes to the provider fallback (which may be "")
// with the whole text as the name.
func (r *Registry) Open(ref, fallback string, o Options) (Model, error) {
	provider, name, _ := strings.Cut(ref, "/")
	p, known := r.Provider(provider)
	if !known {
		if p, known = r.Provider(fallback); !known {
			return nil, fmt.Errorf("model %q names no provider: write PROVIDER/NAME with one of %s",
				ref, strings.Join(r.names(), ", "))
		}
		name = ref
	}
	return p.Open(name, o)
}

func (r *Registry) names() []string {
	var names []string
	for _, p := range r.providers {
		names = append(names, p.Name())
	}
	return names
}

// Lister is a Provider that can name its models.
type Lister interface {
	Provider
	// Models returns the names of the models that can be opened. It may ask the provider's server,
	// with one request and no retries; errors are as those of Model.Stream.
	Models(ctx context.Context, o Options) ([]string, error)
}

// Access is how a request reaches a provider.
type Access struct {
	// BaseURL is what clients of the provider put their paths behind.
	BaseURL string
	// Header carries the key.
	Header http.Header
}

// Accessible is a Provider whose access can be lent: see package relay.
type Accessible interface {
	Provider
	// Access returns the provider's address and key with these options. A missing key that is
	// needed is an error.
	Access(ctx context.Context, o Options) (Access, error)
	// OpenAI reports whether it speaks OpenAI's protocol.
	OpenAI() bool
}
