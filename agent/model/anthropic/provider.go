// Package anthropic speaks Anthropic's messages wire with the official library: text, thinking with
// its signature, tool calls and usage. Start with [New].
//
// The library's own retries, its reading of the environment and its telemetry are switched off:
// requests are repeated in one place ([model.Retrier]), and what parley sends is decided by parley.
package anthropic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"parley/agent/model"
	"parley/agent/model/internal/wire"
	"parley/agent/model/network"
)

const (
	providerName = "anthropic"
	// DefaultModel is the model of a ref that names only the provider.
	DefaultModel   = "claude-sonnet-5"
	defaultAddress = "https://api.anthropic.com"
	keyVar         = "ANTHROPIC_API_KEY"
	// listLimit is how long a list of models may take to come.
	listLimit = 20 * time.Second
)

type provider struct{ transport http.RoundTripper }

// New returns the provider "anthropic". Its address is the option's, else ANTHROPIC_BASE_URL, else
// Anthropic's; "/v1" at its end may be there or not. A key is needed unless the server is on this
// machine.
func New() model.Provider { return provider{transport: network.Transport(os.Getenv, nil)} }

func (provider) Name() string { return providerName }

// NeedsKey is false for servers on this machine.
func (provider) NeedsKey(o model.Options) bool {
	base, err := address(o)
	return err != nil || !network.IsLocal(base)
}

func address(o model.Options) (*url.URL, error) {
	text := o.BaseURL
	if text == "" {
		text = wire.Getenv(o, "ANTHROPIC_BASE_URL")
	}
	if text == "" {
		text = defaultAddress
	}
	base, err := wire.BaseURL(text)
	if err == nil {
		base.Path = strings.TrimRight(strings.TrimSuffix(base.Path, "/v1"), "/")
	}
	return base, err
}

// Open returns the model of that name; "" is the default model. An address that is no http URL is
// an error.
func (p provider) Open(name string, o model.Options) (model.Model, error) {
	if name == "" {
		name = DefaultModel
	}
	base, err := address(o)
	if err != nil {
		return nil, fmt.Errorf("open %s/%s: %w", providerName, name, err)
	}
	transport := o.Transport
	if transport == nil {
		transport = p.transport
	}
	return &claude{name: name, base: base, options: o, transport: transport, needsKey: p.NeedsKey(o)}, nil
}

// Models asks the server for the names of its models.
func (p provider) Models(ctx context.Context, o model.Options) ([]string, error) {
	opened, err := p.Open("", o)
	if err != nil {
		return nil, err
	}
	m := opened.(*claude)
	key, err := m.key(ctx)
	if err != nil {
		return nil, err
	}
	x := &wire.Exchange{Transport: m.transport}
	ctx = x.Begin(ctx, listLimit)
	defer x.Close()
	service := sdk.NewModelService(m.clientOptions(x, key)...)
	page, err := service.List(ctx, sdk.ModelListParams{Limit: sdk.Int(1000)})
	if err != nil {
		return nil, m.failure(x, key, nil, err)
	}
	var names []string
	for _, one := range page.Data {
		names = append(names, model.Clean(one.ID))
	}
	return names, nil
}

// claude is a model.
type claude struct {
	name      string
	base      *url.URL
	options   model.Options
	transport http.RoundTripper
	needsKey  bool
}

var (
	_ model.Model  = (*claude)(nil)
	_ model.Lister = provider{}
)

func (m *claude) Ref() string { return providerName + "/" + m.name }

func (m *claude) Info() model.Info { return catalogue.Info(providerName, m.name) }

// clientOptions are what every request is made with.
func (m *claude) clientOptions(x *wire.Exchange, key string) []option.RequestOption {
	options := []option.RequestOption{
		option.WithMaxRetries(0), option.WithBaseURL(m.base.String() + "/"), option.WithHTTPClient(x),
	}
	if key != "" {
		options = append(options, option.WithAPIKey(key))
	}
	return options
}

// key returns the key to send, "" for none.
func (m *claude) key(ctx context.Context) (string, error) {
	key, err := wire.Key(ctx, m.options, providerName, m.needsKey)
	if err == nil && key == "" && m.needsKey {
		err = &model.Error{Provider: providerName, NoKey: true, Message: "there is no key", Hint: keyHint}
	}
	return key, err
}

const keyHint = "set " + keyVar + " or store the key: `parley credentials set sys." + providerName + "`"

// failure words what went wrong and what the person can do about it.
func (m *claude) failure(x *wire.Exchange, key string, object []byte, err error) error {
	err = x.Failure(wire.Failure{Provider: providerName, Address: m.base, Secret: key}, object, err)
	e, ok := errors.AsType[*model.Error](err)
	switch {
	case !ok:
	case e.NoKey:
		e.Hint = keyHint
	case e.Status == http.StatusNotFound:
		e.Hint = "check the name of the model and the base URL " + m.base.Redacted()
	}
	return err
}

// Access returns the server's address and the key.
func (p provider) Access(ctx context.Context, o model.Options) (model.Access, error) {
	opened, err := p.Open("", o)
	if err != nil {
		return model.Access{}, err
	}
	m := opened.(*claude)
	key, err := m.key(ctx)
	if err != nil {
		return model.Access{}, err
	}
	a := model.Access{BaseURL: m.base.String(), Header: http.Header{}}
	if key != "" {
		a.Header.Set("X-Api-Key", key)
	}
	return a, nil
}

// OpenAI is false.
func (provider) OpenAI() bool { return false }

var _ model.Accessible = provider{}
