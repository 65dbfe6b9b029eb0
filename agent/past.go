package agent

import (
	"context"
	"slices"

	"parley/agent/program"
	"parley/agent/record"
	"parley/toolrt"
	"parley/toolrt/approval"
)

// maxPast is how many calls are remembered to say what a rule would have matched.
const maxPast = 200

// pastCall is what was judged of an earlier call.
type pastCall struct {
	path  string
	facts approval.Facts
}

// rememberPast keeps what was judged of a call, without its environment and texts. Contexts and filters
// are left out: nobody asked for them, and they run again and again. A call judged twice counts once.
func (s *Session) rememberPast(f approval.Facts) {
	call := f.Call
	if f.Category != "" || call.Category != "" {
		return
	}
	f.Call = &toolrt.Call{Dir: call.Dir, Workspace: call.Workspace, ScriptHash: call.ScriptHash, Category: call.Category}
	f.Preview.Diff, f.Preview.Command = "", ""
	s.mu.Lock()
	defer s.mu.Unlock()
	s.past = slices.DeleteFunc(s.past, func(p pastCall) bool { return p.path == call.ID })
	if len(s.past) >= maxPast {
		s.past = append(s.past[:0], s.past[1:]...)
	}
	s.past = append(s.past, pastCall{call.ID, f})
}

// recallPast brings back the calls of earlier turns that another process had judged, so that a chat
// opened again counts them too. They are read once, at the first question.
func (t *turn) recallPast(ctx context.Context) {
	s := t.s
	s.mu.Lock()
	done, known := s.recalled, len(s.past)
	s.recalled = true
	s.mu.Unlock()
	if done {
		return
	}
	var earlier []pastCall
	for n := t.row.Number - 1; n > 0 && known+len(earlier) < maxPast; n-- {
		calls, err := s.journal.Calls(ctx, n)
		if err != nil {
			return // the count is a help, no more
		}
		for _, c := range slices.Backward(calls) {
			if f, ok := factsOf(t.prg.Load(), s.o.Builtins, c, s.o.Dir, s.o.Workspace); ok && c.Category == "" && c.Decision != nil {
				earlier = append(earlier, pastCall{c.Path, f})
			}
		}
	}
	slices.Reverse(earlier)
	s.mu.Lock()
	defer s.mu.Unlock()
	earlier = slices.DeleteFunc(earlier, func(e pastCall) bool {
		return slices.ContainsFunc(s.past, func(p pastCall) bool { return p.path == e.path })
	})
	s.past = append(earlier, s.past...)
	s.past = s.past[max(0, len(s.past)-maxPast):]
}

// pastMatches counts the earlier calls of this session that the rules would have allowed by themselves;
// the call at path, for which it is asked, is not one of them.
func (s *Session) pastMatches(rules []approval.Rule, path string) int {
	s.mu.Lock()
	past := slices.Clone(s.past)
	s.mu.Unlock()
	trial := NewTrial(s.o.Dir, s.o.Workspace, rules)
	n := 0
	for _, p := range past {
		if p.path != path && trial.matches(p.facts) {
			n++
		}
	}
	return n
}

// Trial says of which calls rules would have decided, if nothing else had.
type Trial struct {
	policy *approval.Policy
	effect approval.Effect
}

// NewTrial tries rules, all of one effect, on the calls of a session with that working folder and
// workspace.
func NewTrial(dir, workspace string, rules []approval.Rule) *Trial {
	t := &Trial{policy: approval.New(dir, workspace, approval.ModeAsk)}
	for _, r := range rules {
		r.ID, r.Scope = "", approval.Session
		t.policy.Add(r)
		t.effect = r.Effect
	}
	return t
}

// matches reports whether the rules decide, of a command with several parts perhaps together.
func (t *Trial) matches(f approval.Facts) bool {
	v := t.policy.Judge(f)
	return v.Effect == t.effect && v.By == "rule" && (v.Rule == nil || v.Rule.Scope == approval.Session)
}

// Matches reports whether the rules would have decided about a recorded call of the program that its
// turn was pinned to. A call whose tool the program does not have, and an agent's, match nothing.
func (t *Trial) Matches(prg *program.Program, builtins *toolrt.Registry, c record.Call, dir, workspace string) bool {
	f, ok := factsOf(prg, builtins, c, dir, workspace)
	return ok && t.matches(f)
}

// factsOf is what would be judged of a recorded call today.
func factsOf(prg *program.Program, builtins *toolrt.Registry, c record.Call, dir, workspace string) (approval.Facts, bool) {
	tool := prg.Tool(c.ToolID)
	if tool == nil || !tool.IsCommand() || c.Agent {
		return approval.Facts{}, false
	}
	f := approval.Facts{Args: c.Input, Category: c.Category, Embedded: prg.Name == EmbeddedName,
		Call: &toolrt.Call{Dir: dir, Workspace: workspace, Category: c.Category}}
	if tool.Kind() == program.KindBuiltin {
		builtin, ok := builtins.Get(tool.BuiltinName())
		if !ok {
			return f, false
		}
		f.Spec = builtin.Spec()
		return f, true
	}
	readOnly, parallel, idempotent, _ := tool.Flags()
	f.Call.ScriptHash = hashOf([]byte(tool.Instructions))
	f.Spec = toolrt.Spec{Name: c.Tool, Source: "command", Flags: toolrt.Flags{ReadOnly: readOnly, Parallel: parallel || readOnly, Idempotent: idempotent}}
	if tool.Kind() == program.KindHTTP {
		f.Spec.Source, f.Preview.URL = "http", tool.Interpreter()
	}
	return f, true
}
