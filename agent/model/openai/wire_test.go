package openai_test

import (
	"strings"
	"testing"
	"time"

	"parley/agent/model"
	"parley/agent/model/modeltest"
	"parley/agent/model/openai"
)

func TestReasonersGetNoTemperature(t *testing.T) {
	for name, reasons := range map[string]bool{
		"gpt-4o": false, "gpt-4.1-mini": false, "gpt-5-chat-latest": false, "llama3.3": false, "o3-mini": true,
		"gpt-5": true, "gpt-5.6-sol": true, "gpt-6-luna": true, "o1": true, "olmo-2": false, "gpt-50": false,
	} {
		t.Run(name, func(t *testing.T) {
			s, err := modeltest.Start(modeltest.Script{Replies: []modeltest.Reply{{Text: "ok"}}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			m, err := openai.New().Open(name, model.Options{BaseURL: s.URL()})
			if err != nil {
				t.Fatal(err)
			}
			zero := float32(0)
			req := ask("x")
			req.Temperature, req.MaxTokens = &zero, 9
			req.Tools = []model.Tool{{Name: "ls"}}
			if _, err := m.Stream(t.Context(), req, drop); err != nil {
				t.Fatal(err)
			}
			body := string(s.Requests()[0].Body)
			for part, want := range map[string]bool{
				`"temperature": 0`: !reasons, `"max_tokens": 9`: !reasons, `"max_completion_tokens": 9`: reasons,
				`"reasoning_effort": "none"`: name == "gpt-6-luna",
			} {
				if strings.Contains(body, part) != want {
					t.Errorf("%s sent: %v\n%s", part, !want, body)
				}
			}
		})
	}
}

func TestEffort(t *testing.T) {
	for _, effort := range model.Efforts() {
		m, s := start(t, model.Options{}, modeltest.Reply{Text: "ok"})
		req := ask("x")
		req.Effort = effort
		if _, err := m.Stream(t.Context(), req, drop); err != nil {
			t.Fatal(err)
		}
		body := string(s.Requests()[0].Body)
		if effort == "" && strings.Contains(body, "reasoning_effort") || effort != "" && !strings.Contains(body, `"reasoning_effort": "`+string(effort)+`"`) {
			t.Errorf("effort %q: sent %s", effort, body)
		}
	}
}

func TestReasoningGoesBackWhileCallsAreAnswered(t *testing.T) {
	m, s := start(t, model.Options{},
		modeltest.Reply{Reasoning: "I should look", Calls: []modeltest.Call{{Name: "ls", Arguments: "{}"}}},
		modeltest.Reply{Text: "a file"}, modeltest.Reply{Text: "bye"})
	req := ask("files?")
	for range 2 {
		r, err := m.Stream(t.Context(), req, drop)
		if err != nil {
			t.Fatal(err)
		}
		req.Messages = append(req.Messages, r.Message)
		for _, c := range r.Message.Calls() {
			answer := model.TextMessage(model.ToolRole, "a")
			answer.ToolCall = &c
			req.Messages = append(req.Messages, answer)
		}
	}
	req.Messages = append(req.Messages, model.TextMessage(model.User, "thanks"))
	if _, err := m.Stream(t.Context(), req, drop); err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{false, true, false} {
		if got := strings.Contains(string(s.Requests()[i].Body), "I should look"); got != want {
			t.Errorf("request %d holds the reasoning: %v", i+1, got)
		}
	}
}

func TestAServerThatKeepsTheConnectionAfterTheEnd(t *testing.T) {
	// Nothing comes after the finish reason; the silence limit ends the wait, without an error.
	m, s := start(t, model.Options{Silence: 50 * time.Millisecond}, modeltest.Reply{Text: "all", NoDone: true, Hang: true})
	r, err := m.Stream(t.Context(), ask("x"), drop)
	if err != nil || r.Message.Text() != "all" || len(s.Requests()) != 1 {
		t.Errorf("got %q, %v after %d requests", r.Message.Text(), err, len(s.Requests()))
	}
}

func TestInfo(t *testing.T) {
	m, err := openai.New().Open("gpt-4o-2024-08-06", model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := model.Info{
		Ref: "openai/gpt-4o-2024-08-06", Title: "GPT-4o", ContextWindow: 128_000, MaxOutput: 16_384,
		InputMicros: 2.5, OutputMicros: 10, InternalPrompt: true,
	}
	if got := m.Info(); got != want {
		t.Errorf("info %+v", got)
	}
	if m, err = openai.NewOllama().Open("gpt-4o", model.Options{}); err != nil || m.Info() != (model.Info{Ref: "ollama/gpt-4o"}) {
		t.Errorf("info %+v, %v", m.Info(), err)
	}
}

func TestOllamaNeedsNoKeyAndNamesItsRemedy(t *testing.T) {
	o := model.Options{DisableRetries: true, Getenv: func(string) string { return "" }}
	if openai.NewOllama().NeedsKey(model.Options{BaseURL: "https://example.com"}) {
		t.Error("a key is needed")
	}
	if _, err := openai.NewOllama().Open("", o); err == nil || !strings.Contains(err.Error(), "ollama/MODEL") {
		t.Errorf("error %v", err)
	}
	s, err := modeltest.Start(modeltest.Script{Replies: []modeltest.Reply{
		{Status: 404, Raw: `{"error":{"message":"model 'qwen3' not found","type":"api_error","code":null}}`},
	}})
	if err != nil {
		t.Fatal(err)
	}
	o.BaseURL = s.URL()
	m, err := openai.NewOllama().Open("qwen3", o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Stream(t.Context(), ask("x"), drop); err == nil || !strings.Contains(err.Error(), "ollama pull qwen3") {
		t.Errorf("error %v", err)
	}
	s.Close()
	if _, err := m.Stream(t.Context(), ask("x"), drop); err == nil || !strings.Contains(err.Error(), "ollama serve") {
		t.Errorf("error %v", err)
	}
}

func TestProbe(t *testing.T) {
	s, err := modeltest.Start(modeltest.Script{Models: []string{"qwen3:8b"}})
	if err != nil {
		t.Fatal(err)
	}
	host := strings.TrimSuffix(strings.TrimPrefix(s.URL(), "http://"), "/v1")
	o := model.Options{Getenv: func(name string) string { return map[string]string{"OLLAMA_HOST": host}[name] }}
	if models, ok := openai.Probe(t.Context(), o); !ok || strings.Join(models, " ") != "qwen3:8b" {
		t.Errorf("got %q, %v", models, ok)
	}
	s.Close()
	if models, ok := openai.Probe(t.Context(), o); ok || len(models) != 0 {
		t.Errorf("a closed server answers %q", models)
	}
}
