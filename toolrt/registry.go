package toolrt

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Registry holds tools by their names. The zero value is empty and ready. Safe for concurrent use.
// A batch looks a tool up once, when it begins: one removed meanwhile still runs there (R3).
type Registry struct {
	mu    sync.RWMutex // guards tools
	tools map[string]Tool
}

// Register adds a tool under its name and returns the one that had the name before, nil if there
// was none. A tool without a name or a description, or with flags that contradict each other, is
// refused. Its schema is compiled at the first use.
func (r *Registry) Register(t Tool) (previous Tool, err error) {
	spec := t.Spec()
	switch {
	case spec.Name == "":
		return nil, errors.New("a tool needs a name")
	case spec.Description == "":
		return nil, fmt.Errorf("tool %s needs a description", spec.Name)
	case spec.Flags.ReadOnly && spec.Flags.Destructive:
		return nil, fmt.Errorf("tool %s cannot be both read-only and destructive", spec.Name)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	previous = r.tools[spec.Name]
	if r.tools == nil {
		r.tools = map[string]Tool{}
	}
	r.tools[spec.Name] = t
	return previous, nil
}

// Unregister removes the tool of that name and returns it, nil if there was none.
func (r *Registry) Unregister(name string) Tool {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tools[name]
	delete(r.tools, name)
	return t
}

// Get returns the tool of that name.
func (r *Registry) Get(name string) (t Tool, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	t, ok = r.tools[name]
	return t, ok
}

// Specs returns the descriptions of all tools, by name in byte order, so that lists made from it
// are always the same.
func (r *Registry) Specs() []Spec {
	r.mu.RLock()
	defer r.mu.RUnlock()
	specs := make([]Spec, 0, len(r.tools))
	for _, name := range slices.Sorted(maps.Keys(r.tools)) {
		specs = append(specs, r.tools[name].Spec())
	}
	return specs
}
