package cli

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	goio "io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"parley/agent"
	"parley/agent/credential"
	"parley/agent/model"
	"parley/agent/model/anthropic"
	"parley/agent/model/network"
	"parley/agent/model/offline"
	"parley/agent/model/openai"
	"parley/agent/model/relay"
	"parley/agent/monitor"
	"parley/agent/program"
	"parley/agent/program/checkout"
	"parley/agent/record"
	"parley/persist"
	"parley/toolrt"
	"parley/toolrt/approval"
	"parley/toolrt/command"
	"parley/toolrt/mcp"
	"parley/toolrt/sys"
)

// app is everything a command needs, opened in order and closed in reverse. What can wait waits:
// the keyring until a credential is needed, the model until a turn runs.
type app struct {
	io    streams
	f     *flags
	paths paths
	cfg   config
	log   *slog.Logger
	store *persist.Store
	// notSaved says why nothing is kept; "" when it is.
	notSaved string

	creds     credential.Store
	credsNote string // where secrets are kept, for the person
	redactor  *credential.Redactor
	models    *model.Registry
	builtins  *toolrt.Registry
	// servers are the MCP servers of the settings; untrustedServers says that some are not used.
	servers          map[string]mcp.Config
	untrustedServers string
	// stdin reads a program from stdin, once; nil where stdin belongs to the screen.
	stdin     func() ([]byte, error)
	overrides map[string]map[string]string
	// printed takes what daemons print; nil drops it, so that no screen is disturbed.
	printed goio.Writer

	// transport returns how model servers are reached.
	transport func() *http.Transport

	closers []func() error
	// opened is the id of the chat that was opened last.
	opened atomic.Pointer[string]

	mu       sync.Mutex // guards the fields below, and credsNote
	listener func(line string)
	untold   bool // credsNote has yet to be told

	checkouts   *checkout.Store       // nil until a program is loaded, and without a place for them
	relayServer *relay.Server         // nil until a provider is lent
	borrowed    map[string]agent.Lent // by model
}

// openApp opens the configuration and the store.
func openApp(ctx context.Context, io streams, f *flags) (*app, error) {
	dir, err := workingDir(f.chdir)
	if err != nil {
		return nil, usageError{err}
	}
	if f.openaiKey != "" {
		getenv := io.getenv
		io.getenv = func(name string) string {
			if name == credential.KeyVariable("openai") {
				return f.openaiKey
			}
			return getenv(name)
		}
	}
	a := &app{io: io, f: f, paths: findPaths(io.getenv, dir)}
	configPath := firstSet(f.config, io.getenv("PARLEY_CONFIG"), a.paths.config)
	a.paths.config = configPath
	if a.cfg, err = loadConfig(configPath); err != nil {
		return nil, usageError{err}
	}
	a.fromEnvironment()
	if err := a.openNetwork(); err != nil {
		return nil, err
	}
	a.openLog()
	if a.overrides, err = credential.ParseOverrides(f.overrides, io.getenv); err != nil {
		return nil, errors.Join(usageError{err}, a.close())
	}
	a.redactor = credential.NewRedactor()
	if err := a.openServers(); err != nil {
		return nil, errors.Join(usageError{err}, a.close())
	}
	a.builtins = sys.NewRegistry()
	a.stdin = sync.OnceValues(func() ([]byte, error) {
		if io.source != nil {
			return io.source, nil
		}
		return goio.ReadAll(io.in)
	})
	a.models = model.NewRegistry(openai.New(), anthropic.New(), openai.NewOllama(), offline.New())
	if err := a.openStore(ctx); err != nil {
		return nil, errors.Join(err, a.close())
	}
	a.openCredentials(ctx)
	if f.dumpState != "" {
		a.closers = append(a.closers, func() error { return a.dumpState(context.WithoutCancel(ctx)) })
	}
	return a, nil
}

// close closes what was opened, in reverse.
func (a *app) close() error {
	errs := []error{a.closeRelay()}
	for i := len(a.closers) - 1; i >= 0; i-- {
		errs = append(errs, a.closers[i]())
	}
	a.closers = nil
	return errors.Join(errs...)
}

func firstSet(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// fromEnvironment lets PARLEY_* variables win over the config file.
func (a *app) fromEnvironment() {
	for name, field := range map[string]*string{"PARLEY_MODEL": &a.cfg.Model, "PARLEY_BASE_URL": &a.cfg.BaseURL,
		"PARLEY_CA_FILE": &a.cfg.CAFile, "PARLEY_THEME": &a.cfg.Theme, "PARLEY_MODE": &a.cfg.Mode} {
		*field = firstSet(a.io.getenv(name), *field)
	}
	if a.io.getenv("PARLEY_KEYRING") == "off" {
		off := false
		a.cfg.Keyring = &off
	}
}

// openLog sends the log to a bounded file in the state folder, or nowhere.
func (a *app) openLog() {
	a.log = slog.New(slog.DiscardHandler)
	if a.paths.state == "" {
		return
	}
	file, err := openBounded(filepath.Join(a.paths.state, "parley.log"))
	if err != nil {
		return // a log is no reason not to start
	}
	a.closers = append(a.closers, file.Close)
	a.log = slog.New(slog.NewTextHandler(redactingWriter{a, file}, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

// openStore opens the database. Without a place for it everything is kept in memory.
func (a *app) openStore(ctx context.Context) error {
	if a.f.passing {
		return a.openMemory(ctx)
	}
	path := firstSet(a.f.db, a.io.getenv("PARLEY_DB"))
	if path == "" {
		if err := usable(a.paths.data); err != nil {
			a.notSaved = err.Error()
			return a.openMemory(ctx)
		}
		path = filepath.Join(a.paths.data, "parley.db")
	}
	store, err := persist.Open(ctx, path, persist.Options{OnBusy: a.busy})
	if err != nil {
		return err
	}
	a.store = store
	a.closers = append(a.closers, store.Close)
	return nil
}

func (a *app) openMemory(ctx context.Context) error {
	store, err := persist.OpenMemory(ctx)
	if err != nil {
		return err
	}
	a.store = store
	a.closers = append(a.closers, store.Close)
	return nil
}

func (a *app) busy(waited time.Duration) {
	if waited > 0 {
		a.log.Warn("the database is busy in another process", "waited", waited)
	}
}

// openCredentials opens the credential store. It touches no keyring before a credential is needed.
func (a *app) openCredentials(ctx context.Context) {
	dir := a.paths.data
	if a.notSaved != "" {
		dir = ""
	}
	store, note := credential.Open(ctx, credential.Options{Dir: dir, Getenv: a.io.getenv, Say: a.say,
		DisableKeyring: a.cfg.Keyring != nil && !*a.cfg.Keyring})
	a.creds, a.credsNote = tellingStore{credential.WithEntries(store, a.overrides), a}, note
	a.untold = store.Kind() == "memory"
}

// say keeps what is to be told about the credential store until it matters: when a credential is
// kept. It may be called from any goroutine.
func (a *app) say(line string) {
	a.log.Info(line)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.credsNote, a.untold = line, true
}

// tellStore tells the person, once, where credentials are kept if that is not the usual place.
func (a *app) tellStore() {
	a.mu.Lock()
	listener, line, untold := a.listener, a.credsNote, a.untold
	a.untold = a.untold && listener == nil
	a.mu.Unlock()
	if untold && listener != nil {
		listener(line)
	}
}

// tellingStore says where a credential went when one is kept.
type tellingStore struct {
	credential.Store
	a *app
}

// Put keeps a credential.
func (t tellingStore) Put(ctx context.Context, c credential.Credential) error {
	err := t.Store.Put(ctx, c)
	t.a.tellStore()
	return err
}

// tell says something to whoever listens.
func (a *app) tell(line string) {
	a.mu.Lock()
	listener := a.listener
	a.mu.Unlock()
	if listener != nil {
		listener(line)
	}
}

// listen sends what is said to f from now on.
func (a *app) listen(f func(line string)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.listener = f
}

// keys finds API keys of providers and keeps them out of every output.
func (a *app) keys(ctx context.Context, provider string) (string, error) {
	key, err := credential.Keys(a.creds, a.io.getenv)(ctx, provider)
	if key != "" {
		a.redactor.Add(provider, key)
	}
	return key, err
}

// modelOptions are those with which models are opened.
func (a *app) modelOptions() model.Options {
	return model.Options{Transport: a.transport(), BaseURL: firstSet(a.f.baseURL, a.cfg.BaseURL), Keys: a.keys, Getenv: a.io.getenv,
		DisableRetries: a.io.getenv("GPTSCRIPT_DISABLE_RETRIES") != ""}
}

// openNetwork reads the certificates that are to be trusted beside the system's.
func (a *app) openNetwork() error {
	var roots *x509.CertPool
	if file := a.cfg.CAFile; file != "" {
		var err error
		if roots, err = network.Roots(expand(a.paths.dir, file)); err != nil {
			return usageError{err}
		}
	}
	a.transport = sync.OnceValue(func() *http.Transport { return network.Transport(a.io.getenv, roots) })
	return nil
}

// openModel opens a model with what the command line and the settings say.
func (a *app) openModel(ref, provider string) (model.Model, error) {
	return a.openAt(ref, provider, a.modelOptions())
}

func (a *app) openAt(ref, provider string, o model.Options) (model.Model, error) {
	if name, from, ok := strings.Cut(ref, " from "); ok {
		return a.openFrom(strings.TrimSpace(name), strings.TrimSpace(from), o)
	}
	provider = firstSet(provider, a.f.provider)
	if provider == "" && o.BaseURL != "" {
		provider = "openai"
	}
	return a.models.Open(ref, provider, a.borrow(ref, provider, o))
}

// borrow has the parley that runs this one stand between it and a provider for which there is neither
// key nor address here.
func (a *app) borrow(ref, provider string, o model.Options) model.Options {
	name, _, named := strings.Cut(ref, "/")
	if _, known := a.models.Provider(name); !known || !named {
		name = firstSet(provider, name)
	}
	if o.BaseURL != "" || a.io.getenv(credential.KeyVariable(name)) != "" {
		return o
	}
	ctx, cancel := context.WithTimeout(context.Background(), lendLimit)
	defer cancel()
	lent, ok := a.lent(ctx, name+"/")
	if !ok || lent.Token == "" {
		return o
	}
	o.BaseURL = lent.URL
	o.Keys = func(context.Context, string) (string, error) { return lent.Token, nil }
	return o
}

// opener opens the models of a session: those of its own model's provider at the address that the
// session was begun with, unless the command line gives another one.
func (a *app) opener(row record.Session) func(ref, provider string) (model.Model, error) {
	return func(ref, provider string) (model.Model, error) {
		return a.openAt(ref, provider, a.optionsFor(row, ref, provider))
	}
}

// optionsFor are those with which a session opens a model.
func (a *app) optionsFor(row record.Session, ref, provider string) model.Options {
	o := a.modelOptions()
	own, _, _ := strings.Cut(row.Model, "/")
	if named, _, ok := strings.Cut(ref, "/"); a.f.baseURL == "" && row.BaseURL != "" && (ok && named == own || !ok && (provider == "" || provider == own)) {
		o.BaseURL = row.BaseURL
	}
	return o
}

// chooseModel is the default model: the one that was named, or the best that can be used as things
// are. why is "" for a named one.
func (a *app) chooseModel(ctx context.Context) (ref, why string) {
	if ref := firstSet(a.f.model, a.cfg.Model); ref != "" {
		if m, err := a.openModel(ref, ""); err == nil {
			return m.Ref(), ""
		}
		return ref, ""
	}
	if lent, ok := a.lent(ctx, ""); ok {
		return lent.Model, ""
	}
	o := a.modelOptions()
	choice := model.Choose(ctx, a.models, o, func(ctx context.Context) ([]string, bool) { return openai.Probe(ctx, o) })
	return choice.Ref, choice.Reason
}

// loadProgram reads and links a program; "" is the embedded one.
func (a *app) loadProgram(ctx context.Context, ref, subTool string) (*program.Program, []program.Warning, error) {
	var stdin goio.Reader
	if ref == "-" {
		if a.stdin == nil {
			return nil, nil, errors.New("the program came from stdin, which is the screen's now")
		}
		text, err := a.stdin()
		if err != nil {
			return nil, nil, fmt.Errorf("read the program from stdin: %w", err)
		}
		stdin = bytes.NewReader(text)
	}
	o := program.Options{Dir: a.paths.dir, Stdin: stdin, Builtins: a.builtin, SubTool: subTool,
		Remap: a.io.getenv("GPTSCRIPT_TOOL_REMAP"), OperationCatalogue: a.io.getenv("GPTSCRIPT_OPENAPI_REVAMP") == "true"}
	a.addRepositories(&o)
	if ref == "" {
		o.EntryTools = a.serverRefs()
		return program.LoadSource(ctx, agent.EmbeddedName, assistant, o)
	}
	return program.Load(ctx, ref, o)
}

// loadError says that a program cannot be loaded, and where its file is missing, that.
func (a *app) loadError(ref string, err error) error {
	local := ref != "" && ref != "-" && !strings.Contains(ref, "://") && !strings.Contains(ref, " from ") && !strings.Contains(ref, "github.com/")
	if local {
		if _, statErr := os.Stat(expand(a.paths.dir, ref)); errors.Is(statErr, fs.ErrNotExist) {
			return fmt.Errorf("%w: there is no file %s%s", errProgram, ref, meant(ref))
		}
	}
	return fmt.Errorf("%w: %w", errProgram, err)
}

// meant names the command that a word may have been meant as, "" for none.
func meant(word string) string {
	root := newRoot(streams{})
	root.SuggestionsMinimumDistance = 2 // typing errors
	if near := root.SuggestionsFor(word); len(near) > 0 {
		return "; did you mean parley " + near[0] + "?"
	}
	return ""
}

// builtin is the tool block of a built-in, nil for other names.
func (a *app) builtin(name string) *program.Tool {
	tool, ok := a.builtins.Get(name)
	if !ok {
		return a.serverTool(name)
	}
	spec := tool.Spec()
	return &program.Tool{Name: name, Description: spec.Description, Arguments: spec.Parameters, Instructions: "#!" + name}
}

// newRow is the row of a new session.
func (a *app) newRow(ref, modelRef string) record.Session {
	id := uuid.Must(uuid.NewV7()).String()
	row := record.Session{ID: id, Name: a.f.session, Program: ref, SubTool: a.f.subTool, Dir: a.paths.dir, Model: modelRef, BaseURL: a.modelOptions().BaseURL,
		Mode: firstSet(a.f.mode, a.cfg.Mode, string(approval.ModeAsk)), State: record.StateIdle, Created: time.Now(), Updated: time.Now()}
	if row.Mode == string(approval.ModeAuto) {
		row.Mode = string(approval.ModeAsk) // never kept
	}
	row.Workspace = a.workspace(id)
	return row
}

// workspace is the scratch folder of a session.
func (a *app) workspace(id string) string {
	if named := firstSet(a.f.workspace, a.io.getenv("GPTSCRIPT_WORKSPACE")); named != "" {
		return expand(a.paths.dir, named)
	}
	if a.notSaved != "" || a.paths.data == "" {
		return filepath.Join(os.TempDir(), "parley-workspace-"+id)
	}
	return filepath.Join(a.paths.data, "workspaces", id)
}

// programRef makes the reference to a program absolute where it is a local file, so that the
// session finds it again from anywhere.
func (a *app) programRef(ref string) string {
	if ref == "" || ref == "-" || strings.Contains(ref, "://") || strings.Contains(ref, " from ") || filepath.IsAbs(ref) {
		return ref
	}
	path := filepath.Join(a.paths.dir, filepath.FromSlash(strings.ReplaceAll(ref, `\`, "/")))
	if _, err := os.Stat(path); err == nil {
		return path
	}
	return ref
}

// asker answers questions: the screen, the terminal, or nil for nobody.
type asker interface {
	agent.Authorizer
	agent.Prompter
}

// openSession opens the session of a journal with everything around it.
func (a *app) openSession(ctx context.Context, journal agent.Journal, hub *monitor.Hub, ask asker) (*agent.Session, error) {
	row := journal.Session()
	a.opened.Store(&row.ID)
	if a.f.baseURL != "" && row.BaseURL != a.f.baseURL {
		row.BaseURL = a.f.baseURL
		if err := journal.SaveSession(ctx, row); err != nil {
			return nil, fmt.Errorf("keep the address of the model's server: %w", err)
		}
	}
	policy, err := a.policy(row)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(row.Workspace, 0o700); err != nil {
		return nil, fmt.Errorf("make the workspace: %w", err)
	}
	hooks, err := a.hooks(filepath.Join(row.Dir, ".parley", "config.json"))
	if err != nil {
		return nil, err
	}
	a.sandbox()
	limits := a.cfg.policy()
	limits.Sequential = a.f.sequential
	o := agent.Options{
		Journal: journal, Hub: hub, OpenModel: a.opener(row), OpenVia: a.openVia, Builtins: a.builtins, Policy: policy, Yes: a.f.yes,
		Program: func(ctx context.Context) (*program.Program, error) {
			prg, _, err := a.loadProgram(ctx, row.Program, row.SubTool)
			if err != nil {
				return nil, a.loadError(row.Program, err)
			}
			return prg, nil
		},
		SaveRule: a.saveRule, ForgetRule: a.forgetRule,
		Credentials: a.creds, CredentialContexts: a.f.credentialContexts, Overrides: a.overrides, Redactor: a.redactor,
		Runtime: limits, Processes: processes{dir: journal.OutputDir()}, Jobs: a.jobBook(), Env: a.environment(row.Workspace),
		Servers: a.servers, Version: versionText(), Log: a.log,
		Dir: row.Dir, Workspace: row.Workspace, MaxToolRounds: a.toolRounds(), Loop: a.cfg.loop(), Hooks: hooks, Compaction: a.cfg.Compaction.options(),
		Lend: a.lender(row), Cache: a.toolCache(), SystemTools: a.systemTools(), Debug: a.f.debug,
		CredentialKept: a.tellStore, PassSecrets: newRemote(a.io.getenv) != nil,
		Undo:   a.undoLog(row.ID),
		Rescue: func(rows record.Rows) (string, error) { return persist.Rescue(a.paths.state, rows) },
	}
	if o.Daemons, err = a.daemons(); err != nil {
		return nil, err
	}
	a.tellLeftovers()
	if ask != nil {
		o.Authorizer, o.Prompter = ask, ask
	}
	return agent.Open(ctx, o)
}

// toolCache is the folder for what is made for tools before they run, "" without a home. It is none of
// the user's caches: confined commands may write there.
func (a *app) toolCache() string {
	if a.paths.data == "" {
		return ""
	}
	return filepath.Join(a.paths.data, "tools")
}

// systemTools are the folders for whose tools nothing is made.
func (a *app) systemTools() []string {
	given := firstSet(a.f.systemTools, a.io.getenv("GPTSCRIPT_SYSTEM_TOOLS_DIR"))
	var dirs []string
	for _, dir := range strings.FieldsFunc(given, func(r rune) bool { return strings.ContainsRune(";,"+string(filepath.ListSeparator), r) }) {
		dirs = append(dirs, expand(a.paths.dir, strings.TrimSpace(dir)))
	}
	return dirs
}

// environment is what the program's commands start from: the process's own, without the keys of
// model providers and parley's own secrets.
func (a *app) environment(workspace string) []string {
	env := command.StripProviderKeys(os.Environ())
	kept := env[:0:0]
	for _, v := range env {
		if !strings.HasPrefix(v, "PARLEY_PASSPHRASE=") {
			kept = append(kept, v)
		}
	}
	for k, v := range a.cfg.Env {
		kept = append(kept, k+"="+v)
	}
	if bin, err := os.Executable(); err == nil {
		kept = append(kept, "GPTSCRIPT_BIN="+bin)
	}
	return append(kept, "GPTSCRIPT_WORKSPACE_DIR="+workspace, "GPTSCRIPT_WORKSPACE_ID=directory://"+workspace)
}

func (a *app) toolRounds() int {
	n := a.cfg.Limits.ToolRounds
	if text := a.io.getenv("GPTSCRIPT_MAX_CONSECUTIVE_TOOL_CALLS"); text != "" {
		if _, err := fmt.Sscan(text, &n); err != nil || n < 0 {
			n = 0
		}
	}
	return n
}

// policy is the approval policy of a session: its mode, and the rules of the command line, the
// project and the user.
func (a *app) policy(row record.Session) (*approval.Policy, error) {
	mode := approval.Mode(firstSet(a.f.mode, row.Mode))
	p := approval.New(row.Dir, row.Workspace, mode)
	for effect, texts := range map[approval.Effect][]string{approval.Allow: a.f.allow, approval.Deny: a.f.deny} {
		for _, t := range texts {
			rule, err := approval.ParseRule(effect, t, approval.Flag)
			if err != nil {
				return nil, usagef("--%s %q: %w", effect, t, err)
			}
			p.Add(rule)
		}
	}
	rules, errs := approval.Load(filepath.Join(row.Dir, ".parley", "config.json"), a.paths.config, a.trusted)
	for _, err := range errs {
		untrusted, ok := errors.AsType[*approval.UntrustedError](err)
		if !ok {
			return nil, usageError{err}
		}
		a.tell(fmt.Sprintf("allow rules of %s have no effect until you trust it: parley config trust", untrusted.File))
	}
	if a.untrustedServers != "" {
		a.tell(a.untrustedServers)
	}
	for _, r := range rules {
		p.Add(r)
	}
	return p, nil
}

// goosName is for doctor.
func goosName() string { return runtime.GOOS + "/" + runtime.GOARCH }
