package openai

import (
	"context"
	"os"
	"strings"
	"time"

	"parley/agent/model"
	"parley/agent/model/network"
)

// probeLimit keeps the choice of a model from making anybody wait.
const probeLimit = 300 * time.Millisecond

// NewOllama returns the provider "ollama": this wire at http://localhost:11434/v1, or where
// OLLAMA_HOST says, without a key.
func NewOllama() model.Provider {
	return &service{
		name:      "ollama",
		address:   func(getenv func(string) string) string { return ollamaAddress(getenv("OLLAMA_HOST")) },
		transport: network.Transport(os.Getenv, nil),
	}
}

// ollamaAddress turns Ollama's own variable into a base URL: it may lack scheme and port, and
// servers are told to listen on all addresses with it.
func ollamaAddress(host string) string {
	scheme, rest, ok := strings.Cut(strings.TrimRight(strings.TrimSpace(host), "/"), "://")
	if !ok {
		scheme, rest = "http", scheme
	}
	rest = strings.Replace(rest, "0.0.0.0", "localhost", 1)
	switch {
	case rest == "":
		rest = "localhost:11434"
	case strings.HasPrefix(rest, ":"):
		rest = "localhost" + rest
	case !strings.Contains(rest, ":") && !strings.Contains(rest, "/") && scheme == "http":
		rest += ":11434"
	}
	return scheme + "://" + rest + "/v1"
}

// Probe reports whether Ollama answers, and the names of its models, within 300 milliseconds. It
// asks no host but the one that the options or OLLAMA_HOST name. It never fails: anything but a
// list is ok == false.
func Probe(ctx context.Context, o model.Options) (models []string, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	models, err := NewOllama().(*service).Models(ctx, o)
	return models, err == nil
}
