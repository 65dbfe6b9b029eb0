package model_test

import (
	"strings"
	"testing"

	"parley/agent/model"
	"parley/agent/model/anthropic"
	"parley/agent/model/offline"
	"parley/agent/model/openai"
)

func TestRegistryOpensByProviderAndFallback(t *testing.T) {
	r := model.NewRegistry(openai.New(), anthropic.New(), offline.New())
	for _, test := range []struct{ ref, fallback, want string }{
		{"openai/gpt-4o", "", "openai/gpt-4o"},
		{"anthropic", "openai", "anthropic/" + anthropic.DefaultModel},
		{"offline", "", "offline/parley"},
		{"gpt-4.1", "openai", "openai/gpt-4.1"},
		{"meta/llama-3", "openai", "openai/meta/llama-3"},
		{"openai/meta/llama-3", "anthropic", "openai/meta/llama-3"},
		{"", "openai", "openai/" + openai.DefaultModel},
		{"gpt-4.1", "", "openai, anthropic, offline"},
		{"gpt-4.1", "nobody", "names no provider"},
	} {
		m, err := r.Open(test.ref, test.fallback, model.Options{Getenv: func(string) string { return "" }})
		if err != nil {
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%q, %q: error %v", test.ref, test.fallback, err)
			}
		} else if m.Ref() != test.want {
			t.Errorf("%q, %q: opened %s, want %s", test.ref, test.fallback, m.Ref(), test.want)
		}
	}
}
