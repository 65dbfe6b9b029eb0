package agent_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	_ "modernc.org/sqlite"
	"mvdan.cc/sh/v3/syntax"

	"parley/agent"
	"parley/agent/model"
	"parley/persist"
	"parley/toolrt"
	"parley/toolrt/approval"
	"parley/toolrt/sys"
)

// BenchmarkCall measures one call of sys.shell on its way through checking, judging, scheduling, the
// journal and the record, with a tool that does nothing, next to its floor: two bare commits of SQLite in
// the same mode (FULL), a bare validation against a compiled schema, and a bare parse of the command. The
// budget is one and a half times that. linear is the cost of a call in a batch of 1,000 next to one of
// 100.
func BenchmarkCall(b *testing.B) {
	tool, ok := sys.New("sys.shell")
	if !ok {
		b.Fatal("there is no sys.shell")
	}
	idle := &toolrt.FuncTool{SpecValue: tool.Spec(), Fn: func(context.Context, *toolrt.Invocation) (toolrt.Output, error) {
		return toolrt.Output{Text: "done"}, nil
	}}
	floor := newFloor(b, tool.Spec())
	b.Run("call", func(b *testing.B) {
		var ours, theirs, small, large []time.Duration
		for b.Loop() {
			theirs = append(theirs, floor.time(100))
			ours = append(ours, turnOf(b, idle, 100))
			small, large = append(small, turnOf(b, idle, 100)), append(large, turnOf(b, idle, 1000))
		}
		us := func(d []time.Duration, calls int) float64 {
			best := d[0]
			for _, v := range d {
				best = min(best, v)
			}
			return float64(best.Microseconds()) / float64(calls)
		}
		b.ReportMetric(us(ours, 100), "µs/call")
		b.ReportMetric(us(ours, 100)/us(theirs, 100), "ratio")
		b.ReportMetric(us(large, 1000)/us(small, 100), "linear")
	})
}

// floor is what a call cannot do without.
type floor struct {
	b      *testing.B
	db     *sql.DB
	schema *jsonschema.Schema
}

const benchArguments = `{"command":"go test ./agent/program -run 'Test[A-Z]' | tail -5","directory":".","timeout":60}`

func newFloor(b *testing.B, spec toolrt.Spec) *floor {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "floor.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate")
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	b.Cleanup(func() { _ = db.Close() })
	if _, err := db.Exec(`CREATE TABLE bare (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT`); err != nil {
		b.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(spec.Parameters)))
	if err != nil {
		b.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:t", doc); err != nil {
		b.Fatal(err)
	}
	schema, err := c.Compile("mem:t")
	if err != nil {
		b.Fatal(err)
	}
	return &floor{b, db, schema}
}

// time is how long n times the floor takes.
func (f *floor) time(n int) time.Duration {
	insert, err := f.db.Prepare("INSERT INTO bare (body) VALUES (?)")
	if err != nil {
		f.b.Fatal(err)
	}
	defer func() { _ = insert.Close() }()
	body := strings.Repeat("x", 480)
	begin := time.Now()
	for range n {
		for range 2 {
			if _, err := insert.Exec(body); err != nil {
				f.b.Fatal(err)
			}
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(benchArguments))
		if err == nil {
			err = f.schema.Validate(doc)
		}
		if err != nil {
			f.b.Fatal(err)
		}
		command := doc.(map[string]any)["command"].(string)
		if _, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), ""); err != nil {
			f.b.Fatal(err)
		}
	}
	return time.Since(begin)
}

// turnOf is how long the calls of a reply take in a turn, in a session and a database of their own.
func turnOf(b *testing.B, tool toolrt.Tool, calls int) time.Duration {
	b.Helper()
	var list []string
	for i := range calls {
		list = append(list, strings.Replace("shell "+benchArguments, "-5", fmt.Sprintf("-%d", i), 1))
	}
	var begin time.Time
	var took time.Duration
	r := newRig(b, "Name: main\nChat: true\nTools: sys.shell\n\nmain", func(_ context.Context, req model.Request, _ func(model.Delta)) (model.Reply, error) {
		if len(req.Messages) > 2 {
			took = time.Since(begin)
			return says("done"), nil
		}
		begin = time.Now()
		return calling(list...), nil
	})
	store, err := persist.Open(b.Context(), filepath.Join(b.TempDir(), "p.db"), persist.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	r.store = store
	registry := &toolrt.Registry{}
	if _, err := registry.Register(tool); err != nil {
		b.Fatal(err)
	}
	r.policy.SetMode(approval.ModeAsk)
	for _, text := range []string{"sys.shell(go test **)", "sys.shell(tail *)"} {
		rule, err := approval.ParseRule(approval.Allow, text, approval.Session)
		if err != nil {
			b.Fatal(err)
		}
		r.policy.Add(rule)
	}
	r.change = func(o *agent.Options) { o.Builtins, o.Runtime.MaxCalls, o.Runtime.MaxConcurrency = registry, calls, 4 }
	s := r.open()
	r.send(s, "go")
	if got := results(r); len(got) != calls || got[calls-1] != "done" {
		b.Fatalf("%d results, the last %s", len(got), got[len(got)-1])
	}
	r.close(s)
	return took
}
