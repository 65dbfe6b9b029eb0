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
	letters string          // single-letter options, also inside a cluster
	long    []string        // long options, and words such as "-exec" or subcommands; also abbreviated ones
	noEnd   bool            // "--" does not end its options
	assigns bool            // a word with "=" changes what it runs
	files   bool            // @FILE is read as further words
	script  bool            // its first word, or the one after -e, is a program in a language of its own
	plus    bool            // a word that begins with + is a command
	bundled bool            // its first word is a cluster of options even without a dash
	reads   int             // it writes to the operands after so many; 0: it has none of that kind
	sub     map[string]risk // more of it for some subcommands
}

var risks = map[string]risk{
	"git": {letters: "cCOx", long: []string{"--exec-path", "--config-env", "--upload-pack", "--receive-pack", "--exec", "--ext-diff", "--textconv",
		"--open-files-in-pager", "--output", "--git-dir", "--work-tree", "--template", "--extcmd", "filter-branch", "foreach", "bisect", "difftool", "mergetool", "hook"},
		sub: map[string]risk{"clone": {letters: "u"}, "archive": {letters: "o", long: []string{"--remote"}}}},
	"go": {long: goRisks("exec", "toolexec", "vettool", "overlay", "modfile", "ldflags", "gccgoflags", "o", "C", "w", "u", "coverprofile", "trace",
		"cpuprofile", "memprofile", "blockprofile", "mutexprofile", "outputdir", "pgo", "pkgdir", "test.coverprofile", "test.trace",
		"test.cpuprofile", "test.memprofile", "test.blockprofile", "test.mutexprofile", "test.outputdir", "test.gocoverdir")},
	"find":  {long: []string{"-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-exec", "-execdir", "-ok", "-okdir", "-files0-from"}, noEnd: true},
	"fd":    {letters: "xX", long: []string{"--exec", "--exec-batch"}},
	"rg":    {long: []string{"--pre", "--hostname-bin"}},
	"sort":  {letters: "oT", long: []string{"--output", "--compress-program", "--files0-from"}},
	"sed":   {script: true, letters: "if", long: []string{"--in-place", "--file"}},
	"tar":   {letters: "IF", bundled: true, long: []string{"--rmt-command", "--to-command", "--checkpoint-action", "--use-compress-program", "--rsh-command", "--info-script", "--new-volume-script"}},
	"rsync": {letters: "e", long: []string{"--rsh", "--rsync-path"}},
	"curl":  {letters: "oOKTJDcw", long: []string{"--engine", "--ssl-sessions", "--write-out", "--stderr", "--libcurl", "--etag-save", "--hsts", "--alt-svc", "--output", "--remote-name", "--remote-name-all", "--config", "--upload-file", "--output-dir", "--dump-header", "--cookie-jar", "--trace", "--trace-ascii"}},
	"wget":  {letters: "OiPeoa", long: []string{"--output-file", "--append-output", "--save-cookies", "--warc-file", "--rejected-log", "--output-document", "--input-file", "--use-askpass", "--post-file", "--body-file", "--directory-prefix", "--config", "--execute"}},
	"man":   {letters: "PH", long: []string{"--pager", "--html"}},
	"date":  {letters: "s", long: []string{"--set"}},
	"cargo": {letters: "C", long: []string{"--config", "--manifest-path", "--target-dir", "--out-dir", "--artifact-dir"}},
	"pnpm":  {letters: "C", long: []string{"--script-shell", "--dir", "--prefix", "--config", "--shell-emulator", "--use-node-version", "--global-dir", "--node-options"}},
	"yarn":  {long: []string{"--cwd", "--script-shell", "--use-yarnrc", "--node-options"}},
	"npm":   {letters: "C", long: []string{"--script-shell", "--prefix", "--userconfig", "--globalconfig", "--git", "--node-options", "--shell", "--editor", "--viewer", "--init-module", "--cache", "--call"}},
	"make":  {assigns: true, letters: "fIEC", long: []string{"--file", "--makefile", "--eval", "--include-dir", "--directory"}},
	"scp":   {letters: "oSF"},
	"sftp":  {letters: "oSFb"},
	"zip":   {letters: "T", long: []string{"--unzip-command"}},
	"split": {long: []string{"--filter"}},
	"pip":   {long: []string{"--index-url", "--extra-index-url", "--trusted-host"}},
	"tree":  {letters: "o", long: []string{"--output"}},
	"xxd":   {letters: "r", long: []string{"-revert"}, reads: 1},
	"uniq":  {reads: 1},
	"file":  {letters: "C", long: []string{"--compile"}},
	"gcc":   compilerRisks, "g++": compilerRisks, "cc": compilerRisks, "c++": compilerRisks, "clang": compilerRisks, "clang++": compilerRisks,
	"openssl": {long: []string{"-out", "-engine", "-provider"}},
	"jq":      {letters: "fL", long: []string{"--from-file"}},
	"yq":      {letters: "i", long: []string{"--inplace"}},
	"less":    {letters: "oOk", plus: true, long: []string{"--log-file", "--lesskey-file", "--lesskey-src", "--lesskey-content"}},
	"more":    {plus: true},
	"bat":     {long: []string{"--pager", "--paging", "--config-file"}},
	"shuf":    {letters: "o", long: []string{"--output", "--random-source"}},
	"iconv":   {letters: "o", long: []string{"--output"}},
	"hg":      {letters: "R", long: []string{"--config", "--repository", "--cwd", "--config-file"}},
	"svn":     {long: []string{"--diff-cmd", "--diff3-cmd", "--editor-cmd", "--config-option", "--config-dir", "--merge-cmd"}},
	"jj":      {letters: "R", long: []string{"--config", "--config-file", "--config-toml", "--repository", "--tool"}},
	"just":    {letters: "fdc", assigns: true, long: []string{"--shell", "--shell-arg", "--shell-command", "--justfile", "--working-directory", "--command", "--chooser", "--set", "--dotenv-path"}},
	"task":    {letters: "dtg", assigns: true, long: []string{"--dir", "--taskfile", "--global"}},
	"mvn":     {letters: "fDst", long: []string{"--file", "--define", "--settings", "--global-settings", "--toolchains"}},
	"gradle":  {letters: "pbcIDPg", long: []string{"--project-dir", "--build-file", "--settings-file", "--init-script", "--include-build", "--system-prop", "--project-prop", "--gradle-user-home"}},
	"pytest":  {letters: "cpo", long: []string{"--rootdir", "--confcutdir", "--config-file", "--override-ini", "--basetemp", "--junitxml", "--pdbcls", "--pyargs"}},
	"javac":   {files: true, letters: "d", long: []string{"-processor", "-processorpath", "--processor-path", "-Xplugin"}},
	"java":    {files: true},
	"rustc":   {files: true, letters: "oC", long: []string{"--out-dir", "--emit"}},
	"ld":      {files: true, letters: "oT", long: []string{"--output", "--plugin", "-plugin", "--script"}},
	"ar":      {files: true},
	"env":     {letters: "S", long: []string{"--split-string"}},
}

// compilerRisks make a C compiler run another program or read its own instructions from a file.
var compilerRisks = risk{letters: "Bo", files: true, long: []string{"-wrapper", "-fplugin", "-specs", "--specs"}}

// goRisks gives both spellings of options of the go command.
func goRisks(names ...string) []string {
	var out []string
	for _, n := range names {
		out = append(out, "-"+n, "--"+n)
	}
	return out
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
		if at+1 < i {
			if more, ok := r.sub[ws[at+1].text]; ok && i < ended && more.is(ws[i]) {
				return true
			}
		}
		return i < ended && r.is(ws[i]) || r.assigns && strings.Contains(ws[i].text, "=") ||
			r.files && strings.HasPrefix(ws[i].text, "@") || r.script && isScript(ws, at, i) && !quietSed.MatchString(ws[i].text) ||
			r.plus && strings.HasPrefix(ws[i].text, "+") ||
			r.bundled && i == at+1 && r.is(word{text: "-" + ws[i].text, literal: true}) || r.reads > 0 && operand(ws, at, i) > r.reads
	}
}

// operand returns the place of the word at i among the operands of the command at at, from 1; 0 for
// an option. An option's own value counts as an operand: that errs on the side of asking.
func operand(ws []word, at, i int) int {
	n := 0
	for _, w := range ws[at+1 : i+1] {
		if w.text == "-" || !strings.HasPrefix(w.text, "-") {
			n++
		}
	}
	if t := ws[i].text; t != "-" && strings.HasPrefix(t, "-") {
		return 0
	}
	return n
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
// commands (e). A backslash or a line break inside could end a part elsewhere than it seems.
var quietSed = regexp.MustCompile(`^(([0-9,$]+|/[^/\\\n]*/)?\s*(s/[^/\\\n]*/[^/\\\n]*/[gpiI0-9]*|s\|[^|\\\n]*\|[^|\\\n]*\|[gpiI0-9]*|s,[^,\\\n]*,[^,\\\n]*,[gpiI0-9]*|[pdqn=])\s*;?\s*)+$`)

// sedExpression reports whether an option of sed takes the next word as a program: -e, also at the
// end of a cluster, and --expression, also abbreviated.
func sedExpression(t string) bool {
	if strings.HasPrefix(t, "--") {
		return len(t) > 2 && strings.HasPrefix("--expression", t)
	}
	return len(t) > 1 && t[0] == '-' && strings.HasSuffix(t, "e")
}

// isScript reports whether the word at i is a program: after -e, as part of an option's own word, or
// the first that is no option.
func isScript(ws []word, at, i int) bool {
	if i-1 > at && sedExpression(ws[i-1].text) {
		return true
	}
	if t := ws[i].text; strings.HasPrefix(t, "-") {
		name, _, value := strings.Cut(t, "=")
		if strings.HasPrefix(t, "--") {
			return value && sedExpression(name)
		}
		e := strings.IndexByte(t, 'e')
		return e > 0 && e < len(t)-1
	}
	for _, w := range ws[at+1 : i] {
		if !strings.HasPrefix(w.text, "-") || sedExpression(w.text) {
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
