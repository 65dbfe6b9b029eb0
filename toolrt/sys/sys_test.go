package sys

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"parley/toolrt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run calls a tool in dir and returns the whole text.
func run(t *testing.T, call toolrt.Call, name, arguments string) (toolrt.Output, error) {
	t.Helper()
	return runContext(t, t.Context(), call, name, arguments)
}

func runContext(t *testing.T, ctx context.Context, call toolrt.Call, name, arguments string) (toolrt.Output, error) {
	t.Helper()
	tool, ok := New(name)
	if !ok {
		t.Fatalf("there is no %s", name)
	}
	var progress bytes.Buffer
	out, err := tool.Run(ctx, &toolrt.Invocation{Call: &call, Args: arguments, Out: &progress})
	if out.FromOut {
		out.Text += progress.String()
	}
	return out, err
}

// check compares a result; failures of the operation are expected where wantError is true.
func check(t *testing.T, call toolrt.Call, name, arguments, want string, wantError bool) {
	t.Helper()
	out, err := run(t, call, name, arguments)
	if err != nil || out.Text != want || out.IsError != wantError {
		t.Errorf("%s %s\n got %q, error %t, %v\nwant %q, error %t", name, arguments, out.Text, out.IsError, err, want, wantError)
	}
}

// object makes arguments of pairs.
func pairs(kv ...string) string {
	m := map[string]string{}
	for i := 0; i < len(kv); i += 2 {
		m[kv[i]] = kv[i+1]
	}
	text, _ := json.Marshal(m)
	return string(text)
}

func TestSchemas(t *testing.T) {
	want := map[string][]string{
		"sys.abort": {"message"}, "sys.append": {"content", "filename"}, "sys.chat.current": {}, "sys.chat.finish": {"return"},
		"sys.chat.history": {}, "sys.context": {}, "sys.download": {"location", "override", "url"},
		"sys.exec": {"command", "directory"}, "sys.find": {"directory", "pattern"}, "sys.getenv": {"name"},
		"sys.http.get": {"url"}, "sys.http.html2text": {"url"}, "sys.http.post": {"content", "contentType", "url"}, "sys.ls": {"dir"},
		"sys.model.provider.credential": {},
		"sys.prompt":                    {"fields", "message", "metadata", "sensitive"}, "sys.read": {"filename"}, "sys.remove": {"location"},
		"sys.stat": {"filepath"}, "sys.time.now": {}, "sys.write": {"content", "filename"},
	}
	if len(Names()) != len(want)+len(own) || !slices.IsSorted(Names()) {
		t.Errorf("names: %q", Names())
	}
	for name := range want {
		tool, _ := New(name)
		spec := tool.Spec()
		var schema struct {
			Type       string
			Properties map[string]struct{ Type, Description string }
			Required   []string
		}
		if err := json.Unmarshal(spec.Parameters, &schema); err != nil {
			t.Fatal(err)
		}
		var got []string
		for key, p := range schema.Properties {
			got = append(got, key)
			if p.Type != "string" || p.Description == "" {
				t.Errorf("%s: argument %s is %+v", name, key, p)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want[name]) || schema.Type != "object" || schema.Required != nil {
			t.Errorf("%s: schema %s", name, spec.Parameters)
		}
		if spec.Name != name || spec.Description == "" || spec.Source != "builtin" || spec.Validate {
			t.Errorf("%s: %+v", name, spec)
		}
		if f := spec.Flags; f.ReadOnly && (f.Destructive || !f.Parallel) {
			t.Errorf("%s: flags %+v contradict each other", name, f)
		}
	}
}

func TestFlags(t *testing.T) {
	readOnly := []string{
		"sys.chat.current", "sys.chat.history", "sys.context", "sys.context.folder", "sys.find", "sys.getenv", "sys.glob", "sys.grep",
		"sys.http.get", "sys.http.html2text", "sys.jobs", "sys.ls", "sys.model.provider.credential", "sys.prompt", "sys.read", "sys.read.output", "sys.stat", "sys.time.now", "sys.view",
	}
	for _, name := range Names() {
		tool, _ := New(name)
		f := tool.Spec().Flags
		if f.ReadOnly != slices.Contains(readOnly, name) {
			t.Errorf("%s: read-only %t", name, f.ReadOnly)
		}
		if want := f.ReadOnly || name == "sys.write" || name == "sys.jobs.end"; f.Idempotent != want {
			t.Errorf("%s: idempotent %t", name, f.Idempotent)
		}
		if f.Destructive != (name == "sys.remove") {
			t.Errorf("%s: destructive %t", name, f.Destructive)
		}
	}
}

func TestUnknownNames(t *testing.T) {
	for _, name := range []string{"", "SYS.READ", "sys.read?", "read", "sys.echo", "sys.call"} {
		if _, ok := New(name); ok {
			t.Errorf("New(%q) found a tool", name)
		}
	}
	for name, want := range map[string]bool{"sys.echo": true, "sys.prompt": true, "sys.model.provider.credential": true, "sys.exec": false, "sys.read": false, "": false} {
		if Safe(name) != want {
			t.Errorf("Safe(%q) = %t", name, !want)
		}
	}
}

func TestArgumentsThatDoNotParse(t *testing.T) {
	call := toolrt.Call{Dir: t.TempDir()}
	check(t, call, "sys.read", "plain", "Failed to parse arguments plain: invalid character 'p' looking for beginning of value", true)
	check(t, call, "sys.ls", `{"dir":"."`, `Failed to parse arguments {"dir":".": unexpected end of JSON input`, true)
	check(t, call, "sys.read", `{"filename":{"a":1}}`, `Failed to parse arguments {"filename":{"a":1}}: json: cannot unmarshal object into argument filename of type string`, true)
	check(t, call, "sys.ls", `{} {}`, `Failed to parse arguments {} {}: invalid character '{' after top-level value`, true)
	for _, arguments := range []string{"", " ", "{}", "null", `{"dir":null}`, `{"dir":"","more":[1]}`} {
		check(t, call, "sys.ls", arguments, "Empty directory", false)
	}
	check(t, call, "sys.stat", `{"FilePath":1.50}`, "failed to stat 1.50: stat 1.50: no such file or directory", true)
	check(t, call, "sys.getenv", `{"name":true}`, "true is not set or has no value", false)
	check(t, call, "sys.getenv", `{"NAME":"x","name":"y"}`, "y is not set or has no value", false)
}

func TestDisplay(t *testing.T) {
	for _, tt := range [][3]string{
		{"sys.exec", `{"command":"ls\n -l"}`, "Running `ls -l`"},
		{"sys.read", `{"filename":"f"}`, "Reading `f`"},
		{"sys.ls", `{}`, "Listing `.`"},
		{"sys.find", `{"pattern":"*.go"}`, "Finding `*.go` in `.`"},
		{"sys.write", `{"filename":"f","content":"c"}`, "Writing `f`"},
		{"sys.read", `{}`, ""},
		{"sys.read", `broken`, ""},
		{"sys.time.now", `{}`, ""},
		{"sys.prompt", `{"message":"m"}`, ""},
		{"sys.none", `{}`, ""},
	} {
		if got := Display(tt[0], tt[1]); got != tt[2] {
			t.Errorf("Display(%q, %q) = %q, want %q", tt[0], tt[1], got, tt[2])
		}
	}
}

func FuzzArguments(f *testing.F) {
	for _, seed := range []string{"", "null", "{}", `{"filename":"a","content":1}`, `{"FILENAME":true}`, `[1]`, `{"filename":[]}`, `{"filename":"\ud800"}`, "{", `{"a":{}}{}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, arguments string) {
		for _, name := range Names() {
			got, err := Arguments(name, arguments)
			again, errAgain := Arguments(name, arguments)
			if (err == nil) != (errAgain == nil) {
				t.Fatalf("%s: %v, then %v", name, err, errAgain)
			}
			for key, value := range got {
				if again[key] != value {
					t.Fatalf("%s: %q is %q, then %q", name, key, value, again[key])
				}
			}
			Display(name, arguments)
		}
		if q, err := ParseQuestion(arguments); err == nil {
			for _, field := range q.Fields {
				if field.Name == "" {
					t.Fatalf("a field without a name in %+v", q)
				}
			}
		}
	})
}

// typed makes arguments of values of any type.
func typed(t *testing.T, values map[string]any) string {
	t.Helper()
	text, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
