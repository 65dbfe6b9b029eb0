package toolrt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// journal is a Recorder that keeps outcomes as stored text, by call id.
type journal struct {
	mu     sync.Mutex
	stored map[string]string
	execs  []Execution
}

func (j *journal) Do(ctx context.Context, exec Execution, run func(context.Context) *Outcome) (*Outcome, error) {
	j.mu.Lock()
	stored, ok := j.stored[exec.Call.ID]
	j.execs = append(j.execs, exec)
	j.mu.Unlock()
	if ok {
		o := &Outcome{}
		return o, json.Unmarshal([]byte(stored), o)
	}
	o := run(ctx)
	text, err := json.Marshal(o)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.stored[exec.Call.ID] = string(text)
	return o, err
}

// TestRecordedOutcomesAreUsedAgain: a batch walked again through its records gives the same
// messages, errors and budget, and runs nothing.
func TestRecordedOutcomesAreUsedAgain(t *testing.T) {
	ran := 0
	counted := func(f toolFunc) toolFunc {
		return func(ctx context.Context, inv *Invocation) (Output, error) { ran++; return f(ctx, inv) }
	}
	code := 3
	filter := call("filter", exclusive, counted(says("filtered text")))
	filter.Category = "input"
	calls := []*Call{
		call("text", exclusive, counted(says("one\ntwo"))),
		call("error", exclusive, counted(fails(errors.New("broke")))),
		call("exit", exclusive, counted(func(context.Context, *Invocation) (Output, error) {
			return Output{Text: "bad", IsError: true, ExitCode: &code, FilesTouched: []string{"a"}}, nil
		})),
		call("long", exclusive, counted(says(lines(100_000, "line %d")))),
		call("longer", exclusive, counted(says(lines(200_000, "line %d")))),
		filter,
		call("finish", exclusive, counted(fails(&ChatFinish{Message: "bye"}))),
	}
	j := &journal{stored: map[string]string{}}
	r := newRuntime(t, Options{Recorder: j, OutputDir: t.TempDir(), Policy: Policy{MaxBatchBytes: 50_000}})
	live, err := r.ExecuteBatch(t.Context(), calls)
	again, err2 := r.ExecuteBatch(t.Context(), calls)
	checkOutcomes(t, calls, again)
	if ran != len(calls) {
		t.Errorf("%d runs of %d calls", ran, len(calls))
	}
	if !reflect.DeepEqual(err, err2) || err == nil {
		t.Errorf("errors %v and %v", err, err2)
	}
	for i := range live {
		a, b := *live[i], *again[i]
		if !b.Recorded || a.Recorded {
			t.Errorf("call %d: recorded %v, then %v", i, a.Recorded, b.Recorded)
		}
		a.Recorded, b.Recorded, a.Call, b.Call = false, false, nil, nil
		if a.Err != nil {
			a.Err.Cause = nil
		}
		if x, y := mustJSON(t, a), mustJSON(t, b); x != y || a.Full != b.Full || a.Output != nil && a.Output.Text != b.Output.Text {
			t.Errorf("call %d:\n live %.300s\nagain %.300s", i, x, y)
		}
	}
	if strings.Count(j.stored["text"], "one") != 1 {
		t.Errorf("the text is stored twice: %s", j.stored["text"])
	}
	if live[5].Full != "filtered text" {
		t.Errorf("the filter's text: %q", live[5].Full)
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestR54StoreThatFailsBeforeTheStart(t *testing.T) {
	full := errors.New("disk full")
	r := newRuntime(t, Options{Recorder: recorderFunc(func(context.Context, Execution, func(context.Context) *Outcome) (*Outcome, error) { return nil, full })})
	ran := false
	calls := []*Call{
		call("a", exclusive, func(context.Context, *Invocation) (Output, error) { ran = true; return Output{}, nil }),
		call("b", exclusive, says("")),
	}
	got, err := r.ExecuteBatch(t.Context(), calls)
	checkOutcomes(t, calls, got)
	if !errors.Is(err, full) || got[0].Err.Kind != KindUnavailable || got[1].Status != StatusCancelled || ran {
		t.Errorf("statuses %q, error %v, ran %v", statuses(got), err, ran)
	}
	// The lock is free again.
	if o, _ := r.Execute(t.Context(), call("c", exclusive, says(""))); o.Err.Kind != KindUnavailable {
		t.Errorf("outcome %+v", o)
	}
}

func TestR53StoreThatFailsAtTheEnd(t *testing.T) {
	full := errors.New("disk full")
	r := newRuntime(t, Options{Recorder: recorderFunc(func(ctx context.Context, _ Execution, run func(context.Context) *Outcome) (*Outcome, error) {
		return run(ctx), full
	})})
	if o, err := r.Execute(t.Context(), call("a", exclusive, says("done"))); !errors.Is(err, full) || o.Message != "done" {
		t.Errorf("outcome %+v, error %v", o, err)
	}
}

func TestR55CancelledCallsAreRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{stored: map[string]string{}}
		r := newRuntime(t, Options{Recorder: j})
		ctx, cancel := context.WithCancel(t.Context())
		started := make(chan string, 1)
		var wg sync.WaitGroup
		wg.Go(func() { r.ExecuteBatch(ctx, []*Call{call("a", exclusive, waits(started, nil, ""))}) })
		<-started
		cancel()
		wg.Wait()
		if !strings.Contains(j.stored["a"], `"status":"cancelled"`) {
			t.Errorf("stored %q", j.stored["a"])
		}
	})
}

func TestR56WithoutARecorderTheSame(t *testing.T) {
	calls := func() []*Call {
		return []*Call{call("a", exclusive, says("x")), call("b", exclusive, fails(errors.New("no"))), {ID: "c", Name: "c"}}
	}
	with := runBatch(t, newRuntime(t, Options{Recorder: &journal{stored: map[string]string{}}}), calls()...)
	without := runBatch(t, newRuntime(t, Options{}), calls()...)
	if fmt.Sprint(messages(with), statuses(with)) != fmt.Sprint(messages(without), statuses(without)) {
		t.Errorf("with %q, without %q", messages(with), messages(without))
	}
}

// TestR67R69R70SecretsStayWithTheTool: a key split over two writes and across the cut, and a secret
// argument, are in no message, record, file or piece of progress.
func TestR67R69R70SecretsStayWithTheTool(t *testing.T) {
	const key, password = "sk-0123456789abcdef", "open sesame!"
	dir := t.TempDir()
	seen := &observed{}
	j := &journal{stored: map[string]string{}}
	r := newRuntime(t, Options{OutputDir: dir, Observer: seen, Recorder: j, Redactor: secrets(key), Policy: Policy{MaxOutputBytes: 2048}})
	for name, out := range map[string]func(inv *Invocation, text string) Output{
		"written": func(inv *Invocation, text string) Output {
			for len(text) > 0 {
				n := min(7, len(text))
				fmt.Fprint(inv.Out, text[:n])
				text = text[n:]
			}
			return Output{FromOut: true}
		},
		"returned": func(_ *Invocation, text string) Output { return Output{Text: text} },
		"captured": func(inv *Invocation, text string) Output {
			c := inv.NewCapture()
			fmt.Fprint(c, text[:len(text)/2])
			fmt.Fprint(inv.Out, text)
			fmt.Fprint(c, text[len(text)/2:])
			return Output{Capture: c}
		},
	} {
		c := call(name, exclusive, func(_ context.Context, inv *Invocation) (Output, error) {
			if !strings.Contains(inv.Args, password) {
				return Output{}, errors.New("the tool does not get its argument")
			}
			return out(inv, strings.Repeat(key+" ", 1000)), nil
		})
		c.Arguments = `{"password":"` + password + `","x":1}`
		c.Tool.(*FuncTool).SpecValue.SecretArgs = []string{"password"}
		o := run(t, r, c)
		for where, text := range map[string]string{
			"message": o.Message, "record": j.stored[name], "file": savedText(t, dir, o.OutputID), "progress": strings.Join(seen.pieces[name], ""),
			"arguments": j.execs[len(j.execs)-1].Arguments,
		} {
			if strings.Contains(text, "0123") || strings.Contains(text, "sesame") {
				t.Errorf("%s: the %s holds a secret: %.200q", name, where, text)
			}
		}
		if !o.Truncated || !strings.HasPrefix(o.Message, "‹secret› ‹secret› ") {
			t.Errorf("%s: message %.100q", name, o.Message)
		}
	}
}

func TestCredentialsAreHandedOnAndNowhereElse(t *testing.T) {
	const text = `{"env":{"KEY":"sk-0123456789abcdef"}}`
	for name, tool := range map[string]toolFunc{
		"returned": says(text), "written": prints(text),
		"captured": func(_ context.Context, inv *Invocation) (Output, error) {
			c := inv.NewCapture()
			fmt.Fprint(c, text)
			fmt.Fprint(inv.Out, text)
			return Output{Capture: c}, nil
		},
	} {
		dir := t.TempDir()
		seen := &observed{}
		j := &journal{stored: map[string]string{}}
		r := newRuntime(t, Options{OutputDir: dir, Observer: seen, Recorder: j, Redactor: secrets("sk-0123456789abcdef")})
		c := call("cred", exclusive, tool)
		c.Category = "credential"
		o := run(t, r, c)
		if o.Full != text || o.Message != "" || o.Output.Text != "" || !o.Output.Secret {
			t.Errorf("%s: %+v", name, o)
		}
		if strings.Contains(j.stored["cred"], "sk-") || len(seen.pieces) > 0 || len(filesIn(t, dir)) > 0 {
			t.Errorf("%s: stored %q, shown %q, files %q", name, j.stored["cred"], seen.pieces, filesIn(t, dir))
		}
		small := newRuntime(t, Options{Policy: Policy{MaxWholeBytes: 10}})
		if o := run(t, small, c); o.Err == nil || o.Full != "" {
			t.Errorf("%s, over the limit: %+v", name, o)
		}
		if again := run(t, r, c); again.Full != "" || !again.Recorded {
			t.Errorf("%s: from the record: %+v", name, again)
		}
	}
}

func TestR67MetaAndNamesOfFiles(t *testing.T) {
	r := newRuntime(t, Options{Redactor: secrets("sk-0123456789abcdef")})
	meta := json.RawMessage(`{"url":"x?key=sk-0123456789abcdef"}`)
	files := []string{"a", "sk-0123456789abcdef"}
	o := run(t, r, call("x", exclusive, func(context.Context, *Invocation) (Output, error) {
		return Output{Meta: meta, FilesTouched: files}, nil
	}))
	if string(o.Output.Meta) != `{"url":"x?key=‹secret›"}` || o.Output.FilesTouched[1] != "‹secret›" || files[1] == "‹secret›" {
		t.Errorf("output %+v", o.Output)
	}
	broken := run(t, r, call("x", exclusive, func(context.Context, *Invocation) (Output, error) {
		return Output{Meta: json.RawMessage("{")}, nil
	}))
	mustJSON(t, broken)
}

func TestWholeResults(t *testing.T) {
	long := lines(50_000, "line %d")
	for name, tool := range map[string]toolFunc{"returned": says(long), "written": prints(long)} {
		dir := t.TempDir()
		r := newRuntime(t, Options{OutputDir: dir, Policy: Policy{MaxWholeBytes: 600_000}})
		c := call("x", exclusive, tool)
		c.Whole = true
		if o := run(t, r, c); o.Full != long || o.Message != long || o.Truncated || len(filesIn(t, dir)) > 0 {
			t.Errorf("%s: %d of %d bytes", name, len(o.Full), len(long))
		}
		small := newRuntime(t, Options{Policy: Policy{MaxWholeBytes: 100_000}})
		if o := run(t, small, c); o.Err == nil || !strings.Contains(o.Message, "larger than 100,000 bytes") || o.Full != "" {
			t.Errorf("%s, over the limit: %.100q", name, o.Message)
		}
	}
	agent := call("agent", Flags{Delegating: true}, says(long))
	if o := run(t, newRuntime(t, Options{}), agent); o.Message != long || o.Truncated {
		t.Errorf("an agent's answer was cut to %d bytes", len(o.Message))
	}
}
