package program

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

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
		"./api.yaml":            "app.gpt:2:11: failed resolving ./api.yaml from ./app.gpt: api.yaml: this OpenAPI document cannot be used: no servers found in OpenAPI spec",
		"./api.json":            "app.gpt:2:11: failed resolving ./api.json from ./app.gpt: api.json: this OpenAPI document cannot be used: no servers found in OpenAPI spec",
		"empty.gpt":             "app.gpt:2:11: failed resolving empty.gpt from ./app.gpt: no tools found in ./empty.gpt",
		"mcp.gpt":               `mcp.gpt:1:1: failed resolving mcp.gpt from ./app.gpt: tool "db" is an MCP server: no MCP server configuration found in tool instructions: it has neither a command nor a url`,
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
		"":                       "no program is named",
		"gone.gpt":               "can not load tools path=" + dir + " name=gone.gpt",
		"b from app.gpt":         "tool not found: b from app.gpt",
		"dir":                    "dir is a folder that holds neither agent.gpt nor tool.gpt",
		"api.json":               "api.json: this OpenAPI document cannot be used: no servers found in OpenAPI spec",
		"github.com/a/b@1":       "remote tools are disabled: github.com/a/b@1",
		"https://github.com/a/b": "remote tools are disabled: https://github.com/a/b (write github.com/a/b to get the repository)",
		"SYS.read":               "can not load tools path=" + dir + " name=SYS.read",
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
