//go:build unix

package command_test

import (
	"context"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/toolrt"
	"parley/toolrt/command"
)

func execute(t *testing.T, o toolrt.Options, body string, call toolrt.Call) *toolrt.Outcome {
	t.Helper()
	r := toolrt.New(o)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	interpreter, script := command.Split(body)
	call.Tool = &command.Tool{Name: "t", Interpreter: interpreter, Script: script}
	call.ID, call.Name, call.Dir, call.OutputID = "1", "t", t.TempDir(), "out"
	outcome, err := r.Execute(t.Context(), &call)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

func TestT03RuntimeTimeout(t *testing.T) {
	begun := time.Now()
	o := execute(t, toolrt.Options{Policy: toolrt.Policy{CommandTimeout: 300 * time.Millisecond}},
		"#!/bin/sh\necho so far\ntrap '' TERM\nsetsid sleep 300 &\nwhile :; do sleep 300; done", toolrt.Call{})
	if o.Status != toolrt.StatusTimeout || o.Abandoned || !strings.Contains(o.Message, "so far") {
		t.Errorf("got %s, abandoned %t: %s", o.Status, o.Abandoned, o.Message)
	}
	if took := time.Since(begun); took > 2500*time.Millisecond {
		t.Errorf("took %v", took)
	}
}

func TestRuntimeTexts(t *testing.T) {
	for name, tt := range map[string]struct {
		body string
		call toolrt.Call
		want string
	}{
		"result":       {"#!/bin/sh\necho out; echo err >&2", toolrt.Call{}, "out\n"},
		"failure":      {"#!/bin/sh\necho out\necho err >&2\nexit 3", toolrt.Call{}, "ERROR: got (exit status 3) while running tool, OUTPUT: out\nerr\n"},
		"context":      {"#!/bin/sh\necho out\nexit 3", toolrt.Call{Category: "context"}, "ERROR: out\n: exit status 3"},
		"empty":        {"#!/bin/true", toolrt.Call{}, ""},
		"chat finish":  {"#!/bin/echo CHAT FINISH: no", toolrt.Call{Category: "context"}, "CHAT FINISH: no\n"},
		"no such tool": {"#!/nonexistent/x", toolrt.Call{Category: "input"}, ": exit status 127"},
	} {
		t.Run(name, func(t *testing.T) {
			o := execute(t, toolrt.Options{}, tt.body, tt.call)
			if o.Message != tt.want && (name != "no such tool" || !strings.HasSuffix(o.Message, tt.want)) {
				t.Errorf("got %q, want %q", o.Message, tt.want)
			}
		})
	}
}

// pieces counts what an observer gets.
type pieces struct{ bytes atomic.Int64 }

func (p *pieces) Output(_ *toolrt.Call, chunk string) { p.bytes.Add(int64(len(chunk))) }

func TestT05RuntimeMemory(t *testing.T) {
	const size = 300_000_000
	var peak atomic.Uint64
	done := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		var m runtime.MemStats
		for {
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), m.HeapInuse))
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	dir := t.TempDir()
	o := execute(t, toolrt.Options{OutputDir: dir, Observer: &pieces{}},
		"#!/bin/sh -c 'echo first; yes 0123456789012345678 | head -c 300000000; echo note >&2; echo last'", toolrt.Call{})
	close(done)
	<-watched
	if o.Status != toolrt.StatusSuccess || !o.Truncated || o.OutputBytes != size+int64(len("first\nlast\n")) {
		t.Errorf("got %s, truncated %t, %d bytes", o.Status, o.Truncated, o.OutputBytes)
	}
	if !strings.HasPrefix(o.Message, "first\n0123") || !strings.HasSuffix(o.Message, "\nlast\n") && !strings.HasSuffix(o.Message, "\nlast") {
		t.Errorf("head or tail is missing: %.40q…%q", o.Message, o.Message[max(0, len(o.Message)-40):])
	}
	if grown := int64(peak.Load()) - int64(before.HeapInuse); grown > 8<<20 {
		t.Errorf("memory grew by %d bytes", grown)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Size() > 40<<20 {
			t.Errorf("%s has %d bytes", e.Name(), info.Size())
		}
	}
}

func TestRuntimeCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := toolrt.New(toolrt.Options{Observer: cancelOn{cancel}})
	defer func() { _ = r.Close() }()
	tool := &command.Tool{Name: "t", Interpreter: "/bin/sh -c 'echo part; exec sleep 300'"}
	o, err := r.Execute(ctx, &toolrt.Call{ID: "1", Name: "t", Dir: t.TempDir(), Tool: tool})
	if err != nil || o.Status != toolrt.StatusCancelled || o.Abandoned || !strings.Contains(o.Message, "part") {
		t.Errorf("got %+v, %v", o, err)
	}
}

type cancelOn struct{ cancel func() }

func (c cancelOn) Output(*toolrt.Call, string) { c.cancel() }
