package agent

import (
	"parley/toolrt"
	"parley/toolrt/approval"
	"parley/toolrt/command"
)

// A command that a rule or the mode let through runs confined. If it fails and may have failed on
// that, the model is told so; when it makes the same call again, the person is asked whether it may
// run without.

// noteHindered remembers a call that may have failed on how it was confined.
func (c *call) noteHindered(o *toolrt.Outcome) {
	if !o.Hindered {
		return
	}
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	c.t.hindered[callPrint(c.name(), c.state.Start)] = true
}

// hindered reports whether the same call failed so earlier in the turn.
func (c *call) hindered(tc *toolrt.Call) bool {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	return c.t.hindered[callPrint(c.name(), tc.Arguments)]
}

// unconfine turns a verdict that lets a call run confined into a question whether it may run without,
// if that is what it failed on before and somebody can be asked.
func (t *turn) unconfine(tc *toolrt.Call, v approval.Verdict) approval.Verdict {
	if v.Effect != approval.Allow || t.s.o.Authorizer == nil && !t.s.o.Yes || t.s.o.Runtime.SandboxAll || !t.call(tc.ID).hindered(tc) {
		return v
	}
	return approval.Verdict{Effect: approval.Ask, By: "sandbox", Parts: v.Parts,
		Reason: "asked because it failed when it ran confined: if you allow it, it runs without"}
}

// confinement says how a call would be confined if a person allowed it, "" if not at all.
func (t *turn) confinement(spec toolrt.Spec) string {
	policy := t.s.o.Runtime.WithDefaults()
	if !spec.Confines || !policy.SandboxAll {
		return ""
	}
	return command.Applied(policy.Sandbox)
}
