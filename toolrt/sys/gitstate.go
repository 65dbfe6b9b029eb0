package sys

import (
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// gitState says on which branch and commit the repository around dir is and what is under way in
// it, "" outside a repository. It is read from git's files: no process, and nothing of which files
// are changed, which would make it another text after every edit.
func gitState(dir string) string {
	top, ok := repository(dir)
	if !ok {
		return ""
	}
	gitDir := filepath.Join(top, ".git")
	if rest, ok := strings.CutPrefix(gitFile(gitDir), "gitdir: "); ok { // a worktree or a submodule
		gitDir = absolute(top, filepath.FromSlash(rest))
	}
	head := gitFile(filepath.Join(gitDir, "HEAD"))
	if head == "" {
		return ""
	}
	common := gitDir // where the branches of a worktree are
	if rest := gitFile(filepath.Join(gitDir, "commondir")); rest != "" {
		common = absolute(gitDir, filepath.FromSlash(rest))
	}
	state, commit := "no branch", head
	if ref, ok := strings.CutPrefix(head, "ref: "); ok {
		state = "branch " + printable(strings.TrimPrefix(ref, "refs/heads/"))
		commit = gitRef(gitDir, common, ref)
	}
	if isHex(commit) {
		state += " at " + commit[:min(len(commit), 8)]
	}
	for _, op := range gitOperations {
		if _, err := os.Stat(filepath.Join(gitDir, op.name)); err == nil {
			return state + ", in the middle of " + op.what
		}
	}
	return state
}

// gitOperations are the files in a git folder that are there while something is under way.
var gitOperations = []struct{ name, what string }{
	{"rebase-merge", "a rebase"}, {"rebase-apply", "a rebase"}, {"MERGE_HEAD", "a merge"},
	{"CHERRY_PICK_HEAD", "a cherry-pick"}, {"REVERT_HEAD", "a revert"}, {"BISECT_LOG", "a bisection"},
}

// gitRef returns the commit of a branch, "" if it has none or its place is not known.
func gitRef(gitDir, common, ref string) string {
	if !filepath.IsLocal(filepath.FromSlash(ref)) {
		return ""
	}
	for _, dir := range []string{gitDir, common} {
		if commit := gitFile(filepath.Join(dir, filepath.FromSlash(ref))); commit != "" {
			return commit
		}
	}
	packed, err := os.ReadFile(filepath.Join(common, "packed-refs"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(packed)) {
		if commit, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref {
			return commit
		}
	}
	return ""
}

// gitFile returns the only line of one of git's small files, "" if there is none.
func gitFile(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 4096 {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(strings.TrimSpace(string(text)), "\n") {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// printable keeps a name to one line of a bearable length.
func printable(name string) string {
	const most = 100
	name = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, name)
	if runes := []rune(name); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return name
}

func isHex(s string) bool { return len(s) >= 8 && strings.Trim(s, "0123456789abcdef") == "" }
