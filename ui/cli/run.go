package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"parley/agent"
	"parley/agent/monitor"
	"parley/agent/record"
	"parley/toolrt/sys"
	"parley/ui/tui/text"
)

// runTurn runs one turn without a screen and prints what came of it, or writes it to the file of -o.
func runTurn(ctx context.Context, io streams, f *flags, ref, input string) error {
	input, err := f.readInput(io, input)
	if err != nil {
		return err
	}
	return withResult(ctx, io, f, func(ctx context.Context, io streams) error { return runTurnTo(ctx, io, f, ref, input) })
}

func runTurnTo(ctx context.Context, io streams, f *flags, ref, input string) (err error) {
	if _, ok := sys.New(ref); ok && f.session == "" {
		// A built-in by itself is what the person, or a tool's script, wants done now: there is no
		// chat to keep, and the call was given on the command line.
		f.passing, f.yes = true, true
	}
	a, err := openApp(ctx, io, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	h := &headless{a: a, hub: &monitor.Hub{}}
	if err := h.open(ctx, ref, input); err != nil {
		return err
	}
	return h.run(ctx, input)
}

// headless is a turn without a screen.
type headless struct {
	a       *app
	hub     *monitor.Hub
	session *agent.Session
	journal agent.Journal
	console *console
	// progress writes what happens to stderr; nil with --quiet.
	progress *progress
}

// open opens the named session, or a new one.
func (h *headless) open(ctx context.Context, ref, input string) error {
	a := h.a
	h.console = newConsole(a.io)
	a.listen(h.say)
	if !a.f.quiet {
		a.printed = h.console.writer(a.io.err)
	}
	var err error
	if h.journal, err = h.lease(ctx, ref, input); err != nil {
		return err
	}
	if h.session, err = a.openSession(ctx, h.journal, h.hub, h.asker()); err != nil {
		return errors.Join(err, h.journal.Close())
	}
	if a.notSaved != "" {
		h.say("not saved: " + a.notSaved)
	}
	if a.f.model != "" && h.session.Row().Turns > 0 { // counts from the next turn
		if _, err := a.openModel(a.f.model, ""); err != nil {
			return errors.Join(usageError{err}, h.session.Close())
		}
		if err := h.session.SetModel(a.f.model); err != nil {
			return errors.Join(err, h.session.Close())
		}
	}
	return nil
}

// asker is who answers questions: the parley that runs this one as a tool's command, the person at
// the terminal, or nobody.
func (h *headless) asker() asker {
	if r := newRemote(h.a.io.getenv); r != nil {
		return r
	}
	return h.console.asker()
}

// lease finds the session that was named, or makes one.
func (h *headless) lease(ctx context.Context, ref, input string) (agent.Journal, error) {
	a := h.a
	var row record.Session
	var err error
	switch {
	case a.f.goOn:
		row, err = a.store.Last(ctx, a.paths.dir)
	case a.f.resume != "" && a.f.resume != pickSession:
		row, err = a.findSession(ctx, a.f.resume)
	case a.f.session != "":
		if row, err = a.store.Session(ctx, a.f.session); errors.Is(err, agent.ErrNotFound) {
			if ref == "" && input == "" {
				return nil, usagef("there is no chat named %q to finish: name a program and an input to begin it", a.f.session)
			}
			return h.create(ctx, ref)
		}
	default:
		return h.create(ctx, ref)
	}
	switch {
	case a.f.goOn && errors.Is(err, agent.ErrNotFound):
		return nil, fmt.Errorf("there is no chat in %s to go on with (parley sessions list --all shows those of other folders)", a.paths.dir)
	case err != nil:
		return nil, fmt.Errorf("find the session: %w", err)
	}
	if path := a.programRef(ref); ref != "" && row.Program != path && row.Program != filepath.Join(a.paths.dir, ref) { // its file may be gone
		return nil, usagef("session %q runs %s, not %s: choose another --session", firstSet(a.f.session, row.ID), programName(row.Program), path)
	}
	j, err := a.store.OpenSession(ctx, row.ID)
	if errors.Is(err, agent.ErrLeased) {
		return nil, fmt.Errorf("the chat %q is open in another parley; parley sessions show %s reads it, parley sessions fork %[2]s begins a copy",
			firstSet(row.Name, row.Title, row.ID), firstSet(row.Name, row.ID))
	}
	return j, err
}

func programName(ref string) string {
	if ref == "" {
		return "parley's own assistant"
	}
	return ref
}

// create makes a session. The program is loaded first: one that cannot be loaded leaves no trace.
func (h *headless) create(ctx context.Context, ref string) (agent.Journal, error) {
	a := h.a
	ref = a.programRef(ref)
	_, warnings, err := a.loadProgram(ctx, ref, a.f.subTool)
	if err != nil {
		return nil, a.loadError(ref, err)
	}
	if !a.f.quiet {
		for _, w := range warnings {
			h.say("warning: " + w.String())
		}
	}
	modelRef, why := offlineModel, ""
	if !a.f.passing {
		modelRef, why = a.chooseModel(ctx)
	}
	if _, err := a.openModel(modelRef, ""); err != nil {
		return nil, usageError{err}
	}
	if why != "" {
		h.say(fmt.Sprintf("model %s (%s)", modelRef, why))
	}
	return a.store.Create(ctx, a.newRow(ref, modelRef))
}

// offlineModel is the model inside the binary.
const offlineModel = "offline/parley"

// heading sets input and result off from what else a terminal shows (9.1).
func (h *headless) heading(text string) {
	if !h.a.f.quiet && isTerminal(h.a.io.out) {
		fmt.Fprintln(h.console.writer(h.a.io.err), "\n"+text)
	}
}

func (h *headless) say(text string) {
	if !h.a.f.quiet {
		fmt.Fprintln(h.a.io.err, "· "+text)
	}
}

// run runs the turn with the watchers the flags ask for, and prints the reply.
func (h *headless) run(ctx context.Context, input string) (err error) {
	watched, err := h.watch(ctx)
	if err != nil {
		return errors.Join(err, h.session.Close())
	}
	if input != "" {
		h.heading("INPUT:\n\n" + text.Clean(input) + "\n")
	}
	stop := onSignal(h.session.Interrupt, os.Interrupt, syscall.SIGTERM)
	resp, turnErr := h.turn(ctx, input)
	stop()
	row := h.session.Row()
	turnErr = h.told(turnErr, row)
	state, stateErr := h.exportState(ctx, turnErr)
	turn, err := h.journal.LastTurn(ctx)
	if errors.Is(err, agent.ErrNotFound) {
		err = nil
	}
	err = errors.Join(err, stateErr, h.session.Close())
	h.a.pruneOutputs(ctx)
	h.hub.Close()
	watched()
	h.progress.rest(turnErr)
	if turnErr == nil && turn.Status == record.TurnAborted {
		turnErr = errInterrupted
	}
	if turnErr == nil && resp.Denied {
		turnErr = errDenied
	}
	if printErr := h.print(resp, row, turn, state, turnErr); printErr != nil {
		err = errors.Join(err, printErr)
	}
	return errors.Join(turnErr, err)
}

// turn sends the input, or finishes an interrupted turn when there is none.
func (h *headless) turn(ctx context.Context, input string) (agent.Response, error) {
	if err := h.importState(ctx); err != nil {
		return agent.Response{}, err
	}
	if h.session.Unfinished() {
		if err := h.interrupted(ctx); err != nil {
			return agent.Response{}, err
		}
		if input == "" {
			return h.session.Resume(ctx)
		}
	} else if input == "" && h.session.Row().Turns > 0 {
		h.say("there is nothing to finish and nothing to send: this is the last reply")
		last, err := h.journal.LastTurn(ctx)
		return agent.Response{Content: last.Output, Done: last.State == nil, Agent: h.session.Row().Agent}, err
	}
	return h.session.Send(ctx, input)
}

// interrupted answers for calls that a crash cut off as --on-interrupted says.
func (h *headless) interrupted(ctx context.Context) error {
	for _, open := range h.session.InDoubt() {
		what := fmt.Sprintf("%s (%s)", strings.TrimSpace(open.Call.Label+" "+open.Call.Tool), oneLine(open.Call.Input))
		switch h.a.f.onInterrupted {
		case "fail":
			return fmt.Errorf("the last run ended while %s was running; choose --on-interrupted rerun or report", what)
		case "rerun":
			if open.Alive {
				if err := h.session.EndProcess(ctx, open.Key); err != nil {
					return err
				}
			}
			h.say("run again: " + what)
			if err := h.session.Resolve(ctx, open.Key, agent.ResolveRerun, ""); err != nil {
				return err
			}
		default:
			if open.Alive {
				h.say(fmt.Sprintf("process group %d of %s still runs", open.Pgid, what))
			}
			h.say("reported as interrupted: " + what)
		}
	}
	return nil
}

// watch starts the writers of progress and events. The returned function waits for them after the
// hub was closed.
func (h *headless) watch(ctx context.Context) (wait func(), err error) {
	var group sync.WaitGroup
	f := h.a.f
	if f.eventsTo != "" {
		file, err := openEvents(f.eventsTo)
		if err != nil {
			return nil, err
		}
		reader := h.hub.Subscribe()
		group.Go(func() {
			stream := monitor.Stream{W: file, Separator: "\n\n"}
			h.streamed(errors.Join(stream.Run(ctx, reader), file.Close()))
		})
	}
	if f.form() == "events" {
		reader := h.hub.Subscribe()
		group.Go(func() {
			stream := monitor.Stream{W: h.a.io.out, Separator: "\n"}
			h.streamed(stream.Run(ctx, reader))
		})
	}
	if !f.quiet {
		reader := h.hub.Subscribe()
		h.progress = &progress{w: h.console.writer(h.a.io.err)}
		group.Go(func() { h.progress.run(ctx, reader) })
	}
	return group.Wait, nil
}

func (h *headless) streamed(err error) {
	if err != nil {
		h.say("the event stream has ended: " + err.Error())
	}
}

// openEvents opens where --events-stream-to writes: a file to append to, or an open descriptor.
func openEvents(to string) (*os.File, error) {
	if fd, ok := strings.CutPrefix(to, "fd://"); ok {
		n, err := strconv.Atoi(fd)
		if err != nil || n < 0 {
			return nil, usagef("--events-stream-to %q: fd:// takes the number of an open file", to)
		}
		return os.NewFile(uintptr(n), to), nil
	}
	file, err := os.OpenFile(to, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the event stream: %w", err)
	}
	return file, nil
}

// result is the object of --output json.
type result struct {
	Session string       `json:"session"`
	Turn    int          `json:"turn"`
	Status  string       `json:"status"`
	Done    bool         `json:"done"` // the program has finished
	Reply   string       `json:"reply"`
	Agent   string       `json:"agent,omitempty"`
	Model   string       `json:"model"`
	Denied  bool         `json:"denied,omitempty"`
	Usage   resultUsage  `json:"usage"`
	Error   *resultError `json:"error,omitempty"`
}

type resultUsage struct {
	PromptTokens     int `json:"promptTokens"`
	CompletionTokens int `json:"completionTokens"`
}

type resultError struct {
	Message string `json:"message"`
	Exit    int    `json:"exit"`
}

// print writes the reply to stdout in the form asked for.
func (h *headless) print(resp agent.Response, row record.Session, turn record.Turn, state json.RawMessage, err error) error {
	out := h.a.io.out
	if h.stateless() {
		return printState(out, resp, state, err)
	}
	switch h.a.f.form() {
	case "events":
		return nil
	case "json":
		r := result{Session: row.ID, Turn: turn.Number, Status: string(turn.Status), Done: resp.Done, Reply: resp.Content,
			Agent: resp.Agent, Model: turn.Model, Denied: resp.Denied,
			Usage: resultUsage{row.Usage.PromptTokens, row.Usage.CompletionTokens}}
		if err != nil {
			r.Error = &resultError{Message: err.Error(), Exit: exitCode(err)}
		}
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		return enc.Encode(r)
	}
	reply := resp.Content
	if reply == "" && err != nil {
		return nil
	}
	if reply == "" {
		h.say("the reply is empty")
	}
	if isTerminal(out) {
		reply = text.Clean(reply) // a pipe gets the model's text as it is
	}
	if !strings.HasSuffix(reply, "\n") {
		reply += "\n"
	}
	h.heading("OUTPUT:\n")
	_, werr := fmt.Fprint(out, reply)
	return werr
}
