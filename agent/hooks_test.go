//go:build unix

package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/agent/model"
	"parley/toolrt/approval"
)

// hookRun is a chat that calls the shell once, with hooks around it, and what came of it.
type hookRun struct {
	*rig
	asked  *yesman
	result string
	call   string // the arguments recorded
	by     string
	status string
}

func runWithHooks(t *testing.T, mode approval.Mode, rules []string, h agent.Hooks, command string) hookRun {
	t.Helper()
	args, _ := json.Marshal(map[string]string{"command": command})
	r := newRig(t, "Name: main\nChat: true\nTools: sys.exec\n\nmain", inOrder(map[string][]model.Reply{"main": {calling("exec " + string(args)), says("done")}}))
	r.policy.SetMode(mode)
	for _, text := range rules {
		effect := approval.Allow
		if rest, deny := strings.CutPrefix(text, "deny "); deny {
			effect, text = approval.Deny, rest
		}
		rule, err := approval.ParseRule(effect, text, approval.Session)
		if err != nil {
			t.Fatal(err)
		}
		r.policy.Add(rule)
	}
	got := hookRun{rig: r, asked: &yesman{}}
	r.change = func(o *agent.Options) { o.Authorizer, o.Hooks = got.asked, h }
	s := r.open()
	defer r.close(s)
	if resp := r.send(s, "go"); resp.Content != "done" {
		t.Fatalf("got %+v", resp)
	}
	got.result = results(r)[0]
	call, err := r.store.Call(t.Context(), "s1", "1/1.0")
	if err != nil {
		t.Fatal(err)
	}
	got.call, got.status = call.Input, string(call.Status)
	if call.Decision != nil {
		got.by = call.Decision.By
	}
	return got
}

func before(commands ...string) agent.Hooks {
	var h agent.Hooks
	for _, c := range commands {
		h.Before = append(h.Before, agent.Hook{Tool: "sys.*", Command: c})
	}
	return h
}

// Deny rule, hook deny, protected target, hook ask, hook allow, other rules: in this order (A18).
func TestA18OrderOfHooks(t *testing.T) {
	const (
		deny  = `echo '{"decision":"deny","reason":"not on Fridays"}'`
		ask   = `echo '{"decision":"ask","reason":"look twice"}'`
		allow = `echo '{"decision":"allow"}'`
	)
	for name, tt := range map[string]struct {
		mode       approval.Mode
		rules      []string
		hooks      []string
		command    string
		by, status string
		asked      int
	}{
		"deny rule before allow":      {approval.ModeAsk, []string{"deny sys.exec(echo **)"}, []string{allow}, "echo hi", "rule", "denied", 0},
		"plan mode before allow":      {approval.ModePlan, nil, []string{allow}, "echo hi", "mode", "denied", 0},
		"deny before an allow rule":   {approval.ModeAuto, []string{"sys.exec(echo **)"}, []string{allow, deny}, "echo hi", "hook", "denied", 0},
		"protected before allow":      {approval.ModeAsk, nil, []string{allow}, "echo hi > .git/hooks/x", "user", "failed", 1},
		"ask before an allow rule":    {approval.ModeAuto, []string{"sys.exec(echo **)"}, []string{allow, ask}, "echo hi", "user", "success", 1},
		"allow before the mode":       {approval.ModeAsk, nil, []string{allow}, "echo hi", "hook", "success", 0},
		"no opinion":                  {approval.ModeAsk, nil, []string{"true"}, "echo hi", "user", "success", 1},
		"failure is ask":              {approval.ModeAuto, nil, []string{"echo broken >&2; exit 3"}, "echo hi", "user", "success", 1},
		"no JSON is ask":              {approval.ModeAuto, nil, []string{"echo yes"}, "echo hi", "user", "success", 1},
		"two objects are ask":         {approval.ModeAuto, nil, []string{allow + ";" + allow}, "echo hi", "user", "success", 1},
		"another word is ask":         {approval.ModeAuto, nil, []string{`echo '{"decision":"ALLOW"}'`}, "echo hi", "user", "success", 1},
		"too much output is ask":      {approval.ModeAuto, nil, []string{"head -c 300000 /dev/zero | tr '\\0' ' '"}, "echo hi", "user", "success", 1},
		"does not run for other tool": {approval.ModeAuto, nil, nil, "echo hi", "mode", "success", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := before(tt.hooks...)
			if tt.hooks == nil {
				h.Before = []agent.Hook{{Tool: "sys.write", Command: deny}}
			}
			got := runWithHooks(t, tt.mode, tt.rules, h, tt.command)
			if got.by != tt.by || got.status != tt.status || len(got.asked.asked) != tt.asked {
				t.Errorf("by %s, %s, asked %d times: %s", got.by, got.status, len(got.asked.asked), got.result)
			}
			if tt.by == "hook" && tt.status == "denied" && !strings.Contains(got.result, `"feedback":"not on Fridays"`) {
				t.Errorf("the model reads %s", got.result)
			}
		})
	}
}

// A hook that takes too long counts as ask and is ended.
func TestA18HookTimeout(t *testing.T) {
	h := before("sleep 300")
	h.Before[0].Timeout = 50 * time.Millisecond
	begun := time.Now()
	got := runWithHooks(t, approval.ModeAuto, nil, h, "echo hi")
	if len(got.asked.asked) != 1 || !strings.Contains(got.asked.asked[0].Reason, "it took longer than 50ms") || time.Since(begun) > 20*time.Second {
		t.Errorf("asked %+v", got.asked.asked)
	}
}

// A hook changes the arguments: the changed call is judged, shown, run and recorded, and the model is
// told (A15, A18).
func TestA18HookChangesArguments(t *testing.T) {
	change := before(`cat > seen.json; echo '{"arguments":{"command":"echo changed"}}'`)
	got := runWithHooks(t, approval.ModeAsk, nil, change, "echo hi")
	if len(got.asked.asked) != 1 || got.asked.asked[0].Preview.Command != "echo changed" || got.call != `{"command":"echo changed"}` ||
		!strings.HasSuffix(got.result, "changed") || !strings.Contains(got.result, "arguments") {
		t.Errorf("asked %+v, recorded %s, result %s", got.asked.asked, got.call, got.result)
	}
	var in struct {
		Event, Tool, Call, Dir string
		Arguments              map[string]string
	}
	data, err := os.ReadFile(filepath.Join(got.dir, "seen.json"))
	if err != nil || json.Unmarshal(data, &in) != nil || in.Event != "before" || in.Tool != "sys.exec" || in.Call != "1/1.0" || in.Arguments["command"] != "echo hi" {
		t.Errorf("the hook read %s, %v", data, err)
	}
	// A deny rule binds the changed arguments too.
	if got := runWithHooks(t, approval.ModeAuto, []string{"deny sys.exec(echo changed)"}, change, "echo hi"); got.by != "rule" || got.status != "denied" {
		t.Errorf("by %s, %s", got.by, got.status)
	}
}

// Hooks after a call read what came of it, and may note something for the model; their failure changes
// nothing.
func TestHookStates(t *testing.T) {
	before := agent.Hook{Tool: "sys.*", Command: `echo '{"decision":"allow","reason":"it is fine"}'`}
	bad, after := agent.Hook{Command: "echo broken >&2; exit 3"}, agent.Hook{Command: `echo '{"note":"seen"}'`}
	other := agent.Hook{Tool: "sys.write", Command: "true"}
	r := runWithHooks(t, approval.ModeAsk, nil, agent.Hooks{Before: []agent.Hook{before, bad, other}, After: []agent.Hook{after}}, "true")
	var got []string
	for _, h := range r.session.HookStates() {
		got = append(got, fmt.Sprint(h.Command == "true", h.After, h.Runs, h.Failed, " ", h.Last))
	}
	want := []string{
		"false false 1 false call 1/1.0, sys.exec: allow: it is fine", "false false 1 true call 1/1.0, sys.exec: failed: exit status 3: broken",
		"true false 0 false ", "false true 1 false call 1/1.0, sys.exec: seen",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestHooksAfterACall(t *testing.T) {
	got := runWithHooks(t, approval.ModeAuto, nil, agent.Hooks{After: []agent.Hook{
		{Command: `grep -q '"status":"success","result":"hi.n","exitCode":0' && echo '{"note":"looks good"}'`}, {Command: "exit 1"}}}, "echo hi")
	if got.result != "hi\n[looks good]" {
		t.Errorf("the model reads %q", got.result)
	}
}

// A turn that is walked again finds an execution with changed arguments in its record (A14, A18).
func TestA14ChangedArgumentsSurviveACrash(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\nTools: sys.exec\n\nmain", nil)
	stop := make(chan struct{})
	r.model.answer = func(ctx context.Context, req model.Request, _ func(model.Delta)) (model.Reply, error) {
		if len(req.Messages) < 4 {
			return calling(`exec {"command":"echo hi"}`), nil
		}
		select {
		case <-stop:
			return says("done"), nil
		default:
			close(stop)
			<-ctx.Done()
			return model.Reply{}, ctx.Err()
		}
	}
	r.change = func(o *agent.Options) {
		o.Hooks = before(`echo '{"arguments":{"command":"echo changed >> n; echo ok"}}'`)
	}
	s := r.open()
	closed := make(chan struct{})
	go func() { <-stop; _ = s.Close(); close(closed) }()
	_, _ = s.Send(t.Context(), "go")
	<-closed
	r.hub.Close()
	s = r.open()
	defer r.close(s)
	resp, err := s.Resume(t.Context())
	if err != nil || resp.Content != "done" || r.ran("n")["changed"] != 1 {
		t.Errorf("got %+v, %v, ran %v", resp, err, r.ran("n"))
	}
}
