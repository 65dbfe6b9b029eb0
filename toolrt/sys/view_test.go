package sys

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"parley/toolrt"
)

func TestView(t *testing.T) {
	unixOnly(t)
	dir := t.TempDir()
	call := toolrt.Call{Dir: dir}
	plant(t, dir, "f", "one\n\ttwo\n\nfour", "crlf", "a\r\nb\r\n", "mixed", "a\r\nb\nc\rd\n", "empty", "", "bin", "a\x00", "latin", "caf\xe9\n", "feeds", "\n\n")
	for _, tt := range []struct{ arguments, want string }{
		{`{"filename":"f"}`, "1\tone\n2\t\ttwo\n3\t\n4\tfour\n[lines 1 to 4 of 4 of f]"},
		{`{"filename":"f","first":2,"count":2}`, "2\t\ttwo\n3\t\n[lines 2 to 3 of 4 of f; go on with first 4]"},
		{`{"filename":"f","first":4,"count":9}`, "4\tfour\n[lines 4 to 4 of 4 of f]"},
		{`{"filename":"crlf"}`, "1\ta\n2\tb\n[lines 1 to 2 of 2 of crlf; line ends are CRLF]"},
		{`{"filename":"mixed"}`, "1\ta\n2\tb\n3\tc\rd\n[lines 1 to 3 of 3 of mixed; 1 line ends in CRLF, the others in LF]"},
		{`{"filename":"feeds"}`, "1\t\n2\t\n[lines 1 to 2 of 2 of feeds]"},
		{`{"filename":"latin"}`, "1\tcaf\xe9\n[lines 1 to 1 of 1 of latin]"},
		{`{"filename":"empty"}`, "The file empty has no contents"},
	} {
		check(t, call, "sys.view", tt.arguments, tt.want, false)
	}
	for arguments, want := range map[string]string{
		`{"filename":"f","first":5}`: "The file f ends before line 5: it has 4 lines",
		`{"filename":"bin"}`:         "The file bin cannot be read because it is not a plaintext file",
		`{"filename":"none"}`:        "The file none does not exist",
		`{"filename":"."}`:           ". is a folder, not a file",
		`{"filename":"/dev/zero"}`:   "Failed to read file /dev/zero: not a regular file",
	} {
		check(t, call, "sys.view", arguments, want, true)
	}
}

func TestViewIsBounded(t *testing.T) {
	dir := t.TempDir()
	call := toolrt.Call{Dir: dir}
	plant(t, dir, "long", "a\n"+strings.Repeat("é", 100_000)+"\nz\n", "many", strings.Repeat(strings.Repeat("x", 999)+"\n", 1000))
	out, err := run(t, call, "sys.view", `{"filename":"long"}`)
	if err != nil || len(out.Text) > viewLine+200 || !strings.Contains(out.Text, "é… [line cut: it has 200001 bytes]\n3\tz\n") {
		t.Errorf("%v, %d bytes: %s", err, len(out.Text), out.Text)
	}
	out, err = run(t, call, "sys.view", `{"filename":"many","count":1000}`)
	shown := strings.Count(out.Text, "\n")
	if err != nil || len(out.Text) > viewBytes+2000 || shown < 40 || !strings.HasSuffix(out.Text, " of 1000 of many; go on with first "+strconv.Itoa(shown+1)+"]") {
		t.Errorf("%v, %d bytes, %d lines: %s", err, len(out.Text), shown, out.Text[len(out.Text)-100:])
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := runContext(t, ctx, call, "sys.view", `{"filename":"many"}`); err == nil {
		t.Error("a cancelled view gave a result")
	}
}

// newRuntime runs calls of built-ins as a session does.
func newRuntime(t *testing.T, outputs string) *toolrt.Runtime {
	t.Helper()
	r := toolrt.New(toolrt.Options{OutputDir: outputs, ReadTool: "readOutput", Policy: toolrt.Policy{MaxOutputLines: 20}})
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func perform(t *testing.T, r *toolrt.Runtime, dir, id, name, arguments string) *toolrt.Outcome {
	t.Helper()
	tool, _ := New(name)
	o, err := r.Execute(t.Context(), &toolrt.Call{ID: id, OutputID: id, Name: name, Tool: tool, Dir: dir, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestT07ChangedFileIsRefused(t *testing.T) {
	for _, reader := range []string{"sys.read", "sys.view"} {
		dir := t.TempDir()
		file := filepath.Join(dir, "f")
		write(t, file, "one\ntwo\n")
		r := newRuntime(t, t.TempDir())
		call := func(name, arguments string) *toolrt.Outcome { return perform(t, r, dir, "1", name, arguments) }
		change := func(old, with string) string { return pairs("filename", "f", "old", old, "new", with) }
		if o := call("sys.edit", change("one", "1")); o.Failed() {
			t.Errorf("a file never read: %s", o.Message)
		}
		call(reader, pairs("filename", "f"))
		write(t, file, "1\ntwo\nthree\n")
		o := call("sys.edit", change("two", "2"))
		if !o.Failed() || o.Message != "The file f has changed since it was last read here: read it again and edit what it holds now" {
			t.Errorf("after %s: %s", reader, o.Message)
		}
		if got := content(t, file); got != "1\ntwo\nthree\n" {
			t.Errorf("the file holds %q", got)
		}
		call(reader, pairs("filename", "f"))
		for _, step := range []struct{ name, arguments string }{
			{"sys.edit", change("two", "2")}, {"sys.edit", change("2", "zwei")},
			{"sys.append", pairs("filename", "f", "content", "four\n")}, {"sys.edit", change("four", "4")},
			{"sys.write", pairs("filename", "f", "content", "new\n")}, {"sys.edit", change("new", "newer")},
		} {
			if o := call(step.name, step.arguments); o.Failed() {
				t.Errorf("%s %s of a file that only these calls changed: %s", step.name, step.arguments, o.Message)
			}
		}
		write(t, file, "by hand\n")
		call("sys.append", pairs("filename", "f", "content", "more\n"))
		if o := call("sys.edit", change("more", "less")); !o.Failed() {
			t.Error("appending hid the change by hand")
		}
	}
}

func TestOwnArgumentsAreChecked(t *testing.T) {
	r := newRuntime(t, t.TempDir())
	dir := t.TempDir()
	write(t, filepath.Join(dir, "f"), "x\n")
	for _, tt := range []struct{ name, arguments, want string }{
		{"sys.view", `{}`, "filename"},
		{"sys.view", `{"filename":"f","first":0}`, "/first"},
		{"sys.view", `{"filename":"f","count":"all"}`, "/count"},
		{"sys.view", `{"filename":"f","lines":3}`, "lines"},
		{"sys.edit", `{"filename":"f","old":"x"}`, "new"},
		{"sys.edit", `{"filename":"f","old":"x","new":"y","all":"yes"}`, "/all"},
		{"sys.grep", `{"pattern":"x","limit":100000}`, "/limit"},
		{"sys.glob", `[]`, "object"},
		{"sys.read.output", `{"id":7}`, "/id"},
	} {
		o := perform(t, r, dir, "1", tt.name, tt.arguments)
		if o.Err == nil || o.Err.Kind != toolrt.KindInvalidArguments || !strings.Contains(o.Message, tt.want) {
			t.Errorf("%s %s: %s", tt.name, tt.arguments, o.Message)
		}
	}
	if o := perform(t, r, dir, "1", "sys.view", `{"filename":"f","first":1.0}`); o.Failed() {
		t.Errorf("1.0 is an integer: %s", o.Message)
	}
	if got := content(t, filepath.Join(dir, "f")); got != "x\n" {
		t.Errorf("the file holds %q", got)
	}
}

func TestR64ReadsCutOutputs(t *testing.T) {
	unixOnly(t)
	outputs, dir := t.TempDir(), t.TempDir()
	r := newRuntime(t, outputs)
	o := perform(t, r, dir, "t1_1_0", "sys.exec", pairs("command", "seq 1 5000"))
	if !o.Truncated || !strings.Contains(o.Message, "saved as t1_1_0, read it with readOutput") || !toolrt.NamesOutput(o.Message) {
		t.Fatalf("message: %s", o.Message)
	}
	read := func(arguments string) *toolrt.Outcome { return perform(t, r, dir, "2", ReadOutput, arguments) }
	if o := read(`{"id":"t1_1_0","first":3000,"count":2}`); o.Message != "3000\t3000\n3001\t3001\n[lines 3000 to 3001 of 5000 of t1_1_0; go on with first 3002]" {
		t.Errorf("got %s", o.Message)
	}
	if o := read(`{"id":"t1_1_0","first":5001}`); !o.Failed() || o.Message != "The output t1_1_0 ends before line 5001: it has 5000 lines" {
		t.Errorf("got %s", o.Message)
	}
	if o := read(`{"id":"t1_1_1"}`); !o.Failed() || o.Message != "There is no saved output t1_1_1 in this session" {
		t.Errorf("got %s", o.Message)
	}
	// Only ids of the same session: nothing outside the session's folder can be named.
	if err := os.WriteFile(filepath.Join(filepath.Dir(outputs), "other"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"../other", outputs + "/t1_1_0", "", ".", "a/b"} {
		if o := read(pairs("id", id)); !o.Failed() || !strings.Contains(o.Message, "is no id of an output") || strings.Contains(o.Message, "secret") {
			t.Errorf("id %q: %s", id, o.Message)
		}
	}
	other := newRuntime(t, t.TempDir())
	if o := perform(t, other, dir, "1", ReadOutput, `{"id":"t1_1_0"}`); !o.Failed() {
		t.Errorf("another session read it: %s", o.Message)
	}
	if o := perform(t, newRuntime(t, ""), dir, "1", ReadOutput, `{"id":"t1_1_0"}`); !o.Failed() || !strings.Contains(o.Message, "outputs are not kept") {
		t.Errorf("got %s", o.Message)
	}
}
