package model_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"parley/agent/model"
	"parley/agent/model/modeltest"
	"parley/agent/model/offline"
	"parley/agent/model/openai"
)

func TestChoose(t *testing.T) {
	server, err := modeltest.Start(modeltest.Script{Models: []string{"llama-here", "other"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	registry := model.NewRegistry(openai.New(), openai.NewOllama(), offline.New())
	keys := func(key string, err error) model.Keys {
		return func(_ context.Context, provider string) (string, error) {
			if provider != "openai" {
				return "", nil
			}
			return key, err
		}
	}
	ollama := func(context.Context) ([]string, bool) { return []string{"qwen3:8b", "x"}, true }
	silent := func(context.Context) ([]string, bool) { return nil, false }
	none := func(string) string { return "" }
	tests := map[string]struct {
		options     model.Options
		probe       func(context.Context) ([]string, bool)
		ref, reason string
	}{
		"key known":       {model.Options{Keys: keys("sk", nil), Getenv: none}, ollama, "openai/" + openai.DefaultModel, "a key for openai is known"},
		"no key, Ollama":  {model.Options{Keys: keys("", nil), Getenv: none}, ollama, "ollama/qwen3:8b", "Ollama answers"},
		"nothing":         {model.Options{Keys: keys("", nil), Getenv: none}, silent, "offline/parley", "no key is known and Ollama does not answer"},
		"nobody to ask":   {model.Options{Getenv: none}, nil, "offline/parley", "no key is known"},
		"key unreadable":  {model.Options{Keys: keys("", errors.New("locked\x1b[2J")), Getenv: none}, silent, "offline/parley", "the key for openai cannot be read: locked[2J"},
		"server set here": {model.Options{Getenv: func(name string) string { return map[string]string{"OPENAI_BASE_URL": server.URL()}[name] }}, ollama, "openai/llama-here", "on this machine"},
		"dead server set": {model.Options{Getenv: func(name string) string { return map[string]string{"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}[name] }}, ollama, "openai/" + openai.DefaultModel, "on this machine"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := model.Choose(t.Context(), registry, test.options, test.probe)
			if got.Ref != test.ref || !strings.Contains(got.Reason, test.reason) {
				t.Errorf("got %+v, want %s because %s", got, test.ref, test.reason)
			}
		})
	}
}
