package program

import "testing"

// TestV11_10Sharing is the last vector of section 11.
func TestV11_10Sharing(t *testing.T) {
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
