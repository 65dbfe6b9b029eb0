package anthropic_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"parley/agent/model"
	"parley/agent/model/anthropic"
	"parley/agent/model/modeltest"
)

func start(t *testing.T, name string, replies ...modeltest.Reply) (model.Model, *modeltest.Server) {
	t.Helper()
	s, err := modeltest.Start(modeltest.Script{Replies: replies})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	m, err := anthropic.New().Open(name, model.Options{BaseURL: s.URL(), DisableRetries: true})
	if err != nil {
		t.Fatal(err)
	}
	return m, s
}

func ask(text string) model.Request {
	return model.Request{Messages: []model.Message{model.TextMessage(model.User, text)}}
}

func TestThinkingComesAndGoesBackWithItsSignature(t *testing.T) {
	m, s := start(t, "claude-opus-5",
		modeltest.Reply{
			Redacted: "aGlkZGVu", Reasoning: "files are wanted", Signature: "c2ln", Text: "I look.", Pieces: 3,
			Calls: []modeltest.Call{{ID: "a", Name: "ls", Arguments: `{"dir":"."}`}, {ID: "b", Name: "now"}},
		},
		modeltest.Reply{Text: "done"})
	req := ask("files?")
	var thought strings.Builder
	r, err := m.Stream(t.Context(), req, func(d model.Delta) {
		if d.Kind == model.DeltaReasoning {
			thought.WriteString(d.Text)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []model.Reasoning{
		{Provider: "anthropic", Redacted: "aGlkZGVu"},
		{Provider: "anthropic", Text: "files are wanted", Signature: "c2ln"},
	}
	if !reflect.DeepEqual(r.Message.Reasoning, want) || thought.String() != "files are wanted" {
		t.Errorf("reasoning %+v, streamed %q", r.Message.Reasoning, thought.String())
	}
	calls := r.Message.Calls()
	if len(calls) != 2 || calls[0].Function.Arguments != `{"dir":"."}` || calls[1].Function.Arguments != `{}` || r.Finish != model.FinishCalls {
		t.Errorf("calls %+v, finish %s", calls, r.Finish)
	}

	req.Messages = append(req.Messages, r.Message)
	for _, c := range calls {
		answer := model.TextMessage(model.ToolRole, "ok")
		answer.ToolCall = &c
		req.Messages = append(req.Messages, answer)
	}
	if _, err := m.Stream(t.Context(), req, func(model.Delta) {}); err != nil {
		t.Fatal(err)
	}
	var sent struct {
		Messages []struct{ Content []map[string]any }
	}
	if err := json.Unmarshal(s.Requests()[1].Body, &sent); err != nil {
		t.Fatal(err)
	}
	kinds := []any{}
	for _, b := range sent.Messages[1].Content {
		kinds = append(kinds, b["type"])
	}
	if want := []any{"redacted_thinking", "thinking", "text", "tool_use", "tool_use"}; !reflect.DeepEqual(kinds, want) {
		t.Errorf("sent back %v, want %v", kinds, want)
	}
	if b := sent.Messages[1].Content[1]; b["signature"] != "c2ln" || b["thinking"] != "files are wanted" {
		t.Errorf("sent back %v", b)
	}
	if n := len(sent.Messages[2].Content); n != 2 {
		t.Errorf("%d results in one message, want 2", n)
	}
}

func TestT10WholeInputInTheFirstEvent(t *testing.T) {
	event := func(kind, rest string) string {
		return "event: " + kind + "\ndata: {\"type\":\"" + kind + "\"" + rest + "}\n\n"
	}
	m, _ := start(t, "test", modeltest.Reply{Raw: event("message_start", "") +
		event("content_block_start", `,"index":0,"content_block":{"type":"tool_use","id":"a","name":"ls","input":{"dir":"x"}}`) +
		event("content_block_stop", `,"index":0`) + event("message_stop", "")})
	r, err := m.Stream(t.Context(), ask("x"), func(model.Delta) {})
	if err != nil {
		t.Fatal(err)
	}
	if calls := r.Message.Calls(); len(calls) != 1 || calls[0].Function.Arguments != `{"dir":"x"}` || r.Finish != model.FinishCalls {
		t.Errorf("calls %+v, finish %s", calls, r.Finish)
	}
}

func TestTemperatureIsSentToModelsThatTakeOne(t *testing.T) {
	for name, sent := range map[string]bool{
		"claude-sonnet-4-6": true, "claude-opus-4-1-20250805": true, "claude-3-5-haiku": true, "local": true,
		"claude-sonnet-4-20250514": true, "claude-opus-4-7": false, "claude-opus-4-8-20260601": false,
		"claude-sonnet-5": false, "claude-haiku-5-5": false, "claude-fable-5-2": false,
	} {
		t.Run(name, func(t *testing.T) {
			m, s := start(t, name, modeltest.Reply{Text: "ok"})
			temperature := float32(0.7)
			req := ask("x")
			req.Temperature = &temperature
			if _, err := m.Stream(t.Context(), req, func(model.Delta) {}); err != nil {
				t.Fatal(err)
			}
			body := string(s.Requests()[0].Body)
			if strings.Contains(body, `"temperature": 0.7`) != sent || strings.Contains(body, "temperature") != sent {
				t.Errorf("sent %s", body)
			}
		})
	}
}

func TestEffort(t *testing.T) {
	for _, c := range []struct {
		name, effort string
		has, hasNot  []string
	}{
		{"claude-sonnet-4-5", "", []string{`"temperature"`}, []string{"thinking", "effort"}},
		{"claude-sonnet-4-5", "low", []string{`"budget_tokens": 2048`}, []string{"temperature", "effort"}},
		{"claude-opus-4-1", "high", []string{`"budget_tokens": 24576`, `"max_tokens": 32000`}, nil},
		{"local", "high", []string{`"budget_tokens": 24576`, `"max_tokens": 28672`}, nil},
		{"claude-opus-4-6", "medium", []string{`"type": "adaptive"`, `"effort": "medium"`}, []string{"budget_tokens", "temperature"}},
		{"claude-sonnet-5", "high", []string{`"type": "adaptive"`, `"effort": "high"`}, []string{"budget_tokens"}},
	} {
		t.Run(c.name+" "+c.effort, func(t *testing.T) {
			m, s := start(t, c.name, modeltest.Reply{Text: "ok"})
			temperature := float32(0)
			req := ask("x")
			req.Temperature, req.Effort = &temperature, model.Effort(c.effort)
			if _, err := m.Stream(t.Context(), req, func(model.Delta) {}); err != nil {
				t.Fatal(err)
			}
			body := string(s.Requests()[0].Body)
			for _, w := range c.has {
				if !strings.Contains(body, w) {
					t.Errorf("no %s in %s", w, body)
				}
			}
			for _, w := range c.hasNot {
				if strings.Contains(body, w) {
					t.Errorf("%s in %s", w, body)
				}
			}
		})
	}
}

func TestInfoAndOutputLimit(t *testing.T) {
	m, s := start(t, "claude-haiku-4-5-20251001", modeltest.Reply{Text: "ok"})
	if got := m.Info(); got.ContextWindow != 200_000 || got.InputMicros != 1 || got.InternalPrompt || got.Ref != "anthropic/claude-haiku-4-5-20251001" {
		t.Errorf("info %+v", got)
	}
	if _, err := m.Stream(t.Context(), ask("x"), func(model.Delta) {}); err != nil {
		t.Fatal(err)
	}
	if body := string(s.Requests()[0].Body); !strings.Contains(body, `"max_tokens": 32000`) {
		t.Errorf("sent %s", body)
	}
	unknown, _ := start(t, "unheard-of")
	if got := unknown.Info(); got != (model.Info{Ref: "anthropic/unheard-of"}) {
		t.Errorf("info %+v", got)
	}
}

func TestEnvironmentIsReadThroughTheOptionsOnly(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-from-the-environment")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Odd: 1")
	s, err := modeltest.Start(modeltest.Script{Replies: []modeltest.Reply{{Text: "ok"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	m, err := anthropic.New().Open("test", model.Options{DisableRetries: true, Getenv: func(name string) string {
		return map[string]string{"ANTHROPIC_BASE_URL": s.URL()}[name]
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Stream(t.Context(), ask("x"), func(model.Delta) {}); err != nil {
		t.Fatal(err)
	}
	if h := s.Requests()[0].Header; h.Get("X-Api-Key") != "" || h.Get("X-Odd") != "" {
		t.Errorf("sent headers %v", h)
	}
}
