package toolrt

import (
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// The tool gets the numbers as the model wrote them, checked or not (R5).
func TestR5NumbersAreExact(t *testing.T) {
	for _, validate := range []bool{false, true} {
		c := call("t", exclusive, func(_ context.Context, inv *Invocation) (Output, error) { return Output{Text: inv.Args}, nil })
		c.Arguments = `{"n": 9007199254740993, "f": 1.10}`
		tool := c.Tool.(*FuncTool)
		tool.SpecValue.Validate = validate
		tool.SpecValue.Parameters = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"f":{"type":"number"}}}`)
		r := newRuntime(t, Options{Recorder: recorderFunc(func(ctx context.Context, e Execution, run func(context.Context) *Outcome) (*Outcome, error) {
			if e.Arguments != c.Arguments {
				t.Errorf("recorded %s", e.Arguments)
			}
			return run(ctx), nil
		})})
		if o := run(t, r, c); o.Message != c.Arguments {
			t.Errorf("validated %t: the tool got %s", validate, o.Message)
		}
	}
}

// Resolve, check, loop guard, approval, queue, record, run, in this order; a step that ends the call
// skips the later ones (R23).
func TestR23StepsInOrder(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(c *Call)
		allow  bool
		want   string
	}{
		"all":          {func(*Call) {}, true, "approve begin run end"},
		"denied":       {func(*Call) {}, false, "approve"},
		"unknown tool": {func(c *Call) { c.Tool = nil }, true, ""},
		"loop":         {func(c *Call) { c.Refused = &Error{Kind: KindLoopDetected, Message: "again"} }, true, ""},
		"arguments":    {func(c *Call) { c.Arguments = `{"a":` }, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var steps []string
			c := call("t", exclusive, func(context.Context, *Invocation) (Output, error) {
				steps = append(steps, "run")
				return Output{}, nil
			})
			tt.change(c)
			r := newRuntime(t, Options{
				Approver: approverFunc(func(context.Context, *Call) (Decision, error) {
					steps = append(steps, "approve")
					return Decision{Allow: tt.allow, By: "rule"}, nil
				}),
				Recorder: recorderFunc(func(ctx context.Context, _ Execution, run func(context.Context) *Outcome) (*Outcome, error) {
					steps = append(steps, "begin")
					o := run(ctx)
					steps = append(steps, "end")
					return o, nil
				}),
			})
			if o := run(t, r, c); strings.Join(steps, " ") != tt.want || o.Failed() == (name == "all") {
				t.Errorf("steps %q, %+v", steps, o)
			}
		})
	}
}

// A goroutine that a tool starts cannot be guarded from outside, so no built-in tool starts one but
// those that run programs, whose helpers call no code of a tool (R38).
func TestR38ToolsStartNoGoroutines(t *testing.T) {
	for _, dir := range []string{"sys", "web", "openapi"} {
		packages, err := parser.ParseDir(token.NewFileSet(), dir, func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range packages {
			for name, file := range p.Files {
				ast.Inspect(file, func(n ast.Node) bool {
					if _, ok := n.(*ast.GoStmt); ok {
						t.Errorf("%s starts a goroutine", name)
					}
					return true
				})
			}
		}
	}
}

// Nothing is run a second time by itself, whatever the tool says of itself (R40).
func TestR40NothingIsRetried(t *testing.T) {
	n := 0
	c := call("t", Flags{ReadOnly: true, Idempotent: true}, func(context.Context, *Invocation) (Output, error) {
		n++
		return Output{}, errors.New("for now")
	})
	if o := run(t, newRuntime(t, Options{}), c); n != 1 || o.Status != StatusFailed {
		t.Errorf("ran %d times, %s", n, o.Status)
	}
}

// After a batch the runtime holds neither its calls nor their results (R42).
func TestR42NothingIsKept(t *testing.T) {
	r := newRuntime(t, Options{OutputDir: t.TempDir()})
	freed := make(chan string, 2)
	func() {
		c := call("t", exclusive, says(strings.Repeat("x\n", 100_000)))
		o := run(t, r, c)
		runtime.AddCleanup(c, func(string) { freed <- "call" }, "")
		runtime.AddCleanup(o, func(string) { freed <- "outcome" }, "")
	}()
	var got []string
	for range 50 {
		runtime.GC()
		select {
		case what := <-freed:
			got = append(got, what)
		case <-time.After(2 * time.Millisecond):
		}
		if len(got) == 2 {
			break
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, []string{"call", "outcome"}) {
		t.Errorf("only %q was let go of", got)
	}
	runtime.KeepAlive(r)
}
