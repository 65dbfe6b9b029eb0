package credential

import (
	"context"
	"sync"
)

// Memory keeps credentials until the process ends. The zero value is ready to use.
type Memory struct {
	mu   sync.Mutex // guards kept
	kept map[string]Credential
}

var _ Store = (*Memory)(nil)

// Get implements [Store].
func (m *Memory) Get(_ context.Context, contexts []string, name string) (Credential, bool, error) {
	contexts, err := orDefault(contexts)
	if err != nil {
		return Credential{}, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range contexts {
		if found, ok := m.kept[key(c, name)]; ok {
			return clone(found), true, nil
		}
	}
	return Credential{}, false, nil
}

// Put implements [Store].
func (m *Memory) Put(_ context.Context, c Credential) error {
	c, err := prepared(c)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = map[string]Credential{}
	}
	m.kept[key(c.Context, c.ToolName)] = clone(c)
	return nil
}

// Delete implements [Store].
func (m *Memory) Delete(_ context.Context, context, name string) (bool, error) {
	context, err := single(context)
	if err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.kept[key(context, name)]
	delete(m.kept, key(context, name))
	return ok, nil
}

// List implements [Store].
func (m *Memory) List(_ context.Context, contexts []string) ([]Credential, error) {
	contexts, err := orDefault(contexts)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Credential
	for _, c := range m.kept {
		all = append(all, clone(c))
	}
	return chosen(all, contexts), nil
}

// Kind implements [Store].
func (m *Memory) Kind() string { return "memory" }
