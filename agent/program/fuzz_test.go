package program

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzParse holds that whatever can be parsed can be printed, that printing loses nothing, and
// that printing again changes nothing.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"Name: a\n\nhi", "#!/usr/bin/env gptscript\n# c\nTools: a,\n  \"b, c\"\n===\nnote: x\n---\n!metadata:*:k\nv\r\r\n---\nname: b\nparam: x: y",
		"!x\n----\n---\ncache: true\ntemperature: 1e-40\ntype: İ\n\n# T", "tools: \"a\ntools: b\"\nshare creds: x with a, b\nmeta data: :\n",
		"global tools: 'a,b', c d\nmodel provider: false\n===\n===\n", "\ufeffchat: t\r\n\r\n x\r\n---\r\n", "cred: a with \"\\\", b\" as c",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		doc, err := Parse("f", src)
		if err != nil || strings.Contains(string(src), serialisedMark) {
			return
		}
		text, err := Format(doc)
		if err != nil {
			t.Fatalf("Format: %v\nof %s", err, marshal(doc))
		}
		again, err := Parse("f", []byte(text))
		if err != nil {
			t.Fatalf("Parse of %q: %v", text, err)
		}
		if a, b := withoutLines(doc), withoutLines(again); a != b {
			t.Fatalf("printing changed the document\n%s\n%s\nprinted %q", a, b, text)
		}
		if twice, err := Format(again); err != nil || twice != text {
			t.Fatalf("printing is not stable:\n%q\n%q %v", text, twice, err)
		}
		for _, w := range doc.Warnings {
			if w.Line < 1 || w.Column < 1 || w.Line > strings.Count(string(src), "\n")+1 {
				t.Fatalf("warning outside the source: %v", w)
			}
		}
	})
}

// withoutLines is a document as text, without the lines on which its blocks stood.
func withoutLines(d *Document) string {
	var b strings.Builder
	for _, n := range d.Nodes {
		if n.ToolNode != nil {
			tool := *n.ToolNode.Tool
			tool.Source = Source{}
			b.Write(marshal(tool))
		} else {
			b.WriteString(n.TextNode.Text)
		}
		b.WriteString("\x00")
	}
	return b.String()
}

// FuzzReference holds that a reference is taken apart without loss, and that the names made from
// it are ones that models accept.
func FuzzReference(f *testing.F) {
	for _, seed := range []string{
		"x", "x as y", "x with v as p and w as q", "x as y with v as p", "s from f with v", "s from f as y", "a*|b? from ./c.gpt", "as", "with",
		"x checked with y", "données from é.gpt as  z", "x\u00a0as\u2003y", "a with b from c",
	} {
		f.Add(seed)
	}
	local := func(name string) bool { return strings.HasPrefix(strings.ToLower(name), "log in with") }
	f.Fuzz(func(t *testing.T, text string) {
		for _, credential := range []bool{false, true} {
			r, err := parseReference(text, local, credential)
			if err != nil {
				continue
			}
			if got := strings.TrimSpace(r.whole + " " + strings.TrimSpace(r.rest)); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(text), " ") {
				t.Fatalf("%q was cut into %q and %q", text, r.whole, r.rest)
			}
			if r.target == "" || r.args != strings.TrimSpace(r.args) {
				t.Fatalf("%q: %+v", text, r)
			}
			again, err := parseReference(strings.Join(strings.Fields(text), " "), local, credential)
			if err != nil || again.target != r.target || again.sel != r.sel || again.alias != r.alias {
				t.Fatalf("white space matters in %q: %+v %+v", text, r, again)
			}
			_, _ = parseArgs(r.args)
			_, _, _, _, _ = ParseCredential(Reference{Reference: r.text, Arg: strings.TrimSpace(r.rest)}, `{"a":1}`)
			matcher(r.sel)("some name")
		}
		name := Normalize(text)
		if !isPlainName(name) || Normalize(name) != name {
			t.Fatalf("Normalize(%q) = %q", text, name)
		}
	})
}

// FuzzMapArgs holds that the result is empty, the input itself, or an object with parameters of
// the target only.
func FuzzMapArgs(f *testing.F) {
	for _, seed := range [][2]string{
		{"*", "x"}, {"${a} as p and 'b c' as Q", `{"A":[1,{"b":"<"}]}`}, {"v", "{}"}, {"$ as p", `{"":1e400}`}, {"a as", ""}, {"a # b", ""}, {"\\", ""},
	} {
		f.Add(seed[0], seed[1])
	}
	target := &Tool{ID: "f:t", Arguments: paramSchema(map[string]string{"p": "", "q": ""})}
	single := &Tool{ID: "f:t", Arguments: paramSchema(map[string]string{"P": ""})}
	f.Fuzz(func(t *testing.T, arg, input string) {
		for _, tool := range []*Tool{target, single} {
			got, err := MapArgs(tool, arg, input)
			if err != nil {
				if !strings.HasPrefix(err.Error(), "can not assign arg to context because target tool [f:t] ") {
					t.Fatalf("error %v", err)
				}
				continue
			}
			if got == "" || strings.TrimSpace(arg) == "*" && got == input {
				continue
			}
			var object map[string]json.RawMessage
			if err := json.Unmarshal([]byte(got), &object); err != nil || !utf8.ValidString(got) && utf8.ValidString(input+arg) {
				t.Fatalf("MapArgs(%q, %q) = %q, %v", arg, input, got, err)
			}
			for key := range object {
				if key != "p" && key != "q" && key != "P" {
					t.Fatalf("MapArgs(%q, %q) = %q", arg, input, got)
				}
			}
		}
	})
}

// noNetwork is a transport that reaches nothing.
type noNetwork struct{}

func (noNetwork) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("no network in tests")
}

// FuzzLoadSource holds that loading any bytes as any kind of file ends without panic, and that a
// linked program survives being pinned.
func FuzzLoadSource(f *testing.F) {
	f.Add("a.gpt", []byte("name: a\ntools: a, ./a.gpt, * from lib.gpt as b, sys.read?, http://x/y\ncred: a with x as y\n\nhi\n---\nname: b"))
	f.Add("a.yaml", []byte("openapi: &a [*a]\npaths: {x: *a}"))
	f.Add("x", []byte("#!GPTSCRIPT[{\"name\":\"a\",\"tools\":[\"a\",\" \"],\"arguments\":[1]},{}]"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, name string, src []byte) {
		o := Options{Dir: dir, Builtins: testBuiltins, HTTP: &http.Client{Transport: noNetwork{}}}
		p, _, err := LoadSource(t.Context(), name, src, o)
		if err != nil || !utf8.ValidString(name) {
			return
		}
		for _, tool := range p.ToolSet {
			p.Offered(tool, p.Agents(p.Entry()))
			p.Contexts(tool)
			p.InputFilters(tool)
			p.OutputFilters(tool)
			p.Credentials(tool)
			tool.Kind()
			tool.Schema()
		}
		first, err := p.JSON()
		if err != nil {
			t.Fatal(err)
		}
		back, err := FromJSON(first)
		if err != nil {
			t.Fatal(err)
		}
		if second, err := back.JSON(); err != nil || !bytes.Equal(first, second) {
			t.Fatalf("pinning changes the program: %v\n%s\n%s", err, first, second)
		}
	})
}
