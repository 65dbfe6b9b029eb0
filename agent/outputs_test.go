package agent_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/agent"
	"parley/agent/model"
	"parley/toolrt/approval"
)

// keeping is a journal that keeps whole outputs in a folder.
type keeping struct {
	agent.Journal
	dir string
}

func (k keeping) OutputDir() string { return k.dir }

const longOutput = "Name: main\nChat: true\nTools: long, sys.ls\n\nmain\n---\nName: long\n\n#!/bin/sh\nseq 1 500\n"

// outputRig is a program with a tool whose output is cut, and a model that reads more of it.
func outputRig(t *testing.T) (r *rig, outputs string) {
	r = newRig(t, longOutput, inOrder(map[string][]model.Reply{"main": {
		calling(`ls {}`), calling(`long`), calling(`readOutput {"id":"t1_1_2.0_0","first":250,"count":2}`), says("done"), says("again")}}))
	r.change = func(o *agent.Options) { o.Runtime.MaxOutputLines = 20 }
	return r, t.TempDir()
}

// names lists the tools of a request.
func names(req model.Request) string {
	var list []string
	for _, t := range req.Tools {
		list = append(list, t.Name)
	}
	return strings.Join(list, " ")
}

func TestR64ReaderIsOfferedFromTheFirstCutOn(t *testing.T) {
	r, outputs := outputRig(t)
	s := r.openWith(keeping{r.journal(), outputs})
	r.send(s, "go")
	r.close(s)
	var offered []string
	for _, req := range r.model.requests() {
		offered = append(offered, names(req))
	}
	if want := []string{"long ls", "long ls", "long ls readOutput", "long ls readOutput"}; !slices.Equal(offered, want) {
		t.Errorf("offered %q", offered)
	}
	conversation := r.conversation("1")
	for _, want := range []string{
		"saved as t1_1_2.0_0, read it with readOutput ...]",
		"tool: 250\t250\n251\t251\n[lines 250 to 251 of 500 of t1_1_2.0_0; go on with first 252]",
	} {
		if !strings.Contains(conversation, want) {
			t.Errorf("no %q in:\n%s", want, conversation)
		}
	}
	// It stays in later turns, also in another process.
	s = r.openWith(keeping{r.journal(), outputs})
	r.send(s, "go on")
	r.close(s)
	if got := names(r.model.requests()[4]); got != "long ls readOutput" {
		t.Errorf("the next turn is offered %s", got)
	}
}

// A program whose own tool has the name keeps it.
func TestR64ReaderGivesWay(t *testing.T) {
	r := newRig(t, "Name: main\nChat: true\nTools: long, sys.ls as readOutput\n\nmain\n---\nName: long\n\n#!/bin/sh\nseq 1 500\n",
		inOrder(map[string][]model.Reply{"main": {calling(`long`), says("done")}}))
	r.change = func(o *agent.Options) { o.Runtime.MaxOutputLines = 20 }
	s := r.openWith(keeping{r.journal(), t.TempDir()})
	defer r.close(s)
	r.send(s, "go")
	if got := names(r.model.requests()[1]); got != "long readOutput" || len(r.model.requests()[1].Tools) != 2 {
		t.Errorf("offered %s", got)
	}
}

// A turn that is walked again offers the reader in the same requests, or it could not go on.
func TestR64WalkedAgain(t *testing.T) {
	r, outputs := outputRig(t)
	s := r.openWith(keeping{r.journal(), outputs})
	r.send(s, "go")
	r.close(s)
	want := r.conversation("1")
	for n := 1; n < 18; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			r, outputs := outputRig(t)
			ctx, cut := context.WithCancel(t.Context())
			defer cut()
			s := r.openWith(&mortal{Journal: keeping{r.journal(), outputs}, left: n, cut: cut})
			_, err := s.Send(ctx, "go")
			t.Logf("stopped: %v", err)
			_ = s.Close() // a dead process says nothing
			r.hub.Close()

			s = r.openWith(keeping{r.journal(), outputs})
			if !s.Unfinished() && r.conversation("1") == "" {
				r.send(s, "go")
			}
			for _, o := range s.InDoubt() {
				if err := s.Resolve(t.Context(), o.Key, agent.ResolveRerun, ""); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
			r.close(s)
			if got := r.conversation("1"); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// Rules that keep a file from being read keep it from tools that walk, whatever tool they name.
func TestP11DeniedFileIsNotFoundByASearch(t *testing.T) {
	for _, rule := range []string{"sys.read(path: .secret/key)", "sys.grep(path: .secret/k*)", "sys.*(path: .secret/*)"} {
		r := newRig(t, "Name: main\nTools: sys.grep, sys.glob, sys.view\n\nmain", inOrder(map[string][]model.Reply{"main": {
			calling(`grep {"pattern":"needle","path":".secret"}`, `view {"filename":"open"}`), says("done")}}))
		deny, err := approval.ParseRule(approval.Deny, rule, approval.Session)
		if err != nil {
			t.Fatal(err)
		}
		r.policy.Add(deny)
		if err := os.MkdirAll(filepath.Join(r.dir, ".secret"), 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{".secret/key": "needle\n", ".secret/other": "nothing\n", "open": "free\n"} {
			if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s := r.open()
		r.send(s, "go")
		r.close(s)
		if got := r.conversation("1"); strings.Contains(got, "key:1") || !strings.Contains(got, "No matches found") || !strings.Contains(got, "1\tfree") {
			t.Errorf("%s:\n%s", rule, got)
		}
	}
}

// What a context says is kept once, however many requests it stands in, and a turn that is walked
// again finds it.
func TestLongContextIsKeptOnce(t *testing.T) {
	const long = 20_000
	source := "Name: main\nChat: true\nTools: sys.ls\nContext: long\n\nmain\n---\nName: long\n\n#!/bin/sh\nhead -c 20000 /dev/zero | tr '\\0' x\n"
	script := inOrder(map[string][]model.Reply{"main": {calling(`ls {}`), calling(`ls {}`), says("done")}})
	var want string
	for n := range 17 {
		r := newRig(t, source, script)
		if n > 0 {
			r.dieAfter(n)
		}
		s := r.open()
		if s.Unfinished() {
			for _, o := range s.InDoubt() {
				if err := s.Resolve(t.Context(), o.Key, agent.ResolveRerun, ""); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
		} else if r.conversation("1") == "" {
			r.send(s, "go")
		}
		r.close(s)
		if got := r.conversation("1"); n == 0 {
			want = got
		} else if got != want {
			t.Errorf("stopped after %d commits:\n%s", n, got)
		}
		for _, req := range r.model.requests() {
			if text := req.Messages[0].Text(); len(text) != long+len("\nmain") {
				t.Errorf("stopped after %d commits: a system text of %d bytes", n, len(text))
			}
		}
		j := r.journal()
		entries, err := j.Entries(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		calls, err := j.Calls(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if len(e.Result) > long/2 {
				t.Errorf("stopped after %d commits: entry %+v holds %d bytes", n, e.Key, len(e.Result))
			}
		}
		for _, c := range calls {
			if len(c.Result) > long/2 {
				t.Errorf("stopped after %d commits: the row of %s holds %d bytes", n, c.Path, len(c.Result))
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
