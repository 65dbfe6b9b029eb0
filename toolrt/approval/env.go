package approval

import (
	"slices"
	"strings"
)

// quietEnv are variables that change how a command speaks, not what it runs or where it writes.
var quietEnv = []string{
	"CI", "TERM", "COLUMNS", "LINES", "LANG", "LANGUAGE", "TZ", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE",
	"COLORTERM", "DEBUG", "VERBOSE", "CGO_ENABLED", "GOOS", "GOARCH", "GOARM", "GOAMD64", "GOMAXPROCS", "GOGC", "GOMEMLIMIT",
	"NODE_ENV", "RUST_BACKTRACE", "RUST_LOG", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED",
	"DEBIAN_FRONTEND", "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "HOMEBREW_NO_AUTO_UPDATE",
}

// harmlessEnv reports whether an assignment of name before a command needs no rule (A8).
func harmlessEnv(name string) bool {
	return slices.Contains(quietEnv, name) || strings.HasPrefix(name, "LC_")
}

// harmlessValue reports whether the text of an assignment cannot be taken for code by what reads the
// variable later: test -v and arithmetic run what stands in a subscript.
func harmlessValue(src string) bool { return !strings.Contains(src, "[") }

// harmlessLocal reports whether a variable set for the shell itself needs no rule: names in lower
// case are not read by programs, but for the proxies.
func harmlessLocal(name string) bool {
	if harmlessEnv(name) {
		return true
	}
	return name == strings.ToLower(name) && !strings.HasSuffix(name, "_proxy") && name != "path" && name != "fpath" && name != "cdpath"
}
