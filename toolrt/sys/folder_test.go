package sys

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"parley/toolrt"
)

// described runs sys.context.folder in dir, below a home folder of the test's own.
func described(t *testing.T, call toolrt.Call) string {
	t.Helper()
	out, err := run(t, call, "sys.context.folder", "")
	if err != nil || out.IsError {
		t.Fatalf("%+v, %v", out, err)
	}
	return out.Text
}

// homeFolder returns a fresh home folder.
func homeFolder(t *testing.T) string {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	return home
}

func TestFolderDescribesWhereItIs(t *testing.T) {
	dir := filepath.Join(homeFolder(t), "work")
	plant(t, dir, "f", "")
	got := described(t, toolrt.Call{Dir: dir})
	want := `^Working folder: ` + regexp.QuoteMeta(dir) + `\nSystem: .+\nShell of commands: .+\nToday: [A-Z][a-z]+, [0-9]{1,2} [A-Z][a-z]+ [0-9]{4}\n$`
	if !regexp.MustCompile(want).MatchString(got) {
		t.Errorf("got:\n%s", got)
	}
	write(t, filepath.Join(dir, "f"), "changed")
	if again := described(t, toolrt.Call{Dir: dir}); again != got {
		t.Errorf("it changed without reason:\n%s\n%s", got, again)
	}
}

func TestFolderGivesInstructionsOutermostFirst(t *testing.T) {
	home := homeFolder(t)
	repo := filepath.Join(home, "code", "repo")
	plant(t, home, "AGENTS.md", "of home", "code/AGENTS.md", "of code")
	plant(t, repo, ".git/HEAD", "ref: refs/heads/main\n", "AGENTS.md", "of the repository\n", "sub/CLAUDE.md", "of sub", "sub/deep/AGENTS.md", "of deep",
		"sub/deep/CLAUDE.md", "not this", "other/AGENTS.md", "of another", "sub/deep/down/AGENTS.md", "below")
	got := described(t, toolrt.Call{Dir: filepath.Join(repo, "sub", "deep")})
	_, guides, _ := strings.Cut(got, "\n\n")
	want := "Instructions from " + filepath.Join(repo, "AGENTS.md") + ":\n\nof the repository\n\n" +
		"Instructions from " + filepath.Join(repo, "sub", "CLAUDE.md") + ":\n\nof sub\n\n" +
		"Instructions from " + filepath.Join(repo, "sub", "deep", "AGENTS.md") + ":\n\nof deep\n"
	if guides != want {
		t.Errorf("got:\n%s", got)
	}
	// Outside a repository: below the home folder, not of it.
	got = described(t, toolrt.Call{Dir: filepath.Join(home, "code")})
	if !strings.Contains(got, "of code") || strings.Contains(got, "of home") || strings.Contains(got, "Git:") {
		t.Errorf("got:\n%s", got)
	}
	// Outside the home folder: of the folder alone.
	away := t.TempDir()
	plant(t, away, "AGENTS.md", "of the parent", "x/AGENTS.md", "of x")
	got = described(t, toolrt.Call{Dir: filepath.Join(away, "x")})
	if !strings.Contains(got, "of x") || strings.Contains(got, "of the parent") {
		t.Errorf("got:\n%s", got)
	}
}

func TestFolderReadsNothingElse(t *testing.T) {
	unixOnly(t)
	home := homeFolder(t)
	plant(t, home, ".ssh/id", "SECRET", "work/docs/guide.md", "inside", "work/sub/AGENTS.md", "denied")
	work := filepath.Join(home, "work")
	for link, to := range map[string]string{"AGENTS.md": "../.ssh/id", "CLAUDE.md": "docs/guide.md"} {
		if err := os.Symlink(to, filepath.Join(work, link)); err != nil {
			t.Fatal(err)
		}
	}
	call := toolrt.Call{Dir: filepath.Join(work, "sub"), Denied: func(path string) bool { return strings.Contains(path, "sub") }}
	got := described(t, call)
	if strings.Contains(got, "SECRET") || strings.Contains(got, "denied") || !strings.Contains(got, "inside") {
		t.Errorf("got:\n%s", got)
	}
	p := preview(t, call, "sys.context.folder", "")
	if len(p.Paths) != 1 || p.Paths[0] != filepath.Join(work, "CLAUDE.md") {
		t.Errorf("paths %q", p.Paths)
	}
}

func TestFolderBoundsInstructions(t *testing.T) {
	home := homeFolder(t)
	dir := filepath.Join(home, "a", "b", "c", "d")
	long := strings.Repeat("é", guideMax)
	for _, at := range []string{"a", "a/b", "a/b/c", "a/b/c/d"} {
		plant(t, home, at+"/AGENTS.md", at+" "+long)
	}
	got := described(t, toolrt.Call{Dir: dir})
	if len(got) > guidesMax+2000 || strings.Count(got, "[the rest of the file is left out]") != 2 || strings.Contains(got, "\ufffd") ||
		!strings.HasSuffix(got, "[2 files with instructions left out: they are too long]\n") {
		t.Errorf("%d bytes, ends %q", len(got), got[len(got)-100:])
	}
}

func TestFolderKnowsGit(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	home := homeFolder(t)
	for name, tt := range map[string]struct {
		files []string
		want  string
	}{
		"branch":      {[]string{".git/HEAD", "ref: refs/heads/feature/x\n", ".git/refs/heads/feature/x", commit + "\n"}, "branch feature/x at 01234567"},
		"new":         {[]string{".git/HEAD", "ref: refs/heads/main\n"}, "branch main"},
		"packed":      {[]string{".git/HEAD", "ref: refs/heads/main\n", ".git/packed-refs", "# pack-refs\n" + commit + " refs/heads/main\n"}, "branch main at 01234567"},
		"detached":    {[]string{".git/HEAD", commit + "\n"}, "no branch at 01234567"},
		"merge":       {[]string{".git/HEAD", "ref: refs/heads/main\n", ".git/MERGE_HEAD", commit}, "branch main, in the middle of a merge"},
		"rebase":      {[]string{".git/HEAD", commit + "\n", ".git/rebase-merge/onto", ""}, "no branch at 01234567, in the middle of a rebase"},
		"worktree":    {[]string{".git", "gitdir: real/worktrees/w\n", "real/worktrees/w/HEAD", "ref: refs/heads/w\n", "real/worktrees/w/commondir", "../..\n", "real/refs/heads/w", commit}, "branch w at 01234567"},
		"odd name":    {[]string{".git/HEAD", "ref: refs/heads/a\x1b]0;b\n"}, "branch a]0;b"},
		"climbs":      {[]string{".git/HEAD", "ref: ../../secret\n", "secret", commit}, "branch ../../secret"},
		"broken":      {[]string{".git/HEAD", ""}, ""},
		"broken link": {[]string{".git", "gitdir: nowhere\n"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(home, strings.ReplaceAll(name, " ", "-"))
			plant(t, dir, tt.files...)
			if got := gitState(dir); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
