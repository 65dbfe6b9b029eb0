package cli

import (
	"fmt"
	"strings"

	"parley/toolrt"
	"parley/toolrt/command"
)

// parseSandbox reads the value of --sandbox: words with commas between.
func parseSandbox(value string) (*sandboxConfig, error) {
	if value == "" {
		return nil, nil
	}
	s := &sandboxConfig{}
	for word := range strings.SplitSeq(value, ",") {
		switch word = strings.TrimSpace(word); word {
		case "no-network":
			s.Network = new(bool)
		case "always":
			s.Always = true
		default:
			if _, err := toolrt.ParseProfile(word); err != nil {
				return nil, fmt.Errorf("%w, no-network, always", err)
			}
			s.Profile = word
		}
	}
	return s, nil
}

// SandboxFacts says what confines commands (tui.Confiner).
func (b *backend) SandboxFacts() []string {
	policy := b.a.cfg.policy()
	lines := []string{"profile: " + firstSet(string(policy.Sandbox.Profile), string(toolrt.ProfileOff))}
	if applied := command.Applied(policy.Sandbox); applied != "" {
		lines = append(lines, "commands get: "+applied)
	} else {
		lines = append(lines, "commands get: no confinement")
	}
	who := "calls that a rule or the mode lets through; one that you allow by key runs as you would run it"
	if policy.SandboxAll {
		who = "every call, also one that you allow by key"
	}
	return append(lines, "holds for: "+who, "this system: "+command.SandboxSupport(), "network: "+networkSupport(), "",
		"The settings' key sandbox and the flag --sandbox change it for the next start.",
		"A command that failed because of it can be run again without it, after a question.")
}

func networkSupport() string {
	if command.CanCutNetwork() {
		return "can be cut off here (bubblewrap)"
	}
	return strings.TrimPrefix(command.Applied(toolrt.Sandbox{NoNetwork: true}), "network ")
}

// sandbox takes --sandbox over the settings, and says plainly what of it cannot be done here.
func (a *app) sandbox() {
	if s, err := parseSandbox(a.f.sandbox); err == nil && s != nil {
		a.cfg.Sandbox = s
	}
	s := a.cfg.Sandbox
	if s == nil {
		return
	}
	policy := a.cfg.policy()
	if applied := command.Applied(policy.Sandbox); strings.Contains(applied, " not ") {
		a.tell("commands are not confined as asked for: " + applied)
	}
}
