package sys

import (
	"os"
	"path/filepath"
	"testing"

	"parley/toolrt"
	"parley/toolrt/approval"
)

// What the tools say of themselves makes the right ones run unasked in mode ask: those that only
// read inside the working folder.
func TestA3OwnToolsInModeAsk(t *testing.T) {
	unixOnly(t)
	home := homeFolder(t)
	dir := filepath.Join(home, "work")
	plant(t, dir, "f", "x\n", "src/g", "x\n", "AGENTS.md", "be kind\n")
	plant(t, home, "outside/f", "x\n", ".ssh/id", "x\n")
	if err := os.Symlink("../outside", filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, arguments string
		ask, edits      approval.Effect
	}{
		{"sys.view", `{"filename":"f"}`, approval.Allow, approval.Allow},
		{"sys.view", `{"filename":"../outside/f"}`, approval.Ask, approval.Ask},
		{"sys.view", `{"filename":"out/f"}`, approval.Ask, approval.Ask},
		{"sys.view", `{"filename":"../.ssh/id"}`, approval.Ask, approval.Ask},
		{"sys.grep", `{"pattern":"x"}`, approval.Allow, approval.Allow},
		{"sys.grep", `{"pattern":"x","path":"src"}`, approval.Allow, approval.Allow},
		{"sys.grep", `{"pattern":"/etc/passwd"}`, approval.Allow, approval.Allow},
		{"sys.grep", `{"pattern":"x","path":"out"}`, approval.Ask, approval.Ask},
		{"sys.grep", `{"pattern":"x","path":"/"}`, approval.Ask, approval.Ask},
		{"sys.glob", `{"pattern":"**/*.go"}`, approval.Allow, approval.Allow},
		{"sys.glob", `{"pattern":"*","directory":"out"}`, approval.Ask, approval.Ask},
		{"sys.glob", `{"pattern":"../**"}`, approval.Ask, approval.Ask},
		{"sys.read.output", `{"id":"t1_1_0"}`, approval.Allow, approval.Allow},
		{"sys.context.folder", ``, approval.Allow, approval.Allow},
		{"sys.edit", `{"filename":"f","old":"x","new":"y"}`, approval.Ask, approval.Allow},
		{"sys.edit", `{"filename":"out/f","old":"x","new":"y"}`, approval.Ask, approval.Ask},
		{"sys.edit", `{"filename":".git/hooks/pre-commit","old":"x","new":"y"}`, approval.Ask, approval.Ask},
	} {
		for mode, want := range map[approval.Mode]approval.Effect{approval.ModeAsk: tt.ask, approval.ModeEdits: tt.edits} {
			tool, _ := New(tt.name)
			call := &toolrt.Call{Dir: dir, Arguments: tt.arguments, Tool: tool}
			shown, err := tool.(toolrt.Previewer).Preview(t.Context(), call)
			if err != nil {
				t.Fatal(err)
			}
			v := approval.New(dir, "", mode).Judge(approval.Facts{Call: call, Spec: tool.Spec(), Args: tt.arguments, Preview: shown})
			if v.Effect != want {
				t.Errorf("%s %s in mode %s: %s (%s), want %s", tt.name, tt.arguments, mode, v.Effect, v.Reason, want)
			}
		}
	}
}

// A rule that keeps a file keeps it from the tools that walk, by every name it has (P-11).
func TestP11RulesReachTheWalk(t *testing.T) {
	unixOnly(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	plant(t, dir, "secret.txt", "needle\n", "src/a.txt", "needle\n", "src/private/b.txt", "needle\n")
	if err := os.Link(filepath.Join(dir, "secret.txt"), filepath.Join(dir, "src", "hard.txt")); err != nil {
		t.Fatal(err)
	}
	p := approval.New(dir, "", approval.ModeAsk)
	for _, text := range []string{"sys.*(path: secret.txt)", "sys.grep(path: src/private/**)"} {
		r, err := approval.ParseRule(approval.Deny, text, approval.Session)
		if err != nil {
			t.Fatal(err)
		}
		p.Add(r)
	}
	call := toolrt.Call{Dir: dir, Denied: func(path string) bool { _, denied := p.Denied("sys.grep", path); return denied }}
	check(t, call, "sys.grep", `{"pattern":"needle"}`, "src/a.txt:1:needle\n[1 matching line in 1 file]\n", false)
}
