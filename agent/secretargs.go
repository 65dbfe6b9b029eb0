package agent

import (
	"slices"
	"strings"

	"parley/agent/model"
	"parley/agent/program"
	"parley/toolrt"
)

// The value of an argument that a tool's schema marks as secret reaches that tool and nothing else
// (R70): the conversation, the rows and the events hold a mark in its place. It is kept in memory until
// the call has run; a turn that is walked again does not have it any more.

// secretMark begins what stands in the place of a secret argument.
const secretMark = "‹secret:"

// secretsOf names the secret arguments of an offered tool.
func secretsOf(o program.Offered) []string {
	if o.Tool == nil {
		return nil
	}
	return toolrt.SecretProperties(o.Tool.Schema())
}

// anySecrets reports whether an offered tool has secret arguments.
func anySecrets(offered []program.Offered) bool {
	return slices.ContainsFunc(offered, func(o program.Offered) bool { return len(secretsOf(o)) > 0 })
}

// hideArguments puts marks in the place of secret arguments in a reply, makes the values known to the
// redactor, and returns the arguments as they came by the place of the call.
func (c *call) hideArguments(m *model.Message, offered []program.Offered) map[int]string {
	if !anySecrets(offered) {
		return nil
	}
	clear := map[int]string{}
	n := 0
	m.Content = slices.Clone(m.Content)
	for i, p := range m.Content {
		if p.ToolCall == nil {
			continue
		}
		tc := *p.ToolCall
		for _, o := range offered {
			secret := secretsOf(o)
			if !strings.EqualFold(o.Name, tc.Function.Name) || len(secret) == 0 {
				continue
			}
			fields := object(tc.Function.Arguments)
			for _, name := range secret {
				if value, ok := fields[name].(string); ok {
					c.t.s.addSecret(name, value)
				}
			}
			clear[n] = tc.Function.Arguments
			tc.Function.Arguments = toolrt.MaskArguments(tc.Function.Arguments, secret)
			m.Content[i].ToolCall = &tc
		}
		n++
	}
	return clear
}

// arguments are those that the call's tool gets. The error is set where they are not known any more.
func (s *callState) arguments(o toolrt.Tool) (string, *toolrt.Error) {
	if s.clear != "" {
		return s.clear, nil
	}
	for _, name := range o.Spec().Secrets() {
		if value, ok := object(s.Input)[name].(string); ok && strings.HasPrefix(value, secretMark) {
			yes := true
			return s.Input, &toolrt.Error{Kind: toolrt.KindInterrupted, Retryable: &yes,
				Message: "the call did not run: the program ended before, and the value of its argument " + name + " is not kept; make the call again"}
		}
	}
	return s.Input, nil
}
