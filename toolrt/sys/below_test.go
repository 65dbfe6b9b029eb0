package sys

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Ignored and hidden files are left out, and no link is followed (I-10).
func TestI10Files(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.go", "sub/b c.go", "build/out.bin", ".hidden", ".gitignore"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("build/\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(dir, filepath.Join(dir, "sub", "loop")); err != nil {
		t.Skip(err)
	}
	var got []string
	if err := Files(context.Background(), dir, func(rel string) error { got = append(got, rel); return nil }); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a.go", "sub/b c.go"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
