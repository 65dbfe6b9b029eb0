package cli

import (
	"context"

	"parley/agent"
	"parley/agent/record"
	"parley/persist"
	"parley/toolrt/approval"
)

// AddRule puts rules in force and keeps them (tui.Ruled).
func (c *screenChat) AddRule(ctx context.Context, effect approval.Effect, text string, scope approval.Scope) error {
	rules, err := agent.ParseRules(effect, text, scope)
	if err != nil {
		return err
	}
	for _, r := range rules {
		if err := c.Session.AddRule(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// RuleFile says where rules are kept (tui.RuleKeeper).
func (c *screenChat) RuleFile(scope string) string {
	var s approval.Scope
	if s.UnmarshalText([]byte(scope)) != nil {
		return ""
	}
	path, err := c.a.settingsOf(s)
	if err != nil {
		return ""
	}
	return path
}

// TryRule finds the calls of this session that rules would have decided about (tui.Ruled).
func (c *screenChat) TryRule(ctx context.Context, effect approval.Effect, text string) ([]record.Call, error) {
	rules, err := agent.ParseRules(effect, text, approval.Session)
	if err != nil {
		return nil, err
	}
	hits, err := c.a.tryRules(ctx, rules, persist.HistoryQuery{Session: c.Row().ID, Limit: trialCalls})
	if err != nil {
		return nil, err
	}
	calls := make([]record.Call, len(hits))
	for i, h := range hits {
		calls[i] = h.Call
	}
	return calls, nil
}

// Decisions reads the log of decisions (tui.Ruled).
func (c *screenChat) Decisions(ctx context.Context, before int64, limit int) ([]record.Approval, error) {
	list, err := c.store.Decisions(ctx, persist.DecisionQuery{Session: c.Row().ID, Before: before, Limit: limit})
	if err != nil {
		return nil, err
	}
	rows := make([]record.Approval, len(list))
	for i, d := range list {
		rows[i] = d.Approval
	}
	return rows, nil
}
