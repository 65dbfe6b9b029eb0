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
