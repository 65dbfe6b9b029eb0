package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/agent/credential"
	"parley/agent/model"
	"parley/agent/monitor"
	"parley/agent/program"
	"parley/agent/record"
	"parley/toolrt"
	"parley/toolrt/approval"
	"parley/toolrt/command"
	"parley/toolrt/mcp"
	"parley/toolrt/sys"
	"parley/toolrt/undo"
)

// EmbeddedName is the name of the program inside the binary.
const EmbeddedName = "parley"

// Errors of a session.
var (
	// ErrBusy says that a turn runs already.
	ErrBusy = errors.New("a turn is running")
	// ErrClosed says that the session was closed.
	ErrClosed = errors.New("the session is closed")
	// errClosing is the cause of a turn's context when the session is closed: the turn stays open.
	errClosing = errors.New("parley was quit")
)

// Options is what a session needs of its surroundings. Journal, Program, OpenModel and Policy
// must be set.
type Options struct {
	Journal Journal
	Hub     *monitor.Hub // nil: nobody watches
	// Program reads the program anew; it is called before each turn.
	Program func(ctx context.Context) (*program.Program, error)
	// OpenModel opens a model; a ref without provider goes to the given one.
	OpenModel func(ref, provider string) (model.Model, error)
	// OpenVia opens a model whose provider is a tool of the program (4.9): through wraps what carries
	// its requests, which have yet to get host and port. Nil: such models cannot be opened.
	OpenVia func(name string, through func(next http.RoundTripper) http.RoundTripper) (model.Model, error)
	// Builtins are the tools that programs use by name; nil means parley's own.
	Builtins *toolrt.Registry
	Policy   *approval.Policy
	// SaveRule keeps a rule of scope project or user; nil: such rules last for the session.
	SaveRule func(ctx context.Context, r approval.Rule) error
	// ForgetRule takes such a rule out of where it is kept; nil: it comes back with the next session.
	ForgetRule func(ctx context.Context, r approval.Rule) error
	// Yes answers every question about a call with yes, protected targets aside.
	Yes bool

	// Credentials, CredentialContexts and Overrides are the credential stores as on the command
	// line. A nil store keeps nothing.
	Credentials        credential.Store
	CredentialContexts []string
	Overrides          map[string]map[string]string
	// Lend lends the provider of a model to a command, or to a parley that a command runs. Nil lends
	// none.
	Lend func(ctx context.Context, ref string) (Lent, error)
	// CredentialKept is told when a credential was kept for longer than its call; may be nil.
	CredentialKept func()
	// Redactor hides secret values; nil hides nothing.
	Redactor Redactor

	Authorizer Authorizer // nil: nobody can be asked
	Prompter   Prompter   // nil: nobody can be asked

	// PassSecrets says that sensitive answers are handed on as they are: this process is itself
	// the command of a tool, and the one that runs the tool keeps them secret.
	PassSecrets bool

	Runtime toolrt.Policy
	// Cache is the folder for what is made for tools before they run (virtual environments of Python
	// tools); "" makes nothing. Nothing is made for tools below the folders of SystemTools.
	Cache       string
	SystemTools []string
	// Debug tells commands by GPTSCRIPT_DEBUG that they are looked at closely.
	Debug bool
	// Servers are the MCP servers of the settings by name. They are started when they are needed, and
	// end with the session.
	Servers map[string]mcp.Config
	Version string       // of parley, told to MCP servers
	Log     *slog.Logger // nil logs nothing
	// Daemons say how "#!sys.daemon" tools are run; they end with the session.
	Daemons command.DaemonOptions
	// Jobs remembers commands in the background; nil: after a crash they are not found.
	Jobs JobBook
	// Processes finds the process group of an execution by the name of its output.
	Processes Processes
	Env       []string // environment of the program
	Dir       string   // working folder
	Workspace string
	// MaxToolRounds is the limit of 4.5; zero means 50.
	MaxToolRounds int
	// Compaction says when a long chat is summed up for its model.
	Compaction Compaction
	// Hooks are the person's own commands around calls.
	Hooks Hooks
	// Loop says when an agent goes round in circles.
	Loop LoopPolicy
	// Undo keeps what tools do to files, so that a turn can be taken back; nil keeps nothing.
	Undo *undo.Log
	// Rescue keeps rows that could not be committed and returns where; nil drops them.
	Rescue func(rows record.Rows) (string, error)
	Now    func() time.Time // nil: time.Now
}

// Lent is how a command reaches the provider of a model for as long as the session is open.
type Lent struct {
	Model  string `json:"model"`  // "provider/name"
	URL    string `json:"url"`    // base URL on this machine
	Token  string `json:"token"`  // in place of the key
	OpenAI bool   `json:"openai"` // it speaks OpenAI's protocol
}

// Redactor hides secret values and learns new ones.
type Redactor interface {
	toolrt.Redactor
	// Add makes a value known; short says that it is too short to be found safely.
	Add(name, value string) (short bool)
}

// noSecrets is the redactor of a session that is given none.
type noSecrets struct{}

func (noSecrets) Redact(text string) string   { return text }
func (noSecrets) Longest() int                { return 0 }
func (noSecrets) Add(name, value string) bool { return false }

// Keep lists where a credential may be kept, best first.
func (o *Options) Keep() []string {
	if o.Credentials == nil || o.Credentials.Kind() == "memory" {
		return []string{"session", "call"}
	}
	return []string{o.Credentials.Kind(), "session", "call"}
}

// Response is what a turn came to.
type Response struct {
	// Done says that the program has finished; the next message starts it afresh.
	Done    bool
	Content string
	// Agent is the name of the agent that spoke last, ToolID the id of its tool; empty when Done.
	Agent  string
	ToolID string
	// Denied says that a call was denied because nobody could be asked.
	Denied bool
}

// Session is one saved chat, open for writing in this process. Its methods are safe for concurrent
// use; one turn runs at a time. Close it when done.
type Session struct {
	o       Options
	journal Journal
	policy  *approval.Policy
	runtime *toolrt.Runtime
	daemons *command.Daemons
	mcp     *mcp.Servers
	reader  *program.Tool // of cut outputs, nil if there is none
	shell   *program.Tool // for commands of the person, nil if there is none

	mu            sync.Mutex // guards the fields below
	turn          *turn      // the running one
	cancel        context.CancelCauseFunc
	idle          chan struct{} // closed when no turn runs
	last          record.Turn   // the newest turn
	hasLast       bool
	resolved      map[record.Key]resolution
	doubts        []OpenCall
	model         string
	steer         []string
	handed        int             // messages handed over in the open turn
	texts         map[string]bool // known to be in the store
	conversations map[string]*conversation
	credentials   map[string]cachedCredential
	rules         map[int]func() // called when rules change
	nextRule      int
	waits         int // questions open
	past          []pastCall
	recalled      bool                      // past has what earlier processes judged
	noRoom        map[string]int            // failures to sum up a conversation, by call path
	providers     map[string]providerServer // that are tools, by their ids
	toldOnce      map[string]bool           // what is said once in a session
	refused       map[string]bool           // tools of MCP servers that the person did not let start
	hookRuns      map[hookKey]HookState
	server        *promptServer // nil until a command could ask
	closed        bool
	credLock      chan struct{} // one credential at a time (5.10)
}

// Open returns the session of a journal. It reads no more than the last turn.
func Open(ctx context.Context, o Options) (*Session, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Hub == nil {
		o.Hub = &monitor.Hub{}
	}
	if o.Redactor == nil {
		o.Redactor = noSecrets{}
	}
	if o.Builtins == nil {
		o.Builtins = sys.NewRegistry()
	}
	idle := make(chan struct{})
	close(idle)
	s := &Session{o: o, journal: o.Journal, policy: o.Policy, idle: idle, model: o.Journal.Session().Model,
		texts: map[string]bool{}, conversations: map[string]*conversation{}, rules: map[int]func(){}, noRoom: map[string]int{}, toldOnce: map[string]bool{}, providers: map[string]providerServer{}, refused: map[string]bool{}, hookRuns: map[hookKey]HookState{},
		resolved: map[record.Key]resolution{}, credentials: map[string]cachedCredential{}, credLock: make(chan struct{}, 1)}
	s.daemons = command.NewDaemons(o.Daemons)
	s.mcp = mcp.New(mcp.Options{Settings: o.Servers, Changed: func() { s.emit(monitor.Event{Type: monitor.ServersChanged}) }, Version: o.Version, Log: o.Log})
	s.reader, s.shell = builtinTool(o.Builtins, sys.ReadOutput), builtinTool(o.Builtins, shellTool)
	s.runtime = toolrt.New(toolrt.Options{Policy: o.Runtime, Changes: s.changes(), Approver: dispatch{s}, Recorder: dispatch{s}, Observer: dispatch{s},
		Redactor: o.Redactor, OutputDir: o.Journal.OutputDir(), ReadTool: readTool(s.reader), OnJob: s.jobChanged, Applied: command.Applied, Now: o.Now})
	last, err := o.Journal.LastTurn(ctx)
	switch {
	case errors.Is(err, ErrNotFound):
	case err != nil:
		return nil, fmt.Errorf("read last turn: %w", err)
	default:
		s.last, s.hasLast = last, true
	}
	if s.Unfinished() {
		if s.doubts, err = s.inDoubt(ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Row returns the session's row as last written.
func (s *Session) Row() record.Session { return s.journal.Session() }

// Events subscribes to what happens in the session.
func (s *Session) Events() *monitor.Reader { return s.o.Hub.Subscribe() }

// Send runs a turn with the text as the person's message. The message is stored before anything
// else happens. If the last turn was cut off, it is gone on with and the text handed over to it:
// calls in doubt are answered "interrupted". If the text finds no place in it, it is a turn of its
// own, whose response is returned; how the other one ended stands in the conversation.
//
// The error is non-nil when the turn failed; what had come in is kept and the next Send goes on
// from there. It is ErrNobody when the turn waits for a person and nobody is there: the turn stays
// open. An interrupted turn is no error.
func (s *Session) Send(ctx context.Context, text string) (Response, error) {
	if s.Unfinished() {
		s.handOver(text)
		return s.resumeWith(ctx)
	}
	return s.run(ctx, func(ctx context.Context) (*turn, error) { return s.newTurn(ctx, plainText(text)) })
}

// resumeWith goes on with a turn that was cut off, and then with what was handed over to it but
// found no place in it: it had all its replies, or cannot be walked again.
func (s *Session) resumeWith(ctx context.Context) (Response, error) {
	resp, err := s.Resume(ctx)
	if s.Unfinished() || s.LastStatus() == record.TurnAborted || ctx.Err() != nil || errors.Is(err, ErrBusy) || errors.Is(err, ErrClosed) {
		return resp, err
	}
	left := s.LeftOver()
	if len(left) == 0 {
		return resp, err
	}
	return s.Send(ctx, strings.Join(left, "\n\n"))
}

// Resume goes on with a turn that was cut off. With none it returns an empty response.
func (s *Session) Resume(ctx context.Context) (Response, error) {
	if !s.Unfinished() {
		return Response{}, nil
	}
	return s.run(ctx, s.oldTurn)
}

// Back ends the inner chat with the text as its result and goes on with the outer one. Without an
// inner chat it is an error.
func (s *Session) Back(ctx context.Context, text string) (Response, error) {
	st, err := s.state()
	if err != nil {
		return Response{}, err
	}
	if st == nil || st.Open == "" {
		return Response{}, errors.New("there is no inner chat to go back from")
	}
	return s.Send(ctx, strings.TrimSpace(backCommand+" "+text))
}

// backCommand begins the input of a turn that ends the inner chat.
const backCommand = "/back"

// run makes a turn and walks it, one at a time.
func (s *Session) run(ctx context.Context, prepare func(ctx context.Context) (*turn, error)) (Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	release, err := s.claim(cancel)
	if err != nil {
		return Response{}, err
	}
	defer release()
	t, err := prepare(ctx)
	if err != nil {
		return Response{}, err
	}
	s.mu.Lock()
	s.turn = t
	s.mu.Unlock()
	return t.walk(ctx)
}

// claim makes the session busy until the returned function runs; cancel interrupts what it is busy
// with.
func (s *Session) claim(cancel context.CancelCauseFunc) (release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.idle:
	default:
		return nil, ErrBusy
	}
	if s.closed {
		return nil, ErrClosed
	}
	idle := make(chan struct{})
	s.idle, s.cancel = idle, cancel
	return func() {
		s.mu.Lock()
		s.turn, s.cancel = nil, nil
		s.mu.Unlock()
		close(idle)
	}, nil
}

// Interrupt cancels the running turn: its stream and commands end, what had come is kept.
func (s *Session) Interrupt() { s.stop(errInterrupted) }

func (s *Session) stop(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		s.cancel(cause)
	}
}

// CancelCall cancels one running call of the turn.
func (s *Session) CancelCall(path string) { s.runtime.Cancel(path) }

// Close ends the running turn, which stays open and can be gone on with, and releases the session.
func (s *Session) Close() error {
	s.mu.Lock()
	s.closed = true
	idle := s.idle
	s.mu.Unlock()
	s.stop(errClosing)
	<-idle
	err := s.runtime.Close()
	s.daemons.Close()
	s.mcp.Close()
	s.mu.Lock()
	server := s.server
	s.mu.Unlock()
	if server != nil {
		err = errors.Join(err, server.close())
	}
	return errors.Join(err, s.journal.Close())
}

// Steer hands a message over to the running turn; it enters before the next model call. It is
// stored first, so that a crash does not lose it. False means that no turn runs.
func (s *Session) Steer(text string) bool {
	s.mu.Lock()
	running := s.turn != nil
	s.mu.Unlock()
	if running {
		s.handOver(text)
	}
	return running
}

// handOver stores a message for the open turn and queues it.
func (s *Session) handOver(text string) {
	text = s.redact(strings.ToValidUTF8(text, "\uFFFD"))
	s.mu.Lock()
	key := record.Key{Turn: s.last.Number, Path: steerPath, Ordinal: s.handed}
	s.handed++
	s.steer = append(s.steer, text)
	s.mu.Unlock()
	result, _ := json.Marshal(text) // a string
	e := record.Entry{Key: key, Kind: record.EntrySteer, Result: result, Finished: true, Repeatable: true, Started: s.now(), Ended: s.now()}
	if err := s.journal.Finish(context.Background(), &e, record.Rows{Durable: true}); err != nil {
		s.emit(monitor.Event{Type: monitor.Notice, Text: "the message could not be stored yet: " + err.Error()})
	}
}

// steerPath is the path under which messages handed over are stored as they come; where each enters
// the turn is an effect of the call it enters.
const steerPath = "steer"

// undelivered queues the messages of an unfinished turn that were handed over but had not entered
// it.
func (s *Session) undelivered(entries []record.Entry) {
	var came []string
	delivered := 0
	for _, e := range entries {
		switch {
		case e.Kind != record.EntrySteer:
		case e.Key.Path == steerPath:
			var text string
			if json.Unmarshal(e.Result, &text) == nil {
				came = append(came, text)
			}
		default:
			delivered++
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handed = len(came)
	s.steer = came[min(delivered, len(came)):]
}

func (s *Session) takeSteer() (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.steer) == 0 {
		return "", false
	}
	text := s.steer[0]
	s.steer = s.steer[1:]
	return text, true
}

func (s *Session) untakeSteer(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text != "" {
		s.steer = append([]string{text}, s.steer...)
	}
}

// LeftOver returns messages handed over too late to enter their turn, and forgets them.
func (s *Session) LeftOver() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := s.steer
	s.steer = nil
	return left
}

// Unfinished reports whether the last turn was cut off and waits for Resume or Send.
func (s *Session) Unfinished() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hasLast && s.last.Status == record.TurnOpen && s.turn == nil
}

// SetMode changes the approval mode.
func (s *Session) SetMode(mode string) error {
	switch approval.Mode(mode) {
	case approval.ModeAsk, approval.ModeEdits, approval.ModePlan, approval.ModeAuto:
	default:
		return fmt.Errorf("mode %q is none of ask, edits, plan, auto", mode)
	}
	s.policy.SetMode(approval.Mode(mode))
	s.rulesChanged()
	if mode == string(approval.ModeAuto) {
		return nil // never kept
	}
	return s.saveRow(context.Background(), func(row *record.Session) { row.Mode = mode })
}

// SetModel changes the model from the next turn on.
func (s *Session) SetModel(ref string) error {
	m, err := s.o.OpenModel(ref, "")
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.model = m.Ref()
	s.mu.Unlock()
	return s.saveRow(context.Background(), func(row *record.Session) { row.Model = m.Ref() })
}

// SetEffort sets how much models are to think, from the next turn on.
func (s *Session) SetEffort(e model.Effort) error {
	return s.saveRow(context.Background(), func(row *record.Session) { row.Effort = e })
}

// Keep stores the draft, the queued messages and the panel's state.
func (s *Session) Keep(ctx context.Context, draft string, queue []string, panel string) error {
	return s.saveRow(ctx, func(row *record.Session) { row.Draft, row.Queue, row.Panel = draft, queue, panel })
}

// saveRow changes the session's row.
func (s *Session) saveRow(ctx context.Context, change func(*record.Session)) error {
	row := s.journal.Session()
	change(&row)
	if err := s.journal.SaveSession(ctx, row); err != nil {
		return fmt.Errorf("save session: %w", err)
	}
	return nil
}

func (s *Session) setState(ctx context.Context, state record.SessionState) {
	if err := s.saveRow(ctx, func(row *record.Session) { row.State = state }); err != nil {
		s.emit(monitor.Event{Type: monitor.Notice, Text: err.Error()})
	}
}

// state returns the chat state after the last turn, nil when the program starts afresh.
func (s *Session) state() (*callState, error) {
	s.mu.Lock()
	raw := s.last.State
	s.mu.Unlock()
	return decodeState(raw)
}

func decodeState(raw json.RawMessage) (*callState, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	st := &callState{}
	if err := json.Unmarshal(raw, st); err != nil {
		return nil, fmt.Errorf("read chat state: %w", err)
	}
	return st, nil
}

// commandTimeout bounds a "#!" command that names no limit of its own.
func (s *Session) commandTimeout() time.Duration { return s.o.Runtime.WithDefaults().CommandTimeout }

func (s *Session) now() time.Time { return s.o.Now() }

func (s *Session) emit(e monitor.Event) {
	e.Time = s.now()
	s.o.Hub.Event(e)
}

// redact replaces secret values.
func (s *Session) redact(text string) string { return s.o.Redactor.Redact(text) }

func (s *Session) redactMessage(m model.Message) model.Message {
	m.Content = slices.Clone(m.Content)
	for i, p := range m.Content {
		m.Content[i].Text = s.redact(p.Text)
		if p.ToolCall != nil {
			tc := *p.ToolCall
			tc.Function.Arguments = s.redact(tc.Function.Arguments)
			m.Content[i].ToolCall = &tc
		}
	}
	return m
}

// addSecret makes a value known to the redactor; one that is too short to be found is said once.
func (s *Session) addSecret(name, value string) {
	if short := s.o.Redactor.Add(name, value); short {
		s.emit(monitor.Event{Type: monitor.Notice,
			Text: fmt.Sprintf("the secret %s is shorter than 8 characters: it cannot be found and hidden in outputs", name)})
	}
}

// newText reports whether a text is not known to be in the store yet.
func (s *Session) newText(hash string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts[hash] {
		return false
	}
	s.texts[hash] = true
	return true
}

// onRules calls f whenever rules or the mode change, until the returned function runs.
func (s *Session) onRules(f func()) (forget func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.nextRule
	s.nextRule++
	s.rules[id] = f
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.rules, id)
	}
}

func (s *Session) rulesChanged() {
	s.mu.Lock()
	waiting := slices.Collect(maps.Values(s.rules))
	s.mu.Unlock()
	for _, f := range waiting {
		f()
	}
}

// openModel opens a model by name; without a provider in it, the default model's provider has it.
func (s *Session) openModel(ref string, def model.Model) (model.Model, error) {
	provider, _, _ := strings.Cut(def.Ref(), "/")
	return s.o.OpenModel(ref, provider)
}

// dispatch passes what the runtime asks on to the running turn.
type dispatch struct{ s *Session }

func (d dispatch) turn() *turn {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return d.s.turn
}

func (d dispatch) Approve(ctx context.Context, c *toolrt.Call) (toolrt.Decision, error) {
	return d.turn().Approve(ctx, c)
}

func (d dispatch) Do(ctx context.Context, e toolrt.Execution, run func(ctx context.Context) *toolrt.Outcome) (*toolrt.Outcome, error) {
	return d.turn().Do(ctx, e, run)
}

func (d dispatch) Output(c *toolrt.Call, chunk string) {
	if t := d.turn(); t != nil {
		t.Output(c, chunk)
	}
}

// LastStatus is how the newest turn stands, "" when there is none.
func (s *Session) LastStatus() record.TurnStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last.Status
}
