package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"parley/agent/model"
	"parley/agent/monitor"
	"parley/agent/record"
	"parley/toolrt"
	"parley/toolrt/sys"
)

// host is what a call's tool may ask of the program around it (toolrt.Host).
type host struct{ c *call }

// Prompt asks the person. Sensitive values are known to the redactor before anybody else sees
// them.
func (h host) Prompt(ctx context.Context, q toolrt.Question) (map[string]string, error) {
	c := h.c
	s := c.t.s
	if s.o.Prompter == nil {
		return nil, c.nobody(q)
	}
	in := InputQuestion{ID: fmt.Sprintf("%d:%s:prompt%d", c.t.row.Number, c.path, c.prompts), Path: c.path, Label: c.state.Label,
		Agents: c.agents(), Tool: c.name(), Question: q}
	c.prompts++
	if need := c.credentialNeed(); need != nil {
		in.Credential, in.Sets, in.Keep, in.Tool, in.Label = need.name, need.sets, s.o.Keep(), need.tool, need.label
	}
	state := record.StateAsk
	if in.Credential != "" {
		state = record.StateCred
	}
	defer s.asking(ctx, state)()
	c.event(monitor.Event{Type: monitor.Prompt, Content: c.secret(q.Message)})
	ans, err := s.o.Prompter.Prompt(ctx, in)
	if errors.Is(err, ErrNobody) {
		return nil, c.nobody(q)
	}
	if err != nil {
		return nil, err
	}
	if ans.Declined {
		return nil, fmt.Errorf("%w %q", toolrt.ErrDeclined, q.Message)
	}
	for _, f := range q.Fields {
		sensitive := q.Sensitive
		if f.Sensitive != nil {
			sensitive = *f.Sensitive
		}
		if sensitive && ans.Values[f.Name] != "" && !s.o.PassSecrets {
			name := f.Name
			if in.Credential != "" {
				name = in.Credential
			}
			s.addSecret(name, ans.Values[f.Name])
		}
	}
	if need := c.credentialNeed(); need != nil {
		need.keep = ans.Keep
	}
	return ans.Values, nil
}

// nobody is the error for a question that cannot be asked.
func (c *call) nobody(q toolrt.Question) error {
	e := &NobodyError{Question: c.secret(q.Message)}
	if need := c.credentialNeed(); need != nil {
		e.Credential, e.Variables = need.name, need.sets
	}
	return e
}

// chatEntry is a conversation in the form of sys.chat.history.
type chatEntry struct {
	ID         string `json:"id"`
	Tool       any    `json:"tool,omitempty"`
	Completion any    `json:"completion,omitempty"`
}

func (c *call) chatEntry() chatEntry {
	return chatEntry{ID: c.path, Tool: c.tool, Completion: map[string]any{
		"model": c.model.Ref(), "messages": append([]model.Message(nil), c.conv.messages...), "chat": c.tool.Chat}}
}

// History returns the conversations of all callers, outermost first.
func (h host) History(context.Context) (json.RawMessage, error) {
	var entries []chatEntry
	for p := h.c.parent; p != nil; p = p.parent {
		if p.conv != nil {
			entries = append(entries, p.chatEntry())
		}
	}
	slices.Reverse(entries)
	return json.Marshal(map[string]any{"history": entries})
}

// Current returns the conversation of the calling tool.
func (h host) Current(context.Context) (json.RawMessage, error) {
	if p := h.c.parent; p != nil && p.conv != nil {
		return json.Marshal(p.chatEntry())
	}
	return json.RawMessage("{}"), nil
}

// Context returns the program and the call context, the call's own ids blank so that the text
// stays the same from call to call.
func (h host) Context(context.Context) (json.RawMessage, error) {
	cc := *h.c.context()
	cc.ID, cc.ParentID = "", ""
	return json.Marshal(map[string]any{"program": h.c.t.program(), "call": cc})
}

// LendProvider lends the program's model provider to a command (sys.model.provider.credential). The
// variables are those of OpenAI's protocol.
func (h host) LendProvider(ctx context.Context) (map[string]string, error) {
	lent, err := h.c.lend(ctx, h.c.t.model.Ref())
	if err != nil {
		return nil, err
	}
	if !lent.OpenAI {
		return nil, fmt.Errorf("the model %s does not speak OpenAI's protocol, which this credential is for; run the program with --model openai/NAME", lent.Model)
	}
	return map[string]string{"OPENAI_API_KEY": lent.Token, "OPENAI_BASE_URL": lent.URL}, nil
}

// lend lends the provider of a model; its token is known to the redactor.
func (c *call) lend(ctx context.Context, ref string) (Lent, error) {
	s := c.t.s
	if s.o.Lend == nil {
		return Lent{}, errors.New("this program cannot lend its model provider")
	}
	lent, err := s.o.Lend(ctx, ref)
	if err == nil && lent.Token != "" {
		s.addSecret("provider "+lent.Model, lent.Token)
	}
	return lent, err
}

// credentialNeed is what a credential tool's call is for.
type credentialNeed struct {
	name string   // of the credential
	sets []string // variables, when known
	tool string   // that needs it
	// label is that of the call that needs it.
	label string
	keep  string // where the person wants it kept
}

// credentialNeed returns what the call, or a call around it, gets a credential for.
func (c *call) credentialNeed() *credentialNeed {
	for p := c; p != nil && p.state.Category == categoryCredential; p = p.parent {
		if p.need != nil {
			return p.need
		}
	}
	return nil
}

// asking marks the session as waiting for the person until the returned function runs, and lets
// console output wait meanwhile.
func (s *Session) asking(ctx context.Context, state record.SessionState) func() {
	s.mu.Lock()
	s.waits++
	first := s.waits == 1
	s.mu.Unlock()
	s.emit(monitor.Event{Type: monitor.Paused})
	if first {
		s.setState(ctx, state)
	}
	return func() {
		s.mu.Lock()
		s.waits--
		last := s.waits == 0
		s.mu.Unlock()
		if last {
			s.setState(context.WithoutCancel(ctx), record.StateRun)
		}
		s.emit(monitor.Event{Type: monitor.Resumed})
	}
}

// names returns the keys of an environment in order.
func names(env map[string]string) []string {
	return slices.Sorted(maps.Keys(env))
}

var (
	_ toolrt.Host = host{}
	_ sys.Lender  = host{}
)
