package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"parley/agent/model"
	"parley/agent/model/modeltest"
	"parley/agent/model/openai"
)

// start runs a scripted server and opens a model on it.
func start(t *testing.T, o model.Options, replies ...modeltest.Reply) (model.Model, *modeltest.Server) {
	t.Helper()
	s, err := modeltest.Start(modeltest.Script{Replies: replies})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	o.BaseURL = s.URL()
	if o.Retrier.Wait == nil {
		o.Retrier.Wait = func(context.Context, time.Duration) error { return nil }
	}
	m, err := openai.New().Open("test", o)
	if err != nil {
		t.Fatal(err)
	}
	return m, s
}

// log collects deltas.
type log struct{ deltas []model.Delta }

func (l *log) emit(d model.Delta) { l.deltas = append(l.deltas, d) }

func (l *log) text(kind model.DeltaKind) string {
	var b strings.Builder
	for _, d := range l.deltas {
		if d.Kind == kind {
			b.WriteString(d.Text)
		}
	}
	return b.String()
}

func (l *log) retries() []model.Delta {
	var out []model.Delta
	for _, d := range l.deltas {
		if d.Kind == model.DeltaRetry {
			out = append(out, d)
		}
	}
	return out
}

func ask(text string) model.Request {
	return model.Request{Messages: []model.Message{model.TextMessage(model.User, text)}}
}

func drop(model.Delta) {}

func TestStreamsTextReasoningCallsAndUsage(t *testing.T) {
	m, _ := start(t, model.Options{}, modeltest.Reply{
		Text: "I will look.", Reasoning: "the user wants files", Pieces: 3,
		Calls: []modeltest.Call{
			{ID: "a", Name: "ls", Arguments: `{"dir":"."}`},
			{ID: "none", Name: "read", Arguments: `{"filename":"go.mod"}`},
		},
		Usage: &modeltest.Usage{Prompt: 20, Completion: 7, Cached: 5, Reasoning: 3},
	})
	var l log
	got, err := m.Stream(t.Context(), ask("files?"), l.emit)
	if err != nil {
		t.Fatal(err)
	}
	zero, one := 0, 1
	second := model.Function{Name: "read", Arguments: `{"filename":"go.mod"}`}
	usage := model.Usage{PromptTokens: 20, CompletionTokens: 7, TotalTokens: 27, CachedTokens: 5, ReasoningTokens: 3}
	want := model.Reply{
		Message: model.Message{
			Role: model.Assistant,
			Content: []model.Part{
				{Text: "I will look."},
				{ToolCall: &model.ToolCall{Index: &zero, ID: "a", Function: model.Function{Name: "ls", Arguments: `{"dir":"."}`}}},
				{ToolCall: &model.ToolCall{Index: &one, ID: model.CallID(second), Function: second}},
			},
			Reasoning: []model.Reasoning{{Provider: "openai", Text: "the user wants files"}},
			Usage:     &usage,
		},
		Finish: model.FinishCalls, Usage: usage,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %s\nwant %s", show(got), show(want))
	}
	if l.text(model.DeltaText) != "I will look." || l.text(model.DeltaReasoning) != "the user wants files" {
		t.Errorf("streamed %q and %q", l.text(model.DeltaText), l.text(model.DeltaReasoning))
	}
	if want := `{"dir":"."}{"filename":"go.mod"}`; l.text(model.DeltaCall) != want {
		t.Errorf("streamed arguments %q, want %q", l.text(model.DeltaCall), want)
	}
}

func show(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

// chunk returns an event line with that delta.
func chunk(delta, finish string) string {
	return fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n", delta, finish)
}

func TestT10CallsOfOddServers(t *testing.T) {
	end := chunk(`{}`, `"tool_calls"`)
	call := func(index, rest string) string { return chunk(`{"tool_calls":[{`+index+rest+`}]}`, "null") }
	tests := map[string]struct {
		raw  string
		want []string // id name arguments
	}{
		"whole call in one piece, arguments as an object": {
			call(`"index":0,`, `"id":"a","function":{"name":"ls","arguments":{"dir":"x"}}`) + end,
			[]string{`a ls {"dir":"x"}`},
		},
		"pieces of two calls mixed": {
			call(`"index":1,`, `"id":"b","function":{"name":"two","arguments":""}`) +
				call(`"index":0,`, `"id":"a","function":{"name":"one","arguments":"{"}`) +
				call(`"index":1,`, `"function":{"arguments":"[1"}`) +
				call(`"index":0,`, `"function":{"arguments":"}"}`) +
				call(`"index":1,`, `"function":{"arguments":"]"}`) + end,
			[]string{`b two [1]`, `a one {}`},
		},
		"id and name repeated": {
			call(`"index":0,`, `"id":"a","function":{"name":"ls","arguments":"{"}`) +
				call(`"index":0,`, `"id":"a","function":{"name":"ls","arguments":"}"}`) + end,
			[]string{`a ls {}`},
		},
		"a new id for each piece": {
			call(`"index":0,`, `"id":"a","function":{"name":"ls","arguments":"{"}`) +
				call(`"index":0,`, `"id":"b","function":{"arguments":"}"}`) + end,
			[]string{`a ls {}`},
		},
		"all calls have index 0": {
			call(`"index":0,`, `"id":"a","function":{"name":"one","arguments":"{}"}`) +
				call(`"index":0,`, `"id":"b","function":{"name":"two","arguments":"{}"}`) + end,
			[]string{`a one {}`, `b two {}`},
		},
		"no index": {
			call(``, `"id":"a","function":{"name":"one","arguments":"{"}`) +
				call(``, `"function":{"arguments":"}"}`) +
				call(``, `"id":"b","function":{"name":"two","arguments":"{}"}`) + end,
			[]string{`a one {}`, `b two {}`},
		},
		"ids used twice": {
			call(`"index":0,`, `"id":"a","function":{"name":"one","arguments":"{}"}`) +
				call(`"index":1,`, `"id":"a","function":{"name":"two","arguments":"{}"}`) + end,
			[]string{`a one {}`, `a_2 two {}`},
		},
		"no name, odd arguments": {
			call(`"index":0,`, `"id":"a","function":{"arguments":"null"}`) + end,
			[]string{`a  null`},
		},
		"finish reason stop": {
			call(`"index":0,`, `"id":"a","function":{"name":"one"}`) + chunk(`{}`, `"stop"`),
			[]string{`a one `},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m, _ := start(t, model.Options{}, modeltest.Reply{Raw: test.raw})
			r, err := m.Stream(t.Context(), ask("x"), drop)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i, c := range r.Message.Calls() {
				got = append(got, c.ID+" "+c.Function.Name+" "+c.Function.Arguments)
				if c.Index == nil || *c.Index != i {
					t.Errorf("call %d has index %v", i, c.Index)
				}
			}
			if !reflect.DeepEqual(got, test.want) || r.Finish != model.FinishCalls {
				t.Errorf("got %q, finish %q, want %q", got, r.Finish, test.want)
			}
		})
	}
}

func TestS04StreamsOfOddServers(t *testing.T) {
	tests := map[string]struct {
		raw, text, reasoning string
		finish               model.Finish
	}{
		"empty answer":               {chunk(`{}`, `"stop"`) + "data: [DONE]\n\n", "", "", model.FinishStop},
		"no DONE, no last newline":   {chunk(`{"content":"hi"}`, "null") + strings.TrimSpace(chunk(`{}`, `"stop"`)), "hi", "", model.FinishStop},
		"comments and CRLF":          {": PROCESSING\r\n\r\n" + strings.ReplaceAll(chunk(`{"content":"hi"}`, `"stop"`), "\n", "\r\n"), "hi", "", model.FinishStop},
		"reasoning by another name":  {chunk(`{"reasoning":"hm"}`, "null") + chunk(`{"content":"hi"}`, `"length"`), "hi", "hm", model.FinishLength},
		"both names":                 {chunk(`{"reasoning":"hm","reasoning_content":"hm"}`, `"stop"`), "", "hm", model.FinishStop},
		"own word for the end":       {chunk(`{"content":"hi"}`, `"eos"`), "hi", "", model.FinishStop},
		"calls announced, none come": {chunk(`{"content":"hi"}`, `"tool_calls"`), "hi", "", model.FinishStop},
		"500 comments":               {strings.Repeat(": wait\n\n", 500) + chunk(`{"content":"hi"}`, `"stop"`), "hi", "", model.FinishStop},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m, _ := start(t, model.Options{DisableRetries: true}, modeltest.Reply{Raw: test.raw})
			r, err := m.Stream(t.Context(), ask("x"), drop)
			if err != nil {
				t.Fatal(err)
			}
			reasoning := ""
			for _, b := range r.Message.Reasoning {
				reasoning += b.Text
			}
			if r.Message.Text() != test.text || reasoning != test.reasoning || r.Finish != test.finish {
				t.Errorf("got %s", show(r))
			}
		})
	}
}

func TestS04CutStreamIsAnErrorAndItsCallsAreGone(t *testing.T) {
	calls := []modeltest.Call{{Name: "write", Arguments: `{"filename":"a","content":"bc"}`}}
	tests := map[string]modeltest.Reply{
		"closed cleanly":        {Text: "so", Calls: calls, Pieces: 2, Cut: &modeltest.Cut{Events: 6}},
		"connection broken":     {Text: "so", Calls: calls, Pieces: 2, Cut: &modeltest.Cut{Events: 6, Abort: true}},
		"in the middle of data": {Text: "so", Calls: calls, Cut: &modeltest.Cut{Bytes: 600}},
		"DONE without a reason": {Text: "so", Calls: calls, Finish: "none"},
		"no JSON":               {Raw: chunk(`{"content":"so"}`, "null") + "data: {oops\n\n"},
	}
	for name, reply := range tests {
		t.Run(name, func(t *testing.T) {
			m, s := start(t, model.Options{DisableRetries: true}, reply)
			r, err := m.Stream(t.Context(), ask("x"), drop)
			if !errors.Is(err, model.ErrCutStream) {
				t.Fatalf("error %v, want ErrCutStream", err)
			}
			if r.Message.Text() != "so" || len(r.Message.Calls()) != 0 || r.Finish != "" {
				t.Errorf("got %s", show(r))
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
}

func TestS04CutStreamIsAskedAgainAndVoidsItsText(t *testing.T) {
	m, s := start(t, model.Options{},
		modeltest.Reply{Text: "half an answer", Pieces: 4, Cut: &modeltest.Cut{Events: 3, Abort: true}},
		modeltest.Reply{Text: "the answer"})
	var l log
	r, err := m.Stream(t.Context(), ask("x"), l.emit)
	if err != nil || r.Message.Text() != "the answer" {
		t.Fatalf("got %s, %v", show(r), err)
	}
	if got := l.retries(); len(got) != 1 || got[0].Attempt != 2 {
		t.Errorf("retries %+v", got)
	}
	if n := len(s.Requests()); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
}
