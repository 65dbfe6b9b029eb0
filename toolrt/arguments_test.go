package toolrt

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// gets is a call of a tool with that schema which answers with the arguments it got; no schema: a
// tool whose arguments are not checked.
func gets(source, schema, args string) *Call {
	c := call("t", exclusive, func(_ context.Context, inv *Invocation) (Output, error) { return Output{Text: "got " + inv.Args}, nil })
	spec := &c.Tool.(*FuncTool).SpecValue
	spec.Source, spec.Validate, spec.Parameters = source, schema != "", json.RawMessage(schema)
	c.Arguments = args
	return c
}

const anyObject = `{"type":"object"}`

func TestT10R6R7R9Arguments(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65)
	for _, c := range []struct{ name, args, want string }{
		{"empty is an object", "", "got {}"},
		{"blank is an object", " \n", "got {}"},
		{"null is an object", "null", "got {}"},
		{"an object as it stands", ` {"n": 9007199254740993, "x": 1.50} `, `got {"n": 9007199254740993, "x": 1.50}`},
		{"byte order mark", "\ufeff{}", "got {}"},
		{"wrapped once", `"{\"a\": 1}"`, `got {"a": 1}`},
		{"wrapped twice", `"\"{}\""`, "expected object, got string"},
		{"a string", `"text"`, `(root): expected object, got string "text"`},
		{"an array", `[1]`, "(root): expected object, got array [1]"},
		{"a number", `5`, "(root): expected object, got number 5"},
		{"trailing comma", `{"a":1,}`, "not valid JSON at byte 8"},
		{"two objects", `{} {}`, "not valid JSON at byte 4"},
		{"cut", `{"path": "a`, "they end at byte 11 inside a value, so they were probably cut off"},
		{"not JSON", `path=a`, "not valid JSON at byte 1"},
		{"repeated key", `{"a":1,"b":{"c":1,"c":2}}`, "the key /b/c is given twice"},
		{"repeated key, escaped", `{"a":1,"\u0061":2}`, "the key /a is given twice"},
		{"same key in two places", `{"a":{"a":1},"b":[{"a":1},{"a":2}]}`, `got {"a":{"a":1},"b":[{"a":1},{"a":2}]}`},
		{"too deep", deep, "nested deeper than 64 levels"},
		{"very deep", strings.Repeat("[", 200_000), "not valid JSON"},
		{"too large", `"` + strings.Repeat("x", 5<<20) + `"`, "the arguments are 5242882 bytes long; the limit is 1048576 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := run(t, newRuntime(t, Options{}), gets("mcp:x", anyObject, c.args))
			if strings.HasPrefix(c.want, "got ") {
				if o.Message != c.want {
					t.Errorf("message %q, want %q", o.Message, c.want)
				}
				return
			}
			if object := errorOf(t, o.Message); object["kind"] != "invalid_arguments" || !strings.Contains(o.Message, encodedInner(c.want)) {
				t.Errorf("message %s, want %s", o.Message, c.want)
			}
		})
	}
}

// encodedInner is s as it stands inside a JSON string.
func encodedInner(s string) string { return strings.Trim(encode(s), `"`) }

func TestQ46UncheckedArguments(t *testing.T) {
	for _, c := range []struct{ name, source, args, want string }{
		{"plain text is plain input", "command", "list the files", "got list the files"},
		{"empty stays empty", "command", "", "got "},
		{"an array stays", "command", "[1", "got [1"},
		{"repeated keys stay", "command", `{"a":1,"a":2}`, `got {"a":1,"a":2}`},
		{"broken object", "command", ` {"a": 1`, "invalid_arguments"},
		{"broken object for a built-in", "builtin", `{"a": 1`, `got {"a": 1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := run(t, newRuntime(t, Options{}), gets(c.source, "", c.args))
			if !strings.Contains(o.Message, c.want) {
				t.Errorf("message %q, want %q", o.Message, c.want)
			}
		})
	}
	entry := gets("command", "", "{not json: a person's words")
	entry.Whole = true
	if o := run(t, newRuntime(t, Options{}), entry); o.Message != "got {not json: a person's words" {
		t.Errorf("entry call: %q", o.Message)
	}
}

func TestT09R8CutOffArgumentsDoNotRun(t *testing.T) {
	for _, source := range []string{"builtin", "command", "mcp:x"} {
		for _, cutOff := range []bool{true, false} {
			schema := ""
			if source == "mcp:x" {
				schema = anyObject
			}
			c := gets(source, schema, `{"path":"main.go","content":"package ma`)
			c.CutOff = cutOff
			o := run(t, newRuntime(t, Options{}), c)
			if source == "builtin" && !cutOff {
				continue // it answers in its own words
			}
			want := "were probably cut off"
			if cutOff {
				want = "were cut off at byte 39, because the reply reached its output limit; nothing was run: split the work"
			}
			if o.Err == nil || o.Err.Kind != KindInvalidArguments || !strings.Contains(o.Message, want) || o.Ran != 0 {
				t.Errorf("%s, cut off %v: %s", source, cutOff, o.Message)
			}
		}
	}
	whole := gets("builtin", "", `{"path":"main.go"}`)
	whole.CutOff = true
	if o := run(t, newRuntime(t, Options{}), whole); o.Message != `got {"path":"main.go"}` {
		t.Errorf("whole arguments of a cut reply: %s", o.Message)
	}
}

func TestR12Problems(t *testing.T) {
	schema := `{"type":"object","additionalProperties":false,"required":["need"],"properties":{
		"n":{"type":"integer"},"b":{"type":"boolean"},"s":{"type":"string"},"e":{"enum":["x","y"]},"list":{"type":"array","items":{"type":"object","required":["id"]}},
		"u":{"anyOf":[{"type":"string"},{"type":"null"}]},"min":{"type":"integer","minimum":3},"need":{}}}`
	for _, c := range []struct{ args, want string }{
		{`{"need":1,"n":"5"}`, `/n: expected integer, got string "5"; write 5 without quotes`},
		{`{"need":1,"b":"true"}`, `/b: expected boolean, got string "true"; write true without quotes`},
		{`{"need":1,"s":5}`, `/s: expected string, got number 5; write "5" with quotes`},
		{`{"need":1,"e":"z"}`, `/e: expected one of "x", "y", got string "z"`},
		{`{"need":1,"list":[{"id":1},{}]}`, `/list/1: missing property "id"`},
		{`{"need":1,"list":"[]"}`, `/list: expected array, got string "[]"; write the value itself, not a string that holds it`},
		{`{"need":1,"u":5}`, `/u: must match one of: (/u: expected string, got number 5; write "5" with quotes) or (/u: expected null, got number 5)`},
		{`{"need":1,"min":2}`, `/min: minimum: got 2, want 3, got number 2`},
		{`{}`, `(root): missing property "need"`},
		{`{"need":1,"nope":1}`, `(root): property "nope" is not allowed; allowed: b, e, list, min, n, need, s, u`},
	} {
		o := run(t, newRuntime(t, Options{}), gets("openapi:x", schema, c.args))
		if o.Err == nil || len(o.Err.Problems) != 1 || o.Err.Problems[0] != c.want {
			t.Errorf("%s\n got %s\nwant %q", c.args, o.Message, c.want)
		}
	}
}

func TestR12AtMostFiveProblems(t *testing.T) {
	properties, args := map[string]any{}, map[string]any{}
	for i := range 8 {
		name := fmt.Sprint("n", i)
		properties[name], args[name] = map[string]string{"type": "integer"}, strings.Repeat("€", 500)
	}
	o := run(t, newRuntime(t, Options{Redactor: secrets("€€€€")}), gets("openapi:x", encode(map[string]any{"type": "object", "properties": properties}), encode(args)))
	if o.Err == nil || len(o.Err.Problems) != 6 || o.Err.Problems[5] != "3 more" || !strings.Contains(o.Err.Message, "8 problems") {
		t.Fatalf("message %s", o.Message)
	}
	if p := o.Err.Problems[0]; utf8.RuneCountInString(p) > 250 || strings.Contains(p, "€€€€") {
		t.Errorf("problem %q", p)
	}
}

func TestR11UnusableSchemas(t *testing.T) {
	slow := `{"$defs":{"a0":{"type":"string"}`
	for i := 1; i < 17; i++ {
		slow += fmt.Sprintf(`,"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]}`, i, i-1, i-1)
	}
	slow += `},"properties":{"s":{"$ref":"#/$defs/a16"}}}`
	for name, schema := range map[string]string{
		"look-ahead":     `{"type":"object","properties":{"a":{"pattern":"(?=x)"}}}`,
		"bad type":       `{"type":"objekt"}`,
		"array":          `[]`,
		"null":           `null`,
		"broken":         `{`,
		"a file":         `{"$ref":"file:///etc/passwd"}`,
		"the network":    `{"$ref":"https://127.0.0.1:1/x"}`,
		"refers to self": `{"$ref":"#"}`,
		"takes for ever": slow,
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			r := New(Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
			r.schemas.limit = 20 * time.Millisecond
			for range 3 {
				if o := run(t, r, gets("mcp:x", schema, `{"s":"x"}`)); o.Message != `got {"s":"x"}` {
					t.Errorf("message %s", o.Message)
				}
			}
			if o := run(t, r, gets("mcp:x", schema, `[]`)); o.Err == nil || o.Err.Kind != KindInvalidArguments {
				t.Errorf("an array: %s", o.Message)
			}
			if n := strings.Count(log.String(), "arguments are not checked"); n != 1 {
				t.Errorf("%d warnings\n%s", n, log.String())
			}
			if strings.Contains(log.String(), "root:") {
				t.Error("the file was read")
			}
			r.schemas.busy.Wait()
		})
	}
}

func TestR11UnknownDraftIsNotLoaded(t *testing.T) {
	o := run(t, newRuntime(t, Options{}), gets("mcp:x", `{"$schema":"https://example.org/x","type":"object","required":["a"]}`, `{}`))
	if o.Err == nil || o.Err.Kind != KindInvalidArguments {
		t.Errorf("message %s", o.Message)
	}
}

func TestR13UnknownTools(t *testing.T) {
	visible := []string{"read_file", "write_file", "ls", "cp", "Grep", "read-file"}
	for wanted, want := range map[string]string{
		"raed_file":    "ERROR: can not call unknown tool named [raed_file]\nDid you mean read_file?",
		"ReadFile":     "ERROR: can not call unknown tool named [ReadFile]\nDid you mean read-file or read_file?",
		"GREP":         "ERROR: can not call unknown tool named [GREP]\nDid you mean Grep?",
		"browse":       "ERROR: can not call unknown tool named [browse]",
		"":             "ERROR: can not call unknown tool named []",
		"mv":           "ERROR: can not call unknown tool named [mv]",
		"x\x1b[2J\xff": "ERROR: can not call unknown tool named [x\ufffd]",
	} {
		o := run(t, newRuntime(t, Options{}), &Call{ID: "1", Name: wanted, Arguments: "{}", Visible: visible})
		if o.Message != want {
			t.Errorf("%q: message %q, want %q", wanted, o.Message, want)
		}
	}
	o := run(t, newRuntime(t, Options{}), &Call{ID: "1", Name: strings.Repeat("ä", 1<<20), Visible: visible})
	if len(o.Message) > 1100 || !utf8.ValidString(o.Message) {
		t.Errorf("%d bytes", len(o.Message))
	}
}

func TestR70MaskArguments(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{`{"user":"a","password":"hush","n":1}`, `{"user":"a","password":"‹secret:password›","n":1}`},
		{`{ "Password" : {"deep": [1, 2]} , "x":2}`, `{ "Password" :"‹secret:Password›" , "x":2}`},
		{`{"password":"hu`, `{"password":"‹secret:password›"‹not shown›`},
		{`{"a":tru,"password":"hush"}`, `{"a"‹not shown›`},
		{`{"a":1,"password" "hush"}`, `{"a":1,"password""‹secret:password›"‹not shown›`},
		{`{"a":1,pass`, `{"a":1,‹not shown›`},
		{`{"a":{"password":"kept"}}`, `{"a":{"password":"kept"}}`},
		{`plain`, `plain`},
		{``, ``},
		{`[1]`, `[1]`},
		{`{"password":1,"password":2}`, `{"password":"‹secret:password›","password":"‹secret:password›"}`},
	} {
		if got := MaskArguments(c.args, []string{"password"}); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.args, got, c.want)
		}
	}
}

func FuzzArguments(f *testing.F) {
	for _, s := range []string{``, `null`, `{}`, `{"a":1,"a":2}`, `"{\"a\":1}"`, `[[[`, "\ufeff{}", `{"a":"\ud800"}`, `{"password":"x"}`, "{\"\xff\":1}"} {
		f.Add(s)
	}
	r := New(Options{})
	f.Fuzz(func(t *testing.T, args string) {
		for _, c := range []*Call{gets("mcp:x", anyObject, args), gets("command", "", args)} {
			o, err := r.Execute(context.Background(), c)
			if err != nil || !utf8.ValidString(o.Message) {
				t.Fatalf("message %q, error %v", o.Message, err)
			}
			if o.Err != nil {
				errorOf(t, o.Message)
			}
			if got, ran := strings.CutPrefix(o.Message, "got "); ran && c.Tool.Spec().Validate && !json.Valid([]byte(got)) {
				t.Fatalf("a checked tool ran with %q", got)
			}
		}
		if masked := MaskArguments(args, []string{"password"}); json.Valid([]byte(args)) && !json.Valid([]byte(masked)) {
			t.Fatalf("%q masked is %q", args, masked)
		}
	})
}
