// Package openai speaks the chat completions wire: OpenAI itself and every server with a compatible
// address (llama.cpp, vLLM, LM Studio, OpenRouter, Gemini's endpoint, …) as the provider "openai",
// and a local Ollama as the provider "ollama". Start with [New] and [NewOllama].
//
// The library writes the request line and headers and reads the lines of the stream. The body is
// made here, because the library leaves out a temperature of 0 and empty texts, and the pieces are
// read here, because it knows only one of the names that servers give to reasoning.
package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"parley/agent/model"
	"parley/agent/model/internal/wire"
	"parley/agent/model/network"
)

// DefaultModel is the model of a ref that names only the provider, as in GPTScript (4.2).
const DefaultModel = "gpt-4o"

// service is one provider on this wire.
type service struct {
	name     string
	fallback string // the model when none is named, "" for none
	keyVar   string // the environment variable of the key, "" when keys are not used
	internal bool   // whether GPTScript's generic instruction is added (4.2)
	known    wire.Catalogue
	// address returns the base URL when the options give none.
	address   func(getenv func(string) string) string
	transport http.RoundTripper
}

// New returns the provider "openai". Its address is the option's, else OPENAI_BASE_URL, else
// OpenAI's. A key is needed unless the server is on this machine.
func New() model.Provider {
	return &service{
		name: "openai", fallback: DefaultModel, keyVar: "OPENAI_API_KEY", internal: true, known: catalogue,
		address: func(getenv func(string) string) string {
			if base := getenv("OPENAI_BASE_URL"); base != "" {
				return base
			}
			return "https://api.openai.com/v1"
		},
		transport: network.Transport(os.Getenv, nil),
	}
}

func (s *service) Name() string { return s.name }

// NeedsKey is false for servers on this machine and for Ollama.
func (s *service) NeedsKey(o model.Options) bool {
	if s.keyVar == "" {
		return false
	}
	base, err := s.base(o)
	return err != nil || !network.IsLocal(base)
}

func (s *service) base(o model.Options) (*url.URL, error) {
	address := o.BaseURL
	if address == "" {
		address = s.address(func(name string) string { return wire.Getenv(o, name) })
	}
	return wire.BaseURL(address)
}

// Open returns the model of that name; "" is the default model. An address that is no http URL is
// an error.
func (s *service) Open(name string, o model.Options) (model.Model, error) {
	if name == "" {
		name = s.fallback
	}
	if name == "" {
		return nil, fmt.Errorf("write %s/MODEL with the name of a model", s.name)
	}
	base, err := s.base(o)
	if err != nil {
		return nil, fmt.Errorf("open %s/%s: %w", s.name, name, err)
	}
	transport := o.Transport
	if transport == nil {
		transport = s.transport
	}
	return &chat{
		service: s, name: name, base: base, options: o, transport: transport, needsKey: s.NeedsKey(o),
	}, nil
}

// Models asks the server for the names of its models.
func (s *service) Models(ctx context.Context, o model.Options) ([]string, error) {
	opened, err := s.Open("-", o)
	if err != nil {
		return nil, err
	}
	m := opened.(*chat)
	key, err := m.key(ctx)
	if err != nil {
		return nil, err
	}
	x := &wire.Exchange{Transport: m.transport}
	ctx = x.Begin(ctx, listLimit)
	defer x.Close()
	list, err := m.client(x, key).ListModels(ctx)
	if err != nil {
		return nil, m.failure(x, key, nil, err)
	}
	var names []string
	for _, one := range list.Models {
		names = append(names, model.Clean(one.ID))
	}
	return names, nil
}

// listLimit is how long a list of models may take to come.
const listLimit = 20 * time.Second

// chat is a model of a service.
type chat struct {
	*service
	name      string
	base      *url.URL
	options   model.Options
	transport http.RoundTripper
	needsKey  bool
}

var (
	_ model.Model  = (*chat)(nil)
	_ model.Lister = (*service)(nil)
)

func (m *chat) Ref() string { return m.service.name + "/" + m.name }

func (m *chat) Info() model.Info {
	info := m.known.Info(m.service.name, m.name)
	info.InternalPrompt = m.internal
	return info
}

// client returns the library's client for one exchange.
func (m *chat) client(x *wire.Exchange, key string) *openai.Client {
	config := openai.DefaultConfig(key)
	config.BaseURL = m.base.String()
	config.HTTPClient = x
	config.EmptyMessagesLimit = 1 << 30 // the exchange bounds the stream
	return openai.NewClientWithConfig(config)
}

// key returns the key to send, "" for none.
func (m *chat) key(ctx context.Context) (string, error) {
	if m.keyVar == "" {
		return "", nil
	}
	key, err := wire.Key(ctx, m.options, m.service.name, m.needsKey)
	if err == nil && key == "" && m.needsKey {
		err = &model.Error{Provider: m.service.name, NoKey: true, Message: "there is no key", Hint: m.keyHint()}
	}
	return key, err
}

func (m *chat) keyHint() string {
	return "set " + m.keyVar + " or store the key: `parley credentials set sys." + m.service.name + "`"
}

// failure words what went wrong and what the person can do about it.
func (m *chat) failure(x *wire.Exchange, key string, object []byte, err error) error {
	err = x.Failure(wire.Failure{Provider: m.service.name, Address: m.base, Secret: key}, object, err)
	e, ok := errors.AsType[*model.Error](err)
	switch {
	case !ok:
	case e.NoKey && m.keyVar != "":
		e.Hint = m.keyHint()
	case e.Code == "insufficient_quota":
		e.Hint = "the account behind the key has no credit left"
	case m.keyVar == "" && e.Status == 0 && x.Status == 0:
		e.Hint = "start it with `ollama serve`"
	case m.keyVar == "" && e.Status == http.StatusNotFound:
		e.Hint = "get the model with `ollama pull " + strings.TrimSpace(model.Clean(m.name)) + "`"
	case e.Status == http.StatusNotFound:
		e.Hint = "check the name of the model and the base URL " + m.base.Redacted()
	}
	return err
}

// Access returns the server's address and the key as a bearer token.
func (s *service) Access(ctx context.Context, o model.Options) (model.Access, error) {
	opened, err := s.Open("-", o)
	if err != nil {
		return model.Access{}, err
	}
	m := opened.(*chat)
	key, err := m.key(ctx)
	if err != nil {
		return model.Access{}, err
	}
	a := model.Access{BaseURL: m.base.String(), Header: http.Header{}}
	if key != "" {
		a.Header.Set("Authorization", "Bearer "+key)
	}
	return a, nil
}

// OpenAI is true.
func (s *service) OpenAI() bool { return true }

var _ model.Accessible = (*service)(nil)
