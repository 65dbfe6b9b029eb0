package cli

import (
	"context"
	"fmt"

	"parley/agent/program"
)

// lists reports whether only a list is asked for.
func (f *flags) lists() bool { return f.listTools || f.listModels }

// list prints what --list-tools or --list-models ask for (9.1).
func (a *app) list(ctx context.Context, args []string) error {
	if a.f.listModels {
		return a.printModels(ctx, args)
	}
	tools, err := a.toolsOf(args)
	if err != nil {
		return err
	}
	headers, err := program.FormatHeaders(tools)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(a.io.out, headers)
	return err
}

// toolsOf are the tools of the program's file in its order, without a program the built-in ones.
func (a *app) toolsOf(args []string) ([]*program.Tool, error) {
	var tools []*program.Tool
	if len(args) == 0 {
		for _, spec := range a.builtins.Specs() {
			tools = append(tools, a.builtin(spec.Name))
		}
		return tools, nil
	}
	file := expand(a.paths.dir, args[0])
	if args[0] == "-" {
		file = args[0]
	}
	src, err := readSource(a.io, file)
	if err != nil {
		return nil, err
	}
	doc, _, err := readDocument(args[0], src)
	if err != nil {
		return nil, err
	}
	for _, n := range doc.Nodes {
		if n.ToolNode != nil {
			tools = append(tools, n.ToolNode.Tool)
		}
	}
	return tools, nil
}
