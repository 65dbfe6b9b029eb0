package model_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"parley/agent/model"
	"parley/agent/model/modeltest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// conversation has one of everything that a request can hold.
func conversation() model.Request {
	zero, seed := float32(0), 7
	first := call("call:1", "ls", `{"dir":"."}`)
	second := call("", "time", "")
	broken := call("c3", "write", `{"filename":`)
	said := model.Message{
		Role:    model.Assistant,
		Content: []model.Part{{Text: "I will look."}, first, second},
		Reasoning: []model.Reasoning{
			{Provider: "openai", Text: "open thoughts"},
			{Provider: "anthropic", Text: "deep thoughts", Signature: "c2ln"},
			{Provider: "anthropic", Redacted: "aGlkZGVu"},
			{Provider: "anthropic", Text: "cut off"},
		},
	}
	failed := results(broken)[0]
	failed.IsError = true
	empty := results(second)[0]
	empty.Content = nil
	messages := []model.Message{
		model.TextMessage(model.System, "You are <helpful> & kind.\n"),
		model.TextMessage(model.User, "{}"),
		model.TextMessage(model.User, `{"defaultPromptParameter":"look at this"}`),
		{Role: model.Assistant, Usage: &model.Usage{TotalTokens: 3}}, // an empty reply
		model.TextMessage(model.User, "a picture\ndata:image/png;base64,AAAA"),
		said, results(first)[0], empty,
		{Role: model.Assistant, Content: []model.Part{broken}}, failed,
	}
	return model.Request{
		Messages: messages, Temperature: &zero, Seed: &seed, MaxTokens: 500, JSONResponse: true,
		Tools: []model.Tool{
			{Name: "ls", Description: "Lists.", Parameters: json.RawMessage(`{"type":"object","properties":{"dir":{"type":"string"}},"additionalProperties":false}`)},
			{Name: "time"},
		},
	}
}

// TestRequestsAreSentAsBefore compares the requests with testdata/request_PROVIDER.json.
func TestRequestsAreSentAsBefore(t *testing.T) {
	each(t, func(t *testing.T, p model.Provider) {
		b := newBench(t, p, model.Options{}, modeltest.Reply{Text: "ok", Repeat: 1})
		if _, err := b.ask(t.Context(), conversation()); err != nil {
			t.Fatal(err)
		}
		if _, err := b.ask(t.Context(), hello()); err != nil {
			t.Fatal(err)
		}
		golden(t, "request_"+p.Name()+".json", b.server.Golden())
	})
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (run with -update and read the change):\n%s", path, got)
	}
}
