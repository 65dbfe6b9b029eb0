package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"parley/agent/model"
	"parley/agent/model/anthropic"
	"parley/agent/model/modeltest"
	"parley/agent/model/openai"
)

// The tests in this file hold for every provider that speaks HTTP.
var providers = map[string]func() model.Provider{"openai": openai.New, "anthropic": anthropic.New}

// each runs a test for every provider.
func each(t *testing.T, test func(t *testing.T, p model.Provider)) {
	for name, open := range providers {
		t.Run(name, func(t *testing.T) { test(t, open()) })
	}
}

// bench is a scripted server with a model opened on it.
type bench struct {
	model.Model
	server *modeltest.Server
	waits  []time.Duration // that the retrier took
	deltas []model.Delta
}

func newBench(t *testing.T, p model.Provider, o model.Options, replies ...modeltest.Reply) *bench {
	t.Helper()
	s, err := modeltest.Start(modeltest.Script{Replies: replies})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	b := &bench{server: s}
	o.BaseURL = s.URL()
	o.Retrier.Random = func() float64 { return 1 }
	if o.Retrier.Wait == nil {
		o.Retrier.Wait = func(_ context.Context, d time.Duration) error {
			b.waits = append(b.waits, d)
			return nil
		}
	}
	if b.Model, err = p.Open("test", o); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) ask(ctx context.Context, req model.Request) (model.Reply, error) {
	return b.Stream(ctx, req, func(d model.Delta) { b.deltas = append(b.deltas, d) })
}

func (b *bench) retries() []model.Delta {
	var out []model.Delta
	for _, d := range b.deltas {
		if d.Kind == model.DeltaRetry {
			out = append(out, d)
		}
	}
	return out
}

func hello() model.Request {
	return model.Request{Messages: []model.Message{model.TextMessage(model.User, "hello")}}
}

func refusal(status int, headers ...string) modeltest.Reply {
	r := modeltest.Reply{Status: status, Headers: map[string]string{}, Error: &modeltest.Error{Code: "some_error", Message: "not now"}}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Headers[headers[i]] = headers[i+1]
	}
	return r
}

func TestL01RetriesWhatMayPassAndNothingElse(t *testing.T) {
	date := time.Now().Add(40 * time.Second).UTC().Format(http.TimeFormat)
	tests := map[string]struct {
		failures []modeltest.Reply
		waits    []time.Duration // nil: not retried
	}{
		"429 with seconds":      {[]modeltest.Reply{refusal(429, "Retry-After", "30")}, []time.Duration{30 * time.Second}},
		"429 with milliseconds": {[]modeltest.Reply{refusal(429, "Retry-After-Ms", "1500", "Retry-After", "9")}, []time.Duration{1500 * time.Millisecond}},
		"429 huge":              {[]modeltest.Reply{refusal(429, "Retry-After", "99999999999999999999")}, []time.Duration{2 * time.Minute}},
		"429 with a date":       {[]modeltest.Reply{refusal(429, "Retry-After", date)}, []time.Duration{40 * time.Second}},
		"429 with nonsense":     {[]modeltest.Reply{refusal(429, "Retry-After", "soon")}, []time.Duration{time.Second}},
		"429 with the past":     {[]modeltest.Reply{refusal(429, "Retry-After", "-5")}, []time.Duration{time.Second}},
		"529":                   {[]modeltest.Reply{refusal(529)}, []time.Duration{time.Second}},
		"500 three times": {
			[]modeltest.Reply{refusal(500), refusal(502), refusal(503)},
			[]time.Duration{time.Second, 2 * time.Second, 4 * time.Second},
		},
		"400":       {[]modeltest.Reply{refusal(400)}, nil},
		"401":       {[]modeltest.Reply{refusal(401)}, nil},
		"403":       {[]modeltest.Reply{refusal(403)}, nil},
		"404":       {[]modeltest.Reply{refusal(404)}, nil},
		"no credit": {[]modeltest.Reply{{Status: 429, Error: &modeltest.Error{Code: "insufficient_quota", Message: "pay"}}}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, p model.Provider) {
				b := newBench(t, p, model.Options{}, append(test.failures, modeltest.Reply{Text: "good"})...)
				r, err := b.ask(t.Context(), hello())
				if test.waits == nil {
					e, ok := errors.AsType[*model.Error](err)
					if !ok || e.Status != test.failures[0].Status || e.Retryable || len(b.server.Requests()) != 1 {
						t.Errorf("error %#v after %d requests", err, len(b.server.Requests()))
					}
					return
				}
				if err != nil || r.Message.Text() != "good" {
					t.Fatalf("got %q, %v", r.Message.Text(), err)
				}
				if len(b.waits) != len(test.waits) {
					t.Fatalf("waits %v, want %v", b.waits, test.waits)
				}
				for i, want := range test.waits {
					// A date has whole seconds, and some pass until it is read.
					if d := want - b.waits[i]; d < 0 || d > 15*time.Second || d > 0 && name != "429 with a date" {
						t.Errorf("wait %d is %v, want %v", i, b.waits[i], want)
					}
					announced := b.retries()[i]
					if announced.Attempt != i+2 || announced.Wait != b.waits[i] || !strings.Contains(announced.Text, "not now") {
						t.Errorf("announced %+v", announced)
					}
				}
			})
		})
	}
}

func TestL01GivesUpAfterFiveRetries(t *testing.T) {
	each(t, func(t *testing.T, p model.Provider) {
		failing := refusal(500)
		failing.Repeat = -1
		b := newBench(t, p, model.Options{}, failing)
		_, err := b.ask(t.Context(), hello())
		want := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second}
		if err == nil || !reflect.DeepEqual(b.waits, want) || len(b.server.Requests()) != 6 {
			t.Errorf("error %v, waits %v, %d requests", err, b.waits, len(b.server.Requests()))
		}
	})
}

func TestL01CanBeTurnedOff(t *testing.T) {
	each(t, func(t *testing.T, p model.Provider) {
		b := newBench(t, p, model.Options{DisableRetries: true}, refusal(500), modeltest.Reply{Text: "good"})
		if _, err := b.ask(t.Context(), hello()); err == nil || len(b.server.Requests()) != 1 {
			t.Errorf("error %v after %d requests", err, len(b.server.Requests()))
		}
	})
}

func TestL01WaitEndsWithTheContext(t *testing.T) {
	each(t, func(t *testing.T, p model.Provider) {
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("Esc")
		// The wait is the real one, of an hour: only the cancel can end it.
		o := model.Options{Retrier: model.Retrier{First: time.Hour, Longest: time.Hour, Wait: nil}}
		b := newBench(t, p, o, refusal(500))
		real := model.Options{BaseURL: b.server.URL(), Retrier: model.Retrier{
			First: time.Hour, Longest: time.Hour, Random: func() float64 { return 1 },
		}}
		m, err := p.Open("test", real)
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Stream(ctx, hello(), func(d model.Delta) {
			if d.Kind == model.DeltaRetry {
				cancel(why)
			}
		})
		if !errors.Is(err, why) {
			t.Errorf("error %v, want the cause", err)
		}
	})
}

func TestS04StreamErrorsBeforeAndAfterText(t *testing.T) {
	each(t, func(t *testing.T, p model.Provider) {
		b := newBench(t, p, model.Options{},
			modeltest.Reply{Text: "never", Cut: &modeltest.Cut{Events: 1, Abort: true}},
			modeltest.Reply{Text: "half an answer", Pieces: 4, Cut: &modeltest.Cut{Events: 5}},
			modeltest.Reply{Text: "the answer"})
		r, err := b.ask(t.Context(), hello())
		if err != nil || r.Message.Text() != "the answer" || len(b.server.Requests()) != 3 {
			t.Fatalf("got %q, %v after %d requests", r.Message.Text(), err, len(b.server.Requests()))
		}
		// What is shown after the last retry is the answer and nothing else.
		shown := ""
		for _, d := range b.deltas {
			switch d.Kind {
			case model.DeltaRetry:
				shown = ""
			case model.DeltaText:
				shown += d.Text
			}
		}
		if shown != "the answer" || len(b.retries()) != 2 {
			t.Errorf("shown %q after %d retries", shown, len(b.retries()))
		}
	})
}

func TestS04CutStreamGivesNoCalls(t *testing.T) {
	each(t, func(t *testing.T, p model.Provider) {
		whole := modeltest.Reply{
			Text: "so", Pieces: 1, Finish: "tool_calls",
			Calls: []modeltest.Call{{Name: "ls", Arguments: `{}`}, {Name: "write", Arguments: `{"filename":"a"}`}},
		}
		// Every place at which the stream can be cut, cleanly and not.
		for n := 1; ; n++ {
			done := false
			for _, abort := range []bool{false, true} {
				cut := whole
				cut.Cut = &modeltest.Cut{Events: n, Abort: abort}
				b := newBench(t, p, model.Options{DisableRetries: true}, cut)
				r, err := b.ask(t.Context(), hello())
				if err == nil {
					done = true // a finish reason had come
					if len(r.Message.Calls()) != 2 {
						t.Errorf("cut after %d: complete with %d calls", n, len(r.Message.Calls()))
					}
					continue
				}
				if !errors.Is(err, model.ErrCutStream) || len(r.Message.Calls()) != 0 || !strings.HasPrefix("so", r.Message.Text()) {
					t.Errorf("cut after %d: %q, %d calls, %v", n, r.Message.Text(), len(r.Message.Calls()), err)
				}
			}
			if done {
				if n < 10 {
					t.Errorf("complete after %d events", n)
				}
				return
			}
		}
	})
}

func TestS04SilenceIsBroken(t *testing.T) {
	tests := map[string]modeltest.Reply{
		"before the first byte": {Text: "x", Hold: "for ever"},
		"after some text":       {Text: "some text", Pieces: 2, Hang: true, Cut: &modeltest.Cut{Events: 4}},
	}
	for name, reply := range tests {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, p model.Provider) {
				b := newBench(t, p, model.Options{Silence: 50 * time.Millisecond}, reply, modeltest.Reply{Text: "good"})
				r, err := b.ask(t.Context(), hello())
				if err != nil || r.Message.Text() != "good" {
					t.Fatalf("got %q, %v", r.Message.Text(), err)
				}
				if got := b.retries(); len(got) != 1 || !strings.Contains(got[0].Text, "nothing came for 50ms") {
					t.Errorf("retries %+v", got)
				}
			})
		})
	}
}

func TestSecondSilenceIsNotRetried(t *testing.T) {
	each(t, func(t *testing.T, p model.Provider) {
		b := newBench(t, p, model.Options{Silence: 50 * time.Millisecond}, modeltest.Reply{Text: "x", Hold: "for ever", Repeat: -1})
		if _, err := b.ask(t.Context(), hello()); !errors.Is(err, model.ErrSilent) || len(b.server.Requests()) != 2 {
			t.Errorf("error %v after %d requests", err, len(b.server.Requests()))
		}
	})
}

func TestCancelKeepsTheTextWithoutCalls(t *testing.T) {
	each(t, func(t *testing.T, p model.Provider) {
		reply := modeltest.Reply{
			Text: "I will", Calls: []modeltest.Call{{Name: "write", Arguments: `{"filename":"a"}`}}, Pieces: 3,
			Hang: true, Cut: &modeltest.Cut{Events: 8},
		}
		b := newBench(t, p, model.Options{}, reply)
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("Esc")
		r, err := b.Stream(ctx, hello(), func(d model.Delta) {
			if d.Kind == model.DeltaCall {
				cancel(why)
			}
		})
		if !errors.Is(err, why) || r.Message.Text() != "I will" || len(r.Message.Calls()) != 0 {
			t.Errorf("got %q, %d calls, %v", r.Message.Text(), len(r.Message.Calls()), err)
		}
		if n := len(b.server.Requests()); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestOverflowIsRecognised(t *testing.T) {
	tests := map[string]modeltest.Error{
		"OpenAI":    {Code: "context_length_exceeded", Message: "too long"},
		"Anthropic": {Code: "invalid_request_error", Message: "prompt is too long: 210000 tokens > 200000 maximum"},
		"llama.cpp": {Code: "exceed_context_size_error", Message: "the request exceeds the available context size"},
		"vLLM":      {Code: "BadRequestError", Message: "This model's maximum context length is 4096 tokens. However, you requested 6000 tokens"},
		"LM Studio": {Message: "Trying to keep the first 6000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is greater than the context length"},
	}
	for name, e := range tests {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, p model.Provider) {
				for _, status := range []int{400, 500} {
					b := newBench(t, p, model.Options{}, modeltest.Reply{Status: status, Error: &e})
					_, err := b.ask(t.Context(), hello())
					got, ok := errors.AsType[*model.Error](err)
					if !ok || !got.Overflow || got.Retryable || len(b.server.Requests()) != 1 {
						t.Errorf("%d: %#v", status, err)
					}
				}
			})
		})
	}
	each(t, func(t *testing.T, p model.Provider) {
		b := newBench(t, p, model.Options{DisableRetries: true}, modeltest.Reply{Status: 429, Error: &modeltest.Error{Message: "input token count exceeds your quota"}})
		_, err := b.ask(t.Context(), hello())
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Overflow {
			t.Errorf("a rate limit counts as overflow: %#v", err)
		}
	})
}

func TestR07ErrorTextIsCleaned(t *testing.T) {
	hostile := "bad \x1b]52;c;eA==\x07\x1b[2J\u202ekey\u009b31m\r\n\ttwo" + strings.Repeat("!", 5000)
	each(t, func(t *testing.T, p model.Provider) {
		b := newBench(t, p, model.Options{}, modeltest.Reply{Status: 400, Error: &modeltest.Error{Code: "x\x1b[1m", Message: hostile}})
		_, err := b.ask(t.Context(), hello())
		e, ok := errors.AsType[*model.Error](err)
		if !ok || e.Code != "x[1m" {
			t.Fatalf("error %#v", err)
		}
		if want := "bad ]52;c;eA==[2Jkey31m two!!!"; !strings.HasPrefix(e.Message, want) || len([]rune(e.Message)) > 2001 {
			t.Errorf("message %q (%d)", e.Message, len(e.Message))
		}
	})
}

func TestErrorBodiesOfOddServers(t *testing.T) {
	tests := map[string]struct{ body, code, message string }{
		"text under error":  {`{"error":"model 'x' not found"}`, "", "model 'x' not found"},
		"top level":         {`{"object":"error","message":"oh","type":"BadRequest","code":400}`, "400", "oh"},
		"list":              {`[{"error":{"code":400,"message":"oh","status":"INVALID"}}]`, "400", "oh"},
		"detail":            {`{"detail":[{"msg":"field required"}]}`, "", `[{"msg":"field required"}]`},
		"plain text":        {"no such route", "", "no such route"},
		"a proxy's page":    {"<html><body>Bad</body></html>", "", "Bad Request"},
		"nothing":           {" ", "", "Bad Request"},
		"null":              {`{"error":null}`, "", "Bad Request"},
		"number as message": {`{"error":{"message":7}}`, "", "7"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, p model.Provider) {
				b := newBench(t, p, model.Options{}, modeltest.Reply{Status: 400, Raw: test.body})
				_, err := b.ask(t.Context(), hello())
				e, ok := errors.AsType[*model.Error](err)
				if !ok || e.Status != 400 || e.Code != test.code || e.Message != test.message {
					t.Errorf("got %#v", err)
				}
			})
		})
	}
}

func TestErrorsInsideAStream(t *testing.T) {
	streams := map[string]map[string]string{
		"openai": {
			"overloaded": "data: {\"error\":{\"code\":\"server_error\",\"message\":\"oh\"}}\n\n",
			"as text":    "data: {\"error\":\"oh\"}\n\n",
			"beside":     "data: {\"id\":\"x\",\"choices\":[],\"error\":{\"code\":502,\"message\":\"oh\"}}\n\n",
		},
		"anthropic": {
			"overloaded": "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"oh\"}}\n\n",
			"as text":    "event: error\ndata: oh\n\n",
		},
	}
	each(t, func(t *testing.T, p model.Provider) {
		for name, raw := range streams[p.Name()] {
			t.Run(name, func(t *testing.T) {
				// The server keeps the connection: the error must not wait for its end.
				b := newBench(t, p, model.Options{}, modeltest.Reply{Raw: raw, Hang: true}, modeltest.Reply{Text: "good"})
				_, err := b.ask(t.Context(), hello())
				e, ok := errors.AsType[*model.Error](err)
				switch {
				case name != "as text" && (err != nil || len(b.retries()) != 1):
					t.Errorf("error %v, %d retries", err, len(b.retries()))
				case name == "as text" && (!ok || e.Message != "oh" || e.Status != 0):
					t.Errorf("error %#v", err)
				}
			})
		}
	})
}

func TestK05KeyIsTakenOutOfErrors(t *testing.T) {
	each(t, func(t *testing.T, p model.Provider) {
		o := model.Options{Keys: func(context.Context, string) (string, error) { return " sk-marked-key\n", nil }}
		b := newBench(t, p, o, modeltest.Reply{Status: 401, Error: &modeltest.Error{Message: "wrong key: sk-marked-key"}})
		_, err := b.ask(t.Context(), hello())
		e, ok := errors.AsType[*model.Error](err)
		if !ok || !e.NoKey || e.Message != "wrong key: ‹secret:"+p.Name()+"›" || !strings.Contains(e.Hint, "parley credentials set sys."+p.Name()) {
			t.Errorf("error %#v", err)
		}
		header := b.server.Requests()[0].Header
		if header.Get("Authorization")+header.Get("X-Api-Key") == "" {
			t.Errorf("no key in %v", header)
		}
	})
}

func TestL05KeyIsNeededExceptHere(t *testing.T) {
	variables := map[string]string{"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
	each(t, func(t *testing.T, p model.Provider) {
		carrier := roundTrip(func(*http.Request) (*http.Response, error) {
			t.Error("a request was sent")
			return nil, errors.New("no network here")
		})
		m, err := p.Open("", model.Options{Transport: carrier, Getenv: func(string) string { return "" }})
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Stream(t.Context(), hello(), func(model.Delta) {})
		e, ok := errors.AsType[*model.Error](err)
		if !ok || !e.NoKey || !strings.Contains(e.Hint, variables[p.Name()]) || !strings.Contains(e.Hint, "`parley credentials set sys."+p.Name()+"`") {
			t.Errorf("error %#v", err)
		}
		for address, needed := range map[string]bool{
			"": true, "https://api.example.com/v1": true, "http://localhost:8080/v1": false,
			"http://127.0.0.1/v1": false, "http://[::1]:1/v1": false, "http://llm.localhost": false,
			"http://localhost.example.com": true, "http://10.0.0.1": true,
		} {
			if got := p.NeedsKey(model.Options{BaseURL: address, Getenv: func(string) string { return "" }}); got != needed {
				t.Errorf("%q needs a key: %v", address, got)
			}
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestO01UnreachableIsSaid(t *testing.T) {
	each(t, func(t *testing.T, p model.Provider) {
		s, err := modeltest.Start(modeltest.Script{})
		if err != nil {
			t.Fatal(err)
		}
		address := s.URL()
		s.Close()
		attempts := 0
		m, err := p.Open("test", model.Options{BaseURL: address, Retrier: model.Retrier{
			Wait: func(context.Context, time.Duration) error { attempts++; return nil },
		}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Stream(t.Context(), hello(), func(model.Delta) {})
		if err == nil || !strings.Contains(err.Error(), strings.TrimSuffix(address, "/v1")+" is not reachable: ") || attempts != 5 {
			t.Errorf("error %v after %d retries", err, attempts)
		}
	})
}

func TestRedirectsDoNotCarryTheKeyAway(t *testing.T) {
	each(t, func(t *testing.T, p model.Provider) {
		thief, err := modeltest.Start(modeltest.Script{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(thief.Close)
		o := model.Options{Keys: func(context.Context, string) (string, error) { return "sk", nil }}
		b := newBench(t, p, o, refusal(307, "Location", thief.URL()+"/chat/completions"))
		_, err = b.ask(t.Context(), hello())
		if err == nil || !strings.Contains(err.Error(), "redirect refused") || len(thief.Requests()) != 0 || len(b.retries()) != 0 {
			t.Errorf("error %v, %d requests elsewhere", err, len(thief.Requests()))
		}
	})
}

func TestNothingToAskIsTheEmptyReply(t *testing.T) {
	each(t, func(t *testing.T, p model.Provider) {
		b := newBench(t, p, model.Options{})
		r, err := b.ask(t.Context(), model.Request{Messages: []model.Message{model.TextMessage(model.User, "{}")}})
		if err != nil || r.Message.Role != model.Assistant || len(r.Message.Content) != 0 || len(b.server.Requests()) != 0 {
			t.Errorf("got %+v, %v", r, err)
		}
	})
}

func TestOpenRefusesAddresses(t *testing.T) {
	each(t, func(t *testing.T, p model.Provider) {
		for _, address := range []string{"ftp://x", "localhost:8080", "http://", "://", "file:///etc/passwd"} {
			if _, err := p.Open("m", model.Options{BaseURL: address}); err == nil || !strings.Contains(err.Error(), address) {
				t.Errorf("%q: error %v", address, err)
			}
		}
	})
}

func TestListsModels(t *testing.T) {
	s, err := modeltest.Start(modeltest.Script{Models: []string{"a", "b\x1b"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	each(t, func(t *testing.T, p model.Provider) {
		got, err := p.(model.Lister).Models(t.Context(), model.Options{BaseURL: s.URL()})
		if err != nil || !reflect.DeepEqual(got, []string{"a", "b"}) {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

func TestUsageAndFinishReasons(t *testing.T) {
	each(t, func(t *testing.T, p model.Provider) {
		for reason, want := range map[string]model.Finish{
			"stop": model.FinishStop, "length": model.FinishLength, "content_filter": model.FinishFilter,
		} {
			b := newBench(t, p, model.Options{}, modeltest.Reply{
				Text: "x", Finish: reason, Usage: &modeltest.Usage{Prompt: 30, Completion: 4, Cached: 10},
			})
			r, err := b.ask(t.Context(), hello())
			usage := model.Usage{PromptTokens: 30, CompletionTokens: 4, TotalTokens: 34, CachedTokens: 10}
			if err != nil || r.Finish != want || r.Usage != usage || *r.Message.Usage != usage {
				t.Errorf("%s: %+v, %v", reason, r, err)
			}
		}
	})
}

func TestLargeLinesAreReadAndTooLargeOnesRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 40 MB")
	}
	each(t, func(t *testing.T, p model.Provider) {
		for _, size := range []int{8 << 20, 33 << 20} {
			b := newBench(t, p, model.Options{DisableRetries: true}, modeltest.Reply{Text: strings.Repeat("x", size)})
			r, err := b.ask(t.Context(), hello())
			if small := size < 32<<20; small && (err != nil || len(r.Message.Text()) != size) {
				t.Errorf("%d bytes: got %d, %v", size, len(r.Message.Text()), err)
			} else if !small && (err == nil || !strings.Contains(err.Error(), "more than 32 MiB")) {
				t.Errorf("%d bytes: %v", size, err)
			}
		}
	})
}

// FuzzStreams feeds bytes to both providers as the body of a stream: whatever comes, the reply is
// complete and well formed, or there is an error and no call.
func FuzzStreams(f *testing.F) {
	for _, seed := range []string{
		"", "data: [DONE]\n\n", "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n",
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":-1,\"id\":\"a\",\"function\":{\"name\":\"n\",\"arguments\":{}}}]},\"finish_reason\":\"x\"}]}",
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":1}}}\n\n" +
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"n\",\"input\":{}}}\n\n" +
			"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		"event: error\ndata: {\"error\":7}\n\n", ": c\r\ndata:{\"error\":null}\r\n\r\n", "data: null\n\ndata: []\n\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for name, open := range providers {
			carrier := roundTrip(func(r *http.Request) (*http.Response, error) {
				return &http.Response{
					StatusCode: 200, Status: "200 OK", Header: http.Header{"Content-Type": {"text/event-stream"}},
					Body: readCloser{strings.NewReader(string(body))}, Request: r,
				}, nil
			})
			m, err := open().Open("test", model.Options{
				BaseURL: "http://localhost:1", Transport: carrier, DisableRetries: true,
			})
			if err != nil {
				t.Fatal(err)
			}
			r, err := m.Stream(t.Context(), hello(), func(model.Delta) {})
			if err != nil && (len(r.Message.Calls()) > 0 || r.Finish != "") || err == nil && r.Finish == "" {
				t.Errorf("%s: %+v, %v", name, r, err)
			}
			for _, c := range r.Message.Calls() {
				if c.ID == "" || c.Index == nil {
					t.Errorf("%s: call %+v", name, c)
				}
			}
			if _, err := json.Marshal(r); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

// FuzzErrorBodies feeds bytes as the body of a refusal: the error must be one clean line.
func FuzzErrorBodies(f *testing.F) {
	for _, seed := range []string{`{"error":{"message":"x\u001b","code":7}}`, `[{"error":"x"}]`, "<html>", `{"error":[]}`, "\xff\x1b[2J"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for name, open := range providers {
			carrier := roundTrip(func(r *http.Request) (*http.Response, error) {
				return &http.Response{
					StatusCode: 400, Status: "400 Bad Request", Header: http.Header{"Content-Type": {"application/json"}},
					Body: readCloser{strings.NewReader(string(body))}, Request: r,
				}, nil
			})
			m, err := open().Open("test", model.Options{BaseURL: "http://localhost:1", Transport: carrier})
			if err != nil {
				t.Fatal(err)
			}
			_, err = m.Stream(t.Context(), hello(), func(model.Delta) { t.Errorf("%s: a 400 was shown or retried", name) })
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Status != 400 || e.Message == "" || e.Message != model.Clean(e.Message) || e.Code != model.Clean(e.Code) {
				t.Errorf("%s: %#v", name, err)
			}
		}
	})
}
