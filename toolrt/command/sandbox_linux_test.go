package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/toolrt"
)

func TestLandlockConfinesWrites(t *testing.T) {
	if !CanConfine() {
		t.Skip("not supported here: " + SandboxSupport())
	}
	// The folders of the test lie below the temporary folder, which is always allowed, so the
	// temporary folder itself is moved away.
	base := t.TempDir()
	inside, outside := filepath.Join(base, "in"), filepath.Join(base, "out")
	for _, dir := range []string{inside, outside, filepath.Join(base, "tmp"), filepath.Join(base, "home")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TMPDIR", filepath.Join(base, "tmp"))
	t.Setenv("HOME", filepath.Join(base, "home"))
	t.Setenv("XDG_CACHE_HOME", "")
	if err := os.WriteFile(filepath.Join(outside, "old"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	script := `
		echo a > ` + inside + `/a && mkdir ` + inside + `/d && mv ` + inside + `/a ` + inside + `/d/b && echo inside ok
		echo t > "$TMPDIR/t" && echo temp ok
		cat ` + outside + `/old && echo
		echo n > /dev/null && echo null ok
		echo x > ` + outside + `/new && echo WROTE
		(: > ` + outside + `/old && echo TRUNCATED)
		rm ` + outside + `/old && echo REMOVED
		mv ` + outside + `/old ` + inside + `/ && echo MOVED
		(sh -c 'mkdir ` + outside + `/sub') && echo MADE
		true`
	run := func(confine []string) string {
		var out bytes.Buffer
		p := shell(t, script, &out, &bytes.Buffer{})
		p.Confine = confine
		if res, err := Run(t.Context(), p); err != nil || res.Code != 0 {
			t.Fatalf("%+v, %v", res, err)
		}
		return out.String()
	}
	if got, want := run(Confinement(inside)), "inside ok\ntemp ok\nold\nnull ok\n"; got != want {
		t.Errorf("confined: got %q, want %q", got, want)
	}
	if content, err := os.ReadFile(filepath.Join(outside, "old")); err != nil || string(content) != "old" {
		t.Errorf("outside: %q, %v", content, err)
	}
	// The restriction ends with its thread: parley itself and the next command stay free.
	if err := os.WriteFile(filepath.Join(outside, "mine"), nil, 0o600); err != nil {
		t.Errorf("parley was confined too: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(inside, "d")); err != nil {
		t.Fatal(err)
	}
	if got := run(nil); !strings.Contains(got, "WROTE") {
		t.Errorf("unconfined: %q", got)
	}
}

func TestLandlockTool(t *testing.T) {
	if !CanConfine() {
		t.Skip("not supported here: " + SandboxSupport())
	}
	base := t.TempDir()
	for _, dir := range []string{"tmp", "dir", "ws"} {
		if err := os.Mkdir(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TMPDIR", filepath.Join(base, "tmp"))
	call := toolrt.Call{Dir: filepath.Join(base, "dir"), Workspace: filepath.Join(base, "ws")}
	out := &lockedBuffer{}
	inv := &toolrt.Invocation{Call: &call, Out: out, Sandbox: toolrt.Sandbox{Profile: toolrt.ProfileWrite}, Args: `{"tmpdir":"` + base + `"}`}
	res, err := body("#!/bin/sh\ntouch a ../ws/b && touch ../outside").Run(t.Context(), inv)
	if err != nil || !res.IsError || !strings.Contains(out.String(), "Permission denied") {
		t.Errorf("got %+v, %q, %v", res, out, err)
	}
	for name, want := range map[string]bool{"dir/a": true, "ws/b": true, "outside": false} {
		if _, err := os.Stat(filepath.Join(base, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParseStat(t *testing.T) {
	p, ok := parseStat(7, "7 (a) Z) S 1 2 3 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0")
	if !ok || p != (process{7, 1, 2, 3, 4711, false}) {
		t.Errorf("got %+v, %t", p, ok)
	}
	for _, line := range []string{"", "7 (a", "7 (a) S 1 2"} {
		if p, ok := parseStat(7, line); ok {
			t.Errorf("%q: got %+v", line, p)
		}
	}
}
