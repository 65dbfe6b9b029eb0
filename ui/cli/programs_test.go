package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"parley/agent/model/modeltest"
	"parley/toolrt/mcp/mcptest"
)

var updatePrograms = flag.Bool("update-programs", false, "write what the programs of testdata/programs do into their golden files")

// programTest is the test.json beside a program.
type programTest struct {
	// Turns are the inputs, one run each; several are turns of one chat.
	Turns []string `json:"turns"`
	// Flags stand before the program on the command line.
	Flags []string `json:"flags,omitempty"`
	// Exit is the exit code of the last run.
	Exit int `json:"exit,omitempty"`
	// Needs are programs without which the test is skipped.
	Needs []string `json:"needs,omitempty"`
	// Replies are the model's, of all turns together.
	Replies []modeltest.Reply `json:"replies"`
}

// testFiles are those beside a program that are not part of it.
var testFiles = []string{"test.json", "golden.txt"}

// programServer stands in the programs for the address of a server that gives back what it is sent.
const programServer = "http://127.0.0.1:8099"

// programStation stands in the programs for the command of an MCP server.
const programStation = `"command": "mcp-station", "env": {`

// TestPrograms runs each program of testdata/programs against a model with a script, and compares
// what the model was asked and what came of it with the golden file beside it.
func TestPrograms(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs run commands of a POSIX shell")
	}
	folders := programFolders(t)
	if len(folders) < 25 {
		t.Fatalf("found only %d programs", len(folders))
	}
	weather := mcptest.WeatherHandler()
	mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" {
			weather.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		fmt.Fprintf(w, "%s %s got %s as %s", r.Method, r.URL.RequestURI(), body, r.Header.Get("Content-Type"))
		for _, name := range []string{"Authorization", "X-Units"} {
			if value := r.Header.Get(name); value != "" {
				fmt.Fprintf(w, "\n%s: %s", name, value)
			}
		}
	}))
	defer mirror.Close()
	defer mirror.CloseClientConnections()
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) { runProgram(t, folder, mirror.URL) })
	}
}

func programFolders(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "programs", "*", "program.gpt"))
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, f := range files {
		folders = append(folders, filepath.Dir(f))
	}
	return folders
}

func runProgram(t *testing.T, folder, mirror string) {
	p := readProgramTest(t, folder)
	for _, need := range p.Needs {
		if _, err := exec.LookPath(need); err != nil {
			t.Skipf("%s is not installed", need)
		}
	}
	server, err := modeltest.Start(modeltest.Script{Models: []string{"test"}, Replies: p.Replies})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	home, dir := t.TempDir(), t.TempDir()
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	copyProgram(t, folder, dir, mirror)
	var golden strings.Builder
	asked, shown := 0, map[string]int{}
	for i, input := range p.Turns {
		args := append([]string{"run", "--model", "openai/test", "--session", "s"}, p.Flags...)
		out, code := parleyIn(t, home, dir, server.URL(), append(args, "program.gpt", input)...)
		want := 0
		if i == len(p.Turns)-1 {
			want = p.Exit
		}
		if code != want {
			t.Fatalf("exit code %d, not %d:\n%s", code, want, out)
		}
		requests := server.Requests()
		fmt.Fprintf(&golden, "> %s\n", input)
		for n := asked; n < len(requests); n++ {
			describeRequest(t, &golden, n+1, requests[n], shown)
		}
		golden.WriteString(indent(out, "< "))
		if want != 0 {
			fmt.Fprintf(&golden, "exit code %d\n", want)
		}
		asked = len(requests)
	}
	if left := server.Left(); left > 0 {
		t.Errorf("%d replies were not used", left)
	}
	got := changing.ReplaceAllString(golden.String(), "${1}…")
	got = strings.NewReplacer(dir, "$DIR", home, "$HOME", mirror, programServer).Replace(got)
	file := filepath.Join(folder, "golden.txt")
	if *updatePrograms {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || got != string(want) {
		t.Errorf("%v; got:\n%s\nwant:\n%s", err, got, want)
	}
}

// changing finds what is another text on another machine or day.
var changing = regexp.MustCompile(`(\| System: |\| Today: |parley -r ).*`)

func readProgramTest(t *testing.T, folder string) programTest {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "test.json"))
	if err != nil {
		t.Fatal(err)
	}
	var p programTest
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
		t.Fatalf("test.json: %v", err)
	}
	return p
}

// copyProgram copies a program to where it may write.
func copyProgram(t *testing.T, from, to, mirror string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	for _, name := range testFiles {
		if err := os.Remove(filepath.Join(to, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(to, "*.*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil {
			station := fmt.Sprintf(`"command": %q, "env": {%q: "weather", `, os.Args[0], mcptest.Variable)
			changed := strings.NewReplacer(programServer, mirror, programStation, station).Replace(string(text))
			if changed != string(text) {
				err = os.WriteFile(file, []byte(changed), 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// parleyIn runs parley in dir with a home folder and a model of the test's own. It returns stdout,
// with the lines of stderr that say why the run failed.
func parleyIn(t *testing.T, home, dir, url string, args ...string) (out string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), asProgram+"=1", "HOME="+home, "XDG_DATA_HOME=", "XDG_STATE_HOME=", "XDG_CONFIG_HOME=",
		"XDG_CACHE_HOME=", "PARLEY_KEYRING=off", "GPTSCRIPT_INTERNAL_SYSTEM_PROMPT=(internal prompt)", "OPENAI_API_KEY=key-of-the-test", "OPENAI_BASE_URL="+url)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if code = cmd.ProcessState.ExitCode(); code == 0 {
		return stdout.String(), 0
	}
	var failed []string
	for line := range strings.Lines(stderr.String()) {
		if strings.HasPrefix(line, "parley: ") {
			failed = append(failed, line)
		}
	}
	return stdout.String() + strings.Join(failed, ""), code
}

// describeRequest writes a request so that a person can read it: what is the same in all of them
// (model, stream, seed, a temperature of 0) is left out, and so are tools that were shown before.
func describeRequest(t *testing.T, b *strings.Builder, number int, r modeltest.Request, shown map[string]int) {
	t.Helper()
	var body map[string]json.RawMessage
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(b, "request %d\n", number)
	for _, key := range slices.Sorted(maps.Keys(body)) {
		value := string(body[key])
		switch {
		case key == "model" && value != `"test"`, key == "temperature" && value != "0":
			fmt.Fprintf(b, "  %s %s\n", key, value)
		case !slices.Contains([]string{"messages", "tools", "model", "temperature", "seed", "stream", "stream_options"}, key):
			fmt.Fprintf(b, "  %s %s\n", key, strings.Join(strings.Fields(value), " "))
		}
	}
	if tools, ok := body["tools"]; ok {
		if before := shown[string(tools)]; before > 0 {
			fmt.Fprintf(b, "  tools as in request %d\n", before)
		} else {
			shown[string(tools)] = number
			describeTools(t, b, tools)
		}
	}
	describeMessages(t, b, body["messages"])
}

func describeTools(t *testing.T, b *strings.Builder, raw json.RawMessage) {
	t.Helper()
	var tools []struct {
		Function struct {
			Name, Description string
			Parameters        json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &tools); err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		var parameters bytes.Buffer
		if err := json.Compact(&parameters, tool.Function.Parameters); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(b, "  offers %s: %s\n    %s\n", tool.Function.Name, tool.Function.Description, parameters.String())
	}
}

func describeMessages(t *testing.T, b *strings.Builder, raw json.RawMessage) {
	t.Helper()
	var messages []struct {
		Role      string
		Content   json.RawMessage
		ToolCalls []struct {
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
	}
	if err := json.Unmarshal(raw, &messages); err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		fmt.Fprintf(b, "  %s\n", m.Role)
		if text := plainJSON(m.Content); text != "" && text != "null" {
			b.WriteString(indent(text, "    | "))
		}
		for _, c := range m.ToolCalls {
			fmt.Fprintf(b, "    calls %s %s\n", c.Function.Name, c.Function.Arguments)
		}
	}
}

// indent puts a mark before each line. A text without a final line end gets one.
func indent(text, mark string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(mark + strings.TrimSuffix(line, "\n") + "\n")
	}
	return b.String()
}

// parley check finds nothing to say about any of the programs.
func TestProgramsAreClean(t *testing.T) {
	var files []string
	for _, folder := range programFolders(t) {
		files = append(files, filepath.Join(folder, "program.gpt"))
	}
	files = append(files, "assistant.gpt")
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"check"}, files...)...)
	cmd.Env = append(os.Environ(), asProgram+"=1", "HOME="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "warning") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// The guide names each program, and no program that is not there.
func TestProgramsAreIndexed(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join("..", "..", "docs", "programs.md"))
	if err != nil {
		t.Fatal(err)
	}
	const place = "../testdata/programs/"
	for _, folder := range programFolders(t) {
		if link := "](" + place + filepath.Base(folder) + "/program.gpt)"; !strings.Contains(string(guide), link) {
			t.Errorf("docs/programs.md has no %s", link)
		}
	}
	for _, part := range strings.Split(string(guide), "]("+place)[1:] {
		name, _, _ := strings.Cut(part, ")")
		if _, err := os.Stat(filepath.Join("..", "..", "testdata", "programs", filepath.FromSlash(name))); err != nil {
			t.Errorf("docs/programs.md names %s: %v", name, err)
		}
	}
}

// The assistant's requests begin with the same bytes as long as nothing has changed, so that a
// provider's cache of them holds.
func TestAssistantSendsTheSameBytes(t *testing.T) {
	server, err := modeltest.Start(modeltest.Script{Models: []string{"test"}, Replies: []modeltest.Reply{
		{Calls: []modeltest.Call{{Name: "ls", Arguments: "{}"}}}, {Text: "one"}, {Text: "two"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	home, dir := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "AGENTS.md"), []byte("Be brief.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, input := range []string{"a", "b"} {
		if out, code := parleyIn(t, home, dir, server.URL(), "run", "--model", "openai/test", "--session", "s", "-p", input); code != 0 {
			t.Fatalf("exit code %d: %s", code, out)
		}
	}
	var prefixes []string
	for _, r := range server.Requests() {
		var body struct{ Tools json.RawMessage }
		if err := json.Unmarshal(r.Body, &body); err != nil {
			t.Fatal(err)
		}
		prefixes = append(prefixes, r.System+string(body.Tools))
	}
	if len(prefixes) != 3 || prefixes[0] != prefixes[1] || prefixes[1] != prefixes[2] || !strings.Contains(prefixes[0], "Be brief.") {
		t.Errorf("%d requests, not the same:\n%s", len(prefixes), strings.Join(prefixes, "\n"))
	}
}
