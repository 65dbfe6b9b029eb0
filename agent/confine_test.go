package agent_test

import (
	"context"
	"strings"
	"testing"

	"parley/agent"
	"parley/agent/model"
	"parley/toolrt/approval"
	"parley/toolrt/command"
)

// yesman allows once whatever it is asked and keeps the questions.
type yesman struct{ asked []agent.ApprovalQuestion }

func (y *yesman) Authorize(_ context.Context, q agent.ApprovalQuestion) (agent.ApprovalAnswer, error) {
	q.Placed()
	y.asked = append(y.asked, q)
	return agent.ApprovalAnswer{Allow: true, Scope: "once"}, nil
}

// A command that the mode let through runs confined; when it failed on that, the model is told so,
// and the same call again asks the person, who lets it run without.
func TestConfinedCommandIsRunAgainWithout(t *testing.T) {
	if !command.CanConfine() {
		t.Skip(command.SandboxSupport())
	}
	outside := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir()) // it would be allowed
	call := `exec {"command":"echo x > ` + outside + `/f && echo written"}`
	r := newRig(t, "Name: main\nChat: true\nTools: sys.exec\n\nmain",
		inOrder(map[string][]model.Reply{"main": {calling(call), calling(call), says("done")}}))
	y := &yesman{}
	r.change = func(o *agent.Options) { o.Authorizer = y }
	r.policy.SetMode(approval.ModeAuto)
	s := r.open()
	defer r.close(s)
	if resp := r.send(s, "go"); resp.Content != "done" {
		t.Fatalf("got %+v", resp)
	}
	got := results(r)
	if !strings.Contains(got[0], "[It ran confined: writes only in the working folder") || got[1] != "written" {
		t.Errorf("results %q", got)
	}
	if len(y.asked) != 1 || !strings.Contains(y.asked[0].Reason, "failed when it ran confined") || len(y.asked[0].Rules) != 0 {
		t.Errorf("asked %+v", y.asked)
	}
	calls, err := r.store.TurnCalls(t.Context(), "s1", 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	var confined []string
	for _, c := range calls {
		if c.Tool == "sys.exec" {
			confined = append(confined, c.Decision.By+": "+c.Decision.Sandbox)
		}
	}
	if len(confined) != 2 || !strings.HasPrefix(confined[0], "mode: writes only") || confined[1] != "user: " {
		t.Errorf("recorded %q", confined)
	}
}

// What a person allows by key is confined too where the policy says so, and the question says how.
func TestConfinedAlways(t *testing.T) {
	if !command.CanConfine() {
		t.Skip(command.SandboxSupport())
	}
	outside := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	r := newRig(t, "Name: main\nChat: true\nTools: sys.exec\n\nmain",
		inOrder(map[string][]model.Reply{"main": {calling(`exec {"command":"echo x > ` + outside + `/f && echo written"}`), says("done")}}))
	y := &yesman{}
	r.change = func(o *agent.Options) { o.Authorizer, o.Runtime.SandboxAll = y, true }
	r.policy.SetMode(approval.ModeAsk)
	s := r.open()
	defer r.close(s)
	r.send(s, "go")
	if got := results(r); len(y.asked) != 1 || !strings.HasPrefix(y.asked[0].Sandbox, "writes only") || strings.Contains(got[0], "written") {
		t.Errorf("asked %+v, results %q", y.asked, got)
	}
}
