package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"parley/toolrt/command"
)

// flags are the flags of all commands that run programs.
type flags struct {
	model, baseURL     string
	sequential         bool
	workspace, chdir   string
	subTool            string
	credentialContexts []string
	overrides          []string
	theme, db, config  string

	yes           bool
	allow, deny   []string
	mode          string
	sandbox       string
	onInterrupted string
	session       string
	output        string
	message       string // -p
	quiet         bool
	eventsTo      string

	goOn   bool   // --continue
	resume string // --resume
	ascii  bool
	plain  bool

	inputFile   string // --input
	outputFile  string // -o
	provider    string // --default-model-provider
	openaiKey   string // --openai-api-key
	debug       bool
	ports       string // --ports
	enterprise  string // --github-enterprise-hostname
	systemTools string // --system-tools-dir
	chatState   string // --chat-state: a file, a state, a response, or null
	saveState   string // --save-chat-state-file: a file, or - for stdout
	dumpState   string // --dump-state: a file
	listTools   bool   // --list-tools
	listModels  bool   // --list-models

	// update takes the repositories that a program refers to anew (check --update).
	update bool

	// passing says that nothing of the run is kept.
	passing bool
}

// pickSession is what --resume without a value means: choose from a list.
const pickSession = "?"

// common adds the flags that every command takes.
func (f *flags) common(fs *pflag.FlagSet) {
	fs.StringVar(&f.model, "model", "", "the default `PROVIDER/NAME` (a tool's own Model: wins)")
	fs.StringVar(&f.baseURL, "base-url", "", "the address `URL` of the provider's API")
	fs.BoolVar(&f.sequential, "sequential", false, "run one call after the other")
	fs.StringVar(&f.workspace, "workspace", "", "the scratch `DIR` that tools find in GPTSCRIPT_WORKSPACE_DIR")
	fs.StringVarP(&f.chdir, "chdir", "C", "", "work in `DIR`")
	fs.StringVar(&f.subTool, "sub-tool", "", "start with the tool of that `NAME` in the file")
	fs.StringSliceVar(&f.credentialContexts, "credential-context", nil, "credential contexts `A,B`; the first one is written")
	fs.StringArrayVar(&f.overrides, "credential-override", nil, "take `NAME:VAR=VALUE` instead of a stored credential")
	fs.StringVar(&f.ports, "ports", "", "the ports `FROM-TO` that the daemons of programs may listen on")
	fs.StringVar(&f.db, "db", "", "the database `PATH`")
	fs.StringVar(&f.config, "config", "", "the config file `PATH`")
	f.gptscript(fs)
}

// stored adds the flags of commands that run no program: those of running ones are taken, as scripts
// may pass them to any command, but not shown.
func (f *flags) stored(fs *pflag.FlagSet) {
	f.common(fs)
	hide(fs, []string{"model", "base-url", "sequential", "workspace", "sub-tool", "credential-context", "credential-override", "ports"})
}

// approvals adds the flags about what may run.
func (f *flags) approvals(fs *pflag.FlagSet) {
	fs.BoolVar(&f.yes, "yes", false, "answer every question about a call with yes (deny rules and protected targets hold)")
	fs.StringArrayVar(&f.allow, "allow", nil, "allow calls that `RULE` covers, e.g. 'sys.exec(go test *)'")
	fs.StringArrayVar(&f.deny, "deny", nil, "deny calls that `RULE` covers")
	fs.StringVar(&f.mode, "mode", "", "approval `MODE`: ask, edits, plan or auto")
	fs.StringVar(&f.sandbox, "sandbox", "", "confine commands that nobody was asked about: `PROFILE` is off, workspace-write or read-only, with ,no-network or ,always behind it")
}

// headless adds the flags of runs without a screen.
func (f *flags) headless(fs *pflag.FlagSet) {
	fs.StringVar(&f.session, "session", "", "the chat of that `NAME`: each run adds a turn")
	fs.StringVar(&f.output, "output", "text", "`FORM` of stdout: text, json (one object at the end) or events (one JSON a line)")
	fs.StringVarP(&f.outputFile, "output-file", "o", "", "write the result to `FILE` instead of stdout; - is stdout")
	fs.StringVarP(&f.inputFile, "input", "f", "", "read the input from `FILE`; - is stdin")
	fs.StringVar(&f.onInterrupted, "on-interrupted", "report", "what becomes of calls that a crash cut off: `WHAT` is rerun, report or fail")
	fs.StringVar(&f.chatState, "chat-state", "", "go on from this chat state: a `FILE`, the JSON itself, or null to begin")
	fs.StringVar(&f.saveState, "save-chat-state-file", "", "keep the chat state in `FILE` after the turn; - prints the response with it")
	f.gptscriptRun(fs)
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "no progress on stderr")
	fs.StringVar(&f.eventsTo, "events-stream-to", "", "append every event to `FILE`, or fd://N")
}

// check finds wrong values early, each with what would be right.
func (f *flags) check() error {
	one := func(name, value string, allowed ...string) error {
		if value == "" || slices.Contains(allowed, value) {
			return nil
		}
		return usagef("--%s %q: it must be one of %s", name, value, strings.Join(allowed, ", "))
	}
	if f.resultFile() == "" && f.output != "-" {
		if err := one("output", f.output, outputForms...); err != nil {
			return usagef("%w (-o FILE writes the result to a file)", err)
		}
	}
	if err := one("on-interrupted", f.onInterrupted, "rerun", "report", "fail"); err != nil {
		return err
	}
	if f.ports != "" {
		if _, err := command.ParsePorts(f.ports); err != nil {
			return usagef("--ports: %w", err)
		}
	}
	if _, err := parseSandbox(f.sandbox); err != nil {
		return usagef("--sandbox %q: %w", f.sandbox, err)
	}
	return one("mode", f.mode, "ask", "edits", "plan", "auto")
}

// usageError is a mistake in the call: exit code 2.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func (e usageError) Unwrap() error { return e.error }
