package program

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Repositories gets the files of repositories that references name (2.5).
type Repositories interface {
	// Checkout returns a folder with the files of a repository ("github.com/owner/repo") and the
	// commit they are of. ref is a branch, tag or commit, "" is the default.
	Checkout(ctx context.Context, repository, ref string) (dir, commit string, err error)
}

// gitHub is the host whose repositories are always known.
const gitHub = "github.com"

// repository is a repository at a commit, of which a source is a part.
type repository struct {
	name   string // "github.com/owner/repo"
	ref    string // as it was written, "" without one
	dir    string // of its files, absolute
	commit string
}

// repoTarget is a reference to a file of a repository: HOST/OWNER/REPO[/PATH][@REF].
type repoTarget struct{ text, name, path, ref string }

// parseRepoTarget takes such a reference apart; ok is false for other targets.
func (l *loader) parseRepoTarget(target string) (t repoTarget, ok bool) {
	t.text = target
	target, t.ref, _ = strings.Cut(target, "@")
	parts := strings.SplitN(target, "/", 4)
	if len(parts) < 3 || parts[0] != gitHub && !slices.Contains(l.opts.RepositoryHosts, parts[0]) {
		return t, false
	}
	t.name = strings.Join(parts[:3], "/")
	if len(parts) == 4 {
		t.path = strings.Trim(parts[3], "/")
	}
	return t, true
}

// openRepository opens a file of a repository.
func (l *loader) openRepository(ctx context.Context, t repoTarget) (*source, error) {
	if l.opts.Repositories == nil {
		return nil, fmt.Errorf("remote tools are disabled: %s", t.text)
	}
	key := t.name + "@" + t.ref
	repo := l.repositories[key]
	if repo == nil {
		if err := l.unusable[key]; err != nil {
			return nil, err
		}
		dir, commit, err := l.opts.Repositories.Checkout(ctx, t.name, t.ref)
		if err != nil {
			l.unusable[key] = err
			return nil, err
		}
		repo = &repository{name: t.name, ref: t.ref, dir: dir, commit: commit}
		l.repositories[key] = repo
	}
	return l.openInRepository(repo, t.path)
}

// openInRepository opens a file of a repository by its path there. A path without a file name stands
// for the default files below it.
func (l *loader) openInRepository(repo *repository, name string) (*source, error) {
	name = path.Clean("/" + name)[1:] // nothing leads out of it
	tries := []string{name}
	if !strings.Contains(path.Base("/"+name), ".") {
		tries = nil
		for _, file := range defaultFiles {
			tries = append(tries, path.Join(name, file))
		}
	}
	for _, name := range tries {
		file, err := repo.file(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		location := repo.name + "/" + name
		if repo.ref != "" {
			location += "@" + repo.ref
		}
		return l.once(location, func() (*source, error) {
			data, err := readFile(file)
			if err != nil {
				return nil, err
			}
			return l.addSource(location, &source{location: location, dir: path.Join(repo.name, path.Dir(name)),
				absDir: filepath.Dir(file), name: path.Base(name), data: data, repo: repo})
		})
	}
	return nil, fmt.Errorf("%s has no file %s at commit %.12s", repo.name, strings.Join(tries, " or "), repo.commit)
}

// file returns the path of a file of the repository. A link that leads out of it is an error: what
// others wrote reaches no file of the person's.
func (r *repository) file(name string) (string, error) {
	file := filepath.Join(r.dir, filepath.FromSlash(name))
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return "", err
	}
	root, err := filepath.EvalSymlinks(r.dir)
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(root, real); err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s/%s is a link that leads out of the repository", r.name, name)
	}
	info, err := os.Stat(real)
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	return file, err
}

// openFromRepository opens what a file of a repository refers to: a file of the same commit, or
// through the loaders for remote sources again.
func (l *loader) openFromRepository(ctx context.Context, base *source, target string) (*source, error) {
	if isURL(target) {
		return l.openURL(ctx, target)
	}
	if t, ok := l.parseRepoTarget(target); ok {
		return l.openRepository(ctx, t)
	}
	if !strings.HasPrefix(target, ".") && strings.Contains(target, "/") {
		return nil, notLoadable(base.dir, target)
	}
	within := strings.TrimPrefix(strings.TrimPrefix(base.dir, base.repo.name), "/")
	if joined := path.Join(within, target); joined == ".." || strings.HasPrefix(joined, "../") {
		return nil, fmt.Errorf("%s leads out of the repository %s", target, base.repo.name)
	}
	return l.openInRepository(base.repo, path.Join(within, target))
}

// repoOf describes where a tool of the source came from, nil for one that is of no repository.
func (s *source) repoOf() *Repo {
	if s.repo == nil {
		return nil
	}
	return &Repo{VCS: "git", Root: "https://" + s.repo.name + ".git", Name: s.name, Revision: s.repo.commit,
		Path: strings.TrimPrefix(strings.TrimPrefix(s.dir, s.repo.name), "/")}
}
