package sys

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"parley/toolrt"
)

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func unixOnly(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the texts of the system differ on Windows")
	}
}

func TestRead(t *testing.T) {
	unixOnly(t)
	dir := t.TempDir()
	call := toolrt.Call{Dir: dir}
	write(t, dir+"/a", "one\r\ntwo\n")
	write(t, dir+"/empty", "")
	write(t, dir+"/bin", "a\x00b")
	large := strings.Repeat("0123456789abcdef", chunk/8)
	write(t, dir+"/large", large)
	write(t, dir+"/largebin", large+"\x00")
	check(t, call, "sys.read", pairs("filename", "a"), "one\r\ntwo\n", false)
	check(t, call, "sys.read", pairs("filename", dir+"/a"), "one\r\ntwo\n", false)
	check(t, call, "sys.read", pairs("filename", "empty"), "The file empty has no contents", false)
	check(t, call, "sys.read", pairs("filename", "none"), "The file none does not exist", true)
	check(t, call, "sys.read", `{}`, "The file  does not exist", true)
	check(t, call, "sys.read", pairs("filename", "bin"), "The file bin cannot be read because it is not a plaintext file", true)
	check(t, call, "sys.read", pairs("filename", "largebin"), "The file largebin cannot be read because it is not a plaintext file", true)
	check(t, call, "sys.read", pairs("filename", "."), "Failed to read file .: read .: is a directory", true)
	check(t, call, "sys.read", pairs("filename", "a/b"), "Failed to read file a/b: open a/b: not a directory", true)
	check(t, call, "sys.read", pairs("filename", "/dev/zero"), "Failed to read file /dev/zero: read /dev/zero: not a regular file", true)
	if out, err := run(t, call, "sys.read", pairs("filename", "large")); err != nil || out.Text != large {
		t.Errorf("large file: %d bytes, %v", len(out.Text), err)
	}
}

func TestWrite(t *testing.T) {
	unixOnly(t)
	dir := t.TempDir()
	call := toolrt.Call{Dir: dir}
	check(t, call, "sys.write", pairs("filename", "x/y/f", "content", "héllo"), "Wrote (6) bytes to file x/y/f", false)
	if got := content(t, dir+"/x/y/f"); got != "héllo" {
		t.Errorf("got %q", got)
	}
	info, err := os.Stat(dir + "/x/y")
	if err != nil || info.Mode().Perm()&0o700 != 0o700 {
		t.Errorf("folder: %v, %v", info, err)
	}
	check(t, call, "sys.write", pairs("filename", "x/y/f"), "Wrote (0) bytes to file x/y/f", false)
	check(t, call, "sys.write", pairs("filename", "x/y", "content", "c"), "Failed to write file x/y: open x/y: is a directory", true)
	check(t, call, "sys.write", pairs("filename", "x/y/f/g", "content", "c"), "Failed to create directory x/y/f: mkdir x/y/f: not a directory", true)
	check(t, call, "sys.write", pairs("content", "c"), "Failed to write file : open : no such file or directory", true)
	check(t, call, "sys.write", pairs("filename", "/dev/null", "content", "c"), "Failed to write file /dev/null: open /dev/null: not a regular file", true)
	if left, _ := filepath.Glob(dir + "/x/y/.parley*"); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestT07WriteKeepsModeAndLink(t *testing.T) {
	unixOnly(t)
	dir := t.TempDir()
	call := toolrt.Call{Dir: dir}
	write(t, dir+"/tool", "old")
	if err := os.Chmod(dir+"/tool", 0o751); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link": "tool", "abs": dir + "/tool", "dangling": "sub/../new"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(dir+"/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "abs"} {
		out, err := run(t, call, "sys.write", pairs("filename", name, "content", "by "+name))
		if err != nil || out.IsError || content(t, dir+"/tool") != "by "+name {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
		if len(out.FilesTouched) != 1 || filepath.Base(out.FilesTouched[0]) != "tool" {
			t.Errorf("touched %q", out.FilesTouched)
		}
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v", name, err)
		}
	}
	if info, err := os.Stat(dir + "/tool"); err != nil || info.Mode().Perm() != 0o751 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	check(t, call, "sys.write", pairs("filename", "dangling", "content", "c"), "Wrote (1) bytes to file dangling", false)
	if got := content(t, dir+"/new"); got != "c" {
		t.Errorf("got %q", got)
	}
}

func TestT07ReadOnlyFileIsRefused(t *testing.T) {
	unixOnly(t)
	if os.Getuid() == 0 {
		t.Skip("root may write every file")
	}
	dir := t.TempDir()
	write(t, dir+"/f", "old")
	if err := os.Chmod(dir+"/f", 0o444); err != nil {
		t.Fatal(err)
	}
	check(t, toolrt.Call{Dir: dir}, "sys.write", pairs("filename", "f", "content", "new"), "Failed to write file f: open f: permission denied", true)
	if content(t, dir+"/f") != "old" {
		t.Error("the file was changed")
	}
}

func TestAppend(t *testing.T) {
	unixOnly(t)
	dir := t.TempDir()
	call := toolrt.Call{Dir: dir}
	check(t, call, "sys.append", pairs("filename", "f", "content", "ab"), "Appended (2) bytes to file f", false)
	check(t, call, "sys.append", pairs("filename", "f", "content", "c\n"), "Appended (2) bytes to file f", false)
	if got := content(t, dir+"/f"); got != "abc\n" {
		t.Errorf("got %q", got)
	}
	check(t, call, "sys.append", pairs("filename", "no/f", "content", "x"), "Failed to open file no/f: open no/f: no such file or directory", true)
	check(t, call, "sys.append", pairs("filename", ".", "content", "x"), "Failed to open file .: open .: is a directory", true)
}

func TestAppendsDoNotMix(t *testing.T) {
	dir := t.TempDir()
	line := strings.Repeat("x", 5000) + "\n"
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			check(t, toolrt.Call{Dir: dir}, "sys.append", pairs("filename", "f", "content", line), "Appended (5001) bytes to file f", false)
		})
	}
	wg.Wait()
	if got := content(t, dir+"/f"); got != strings.Repeat(line, 8) {
		t.Errorf("%d bytes", len(got))
	}
	if len(files.locks) != 0 {
		t.Errorf("%d locks are left", len(files.locks))
	}
}

func TestRemove(t *testing.T) {
	unixOnly(t)
	dir := t.TempDir()
	call := toolrt.Call{Dir: dir}
	write(t, dir+"/f", "")
	if err := os.MkdirAll(dir+"/d/e", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("f", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	check(t, call, "sys.remove", pairs("location", "d"), "Failed to removed d: remove d: directory not empty", true)
	check(t, call, "sys.remove", pairs("location", "d/e"), "Removed file: d/e", false)
	check(t, call, "sys.remove", pairs("location", "link"), "Removed file: link", false)
	if content(t, dir+"/f") != "" {
		t.Error("the link's target is gone")
	}
	check(t, call, "sys.remove", pairs("location", "f"), "Removed file: f", false)
	check(t, call, "sys.remove", pairs("location", "f"), "Failed to removed f: remove f: no such file or directory", true)
	check(t, call, "sys.remove", `{}`, "Failed to removed : remove : no such file or directory", true)
}

func TestListAndFind(t *testing.T) {
	unixOnly(t)
	dir := t.TempDir()
	call := toolrt.Call{Dir: dir}
	check(t, call, "sys.ls", `{}`, "Empty directory", false)
	for _, d := range []string{"b", "b/c.txt", "empty"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir+"/z.txt", "")
	write(t, dir+"/a.go", "")
	write(t, dir+"/b/x.txt", "")
	check(t, call, "sys.ls", `{}`, "a.go\nb/\nempty/\nz.txt", false)
	check(t, call, "sys.ls", pairs("dir", "b"), "c.txt/\nx.txt", false)
	check(t, call, "sys.ls", pairs("dir", "no"), "directory does not exist: no", true)
	out, err := run(t, call, "sys.ls", pairs("dir", "a.go"))
	if err != nil || !strings.HasPrefix(out.Text, "Failed to read directory a.go: ") || !strings.HasSuffix(out.Text, " a.go: not a directory") {
		t.Errorf("got %q, %v", out.Text, err)
	}

	check(t, call, "sys.find", pairs("pattern", "*.txt"), "b/c.txt/\nb/x.txt\nz.txt", false)
	check(t, call, "sys.find", pairs("pattern", "?.txt", "directory", "b"), "b/c.txt/\nb/x.txt", false)
	check(t, call, "sys.find", pairs("pattern", "*", "directory", "./empty/"), "empty/", false)
	check(t, call, "sys.find", pairs("pattern", "*.md"), "No files found", false)
	check(t, call, "sys.find", `{}`, "No files found", false)
	check(t, call, "sys.find", pairs("pattern", "[", "directory", "b"), "Failed to traverse directory b: syntax error in pattern", true)
	check(t, call, "sys.find", pairs("pattern", "*", "directory", "no"), "Failed to traverse directory no: stat no: no such file or directory", true)
	check(t, call, "sys.find", pairs("pattern", "*.txt", "directory", dir+"/b"), dir+"/b/c.txt/\n"+dir+"/b/x.txt", false)
}

func TestStat(t *testing.T) {
	unixOnly(t)
	dir := t.TempDir()
	write(t, dir+"/f", "abc")
	info, err := os.Stat(dir + "/f")
	if err != nil {
		t.Fatal(err)
	}
	call := toolrt.Call{Dir: dir}
	check(t, call, "sys.stat", pairs("filepath", "f"), "File f mode: "+info.Mode().String()+", size: 3 bytes, modtime: "+info.ModTime().String(), false)
	check(t, call, "sys.stat", pairs("filepath", "no"), "failed to stat no: stat no: no such file or directory", true)
	out, err := run(t, call, "sys.stat", pairs("filepath", "."))
	if err != nil || !strings.HasPrefix(out.Text, "Directory . mode: d") {
		t.Errorf("got %q, %v", out.Text, err)
	}
}

func TestResolvePath(t *testing.T) {
	unixOnly(t)
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := base + "/dir"
	if err := os.MkdirAll(dir+"/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"up": "..", "abs": base, "hole": "../nothing/deep", "loop": "loop", "a": "b", "b": "sub/../c", "sub/root": "/",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"": dir, ".": dir, "f": dir + "/f", "../x": base + "/x", "sub/../f": dir + "/f", "/etc/../x": "/x",
		"up/x": base + "/x", "abs/dir/f": dir + "/f", "hole": base + "/nothing/deep", "hole/x": base + "/nothing/deep/x",
		"no/such/../file": dir + "/no/file", "loop": dir + "/loop", "a": dir + "/c", "sub/root/usr": ResolvePath("/", "usr"),
		"../../../../../../../../../..": "/", dir + "/up": base,
	} {
		if got := ResolvePath(dir, path); got != want {
			t.Errorf("ResolvePath(%q) = %q, want %q", path, got, want)
		}
	}
	if got := resolveEntry(dir, "abs/dir/up"); got != dir+"/up" {
		t.Errorf("resolveEntry = %q", got)
	}
}

func preview(t *testing.T, call toolrt.Call, name, arguments string) toolrt.Preview {
	t.Helper()
	tool, _ := New(name)
	call.Arguments = arguments
	p, err := tool.(toolrt.Previewer).Preview(t.Context(), &call)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPreviewOfChanges(t *testing.T) {
	unixOnly(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	call := toolrt.Call{Dir: dir}
	write(t, dir+"/f", "one\ntwo\nthree\n")
	change := pairs("filename", "f", "content", "one\n2\nthree\n")
	p := preview(t, call, "sys.write", change)
	if want := "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"; p.Diff != want || p.Summary != "Writing `f`" {
		t.Errorf("summary %q, diff:\n%s", p.Summary, p.Diff)
	}
	if len(p.Paths) != 1 || p.Paths[0] != dir+"/f" {
		t.Errorf("paths %q", p.Paths)
	}
	if again := preview(t, call, "sys.write", change); again.Basis != p.Basis || p.Basis == "" {
		t.Errorf("basis %q, then %q", p.Basis, again.Basis)
	}
	write(t, dir+"/f", "one\ntwo\nthree!\n")
	if again := preview(t, call, "sys.write", change); again.Basis == p.Basis {
		t.Error("A15: the file changed and the basis did not")
	}
	if got := preview(t, call, "sys.append", pairs("filename", "f", "content", "four\n")).Diff; !strings.HasSuffix(got, "\n three!\n+four\n") {
		t.Errorf("append: %s", got)
	}
	fresh := preview(t, call, "sys.write", pairs("filename", "new", "content", "a\n"))
	if want := "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+a\n"; fresh.Diff != want {
		t.Errorf("new file: %s", fresh.Diff)
	}
	write(t, dir+"/new", "")
	if again := preview(t, call, "sys.write", pairs("filename", "new", "content", "a\n")); again.Basis == fresh.Basis {
		t.Error("A15: the file appeared and the basis did not change")
	}
	write(t, dir+"/big", strings.Repeat("x\n", diffMax))
	big := preview(t, call, "sys.write", pairs("filename", "big", "content", "short"))
	if want := "big has 2097152 bytes, too many for a diff; the new text has 5\n"; big.Diff != want || big.Basis == "" {
		t.Errorf("T-09, a large shrink: %q", big.Diff)
	}
	write(t, dir+"/bin", "\x00")
	if got := preview(t, call, "sys.write", pairs("filename", "bin", "content", "abc")).Diff; got != "bin: binary data, 1 bytes become 3\n" {
		t.Errorf("binary: %q", got)
	}
}

func TestPreviews(t *testing.T) {
	unixOnly(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc", dir+"/etc"); err != nil {
		t.Fatal(err)
	}
	call := toolrt.Call{Dir: dir, Workspace: "/ws"}
	for _, tt := range []struct{ name, arguments, path string }{
		{"sys.read", pairs("filename", "etc/passwd"), "/etc/passwd"},
		{"sys.ls", `{}`, dir},
		{"sys.find", pairs("pattern", "*", "directory", "etc"), ResolvePath("/", "etc")},
		{"sys.stat", pairs("FILEPATH", "../x"), filepath.Dir(dir) + "/x"},
		{"sys.remove", pairs("location", "etc"), dir + "/etc"},
		{"sys.download", pairs("url", "http://u", "location", "f"), dir + "/f"},
		{"sys.download", pairs("url", "http://u"), "/ws"},
		{"sys.exec", pairs("command", "ls", "directory", "etc"), ResolvePath("/", "etc")},
	} {
		if p := preview(t, call, tt.name, tt.arguments); len(p.Paths) != 1 || p.Paths[0] != tt.path {
			t.Errorf("%s %s: paths %q, want %q", tt.name, tt.arguments, p.Paths, tt.path)
		}
	}
	if p := preview(t, call, "sys.exec", pairs("command", "ls -l\nrm x")); p.Command != "ls -l\nrm x" || p.Summary != "Running `ls -l rm x`" {
		t.Errorf("exec: %+v", p)
	}
	for _, name := range []string{"sys.http.get", "sys.http.post", "sys.download"} {
		if p := preview(t, call, name, pairs("url", "https://x/y?z")); p.URL != "https://x/y?z" {
			t.Errorf("%s: %+v", name, p)
		}
	}
	for _, name := range Names() {
		preview(t, call, name, "broken") // shows nothing and does not fail
	}
}

// A name with a NUL byte, which no file can have, is one error that a model can read.
func TestNamesWithNUL(t *testing.T) {
	call := toolrt.Call{Dir: t.TempDir()}
	for name, arguments := range map[string]string{
		"sys.write": pairs("filename", "a\x00b", "content", "x"), "sys.append": pairs("filename", "a\x00b", "content", "x"),
		"sys.read": pairs("filename", "a\x00b"), "sys.ls": pairs("dir", "a\x00b"), "sys.remove": pairs("location", "a\x00b"),
		"sys.stat": pairs("filepath", "a\x00b"), "sys.exec": pairs("command", "echo a\x00b"), "sys.find": pairs("directory", "a\x00b", "pattern", "*"),
	} {
		out, err := run(t, call, name, arguments)
		if err != nil || !out.IsError || strings.ContainsRune(out.Text, 0) || !strings.Contains(out.Text, `a\x00b`) && !strings.Contains(out.Text, "NUL byte") {
			t.Errorf("%s: %q, %t, %v", name, out.Text, out.IsError, err)
		}
	}
}
