// Package checkout gets the repositories that programs refer to (github.com/OWNER/REPO) by git, keeps
// their files, and pins each reference to the commit it first stood for: a program does not change
// because somebody pushed, only when the person says so ([Store.Update]). Start with [Store].
package checkout

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"parley/toolrt/command"
)

// limit bounds one run of git.
const limit = 5 * time.Minute

// Store keeps repositories below a folder. Its methods are safe for concurrent use, and several
// processes may share the folder.
type Store struct {
	// Dir is the folder, absolute. It is made when it is needed.
	Dir string
	// Environ is the environment of git.
	Environ []string
	// Tokens are access tokens by host.
	Tokens map[string]string
	// Update takes references anew that are pinned already.
	Update bool

	mu      sync.Mutex // guards the fields below
	done    map[string]Pin
	changes []Change
}

// Pin is what a reference stands for.
type Pin struct {
	Repository string    `json:"repository"` // "github.com/owner/repo"
	Ref        string    `json:"ref"`        // branch, tag or commit; "HEAD" when none is named
	Commit     string    `json:"commit"`
	Time       time.Time `json:"time"`
}

// Change is a pin that Update has moved.
type Change struct{ Old, New Pin }

// Changes returns what Update has moved so far.
func (s *Store) Changes() []Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Change(nil), s.changes...)
}

// Checkout returns the folder with the files of a repository, and the commit they are of. ref is a
// branch, tag or commit, "" is HEAD. The files must not be changed. Of a reference that is pinned and
// whose files are there nothing is asked of the network.
func (s *Store) Checkout(ctx context.Context, repository, ref string) (dir, commit string, err error) {
	if ref == "" {
		ref = "HEAD"
	}
	if err := valid(repository, ref); err != nil {
		return "", "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock() // one at a time: all of them go to the same few servers
	pin, err := s.pin(ctx, repository, ref)
	if err == nil {
		dir = filepath.Join(s.Dir, filepath.FromSlash(repository), pin.Commit)
		err = s.fetch(ctx, pin, dir)
	}
	if err != nil {
		return "", "", fmt.Errorf("get %s: %w", repository, err)
	}
	return dir, pin.Commit, nil
}

// valid finds names that git or the file system would take for something else.
func valid(repository, ref string) error {
	for part := range strings.SplitSeq(repository, "/") {
		if part == "" || part[0] == '-' || part[0] == '.' || strings.Trim(part, letters+"._-") != "" {
			return fmt.Errorf("%q is no name of a repository: write HOST/OWNER/REPO", repository)
		}
	}
	if ref[0] == '-' || strings.Contains(ref, "..") || strings.Trim(ref, letters+"._-/+") != "" {
		return fmt.Errorf("%q is no name of a branch, tag or commit", ref)
	}
	return nil
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// pin returns what the reference stands for: as it was kept, or as the server says, which is then kept.
func (s *Store) pin(ctx context.Context, repository, ref string) (Pin, error) {
	key := repository + "@" + ref
	if pin, ok := s.done[key]; ok {
		return pin, nil
	}
	file := filepath.Join(s.Dir, "pins", filepath.FromSlash(repository), url.PathEscape(ref)+".json")
	old, found, err := readPin(file)
	if err != nil {
		return Pin{}, err
	}
	pin := old
	if !found || s.Update {
		commit, err := s.resolve(ctx, repository, ref)
		if err != nil {
			return Pin{}, err
		}
		if commit != old.Commit {
			pin = Pin{Repository: repository, Ref: ref, Commit: commit, Time: time.Now().UTC().Truncate(time.Second)}
			if err := writePin(file, pin); err != nil {
				return Pin{}, fmt.Errorf("pin %s: %w", key, err)
			}
		}
		if found && commit != old.Commit {
			s.changes = append(s.changes, Change{old, pin})
		}
	}
	if s.done == nil {
		s.done = map[string]Pin{}
	}
	s.done[key] = pin
	return pin, nil
}

func readPin(file string) (pin Pin, found bool, err error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return pin, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &pin)
	}
	if err == nil && !isCommit(pin.Commit) {
		err = errors.New("it names no commit")
	}
	if err != nil {
		return pin, false, fmt.Errorf("read the pin %s: %w (remove the file to take the repository as it is now)", file, err)
	}
	return pin, true, nil
}

// writePin writes a pin in one step, so that no other process reads a half of it.
func writePin(file string, pin Pin) error {
	text, err := json.MarshalIndent(pin, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(file), ".pin-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(append(text, '\n'))
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}

func isCommit(text string) bool {
	return len(text) == 40 && strings.Trim(text, "0123456789abcdef") == ""
}

// address is where git gets a repository.
func address(repository string) string { return "https://" + repository + ".git" }

// resolve asks the server what a reference stands for.
func (s *Store) resolve(ctx context.Context, repository, ref string) (string, error) {
	if isCommit(ref) {
		return ref, nil
	}
	wanted := []string{"refs/tags/" + ref + "^{}", "refs/tags/" + ref, "refs/heads/" + ref, ref}
	text, err := s.git(ctx, "", append([]string{"ls-remote", address(repository)}, wanted[1:]...)...)
	if err != nil {
		return "", err
	}
	commits := map[string]string{}
	for line := range strings.Lines(text) {
		commit, name, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if ok && isCommit(commit) {
			commits[name] = commit
		}
	}
	for _, name := range wanted {
		if commit := commits[name]; commit != "" {
			return commit, nil
		}
	}
	if len(ref) >= 7 && strings.Trim(ref, "0123456789abcdef") == "" {
		return s.expand(ctx, repository, ref)
	}
	return "", fmt.Errorf("it has no branch, tag or commit %q", ref)
}

// expand finds the commit that a shortened name stands for: only the whole history knows.
func (s *Store) expand(ctx context.Context, repository, short string) (string, error) {
	temp, err := s.temp()
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	if _, err := s.git(ctx, "", "init", "-q", "--bare", temp); err != nil {
		return "", err
	}
	if _, err := s.git(ctx, temp, "fetch", "-q", "--filter=tree:0", address(repository), "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"); err != nil {
		return "", err
	}
	commit, err := s.git(ctx, temp, "rev-parse", "--verify", "-q", short+"^{commit}")
	if commit = strings.TrimSpace(commit); err != nil || !isCommit(commit) {
		return "", fmt.Errorf("it has no branch, tag or commit %q", short)
	}
	return commit, nil
}

func (s *Store) temp() (string, error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return "", err
	}
	return os.MkdirTemp(s.Dir, ".fetch-*")
}

// fetch puts the files of a commit into dir unless they are there. Nothing of git is kept beside them.
func (s *Store) fetch(ctx context.Context, pin Pin, dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	temp, err := s.temp()
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	for _, args := range [][]string{
		{"init", "-q", "."},
		{"fetch", "-q", "--depth", "1", address(pin.Repository), pin.Commit},
		{"-c", "core.hooksPath=" + os.DevNull, "checkout", "-q", pin.Commit},
	} {
		if _, err := s.git(ctx, temp, args...); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(filepath.Join(temp, ".git")); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	// Renamed last: what is there is whole. Another process may have been faster.
	if err := os.Rename(temp, dir); err != nil {
		if _, there := os.Stat(dir); there != nil {
			return err
		}
	}
	return nil
}

// git runs git and returns what it printed. It never asks for a password.
func (s *Store) git(ctx context.Context, dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("git took longer than %s", limit))
	defer cancel()
	var out, errs strings.Builder
	res, err := command.Run(ctx, command.Process{Path: "git", Args: args, Dir: dir, Env: s.environ(), Stdout: &out, Stderr: &errs})
	name := args[0]
	if name == "-c" {
		name = args[2]
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("git %s: %w", name, err)
	case res.Code != 0:
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		return "", fmt.Errorf("git %s: %s: %s", name, res.State, strings.Join(lines[:min(len(lines), 3)], "; "))
	}
	return out.String(), nil
}

// environ is git's environment: the given one, and the tokens as settings in it, where no list of
// processes shows them.
func (s *Store) environ() []string {
	env := append(append([]string(nil), s.Environ...), "GIT_TERMINAL_PROMPT=0")
	text, _ := command.Lookup(env, "GIT_CONFIG_COUNT")
	n, _ := strconv.Atoi(text) // none is 0
	for host, token := range s.Tokens {
		if token == "" {
			continue
		}
		header := "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+token))
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=http.https://%s/.extraHeader", n, host), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, header))
		n++
	}
	if n > 0 {
		env = append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
	}
	return command.Merge(env)
}
