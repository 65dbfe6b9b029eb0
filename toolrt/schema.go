package toolrt

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	schemaURL     = "parley:parameters"
	validateLimit = 2 * time.Second
	maxProblems   = 5 // R12
)

// schemas compiles parameter schemas at their first use and keeps them by the hash of their text.
// Safe for concurrent use.
type schemas struct {
	log *slog.Logger
	// limit bounds compiling a schema and checking one call: a foreign schema may be built so that
	// checking takes for ever.
	limit time.Duration
	busy  sync.WaitGroup // checks that may run over their time

	mu    sync.Mutex // guards known
	known map[[sha256.Size]byte]*schemaEntry
}

// schemaEntry is one schema.
type schemaEntry struct {
	once     sync.Once // guards the next three
	compiled *jsonschema.Schema
	doc      any   // the schema as decoded, to name what it allows
	fault    error // why it did not compile

	broken atomic.Bool // it cannot be used, and that was said
}

func newSchemas(log *slog.Logger) *schemas {
	return &schemas{log: log, limit: validateLimit, known: map[[sha256.Size]byte]*schemaEntry{}}
}

// check returns at most five problems of the valid JSON text args under spec's schema, and how
// many more there are. A schema that does not compile is warned of once, and args are then only
// held to be an object (R11).
func (s *schemas) check(spec Spec, args string) (problems []string, more int) {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(args))
	if err != nil {
		return []string{fmt.Sprintf("(root): %v", err)}, 0
	}
	entry := s.entry(spec)
	if entry.broken.Load() {
		return rootProblem(value), 0
	}
	invalid := s.within(func() error {
		entry.once.Do(func() { entry.fault = entry.compile(spec.Parameters) })
		if entry.fault != nil {
			return entry.fault
		}
		return entry.compiled.Validate(value)
	})
	if invalid == nil {
		return nil, 0
	}
	var failed *jsonschema.ValidationError
	if !errors.As(invalid, &failed) {
		s.unusable(entry, spec, invalid)
		return rootProblem(value), 0
	}
	all, err := describe(failed, value, entry.doc)
	if err != nil {
		s.unusable(entry, spec, err)
		return rootProblem(value), 0
	}
	if len(all) > maxProblems {
		return all[:maxProblems], len(all) - maxProblems
	}
	return all, 0
}

func (s *schemas) entry(spec Spec) *schemaEntry {
	key := sha256.Sum256(spec.Parameters)
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.known[key]
	if e == nil {
		e = &schemaEntry{}
		s.known[key] = e
	}
	return e
}

// within runs f, guarded against panics, and returns its error, or another one when it takes
// longer than the limit.
func (s *schemas) within(f func() error) error {
	done := make(chan error, 1)
	s.busy.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("checking crashed: %v", p)
			}
		}()
		done <- f()
	})
	timer := time.NewTimer(s.limit)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return fmt.Errorf("checking takes longer than %v", s.limit)
	}
}

func (s *schemas) unusable(e *schemaEntry, spec Spec, err error) {
	if !e.broken.Swap(true) {
		s.log.Warn("arguments are not checked: the tool's schema cannot be used", "tool", spec.Name, "source", spec.Source, "err", err)
	}
}

// refuse is the loader of references out of a schema: they are never followed, neither to the
// network nor to files (R11).
type refuse struct{}

func (refuse) Load(url string) (any, error) {
	return nil, fmt.Errorf("the schema refers to %q, which is not loaded", url)
}

func (e *schemaEntry) compile(text json.RawMessage) error {
	if len(strings.TrimSpace(string(text))) == 0 {
		text = json.RawMessage(`{"type":"object"}`)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		return err
	}
	root, ok := doc.(map[string]any)
	if !ok {
		return errors.New("it is no object")
	}
	if url, _ := root["$schema"].(string); !knownDraft(url) {
		delete(root, "$schema")
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(refuse{})
	if err := c.AddResource(schemaURL, doc); err != nil {
		return err
	}
	compiled, err := c.Compile(schemaURL)
	if err != nil {
		return err
	}
	e.compiled, e.doc = compiled, doc
	return nil
}

// knownDraft reports whether url names a JSON Schema draft that the library holds.
func knownDraft(url string) bool {
	_, rest, _ := strings.Cut(strings.TrimSuffix(url, "#"), "://")
	switch rest {
	case "json-schema.org/draft-04/schema", "json-schema.org/draft-06/schema", "json-schema.org/draft-07/schema",
		"json-schema.org/draft/2019-09/schema", "json-schema.org/draft/2020-12/schema":
		return true
	}
	return false
}

func rootProblem(value any) []string {
	if _, ok := value.(map[string]any); ok {
		return nil
	}
	return []string{fmt.Sprintf("(root): expected object, got %s", shown(value))}
}
