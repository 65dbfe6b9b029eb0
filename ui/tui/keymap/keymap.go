// Package keymap is the one place that says which key does what. Every action has a name and a
// context (where the focus is); [Default] is the table that parley comes with, [Load] puts a
// person's keys.json over it. The screen asks [Map.Find] for the action of a key; the help page,
// the hints and the documentation are made from the same table.
package keymap

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// Context is the part of the screen in which a key has its meaning.
type Context string

// The contexts. Global keys work wherever the context itself has no meaning for them.
const (
	Global     Context = "Global"
	Composer   Context = "Composer"
	Edit       Context = "Editing"
	Chat       Context = "Chat"
	Panel      Context = "Call panel"
	Picker     Context = "Sessions"
	Lists      Context = "Lists"
	Timeline   Context = "Timeline"
	Leader     Context = "Leader"
	Approval   Context = "Authorization"
	Batch      Context = "Batch"
	Credential Context = "Credential"
	Resume     Context = "Resume"
)

// Action is the name of something a key does, as keys.json spells it.
type Action string

// Binding is one row of the table.
type Binding struct {
	Context Context
	Action  Action
	// Help says what the action does, for the help page; Hint is one or two words, for hints.
	Help, Hint string
	// Fixed bindings belong to a dialog whose keys may not be changed: a person must be able to
	// rely on what y and n mean.
	Fixed bool

	key.Binding
}

// Map is a table of bindings. It is not changed after it was made and may be shared.
type Map struct {
	bindings []Binding
	byAction map[Action]int
}

func newMap(bindings []Binding) *Map {
	m := &Map{bindings: bindings, byAction: make(map[Action]int, len(bindings))}
	for i, b := range bindings {
		m.byAction[b.Action] = i
	}
	return m
}

// Find returns the action that the key has in the context, "" when it has none.
func (m *Map) Find(c Context, msg tea.KeyPressMsg) Action {
	for i := range m.bindings {
		if b := &m.bindings[i]; b.Context == c && key.Matches(msg, b.Binding) {
			return b.Action
		}
	}
	return ""
}

// Bindings returns the rows of a context in the table's order.
func (m *Map) Bindings(c Context) []Binding {
	var out []Binding
	for _, b := range m.bindings {
		if b.Context == c {
			out = append(out, b)
		}
	}
	return out
}

// Contexts returns the contexts in the order of the help page.
func (m *Map) Contexts() []Context {
	var out []Context
	for _, b := range m.bindings {
		if !slices.Contains(out, b.Context) {
			out = append(out, b.Context)
		}
	}
	return out
}

// Get returns the row of an action; the zero Binding when there is none.
func (m *Map) Get(a Action) Binding {
	if i, ok := m.byAction[a]; ok {
		return m.bindings[i]
	}
	return Binding{}
}

// Key returns the action's first key as people write it ("Ctrl+T"), "" when it is unbound.
func (m *Map) Key(a Action) string {
	if keys := m.Get(a).Keys(); len(keys) > 0 {
		return Name(keys[0])
	}
	return ""
}

// ShortKey is Key in as few cells as possible ("^T").
func (m *Map) ShortKey(a Action) string {
	return strings.Replace(m.Key(a), "Ctrl+", "^", 1)
}

// AllKeys returns the row's keys as people write them, separated by commas.
func (b Binding) AllKeys() string {
	names := make([]string, 0, len(b.Keys()))
	for _, k := range b.Keys() {
		names = append(names, Name(k))
	}
	return strings.Join(names, ", ")
}

// Name turns the name of a key as keys.json has it ("ctrl+t") into what people write ("Ctrl+T").
func Name(k string) string {
	parts := []string{k}
	if len(k) > 1 {
		parts = strings.Split(k, "+")
		if strings.HasSuffix(k, "++") { // ctrl++ is Ctrl and the plus sign
			parts = append(strings.Split(strings.TrimSuffix(k, "++"), "+"), "+")
		}
	}
	modified := len(parts) > 1
	for i, p := range parts {
		switch {
		case p == "pgup":
			parts[i] = "PgUp"
		case p == "pgdown":
			parts[i] = "PgDn"
		case len(p) > 1 || modified:
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		}
	}
	return strings.Join(parts, "+")
}
