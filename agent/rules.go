package agent

import (
	"context"
	"fmt"
	"strings"

	"parley/toolrt/approval"
)

// Rules returns the rules in force in the session, the built-in ones included, in the order in which
// they were added.
func (s *Session) Rules() []approval.Rule { return s.policy.Rules() }

// AddRule puts a rule in force at once, for open questions too (A5), and keeps it if its scope is
// project or user.
func (s *Session) AddRule(ctx context.Context, r approval.Rule) error {
	if r.Scope != approval.Session && s.o.SaveRule != nil {
		if err := s.o.SaveRule(ctx, r); err != nil {
			return fmt.Errorf("keep rule %s: %w", r.String(), err)
		}
	}
	s.policy.Add(r)
	s.rulesChanged()
	return nil
}

// RevokeRule takes the rule of that id out of force at once, and out of the settings that keep it.
// The error is ErrNotFound when there is none; built-in rules stay.
func (s *Session) RevokeRule(ctx context.Context, id string) error {
	for _, r := range s.policy.Rules() {
		if r.ID != id {
			continue
		}
		if r.Scope == approval.Builtin {
			return fmt.Errorf("the rule %s is built in: it cannot be revoked", r.String())
		}
		if (r.Scope == approval.Project || r.Scope == approval.User) && s.o.ForgetRule != nil {
			if err := s.o.ForgetRule(ctx, r); err != nil {
				return fmt.Errorf("revoke rule %s: %w", r.String(), err)
			}
		}
		s.policy.Remove(id)
		s.rulesChanged()
		return nil
	}
	return fmt.Errorf("rule %q: %w", id, ErrNotFound)
}

// ParseRules reads rules, one a line.
func ParseRules(effect approval.Effect, text string, scope approval.Scope) ([]approval.Rule, error) {
	var rules []approval.Rule
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		rule, err := approval.ParseRule(effect, line, scope)
		if err != nil {
			return nil, fmt.Errorf("rule %q: %w", line, err)
		}
		rules = append(rules, rule)
	}
	return rules, nil
}
