package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"parley/agent/monitor"
	"parley/agent/program"
)

// inner runs a context, filter or credential of the call to its end and returns its result. It
// must not wait for the person.
func (c *call) inner(ctx context.Context, letter string, round, index int, ref program.Reference, input, category string) (string, error) {
	st := c.sub(letter, round, index, ref, category)
	st.ToolName = refName(c.t.program(), ref)
	sub, err := c.t.newCall(c, st)
	if err != nil {
		return "", err
	}
	sub.row.Index = index
	out, err := sub.start(ctx, input)
	if err != nil {
		return "", err
	}
	if out.Final == nil {
		what := map[string]string{categoryContext: "context tool [%s] can not result in a continuation",
			categoryCredential: "credential tool [%s] can not result in a continuation",
			categoryProvider:   "provider tool [%s] can not result in a continuation",
			categoryInput:      "input tool [%s] can not result in a chat continuation",
			categoryOutput:     "output tool [%s] can not result in a chat continuation"}[category]
		return "", fmt.Errorf("invalid state: "+what, ref.Reference)
	}
	return *out.Final, nil
}

func refName(p *program.Program, ref program.Reference) string {
	if ref.Named != "" {
		return ref.Named
	}
	if t := p.Tool(ref.ToolID); t != nil {
		return toolName(t)
	}
	return ref.Reference
}

// runContexts runs the contexts of the next model call, or of the command, side by side (5.3,
// Q29). text is what their arguments are taken from.
func (c *call) runContexts(ctx context.Context, text string) error {
	refs := c.t.program().Contexts(c.tool)
	if len(refs) == 0 {
		return nil
	}
	contexts := make([]monitor.InputContext, len(refs))
	group, ctx := errgroup.WithContext(ctx)
	for i, ref := range refs {
		contexts[i].ToolID = ref.ToolID
		tool := c.t.program().Tool(ref.ToolID)
		if tool.IsNoop() {
			continue
		}
		input, err := program.MapArgs(tool, ref.Arg, text)
		if err != nil {
			return err
		}
		group.Go(func() error {
			var err error
			contexts[i].Content, err = c.inner(ctx, "c", c.state.Rounds, i, ref, input, categoryContext)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	c.contexts = contexts
	return nil
}

// inputFilters runs the input filters in order, each taking the output of the one before (5.8).
func (c *call) inputFilters(ctx context.Context, input string, round int) (string, error) {
	for i, ref := range c.t.program().InputFilters(c.tool) {
		tool := c.t.program().Tool(ref.ToolID)
		if tool.IsNoop() {
			continue
		}
		args := object(input)
		args["input"] = input
		if err := mapInto(args, tool, ref.Arg, input, false); err != nil {
			return "", err
		}
		text, err := json.Marshal(args)
		if err != nil {
			return "", fmt.Errorf("input of filter %s: %w", ref.Reference, err)
		}
		if input, err = c.inner(ctx, "i", round, i, ref, string(text), categoryInput); err != nil {
			return "", err
		}
	}
	return input, nil
}

// outputFilters runs the output filters over what the state has to show (5.8, Q42).
func (c *call) outputFilters(ctx context.Context, st *callState) error {
	from := c.state.Start
	if c.state.Latest != nil {
		from = *c.state.Latest
	}
	result := st.content()
	for i, ref := range c.t.program().OutputFilters(c.tool) {
		tool := c.t.program().Tool(ref.ToolID)
		if tool.IsNoop() {
			continue
		}
		args := map[string]any{"output": result, "chat": c.tool.Chat, "continuation": c.tool.Chat && st.Final == nil}
		if err := mapInto(args, tool, ref.Arg, from, true); err != nil {
			return err
		}
		text, err := json.Marshal(args)
		if err != nil {
			return fmt.Errorf("input of filter %s: %w", ref.Reference, err)
		}
		if result, err = c.inner(ctx, "o", c.t.row.Number*1000+c.state.Rounds, i, ref, string(text), categoryOutput); err != nil {
			return err
		}
	}
	if st.Final != nil {
		st.Final = &result
	} else {
		st.Result = &result
	}
	c.showFiltered(result)
	return nil
}

// mapInto adds the mapped "with" arguments to args. plainInput says that "*" over a text that is
// no object adds it as key "input".
func mapInto(args map[string]any, tool *program.Tool, arg, input string, plainInput bool) error {
	if arg == "*" {
		keys := object(input)
		if len(keys) == 0 && plainInput && !strings.HasPrefix(strings.TrimSpace(input), "{") {
			keys["input"] = input
		}
		for k, v := range keys {
			args[k] = v
		}
		return nil
	}
	mapped, err := program.MapArgs(tool, arg, input)
	if err != nil {
		return err
	}
	for k, v := range object(mapped) {
		args[k] = v
	}
	return nil
}

// object decodes a JSON object with numbers as written; anything else is an empty one.
func object(text string) map[string]any {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	m := map[string]any{}
	if err := dec.Decode(&m); err != nil || m == nil || dec.More() {
		return map[string]any{}
	}
	return m
}
