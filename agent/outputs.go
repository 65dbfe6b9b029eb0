package agent

import (
	"slices"

	"parley/agent/model"
	"parley/agent/program"
	"parley/toolrt"
	"parley/toolrt/approval"
)

// readTool is the name by which the model calls the reader of cut outputs, "" if there is none.
func readTool(reader *program.Tool) string {
	if reader == nil {
		return ""
	}
	return program.Normalize(reader.Name)
}

// builtinTool is a built-in as a program would have it; nil if the built-ins of a session lack it.
func builtinTool(builtins *toolrt.Registry, name string) *program.Tool {
	tool, ok := builtins.Get(name)
	if !ok {
		return nil
	}
	spec := tool.Spec()
	return &program.Tool{Name: spec.Name, ID: spec.Name, Description: spec.Description, Arguments: spec.Parameters, Instructions: "#!" + spec.Name}
}

// tool returns the tool of that id, nil if there is none: one of the program, or one that belongs to
// every program, the reader of cut outputs (R64) and the shell of the person's own commands.
func (s *Session) tool(prg *program.Program, id string) *program.Tool {
	if tool := prg.Tool(id); tool != nil {
		return tool
	}
	for _, tool := range []*program.Tool{s.reader, s.shell} {
		if tool != nil && tool.ID == id {
			return tool
		}
	}
	return nil
}

// offered returns the tools that the model sees in the call's next request: the program's, and the
// reader of cut outputs from the first cut on. It depends on the conversation alone, so that a turn
// that is walked again offers the same.
func (c *call) offered() []program.Offered {
	offered := c.t.program().Offered(c.tool, c.otherAgents())
	reader := c.t.s.reader
	name := readTool(reader)
	if reader == nil || !c.conv.hasCut ||
		slices.ContainsFunc(offered, func(o program.Offered) bool { return o.Name == name }) {
		return offered
	}
	return append(offered, program.Offered{Name: name, Tool: reader, Ref: program.Reference{Reference: reader.ID, ToolID: reader.ID}})
}

func hasCutOutput(m model.Message) bool {
	return m.Role == model.ToolRole && toolrt.NamesOutput(m.Text())
}

// denies reports whether a rule keeps a built-in from a file: one for the tool itself, or for
// reading (P-11).
func denies(policy *approval.Policy, tool string) func(path string) bool {
	return func(path string) bool {
		for _, name := range []string{tool, "sys.read"} {
			if _, denied := policy.Denied(name, path); denied {
				return true
			}
		}
		return false
	}
}
