package program

import (
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestLoadLinksFiles(t *testing.T) {
	p, warnings := loadFiles(t, "app.gpt", `
-- app.gpt --
Name: app
Tools: helper, sys.read, sys.exec?, BETA from lib/lib.gpt, ./sub
Context: ./rules.md

hi
---
Name: Helper
Tools: beta from ./lib/lib.gpt

help
---
Name: unreachable
Tools: nowhere

x
-- lib/lib.gpt --
Name: alpha
a
---
Name: beta
Tools: ../app.gpt, ./more.gpt

b
-- lib/more.gpt --
more
-- sub/tool.gpt --
Name: in sub
s
-- rules.md --
be kind: always
---
really`)
	if len(warnings) > 0 {
		t.Errorf("warnings %v", warnings)
	}
	want := []string{
		"app.gpt:Helper", "app.gpt:app", "lib/lib.gpt:beta", "lib/more.gpt:", "rules.md:rules.md", "sub/tool.gpt:in sub", "sys.exec", "sys.read",
	}
	if got := slices.Sorted(maps.Keys(p.ToolSet)); !reflect.DeepEqual(got, want) {
		t.Errorf("tool set %q\nwant %q", got, want)
	}
	entry := p.Entry()
	if p.Name != "app.gpt" || p.EntryToolID != "app.gpt:app" || entry.Name != "app" {
		t.Errorf("name %q, entry %q", p.Name, p.EntryToolID)
	}
	if want := map[string][]Reference{
		"helper":                {{Reference: "helper", ToolID: "app.gpt:Helper"}},
		"sys.read":              {{Reference: "sys.read", ToolID: "sys.read"}},
		"sys.exec?":             {{Reference: "sys.exec?", ToolID: "sys.exec"}},
		"BETA from lib/lib.gpt": {{Reference: "BETA from lib/lib.gpt", ToolID: "lib/lib.gpt:beta"}},
		"./sub":                 {{Reference: "./sub", ToolID: "sub/tool.gpt:in sub"}},
		"./rules.md":            {{Reference: "./rules.md", ToolID: "rules.md:rules.md"}},
	}; !reflect.DeepEqual(entry.ToolMapping, want) {
		t.Errorf("mapping %s", marshal(entry.ToolMapping))
	}
	if want := map[string]string{"app": "app.gpt:app", "helper": "app.gpt:Helper", "unreachable": "app.gpt:unreachable"}; !reflect.DeepEqual(entry.LocalTools, want) {
		t.Errorf("local tools %v", entry.LocalTools)
	}
	if !filepath.IsAbs(entry.WorkingDir) || p.ToolSet["lib/lib.gpt:beta"].WorkingDir != filepath.Join(entry.WorkingDir, "lib") {
		t.Errorf("working folders %q %q", entry.WorkingDir, p.ToolSet["lib/lib.gpt:beta"].WorkingDir)
	}
	if got := p.ToolSet["rules.md:rules.md"].Instructions; got != "#!sys.echo\nbe kind: always\n---\nreally\n" {
		t.Errorf("a plain file must be echoed byte for byte, got %q", got)
	}
}

func TestProgramOnTheCommandLine(t *testing.T) {
	const files = `
-- app.gpt --
Name: one
1
---
Name: Two
2
-- dir/tool.gpt --
Name: tool
t
-- both/agent.gpt --
Name: agent
a
-- both/tool.gpt --
Name: tool
t
-- noext --
no extension
-- a from b.gpt --
Name: odd file name
x`
	for _, tt := range []struct{ ref, sub, name, entry string }{
		{"app.gpt", "", "app.gpt", "app.gpt:one"},
		{"./app.gpt", "", "./app.gpt", "app.gpt:one"},
		{"TWO from app.gpt", "", "app.gpt", "app.gpt:Two"},
		{"t* from app.gpt", "", "app.gpt", "app.gpt:Two"},
		{"app.gpt", "two", "app.gpt", "app.gpt:Two"},
		{"dir", "", "dir", "dir/tool.gpt:tool"},
		{"both/", "", "both/", "both/agent.gpt:agent"},
		{`dir\tool.gpt`, "", "dir/tool.gpt", "dir/tool.gpt:tool"},
		{"noext", "", "noext", "noext:"},
		{"sys.read", "", "sys.read", "sys.read"},
		{"a from b.gpt", "", "a from b.gpt", "a from b.gpt:odd file name"},
	} {
		p, _, err := Load(t.Context(), tt.ref, Options{Dir: writeFiles(t, files), Builtins: testBuiltins, SubTool: tt.sub})
		if err != nil {
			t.Errorf("%s: %v", tt.ref, err)
			continue
		}
		if p.Name != tt.name || p.EntryToolID != tt.entry {
			t.Errorf("%s: name %q, entry %q", tt.ref, p.Name, p.EntryToolID)
		}
	}
	dir := writeFiles(t, files)
	p, _, err := Load(t.Context(), filepath.Join(dir, "app.gpt"), Options{Dir: t.TempDir()})
	if err != nil || p.Entry().WorkingDir != dir {
		t.Errorf("an absolute path: %v %v", p, err)
	}
}

func TestLoadStdin(t *testing.T) {
	dir := writeFiles(t, "\n-- lib.gpt --\nName: lib\nl\n-- inline --\nName: file\nx")
	o := Options{Dir: dir, Stdin: strings.NewReader("tools: ./lib.gpt, ./inline\n\nhi")}
	p, _, err := Load(t.Context(), "-", o)
	if err != nil {
		t.Fatal(err)
	}
	if e := p.Entry(); e.ID != "inline:" || e.WorkingDir != dir || len(p.ToolSet) != 3 {
		t.Errorf("got %s", marshal(p))
	}
	if _, _, err := Load(t.Context(), "-", Options{Dir: dir}); err == nil || err.Error() != "no tools found in ./inline" {
		t.Errorf("empty input: %v", err)
	}
	// Q33: a missing tool of inline source is an error like any other.
	o = Options{Dir: dir, Stdin: strings.NewReader("name: a\nhi"), SubTool: "b"}
	if _, _, err := Load(t.Context(), "-", o); err == nil || err.Error() != "tool not found: b from -" {
		t.Errorf("missing tool: %v", err)
	}
}

// TestV11_4References holds the references of section 11.
func TestV11_4References(t *testing.T) {
	const lib = "\n-- lib.gpt --\nName: alpha\na\n---\nName: beta\nb\n---\nName: Gamma\nc\n---\nName: a/x\nd\n---\nName: noop\n"
	for ref, want := range map[string]string{
		"BETA from lib.gpt":          "beta",
		"a*|G* from lib.gpt":         "alpha Gamma",
		"a?pha from lib.gpt":         "alpha", // Q33
		"[ab]* from lib.gpt":         "alpha beta",
		"* from lib.gpt":             "alpha beta Gamma noop",
		"b* from lib.gpt as Bee":     "beta=Bee",
		"beta from lib.gpt with a":   "beta(a)",
		"lib.gpt":                    "alpha",
		"sys.read?":                  "sys.read",
		"beta from lib.gpt as b c":   "beta=b c",
		"x as y":                     "x=y",
		"X with  v as p and w as q":  "x(v as p and w as q)",
		"x as y with v as p":         "x=y(v as p)", // Q10
		"log in with sso":            "log in with sso",
		"LOG IN with sso as l":       "log in with sso=l", // Q9
		"as":                         "as",
		`x with "a  b" as p and "c"`: `x("a  b" as p and "c")`,
	} {
		app := "-- app.gpt --\nContext: " + ref + "\n===\nhi\n---\nName: x\nbody\n---\nName: Log In With SSO\nbody\n---\nName: as\nbody"
		p, _ := loadFiles(t, "app.gpt", app+lib)
		if got := strings.ToLower(names(p.Contexts(p.Entry()))); got != strings.ToLower(want) {
			t.Errorf("%s: got %q, want %q", ref, got, want)
		}
	}
	p, _ := loadFiles(t, "app.gpt", "-- app.gpt --\nTools: a*|g* from lib.gpt\n\nhi"+lib)
	want := []Reference{{Reference: "alpha from lib.gpt", ToolID: "lib.gpt:alpha"}, {Reference: "Gamma from lib.gpt", ToolID: "lib.gpt:Gamma"}}
	if got := p.Entry().ToolMapping["a*|g* from lib.gpt"]; !reflect.DeepEqual(got, want) {
		t.Errorf("the glob must be replaced by the name, got %+v", got)
	}
}

func TestCyclesAndSelfReferences(t *testing.T) {
	p, _ := loadFiles(t, "a.gpt", `
-- a.gpt --
Name: a
Tools: a, ./a.gpt, ./b.gpt, * from ./b.gpt
Context: ./a.gpt
Share Tools: a
Share Context: b from b.gpt
Share Credentials: a

hi
-- b.gpt --
Name: b
Tools: ./a.gpt
Credentials: b
Share Tools: b
Share Credentials: b, ./a.gpt

#!x`)
	if len(p.ToolSet) != 2 {
		t.Errorf("got %v", slices.Sorted(maps.Keys(p.ToolSet)))
	}
	b := p.Tool("b.gpt:b")
	if got := offeredNames(p.Offered(p.Entry(), nil)); got != "a b" {
		t.Errorf("offered %q", got)
	}
	if got := names(p.Credentials(b)); got != "b a" {
		t.Errorf("credentials %q", got)
	}
}

func TestGlobals1_11(t *testing.T) {
	p, _ := loadFiles(t, "a.gpt", `
-- a.gpt --
Global Model: gm
Global Tools: sys.read, b, sys.read
Tools: b

hi
---
Name: b
Model: own
Tools: sys.exec, ./c.gpt

x
-- c.gpt --
Name: c
x`)
	a, b, c := p.Entry(), p.Tool("a.gpt:b"), p.Tool("c.gpt:c")
	if a.ModelName != "gm" || b.ModelName != "own" || c.ModelName != "" {
		t.Errorf("models %q %q %q", a.ModelName, b.ModelName, c.ModelName)
	}
	if !reflect.DeepEqual(a.Tools, []string{"b", "sys.read"}) || !reflect.DeepEqual(b.Tools, []string{"sys.exec", "./c.gpt", "sys.read", "b"}) || c.Tools != nil {
		t.Errorf("tools %q %q %q", a.Tools, b.Tools, c.Tools)
	}
	err := loadError(t, "a.gpt", "-- a.gpt --\nName: a\nGlobal Tools: sys.read, gone\nTools: b\n\nhi\n---\nName: b\nx")
	want := "a.gpt:2:25: failed resolving gone from ./a.gpt: can not load tools path=. name=gone"
	if err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestDefaultModel(t *testing.T) {
	dir := writeFiles(t, "-- a.gpt --\nTools: b, c, sys.read\n\nhi\n---\nName: b\nModel: own\nx\n---\nName: c\n#!x")
	p, _, err := Load(t.Context(), "a.gpt", Options{Dir: dir, DefaultModel: "dm", Builtins: testBuiltins})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"a.gpt:": "dm", "a.gpt:b": "own", "a.gpt:c": "", "sys.read": ""} {
		if got := p.Tool(id).ModelName; got != want {
			t.Errorf("%s: %q", id, got)
		}
	}
}
