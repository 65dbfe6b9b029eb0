package sys

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"parley/toolrt"
)

// host answers as it is told to.
type host struct {
	prompt func(toolrt.Question) (map[string]string, error)
	err    error
}

func (h host) Prompt(_ context.Context, q toolrt.Question) (map[string]string, error) {
	return h.prompt(q)
}
func (h host) History(context.Context) (json.RawMessage, error) {
	return json.RawMessage(`{"history":[]}`), h.err
}
func (h host) Current(context.Context) (json.RawMessage, error) { return json.RawMessage(`{}`), h.err }
func (h host) Context(context.Context) (json.RawMessage, error) {
	return json.RawMessage(`{"call":{}}`), h.err
}

func TestChatFinishAndAbort(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"return":"bye"}`: "bye", `{"return":""}`: `{"return":""}`, `{}`: `{}`, "": "", "plain": "plain", `{"return":7}`: "7",
		`{"return":{"a": 1}}`: `{"a": 1}`, `{"RETURN":"x","more":1}`: "x",
	} {
		_, err := run(t, toolrt.Call{}, "sys.chat.finish", arguments)
		var finish *toolrt.ChatFinish
		if !errors.As(err, &finish) || finish.Message != want {
			t.Errorf("finish %q: %v, want %q", arguments, err, want)
		}
	}
	for arguments, want := range map[string]string{`{"message":"stop"}`: "ABORT: stop", `{}`: "ABORT: ", "plain": "ABORT: plain", `{"message"`: `ABORT: {"message"`} {
		_, err := run(t, toolrt.Call{}, "sys.abort", arguments)
		var abort *toolrt.Abort
		if !errors.As(err, &abort) || err.Error() != want {
			t.Errorf("abort %q: %v, want %q", arguments, err, want)
		}
	}
}

func TestHostAnswers(t *testing.T) {
	for name, want := range map[string]string{"sys.chat.history": `{"history":[]}`, "sys.chat.current": "{}", "sys.context": `{"call":{}}`} {
		check(t, toolrt.Call{Host: host{}}, name, "anything", want, false)
		if _, err := run(t, toolrt.Call{Host: host{err: errors.New("no")}}, name, ""); err == nil {
			t.Errorf("%s: the host's error got lost", name)
		}
		if _, err := run(t, toolrt.Call{}, name, ""); !errors.Is(err, errNoHost) {
			t.Errorf("%s without a host: %v", name, err)
		}
	}
}

func TestTimeNow(t *testing.T) {
	out, err := run(t, toolrt.Call{}, "sys.time.now", "{}")
	at, parseErr := time.Parse(time.RFC3339, out.Text)
	if err != nil || parseErr != nil || time.Since(at).Abs() > time.Minute {
		t.Errorf("got %q, %v", out.Text, err)
	}
}

func TestParseQuestion(t *testing.T) {
	yes, no := true, false
	for arguments, want := range map[string]toolrt.Question{
		`{"message":"hi"}`: {Message: "hi"},
		``:                 {},
		`{"fields":" a, b ,,c","sensitive":"true"}`:                       {Fields: []toolrt.Field{{Name: "a"}, {Name: "b"}, {Name: "c"}}, Sensitive: true},
		`{"fields":["a","b,c"],"sensitive":true}`:                         {Fields: []toolrt.Field{{Name: "a"}, {Name: "b,c"}}, Sensitive: true},
		`{"fields":"[\"a\",{\"name\":\"b\"}]","sensitive":"false"}`:       {Fields: []toolrt.Field{{Name: "a"}, {Name: "b"}}},
		`{"fields":[{"name":"k","description":"d","sensitive":"true"}]}`:  {Fields: []toolrt.Field{{Name: "k", Description: "d", Sensitive: &yes}}},
		`{"fields":[{"name":"k","sensitive":false,"options":["x","y"]}]}`: {Fields: []toolrt.Field{{Name: "k", Sensitive: &no, Options: []string{"x", "y"}}}},
		`{"metadata":{"a":"1","b":2}}`:                                    {Metadata: map[string]string{"a": "1", "b": "2"}},
		`{"metadata":"{\"a\":\"1\"}"}`:                                    {Metadata: map[string]string{"a": "1"}},
		`{"metadata":"","fields":null}`:                                   {},
		`{"Message":"m","more":{"ignored":1}}`:                            {Message: "m"},
	} {
		if got, err := ParseQuestion(arguments); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %+v, %v\nwant %+v", arguments, got, err, want)
		}
	}
	for _, arguments := range []string{"plain", `[]`, `{"message":[]}`, `{"fields":{}}`, `{"fields":[{}]}`, `{"fields":[[1]]}`, `{"fields":[""]}`, `{"fields":[{"name":"a","options":"x"}]}`, `{"metadata":[1]}`, `{"metadata":"x"}`, `{"sensitive":{}}`} {
		if got, err := ParseQuestion(arguments); err == nil {
			t.Errorf("%s: got %+v, want an error", arguments, got)
		}
	}
}

func TestPrompt(t *testing.T) {
	tool, _ := New("sys.prompt")
	paused, resumed := false, false
	h := host{prompt: func(q toolrt.Question) (map[string]string, error) {
		if !paused || resumed {
			t.Error("the clock ran while the person was asked")
		}
		return map[string]string{"b": "<x>", "a": "1"}, nil
	}}
	inv := &toolrt.Invocation{
		Call: &toolrt.Call{Host: h}, Args: `{"message":"m","fields":"a,b"}`,
		Pause: func() func() { paused = true; return func() { resumed = true } },
	}
	out, err := tool.Run(t.Context(), inv)
	if err != nil || out.Text != `{"a":"1","b":"<x>"}` || !resumed {
		t.Errorf("got %q, %v", out.Text, err)
	}
	h.prompt = func(toolrt.Question) (map[string]string, error) { return nil, nil }
	check(t, toolrt.Call{Host: h}, "sys.prompt", `{"message":"read this"}`, "", false)
	nobody := errors.New("nobody is there")
	h.prompt = func(toolrt.Question) (map[string]string, error) { return nil, nobody }
	if _, err := run(t, toolrt.Call{Host: h}, "sys.prompt", `{"message":"m"}`); !errors.Is(err, nobody) {
		t.Errorf("got %v", err)
	}
	if _, err := run(t, toolrt.Call{}, "sys.prompt", `{"message":"m"}`); !errors.Is(err, errNoHost) {
		t.Errorf("without a host: %v", err)
	}
	if _, err := run(t, toolrt.Call{Host: h}, "sys.prompt", `broken`); err == nil {
		t.Error("broken arguments were asked")
	}
}
