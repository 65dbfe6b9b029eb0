package toolrt

import (
	"fmt"
	"strings"
)

// Profile says where a confined command may write.
type Profile string

// The profiles.
const (
	ProfileOff Profile = "off" // anywhere
	// ProfileWrite allows writes below the working folder, the workspace, and temporary and cache
	// folders.
	ProfileWrite Profile = "workspace-write"
	ProfileRead  Profile = "read-only" // nowhere
)

// Sandbox is how commands are confined. The zero value confines nothing.
type Sandbox struct {
	Profile   Profile // "" is ProfileOff
	NoNetwork bool
}

// On reports whether s confines anything.
func (s Sandbox) On() bool { return s.Profile != "" && s.Profile != ProfileOff || s.NoNetwork }

// ParseProfile reads a profile's name.
func ParseProfile(name string) (Profile, error) {
	switch p := Profile(name); p {
	case ProfileOff, ProfileWrite, ProfileRead:
		return p, nil
	}
	return "", fmt.Errorf("%q is none of %s, %s, %s", name, ProfileOff, ProfileWrite, ProfileRead)
}

// sandbox is how the call is confined: as the policy says where a rule or mode let it through, and
// not at all where a person allowed this very call, unless the policy confines these too.
func (p *Prepared) sandbox() Sandbox {
	byPerson := p.decision.By == "user" || p.decision.By == "flag"
	if byPerson && !p.r.policy.SandboxAll {
		return Sandbox{}
	}
	return p.r.policy.Sandbox
}

// applied notes in the decision how the call is confined.
func (p *Prepared) applied() {
	p.decision.Sandbox = ""
	if s := p.sandbox(); p.spec.Confines && s.On() && p.r.opts.Applied != nil {
		p.decision.Sandbox = p.r.opts.Applied(s)
	}
}

// hindered reports whether a call that failed may have failed on how it was confined.
func (p *Prepared) hindered(res Output, text excerpt) bool {
	return p.decision.Sandbox != "" && res.IsError && hinderedText(text.head+"\n"+text.tail)
}

// hinderedNote tells the model of it.
func (p *Prepared) hinderedNote() string {
	return "[It ran confined: " + p.decision.Sandbox + ". If it failed on that, make the same call again: the person is then asked to let it run without.]"
}

// hinderedSigns are what programs print when a file may not be written or the network is not there.
var hinderedSigns = []string{
	"permission denied", "operation not permitted", "read-only file system", "eacces", "eperm", "erofs",
	"network is unreachable", "could not resolve host", "temporary failure in name resolution", "name or service not known",
	"no such host", "failed to resolve", "enetunreach", "eai_again", "network unreachable",
}

// hinderedText reports whether what a failed command printed speaks of that.
func hinderedText(text string) bool {
	text = strings.ToLower(text)
	for _, sign := range hinderedSigns {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}
