package toolrt

import (
	"context"
	"slices"
	"testing"
)

func registered(name string, flags Flags) *FuncTool {
	return &FuncTool{
		SpecValue: Spec{Name: name, Description: "does " + name, Flags: flags},
		Fn:        func(context.Context, *Invocation) (Output, error) { return Output{Text: name}, nil },
	}
}

func TestRegistry(t *testing.T) {
	var r Registry
	if specs := r.Specs(); len(specs) != 0 {
		t.Fatalf("an empty registry has %v", specs)
	}
	first, second := registered("b", Flags{}), registered("b", Flags{})
	for _, tool := range []*FuncTool{first, registered("c", Flags{}), registered("a", Flags{})} {
		if previous, err := r.Register(tool); err != nil || previous != nil {
			t.Fatalf("register %s: %v, %v", tool.SpecValue.Name, previous, err)
		}
	}
	if previous, err := r.Register(second); err != nil || previous != Tool(first) {
		t.Errorf("registering b again gave %v, %v: want the first b", previous, err)
	}
	var names []string
	for _, s := range r.Specs() {
		names = append(names, s.Name)
	}
	if !slices.Equal(names, []string{"a", "b", "c"}) {
		t.Errorf("specs are %v: want them in byte order", names)
	}
	if got := r.Unregister("b"); got != Tool(second) {
		t.Errorf("unregister gave %v: want the second b", got)
	}
	if got := r.Unregister("b"); got != nil {
		t.Errorf("unregistering twice gave %v", got)
	}
	if _, ok := r.Get("b"); ok {
		t.Error("b is still there")
	}
}

func TestRegistryRefuses(t *testing.T) {
	for name, tool := range map[string]*FuncTool{
		"no name":        {SpecValue: Spec{Description: "x"}},
		"no description": {SpecValue: Spec{Name: "x"}},
		"contradiction":  registered("x", Flags{ReadOnly: true, Destructive: true}),
	} {
		var r Registry
		if _, err := r.Register(tool); err == nil {
			t.Errorf("%s: registered", name)
		}
	}
}

// A tool that is taken out while a batch runs still runs in it (R3).
func TestR3RemovedToolStillRunsInItsBatch(t *testing.T) {
	var reg Registry
	later := registered("later", Flags{})
	if _, err := reg.Register(later); err != nil {
		t.Fatal(err)
	}
	remover := &FuncTool{SpecValue: Spec{Name: "remover", Description: "removes"},
		Fn: func(context.Context, *Invocation) (Output, error) {
			reg.Unregister("later")
			return Output{}, nil
		}}
	tool, _ := reg.Get("later")
	r := New(Options{Policy: DefaultPolicy()})
	out, err := r.ExecuteBatch(t.Context(), []*Call{
		{ID: "1", Name: "remover", Tool: remover}, {ID: "2", Name: "later", Tool: tool, Index: 1}})
	if err != nil || out[1].Message != "later" {
		t.Errorf("got %+v, %v", out[1], err)
	}
}
