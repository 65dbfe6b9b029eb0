package modeltest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/agent/model"
	"parley/agent/model/anthropic"
	"parley/agent/model/modeltest"
	"parley/agent/model/openai"
)

func start(t *testing.T, script modeltest.Script) *modeltest.Server {
	t.Helper()
	s, err := modeltest.Start(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// open opens a model of either provider on the server.
func open(t *testing.T, p model.Provider, s *modeltest.Server) model.Model {
	t.Helper()
	m, err := p.Open("m", model.Options{BaseURL: s.URL(), Retrier: model.Retrier{
		Wait: func(context.Context, time.Duration) error { return nil },
	}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ask(t *testing.T, m model.Model, messages ...model.Message) (model.Reply, error) {
	t.Helper()
	return m.Stream(t.Context(), model.Request{Messages: messages}, func(model.Delta) {})
}

func user(text string) model.Message { return model.TextMessage(model.User, text) }

// TestTour walks through testdata/model/tour.json with both wires.
func TestTour(t *testing.T) {
	script, err := modeltest.Load(filepath.Join("..", "..", "..", "testdata", "model", "tour.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []model.Provider{openai.New(), anthropic.New()} {
		t.Run(p.Name(), func(t *testing.T) {
			s := start(t, script)
			m := open(t, p, s)
			first, err := ask(t, m, user("which files?"))
			if err != nil || first.Message.Text() != "I will look." || first.Usage.TotalTokens != 48 {
				t.Fatalf("got %+v, %v", first, err)
			}
			call := first.Message.Calls()[0]
			if call.ID != "call_1" || call.Function.Arguments != `{"dir":"."}` {
				t.Errorf("call %+v", call)
			}
			listing := model.TextMessage(model.ToolRole, "go.mod\nmain.go")
			listing.ToolCall = &call
			if r, err := ask(t, m, user("which files?"), first.Message, listing); err != nil || r.Message.Text() != "It is a Go module." {
				t.Errorf("got %+v, %v", r, err)
			}
			if r, err := ask(t, m, user("are you busy?")); err != nil || r.Message.Text() != "Now I have time." {
				t.Errorf("got %+v, %v", r, err)
			}
			for range 3 {
				if r, err := ask(t, m, user("again")); err != nil || r.Message.Text() != "Again." {
					t.Errorf("got %+v, %v", r, err)
				}
			}
			if s.Left() != 0 || len(s.Requests()) != 7 {
				t.Errorf("%d replies left after %d requests", s.Left(), len(s.Requests()))
			}
			if golden := s.Golden(); strings.Count(golden, "\n{") != 6 || !strings.Contains(golden, `  "model": "m"`) {
				t.Errorf("golden text\n%s", golden)
			}
		})
	}
}

func TestParallelRequestsGetTheirOwnReplies(t *testing.T) {
	s := start(t, modeltest.Script{Replies: []modeltest.Reply{
		{When: &modeltest.When{System: "tester"}, Text: "I test"},
		{When: &modeltest.When{System: "reviewer"}, Text: "I review"},
		{When: &modeltest.When{Tool: "ls"}, Text: "I list"},
	}})
	m := open(t, openai.New(), s)
	var wg sync.WaitGroup
	for system, want := range map[string]string{"the reviewer": "I review", "the tester": "I test"} {
		wg.Go(func() {
			if r, err := ask(t, m, model.TextMessage(model.System, system), user("go")); err != nil || r.Message.Text() != want {
				t.Errorf("%s: got %q, %v", system, r.Message.Text(), err)
			}
		})
	}
	wg.Wait()
	req := model.Request{Messages: []model.Message{user("go")}, Tools: []model.Tool{{Name: "ls"}}}
	if r, err := m.Stream(t.Context(), req, func(model.Delta) {}); err != nil || r.Message.Text() != "I list" {
		t.Errorf("got %q, %v", r.Message.Text(), err)
	}
}

func TestNoReplyIsARefusalThatNamesTheMessage(t *testing.T) {
	s := start(t, modeltest.Script{Replies: []modeltest.Reply{{Text: "once"}}})
	m := open(t, openai.New(), s)
	if _, err := ask(t, m, user("one")); err != nil {
		t.Fatal(err)
	}
	_, err := ask(t, m, user("two"))
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Status != 400 || !strings.Contains(e.Message, "no reply for: two") {
		t.Errorf("error %v", err)
	}
}

func TestHeldRepliesWait(t *testing.T) {
	s := start(t, modeltest.Script{Replies: []modeltest.Reply{{Text: "abcd", Pieces: 1, Hold: "gate", HoldAfter: 3}}})
	m := open(t, openai.New(), s)
	pieces := make(chan string, 10)
	done := make(chan error)
	go func() {
		_, err := m.Stream(t.Context(), model.Request{Messages: []model.Message{user("x")}}, func(d model.Delta) { pieces <- d.Text })
		done <- err
	}()
	<-s.Held("gate")
	if got := <-pieces + <-pieces; got != "ab" {
		t.Errorf("before the gate: %q", got)
	}
	s.Release("gate")
	s.Release("gate") // again is no error
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := <-pieces + <-pieces; got != "cd" {
		t.Errorf("behind the gate: %q", got)
	}
}

func TestCloseEndsHangingAndHeldReplies(t *testing.T) {
	s, err := modeltest.Start(modeltest.Script{Replies: []modeltest.Reply{{Text: "x", Hang: true, Finish: "none", NoDone: true}, {Hold: "gate"}}})
	if err != nil {
		t.Fatal(err)
	}
	m := open(t, openai.New(), s)
	var wg sync.WaitGroup
	begun := make(chan bool, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 2 {
		wg.Go(func() {
			req := model.Request{Messages: []model.Message{user("x")}}
			if _, err := m.Stream(ctx, req, func(d model.Delta) {
				switch d.Kind {
				case model.DeltaText:
					begun <- true
				case model.DeltaRetry:
					cancel()
				}
			}); err == nil {
				t.Error("a reply without an end is complete")
			}
		})
	}
	<-begun
	<-s.Held("gate")
	s.Close()
	wg.Wait()
}

func TestRawStatusAndBytes(t *testing.T) {
	s := start(t, modeltest.Script{Replies: []modeltest.Reply{
		{Raw: "0123456789", Cut: &modeltest.Cut{Bytes: 4}, Status: 203, Headers: map[string]string{"X-A": "b"}},
	}})
	resp, err := http.Post(s.URL()+"/messages", "application/json", strings.NewReader("no json"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	if string(body) != "0123" || resp.StatusCode != 203 || resp.Header.Get("X-A") != "b" {
		t.Errorf("got %q, %s, %v", body, resp.Status, resp.Header)
	}
	if got := s.Requests()[0]; string(got.Body) != "no json" || got.Path != "/v1/messages" {
		t.Errorf("recorded %+v", got)
	}
}

func TestLoadRefusesWhatItDoesNotKnow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "script.json")
	for text, want := range map[string]string{
		`{"replies":[{"txt":"x"}]}`: `unknown field "txt"`,
		`{"replies":`:               "unexpected EOF",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := modeltest.Load(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v", text, err)
		}
	}
	if _, err := modeltest.Load(path + ".none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
