package keymap

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
)

// Error is a fault in keys.json, with its place.
type Error struct {
	File         string
	Line, Column int // from 1; column in bytes
	Message      string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Load puts a person's keys over the default ones. The text is a JSON object from the name of an
// action to the list of its keys; an empty list unbinds it. All faults are returned together, each
// an [*Error] with its place: unknown actions, keys of dialogs (which stay as they are), and keys
// that have two meanings in one context. The file's name is used in messages only.
func Load(file string, text []byte) (*Map, error) {
	m := Default()
	l := loader{file: file, text: text, dec: json.NewDecoder(bytes.NewReader(text)), at: map[Action]int64{}}
	if err := l.expect('{'); err != nil {
		return nil, err
	}
	for l.dec.More() {
		if err := l.entry(m); err != nil {
			return nil, err
		}
	}
	if err := l.expect('}'); err != nil {
		return nil, err
	}
	l.conflicts(m)
	if len(l.faults) > 0 {
		return nil, errors.Join(l.faults...)
	}
	return m, nil
}

type loader struct {
	file   string
	text   []byte
	dec    *json.Decoder
	at     map[Action]int64 // where each changed action stands
	faults []error
}

// entry reads one action and its keys. The error is of the syntax, after which nothing more can be
// read; everything else is collected.
func (l *loader) entry(m *Map) error {
	at := l.next()
	name, err := l.dec.Token()
	if err != nil {
		return l.syntax(err)
	}
	var keys []string
	if err := l.dec.Decode(&keys); err != nil {
		return l.syntax(fmt.Errorf("the keys of %q must be a list of strings: %w", name, err))
	}
	action := Action(name.(string))
	i, ok := m.byAction[action]
	switch {
	case !ok:
		l.fault(at, fmt.Sprintf("unknown action %q%s; ? in the chat shows all names", action, m.near(action)))
		return nil
	case m.bindings[i].Fixed:
		l.fault(at, fmt.Sprintf("the keys of %q cannot be changed", action))
		return nil
	}
	for n, k := range keys {
		if len([]rune(k)) > 1 {
			keys[n] = normal(k)
		}
	}
	m.bindings[i].Binding = key.NewBinding(key.WithKeys(keys...))
	l.at[action] = at
	return nil
}

// near names the actions whose names are like this one: "; near it: a, b".
func (m *Map) near(a Action) string {
	var names []string
	word := strings.ToLower(string(a))
	_, last, _ := strings.Cut(word, ".")
	for _, b := range m.bindings {
		name := strings.ToLower(string(b.Action))
		_, end, _ := strings.Cut(name, ".")
		if !b.Fixed && len(names) < 5 && (strings.Contains(name, word) || end != "" && strings.Contains(word, end) ||
			last != "" && strings.Contains(name, last) || commonPrefix(name, word) >= 4) {
			names = append(names, string(b.Action))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "; near it: " + strings.Join(names, ", ")
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// normal writes a key's modifiers in lower case and in the order in which they arrive. A single
// letter keeps its case.
func normal(k string) string {
	parts := strings.Split(strings.ToLower(k), "+")
	last := parts[len(parts)-1]
	if strings.HasSuffix(k, "++") {
		last = "+"
	}
	var out strings.Builder
	for _, mod := range []string{"ctrl", "alt", "shift"} {
		if slices.Contains(parts[:len(parts)-1], mod) {
			out.WriteString(mod + "+")
		}
	}
	return out.String() + last
}

// conflicts finds keys with two meanings in one context. Composer and Edit are one context to the
// person, but the arrows belong to both on purpose: they edit until the edge.
func (l *loader) conflicts(m *Map) {
	for i, a := range m.bindings {
		for _, b := range m.bindings[i+1:] {
			if a.Context != b.Context {
				continue
			}
			for _, k := range a.Keys() {
				if !slices.Contains(b.Keys(), k) {
					continue
				}
				at, ok := l.at[b.Action]
				if !ok {
					at = l.at[a.Action]
				}
				l.fault(at, fmt.Sprintf("%s: %s is both %q and %q", a.Context, Name(k), a.Action, b.Action))
			}
		}
	}
}

func (l *loader) expect(want json.Delim) error {
	at := l.next()
	tok, err := l.dec.Token()
	if err != nil {
		return l.syntax(err)
	}
	if tok != want {
		return l.place(at, fmt.Sprintf("expected %q", want))
	}
	return nil
}

// next is the offset of the next token.
func (l *loader) next() int64 {
	at := l.dec.InputOffset()
	for at < int64(len(l.text)) && strings.ContainsRune(" \t\r\n,:", rune(l.text[at])) {
		at++
	}
	return at
}

func (l *loader) syntax(err error) error {
	return l.place(l.next(), err.Error())
}

func (l *loader) fault(at int64, message string) {
	l.faults = append(l.faults, l.place(at, message))
}

func (l *loader) place(at int64, message string) error {
	at = min(max(at, 0), int64(len(l.text)))
	before := l.text[:at]
	line := bytes.Count(before, []byte("\n")) + 1
	return &Error{
		File: l.file, Line: line, Column: int(at) - (bytes.LastIndexByte(before, '\n') + 1) + 1, Message: message,
	}
}
