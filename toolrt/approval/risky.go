package approval

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// risk names options of a command that make it run something else or write a file: a rule must
// spell them out, its wildcards do not cover them (A8).
type risk struct {
	letters string   // single-letter options, also inside a cluster
	long    []string // long options, and words such as "-exec" or subcommands; also abbreviated ones
	noEnd   bool     // "--" does not end its options
	assigns bool     // NAME=value changes what it runs
	script  bool     // its first word, or the one after -e, is a program in a language of its own
}

var risks = map[string]risk{
	"git": {letters: "cCOx", long: []string{"--exec-path", "--config-env", "--upload-pack", "--receive-pack", "--exec", "--ext-diff", "--textconv",
		"--open-files-in-pager", "--output", "--git-dir", "--work-tree", "--template", "--extcmd", "filter-branch", "foreach", "bisect", "difftool", "mergetool"}},
	"go":      {long: []string{"-exec", "-toolexec", "-vettool", "-overlay", "--exec", "--toolexec", "--vettool", "--overlay"}},
	"find":    {long: []string{"-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-exec", "-execdir", "-ok", "-okdir", "-files0-from"}, noEnd: true},
	"fd":      {letters: "xX", long: []string{"--exec", "--exec-batch"}},
	"rg":      {long: []string{"--pre", "--hostname-bin"}},
	"sort":    {letters: "oT", long: []string{"--output", "--compress-program", "--files0-from"}},
	"sed":     {script: true, letters: "if", long: []string{"--in-place", "--file"}},
	"tar":     {letters: "IF", long: []string{"--to-command", "--checkpoint-action", "--use-compress-program", "--rsh-command", "--info-script", "--new-volume-script"}},
	"rsync":   {letters: "e", long: []string{"--rsh", "--rsync-path"}},
	"curl":    {letters: "oOKTJ", long: []string{"--output", "--remote-name", "--remote-name-all", "--config", "--upload-file", "--output-dir", "--dump-header", "--cookie-jar", "--trace", "--trace-ascii"}},
	"wget":    {letters: "OiP", long: []string{"--output-document", "--input-file", "--use-askpass", "--post-file", "--body-file", "--directory-prefix", "--config", "--execute"}},
	"man":     {letters: "PH", long: []string{"--pager", "--html"}},
	"date":    {letters: "s", long: []string{"--set"}},
	"cargo":   {long: []string{"--config"}},
	"npm":     {long: []string{"--script-shell", "--prefix", "--userconfig", "--globalconfig"}},
	"make":    {assigns: true, letters: "fIEC", long: []string{"--file", "--makefile", "--eval", "--include-dir", "--directory"}},
	"scp":     {letters: "oSF"},
	"sftp":    {letters: "oSFb"},
	"zip":     {letters: "T", long: []string{"--unzip-command"}},
	"split":   {long: []string{"--filter"}},
	"pip":     {long: []string{"--index-url", "--extra-index-url", "--trusted-host"}},
	"tree":    {letters: "o"},
	"xxd":     {letters: "r"},
	"openssl": {long: []string{"-out", "-engine", "-provider"}},
	"jq":      {letters: "fL", long: []string{"--from-file"}},
	"yq":      {letters: "i", long: []string{"--inplace"}},
	"less":    {letters: "oO", long: []string{"--log-file"}},
	"env":     {letters: "S", long: []string{"--split-string"}},
}

// riskyWords returns a function that reports whether the word at an index is, or could be, an
// option of that kind.
func riskyWords(ws []word) func(i int) bool {
	at := slices.IndexFunc(ws, func(w word) bool { return !w.assign })
	if at < 0 || !ws[at].literal {
		return func(int) bool { return false }
	}
	r, ok := risks[strings.TrimRight(path.Base(ws[at].text), "0123456789.")]
	if !ok {
		return func(int) bool { return false }
	}
	ended := len(ws)
	if i := slices.IndexFunc(ws, func(w word) bool { return w.literal && w.text == "--" }); i > 0 && !r.noEnd {
		ended = i
	}
	return func(i int) bool {
		if i <= at || isMessage(ws, at, i) {
			return false
		}
		return i < ended && r.is(ws[i]) || r.assigns && isAssignment(ws[i]) || r.script && isScript(ws, at, i) && !quietSed.MatchString(ws[i].text)
	}
}

// isMessage reports whether the word at i is the text after -m of a git commit and the like: it is
// never taken for an option.
func isMessage(ws []word, at, i int) bool {
	if i < at+3 || path.Base(ws[at].text) != "git" || ws[i].multi {
		return false
	}
	option := ws[i-1]
	return slices.Contains([]string{"commit", "tag", "merge"}, ws[at+1].text) && option.literal &&
		(option.text == "-m" || option.text == "-am" || option.text == "--message")
}

// quietSed are sed programs that only print, delete and replace: others can write files (w) or run
// commands (e).
var quietSed = regexp.MustCompile(`^(([0-9,$]+|/[^/\\]*/)?\s*(s/[^/]*/[^/]*/[gpiI0-9]*|s\|[^|]*\|[^|]*\|[gpiI0-9]*|s,[^,]*,[^,]*,[gpiI0-9]*|[pdqn=])\s*;?\s*)+$`)

// isScript reports whether the word at i is a program: after -e, or the first that is no option.
func isScript(ws []word, at, i int) bool {
	if t := ws[i-1].text; i-1 > at && (t == "-e" || t == "--expression") {
		return true
	}
	if t := ws[i].text; strings.HasPrefix(t, "-") {
		return strings.HasPrefix(t, "--expression=") || strings.HasPrefix(t, "-e") && len(t) > 2
	}
	for _, w := range ws[at+1 : i] {
		if !strings.HasPrefix(w.text, "-") || w.text == "-e" || w.text == "--expression" {
			return false
		}
	}
	return true
}

func (r risk) is(w word) bool {
	if !w.literal && (w.prefix == "" || w.prefix[0] == '-') {
		return true
	}
	t := w.text
	if len(t) > 1 && t[0] == '-' && t[1] != '-' && strings.ContainsAny(t[1:], r.letters) {
		return true
	}
	name, _, _ := strings.Cut(t, "=")
	return slices.ContainsFunc(r.long, func(o string) bool {
		return name == o || len(name) > 3 && strings.HasPrefix(name, "--") && strings.HasPrefix(o, name)
	})
}
