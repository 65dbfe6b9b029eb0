package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// testBuiltins knows a few tools by their exact names.
func testBuiltins(name string) *Tool {
	switch name {
	case "sys.read", "sys.exec", "sys.time.now":
		return &Tool{Name: name, Description: "built in", Instructions: "#!" + name, ID: name}
	}
	return nil
}

// writeFiles puts "-- name --" sections into a new folder and returns it.
func writeFiles(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	for _, section := range strings.Split("\n"+archive, "\n-- ")[1:] {
		name, text, _ := strings.Cut(section, " --\n")
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// loadFiles loads a program from files that are written first.
func loadFiles(t *testing.T, ref, archive string) (*Program, []Warning) {
	t.Helper()
	p, warnings, err := Load(t.Context(), ref, Options{Dir: writeFiles(t, archive), Builtins: testBuiltins})
	if err != nil {
		t.Fatalf("Load(%s): %v", ref, err)
	}
	return p, warnings
}

// loadError loads a program that must fail.
func loadError(t *testing.T, ref, archive string) error {
	t.Helper()
	p, _, err := Load(t.Context(), ref, Options{Dir: writeFiles(t, archive), Builtins: testBuiltins})
	if err == nil {
		t.Fatalf("Load(%s) gives %v, want an error", ref, p.EntryToolID)
	}
	return err
}

// loadText loads a program of one file.
func loadText(t *testing.T, src string) *Program {
	t.Helper()
	p, _, err := LoadSource(t.Context(), "f.gpt", []byte(src), Options{Dir: t.TempDir(), Builtins: testBuiltins})
	if err != nil {
		t.Fatalf("LoadSource: %v", err)
	}
	return p
}

// names lists the ids of references without the file.
func names(refs []Reference) string {
	var out []string
	for _, r := range refs {
		name := r.ToolID[strings.LastIndex(r.ToolID, ":")+1:]
		if r.Named != "" {
			name += "=" + r.Named
		}
		if r.Arg != "" {
			name += "(" + r.Arg + ")"
		}
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

// offeredNames lists what a model sees.
func offeredNames(offered []Offered) string {
	var out []string
	for _, o := range offered {
		out = append(out, o.Name)
	}
	return strings.Join(out, " ")
}
