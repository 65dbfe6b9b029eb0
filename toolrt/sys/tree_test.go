package sys

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/toolrt"
)

// plant makes files: path, content, path, content…; a path that ends in / is a folder.
func plant(t *testing.T, dir string, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, filepath.FromSlash(files[i]))
		folder := filepath.Dir(path)
		if strings.HasSuffix(files[i], "/") {
			folder = path
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if folder != path {
			write(t, path, files[i+1])
		}
	}
}

func TestIgnoreRules(t *testing.T) {
	for _, tt := range []struct {
		rules, path string
		dir, want   bool
	}{
		{"*.log", "a.log", false, true},
		{"*.log", "x/y/a.log", false, true},
		{"*.log", "a.log.txt", false, false},
		{"/a", "a", false, true},
		{"/a", "x/a", false, false},
		{"a/b", "a/b", false, true},
		{"a/b", "x/a/b", false, false},
		{"build/", "build", true, true},
		{"build/", "build", false, false},
		{"build/", "x/build", true, true},
		{"**/out", "a/b/out", false, true},
		{"**/out", "out", false, true},
		{"a/**/b", "a/x/y/b", false, true},
		{"a/**/b", "a/b", false, true},
		{"a/**", "a", true, false},
		{"a/**", "a/x", false, true},
		{"a/*", "a/x/y", false, false},
		{"*.a\n!b.a", "b.a", false, false},
		{"*.a\n!b.a\nb.a", "b.a", false, true},
		{"# comment\n\n\\#a", "#a", false, true},
		{"\\!a", "!a", false, true},
		{"a  ", "a", false, true},
		{"a\\ ", "a ", false, true},
		{"a\r\nb\r\n", "a", false, true},
		{"[ab].txt", "a.txt", false, true},
		{"[!ab].txt", "a.txt", false, false},
		{"{a,b}", "a", false, false},
		{"{a,b}*", "{a,b}c", false, true},
		{"foo[", "foo[", false, false},
		{"foo?", "foo1", false, true},
		{"\ufeffa", "a", false, true},
		{"/", "a", false, false},
	} {
		set := ignores{{rules: parseIgnore(tt.rules)}}
		if got := set.ignored(tt.path, tt.dir); got != tt.want {
			t.Errorf("%q, %s: ignored %t", tt.rules, tt.path, got)
		}
	}
}

// The walk leaves out exactly what git leaves out.
func TestIgnoreAgreesWithGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	plant(t, dir, ".gitignore", "*.log\n!keep.log\nbuild/\n/top.txt\ndoc/*.pdf\nvendor/**\n!vendor/own\n",
		"sub/.gitignore", "!special.log\n/local\n*.tmp\n", "sub/deep/.gitignore", "!b.tmp\n",
		"a.log", "", "keep.log", "", "build/x", "", "top.txt", "", "sub/top.txt", "", "doc/a.pdf", "", "doc/x/a.pdf", "",
		"vendor/other/f", "", "vendor/f", "", "sub/special.log", "", "sub/other.log", "", "sub/local/f", "", "sub/x/local", "",
		"sub/a.tmp", "", "sub/deep/a.tmp", "", "sub/deep/b.tmp", "", "sub/build/y", "", "excluded", "", "build.txt", "")
	command := func(args ...string) string {
		cmd := exec.Command(git, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	command("init", "-q")
	plant(t, dir, ".git/info/exclude", "excluded\n")
	for _, below := range []string{".", "sub", "sub/deep"} {
		want := strings.Fields(command("ls-files", "--others", "--exclude-standard", "--", below))
		want = slices.DeleteFunc(want, func(name string) bool { return strings.HasSuffix(name, ".gitignore") })
		slices.Sort(want)
		out, err := run(t, toolrt.Call{Dir: dir}, "sys.glob", pairs("pattern", "**", "directory", below))
		if got := strings.Fields(out.Text); err != nil || !slices.Equal(got, want) {
			t.Errorf("below %s, %v:\n got %q\nwant %q", below, err, got, want)
		}
	}
}

func TestGlob(t *testing.T) {
	unixOnly(t)
	dir := t.TempDir()
	call := toolrt.Call{Dir: dir}
	plant(t, dir, "main.go", "", "a.txt", "", "src/x.go", "", "src/deep/y.go", "", "src/deep/y_test.go", "", "src/z.ts", "",
		".github/workflows/ci.yml", "", ".env", "", ".gitignore", "node_modules/\n", "node_modules/m/index.js", "", "src/empty/", "")
	for _, tt := range []struct{ pattern, directory, want string }{
		{"*.go", "", "main.go\nsrc/deep/y.go\nsrc/deep/y_test.go\nsrc/x.go\n"},
		{"**/*.go", "", "main.go\nsrc/deep/y.go\nsrc/deep/y_test.go\nsrc/x.go\n"},
		{"./src/*.go", "", "src/x.go\n"},
		{"src/**/*_test.go", "", "src/deep/y_test.go\n"},
		{"src/*.{go,ts}", "", "src/x.go\nsrc/z.ts\n"},
		{"?.txt", "", "a.txt\n"},
		{"*.go", "src", "src/deep/y.go\nsrc/deep/y_test.go\nsrc/x.go\n"},
		{"*.ts", dir + "/src", dir + "/src/z.ts\n"},
		{"*.yml", "", "No files found\n"},
		{".github/**/*.yml", "", ".github/workflows/ci.yml\n"},
		{".e*", "", ".env\n"},
		{"*.js", "", "No files found\n"},
		{"node_modules/**/*.js", "", "node_modules/m/index.js\n"},
		{"none/*", "", "No files found"},
		{"src/*/", "", "src/deep/\nsrc/empty/\n"},
		{"main.go", "", "main.go\n"},
		{"src/x.go", "", "src/x.go\n"},
	} {
		check(t, call, "sys.glob", pairs("pattern", tt.pattern, "directory", tt.directory), tt.want, false)
	}
	for pattern, want := range map[string]string{
		"":        "The pattern is empty",
		"../*":    "The pattern ../* must be relative to the folder: give another folder as directory",
		"src/../": "The pattern src/../ must be relative to the folder: give another folder as directory",
		"/etc/*":  "The pattern /etc/* must be relative to the folder: give another folder as directory",
		"a[":      "The pattern a[ is not a valid pattern",
	} {
		check(t, call, "sys.glob", pairs("pattern", pattern), want, true)
	}
	check(t, call, "sys.glob", pairs("pattern", "*", "directory", "none"), "Failed to search directory none: open none: no such file or directory", true)
	check(t, call, "sys.glob", `{"pattern":"*.go","limit":2}`, "main.go\nsrc/deep/y.go\n[there are more than these: narrow the pattern or raise the limit]\n", false)
	check(t, call, "sys.glob", `{"pattern":"*.ts","limit":1}`, "src/z.ts\n", false)
}

// Neither walks nor the fixed part of a pattern follow links out of the folder.
func TestTreeStaysInTheFolder(t *testing.T) {
	unixOnly(t)
	outside, dir := t.TempDir(), t.TempDir()
	plant(t, outside, "secret.txt", "needle\n")
	plant(t, dir, "own.txt", "needle\n", "sub/in.txt", "needle\n")
	for link, to := range map[string]string{"out": outside, "file": outside + "/secret.txt", "sub/up": "..", "loop": ".", "inside": "sub"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	call := toolrt.Call{Dir: dir}
	check(t, call, "sys.glob", pairs("pattern", "**"), "own.txt\nsub/in.txt\n", false)
	check(t, call, "sys.glob", pairs("pattern", "out/*"), "The pattern out/* leads out of the folder .", true)
	check(t, call, "sys.glob", pairs("pattern", "inside/*"), "inside/in.txt\n", false)
	check(t, call, "sys.grep", pairs("pattern", "needle"), "own.txt:1:needle\nsub/in.txt:1:needle\n[2 matching lines in 2 files]\n", false)
	// Whoever names a link means what it leads to; that is asked for.
	if p := preview(t, call, "sys.grep", pairs("pattern", "needle", "path", "out")); len(p.Paths) != 1 || p.Paths[0] != ResolvePath(outside, ".") {
		t.Errorf("paths %q", p.Paths)
	}
}

func TestP11DeniedFilesAreLeftOut(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, "keys/prod", "needle\n", "keys/test", "needle\n", "a.txt", "needle\n")
	asked := map[string]bool{}
	call := toolrt.Call{Dir: dir, Denied: func(path string) bool {
		asked[path] = true
		return filepath.Base(path) == "prod"
	}}
	check(t, call, "sys.grep", pairs("pattern", "needle"), fmt.Sprintf("a.txt:1:needle\n%s:1:needle\n[2 matching lines in 2 files]\n", filepath.Join("keys", "test")), false)
	check(t, call, "sys.grep", pairs("pattern", "needle", "path", "keys/prod"), "The file keys/prod is kept from you by a rule", true)
	check(t, call, "sys.glob", pairs("pattern", "keys/*"), filepath.Join("keys", "test")+"\n", false)
	check(t, call, "sys.view", pairs("filename", "keys/prod"), "The file keys/prod is kept from you by a rule", true)
	if want := filepath.Join(ResolvePath(dir, "."), "keys", "prod"); !asked[want] {
		t.Errorf("asked for %v: want the resolved path %s", asked, want)
	}
}

func TestGrep(t *testing.T) {
	unixOnly(t)
	dir := t.TempDir()
	call := toolrt.Call{Dir: dir}
	plant(t, dir, "a.go", "package a\n\nfunc One() {}\nfunc two() {}\n", "b/c.go", "// One\r\nx := One()\r\n", "b/d.txt", "One\n",
		"bin", "One\x00\n", ".hidden", "One\n", ".gitignore", "out\n", "out", "One\n", "empty", "", "latin", "caf\xe9 One\n")
	for _, tt := range []struct{ arguments, want string }{
		{`{"pattern":"One"}`, "a.go:3:func One() {}\nb/c.go:1:// One\nb/c.go:2:x := One()\nb/d.txt:1:One\nlatin:1:caf\xe9 One\n[5 matching lines in 4 files]\n"},
		{`{"pattern":"^One$"}`, "b/d.txt:1:One\n[1 matching line in 1 file]\n"},
		{`{"pattern":"One\\(\\)$"}`, "b/c.go:2:x := One()\n[1 matching line in 1 file]\n"},
		{`{"pattern":"^one$","ignoreCase":true}`, "b/d.txt:1:One\n[1 matching line in 1 file]\n"},
		{`{"pattern":"func","glob":"*.go"}`, "a.go:3:func One() {}\na.go:4:func two() {}\n[2 matching lines in 1 file]\n"},
		{`{"pattern":"One","glob":"b/*.txt"}`, "b/d.txt:1:One\n[1 matching line in 1 file]\n"},
		{`{"pattern":"One","path":"b/d.txt"}`, "b/d.txt:1:One\n[1 matching line in 1 file]\n"},
		{`{"pattern":"One","path":".hidden"}`, ".hidden:1:One\n[1 matching line in 1 file]\n"},
		{`{"pattern":"One","path":"b","limit":1}`, "b/c.go:1:// One\n[the first 1 matching line; there are more: narrow the search or raise the limit]\n"},
		{`{"pattern":"\\AOne"}`, "b/d.txt:1:One\n[1 matching line in 1 file]\n"},
		{`{"pattern":"(?i)ONE","path":"b/d.txt"}`, "b/d.txt:1:One\n[1 matching line in 1 file]\n"},
		{`{"pattern":"nothing at all"}`, "No matches found\n"},
		{`{"pattern":"func two","context":1}`, "a.go-3-func One() {}\na.go:4:func two() {}\n[1 matching line in 1 file]\n"},
	} {
		check(t, call, "sys.grep", tt.arguments, tt.want, false)
	}
	check(t, call, "sys.grep", `{"pattern":"a("}`, "The pattern is not a valid regular expression: error parsing regexp: missing closing ): `a(`", true)
	check(t, call, "sys.grep", `{"pattern":"a","glob":"["}`, "The pattern [ is not a valid pattern", true)
	check(t, call, "sys.grep", `{"pattern":"a","path":"none"}`, "Failed to search none: stat none: no such file or directory", true)
	check(t, call, "sys.grep", `{"pattern":"a","path":"/dev/null"}`, "Failed to search /dev/null: not a regular file", true)
}

func TestGrepShowsLinesAround(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, "f", "1\n2\nx3\n4\n5\n6\n7\nx8\nx9\n10\n11\n", "g", "a\nx\n")
	want := "f-2-2\nf:3:x3\nf-4-4\n--\nf-7-7\nf:8:x8\nf:9:x9\nf-10-10\n--\ng-1-a\ng:2:x\n[4 matching lines in 2 files]\n"
	check(t, toolrt.Call{Dir: dir}, "sys.grep", `{"pattern":"x","context":1}`, want, false)
	want = "f-1-1\nf-2-2\nf:3:x3\nf-4-4\nf-5-5\nf-6-6\nf-7-7\nf:8:x8\nf:9:x9\nf-10-10\nf-11-11\n[3 matching lines in 1 file]\n"
	check(t, toolrt.Call{Dir: dir}, "sys.grep", `{"pattern":"x","context":5,"path":"f"}`, want, false)
}

func TestGrepIsBounded(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("é", 5000) + "needle" + strings.Repeat("ü", 5000) + "\n"
	plant(t, dir, "long", long, "many", strings.Repeat("needle "+strings.Repeat("x", 300)+"\n", 2000))
	out, err := run(t, toolrt.Call{Dir: dir}, "sys.grep", `{"pattern":"needle","path":"long"}`)
	if err != nil || len(out.Text) > 600 || !strings.Contains(out.Text, "éneedleü") || strings.Count(out.Text, "…") != 2 || strings.Contains(out.Text, "\ufffd") {
		t.Errorf("%v, %d bytes: %s", err, len(out.Text), out.Text)
	}
	out, err = run(t, toolrt.Call{Dir: dir}, "sys.grep", `{"pattern":"needle","limit":2000}`)
	if err != nil || len(out.Text) > searchBytes+1000 || !strings.Contains(out.Text, "there are more") {
		t.Errorf("%v, %d bytes", err, len(out.Text))
	}
	if f, err := os.Create(filepath.Join(dir, "huge")); err != nil || f.Truncate(searchFile+1) != nil || f.Close() != nil {
		t.Fatal(err)
	}
	check(t, toolrt.Call{Dir: dir}, "sys.grep", `{"pattern":"nothing"}`, "No matches found\n[1 file larger than 16 MiB left out]\n", false)
}

func TestUnreadableFolderIsCounted(t *testing.T) {
	unixOnly(t)
	if os.Getuid() == 0 {
		t.Skip("root may read every folder")
	}
	dir := t.TempDir()
	plant(t, dir, "a", "x\n", "closed/b", "x\n")
	if err := os.Chmod(dir+"/closed", 0); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(dir+"/closed", 0o755) }()
	check(t, toolrt.Call{Dir: dir}, "sys.grep", `{"pattern":"x"}`, "a:1:x\n[1 folder could not be read]\n[1 matching line in 1 file]\n", false)
	check(t, toolrt.Call{Dir: dir}, "sys.glob", `{"pattern":"*"}`, "a\n[1 folder could not be read]\n", false)
}

// FuzzIgnore holds that no ignore file breaks the walk.
func FuzzIgnore(f *testing.F) {
	f.Add("*.log\n!keep.log\nbuild/\n", "a/b.log")
	f.Add("[\n\\\n**/**\n{a,b}\n", "a")
	f.Fuzz(func(t *testing.T, rules, path string) {
		set := ignores{{rules: parseIgnore(rules)}}
		if set.ignored(path, true) && len(set[0].rules) == 0 {
			t.Error("ignored without a rule")
		}
	})
}
