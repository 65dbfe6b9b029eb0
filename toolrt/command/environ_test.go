package command

import (
	"encoding/json"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

func value(t *testing.T, environ []string, name string) string {
	t.Helper()
	v, ok := Lookup(environ, name)
	if !ok {
		t.Fatalf("%s is not set in %q", name, environ)
	}
	return v
}

func TestEnvironmentValues(t *testing.T) {
	// The vector of section 11 "Commands", and the other kinds of values of 6.2.
	environ := Environment(Env{Input: `{"n":1.50,"o":{"b":2,"a": 1},"u":null,"b":true,"a-b":"x","l":[1, "<"],"e":""}`})
	for name, want := range map[string]string{
		"N": "1.50", "O": `{"a":1,"b":2}`, "U": "null", "B": "true", "A_B": "x", "L": `[1,"<"]`, "E": "",
	} {
		if got := value(t, environ, name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if !slices.IsSorted(environ) {
		t.Errorf("not sorted: %q", environ)
	}
}

func TestEnvironmentOrder(t *testing.T) {
	environ := Environment(Env{
		Process:   []string{"A=process", "B=process", "C=process", "X=1", "X=2", "broken", "OPENAI_API_KEY=secret"},
		Workspace: "/ws", Call: []string{"B=call", "C=call", "MY_API_KEY=given", "ANTHROPIC_API_KEY=given"},
		Context: "text \n\t", Input: `{"c":"input","tool_dir":"t"}`, Debug: true, Runtime: []string{"R=1"}, ToolDir: "/tools",
	})
	want := []string{
		"A=process", "ANTHROPIC_API_KEY=given", "B=call", "C=input", "GPTSCRIPT_CONTEXT=text", "GPTSCRIPT_DEBUG=true",
		`GPTSCRIPT_INPUT={"c":"input","tool_dir":"t"}`, "GPTSCRIPT_TOOL_DIR=/tools", "GPTSCRIPT_WORKSPACE_DIR=/ws",
		"GPTSCRIPT_WORKSPACE_ID=directory:///ws", "MY_API_KEY=given", "R=1", "TOOL_DIR=t", "X=2", "c=input", "tool_dir=t",
	}
	if !slices.Equal(environ, want) {
		t.Errorf("got  %q\nwant %q", environ, want)
	}
}

func TestEnvironmentNotAnObject(t *testing.T) {
	for _, input := range []string{"", "plain", `"text"`, "[1]", "null", `{"a":1} {"b":2}`, `{"a":1`} {
		environ := Environment(Env{Input: input})
		if want := []string{"GPTSCRIPT_INPUT=" + input}; !slices.Equal(environ, want) {
			t.Errorf("input %q: got %q, want %q", input, environ, want)
		}
	}
}

func TestQ18ArgumentsCannotTakeOver(t *testing.T) {
	input := `{"path":"1","PATH":"1","P-A":"ok","ld.preload":"1","dyld_x":"1","home":"1","HOME":"1","shell":"1","ifs":"1",
		"gptscript_tool_dir":"1","gptscript-input":"1","openai-api-key":"1","bash_env":"1","parley_call":"1","a=b":"1","":"1","nul\u0000":"1"}`
	base := []string{"PATH=/bin", "GPTSCRIPT_TOOL_DIR=/t"}
	environ := Environment(Env{Process: base, Input: input})
	want := []string{"GPTSCRIPT_INPUT=" + input, "GPTSCRIPT_TOOL_DIR=/t", "PATH=/bin", "P_A=ok"}
	if !slices.Equal(environ, want) {
		t.Errorf("got  %q\nwant %q", environ, want)
	}

	params := json.RawMessage(`{"type":"object","properties":{"home":{},"openai-api-key":{},"path":{},"gptscript_x":{}}}`)
	environ = Environment(Env{Process: base, Input: `{"home":"h","openai-api-key":"k","path":"p","gptscript_x":"g"}`, Params: params})
	if value(t, environ, "HOME") != "h" || value(t, environ, "OPENAI_API_KEY") != "k" || value(t, environ, "PATH") != "/bin" {
		t.Errorf("declared names: %q", environ)
	}
	for _, name := range []string{"GPTSCRIPT_X", "gptscript_x", "path"} {
		if v, ok := Lookup(environ, name); ok {
			t.Errorf("%s = %q, want it unset", name, v)
		}
	}
}

func TestQ19BothSpellings(t *testing.T) {
	environ := Environment(Env{Process: []string{"lang=process"}, Input: `{"question":"q","lang":"l","two words":"w","a":"lower","A":"upper"}`})
	for name, want := range map[string]string{
		"question": "q", "QUESTION": "q", "lang": "process", "LANG": "l", "TWO WORDS": "w", "A": "upper", "a": "lower",
	} {
		if got := value(t, environ, name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if _, ok := Lookup(environ, "two words"); ok {
		t.Error(`"two words" is no identifier and must not be exported as spelt`)
	}
}

func TestOverflow(t *testing.T) {
	long := strings.Repeat("x", overflowSize)
	environ := Environment(Env{Input: "in", Call: []string{"BIG=" + long, "FITS=" + long[1:]}})
	packed := value(t, environ, "BIG")
	if !strings.HasPrefix(packed, `{"_gz":"`) || value(t, environ, "FITS") != long[1:] {
		t.Fatalf("threshold: BIG = %.40q, FITS has %d bytes", packed, len(value(t, environ, "FITS")))
	}
	if got, err := Decompress(packed); err != nil || got != long {
		t.Errorf("Decompress: %d bytes, %v", len(got), err)
	}
	if got := value(t, Environment(Env{Input: "a\x00b"}), "GPTSCRIPT_INPUT"); strings.ContainsRune(got, 0) {
		t.Errorf("a NUL byte is in the environment: %q", got)
	}
}

func TestQ34TotalIsBounded(t *testing.T) {
	text := func(n int) string { return strings.Repeat("abcdefgh", n/8) }
	input, err := json.Marshal(map[string]string{"one": text(39_000), "two": text(38_000), "three": text(37_000), "small": "s"})
	if err != nil {
		t.Fatal(err)
	}
	process := "P=" + text(39_992)
	environ := Environment(Env{Process: []string{process}, Input: string(input)})
	total := 0
	for _, kv := range environ {
		if kv != process {
			total += len(kv) + 1
		}
	}
	if total > ownTotal {
		t.Errorf("own variables take %d bytes, limit %d", total, ownTotal)
	}
	if value(t, environ, "P") != text(39_992) {
		t.Error("a variable of the process was compressed to make room")
	}
	if strings.HasPrefix(value(t, environ, "THREE"), `{"_gz"`) {
		t.Error("the smallest of the large values was compressed although the others sufficed")
	}
	for name, want := range map[string]string{"ONE": text(39_000), "one": text(39_000), "SMALL": "s", "GPTSCRIPT_INPUT": string(input)} {
		if got, err := Decompress(value(t, environ, name)); err != nil || got != want {
			t.Errorf("%s does not come back: %d bytes, %v", name, len(got), err)
		}
	}
}

func TestQ34ContextIsCounted(t *testing.T) {
	context := strings.Repeat("context ", 4_900)
	environ := Environment(Env{Call: []string{"GPTSCRIPT_CONTEXT=" + context}, Input: strings.Repeat("input ", 6_000), Runtime: []string{"A=" + context}})
	if got := value(t, environ, "GPTSCRIPT_CONTEXT"); got != context {
		t.Errorf("compressed without need: %.20q", got)
	}
	input, _ := json.Marshal(map[string]string{"a": strings.Repeat("input ", 6_000)})
	environ = Environment(Env{Call: []string{"GPTSCRIPT_CONTEXT=" + context}, Input: string(input)})
	if got, err := Decompress(value(t, environ, "GPTSCRIPT_CONTEXT")); err != nil || got != context || len(value(t, environ, "GPTSCRIPT_CONTEXT")) > 1000 {
		t.Errorf("not compressed, or not back: %v", err)
	}
}

func TestQ34SpellingsGoWhenNothingElseHelps(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	noise := func() string {
		b := make([]byte, 39_000)
		for i := range b {
			b[i] = byte(' ' + r.Intn(90))
		}
		return string(b)
	}
	input, _ := json.Marshal(map[string]string{"one": noise(), "two": noise(), "three": noise()})
	environ := Environment(Env{Input: string(input)})
	if _, ok := Lookup(environ, "one"); ok {
		t.Error("the second spelling is still there")
	}
	if got, err := Decompress(value(t, environ, "GPTSCRIPT_INPUT")); err != nil || got != string(input) {
		t.Errorf("GPTSCRIPT_INPUT does not come back: %v", err)
	}
}

func TestDecompressRefuses(t *testing.T) {
	for _, v := range []string{`{"_gz":"!"}`, `{"_gz":"YWJj"}`, `{"_gz":`} {
		if got, err := Decompress(v); err == nil {
			t.Errorf("Decompress(%q) = %q, want an error", v, got)
		}
	}
	bomb := Compress(strings.Repeat("0", decodedMax+1))
	if _, err := Decompress(bomb); err == nil {
		t.Error("a value of more than the limit was unpacked")
	}
	for _, v := range []string{"plain", "", `{"a":1}`} {
		if got, err := Decompress(v); err != nil || got != v {
			t.Errorf("Decompress(%q) = %q, %v", v, got, err)
		}
	}
}

func TestEnvironmentFoldsCase(t *testing.T) {
	environ := Environment(Env{Process: []string{"Path=C:\\bin", "=C:=C:\\"}, Call: []string{"PATH=D:\\bin"}, Input: `{"path":"x","q":"1"}`, FoldCase: true})
	if got := value(t, environ, "PATH"); got != "D:\\bin" || value(t, environ, "=C:") != "C:\\" {
		t.Errorf("got %q", environ)
	}
	if len(environ) != 4 {
		t.Errorf("names that differ in case only were not joined: %q", environ)
	}
}

func FuzzEnvironment(f *testing.F) {
	f.Add(`{"n":1.50,"path":"x","a-b":{"c":[1]}}`)
	f.Add(`{"PATH":"x","LD_PRELOAD":"y","":"z","=":"w","a\u0000":"\u0000"}`)
	f.Add("{")
	f.Add("plain \xff text")
	base := []string{"PATH=/bin", "HOME=/home", "GPTSCRIPT_TOOL_DIR=/t", "LD_LIBRARY_PATH=/l"}
	f.Fuzz(func(t *testing.T, input string) {
		environ := Environment(Env{Process: base, Input: input})
		seen := map[string]bool{}
		for _, kv := range environ {
			name, _, ok := cutVariable(kv)
			if !ok || seen[name] || strings.ContainsRune(kv, 0) {
				t.Fatalf("bad entry %q in %q", kv, environ)
			}
			seen[name] = true
		}
		for _, kv := range base {
			if !slices.Contains(environ, kv) {
				t.Fatalf("%q was replaced by %q", kv, input)
			}
		}
		if got, err := Decompress(value(t, environ, "GPTSCRIPT_INPUT")); !strings.HasPrefix(input, `{"_gz"`) && (err != nil || got != input) {
			t.Fatalf("GPTSCRIPT_INPUT = %q, %v", got, err)
		}
	})
}
