package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"parley/agent/model"
)

// FuzzState reads chat states that others kept: one that is taken is written again in a form that is
// taken too, and the chat goes on from it or says why not.
func FuzzState(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `{"result":"x"}`, `{"continuation":{"result":"r"},"continuationToolID":"test.gpt:planner"}`,
		`{"continuation":{"state":{"input":"hi","completion":{"model":"m","messages":[{"role":"user","content":[{"text":"hi"}]},
		  {"role":"assistant","content":[{"toolCall":{"index":0,"id":"c1","function":{"name":"tester","arguments":"{}"}}}]}],"chat":true},
		  "pending":{"c1":{"index":0,"id":"c1","function":{"name":"tester","arguments":"{}"}}}},"calls":{"c1":{"toolID":"test.gpt:tester","input":"{}"}}},
		  "subCalls":[{"toolId":"test.gpt:tester","callId":"c1","state":{"continuation":{"state":{"completion":{"messages":[
		  {"role":"tool","content":[{"text":"?"}]},{"role":"assistant","content":[{"text":"Yes?"}]}]}},"result":"Yes?"},"continuationToolID":"test.gpt:tester"}}],"subCallID":"c1"}`,
		`{"continuation":{},"subCalls":[{"callId":"a","state":{"continuation":{},"subCallID":"a"}},{"callId":"a","state":{"result":""}}],"subCallID":"a"}`,
		`{"continuation":{"state":{"completion":{"messages":[{"role":"system"},{"role":"","content":[{},{"text":"\u0000"}]}]}}},"startInput":"","resumeInput":"x"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, state []byte) {
		r := newRig(t, handOffProgram, func(context.Context, model.Request, func(model.Delta)) (model.Reply, error) { return says("ok"), nil })
		s := r.open()
		defer r.close(s)
		if err := s.Import(t.Context(), state); err != nil {
			if s.Row().Turns != 0 {
				t.Fatalf("a bad state left a turn: %v", err)
			}
			return
		}
		again, err := s.StateJSON(t.Context())
		if err != nil {
			t.Fatalf("a state that was taken cannot be written: %v", err)
		}
		if again != nil {
			r2 := newRig(t, handOffProgram, nil)
			s2 := r2.open()
			if err := s2.Import(t.Context(), again); err != nil {
				t.Fatalf("the state\n%s\nbecame\n%s\nwhich is not taken: %v", state, again, err)
			}
			r2.close(s2)
		}
		_, _ = s.Send(t.Context(), "go on") // may say that a tool is gone
	})
}

// The calls of a state may not be nested deeper than calls can be.
func TestStateThatIsNestedTooDeep(t *testing.T) {
	state := `{"result":"x"}`
	for i := range 100 {
		state = fmt.Sprintf(`{"continuation":{},"subCalls":[{"toolId":"test.gpt:tester","callId":"c%d","state":%s}],"subCallID":"c%[1]d"}`, i, state)
	}
	r := newRig(t, handOffProgram, nil)
	s := r.open()
	defer r.close(s)
	if err := s.Import(t.Context(), json.RawMessage(state)); err == nil {
		t.Error("it was taken")
	}
}
