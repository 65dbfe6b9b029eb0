package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"parley/agent/monitor"
	"parley/agent/program"
	"parley/agent/record"
	"parley/toolrt"
	"parley/toolrt/approval"
)

// errRedecided is the cause of a question's end when a rule made meanwhile has answered it.
var errRedecided = errors.New("decided by a rule")

// Approve decides whether a command may run (toolrt.Approver): by the record, by rules and mode,
// or by asking the person. A decision of a person, and every denial, is an effect of its own;
// other decisions are stored with the execution they let through.
func (t *turn) Approve(ctx context.Context, tc *toolrt.Call) (toolrt.Decision, error) {
	c := t.call(tc.ID)
	facts := c.facts(ctx, tc, tc.Arguments)
	if d, ok := c.decidedEarlier(tc, facts.Preview.Basis); ok {
		return d, nil
	}
	facts, verdict, err := c.judge(ctx, tc, facts)
	if err != nil {
		return toolrt.Decision{}, err
	}
	verdict = t.unconfine(tc, verdict)
	d := toolrt.Decision{Allow: verdict.Effect == approval.Allow, By: verdict.By, Reason: verdict.Reason, At: t.s.now()}
	if verdict.Rule != nil {
		d.Rule, d.Scope = verdict.Rule.String(), verdict.Rule.Scope.String()
	}
	d.Arguments = edit(tc, facts.Args)
	switch {
	case verdict.Effect != approval.Deny && c.answered():
		d, err = c.askPerson(ctx, tc, facts, verdict)
	case verdict.Effect == approval.Ask && c.ownServer():
		d = toolrt.Decision{Allow: true, By: "safe", Reason: "it is an MCP server of your settings", At: t.s.now()}
	case verdict.Effect == approval.Ask && t.s.o.Yes && !verdict.Protected:
		d = toolrt.Decision{Allow: true, By: "flag", Reason: "--yes", Arguments: d.Arguments, At: t.s.now()}
	case verdict.Effect == approval.Ask:
		d, err = c.askPerson(ctx, tc, facts, verdict)
	case verdict.Effect == approval.Deny:
		d.Note = d.Reason
		if d.Rule != "" {
			d.Note = "denied by the rule " + d.Rule
		}
		_, err = c.recordDecision(ctx, tc, func(context.Context) (toolrt.Decision, error) { return d, nil })
	}
	if err != nil {
		return toolrt.Decision{}, err
	}
	if d.Basis == "" {
		d.Basis = facts.Preview.Basis
	}
	c.remember(tc, d)
	t.s.rememberPast(facts)
	return d, nil
}

// answered reports whether the person was asked about the call in an earlier walk and had answered:
// a mode or rule that came since does not take the answer's place.
func (c *call) answered() bool {
	return c.t.recorded[c.askKey()].Finished
}

// askKey is the key of the call's next decision.
func (c *call) askKey() record.Key {
	return record.Key{Turn: c.t.row.Number, Path: c.path + "/ask", Ordinal: c.asks}
}

// decidedEarlier returns the decision that already covers the call: one made in this walk, one
// from the record, or for a context or filter that runs again the one of this turn.
func (c *call) decidedEarlier(tc *toolrt.Call, basis string) (toolrt.Decision, bool) {
	if c.decided != nil && c.decidedFor == tc.Arguments && (c.decided.Basis == basis || !c.decided.Allow) {
		return *c.decided, true
	}
	t := c.t
	if c.tool.OperationSchema() {
		return toolrt.Decision{Allow: true, By: "safe", Reason: "it only tells what the program's document says", At: t.s.now()}, true
	}
	if c.tool.Kind() == program.KindEcho {
		return toolrt.Decision{Allow: true, By: "safe", Reason: "it only gives back its own text", At: t.s.now()}, true
	}
	if c.wasRefused() {
		return toolrt.Decision{By: "user", Reason: "you did not let it start in this session", At: t.s.now()}, true
	}
	if c.runningServer() {
		return toolrt.Decision{Allow: true, By: "safe", Reason: "the server runs already: it is asked for its tools", At: t.s.now()}, true
	}
	if entry, begun := t.recorded[c.executionKey()]; begun && !passing(c.state.Category) {
		return toolrt.Decision{Allow: true, By: "user", Scope: "once", Reason: "it had begun before the program ended",
			Arguments: c.begunWith(entry, tc)}, true
	}
	if c.state.Category == "" {
		return toolrt.Decision{}, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	d, ok := t.covered[c.tool.ID]
	return d, ok
}

// begunWith returns the arguments that an execution had begun with, where a person or a hook had
// changed the model's; nil otherwise.
func (c *call) begunWith(entry record.Entry, tc *toolrt.Call) *string {
	var request execution
	if json.Unmarshal(entry.Request, &request) != nil {
		return nil
	}
	s := c.t.s
	if request.Arguments == s.redact(maskArgs(tc.Arguments, tc.Tool.Spec().Secrets())) || request.Arguments == s.redact(tc.Arguments) {
		return nil
	}
	var d toolrt.Decision // as the person gave it, with what is not to be stored twice
	if asked, ok := c.t.recorded[c.askKey()]; ok && json.Unmarshal(asked.Result, &d) == nil && d.Arguments != nil {
		return d.Arguments
	}
	return &request.Arguments
}

func (c *call) remember(tc *toolrt.Call, d toolrt.Decision) {
	c.decided, c.decidedFor = &d, tc.Arguments
	if c.state.Category != "" && d.Allow {
		c.t.mu.Lock()
		defer c.t.mu.Unlock()
		c.t.covered[c.tool.ID] = d
	}
}

// facts is what is judged about the call with the given arguments.
func (c *call) facts(ctx context.Context, tc *toolrt.Call, args string) approval.Facts {
	f := approval.Facts{Call: tc, Spec: tc.Tool.Spec(), Args: args, Category: c.state.Category,
		Embedded: c.t.program().Name == EmbeddedName}
	if p, ok := tc.Tool.(toolrt.Previewer); ok {
		shown := *tc
		shown.Arguments = args
		if preview, err := p.Preview(ctx, &shown); err == nil {
			f.Preview = preview
		}
	}
	return f
}

// askPerson puts the call to the person and records the answer. With nobody there it is a denial
// that names what would have allowed it (A17).
func (c *call) askPerson(ctx context.Context, tc *toolrt.Call, facts approval.Facts, v approval.Verdict) (toolrt.Decision, error) {
	t := c.t
	d, err := c.recordDecision(ctx, tc, func(ctx context.Context) (toolrt.Decision, error) {
		if t.s.o.Authorizer == nil {
			return t.deny(facts, v), nil
		}
		d, err := c.question(ctx, tc, facts, v)
		if errors.Is(err, ErrNobody) {
			return t.deny(facts, v), nil // there was somebody to ask, but nobody behind
		}
		return d, err
	})
	if d.By == "nobody" {
		t.mu.Lock()
		t.nobody = true
		t.mu.Unlock()
	}
	return d, err
}

// deny is the decision when nobody can be asked.
func (t *turn) deny(facts approval.Facts, v approval.Verdict) toolrt.Decision {
	hint := "--yes"
	if rules := t.s.policy.Suggest(facts); len(rules) > 0 && !v.Protected {
		hint = fmt.Sprintf("--allow '%s' or --yes", rules[0].String())
	}
	told := fmt.Sprintf("%s was denied: nobody is there to ask; %s would have allowed it", facts.Spec.Name, hint)
	if v.Protected {
		told = fmt.Sprintf("%s was denied: nobody is there to ask, and only a person at a terminal can allow it (%s)", facts.Spec.Name, t.s.redact(v.Reason))
	}
	t.say(told)
	return toolrt.Decision{By: "nobody", Reason: v.Reason, At: t.s.now()}
}

// recordDecision makes a decision an effect: one made in an earlier walk is taken from the record.
func (c *call) recordDecision(ctx context.Context, tc *toolrt.Call, decide func(ctx context.Context) (toolrt.Decision, error)) (toolrt.Decision, error) {
	key := c.askKey()
	c.asks++
	var d toolrt.Decision
	result, recorded, err := c.t.do(ctx, effect{kind: record.EntryApproval, key: key, question: true, durable: true,
		request: execution{Tool: tc.Tool.Spec().Name, Arguments: c.t.s.redact(tc.Arguments)}},
		func(ctx context.Context) (any, record.Rows, error) {
			var err error
			if d, err = decide(ctx); err != nil {
				return nil, record.Rows{}, err
			}
			c.row.Decision = &d
			c.row.Status = toolrt.StatusPending
			if !d.Allow {
				c.row.Status = toolrt.StatusDenied
			}
			return d, record.Rows{Approvals: []record.Approval{c.approval(c.t.s.redact(tc.Arguments), d)},
				Calls: []record.Call{c.row}}, nil
		})
	if err != nil || !recorded {
		return d, err
	}
	if err := json.Unmarshal(result, &d); err != nil {
		return d, fmt.Errorf("read recorded decision of call %s: %w", c.path, err)
	}
	return d, nil
}

func (c *call) approval(args string, d toolrt.Decision) record.Approval {
	return record.Approval{Turn: c.t.row.Number, Path: c.path, Tool: c.name(), Args: args,
		ArgsHash: hashOf([]byte(args)), Decision: d}
}

// question asks the person until there is a decision: an edit is judged again, a changed file asks
// anew, and a rule made by another answer may decide meanwhile (A5).
func (c *call) question(ctx context.Context, tc *toolrt.Call, facts approval.Facts, v approval.Verdict) (toolrt.Decision, error) {
	t, asked := c.t, time.Now()
	c.waiting(toolrt.StatusWaiting)
	defer t.s.asking(ctx, record.StateAsk)()
	c.event(monitor.Event{Type: monitor.CallConfirm, Calls: []record.Call{c.row}})
	again := ""
	if c.decided != nil {
		again = "the file has changed since you answered"
	}
	for {
		ans, decided, err := t.s.authorize(ctx, c.approvalQuestion(ctx, tc, facts, v, again), facts, v)
		if err != nil {
			return toolrt.Decision{}, err
		}
		if decided != nil {
			decided.Wait = time.Since(asked)
			decided.Arguments = edit(tc, facts.Args)
			return *decided, nil
		}
		d := toolrt.Decision{Allow: ans.Allow, By: "user", Scope: ans.Scope, Note: ans.Note, Stop: ans.Stop,
			Reason: v.Reason, Wait: time.Since(asked), At: t.s.now()}
		args := facts.Args
		if ans.Allow && ans.Arguments != nil {
			args = *ans.Arguments
		}
		now := c.facts(ctx, tc, args)
		d.Arguments, d.Basis = edit(tc, args), now.Preview.Basis
		if args != facts.Args {
			// What was shown is not what would run: it is judged and put to the person anew.
			if now, v, err = c.judge(ctx, tc, now); err != nil {
				return toolrt.Decision{}, err
			}
			d.Arguments, d.Basis = edit(tc, now.Args), now.Preview.Basis
			switch v.Effect {
			case approval.Deny:
				d.Allow, d.Note = false, "the edited call is denied: "+v.Reason
				return d, nil
			case approval.Ask:
				facts, again = now, "you changed the arguments: this is what would run now"
				continue
			}
			return d, nil
		}
		if ans.Scope != "" && ans.Scope != "once" && ans.Rule != "" {
			if d.Rule, err = t.s.makeRule(ctx, ans); err != nil {
				again = err.Error()
				continue
			}
		}
		if ans.Allow && now.Preview.Basis != facts.Preview.Basis {
			facts, again = now, "the file has changed since this was shown"
			continue
		}
		return d, nil
	}
}

// edit returns args if the person has changed them, nil otherwise.
func edit(tc *toolrt.Call, args string) *string {
	if args == tc.Arguments {
		return nil
	}
	return &args
}

func (c *call) waiting(s toolrt.Status) { c.row.Status = s }

// approvalQuestion is what the person is shown.
func (c *call) approvalQuestion(ctx context.Context, tc *toolrt.Call, facts approval.Facts, v approval.Verdict, again string) ApprovalQuestion {
	t := c.t
	spec := facts.Spec
	c.shownQuestions++
	q := ApprovalQuestion{ID: fmt.Sprintf("%d:%s:%d", t.row.Number, c.path, c.shownQuestions), Turn: t.row.Number, Path: c.path,
		Label: c.state.Label, Agents: tc.Agents, Own: c.parent.makesOwn(), Tool: spec.Name, Source: spec.Source, Category: c.state.Category,
		Arguments: t.s.redact(maskArgs(facts.Args, spec.Secrets())), Script: t.s.redact(tc.Script), Preview: redactPreview(t.s, facts.Preview),
		Dir: t.s.o.Dir, Sandbox: t.confinement(spec), Placed: func() { toolrt.Asked(ctx) }, Reason: t.s.redact(v.Reason), Protected: v.Protected, Again: again, Place: c.place, Batch: c.batchSize}
	for _, p := range v.Parts {
		q.Parts = append(q.Parts, CommandPart{Text: t.s.redact(p.Text), Covered: p.Covered})
	}
	if !v.Protected && !c.hindered(tc) {
		t.recallPast(ctx)
		for _, choice := range t.s.policy.Choices(facts) {
			var lines []string
			for _, r := range choice.Rules {
				lines = append(lines, r.String())
			}
			q.Rules = append(q.Rules, RuleOffer{Text: strings.Join(lines, "\n"), Past: t.s.pastMatches(choice.Rules, tc.ID)})
		}
	}
	return q
}

func redactPreview(s *Session, p toolrt.Preview) toolrt.Preview {
	p.Summary, p.Command, p.Diff, p.URL = s.redact(p.Summary), s.redact(p.Command), s.redact(p.Diff), s.redact(p.URL)
	return p
}

// maskArgs hides secret top-level arguments (R70).
func maskArgs(args string, secret []string) string {
	if len(secret) == 0 {
		return args
	}
	keys := object(args)
	masked := false
	for _, name := range secret {
		if _, ok := keys[name]; ok {
			keys[name], masked = "••••••••", true
		}
	}
	if !masked {
		return args
	}
	text, _ := json.Marshal(keys) // decoded from JSON
	return string(text)
}

// authorize asks the Authorizer. decided is set instead when a rule made meanwhile has answered.
func (s *Session) authorize(ctx context.Context, q ApprovalQuestion, facts approval.Facts, asked approval.Verdict) (ans ApprovalAnswer, decided *toolrt.Decision, err error) {
	qctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	judge := func() {
		// What a hook asks about, or what failed when it ran confined, no rule allows (A18).
		pinned := asked.By == "hook" || asked.By == "sandbox"
		if v := s.policy.Judge(facts); v.Effect == approval.Deny || v.Effect == approval.Allow && !pinned {
			cancel(errRedecided)
		}
	}
	forget := s.onRules(judge)
	defer forget()
	ans, err = s.o.Authorizer.Authorize(qctx, q)
	if err == nil || !errors.Is(context.Cause(qctx), errRedecided) {
		return ans, nil, err
	}
	v := s.policy.Judge(facts)
	d := toolrt.Decision{Allow: v.Effect == approval.Allow, By: v.By, Reason: v.Reason, At: s.now()}
	if v.Rule != nil {
		d.Rule, d.Scope = v.Rule.String(), v.Rule.Scope.String()
	}
	return ans, &d, nil
}

// makeRule puts the rules of an answer (one a line: a compound command may need several) in force,
// and keeps them if their scope says so.
func (s *Session) makeRule(ctx context.Context, ans ApprovalAnswer) (string, error) {
	effect := approval.Deny
	if ans.Allow {
		effect = approval.Allow
	}
	var scope approval.Scope
	if err := scope.UnmarshalText([]byte(ans.Scope)); err != nil {
		return "", err
	}
	rules, err := ParseRules(effect, ans.Rule, scope)
	if err != nil {
		return "", err
	}
	for _, rule := range rules {
		if err := s.AddRule(ctx, rule); err != nil {
			return "", err
		}
	}
	return strings.TrimSpace(ans.Rule), nil
}
