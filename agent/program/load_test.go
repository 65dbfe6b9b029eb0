package program

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
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

// TestVectors11References holds the references of section 11.
func TestVectors11References(t *testing.T) {
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

// TestLoadErrors2_3 checks the words and the place of every fault that linking finds.
func TestLoadErrors2_3(t *testing.T) {
	const lib = "\n-- lib.gpt --\nName: alpha\na\n---\nName: alpine\nb\n-- bad/lib.gpt --\nchat: yes\n\nx\n-- api.yaml --\nopenapi: 3.0.0\npaths:\n  /a:\n    get: {}\n-- api.json --\n{\"swagger\":\"2.0\",\"paths\":{\"/a\":{}}}\n-- empty.gpt --\n# nothing\n-- mcp.gpt --\nName: db\n\n#!mcp\n{}\n-- dir/x.txt --\nx\n-- deep.gpt --\nTools: ./deeper.gpt\n\nx\n-- deeper.gpt --\nTools: nowhere\n\nx"
	for ref, want := range map[string]string{
		"nowhere":               "app.gpt:2:11: failed resolving nowhere from ./app.gpt: can not load tools path=. name=nowhere",
		"SYS.READ":              "app.gpt:2:11: failed resolving SYS.READ from ./app.gpt: can not load tools path=. name=SYS.READ",
		"x from lib.gpt":        "app.gpt:2:11: failed resolving x from lib.gpt from ./app.gpt: tool not found: x from lib.gpt",
		"x* from lib.gpt":       "app.gpt:2:11: failed resolving x* from lib.gpt from ./app.gpt: tool not found: x* from lib.gpt",
		"[ from lib.gpt":        "app.gpt:2:11: failed resolving [ from lib.gpt from ./app.gpt: tool not found: [ from lib.gpt",
		"a* from lib.gpt as b":  "app.gpt:2:11: can not combine 'as' syntax with wildcard: a* from lib.gpt as b",
		"bad/lib.gpt":           `bad/lib.gpt:1:7: invalid boolean parameter, must be "true" or "false", got [yes]`,
		"./api.yaml":            "app.gpt:2:11: failed resolving ./api.yaml from ./app.gpt: api.yaml:1: this file is an OpenAPI document: not supported by this version",
		"./api.json":            "app.gpt:2:11: failed resolving ./api.json from ./app.gpt: api.json:1: this file is an OpenAPI document: not supported by this version",
		"empty.gpt":             "app.gpt:2:11: failed resolving empty.gpt from ./app.gpt: no tools found in ./empty.gpt",
		"mcp.gpt":               `mcp.gpt:1:1: failed resolving mcp.gpt from ./app.gpt: tool "db" is an MCP server (#!mcp): not supported by this version`,
		"dir":                   "app.gpt:2:11: failed resolving dir from ./app.gpt: dir is a folder that holds neither agent.gpt nor tool.gpt",
		"github.com/a/b":        "app.gpt:2:11: failed resolving github.com/a/b from ./app.gpt: remote tools are disabled: github.com/a/b",
		"lib.gpt/x":             "app.gpt:2:11: failed resolving lib.gpt/x from ./app.gpt: can not load tools path=. name=lib.gpt/x",
		"deep.gpt":              "deeper.gpt:1:8: failed resolving deep.gpt from ./app.gpt: failed resolving ./deeper.gpt from ./deep.gpt: failed resolving nowhere from ./deeper.gpt: can not load tools path=. name=nowhere",
		"with x":                `app.gpt:2:11: invalid reference "with x": it names no tool`,
		"from lib.gpt x from":   "app.gpt:2:11: failed resolving from lib.gpt x from from ./app.gpt: can not load tools path=. name=lib.gpt x from",
		"x as":                  `app.gpt:2:11: invalid reference "x as": "as" must be followed by a name`,
		"lib.gpt with 1 as":     `app.gpt:2:11: reference lib.gpt with 1 as has invalid args "1 as": nothing after "as"`,
		`lib.gpt with "1`:       `app.gpt:2:11: reference lib.gpt with "1 has invalid args "\"1": EOF found when expecting closing quote`,
		"tool two":              "app.gpt:7:8: failed linking tool two at ./app.gpt: failed resolving ./gone from ./app.gpt: can not load tools path=. name=./gone",
		"x from lib.gpt\n y, z": "app.gpt:2:11: failed resolving x from lib.gpt  y from ./app.gpt: can not load tools path=. name=lib.gpt y\napp.gpt:3:5: failed resolving z from ./app.gpt: can not load tools path=. name=z",
	} {
		err := loadError(t, "app.gpt", "-- app.gpt --\nName: app\nContexts: "+ref+"\n===\nhi\n---\nName: tool two\nTools: ./gone, ./gone\n\nx"+lib)
		if err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", ref, err, want)
		}
		var all *ParseErrors
		if !errors.As(err, &all) {
			t.Errorf("%q: no ParseErrors", ref)
		}
	}
}

// TestFileErrors1_12 checks the faults of a file's tools taken together.
func TestFileErrors1_12(t *testing.T) {
	err := loadError(t, "app.gpt", `-- app.gpt --
Name: A
Global Model: m
Tools: nowhere

x
---
no name
---
Name: b
Global Model: n
Global Tools: sys.read
x
---
Name:   a
x
---
Name: B
chat: no
`)
	want := `app.gpt:3:8: failed resolving nowhere from ./app.gpt: can not load tools path=. name=nowhere
app.gpt:7:1: only the first tool in a file can have no name
app.gpt:10:15: global model name defined multiple times
app.gpt:11:15: only the first tool in a file can have global tools
app.gpt:14:9: duplicate tool name [a] in app.gpt found at lines 14 and 1
app.gpt:17:7: duplicate tool name [B] in app.gpt found at lines 17 and 9
app.gpt:18:7: invalid boolean parameter, must be "true" or "false", got [no]`
	if err.Error() != want {
		t.Errorf("got\n%v", err)
	}
	err = loadError(t, "app.gpt", "-- app.gpt --\nName: A\n---\nName: B\nGlobal Model: m\n")
	if err.Error() != "app.gpt:4:15: only the first tool in a file can have global model name" {
		t.Errorf("got %v", err)
	}
}

func TestProgramErrors(t *testing.T) {
	dir := writeFiles(t, "-- app.gpt --\nName: a\nhi\n-- dir/x --\n-- api.json --\n{\"openapi\":\"3.1.0\",\"paths\":{\"/a\":{}}}")
	for ref, want := range map[string]string{
		"":                 "no program is named",
		"gone.gpt":         "can not load tools path=" + dir + " name=gone.gpt",
		"b from app.gpt":   "tool not found: b from app.gpt",
		"dir":              "dir is a folder that holds neither agent.gpt nor tool.gpt",
		"api.json":         "api.json:1: this file is an OpenAPI document: not supported by this version",
		"github.com/a/b@1": "remote tools are disabled: github.com/a/b@1",
		"SYS.read":         "can not load tools path=" + dir + " name=SYS.read",
	} {
		if _, _, err := Load(t.Context(), ref, Options{Dir: dir, Builtins: testBuiltins}); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", ref, err, want)
		}
	}
	if _, _, err := Load(t.Context(), "app.gpt", Options{Dir: "relative"}); err == nil {
		t.Errorf("a relative base folder must be refused")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Load(ctx, "app.gpt", Options{Dir: dir}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestUnreadableAndOddFiles(t *testing.T) {
	dir := writeFiles(t, "-- app.gpt --\nTools: ./secret/x.gpt, ./pipe, ./bin.gpt, ./big.gpt\n\nhi\n-- secret/x.gpt --\nx\n-- bin.gpt --\na\x00b")
	big, err := os.Create(filepath.Join(dir, "big.gpt"))
	if err != nil {
		t.Fatal(err)
	}
	if err := big.Truncate(maxSourceBytes + 1); err != nil {
		t.Fatal(err)
	}
	big.Close()
	makePipe(t, filepath.Join(dir, "pipe"))
	_, _, err = Load(t.Context(), "app.gpt", Options{Dir: dir})
	if err == nil {
		t.Fatal("want errors")
	}
	for _, want := range []string{
		"bin.gpt:1:2: not a text file: found the byte 0x00",
		"big.gpt is larger than 32 MB",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %s", err, want)
		}
	}
	if runtime.GOOS != "windows" && !strings.Contains(err.Error(), "pipe is not a regular file") {
		t.Errorf("%v", err)
	}
	if os.Geteuid() > 0 {
		if err := os.Chmod(filepath.Join(dir, "secret"), 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(filepath.Join(dir, "secret"), 0o755)
		if _, _, err = Load(t.Context(), "app.gpt", Options{Dir: dir}); !errors.Is(err, os.ErrPermission) {
			t.Errorf("unreadable folder: %v", err)
		}
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
	want := "a.gpt:2:25: failed resolving gone from ./a.gpt: can not load tools path=. name=gone\n"
	if !strings.HasPrefix(err.Error(), want) {
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

func TestRemap2_4(t *testing.T) {
	const table = "github.com/a/b=checkout, github.com/a/b/special=./other/,gh/=checkout/"
	for name, want := range map[string]string{
		"github.com/a/b":           "checkout",
		"github.com/a/b/x.gpt":     "checkout/x.gpt",
		"github.com/a/b@v1":        "checkout@v1",
		"github.com/a/b/special/x": "./other//x",
		"github.com/a/bc":          "",
		"gh/x":                     "checkout/x",
		"other":                    "",
	} {
		if got, ok := remap(table, name); ok && got != want || !ok && want != "" {
			t.Errorf("%s: %q %v", name, got, ok)
		}
	}
	dir := writeFiles(t, "-- sub/a.gpt --\nTools: github.com/a/b, x from github.com/a/b/lib.gpt\n\nhi\n-- checkout/tool.gpt --\nName: t\nx\n-- checkout/lib.gpt --\nName: x\nTools: ./tool.gpt\n\ny")
	p, _, err := Load(t.Context(), "sub/a.gpt", Options{Dir: dir, Remap: table})
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(p.ToolSet)); !reflect.DeepEqual(got, []string{"checkout/lib.gpt:x", "checkout/tool.gpt:t", "sub/a.gpt:"}) {
		t.Errorf("got %q", got)
	}
}

func TestLoadURL2_5(t *testing.T) {
	files := map[string]string{
		"/dir/app.gpt":         "Tools: lib.gpt, ./sub/x.gpt, sys.read\n\nhi",
		"/dir/lib.gpt":         "Name: lib\nTools: ../up.gpt\n\nx",
		"/dir/sub/x.gpt":       "Name: x\nx",
		"/up.gpt":              "Name: up\nx",
		"/agents/one/tool.gpt": "Name: one\nx",
		"/evil.gpt":            "Tools: /etc/passwd, ./gone.gpt, a/b.gpt, github.com/a/b\n\nx",
	}
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		text, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, text)
	}))
	defer server.Close()
	dir := writeFiles(t, "-- a.gpt --\nTools: "+server.URL+"/dir/app.gpt, x from "+server.URL+"/dir/sub/x.gpt, "+server.URL+"/agents/one\n\nhi\n-- a/b.gpt --\nlocal")
	o := Options{Dir: dir, Builtins: testBuiltins, HTTP: server.Client()}
	p, _, err := Load(t.Context(), "a.gpt", o)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, id := range slices.Sorted(maps.Keys(p.ToolSet)) {
		got = append(got, strings.TrimPrefix(id, server.URL))
	}
	if want := []string{"a.gpt:", "/agents/one/tool.gpt:one", "/dir/app.gpt:", "/dir/lib.gpt:lib", "/dir/sub/x.gpt:x", "/up.gpt:up", "sys.read"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
	if p.Tool(server.URL+"/dir/lib.gpt:lib").WorkingDir != server.URL+"/dir" {
		t.Errorf("working folder %q", p.Tool(server.URL+"/dir/lib.gpt:lib").WorkingDir)
	}
	if want := []string{"/dir/app.gpt", "/dir/sub/x.gpt", "/agents/one", "/agents/one/agent.gpt", "/agents/one/tool.gpt", "/dir/lib.gpt", "/up.gpt"}; !reflect.DeepEqual(asked, want) {
		t.Errorf("each file is fetched once, asked %q", asked)
	}
	_, _, err = Load(t.Context(), server.URL+"/evil.gpt", o)
	if err == nil {
		t.Fatal("remote files must not reach local ones")
	}
	for _, want := range []string{
		"/evil.gpt:1:8: failed resolving /etc/passwd from " + server.URL + "/evil.gpt: can not load tools path=" + server.URL + "/ name=/etc/passwd",
		"./gone.gpt from " + server.URL + "/evil.gpt: unexpected status 404 Not Found from " + server.URL + "/gone.gpt",
		"can not load tools path=" + server.URL + "/ name=a/b.gpt",
		"remote tools are disabled: github.com/a/b",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %s", err, want)
		}
	}
}

func TestOpenAPIIsToldFromText(t *testing.T) {
	for text, want := range map[string]bool{
		"openapi: 3.0.1\npaths:\n  /a: {}\n":              true,
		"swagger: '2.0'\npaths: {/a: {}}\n":               true,
		`{"openapi":"3.0.0","paths":{"/a":{}}}`:           true,
		`{"openapi":"3.0.0","paths":{}}`:                  false,
		`{"openapi":"4.0.0","paths":{"/a":{}}}`:           false,
		"Name: x\n\nWrite openapi: with\npaths:\n  /a: -": false,
		"openapi: 3\npaths:\n  /a: {}\n":                  true,
		"paths and openapi":                               false,
	} {
		if got := isOpenAPI([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestQ28SharedCredentialsWarn(t *testing.T) {
	_, warnings := loadFiles(t, "a.gpt", "-- a.gpt --\nTools: b\nCredentials: c\n\nhi\n---\nName: b\nShare Credentials: c\n\nx\n---\nName: c\nShare Credentials: d\n#!x\n---\nName: d\n#!x")
	if len(warnings) != 1 || warnings[0].String() != "a.gpt:7:20: shared credentials have no effect here: only credential tools can share them" {
		t.Errorf("got %v", warnings)
	}
}

func TestWarningsOfAllFiles(t *testing.T) {
	_, warnings := loadFiles(t, "a.gpt", "-- a.gpt --\nmodl: x\ntools: ./b.gpt\n\nhi\n-- b.gpt --\nName: b\nfoo: x\nhi")
	if len(warnings) != 2 || warnings[0].File != "a.gpt" || warnings[1].File != "b.gpt" || warnings[1].Line != 2 {
		t.Errorf("got %v", warnings)
	}
}

func TestProgramJSON(t *testing.T) {
	p, _ := loadFiles(t, "app.gpt", "-- app.gpt --\nName: app\nTools: b, sys.read, x from lib/lib.gpt as y\nTemperature: 0.5\nParam: q: <what>\n\nhi\n---\nName: b\n#!x\n-- lib/lib.gpt --\nName: x\nMeta Data: k: v\nx")
	first, err := p.JSON()
	if err != nil {
		t.Fatal(err)
	}
	back, err := FromJSON(first)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(p, back) {
		t.Errorf("got %s\nwant %s", marshal(back), marshal(p))
	}
	second, err := back.JSON()
	if err != nil || string(first) != string(second) {
		t.Errorf("the bytes differ:\n%s\n%s", first, second)
	}
	// The form of 1.13 is read as well.
	if back, err = FromJSON(marshal(p)); err != nil || !reflect.DeepEqual(p, back) {
		t.Errorf("from 1.13: %v %s", err, marshal(back))
	}
	for _, bad := range []string{
		"", "{}", `{"entryToolId":"a"}`, `{"entryToolId":"a","toolSet":{"a":null}}`, `{"entryToolId":"a","toolSet":{"a":{"id":"b"}}}`,
		`{"entryToolId":"a","toolSet":{"a":{"id":"a","toolMapping":{"x":[{"toolID":"gone"}]}}}}`,
	} {
		if _, err := FromJSON([]byte(bad)); err == nil {
			t.Errorf("%s must be refused", bad)
		}
	}
}

// TestPinnedSizeIsLinear holds the size of a pinned program of many tools in one file.
func TestPinnedSizeIsLinear(t *testing.T) {
	size := func(n int) int {
		data, err := loadText(t, manyTools(n)).JSON()
		if err != nil {
			t.Fatal(err)
		}
		return len(data)
	}
	if small, large := size(100), size(1000); large > 12*small {
		t.Errorf("%d bytes for 100 tools, %d for 1000", small, large)
	}
}

// manyTools is a program of n tools that are all reachable.
func manyTools(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Name: tool %d\nDescription: the tool of that number\nTools: tool %d, tool %d, sys.read\nParam: a: first\n\nDo the work\nof number %d.\n---\n", i, (i+1)%n, i*7%n, i)
	}
	return b.String()
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		src := []byte(manyTools(n))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p, _, err := LoadSource(b.Context(), "f.gpt", src, Options{Dir: b.TempDir(), Builtins: testBuiltins})
				if err != nil || len(p.ToolSet) != n+1 {
					b.Fatal(err)
				}
			}
		})
	}
}
