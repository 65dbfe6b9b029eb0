package credential

import (
	"context"
	"fmt"
	"maps"
	"strings"
)

// ParseOverrides reads --credential-override texts (5.10): NAME:VAR=value,VAR2=value2, with "," or
// "|" between the variables; a VAR alone takes its value from the environment. Several for one name
// add up. The result is variables by name; a name CONTEXT///NAME stands for a read-only store
// entry, see [WithEntries].
func ParseOverrides(texts []string, getenv func(string) string) (map[string]map[string]string, error) {
	out := map[string]map[string]string{}
	for _, text := range texts {
		name, vars, err := parseOverride(text, getenv)
		if err != nil {
			return nil, err
		}
		if out[name] == nil {
			out[name] = map[string]string{}
		}
		maps.Copy(out[name], vars)
	}
	return out, nil
}

// parseOverride splits at the first colon that follows the name; "://" in a name is part of it.
func parseOverride(text string, getenv func(string) string) (string, map[string]string, error) {
	from := 0
	if i := strings.Index(text, "://"); i >= 0 && !strings.ContainsAny(text[:i], ":=") {
		from = i + len("://")
	}
	i := strings.IndexByte(text[from:], ':')
	if i < 0 || strings.TrimSpace(text[:from+i]) == "" {
		return "", nil, fmt.Errorf("invalid credential override: %s", masked(text))
	}
	name := strings.TrimSpace(text[:from+i])
	vars := map[string]string{}
	for _, v := range strings.FieldsFunc(text[from+i+1:], func(r rune) bool { return r == ',' || r == '|' }) {
		k, value, ok := strings.Cut(v, "=")
		if k = strings.TrimSpace(k); k == "" {
			return "", nil, fmt.Errorf("invalid credential override: %s", masked(text))
		}
		if !ok {
			value = getenv(k)
		}
		vars[k] = value
	}
	if where, _, ok := strings.Cut(name, "///"); ok {
		if _, err := single(where); err != nil {
			return "", nil, err
		}
	}
	return name, vars, nil
}

// masked keeps values out of an error text.
func masked(text string) string {
	name, _, ok := strings.Cut(text, "=")
	if !ok {
		return text
	}
	return name + "=…"
}

// WithEntries returns a store that first looks in the overrides whose names say CONTEXT///NAME.
// They can neither be changed nor deleted.
func WithEntries(s Store, overrides map[string]map[string]string) Store {
	e := entries{Store: s, fixed: &Memory{}}
	for name, vars := range overrides {
		where, tool, ok := strings.Cut(name, "///")
		if !ok {
			continue
		}
		e.any = true
		// Names and contexts were checked when they were read.
		_ = e.fixed.Put(context.Background(), Credential{Context: where, ToolName: tool, Env: vars})
	}
	if !e.any {
		return s
	}
	return e
}

// entries are read-only credentials before a store.
type entries struct {
	Store
	fixed *Memory
	any   bool
}

func (e entries) Get(ctx context.Context, contexts []string, name string) (Credential, bool, error) {
	if c, ok, err := e.fixed.Get(ctx, contexts, name); err != nil || ok {
		return c, ok, err
	}
	return e.Store.Get(ctx, contexts, name)
}

func (e entries) List(ctx context.Context, contexts []string) ([]Credential, error) {
	contexts, err := orDefault(contexts)
	if err != nil {
		return nil, err
	}
	all, err := e.Store.List(ctx, contexts)
	if err != nil {
		return nil, err
	}
	fixed, err := e.fixed.List(ctx, contexts)
	if err != nil {
		return nil, err
	}
	have := map[string]bool{}
	for _, c := range fixed {
		have[key(c.Context, c.ToolName)] = true
	}
	for _, c := range all {
		if !have[key(c.Context, c.ToolName)] {
			fixed = append(fixed, c)
		}
	}
	return chosen(fixed, contexts), nil
}
