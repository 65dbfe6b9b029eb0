package approval

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// use says what a call does to a path.
type use int

const (
	useRead use = iota
	useWrite
	useRemove
)

// startFiles are files in a home folder that shells and sessions run by themselves.
var startFiles = []string{
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zprofile", ".zshenv",
	".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".inputrc", ".xprofile", ".xinitrc",
	".xsessionrc", ".pam_environment", ".gitconfig", ".vimrc", ".config/fish", ".config/git", ".config/autostart",
	".config/systemd", ".config/environment.d", "Library/LaunchAgents",
}

// keyFiles hold secrets; reading them asks too.
var keyFiles = []string{
	".ssh", ".gnupg", ".password-store", ".aws", ".kube", ".azure", ".config/gcloud", ".config/gh", ".docker/config.json",
	".netrc", ".git-credentials", ".npmrc", ".pypirc", ".local/share/keyrings", "Library/Keychains",
}

// systemStart are start files of the whole system.
var systemStart = []string{
	"/etc/profile", "/etc/profile.d", "/etc/bash.bashrc", "/etc/bashrc", "/etc/zsh", "/etc/zshrc", "/etc/zshenv", "/etc/environment",
	"/etc/sudoers", "/etc/sudoers.d", "/etc/crontab", "/etc/cron.d", "/etc/ld.so.preload", "/etc/passwd", "/etc/shadow", "/etc/ssh",
	"/var/spool/cron",
}

// safeDevices are devices that hold nothing.
var safeDevices = []string{"null", "zero", "full", "random", "urandom", "tty", "stdin", "stdout", "stderr"}

// guard knows the protected targets (A9).
type guard struct {
	dir, workspace string   // resolved
	homes          []string // the home folder, as named and resolved
	own            []string // parley's own folders
	keys, starts   []string // keyFiles and startFiles in the homes
	// links, files and patterns remember what was found while one call is judged. Outside a call
	// patterns holds those of the built-in rules.
	links    map[string]string
	files    map[string]os.FileInfo // nil for what is not there
	patterns map[string]pathPattern
}

// forCall returns the guard with memories for one call.
func (g guard) forCall() guard {
	g.links, g.files, g.patterns = map[string]string{}, map[string]os.FileInfo{}, maps.Clone(g.patterns)
	return g
}

// sameFile reports whether two names are of one file.
func (g guard) sameFile(a, b string) bool {
	x := g.stat(a)
	if x == nil {
		return false
	}
	y := g.stat(b)
	return y != nil && os.SameFile(x, y)
}

// stat returns what a file is, nil if it cannot be known.
func (g guard) stat(path string) os.FileInfo {
	if info, ok := g.files[path]; ok {
		return info
	}
	info, err := os.Stat(path)
	if err != nil {
		info = nil
	}
	if g.files != nil {
		g.files[path] = info
	}
	return info
}

func (g guard) resolve(path string) string {
	if to, ok := g.links[path]; ok {
		return to
	}
	if g.links == nil {
		return resolve(path)
	}
	clean := filepath.Clean(path)
	to := clean
	if parent := filepath.Dir(clean); parent != clean {
		// The folder is mostly known already; only the last name has to be looked at.
		to = filepath.Join(g.resolve(parent), filepath.Base(clean))
		if info, err := os.Lstat(to); err == nil && info.Mode()&os.ModeSymlink != 0 {
			to = resolve(to)
		}
	}
	g.links[path] = to
	return to
}

// pattern returns a rule's path as a pattern of absolute paths.
func (g guard) pattern(glob string) pathPattern {
	if p, ok := g.patterns[glob]; ok {
		return p
	}
	p := newPathPattern(glob, g.dir)
	if g.links != nil {
		g.patterns[glob] = p
	}
	return p
}

func newGuard(dir, workspace string) guard {
	g := guard{patterns: map[string]pathPattern{}}
	if dir != "" {
		g.dir = resolve(dir)
	}
	if workspace != "" {
		g.workspace = resolve(workspace)
	}
	if h := homeDir(); h != "" {
		g.homes = uniq(filepath.Clean(h), resolve(h))
		for _, d := range []string{".config", ".local/share", ".local/state", "Library/Application Support"} {
			g.own = append(g.own, filepath.Join(h, d, "parley"))
		}
	}
	if d, err := os.UserConfigDir(); err == nil {
		g.own = append(g.own, filepath.Join(d, "parley"))
	}
	for _, v := range []string{"XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
		if d := os.Getenv(v); filepath.IsAbs(d) {
			g.own = append(g.own, filepath.Join(d, "parley"))
		}
	}
	for _, h := range g.homes {
		for _, f := range keyFiles {
			g.keys = append(g.keys, filepath.Join(h, filepath.FromSlash(f)))
		}
		for _, f := range startFiles {
			g.starts = append(g.starts, filepath.Join(h, filepath.FromSlash(f)))
		}
	}
	for _, d := range slices.Clone(g.own) {
		g.own = uniq(append(g.own, resolve(d))...)
	}
	return g
}

func uniq(s ...string) []string {
	slices.Sort(s)
	return slices.Compact(s)
}

// inside reports whether a path is in the working folder or the workspace. The path is resolved.
func (g guard) inside(path string) bool {
	path = g.resolve(path)
	return under(path, g.dir) || under(path, g.workspace)
}

// protected says why a path may never be touched without asking, "" if it may. Both the path as
// named and where it leads count. glob marks a path with shell wildcards.
func (g guard) protected(path string, u use, glob bool) string {
	names := []string{filepath.Clean(path)}
	if !glob {
		names = uniq(names[0], g.resolve(path))
	}
	for _, p := range names {
		if why := g.protectedName(p, u, glob); why != "" {
			return why
		}
	}
	if u == useRemove && !glob {
		if p := g.resolve(path); !g.inside(p) || p == g.dir || p == g.workspace {
			return "it removes something outside the working folder"
		}
	}
	if u == useRemove && glob {
		if fixed, _, _ := strings.Cut(names[0], "*"); !g.inside(filepath.Dir(fixed + "x")) {
			return "it removes something outside the working folder"
		}
	}
	return ""
}

func (g guard) protectedName(p string, u use, glob bool) string {
	low := strings.ToLower(p)
	meets := func(file string) bool {
		if glob {
			return globMeets(p, file)
		}
		file = strings.ToLower(file)
		return under(low, file) || u == useRemove && under(file, low)
	}
	if slices.ContainsFunc(g.keys, meets) {
		return "it reaches keys or passwords"
	}
	if u != useRead && slices.ContainsFunc(g.starts, meets) {
		return "it reaches a start file"
	}
	segs := splitPath(p)
	for i, s := range segs {
		if equalAny(s, ".ssh", ".gnupg") {
			return "it reaches keys or passwords"
		}
		if u != useRead && i == len(segs)-1 && equalAny(s, startFiles[:20]...) && homeDepth(segs) == i {
			return "it reaches a start file" // of another home
		}
	}
	if u == useRead {
		return ""
	}
	for _, f := range systemStart {
		if meets(f) {
			return "it reaches a file of the system"
		}
	}
	return g.protectedWrite(p, segs, glob)
}

// above says why a folder may not be given to what goes down into it, or puts files there, without
// asking: protected files lie below it. "" if none do.
func (g guard) above(path string, u use, glob bool) string {
	names := []string{filepath.Clean(path)}
	if !glob {
		names = uniq(names[0], g.resolve(path))
	}
	for _, p := range names {
		low := strings.ToLower(p)
		holds := func(file string) bool {
			if glob {
				return globMeets(p, file)
			}
			return under(strings.ToLower(file), low)
		}
		switch {
		case slices.ContainsFunc(g.keys, holds):
			return "it reaches a folder with keys or passwords"
		case u != useRead && slices.ContainsFunc(g.starts, holds):
			return "it reaches a folder with start files"
		}
	}
	return ""
}

// homeDepth returns how many segments lead to the home folder that a path lies in, -1 for none.
func homeDepth(segs []string) int {
	switch {
	case len(segs) > 1 && segs[0] == "root":
		return 1
	case len(segs) > 2 && equalAny(segs[0], "home", "Users"):
		return 2
	}
	return -1
}

// protectedWrite judges changes to parley's settings, version control's hooks and devices.
func (g guard) protectedWrite(p string, segs []string, glob bool) string {
	if g.workspace != "" && p == filepath.Join(g.workspace, "gptscript.env") {
		return "it reaches the environment of later commands"
	}
	for _, d := range g.own {
		hit := underFold(p, d)
		if glob {
			hit = globMeets(p, d)
		}
		if hit && !(g.workspace != "" && under(p, g.workspace)) {
			return "it reaches parley's own settings or records"
		}
	}
	for i, s := range segs {
		switch {
		case strings.EqualFold(s, ".parley"):
			return "it reaches parley's own settings or records"
		case equalAny(s, ".husky", ".githooks"):
			return "it reaches what version control runs"
		case strings.EqualFold(s, ".git") || strings.HasSuffix(strings.ToLower(s), ".git"):
			if gitRuns(segs[i+1:], strings.EqualFold(s, ".git")) {
				return "it reaches what version control runs"
			}
		case strings.EqualFold(s, ".hg") && i+1 < len(segs) && equalAny(segs[i+1], "hgrc"):
			return "it reaches what version control runs"
		case glob && strings.HasPrefix(s, ".") && strings.ContainsAny(s, "*?[{") &&
			(globMeets("/"+s, "/.git") || globMeets("/"+s, "/.parley")):
			return "it may reach what version control or parley runs"
		}
	}
	return device(p)
}

// gitRuns reports whether a path below a .git folder is one that git runs or obeys. In a work tree's
// own (plain) all of them count: HEAD, commondir, gitdir and the like lead git to other settings.
func gitRuns(below []string, plain bool) bool {
	if plain || len(below) == 0 {
		return plain
	}
	if slices.ContainsFunc(below, func(s string) bool { return equalAny(s, "hooks") }) {
		return true
	}
	return equalAny(below[len(below)-1], "config", "config.worktree", "attributes", "commondir", "gitdir") || strings.ContainsAny(below[0], "*?[{")
}

func device(p string) string {
	p = filepath.ToSlash(p)
	rest, ok := strings.CutPrefix(p, "/dev/")
	if !ok {
		if strings.HasPrefix(p, "/sys/") || strings.HasPrefix(p, "/proc/") && !strings.HasPrefix(p, "/proc/self/fd/") {
			return "it reaches the running system"
		}
		return ""
	}
	if slices.Contains(safeDevices, rest) || strings.HasPrefix(rest, "fd/") || strings.HasPrefix(rest, "shm/") || strings.HasPrefix(rest, "pts/") {
		return ""
	}
	return "it reaches a device"
}

func equalAny(s string, of ...string) bool {
	return slices.ContainsFunc(of, func(o string) bool { return strings.EqualFold(s, o) })
}

// underFold is under without regard to case, for file systems that have none.
func underFold(path, dir string) bool {
	return under(strings.ToLower(path), strings.ToLower(dir))
}

// harmlessSink reports whether writing to a path changes nothing.
func harmlessSink(p string) bool {
	rest, ok := strings.CutPrefix(filepath.ToSlash(filepath.Clean(p)), "/dev/")
	return ok && (slices.Contains(safeDevices, rest) || strings.HasPrefix(rest, "fd/"))
}
