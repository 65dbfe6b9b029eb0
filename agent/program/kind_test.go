package program

import (
	"strings"
	"testing"
)

func TestKinds1_8(t *testing.T) {
	for body, want := range map[string]Kind{
		"": KindNoop, "hi": KindPrompt, "!!hi": KindPrompt, "#!/bin/sh\nls": KindCommand, "#!": KindCommand,
		"#!sys.echo\nx": KindEcho, "#!sys.echo x": KindEcho, "#!sys.call t": KindCall, "#!sys.daemon x": KindDaemon,
		"#!sys.openapi '{}'": KindOpenAPI, "#!sys.mcp.invoke.x 1": KindMCPTool, "#!mcp\n{}": KindMCPServer, "#!mcp": KindMCPServer,
		"#!mcp-proxy --x": KindCommand, "#!http://x": KindHTTP, "#!https://x": KindHTTP, "#!sys.read": KindCommand,
		"# !no": KindPrompt,
	} {
		tool := &Tool{Instructions: body, ID: "f.gpt:x"}
		if tool.Kind() != want {
			t.Errorf("%q: %v, want %v", body, tool.Kind(), want)
		}
		if tool.IsCommand() != strings.HasPrefix(body, "#!") || tool.IsPrompt() != (want == KindPrompt) || tool.IsNoop() != (body == "") {
			t.Errorf("%q: %v %v %v", body, tool.IsCommand(), tool.IsPrompt(), tool.IsNoop())
		}
	}
	if b := testBuiltins("sys.read"); b.Kind() != KindBuiltin || b.BuiltinName() != "sys.read" || !b.IsCommand() {
		t.Errorf("got %v", b.Kind())
	}
	// No name of a file makes a tool of it a built-in.
	if fake := (&Tool{ID: "sys.x:y", Instructions: "#!sys.x:y"}); fake.BuiltinName() != "" {
		t.Errorf("got %q", fake.BuiltinName())
	}
	if KindMCPServer.String() != "mcp server" || Kind(0).String() != "invalid" || Kind(99).String() != "invalid" {
		t.Error("names of kinds")
	}
}

func TestBodyParts6_1(t *testing.T) {
	for _, tt := range []struct{ body, interpreter, script, echo string }{
		{"#!/bin/sh  -e \n\n  ls\n\tx", "/bin/sh  -e", "\n  ls\n\tx", ""},
		{"#! /bin/cat", "/bin/cat", "", ""},
		{"#!sys.echo\n\n a", "sys.echo", "\n a", "\n a"},
		{"#!sys.echo a b", "sys.echo a b", "", "a b"}, // Q20
		{"#!sys.echo", "sys.echo", "", ""},
		{"prompt\ntext", "", "", ""},
	} {
		tool := &Tool{Instructions: tt.body}
		if tool.Interpreter() != tt.interpreter || tool.Script() != tt.script || tool.Echo() != tt.echo {
			t.Errorf("%q: %q %q %q", tt.body, tool.Interpreter(), tool.Script(), tool.Echo())
		}
	}
}

func TestSchemas4_3(t *testing.T) {
	for _, tt := range []struct {
		tool Tool
		want string
	}{
		{Tool{Instructions: "hi"}, `"description":"Prompt to send to the tool`},
		{Tool{Instructions: "hi", Chat: true}, `"description":"Prompt to send to the assistant`},
		{Tool{Instructions: "#!x"}, `{"type":"object","properties":{}}`},
		{Tool{Instructions: "#!x", Arguments: []byte("null")}, `{"type":"object","properties":{}}`},
		{Tool{Instructions: "#!x", Arguments: []byte(`{"a":1}`)}, `{"a":1}`},
	} {
		if got := string(tt.tool.Schema()); !strings.Contains(got, tt.want) {
			t.Errorf("%+v: %s", tt.tool, got)
		}
	}
}

func TestFlags(t *testing.T) {
	tool := parseText(t, "Name: a\nMeta Data: parley: read-only, parallel , idempotent, timeout=90s, nonsense\nx").Tools()[0]
	r, p, i, d := tool.Flags()
	if !r || !p || !i || d.Seconds() != 90 {
		t.Errorf("got %v %v %v %v", r, p, i, d)
	}
	if r, p, i, d = (&Tool{}).Flags(); r || p || i || d != 0 {
		t.Errorf("unsaid: %v %v %v %v", r, p, i, d)
	}
}
