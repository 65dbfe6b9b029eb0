package docs

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// allowed says which packages of ours each part of the house may import. The longest prefix counts.
var allowed = map[string][]string{
	"toolrt":  {"toolrt"},
	"agent":   {"agent", "toolrt"},
	"persist": {"persist", "agent", "toolrt"},
	"themes":  {"themes"},
	"ui/tui":  {"ui/tui", "agent", "toolrt", "themes"},
	"ui/cli":  {"ui", "agent", "toolrt", "persist", "themes"},
	".":       {"ui/cli"},
}

// Imports run one way: ui → agent → toolrt; only the command line sees the store.
func TestImportDirection(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata") {
			if err == nil {
				err = filepath.SkipDir
			}
			return err
		}
		// Tests may look from outside.
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "modeltest") {
			return nil
		}
		return checkImports(t, filepath.ToSlash(path))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkImports(t *testing.T, path string) error {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		return err
	}
	part, may := ".", allowed["."]
	for prefix, list := range allowed {
		if strings.HasPrefix(path, prefix+"/") && len(prefix) >= len(part) {
			part, may = prefix, list
		}
	}
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		ours, ok := strings.CutPrefix(name, "parley/")
		if !ok {
			continue
		}
		fine := false
		for _, prefix := range may {
			fine = fine || ours == prefix || strings.HasPrefix(ours, prefix+"/")
		}
		if !fine {
			t.Errorf("%s imports %s: %s may import only %s", path, name, part, strings.Join(may, ", "))
		}
	}
	return nil
}
