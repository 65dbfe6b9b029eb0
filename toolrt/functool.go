package toolrt

import "context"

// FuncTool is a Tool made of a description and a function.
type FuncTool struct {
	SpecValue Spec
	Fn        func(ctx context.Context, inv *Invocation) (Output, error)
}

// Spec returns SpecValue.
func (t *FuncTool) Spec() Spec { return t.SpecValue }

// Run calls Fn.
func (t *FuncTool) Run(ctx context.Context, inv *Invocation) (Output, error) { return t.Fn(ctx, inv) }

var _ Tool = (*FuncTool)(nil)
