package program

import (
	"fmt"
	"strings"
	"testing"
)

// TestVectors11Sharing is the last vector of section 11.
func TestVectors11Sharing(t *testing.T) {
	p := loadText(t, `tools: a
agents: b

hi
---
name: a
share tools: x
share context: c
body
---
name: c
share tools: z
share context: c2
#!sys.echo C1
---
name: c2
#!sys.echo C2
---
name: b
share tools: y
body
---
name: x
body
---
name: y
body
---
name: z
body
`)
	if got := offeredNames(p.Offered(p.Entry(), nil)); got != "a z x y b" {
		t.Errorf("tool order %q", got)
	}
	if got := names(p.Contexts(p.Entry())); got != "c2 c" {
		t.Errorf("context order %q", got)
	}
}

func TestRoles3_1(t *testing.T) {
	p := loadText(t, `name: entry
tools: plain, typed, agentTool, ctx with v as p, in, out, cred, asst, provider, odd, empty
context: ctx, plain as p2
input filters: plain, empty
output filters: out with *, out
credentials: cred as c with v as p, empty
agents: Billing Agent, Assistant, plain as boss, ctx
share tools: hidden

hi
---
name: plain
body
---
name: typed
type: tool
body
---
name: agentTool
type: Agent
body
---
name: ctx
type: context
param: p: x
body
---
name: in
type: input
body
---
name: out
type: output
body
---
name: cred
type: credential
share credentials: cred2, empty2
#!x
---
name: cred2
share credentials: cred3, cred
#!x
---
name: cred3
#!x
---
name: asst
type: assistant
body
---
name: provider
type: provider
body
---
name: odd
type: odd
body
---
name: hidden
body
---
name: Billing Agent
body
---
name: Assistant
body
---
name: empty
share tools: fromEmpty
---
name: empty2
share credentials: cred4
---
name: cred4
#!x
---
name: fromEmpty
body
`)
	e := p.Entry()
	for what, pair := range map[string][2]string{
		"contexts":       {names(p.Contexts(e)), "ctx plain=p2 ctx(v as p)"},
		"input filters":  {names(p.InputFilters(e)), "plain in"},
		"output filters": {names(p.OutputFilters(e)), "out(*) out"},
		"credentials":    {names(p.Credentials(e)), "cred=c(as c with v as p) cred2 cred3 cred cred4"},
		"agents":         {names(p.Agents(e)), "Billing Agent=billing Assistant=Assistant plain=boss ctx=ctx"},
		"offered":        {offeredNames(p.Offered(e, nil)), "plain typed agentTool fromEmpty billing Assistant boss ctx"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s:\n got %s\nwant %s", what, pair[0], pair[1])
		}
	}
	if got := names(p.Credentials(p.ToolSet["f.gpt:plain"])); got != "" {
		t.Errorf("a tool without credentials has %q", got)
	}
}

func TestSharingStopsAtUse(t *testing.T) {
	p := loadText(t, `tools: a
share tools: self
input filters: f

hi
---
name: a
tools: used
share context: c
body
---
name: used
share tools: far
body
---
name: far
body
---
name: c
share input filters: i
share output filters: o, empty
body
---
name: f
share tools: fromFilter
body
---
name: i
body
---
name: o
body
---
name: empty
---
name: self
body
---
name: fromFilter
body
`)
	e := p.Entry()
	if got := offeredNames(p.Offered(e, nil)); got != "a fromFilter" {
		t.Errorf("offered %q", got)
	}
	if got := names(p.InputFilters(e)) + "|" + names(p.OutputFilters(e)); got != "f i|o" {
		t.Errorf("filters %q", got)
	}
}

func TestOfferedAgentGroup3_3(t *testing.T) {
	p := loadText(t, `name: entry
agents: one, Two Agent

---
name: one
chat: true
tools: sys.read
hi
---
name: Two Agent
chat: true
agents: one
hi
---
name: three
hi
`)
	group := p.Agents(p.Entry())
	one, two := p.Tool("f.gpt:one"), p.Tool("f.gpt:Two Agent")
	if got := offeredNames(p.Offered(one, group)); got != "read two" {
		t.Errorf("one sees %q", got)
	}
	if got := offeredNames(p.Offered(two, group)); got != "one" {
		t.Errorf("two sees %q", got)
	}
	if got := p.EntryAgent(); got != one {
		t.Errorf("the first agent takes the entry's place, got %v", got)
	}
	if got := p.Offered(one, group)[0]; got.Tool.BuiltinName() != "sys.read" || got.Ref.ToolID != "sys.read" {
		t.Errorf("got %+v", got)
	}
}

func TestEntryAgent3_4(t *testing.T) {
	for src, want := range map[string]string{
		"name: e\nagents: a\n---\nname: a\nhi":                            "f.gpt:a",
		"name: e\nagents: a\n\nbody\n---\nname: a\nhi":                    "f.gpt:e",
		"name: e\nagents: a\ncontext: a\n---\nname: a\nhi":                "f.gpt:e",
		"name: e\ntools: a\n---\nname: a\nhi":                             "f.gpt:e",
		"name: e\nagents: a\ntools: c\n---\nname: a\nhi\n---\nname: c\nx": "f.gpt:a",
	} {
		if got := loadText(t, src).EntryAgent().ID; got != want {
			t.Errorf("%q: %s", src, got)
		}
	}
}

func TestOfferedSchemasAndCollisions(t *testing.T) {
	p := loadText(t, "tools: a b, a-b, a_b, a b as A B, sys.read as a b, c\n\nhi\n---\nname: a b\nx\n---\nname: a-b\nx\n---\nname: a_b\nx\n---\nname: c\nparam: q: what\nx")
	offered := p.Offered(p.Entry(), nil)
	if got := offeredNames(offered); got != "aB aB0 aB00 aB000 aB0000 c" {
		t.Errorf("got %q", got)
	}
	if got := string(offered[5].Tool.Schema()); got != `{"type":"object","properties":{"q":{"type":"string","description":"what"}}}` {
		t.Errorf("got %s", got)
	}
}

// TestManyCollisions must end: names have a longest length.
func TestManyCollisions(t *testing.T) {
	n := newNamer()
	seen := map[string]bool{}
	for i := range 5000 {
		name := n.pick(strings.Repeat("ab", 20+i%2*20))
		if seen[name] || len(name) > maxNameLength {
			t.Fatalf("bad name %q", name)
		}
		seen[name] = true
	}
	if n.pick("") != "external" || n.pick("") != "external0" {
		t.Error("an empty name is external")
	}
}

func TestVectors11Normalisation(t *testing.T) {
	for name, want := range map[string]string{
		"my tool": "myTool", "My-Tool": "myTool", "BOB": "BOB", "sys.http.get": "httpGet",
		"github.com/foo/bar-baz": "barBaz", "a b from c.gpt": "aB", "x_Y": "xY", "données": "donnees",
		strings.Repeat("x", 64): strings.Repeat("x", 64), strings.Repeat("x", 70): strings.Repeat("x", 55),
		"__": "tool", "./foo/tool.gpt": "foo", ".a/tool.gpt": "tool", "./x/agent.gpt": "agent", "bar.baz.gpt": "barBaz",
		"": "tool", "привет": "tool", "Über Größe": "uberGroE", "cafe\u0301": "cafe", "a2 B3": "a2B3", "sys.read": "read",
		"x from": "xFrom", "from x": "fromX", strings.Repeat("ы", 40) + "a": "tool", strings.Repeat("é", 60): strings.Repeat("e", 60),
	} {
		if got := Normalize(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestMapArgs5_9(t *testing.T) {
	target := func(params ...string) *Tool {
		all := map[string]string{}
		for _, p := range params {
			all[p] = ""
		}
		return &Tool{ID: "f:t", Arguments: paramSchema(all)}
	}
	empty := &Tool{ID: "f:t", Arguments: []byte(`{"type":"object","properties":{}}`)}
	const prefix = "can not assign arg to context because target tool [f:t] "
	const input = `{"x":1.50,"Big":{"b":1,"a":[ 2 ]},"s":"t","n":null}`
	for _, tt := range []struct {
		target     *Tool
		arg, input string
		want       string
		err        string
	}{
		{target("p"), "", input, "", ""},
		{target("p"), " * ", input, input, ""},
		{target("p"), "*", "plain", "plain", ""},
		{target(), "v as p", input, "", ""},
		{&Tool{}, "*", input, input, ""},
		{target("p"), "v", input, `{"p":"v"}`, ""},
		{target("p"), "v as P", input, `{"p":"v"}`, ""},
		{target("City", "q"), "${x} as city and $BIG as q", input, `{"City":1.50,"q":{"b":1,"a":[2]}}`, ""},
		{target("p"), "${gone}", input, `{"p":null}`, ""},
		{target("p"), "$n as p", input, `{"p":null}`, ""},
		{target("p"), "$s", "no json", `{"p":null}`, ""},
		{target("p"), "$s", "[1]", `{"p":null}`, ""},
		{target("p", "q"), `"a  b" as p and 'c d' as q`, input, `{"p":"a  b","q":"c d"}`, ""},
		{target("p", "q"), "a as p b as q", input, `{"p":"a","q":"b"}`, ""},
		{target("foo"), "a b as foo", input, `{"foo":"b"}`, ""},
		{target("p"), "and", input, "", ""},
		{target("p"), "as p", input, "", ""},
		{target("p"), "<&> as p", input, `{"p":"<&>"}`, ""},
		{target("p", "q"), "v", input, "", prefix + `does not have one args. You must use "as" syntax to map the arg to a key [p q]`},
		{target("p"), "v as R", input, "", prefix + "does not args [r]"},
		{empty, "v", input, "", prefix + "has no defined args"},
		{target("p"), "1 as", input, "", prefix + `has invalid args "1 as": nothing after "as"`},
		{target("p"), `"1`, input, "", prefix + `has invalid args "\"1": EOF found when expecting closing quote`},
	} {
		got, err := MapArgs(tt.target, tt.arg, tt.input)
		if got != tt.want || fmt.Sprint(err) != tt.err && !(err == nil && tt.err == "") {
			t.Errorf("%q of %s: got %s, %v; want %s, %s", tt.arg, tt.input, got, err, tt.want, tt.err)
		}
	}
}

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

func TestParseCredential5_10(t *testing.T) {
	const input = `{"s":"text","n":1.50,"o":{"b":1,"a":2},"z":null,"t":true}`
	for _, tt := range []struct{ ref, want string }{
		{"cred", `cred||` + `|map[]`},
		{"cred as my", "my|my||map[]"},
		{`cred as "my one" checked with "a b"`, "my one|my one|a b|map[]"},
		{"cred checked with v", "cred||v|map[]"},
		{"cred checked with v with a as b", "cred||v|map[b:a]"},
		{`cred as c with "x, y" as p and ${s} as q`, "c|c||map[p:x, y q:text]"},
		{"cred with ${n} as n and ${o} as o and ${z} as z and ${t} as t and ${gone} as g and $s as s", `cred|||map[g:${gone} n:1.50 o:{"a":2,"b":1} s:$s t:true z:null]`}, // Q15
		{"x from lib.gpt", "x from lib.gpt|||map[]"}, // Q43
		{"two words from lib.gpt as c", "c|c||map[]"},
		{"long name with spaces with a as b", "long name with spaces|||map[b:a]"}, // Q9
	} {
		src := "-- a.gpt --\nCredentials: " + tt.ref + "\n\nhi\n---\nName: cred\n#!x\n---\nName: long name with spaces\n#!x\n-- lib.gpt --\nName: x\n#!x\n---\nName: two words\n#!x"
		p, _ := loadFiles(t, "a.gpt", src)
		refs := p.Credentials(p.Entry())
		if len(refs) != 1 {
			t.Errorf("%s: %v", tt.ref, refs)
			continue
		}
		name, alias, checked, args, err := ParseCredential(refs[0], input)
		if got := fmt.Sprintf("%s|%s|%s|%v", name, alias, checked, args); got != tt.want || err != nil {
			t.Errorf("%s:\n got %s %v\nwant %s", tt.ref, got, err, tt.want)
		}
	}
	for ref, want := range map[string]string{
		"cred as c d":              "expected 'with' but got d",
		"cred with":                "expected args after 'with'",
		"cred with a":              "expected 'as' after a",
		"cred with a as":           "expected arg name after 'as'",
		"cred with a as b and":     "expected an arg after 'and'",
		"cred with a as b c":       "expected 'and' but got c",
		"cred as c checked with":   "expected 'checked with some_value'",
		"cred as c checked":        "expected 'checked with some_value'",
		`cred with "a as b`:        "EOF found when expecting closing quote",
		"cred with a as b as c":    "expected 'and' but got as",
		"cred checked with v as c": "expected 'with' but got as",
	} {
		err := loadError(t, "a.gpt", "-- a.gpt --\nCredentials: "+ref+"\n\nhi\n---\nName: cred\n#!x")
		if want := fmt.Sprintf("a.gpt:1:14: credential %q: %s", ref, want); err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", ref, err, want)
		}
	}
}
