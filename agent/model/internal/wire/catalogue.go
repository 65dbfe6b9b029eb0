package wire

import (
	"maps"
	"slices"
	"strings"

	"parley/agent/model"
)

// Catalogue holds what is known about a provider's models, by name.
type Catalogue map[string]Facts

// Facts are the sizes and prices of one model; zero means unknown.
type Facts struct {
	Title           string
	Context, Output int     // tokens
	In, Out         float64 // dollars per million tokens
}

// Known returns facts: title, window and output limit in tokens, and the prices of input and output
// in dollars per million tokens.
func Known(title string, context, output int, in, out float64) Facts {
	return Facts{Title: title, Context: context, Output: output, In: in, Out: out}
}

// Names returns the names in order.
func (c Catalogue) Names() []string { return slices.Sorted(maps.Keys(c)) }

// Info returns what is known about a model. A dated version ("gpt-4o-2024-08-06") has the facts of
// its name.
func (c Catalogue) Info(provider, name string) model.Info {
	facts, ok := c[name]
	if base, _, dated := strings.Cut(name, "-20"); !ok && dated {
		facts = c[base]
	}
	return model.Info{
		Ref: provider + "/" + name, Title: facts.Title,
		ContextWindow: facts.Context, MaxOutput: facts.Output,
		// Dollars per million tokens are millionths of a dollar per token.
		InputMicros: facts.In, OutputMicros: facts.Out,
	}
}
