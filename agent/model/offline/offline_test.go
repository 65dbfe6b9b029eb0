package offline_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"parley/agent/model"
	"parley/agent/model/offline"
)

// tool returns a tool with text parameters.
func tool(name string, parameters ...string) model.Tool {
	properties := map[string]any{}
	for _, p := range parameters {
		properties[p] = map[string]string{"type": "string"}
	}
	schema, _ := json.Marshal(map[string]any{"type": "object", "properties": properties})
	return model.Tool{Name: name, Parameters: schema}
}

// kit is what the default program offers: GPTScript's tools by their normalised names, and agents.
var kit = []model.Tool{
	tool("ls", "dir"), tool("read", "filename"), tool("write", "filename", "content"),
	tool("append", "filename", "content"), tool("exec", "command", "directory"),
	tool("find", "pattern", "directory"), tool("stat", "filepath"), tool("remove", "location"),
	tool("timeNow"), tool("getenv", "name"), tool("httpGet", "url"), tool("download", "url", "location"),
	tool("prompt", "message", "fields", "sensitive"), tool("chatFinish", "return"),
	tool("tester", "defaultPromptParameter"), tool("reviewer", "defaultPromptParameter"),
	tool("weather", "city", "unit"),
}

func open(t *testing.T) model.Model {
	t.Helper()
	m, err := offline.New().Open("", model.Options{Getenv: func(name string) string {
		return map[string]string{"PARLEY_OFFLINE_DELAY": "0"}[name]
	}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ask(t *testing.T, req model.Request) model.Reply {
	t.Helper()
	var streamed strings.Builder
	r, err := open(t).Stream(t.Context(), req, func(d model.Delta) {
		if d.Kind == model.DeltaText {
			streamed.WriteString(d.Text)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if streamed.String() != r.Message.Text() {
		t.Errorf("streamed %q, replied %q", streamed.String(), r.Message.Text())
	}
	return r
}

func user(text string, tools ...model.Tool) model.Request {
	return model.Request{Chat: true, Tools: tools, Messages: []model.Message{model.TextMessage(model.User, text)}}
}

func TestPlainRequestsCallTheOfferedTools(t *testing.T) {
	tests := []struct {
		ask  string
		want []string // name and arguments
	}{
		{"list the files here", []string{`ls {}`}},
		{"List all files in docs, please", []string{`ls {"dir":"docs"}`}},
		{"what files are in the folder `my docs`?", []string{`ls {"dir":"my docs"}`}},
		{"ls", []string{`ls {}`}},
		{"read go.mod", []string{`read {"filename":"go.mod"}`}},
		{"show me the file main.go.", []string{`read {"filename":"main.go"}`}},
		{"find *.go", []string{`find {"pattern":"*.go"}`}},
		{"find all files named *.go in agent", []string{`find {"directory":"agent","pattern":"*.go"}`}},
		{"run `go version`", []string{`exec {"command":"go version"}`}},
		{"run go vet ./...", []string{`exec {"command":"go vet ./..."}`}},
		{"please run go test", []string{`exec {"command":"go test"}`}},
		{"go test ./...", []string{`exec {"command":"go test ./..."}`}},
		{"make check", []string{`exec {"command":"make check"}`}},
		{"git status", []string{`exec {"command":"git status"}`}},
		{"write hello to notes.txt", []string{`write {"content":"hello","filename":"notes.txt"}`}},
		{"write hello and bye to notes.txt", []string{`write {"content":"hello and bye","filename":"notes.txt"}`}},
		{`append "see you; then" to notes.txt`, []string{`append {"content":"see you; then","filename":"notes.txt"}`}},
		{"what time is it?", []string{`timeNow {}`}},
		{"delete notes.txt", []string{`remove {"location":"notes.txt"}`}},
		{"how big is go.mod?", []string{`stat {"filepath":"go.mod"}`}},
		{"fetch https://example.com/a?b=c", []string{`httpGet {"url":"https://example.com/a?b=c"}`}},
		{"download https://example.com to page.html", []string{`download {"location":"page.html","url":"https://example.com"}`}},
		{"what is $HOME?", []string{`getenv {"name":"HOME"}`}},
		{"ask me for a name", []string{`prompt {"fields":"name","message":"Please answer"}`}},
		{"ask me for the password", []string{`prompt {"fields":"password","message":"Please enter it. What you type stays hidden.","sensitive":"true"}`}},
		{"ask the tester to run the login tests", []string{`tester {"defaultPromptParameter":"run the login tests"}`}},
		{"hand over to Reviewer", []string{`reviewer {"defaultPromptParameter":"Please take over."}`}},
		{"@tester run it", []string{`tester {"defaultPromptParameter":"run it"}`}},
		{"finish with all is well", []string{`chatFinish {"return":"all is well"}`}},
		{"we are done", []string{`chatFinish {"return":"Done."}`}},
		{"call weather with city=Paris unit=\"deg C\"", []string{`weather {"city":"Paris","unit":"deg C"}`}},
		{"use weather with {\"city\":\"Rome\"}", []string{`weather {"city":"Rome"}`}},
		{"list the files here and read go.mod", []string{`ls {}`, `read {"filename":"go.mod"}`}},
		{"read a.txt, then run `a and b; c` and then delete a.txt", []string{
			`read {"filename":"a.txt"}`, `exec {"command":"a and b; c"}`, `remove {"location":"a.txt"}`,
		}},
		{"what time is it; read go.mod\nfind *.md. List the files in docs", []string{
			`timeNow {}`, `read {"filename":"go.mod"}`, `find {"pattern":"*.md"}`, `ls {"dir":"docs"}`,
		}},
		{"ask the tester to run go test and ask the reviewer to read go.mod", []string{
			`tester {"defaultPromptParameter":"run go test"}`, `reviewer {"defaultPromptParameter":"read go.mod"}`,
		}},
	}
	for _, test := range tests {
		t.Run(test.ask, func(t *testing.T) {
			r := ask(t, user(test.ask, kit...))
			var got []string
			ids := map[string]bool{}
			for i, c := range r.Message.Calls() {
				got = append(got, c.Function.Name+" "+c.Function.Arguments)
				if c.Index == nil || *c.Index != i || ids[c.ID] || c.ID == "" {
					t.Errorf("call %d: index %v, id %q", i, c.Index, c.ID)
				}
				ids[c.ID] = true
			}
			if !reflect.DeepEqual(got, test.want) || r.Finish != model.FinishCalls {
				t.Errorf("got  %q (%s)\nwant %q\ntext %s", got, r.Finish, test.want, r.Message.Text())
			}
		})
	}
}

func TestAnswersWithoutTools(t *testing.T) {
	tests := map[string]struct {
		ask  string
		want []string
	}{
		"help":                {"help", []string{"no language model, a set of rules", "- read go.mod", "- ask the tester to read go.mod"}},
		"greeting":            {"Hello!", []string{"I am parley's offline model", "- list the files here"}},
		"unknown":             {"why is the sky blue", []string{"I do not understand", "> why is the sky blue", "Try:"}},
		"half understood":     {"read go.mod and ponder life", []string{"I do not understand"}},
		"markdown":            {"show me markdown", []string{"# Markdown", "```go", "| name |", "- [x]"}},
		"stream lines":        {"stream 3 lines", []string{"1. This is line 1 of 3.\n2. This is line 2 of 3.\n3. This is line 3 of 3."}},
		"stream words":        {"stream 5 words", []string{"the quick brown fox jumps"}},
		"yes is no command":   {"yes", []string{"do not understand"}},
		"make is a word too":  {"make me a sandwich", []string{"do not understand"}},
		"agent not there":     {"ask the plumber to fix it", []string{"I do not understand"}},
		"tool is no agent":    {"hand over to ls", []string{"I do not understand"}},
		"a call for a person": {"hello and thanks", []string{"You are welcome."}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := ask(t, user(test.ask, kit...))
			if len(r.Message.Calls()) != 0 || r.Finish != model.FinishStop {
				t.Errorf("calls %v, finish %s", r.Message.Calls(), r.Finish)
			}
			for _, want := range test.want {
				if !strings.Contains(r.Message.Text(), want) {
					t.Errorf("no %q in\n%s", want, r.Message.Text())
				}
			}
		})
	}
}

func TestHelpListsOnlyWhatTheToolsCanDo(t *testing.T) {
	text := ask(t, user("help", tool("read", "filename"))).Message.Text()
	if !strings.Contains(text, "- read go.mod") || strings.Contains(text, "run `") || strings.Contains(text, "{agent}") {
		t.Errorf("help is\n%s", text)
	}
	if text := ask(t, user("run `ls`", tool("read", "filename"))).Message.Text(); !strings.Contains(text, "it needs `exec` or `shell`") {
		t.Errorf("missing tool: %s", text)
	}
}

// TestHelpExamplesWork asks each example of the help.
func TestHelpExamplesWork(t *testing.T) {
	text := ask(t, user("help", kit...)).Message.Text()
	n := 0
	for line := range strings.Lines(text) {
		example, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !ok {
			continue
		}
		n++
		if got := ask(t, user(example, kit...)).Message.Text(); strings.Contains(got, "do not understand") {
			t.Errorf("%q is not understood", example)
		}
	}
	if n < 15 {
		t.Errorf("only %d examples in\n%s", n, text)
	}
}

func TestParameterNamesComeFromTheSchema(t *testing.T) {
	r := ask(t, user("read a.txt and run `ls`", tool("view", "path", "lines"), tool("shell", "cmd")))
	got := fmt.Sprint(r.Message.Calls()[0].Function, r.Message.Calls()[1].Function)
	if want := `{view {"path":"a.txt"}} {shell {"cmd":"ls"}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// round returns a conversation in which the request was asked and its calls got these results.
func round(t *testing.T, text string, results ...string) model.Request {
	t.Helper()
	req := user(text, kit...)
	r := ask(t, req)
	req.Messages = append(req.Messages, r.Message)
	calls := r.Message.Calls()
	if len(calls) != len(results) {
		t.Fatalf("%d calls for %q, want %d", len(calls), text, len(results))
	}
	for i, call := range calls {
		m := model.TextMessage(model.ToolRole, results[i])
		m.ToolCall = &call
		req.Messages = append(req.Messages, m)
	}
	return req
}

func TestReportsResults(t *testing.T) {
	long := strings.Repeat("line\n", 100)
	tests := map[string]struct {
		ask     string
		results []string
		want    []string
	}{
		"listing":     {"list files", []string{"docs/\ngo.mod\nmain|x.go"}, []string{"**2 files** and **1 folder**", "| docs/ | folder |", `main\|x.go`}},
		"empty":       {"list files", []string{"Empty directory"}, []string{"Nothing was found"}},
		"file":        {"read main.go", []string{"package main\n"}, []string{"`main.go` has 1 line, 13 bytes:", "```go\npackage main\n```"}},
		"long output": {"run `seq`", []string{long}, []string{"`seq` printed 100 lines, 500 bytes", "… and 80 more lines."}},
		"fences":      {"read a.md", []string{"```\nx\n```"}, []string{"````md\n```\nx\n```\n````"}},
		"failure":     {"run `false`", []string{"ERROR: exit status 1\nOUTPUT:\nboom"}, []string{"`exec` **failed**", "exit status 1", "boom"}},
		"no file":     {"read x", []string{"The file x does not exist"}, []string{"**failed**", "The file x does not exist"}},
		"denied":      {"delete x", []string{"Tool call request has been denied"}, []string{"`remove x` was **denied**"}},
		"denied with a note": {"delete x", []string{`{"error":"denied","kind":"denied","feedback":"keep it"}`},
			[]string{"was **denied**", "> keep it"}},
		"timeout":        {"run `x`", []string{`{"error":"no end in 2m","kind":"timeout","partial":"abc"}`}, []string{"**failed** (timeout)", "no end in 2m", "abc"}},
		"stopped":        {"run `x`", []string{"some\n\nABORTED BY USER"}, []string{"**stopped**", "some"}},
		"answers":        {"ask me for a name", []string{`{"name":"Ann"}`}, []string{"| name | Ann |"}},
		"secret":         {"ask me for a password", []string{`{"password":"hunter2"}`}, []string{"1 hidden value"}},
		"agent":          {"ask the tester to x", []string{"all\ngood"}, []string{"**tester** says:\n\n> all\n> good"}},
		"written":        {"write a to b", []string{"Wrote (1) bytes to file b"}, []string{"Done: `Wrote (1) bytes to file b`."}},
		"several":        {"list files and read x", []string{"a", "ERROR: no"}, []string{"### 1. ls", "### 2. read x", "**failed**"}},
		"prints nothing": {"run `true`", []string{""}, []string{"`true` printed nothing"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := ask(t, round(t, test.ask, test.results...))
			if len(r.Message.Calls()) > 0 {
				t.Errorf("called %v", r.Message.Calls())
			}
			for _, want := range test.want {
				if !strings.Contains(r.Message.Text(), want) {
					t.Errorf("no %q in\n%s", want, r.Message.Text())
				}
			}
			if strings.Contains(r.Message.Text(), "hunter2") {
				t.Error("the secret is repeated")
			}
		})
	}
}

func TestANewMessageIsANewRequest(t *testing.T) {
	req := round(t, "list files", "a")
	req.Messages = append(req.Messages, ask(t, req).Message, model.TextMessage(model.User, "read a"))
	if got := ask(t, req).Message.Calls(); len(got) != 1 || got[0].Function.Name != "read" {
		t.Errorf("called %v", got)
	}
}

func TestAToolIsAskedBySystemOrPrompt(t *testing.T) {
	req := model.Request{Tools: kit, Messages: []model.Message{
		model.TextMessage(model.System, "You are a tool.\n\nList the files in docs"),
		model.TextMessage(model.User, "{}"),
	}}
	if got := ask(t, req).Message.Calls(); len(got) != 1 || got[0].Function.Arguments != `{"dir":"docs"}` {
		t.Errorf("system message: called %v", got)
	}
	req = user(`{"defaultPromptParameter":"read go.mod"}`, kit...)
	if got := ask(t, req).Message.Calls(); len(got) != 1 || got[0].Function.Name != "read" {
		t.Errorf("prompt: called %v", got)
	}
}

func TestJSONResponse(t *testing.T) {
	req := user("thanks")
	req.JSONResponse = true
	if got := ask(t, req).Message.Text(); got != `{"answer":"You are welcome."}` {
		t.Errorf("got %s", got)
	}
}

func TestCancelKeepsWhatWasSaid(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("Esc")
	n := 0
	r, err := open(t).Stream(ctx, user("stream 1000 words"), func(model.Delta) {
		if n++; n == 10 {
			cancel(why)
		}
	})
	if !errors.Is(err, why) || len(strings.Fields(r.Message.Text())) != 10 || r.Finish != "" {
		t.Errorf("got %q, %v", r.Message.Text(), err)
	}
}

func TestDelayEndsWithTheContext(t *testing.T) {
	m, err := offline.New().Open("parley", model.Options{Getenv: func(string) string { return "3600000" }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := m.Stream(ctx, user("help"), func(model.Delta) {}); !errors.Is(err, context.Canceled) || r.Message.Text() != "" {
		t.Errorf("got %v, %v", r, err)
	}
}

func TestOpenKnowsItsOnlyModel(t *testing.T) {
	if _, err := offline.New().Open("gpt-4o", model.Options{}); err == nil {
		t.Error("offline/gpt-4o opened")
	}
	if offline.New().NeedsKey(model.Options{}) {
		t.Error("a key is needed")
	}
	if ref := open(t).Ref(); ref != "offline/parley" {
		t.Errorf("ref %s", ref)
	}
}

// FuzzAnswers feeds requests and results: every reply must be well formed.
func FuzzAnswers(f *testing.F) {
	f.Add("read go.mod and run `x`", "ERROR: y")
	f.Add("ask the tester to; then , and", `{"kind":"denied"}`)
	f.Add("“ ” `` ''", "```")
	f.Fuzz(func(t *testing.T, text, result string) {
		m := open(t)
		req := user(text, kit...)
		r, err := m.Stream(t.Context(), req, func(model.Delta) {})
		if err != nil {
			t.Fatal(err)
		}
		req.Messages = append(req.Messages, r.Message)
		for _, c := range r.Message.Calls() {
			if !json.Valid([]byte(c.Function.Arguments)) || c.Function.Name == "" {
				t.Errorf("call %+v", c)
			}
			answer := model.TextMessage(model.ToolRole, result)
			answer.ToolCall = &c
			req.Messages = append(req.Messages, answer)
		}
		if len(r.Message.Calls()) > 0 {
			if r, err := m.Stream(t.Context(), req, func(model.Delta) {}); err != nil || r.Message.Text() == "" {
				t.Errorf("report %q, %v", r.Message.Text(), err)
			}
		}
	})
}
