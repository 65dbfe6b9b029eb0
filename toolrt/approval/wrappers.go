package approval

// wrapper is a command that runs the command in its arguments (A7).
type wrapper struct {
	flags   string   // single-letter options without a value
	values  string   // single-letter options with a value
	long    []string // long options without a value, or with one after "="
	longVal []string // long options with a value in the next word
	operand int      // words before the command
	assigns bool     // NAME=value before the command
	number  bool     // -5 is an option
	kept    bool     // the wrapper counts: only a rule that names it covers it
	adds    bool     // adds words to the command
}

// wrappers are the commands that are looked into. Everything here runs its argument as it stands.
var wrappers = map[string]wrapper{
	"env":        {flags: "i0v", values: "u", long: []string{"--ignore-environment", "--null", "--debug", "--unset"}, assigns: true},
	"nohup":      {},
	"setsid":     {flags: "cfw", long: []string{"--ctty", "--fork", "--wait"}},
	"time":       {flags: "pvlq", long: []string{"--portability", "--verbose", "--quiet"}},
	"timeout":    {flags: "v", values: "sk", long: []string{"--preserve-status", "--foreground", "--verbose", "--signal", "--kill-after"}, longVal: []string{"--signal", "--kill-after"}, operand: 1},
	"gtimeout":   {flags: "v", values: "sk", long: []string{"--preserve-status", "--foreground", "--verbose", "--signal", "--kill-after"}, operand: 1},
	"nice":       {values: "n", long: []string{"--adjustment"}, longVal: []string{"--adjustment"}, number: true},
	"ionice":     {flags: "t", values: "cn", long: []string{"--ignore", "--class", "--classdata"}},
	"chrt":       {flags: "abfior", operand: 1},
	"taskset":    {flags: "c", operand: 1},
	"stdbuf":     {values: "ioe", long: []string{"--input", "--output", "--error"}},
	"unbuffer":   {flags: "p"},
	"caffeinate": {flags: "dimsu"},
	"xargs": {flags: "0rtx", values: "nPdLsEI", long: []string{"--null", "--no-run-if-empty", "--verbose", "--exit", "--max-args", "--max-procs", "--delimiter",
		"--max-lines", "--max-chars", "--replace"}, longVal: []string{"--max-args", "--max-procs", "--delimiter", "--max-lines", "--max-chars"}, adds: true},
	"command": {flags: "p"},
	"builtin": {},
	"exec":    {flags: "cl"},
	"sudo":    {flags: "nEHkSb", values: "ugCpU", long: []string{"--non-interactive", "--preserve-env", "--set-home", "--user", "--group"}, longVal: []string{"--user", "--group"}, assigns: true, kept: true},
	"doas":    {flags: "nL", values: "uC", kept: true},
}

// shells run the text after -c.
var shells = []string{"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash"}

// runners run other commands in ways that are not looked into: only an exact rule covers them.
var runners = []string{
	"ssh", "su", "runuser", "pkexec", "chroot", "unshare", "nsenter", "parallel", "watch", "strace", "ltrace", "script", "flock",
	"busybox", "toybox", "gdb", "lldb", "entr", "expect", "screen", "tmux", "at", "batch", "crontab", "systemd-run", "start-stop-daemon",
	"docker", "podman", "nerdctl", "kubectl", "oc", "lxc", "vagrant", "firejail", "bwrap", "proot", "osascript", "cmd", "powershell", "pwsh",
	"fish", "csh", "tcsh", "elvish", "nu", "xonsh", "socat", "nc", "ncat", "netcat", "vim", "vi", "nvim", "emacs", "ed", "ex", "hash", "enable",
}

// declares are commands whose words may be assignments.
var declares = []string{"export", "readonly", "declare", "typeset", "local"}

// namers are commands that set the variables which they name.
var namers = []string{"read", "mapfile", "readarray", "getopts", "unset"}

// interpreters run code; without a file named they take it from their input.
var interpreters = []string{"python", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "luajit", "tclsh", "awk", "gawk", "mawk", "nawk", "Rscript", "R", "julia", "osascript", "psql", "mysql", "sqlite3", "bc", "jshell", "groovy", "scala", "ghci", "irb", "iex", "erl", "m4", "gnuplot", "octave"}
