package credential

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
)

// Options says where credentials may be kept.
type Options struct {
	// Dir is the data folder, for the encrypted file and for locks. Empty means that nothing may be
	// written to disk.
	Dir string
	// DisableKeyring leaves the system's keyring alone.
	DisableKeyring bool
	// Getenv reads PARLEY_PASSPHRASE; nil takes os.Getenv.
	Getenv func(string) string
	// Passphrase asks the person for the passphrase of the encrypted file; create says that there is
	// no file yet. It is called at most once, when the keyring is off or fails and the environment
	// has none. nil, or an empty answer, means memory.
	Passphrase func(ctx context.Context, create bool) (string, error)
	// Say is told, in one sentence and once, that the keyring cannot be used and what is used
	// instead (K-01). It may be called from any goroutine; nil says nothing.
	Say func(line string)

	workFactor int // of the encrypted file; zero is its own
}

// Open returns the process's store and a line that says where credentials are kept. It calls
// neither the keyring nor the person: both wait until a credential is needed.
func Open(_ context.Context, o Options) (Store, string) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	s := &store{o: o, gate: make(chan struct{}, 1)}
	if o.DisableKeyring {
		s.kind = s.restKind()
		return s, "the keyring is switched off: " + s.restLine()
	}
	s.ring, s.kind = newRing(o.Dir), "keyring"
	return s, "credentials are kept in the system's keyring"
}

// store is the keyring and what stands in for it while it cannot be used.
type store struct {
	o    Options
	ring *ring // nil when switched off

	gate chan struct{} // held while the stand-in is chosen, which may ask the person

	mu     sync.Mutex // guards what follows
	rest   Store      // nil until needed
	kind   string
	said   bool
	silent bool // said that the keyring does not answer
}

var _ Store = (*store)(nil)

// file returns the path of the encrypted file and whether it exists.
func (s *store) file() (string, bool) {
	if s.o.Dir == "" {
		return "", false
	}
	path := filepath.Join(s.o.Dir, FileName)
	_, err := os.Stat(path)
	return path, err == nil
}

// restKind is the stand-in's kind as far as it is known without asking.
func (s *store) restKind() string {
	if path, exists := s.file(); path != "" && (s.o.Getenv("PARLEY_PASSPHRASE") != "" || exists && s.o.Passphrase != nil) {
		return "file"
	}
	return "memory"
}

func (s *store) restLine() string {
	if s.restKind() == "file" {
		path, _ := s.file()
		return "credentials are kept encrypted in " + path
	}
	if s.o.Dir == "" {
		return "credentials are kept until parley ends"
	}
	return "credentials are kept until parley ends; set PARLEY_PASSPHRASE to keep them in an encrypted file"
}

// standIn returns what is used without the keyring, choosing it at first use.
func (s *store) standIn(ctx context.Context) (Store, error) {
	if r := s.inUse(); r != nil {
		return r, nil
	}
	select {
	case s.gate <- struct{}{}:
		defer func() { <-s.gate }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if r := s.inUse(); r != nil {
		return r, nil
	}
	var chosen Store = &Memory{}
	if path, exists := s.file(); path != "" {
		pass := s.o.Getenv("PARLEY_PASSPHRASE")
		if pass == "" && s.o.Passphrase != nil {
			var err error
			if pass, err = s.o.Passphrase(ctx, !exists); err != nil {
				return nil, err
			}
		}
		if pass != "" {
			f := newFile(s.o.Dir, pass)
			f.factor = cmp.Or(s.o.workFactor, f.factor)
			chosen = f
		}
	}
	s.mu.Lock()
	s.rest = chosen
	s.mu.Unlock()
	return chosen, nil
}

func (s *store) inUse() Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rest
}

// known returns the stand-in when it may hold something: it is in use, or its file is there and
// opens without asking.
func (s *store) known(ctx context.Context) (Store, error) {
	if r := s.inUse(); r != nil {
		return r, nil
	}
	if _, exists := s.file(); s.ring == nil || exists && s.o.Getenv("PARLEY_PASSPHRASE") != "" {
		return s.standIn(ctx)
	}
	return nil, nil
}

// failed decides what an error of the keyring means: nil says that the stand-in takes over.
func (s *store) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return err
	}
	r, restErr := s.standIn(ctx)
	if restErr != nil {
		return restErr
	}
	line := "there is no usable keyring: "
	if errors.Is(err, errSilent) {
		line = "the keyring does not answer (is it locked?): until it does, "
	}
	switch r := r.(type) {
	case *file:
		line += "credentials are kept encrypted in " + r.path
	default:
		line += s.restLine()
	}
	s.mu.Lock()
	s.kind = r.Kind()
	said := &s.said
	if errors.Is(err, errSilent) {
		said = &s.silent
	}
	first := !*said
	*said = true
	s.mu.Unlock()
	if first && s.o.Say != nil {
		s.o.Say(line)
	}
	return nil
}

func (s *store) worked() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kind = "keyring"
}

// Get implements [Store]. What the stand-in holds is newer than the keyring's.
func (s *store) Get(ctx context.Context, contexts []string, name string) (Credential, bool, error) {
	rest, err := s.known(ctx)
	if err != nil {
		return Credential{}, false, err
	}
	if rest != nil {
		if c, ok, err := rest.Get(ctx, contexts, name); err != nil || ok || s.ring == nil {
			return c, ok, err
		}
	}
	c, ok, err := s.ring.Get(ctx, contexts, name)
	if err == nil {
		s.worked()
		return c, ok, nil
	}
	if _, bad := orDefault(contexts); bad != nil {
		return c, false, bad
	}
	if err := s.failed(ctx, err); err != nil || rest != nil {
		return c, false, err
	}
	if rest, err = s.standIn(ctx); err != nil {
		return c, false, err
	}
	return rest.Get(ctx, contexts, name)
}

// Put implements [Store].
func (s *store) Put(ctx context.Context, c Credential) error {
	c, err := prepared(c)
	if err != nil {
		return err
	}
	if s.ring != nil {
		if err = s.ring.Put(ctx, c); err == nil {
			s.worked()
			if rest, err := s.known(ctx); err == nil && rest != nil {
				_, err = rest.Delete(ctx, c.Context, c.ToolName) // an older one would win
				return err
			}
			return nil
		}
		if err := s.failed(ctx, err); err != nil {
			return err
		}
	}
	rest, err := s.standIn(ctx)
	if err != nil {
		return err
	}
	return rest.Put(ctx, c)
}

// Delete implements [Store].
func (s *store) Delete(ctx context.Context, context, name string) (bool, error) {
	context, err := single(context)
	if err != nil {
		return false, err
	}
	found := false
	if s.ring != nil {
		ok, err := s.ring.Delete(ctx, context, name)
		if err == nil {
			s.worked()
		} else if err := s.failed(ctx, err); err != nil {
			return false, err
		}
		found = ok
	}
	rest, err := s.known(ctx)
	if err != nil || rest == nil {
		return found, err
	}
	ok, err := rest.Delete(ctx, context, name)
	return found || ok, err
}

// List implements [Store].
func (s *store) List(ctx context.Context, contexts []string) ([]Credential, error) {
	contexts, err := orDefault(contexts)
	if err != nil {
		return nil, err
	}
	all := map[string]Credential{}
	if s.ring != nil {
		list, err := s.ring.List(ctx, []string{AllContexts})
		if err == nil {
			s.worked()
		} else if err := s.failed(ctx, err); err != nil {
			return nil, err
		}
		for _, c := range list {
			all[key(c.Context, c.ToolName)] = c
		}
	}
	rest, err := s.known(ctx)
	if err != nil {
		return nil, err
	}
	if rest != nil {
		list, err := rest.List(ctx, []string{AllContexts})
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			all[key(c.Context, c.ToolName)] = c
		}
	}
	var flat []Credential
	for _, c := range all {
		flat = append(flat, c)
	}
	return chosen(flat, contexts), nil
}

// Kind implements [Store]: where the next credential would be kept, as far as is known.
func (s *store) Kind() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ring == nil && s.rest != nil {
		return s.rest.Kind()
	}
	return s.kind
}
