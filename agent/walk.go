package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"parley/agent/model"
	"parley/agent/monitor"
	"parley/agent/program"
	"parley/agent/record"
	"parley/toolrt"
)

// newTurn begins a turn: the program is read again, and the message is committed.
func (s *Session) newTurn(ctx context.Context, text string) (*turn, error) {
	base, err := s.state()
	if err != nil {
		return nil, err
	}
	prg, note, err := s.readProgram(ctx, base)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	ref, number := s.model, s.last.Number+1
	s.mu.Unlock()
	m, err := s.o.OpenModel(ref, "")
	if err != nil {
		return nil, err
	}
	source, err := prg.JSON()
	if err != nil {
		return nil, fmt.Errorf("pin program: %w", err)
	}
	t := s.turnOf(ctx, prg, m)
	t.row = record.Turn{Session: s.Row().ID, Number: number, Input: s.redact(strings.ToValidUTF8(text, "\uFFFD")), Model: m.Ref(),
		Version: journalVersion, Status: record.TurnOpen, Started: s.now()}
	t.row.Program = t.text(string(source))
	if base != nil {
		if t.row.Base, err = json.Marshal(base); err != nil {
			return nil, fmt.Errorf("keep chat state: %w", err)
		}
	}
	if note != "" {
		t.note("program", note)
	}
	t.say1(base)
	if err := s.beginTurn(ctx, t); err != nil {
		return nil, err
	}
	return t, nil
}

// beginTurn commits the turn and what it starts with.
func (s *Session) beginTurn(ctx context.Context, t *turn) error {
	row := s.Row()
	if row.Title == "" {
		row.Title = title(InputText(t.row.Input))
		if err := s.journal.SaveSession(ctx, row); err != nil {
			return fmt.Errorf("save session: %w", err)
		}
	}
	rows := t.take()
	rows.Durable = true
	if err := s.journal.BeginTurn(ctx, t.row, rows); err != nil {
		return t.unsaved(rows, fmt.Errorf("store the message: %w", err))
	}
	s.mu.Lock()
	s.last, s.hasLast, s.handed = t.row, true, 0
	s.mu.Unlock()
	t.show(rows)
	return nil
}

// title is the first line of the first message.
func title(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(line); len(r) > 80 {
		line = string(r[:79]) + "…"
	}
	return strings.TrimSpace(line)
}

// say1 queues the person's message where no input filter will change it, so that it is stored
// before anything else happens. Walked, the turn queues the same row again.
func (t *turn) say1(base *callState) {
	tool, path, index := t.program().EntryAgent(), strconv.Itoa(t.row.Number), 0
	group := program.Reference{}
	if base != nil {
		deep := base.deepest()
		tool, path, index = t.program().Tool(deep.ToolID), deep.Path, deep.Messages
		group.Named = deep.ToolName
	}
	_, own := ownOf(t.row.Input)
	filtered := tool != nil && len(t.program().InputFilters(tool)) > 0
	if tool == nil || !tool.IsPrompt() && !tool.IsNoop() || t.row.Input == "" || !own && (filtered || t.commands()) {
		return
	}
	name := group.Named
	if name == "" {
		name = toolName(tool)
	}
	t.queue(record.Rows{Messages: []record.Message{{Conversation: path, Index: index, Turn: t.row.Number, Agent: name, Shown: true,
		Message: model.TextMessage(model.User, InputText(t.row.Input)), Time: t.s.now()}}})
}

// commands reports whether the turn's input is for parley and no message to the agent.
func (t *turn) commands() bool {
	if _, own := ownOf(t.row.Input); own {
		return true
	}
	_, compacts := t.compacts()
	return t.row.Base != nil && (compacts || t.goesBack())
}

// goesBack reports whether the turn's input ends the inner chat.
func (t *turn) goesBack() bool {
	return t.row.Input == backCommand || strings.HasPrefix(t.row.Input, backCommand+" ")
}

// oldTurn takes up the turn that was cut off: its pinned program and model, and its effects.
func (s *Session) oldTurn(ctx context.Context) (*turn, error) {
	s.mu.Lock()
	row := s.last
	resolved := s.resolved
	s.resolved, s.doubts = map[record.Key]resolution{}, nil
	s.mu.Unlock()
	text, err := s.journal.Text(ctx, row.Program)
	if err != nil {
		return nil, fmt.Errorf("read the turn's program: %w", err)
	}
	prg, err := program.FromJSON([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("read the turn's program: %w", err)
	}
	m, err := s.o.OpenModel(row.Model, "")
	if err != nil {
		return nil, err
	}
	entries, err := s.journal.Entries(ctx, row.Number)
	if err != nil {
		return nil, fmt.Errorf("read the turn's journal: %w", err)
	}
	t := s.turnOf(ctx, prg, m)
	t.row, t.resolved = row, resolved
	t.know(entries)
	s.undelivered(entries)
	s.setState(ctx, record.StateRun)
	return t, nil
}

func (s *Session) turnOf(ctx context.Context, prg *program.Program, m model.Model) *turn {
	t := &turn{s: s, ctx: ctx, servers: newTurnServers(prg), model: m, effort: s.journal.Session().Effort, recorded: map[record.Key]record.Entry{}, resolved: map[record.Key]resolution{},
		calls: map[string]*call{}, covered: map[string]toolrt.Decision{}, said: map[string]bool{},
		hindered: map[string]bool{}}
	t.prg.Store(prg)
	return t
}

// know takes what is on record of the turn. The effort is the one that it began with: the session's may
// have changed since, and other requests than the recorded ones would not be the same turn.
func (t *turn) know(entries []record.Entry) {
	for _, e := range entries {
		t.recorded[e.Key] = e
		var asked completion
		if e.Kind == record.EntryCompletion && json.Unmarshal(e.Request, &asked) == nil {
			t.effort = asked.Effort
		}
	}
}

// readProgram reads the program again. If the chat needs a tool that is gone, the program of the
// last turn goes on. The note says what a person should know.
func (s *Session) readProgram(ctx context.Context, base *callState) (prg *program.Program, note string, err error) {
	prg, err = s.o.Program(ctx)
	s.mu.Lock()
	lastHash, has := s.last.Program, s.hasLast
	s.mu.Unlock()
	if !has {
		return prg, "", err
	}
	pinned := func(note string) (*program.Program, string, error) {
		text, err := s.journal.Text(ctx, lastHash)
		if err != nil {
			return nil, "", fmt.Errorf("read the last turn's program: %w", err)
		}
		prg, err := program.FromJSON([]byte(text))
		return prg, note, err
	}
	if err != nil {
		return pinned(fmt.Sprintf("the program cannot be read, the chat goes on with the last one: %s", firstLine(err.Error())))
	}
	missing := ""
	if base != nil {
		base.tools(func(id string) {
			if id != "" && s.tool(prg, id) == nil {
				missing = id
			}
		})
	}
	if missing != "" {
		return pinned(fmt.Sprintf("the program has no %q any more, the chat goes on with the last one", missing))
	}
	if source, err := prg.JSON(); err == nil && hashOf(source) != lastHash {
		note = "the program has changed since the last turn"
	}
	return prg, note, nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// note adds a line to the conversation on screen. key makes it the same line when the turn is
// walked again.
func (t *turn) note(key, text string) {
	t.queue(record.Rows{Messages: []record.Message{{Conversation: fmt.Sprintf("%d/%s", t.row.Number, key), Turn: t.row.Number,
		Shown: true, Notice: text, Time: t.s.now()}}})
}

// walk runs the turn to its end, commits how it ended and tells it.
func (t *turn) walk(ctx context.Context) (Response, error) {
	t.ctx = ctx
	t.s.emit(monitor.Event{Type: monitor.RunStart, Program: t.program(), Input: t.row.Input})
	st, err := t.chat(ctx)
	if finish := (*toolrt.ChatFinish)(nil); errors.As(err, &finish) {
		text := finish.Error()
		st, err = &callState{Final: &text}, nil
	}
	resp := Response{Content: st.content(), Done: err == nil && st != nil && st.Final != nil}
	t.mu.Lock()
	resp.Denied = t.nobody
	t.mu.Unlock()
	if t.staysOpen(err) {
		t.s.setState(context.WithoutCancel(ctx), leftAs(err))
	} else {
		st, err = t.close(context.WithoutCancel(ctx), st, err)
	}
	resp.Agent = t.s.Row().Agent
	if st != nil && st.Final == nil {
		resp.ToolID = st.deepest().ToolID
	}
	e := monitor.Event{Type: monitor.RunFinish, Output: t.s.redact(resp.Content)}
	if err != nil {
		e.Err = t.s.redact(err.Error())
	}
	t.s.emit(e)
	return resp, err
}

// staysOpen reports whether the turn is not over: it waits for a person who is not there, the
// process is ending, or it could not be stored how it goes on.
func (t *turn) staysOpen(err error) bool {
	if err == nil || t.interrupted() {
		return false
	}
	cause := context.Cause(t.ctx)
	return errors.Is(err, ErrNobody) || errors.Is(cause, errClosing) || errors.Is(cause, context.Canceled)
}

// leftAs is the state of a session whose turn stays open: it waits for a person, or was cut off.
func leftAs(err error) record.SessionState {
	var waits *NobodyError
	switch {
	case errors.As(err, &waits) && waits.Credential != "":
		return record.StateCred
	case errors.Is(err, ErrNobody):
		return record.StateAsk
	}
	return record.StateStop
}

// chat starts the program, or goes on with its state.
func (t *turn) chat(ctx context.Context) (*callState, error) {
	base, err := decodeState(t.row.Base)
	if err != nil {
		return nil, err
	}
	if t.row.Version != journalVersion {
		return nil, fmt.Errorf("%w: it was begun by another version of parley", errDiverged)
	}
	if base != nil {
		t.regroup(base, t.program().Agents(t.program().Entry()))
		c, err := t.newCall(nil, base)
		if err != nil {
			return nil, err
		}
		return c.resume(ctx, t.row.Input)
	}
	entry := t.program().EntryAgent()
	c, err := t.newCall(nil, &callState{Path: strconv.Itoa(t.row.Number), ToolID: entry.ID, Turn: t.row.Number,
		Group: t.program().Agents(t.program().Entry())})
	if err != nil {
		return nil, err
	}
	return c.start(ctx, t.row.Input)
}

// regroup gives open calls the agent groups of the program as it is now (5.6): it may have been edited
// since they began.
func (t *turn) regroup(st *callState, group []program.Reference) {
	st.Group = group
	tool := t.program().Tool(st.ToolID)
	if tool == nil {
		return
	}
	own := t.program().Agents(tool)
	for _, sub := range st.Subs {
		if sub.Final != nil {
			continue
		}
		below := group
		if slices.ContainsFunc(own, func(r program.Reference) bool { return r.ToolID == sub.ToolID }) {
			below = own
		}
		t.regroup(sub, below)
	}
}

// close commits how the turn ended. A turn that failed or was interrupted keeps what had come in.
func (t *turn) close(ctx context.Context, st *callState, err error) (*callState, error) {
	row, state := &t.row, record.StateIdle
	row.Status, row.Finished = record.TurnDone, t.s.now()
	switch {
	case t.interrupted():
		row.Status, err = record.TurnAborted, nil
		if !t.endsCutOff(st) {
			t.note("end", "interrupted")
		}
	case errors.Is(err, errDiverged):
		row.Status, row.Error = record.TurnInterrupted, err.Error()
		var salvageErr error
		if st, salvageErr = t.salvage(ctx); salvageErr != nil {
			err = errors.Join(err, salvageErr)
		}
	case err != nil:
		row.Status, row.Error, state = record.TurnFailed, t.s.redact(err.Error()), record.StateErr
	case st.Final != nil:
		state = record.StateDone
	}
	if err != nil {
		t.note("end", row.Error)
	}
	row.Output = t.s.redact(st.content())
	row.State = nil
	agent := ""
	if st != nil && st.Final == nil {
		t.keepLengths(st)
		var encodeErr error
		if row.State, encodeErr = json.Marshal(st); encodeErr != nil {
			return st, errors.Join(err, fmt.Errorf("keep chat state: %w", encodeErr))
		}
		agent = t.agentName(st.deepest())
	}
	return st, errors.Join(err, t.commitEnd(ctx, state, agent))
}

// endsCutOff reports whether the last that stands on screen is a reply that says itself that it was
// interrupted.
func (t *turn) endsCutOff(st *callState) bool {
	if st == nil {
		return false
	}
	c := t.call(st.deepest().Path)
	return c != nil && c.shown && c.conv != nil && len(c.conv.messages) > 0 && c.conv.messages[len(c.conv.messages)-1].Aborted
}

// keepLengths brings the lengths in the state up to the conversations.
func (t *turn) keepLengths(st *callState) {
	for _, s := range st.chain() {
		if c := t.call(s.Path); c != nil && c.conv != nil {
			s.Messages = len(c.conv.messages)
		}
	}
}

func (t *turn) agentName(s *callState) string {
	if s.ToolName != "" {
		return s.ToolName
	}
	if tool := t.program().Tool(s.ToolID); tool != nil {
		return toolName(tool)
	}
	return ""
}

// commitEnd commits the end of the turn with all rows that wait and the session's new row.
func (t *turn) commitEnd(ctx context.Context, state record.SessionState, agent string) error {
	rows := t.take()
	rows.Durable = true
	if err := t.s.journal.EndTurn(ctx, t.row, rows); err != nil {
		return t.unsaved(rows, fmt.Errorf("store the end of the turn: %w", err))
	}
	t.s.mu.Lock()
	t.s.last = t.row
	t.s.mu.Unlock()
	t.show(rows)
	return t.s.saveRow(ctx, func(row *record.Session) { row.State, row.Agent = state, agent })
}

// salvage makes a state from what a turn that cannot be walked again has left in the store: every
// open conversation with all its messages, calls without a result answered as interrupted.
func (t *turn) salvage(ctx context.Context) (*callState, error) {
	st, err := decodeState(t.row.Base)
	if err != nil {
		return nil, err
	}
	entry := t.program().EntryAgent()
	if st == nil {
		if !entry.Chat {
			return nil, nil
		}
		st = &callState{Path: strconv.Itoa(t.row.Number), ToolID: entry.ID, Turn: t.row.Number, Result: new(string)}
	}
	t.mu.Lock()
	clear(t.calls)
	t.pending = record.Rows{}
	t.mu.Unlock()
	for _, s := range st.chain() {
		rows, err := t.s.journal.Messages(ctx, s.Path, -1)
		if err != nil {
			return nil, fmt.Errorf("read conversation of call %s: %w", s.Path, err)
		}
		t.answerOpen(s, rows)
	}
	return st, nil
}

// answerOpen sets the state's length to all of a conversation and answers the calls of its last
// reply that have no result, unless one of them is the open inner chat.
func (t *turn) answerOpen(s *callState, rows []record.Message) {
	s.Messages = len(rows)
	if s.Open != "" {
		return
	}
	answered := 0
	for i := len(rows) - 1; i >= 0 && rows[i].Message.Role == model.ToolRole; i-- {
		answered++
	}
	last := len(rows) - answered - 1
	if last < 0 || rows[last].Message.Role != model.Assistant {
		return
	}
	calls := rows[last].Message.Calls()
	for i := answered; i < len(calls); i++ {
		m := model.Message{Role: model.ToolRole, ToolCall: &calls[i], IsError: true, Content: []model.Part{{Text: interruptedText}}}
		t.queue(record.Rows{Messages: []record.Message{{Conversation: s.Path, Index: s.Messages, Turn: t.row.Number,
			Agent: rows[last].Agent, Shown: rows[last].Shown, Message: m, Time: t.s.now()}}})
		s.Messages++
	}
}
