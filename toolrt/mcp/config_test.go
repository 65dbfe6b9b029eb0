package mcp

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// 8.3, Q23: the two forms of a server, with lists and objects.
func TestQ23Config(t *testing.T) {
	for body, want := range map[string]string{
		"#!mcp\n{\"mcpServers\":{\"db\":{\"command\":\"uvx\",\"args\":[\"a\",\"b\"],\"env\":[\"A=1\",\"B=\"]}}}": "db|uvx a b|A=1,B=|",
		"#!mcp\n{\"command\":\"x\",\"env\":{\"B\":2.50,\"A\":\"b=c\"},\"other\":1}":                              "|x|A=b=c,B=2.50|",
		"#!mcp {\"url\":\"http://a/\",\"headers\":{\"K\":\"v\"}}":                                                "|http://a/||K=v",
		"#!mcp\n{\"url\":\"http://a/\",\"server\":\"http://b/\"}":                                                "|http://b/||",
		"#!mcp\n{\"url\":\"http://a/?k=s\",\"baseURL\":\"http://u:p@c/?k=s\",\"command\":\"x\"}":                 "|x, http://u:xxxxx@c/||",
	} {
		ref, err := ParseBody(body)
		got := strings.Join([]string{ref.Name, ref.Config.Line(), strings.Join(ref.Config.Env, ","), strings.Join(ref.Config.Headers, ",")}, "|")
		if err != nil || got != want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", body, err, got, want)
		}
	}
	for body, want := range map[string]string{
		"#!mcp": "failed to parse MCP configuration: ", "#!mcp\n{": "failed to parse MCP configuration: ", "#!mcp\n{} {}": "there is more after the object",
		"#!mcp\n{}": "it has neither a command nor a url", "#!mcp\n{\"url\":\"file:///x\"}": "is not http or https",
		"#!mcp\n{\"mcpServers\":{\"a\":{\"command\":\"x\"},\"b\":{\"command\":\"y\"}}}": "only a single MCP server definition is supported",
		"#!mcp\n{\"command\":\"x\",\"env\":[\"novalue\"]}":                              `"novalue" is not of the form NAME=value`,
		"#!mcp\n{\"command\":\"x\",\"startTimeout\":\"soon\"}":                          "no duration",
	} {
		if _, err := ParseBody(body); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// One connection for each configuration, whatever of its tools is allowed.
func TestKey8_3(t *testing.T) {
	a, b := Config{Command: "x", AllowedTools: []string{"t"}}, Config{Command: "x"}
	if a.Key() != b.Key() || a.Key() == (Config{Command: "x", Args: []string{"1"}}).Key() {
		t.Error("keys do not tell configurations apart")
	}
	l := Listing{Tools: []ListedTool{{Name: "t"}, {Name: "u"}}, Instructions: "i"}
	for _, c := range []struct {
		cfg  Config
		want int
	}{{a, 1}, {b, 2}, {Config{AllowedTools: []string{"*"}}, 2}, {Config{AllowedTools: []string{}}, 0}} {
		if got := l.Allowed(c.cfg); len(got.Tools) != c.want {
			t.Errorf("%v: %d tools", c.cfg.AllowedTools, len(got.Tools))
		}
	}
	if l.Allowed(Config{DisableInstruction: true}).Instructions != "" {
		t.Error("instructions were not left out")
	}
}

func TestSecretsOfConfig(t *testing.T) {
	c := Config{Env: []string{"GITHUB_TOKEN=abc", "MODE=x"}, Headers: []string{"Authorization=Bearer t0k", "X-Api-Key=k", "Accept=a"}}
	got := c.Secrets()
	if len(got) != 3 || got["GITHUB_TOKEN"] != "abc" || got["Authorization"] != "t0k" || got["X-Api-Key"] != "k" {
		t.Error(got)
	}
}

// A message that is too long ends the connection, not the process of parley.
func TestM06TooLongMessage(t *testing.T) {
	var out bytes.Buffer
	w := &messageWriter{to: &out, tail: &tail{}, remark: func(string) {}, limit: 1000}
	for range 20 {
		if _, err := w.Write(bytes.Repeat([]byte("x"), 99)); err != nil {
			t.Fatal(err)
		}
	}
	if w.failed == nil || !strings.Contains(w.tail.last(), "more than 80 MB") {
		t.Error(w.failed, w.tail.last())
	}
}

// Whatever a server sends, repairing it gives a message or leaves it alone.
func FuzzRepair(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"x"},null,{"type":"image","data":"a"}]}}`))
	f.Add([]byte(`{"result":{"tools":[{"name":"a","annotations":{"title":1}},5]}}`))
	f.Add([]byte(`{"result":{"content":null,"tools":{}}}`))
	f.Fuzz(func(t *testing.T, message []byte) {
		before := slices.Clone(message)
		out := repair(message, func(string) {})
		if !bytes.Equal(before, message) {
			t.Fatal("the message was changed in place")
		}
		if again := repair(out, func(string) {}); len(again) > 0 && len(out) > 0 && !bytes.Equal(again, out) && !bytes.Contains(out, []byte(`"tools"`)) {
			t.Fatalf("repaired twice: %s\n%s", out, again)
		}
	})
}
