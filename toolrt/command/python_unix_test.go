//go:build unix

package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/toolrt"
)

// fakePython is a python3 that notes how it is run: its pip is as old as version says, and fails to
// install what is named "broken".
func fakePython(t *testing.T, version string) (bin, log string) {
	t.Helper()
	bin, log = t.TempDir(), filepath.Join(t.TempDir(), "log")
	script := `#!/bin/sh
echo "$@" >> '` + log + `'
case "$*" in
  "-c "*) echo fake ;;
  "-m pip --version") echo "pip ` + version + ` from nowhere" ;;
  "-m venv "*) mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
  "-m pip "*) for f; do :; done; if grep -q broken "$f"; then echo 'no such package: broken' >&2; exit 1; fi ;;
  *) echo "ran in $VIRTUAL_ENV" ;;
esac
`
	if err := os.WriteFile(filepath.Join(bin, "python3"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return bin, log
}

// Section 6.10: requirements are installed once and into the environment that the tool then has; the
// old way is taken for an old pip; a failing install is one clear error, and nothing of it is left.
func TestPythonRequirements6_10(t *testing.T) {
	t.Parallel()
	for version, way := range map[string]string{"23.1": "--without-pip", "9.0.1": ""} {
		bin, log := fakePython(t, version)
		cache, toolDir := t.TempDir(), t.TempDir()
		tool := &Tool{Name: "py", Interpreter: "/usr/bin/env python3 tool.py", ToolDir: toolDir, Cache: cache, Requirements: "some==1"}
		run := func() string {
			t.Helper()
			inv := &toolrt.Invocation{Call: &toolrt.Call{Dir: toolDir, Env: []string{"PATH=" + bin + ":" + os.Getenv("PATH")}}, Args: "{}"}
			out, err := tool.Run(t.Context(), inv)
			if err != nil {
				t.Fatal(err)
			}
			if out.Capture != nil {
				text, _ := out.Capture.Text()
				return out.Text + text
			}
			return out.Text
		}
		if got := run(); !strings.HasPrefix(got, "ran in "+cache) {
			t.Errorf("%s: %q", version, got)
		}
		run()
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "-m venv"); n != 1 || !strings.Contains(string(text), way) || strings.Contains(string(text), "--python") != (way != "") {
			t.Errorf("%s: made %d times:\n%s", version, n, text)
		}
		// A file beside the tool counts more than its metadata.
		if err := os.WriteFile(filepath.Join(toolDir, "requirements.txt"), []byte("broken"), 0o600); err != nil {
			t.Fatal(err)
		}
		want := "ERROR: got (install the requirements of tool py: pip install: exit status 1\nno such package: broken) while parsing command"
		if got := run(); got != want {
			t.Errorf("%s: got %q", version, got)
		}
		if left, _ := filepath.Glob(filepath.Join(cache, "python", "*")); len(left) != 2 { // the first one and its pointer
			t.Errorf("%s: left %v", version, left)
		}
		p, err := tool.Preview(t.Context(), &toolrt.Call{Arguments: "{}"})
		if err != nil || !strings.HasSuffix(p.Command, "pip install\nbroken") {
			t.Errorf("preview %q, %v", p.Command, err)
		}
	}
}

func TestRequirementsAreOfPythonOnly(t *testing.T) {
	for line, want := range map[string]string{
		"python3": "r", "/usr/bin/env python": "r", "python3.12 -u x.py": "r", "/usr/bin/env": "", "": "",
		"/usr/bin/python3": "", "pythonista": "", "/bin/sh": "",
	} {
		if got := Requirements(line, "", " r\n"); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
