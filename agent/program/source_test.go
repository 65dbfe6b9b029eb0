package program

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
)

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
