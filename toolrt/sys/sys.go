// Package sys holds the built-in tools of .gpt programs (7.1, 7.2): files, commands, requests,
// questions to the person, and the tools that steer a chat. Names, schemas, results and error
// texts are GPTScript's to the letter, because models and programs know them. A failure that has
// such a text is an output marked as an error; see each tool's file.
//
// Start with [New]. What may run is decided elsewhere (package toolrt/approval); a tool says by its
// preview what a call would touch.
package sys

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/toolrt"
)

// builtin is one built-in tool.
type builtin struct {
	name        string
	description string
	params      []param
	// types are the types of the arguments of tools that GPTScript does not have, by name: calls
	// are held to them. Nil: the tool is GPTScript's, its arguments are texts and never required.
	types     map[string]typing
	flags     toolrt.Flags
	timeout   time.Duration
	headShare float64
	// form is what the output is.
	form toolrt.TextForm
	// detaches marks tools that run commands: their calls can go on in the background.
	detaches bool
	// limit is the time limit that a call names; nil when calls cannot.
	limit func(args args) time.Duration
	// raw tools read the argument text themselves; args is then nil.
	raw bool
	run func(ctx context.Context, inv *toolrt.Invocation, args args) (toolrt.Output, error)
	// display names a call on screen; nil for silent tools.
	display func(args args) string
	// preview fills in what a question shows beside the summary; nil when there is nothing.
	preview func(call *toolrt.Call, args args, p *toolrt.Preview)
}

// param is one argument.
type param struct{ name, description string }

// typing is the type of an argument; the zero value is an optional string.
type typing struct {
	kind     string // "string" if empty, "integer" or "boolean"
	required bool
	min, max int // of an integer, if max is not zero
}

// args are the arguments by the names of the schema; what was not given is "".
type args map[string]string

var (
	_ toolrt.Tool      = (*builtin)(nil)
	_ toolrt.Previewer = (*builtin)(nil)
	_ toolrt.Limiter   = (*builtin)(nil)
)

// safe lists the tools that are never asked about (5.7).
var safe = []string{
	"sys.abort", "sys.chat.current", "sys.chat.finish", "sys.chat.history", "sys.context", "sys.credential", "sys.echo",
	"sys.model.provider.credential", "sys.prompt", "sys.time.now",
}

// Names returns the names that [New] knows, sorted.
func Names() []string {
	var names []string
	for _, list := range [][]builtin{catalog, own} {
		for _, b := range list {
			names = append(names, b.name)
		}
	}
	slices.Sort(names)
	return names
}

// New returns the built-in tool of that exact name, false if there is none. Tools keep no state
// and may be shared.
func New(name string) (toolrt.Tool, bool) {
	b := find(name)
	if b == nil {
		return nil, false
	}
	return b, true
}

// Safe reports whether calls of the tool need no approval in any mode (5.7). Deny rules still bind.
func Safe(name string) bool { return slices.Contains(safe, name) }

// Display returns the line that names a call on screen, such as "Running `ls`" (5.11). It is empty
// for silent tools, unknown names and arguments that cannot be read.
func Display(name, arguments string) string {
	b := find(name)
	if b == nil || b.display == nil || b.raw {
		return ""
	}
	a, err := b.decode(arguments)
	if err != nil {
		return ""
	}
	return b.display(a)
}

// Arguments returns the arguments of a call by name, as the tool will read them: without regard
// to case, numbers and booleans as text, unknown keys left out. The error says that the tool
// would answer that it cannot read them.
func Arguments(name, arguments string) (map[string]string, error) {
	b := find(name)
	if b == nil {
		return nil, fmt.Errorf("there is no built-in tool %q", name)
	}
	return b.decode(arguments)
}

func find(name string) *builtin {
	for _, list := range [][]builtin{catalog, own} {
		for i := range list {
			if list[i].name == name {
				return &list[i]
			}
		}
	}
	return nil
}

// Spec describes the tool.
func (b *builtin) Spec() toolrt.Spec {
	return toolrt.Spec{
		Name: b.name, Description: b.description, Parameters: b.schema(), Validate: b.types != nil, Flags: b.flags,
		Timeout: b.timeout, Source: "builtin", Form: b.form, HeadShare: b.headShare,
		Detaches: b.detaches, Confines: b.detaches,
	}
}

// Run decodes the arguments and does the work. Arguments that cannot be read are answered in
// GPTScript's words.
func (b *builtin) Run(ctx context.Context, inv *toolrt.Invocation) (toolrt.Output, error) {
	if b.raw {
		return b.run(ctx, inv, nil)
	}
	a, err := b.decode(inv.Args)
	if err != nil {
		return failed("Failed to parse arguments %s: %v", inv.Args, err), nil
	}
	return b.run(ctx, inv, a)
}

// Preview says what the call would touch.
func (b *builtin) Preview(_ context.Context, call *toolrt.Call) (toolrt.Preview, error) {
	p := toolrt.Preview{Summary: Display(b.name, call.Arguments)}
	if b.preview == nil {
		return p, nil
	}
	a, err := b.decode(call.Arguments)
	if err != nil {
		return p, nil // the call will only say so
	}
	b.preview(call, a, &p)
	return p, nil
}

// text is a result.
func text(format string, a ...any) toolrt.Output {
	return toolrt.Output{Text: fmt.Sprintf(format, a...)}
}

// failed is a failure that the tool has words for. A name with a NUL byte, which no file has, is
// written out: a text that holds the byte would pass for binary data.
func failed(format string, a ...any) toolrt.Output {
	return toolrt.Output{Text: strings.ReplaceAll(fmt.Sprintf(format, a...), "\x00", `\x00`), IsError: true}
}

// broken is a failure that ends the run where GPTScript ends it, and is otherwise the answer.
func broken(tool string, err error) error {
	return &toolrt.Error{Kind: toolrt.KindExecutionFailed, Tool: tool, Message: err.Error(), Plain: true, Cause: err}
}
