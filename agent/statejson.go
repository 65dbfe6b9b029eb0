package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"parley/agent/model"
	"parley/agent/program"
	"parley/agent/record"
)

// seedState is the chat state in the form that scripts keep and pass back (5.5). It holds whole
// conversations; ours is written into it and read from it at the edge only.
type seedState struct {
	Continuation       *seedReturn   `json:"continuation,omitempty"`
	ContinuationToolID string        `json:"continuationToolID,omitempty"`
	Result             *string       `json:"result,omitempty"`
	StartInput         *string       `json:"startInput,omitempty"`
	ResumeInput        *string       `json:"resumeInput,omitempty"`
	SubCalls           []seedSubCall `json:"subCalls,omitempty"`
	SubCallID          string        `json:"subCallID,omitempty"`
}

type seedSubCall struct {
	ToolID string     `json:"toolId,omitempty"`
	CallID string     `json:"callId,omitempty"`
	State  *seedState `json:"state,omitempty"`
}

type seedReturn struct {
	State  *seedEngine         `json:"state,omitempty"`
	Calls  map[string]seedCall `json:"calls,omitempty"`
	Result *string             `json:"result,omitempty"`
}

type seedCall struct {
	Missing bool   `json:"missing,omitempty"`
	ToolID  string `json:"toolID,omitempty"`
	Input   string `json:"input,omitempty"`
}

type seedEngine struct {
	Input      string                    `json:"input,omitempty"`
	Completion seedRequest               `json:"completion"`
	Pending    map[string]model.ToolCall `json:"pending,omitempty"`
}

type seedRequest struct {
	Model    string          `json:"model,omitempty"`
	Messages []model.Message `json:"messages,omitempty"`
	Chat     bool            `json:"chat,omitempty"`
}

// StateJSON returns the chat state after the last turn in the form that GPTScript's
// --chat-state takes, nil when the program has finished or nothing was said yet.
func (s *Session) StateJSON(ctx context.Context) (json.RawMessage, error) {
	st, err := s.state()
	if err != nil || st == nil {
		return nil, err
	}
	out, err := s.seedOf(ctx, st)
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

func (s *Session) seedOf(ctx context.Context, st *callState) (*seedState, error) {
	if st.Final != nil {
		return &seedState{Result: st.Final}, nil
	}
	engine, err := s.engineOf(ctx, st)
	if err != nil {
		return nil, err
	}
	out := &seedState{Continuation: &seedReturn{State: engine, Result: st.Result}, StartInput: &st.Start, ResumeInput: st.Latest}
	if st.Open == "" {
		out.ContinuationToolID = st.ToolID
		return out, nil
	}
	out.Continuation.Result = nil
	out.Continuation.Calls = map[string]seedCall{}
	engine.Pending = map[string]model.ToolCall{}
	wire := map[string]model.ToolCall{}
	for _, tc := range lastCalls(engine.Completion.Messages) {
		wire[tc.ID] = tc
	}
	for _, sub := range st.Subs {
		inner, err := s.seedOf(ctx, sub)
		if err != nil {
			return nil, err
		}
		out.SubCalls = append(out.SubCalls, seedSubCall{ToolID: sub.ToolID, CallID: sub.WireID, State: inner})
		out.Continuation.Calls[sub.WireID] = seedCall{ToolID: sub.ToolID, Input: sub.Input}
		engine.Pending[sub.WireID] = wire[sub.WireID]
		if sub.Path == st.Open {
			out.SubCallID = sub.WireID
		}
	}
	return out, nil
}

func (s *Session) engineOf(ctx context.Context, st *callState) (*seedEngine, error) {
	rows, err := s.journal.Messages(ctx, st.Path, st.Messages)
	if err != nil {
		return nil, fmt.Errorf("read conversation of call %s: %w", st.Path, err)
	}
	engine := &seedEngine{Input: st.Start, Completion: seedRequest{Chat: true}}
	for _, row := range rows {
		m := row.Message
		m.Usage, m.IsError = nil, false
		engine.Completion.Messages = append(engine.Completion.Messages, m)
		if row.Model != "" {
			engine.Completion.Model = row.Model
		}
	}
	return engine, nil
}

// ErrBadState says that a chat state cannot be used.
var ErrBadState = errors.New("invalid state")

// Import makes a chat state in the seed's form the state of a session in which nothing was said
// yet: its conversations are stored, and the next Send goes on from there.
func (s *Session) Import(ctx context.Context, state json.RawMessage) error {
	if s.hasLast {
		return errors.New("a chat state can only be read into a new session")
	}
	in := &seedState{}
	if err := json.Unmarshal(state, in); err != nil {
		return fmt.Errorf("failed to unmarshal chat state: %w", err)
	}
	prg, err := s.o.Program(ctx)
	if err != nil {
		return err
	}
	im := importer{s: s, prg: prg, turn: 1}
	st, err := im.read(in, "1", "")
	if err != nil {
		return err
	}
	if st.ToolID == "" {
		st.ToolID = prg.EntryAgent().ID
	}
	source, err := prg.JSON()
	if err != nil {
		return fmt.Errorf("pin program: %w", err)
	}
	if st.Group == nil {
		st.Group = prg.Agents(prg.Entry())
	}
	raw, err := json.Marshal(st)
	if err != nil {
		return fmt.Errorf("keep chat state: %w", err)
	}
	row := record.Turn{Session: s.Row().ID, Number: 1, Program: hashOf(source), Model: s.model, Version: journalVersion,
		Status: record.TurnOpen, Started: s.now()}
	im.rows.Texts = append(im.rows.Texts, record.Text{Hash: row.Program, Body: string(source)})
	if err := s.journal.BeginTurn(ctx, row, im.rows); err != nil {
		return fmt.Errorf("store chat state: %w", err)
	}
	row.Status, row.State, row.Output, row.Finished = record.TurnDone, raw, st.content(), s.now()
	if err := s.journal.EndTurn(ctx, row, record.Rows{Durable: true}); err != nil {
		return fmt.Errorf("store chat state: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.hasLast = row, true
	return nil
}

// importer turns seed states into ours and collects the rows of their conversations.
type importer struct {
	s    *Session
	prg  *program.Program
	turn int
	rows record.Rows
}

// tool returns the id that the program has for a tool of the state: a state made from another folder
// names the same file by another path.
func (im *importer) tool(id string) string {
	if id == "" || im.s.tool(im.prg, id) != nil {
		return id
	}
	for _, known := range slices.Sorted(maps.Keys(im.prg.ToolSet)) {
		if path.Base(filepath.ToSlash(known)) == path.Base(filepath.ToSlash(id)) {
			return known
		}
	}
	return id
}

func (im *importer) read(in *seedState, at, wireID string) (*callState, error) {
	if strings.Count(at, "/") > maxDepth {
		return nil, fmt.Errorf("%w: %w", ErrBadState, errDepth)
	}
	if in.Continuation == nil {
		if in.Result == nil {
			return nil, fmt.Errorf("%w, resume should have Continuation data", ErrBadState)
		}
		return &callState{Path: at, WireID: wireID, Turn: im.turn, Final: in.Result}, nil
	}
	st := &callState{Path: at, WireID: wireID, Turn: im.turn, ToolID: im.tool(in.ContinuationToolID), Result: in.Continuation.Result,
		Latest: in.ResumeInput}
	if in.StartInput != nil {
		st.Start = *in.StartInput
	}
	if engine := in.Continuation.State; engine != nil {
		if st.Start == "" {
			st.Start = engine.Input
		}
		im.conversation(st, engine.Completion)
	}
	if in.SubCallID == "" {
		return st, nil
	}
	return st, im.subs(st, in)
}

func (im *importer) conversation(st *callState, from seedRequest) {
	for _, m := range from.Messages {
		if m.Role == model.System {
			continue // made anew from the program
		}
		row := record.Message{Conversation: st.Path, Index: st.Messages, Turn: im.turn, Shown: true,
			Message: validMessage(m), Time: im.s.now()}
		if m.Role == model.Assistant {
			st.Rounds++
			row.Model = from.Model
		}
		im.rows.Messages = append(im.rows.Messages, row)
		st.Messages++
	}
}

func (im *importer) subs(st *callState, in *seedState) error {
	st.Result = nil
	for i, sub := range in.SubCalls {
		if sub.State == nil {
			return fmt.Errorf("%w: sub call %q has no state", ErrBadState, sub.CallID)
		}
		inner, err := im.read(sub.State, st.Path+"/"+strconv.Itoa(st.Rounds)+"."+strconv.Itoa(i), sub.CallID)
		if err != nil {
			return err
		}
		if inner.ToolID == "" {
			inner.ToolID = im.tool(sub.ToolID)
		}
		inner.Label = strconv.Itoa(i + 1)
		inner.Input = in.Continuation.Calls[sub.CallID].Input
		st.Subs = append(st.Subs, inner)
		if sub.CallID == in.SubCallID {
			st.Open = inner.Path
		}
	}
	if st.Open == "" {
		return fmt.Errorf("%w, failed to find subCall for subCallID [%s]", ErrBadState, in.SubCallID)
	}
	return nil
}
