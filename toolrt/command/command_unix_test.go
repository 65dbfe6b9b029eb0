//go:build unix

package command

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/toolrt"
)

// invoke runs a tool and returns its output with the whole text.
func invoke(t *testing.T, tool *Tool, call toolrt.Call, input string) (toolrt.Output, error) {
	t.Helper()
	return invokeContext(t, t.Context(), tool, call, input)
}

func invokeContext(t *testing.T, ctx context.Context, tool *Tool, call toolrt.Call, input string) (toolrt.Output, error) {
	t.Helper()
	if call.Dir == "" {
		call.Dir = t.TempDir()
	}
	progress := &lockedBuffer{}
	out, err := tool.Run(ctx, &toolrt.Invocation{Call: &call, Args: input, Out: progress})
	if out.Capture != nil {
		text, _ := out.Capture.Text()
		out.Text += text
	}
	if out.FromOut {
		out.Text += progress.String()
	}
	return out, err
}

func body(text string) *Tool {
	interpreter, script := Split(text)
	return &Tool{Name: "t", Interpreter: interpreter, Script: script}
}

func TestV11_6Commands(t *testing.T) {
	t.Setenv("HOME", "/the/home")
	tests := []struct {
		name, body, input, want string
		isError                 bool
		code                    int
	}{
		{"interpreter line", `#!/bin/echo '$HOME' ${!HOME} $(echo s) "c  d"`, "", "${HOME} /the/home s c d\n", false, 0},
		{"failure of a sub-call", "#!/bin/sh\necho out\necho err >&2\nexit 3", "", "ERROR: got (exit status 3) while running tool, OUTPUT: out\nerr\n", true, 3},
		{"stderr is no result", "#!/bin/sh\necho err >&2; printf 'a\n\n'", "", "a\n\n", false, 0},
		{"arguments", "#!/bin/sh\necho \"$N|$O|$U|$B|$A_B|$n|$GPTSCRIPT_INPUT\"", `{"n":1.50,"o":{"a": 1},"u":null,"b":true,"a-b":"x"}`,
			`1.50|{"a":1}|null|true|x|1.50|{"n":1.50,"o":{"a": 1},"u":null,"b":true,"a-b":"x"}` + "\n", false, 0},
		{"no interpreter", "#!  \necho a", "", "ERROR: got (the line after #! names no program) while parsing command", true, 0},
		{"text that is no JSON", "#!/bin/cat", "plain", "", false, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := invoke(t, body(tt.body), toolrt.Call{}, tt.input)
			if err != nil || out.Text != tt.want || out.IsError != tt.isError {
				t.Fatalf("got %q, error %t, %v\nwant %q", out.Text, out.IsError, err, tt.want)
			}
			if out.ExitCode != nil && *out.ExitCode != tt.code {
				t.Errorf("exit code %d, want %d", *out.ExitCode, tt.code)
			}
		})
	}
}

func TestToolStdin(t *testing.T) {
	tool := body("#!/bin/cat")
	tool.Stdin = true
	out, err := invoke(t, tool, toolrt.Call{}, `{"a": 1} `)
	if err != nil || out.Text != `{"a": 1} ` {
		t.Errorf("got %q, %v", out.Text, err)
	}
}

func TestToolScriptFile(t *testing.T) {
	tmp := filepath.Join(t.TempDir(), "with space")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	script := "echo \"$0\"; ls -l \"$0\" | cut -c1-10; tail -n1 \"$0\"\n\n# ${!HOME} stays, no line break follows"
	out, err := invoke(t, body("#!/bin/sh\n"+script), toolrt.Call{Env: append(os.Environ(), "GPTSCRIPT_TMPDIR="+tmp)}, "")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitN(out.Text, "\n", 3)
	if len(lines) != 3 || !strings.HasPrefix(lines[0], tmp+"/gptscript") || lines[1] != "-rw-------" || lines[2] != "# ${!HOME} stays, no line break follows" {
		t.Errorf("got %q", out.Text)
	}
	if left, _ := os.ReadDir(tmp); len(left) > 0 {
		t.Errorf("the script was not deleted: %v", left)
	}
	out, err = invoke(t, body("#!/bin/sh\necho a"), toolrt.Call{Env: []string{"GPTSCRIPT_TMPDIR=" + tmp + "/none"}}, "")
	if err != nil || !out.IsError || !strings.HasPrefix(out.Text, "ERROR: got (") || !strings.HasSuffix(out.Text, ") while parsing command") {
		t.Errorf("no folder for the script: %q, %v", out.Text, err)
	}
}

func TestToolFolders(t *testing.T) {
	tool := body(`#!/bin/sh -c 'pwd; echo $GPTSCRIPT_TOOL_DIR; echo $GPTSCRIPT_WORKSPACE_DIR'`)
	tool.ToolDir = "/tools"
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	out, err := invoke(t, tool, toolrt.Call{Dir: dir, Workspace: "/ws", Env: []string{"PATH=/bin:/usr/bin"}}, `{"gptscript_tool_dir":"x"}`)
	if want := dir + "\n/tools\n/ws\n"; err != nil || out.Text != want {
		t.Errorf("got %q, %v, want %q", out.Text, err, want)
	}
}

func TestToolKeysOfProvidersAreKept(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "k-process")
	t.Setenv("PARLEY_PASSPHRASE", "p")
	tool := body(`#!/bin/sh -c 'echo "<$OPENAI_API_KEY><$PARLEY_PASSPHRASE>"'`)
	out, err := invoke(t, tool, toolrt.Call{}, "")
	if err != nil || out.Text != "<><>\n" {
		t.Errorf("from the process: %q, %v", out.Text, err)
	}
	out, err = invoke(t, tool, toolrt.Call{Env: []string{"OPENAI_API_KEY=k-credential"}}, "")
	if err != nil || out.Text != "<k-credential><>\n" {
		t.Errorf("from a credential: %q, %v", out.Text, err)
	}
}

func TestToolFailureAborts(t *testing.T) {
	script := "#!/bin/sh\necho out\necho err >&2\nexit 3"
	abort := body(script)
	abort.Abort = true
	for name, tt := range map[string]struct {
		tool     *Tool
		category string
		want     string
	}{
		"entry":      {abort, "", "ERROR: out\nerr\n: exit status 3"},
		"context":    {body(script), "context", "ERROR: out\nerr\n: exit status 3"},
		"credential": {body(script), "credential", "ERROR: err\n: exit status 3"}, // stdout may hold the secret
	} {
		out, err := invoke(t, tt.tool, toolrt.Call{Category: tt.category}, "")
		var failure *Failure
		if !errors.As(err, &failure) || failure.Text != tt.want || failure.Code != 3 || out.Text != "" {
			t.Errorf("%s: got %q, %v, want %q", name, out.Text, err, tt.want)
		}
	}
}

func TestToolCredentialIsSecret(t *testing.T) {
	call := toolrt.Call{Category: "credential", Dir: t.TempDir()}
	progress := &lockedBuffer{}
	out, err := body("#!/bin/sh\necho secret; echo note >&2").Run(t.Context(), &toolrt.Invocation{Call: &call, Out: progress})
	text, _ := out.Capture.Text()
	if err != nil || text != "secret\n" || !out.Secret || progress.String() != "note\n" {
		t.Errorf("got %q, secret %t, progress %q, %v", text, out.Secret, progress, err)
	}
}

func TestChatFinish(t *testing.T) {
	finish := body("#!/bin/sh\nprintf 'CHAT FINI'; sleep 0.05; printf 'SH: bye\n'")
	_, err := invoke(t, finish, toolrt.Call{}, "")
	var raised *toolrt.ChatFinish
	if !errors.As(err, &raised) || raised.Message != "bye\n" {
		t.Errorf("got %v", err)
	}
	out, err := invoke(t, finish, toolrt.Call{Category: "context"}, "")
	if err != nil || out.Text != "CHAT FINISH: bye\n" {
		t.Errorf("Q35, a context: %q, %v", out.Text, err)
	}
	for _, text := range []string{"CHAT FINISH:", "xCHAT FINISH: a", " CHAT FINISH: a"} {
		if out, err := invoke(t, body("#!/bin/echo '"+text+"'"), toolrt.Call{}, ""); err != nil {
			t.Errorf("%q: %q, %v", text, out.Text, err)
		}
	}
	out, err = invoke(t, body("#!/bin/sh\necho 'CHAT FINISH: a'; exit 1"), toolrt.Call{}, "")
	if err != nil || !out.IsError {
		t.Errorf("a failed command finished the chat: %q, %v", out.Text, err)
	}
}

func TestToolCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	call := toolrt.Call{Dir: t.TempDir()}
	progress := &lockedBuffer{}
	stop := writerFunc(func(b []byte) {
		_, _ = progress.Write(b)
		cancel()
	})
	begun := time.Now()
	out, err := body("#!/bin/sh\necho part; sleep 300").Run(ctx, &toolrt.Invocation{Call: &call, Out: stop})
	text, _ := out.Capture.Text()
	if !errors.Is(err, context.Canceled) || text != "part\n" || time.Since(begun) > 2*time.Second {
		t.Errorf("got %q, %v after %v", text, err, time.Since(begun))
	}
}

func TestToolPreview(t *testing.T) {
	tool := body("#!/usr/bin/env  python3 ${!FILE} $X\nprint(1)")
	tool.Location = "./app.gpt"
	call := &toolrt.Call{Env: []string{}, Arguments: `{"file":"a;b"}`}
	p, err := tool.Preview(t.Context(), call)
	if want := "/usr/bin/env python3 a\\;b ${X}\nprint(1)"; err != nil || p.Command != want || p.Summary != "Running t from ./app.gpt" {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestT05ToolMemory(t *testing.T) {
	call := toolrt.Call{Dir: t.TempDir()}
	var most int64
	inv := &toolrt.Invocation{Call: &call, Out: writerFunc(func([]byte) {})}
	out, err := body("#!/bin/sh -c 'yes 0123456789 | head -c 200000000; echo end'").Run(t.Context(), inv)
	if err != nil {
		t.Fatal(err)
	}
	text, whole := out.Capture.Text()
	if most = int64(len(text)); whole || most > 1<<20 || !strings.HasPrefix(text, "0123456789\n") {
		t.Errorf("holds %d bytes of 200 MB, whole %t", most, whole)
	}
}

func TestExcerpt(t *testing.T) {
	var e excerpt
	for i := range 20_000 {
		e.write([]byte(strconv.Itoa(i) + "\n"))
	}
	got := e.String()
	if !strings.HasPrefix(got, "0\n1\n") || !strings.HasSuffix(got, "19998\n19999\n") || len(got) > 2*excerptMax+64 {
		t.Errorf("%d bytes: %.20q…%q", len(got), got, got[len(got)-20:])
	}
	left := int(e.total) - 2*excerptMax
	if !strings.Contains(got, "\n["+strconv.Itoa(left)+" bytes left out]\n") {
		t.Errorf("count is wrong, want %d", left)
	}
	var small excerpt
	small.write([]byte("a"))
	small.write([]byte("b"))
	if small.String() != "ab" {
		t.Errorf("got %q", small.String())
	}
}
