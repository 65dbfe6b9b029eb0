package credential

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/zalando/go-keyring"
)

const (
	// service is the name under which the keyring shows our items.
	service = "parley"
	// indexItem lists the keys of all records, since keyrings cannot be listed everywhere.
	indexItem = "parley-index"
	// ringLimit is how long one call may take: a locked keyring may wait for a prompt that nobody
	// sees (K-02).
	ringLimit = 3 * time.Second
	// itemSize is the most that one item holds in bytes: Windows takes 2,560, macOS about 3,000
	// after encoding. Longer records are split.
	itemSize = 1800
)

// errSilent says that the keyring did not answer in time.
var errSilent = errors.New("the keyring does not answer; it may be locked and waiting for a prompt")

// ring keeps credentials in the system's keyring.
type ring struct {
	limit time.Duration
	lock  string // file that keeps two processes from writing the index at once; "" for none

	slot  chan struct{} // held by the one call in progress
	index chan struct{} // held while the index is changed

	mu   sync.Mutex // guards hung
	hung bool       // a call was given up on and has not returned yet
}

func newRing(dir string) *ring {
	r := &ring{limit: ringLimit, slot: make(chan struct{}, 1), index: make(chan struct{}, 1)}
	if dir != "" {
		r.lock = filepath.Join(dir, "keyring.lock")
	}
	return r
}

// item reads one item; ok is false when there is none.
func (r *ring) item(ctx context.Context, user string) (value string, ok bool, err error) {
	var got string // written by the call alone, read only when it has returned
	err = r.call(ctx, func() error {
		v, err := keyring.Get(service, user)
		got = v
		return err
	})
	switch {
	case errors.Is(err, keyring.ErrNotFound):
		return "", false, nil
	case err != nil:
		return "", false, fmt.Errorf("read keyring: %w", err)
	}
	return got, true, nil
}

func (r *ring) set(ctx context.Context, user, value string) error {
	if err := r.call(ctx, func() error { return keyring.Set(service, user, value) }); err != nil {
		return fmt.Errorf("write keyring: %w", err)
	}
	return nil
}

func (r *ring) remove(ctx context.Context, user string) (bool, error) {
	err := r.call(ctx, func() error { return keyring.Delete(service, user) })
	switch {
	case errors.Is(err, keyring.ErrNotFound):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("delete from keyring: %w", err)
	}
	return true, nil
}

// split is what stands in the place of a record that is too long for one item.
type split struct {
	Parts int    `json:"parts"`
	Set   string `json:"set"` // names the items of this writing
}

func (s split) part(user string, i int) string { return fmt.Sprintf("%s#%s.%d", user, s.Set, i) }

// load reads a record, joining its parts.
func (r *ring) load(ctx context.Context, user string) (Credential, bool, error) {
	text, ok, err := r.item(ctx, user)
	if err != nil || !ok {
		return Credential{}, false, err
	}
	var s split
	if json.Unmarshal([]byte(text), &s) == nil && s.Parts > 0 {
		text = ""
		for i := range s.Parts {
			part, ok, err := r.item(ctx, s.part(user, i))
			if err != nil || !ok {
				return Credential{}, false, err
			}
			text += part
		}
	}
	var c Credential
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		// The text is a secret: only the fact is said.
		return Credential{}, false, fmt.Errorf("the keyring's entry for %q is damaged: delete it and set it again", user)
	}
	return c, true, nil
}

// store writes a record. The first item is written last, so that a record is whole or old.
func (r *ring) store(ctx context.Context, user string, c Credential) error {
	b, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode credential %s: %w", c.ToolName, err)
	}
	old, _, err := r.item(ctx, user)
	if err != nil {
		return err
	}
	text := string(b)
	if len(text) > itemSize {
		var id [8]byte
		rand.Read(id[:]) // never fails
		s := split{Parts: (len(text) + itemSize - 1) / itemSize, Set: hex.EncodeToString(id[:])}
		for i := range s.Parts {
			if err := r.set(ctx, s.part(user, i), text[i*itemSize:min((i+1)*itemSize, len(text))]); err != nil {
				return err
			}
		}
		head, err := json.Marshal(s)
		if err != nil {
			return fmt.Errorf("encode credential %s: %w", c.ToolName, err)
		}
		text = string(head)
	}
	if err := r.set(ctx, user, text); err != nil {
		return err
	}
	r.removeParts(ctx, user, old)
	return nil
}

// removeParts removes the parts of an earlier record; what stays behind does no harm.
func (r *ring) removeParts(ctx context.Context, user, head string) {
	var s split
	if json.Unmarshal([]byte(head), &s) != nil {
		return
	}
	for i := range s.Parts {
		if _, err := r.remove(ctx, s.part(user, i)); err != nil {
			return
		}
	}
}

// changeIndex applies a change to the list of keys, one process and goroutine at a time.
func (r *ring) changeIndex(ctx context.Context, change func([]string) []string) error {
	select {
	case r.index <- struct{}{}:
		defer func() { <-r.index }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if r.lock != "" {
		l := flock.New(r.lock, flock.SetPermissions(0o600))
		lctx, cancel := context.WithTimeout(ctx, r.limit)
		defer cancel()
		// Without the lock two processes could lose an entry of the list, not a credential.
		if ok, _ := l.TryLockContext(lctx, 20*time.Millisecond); ok {
			defer l.Unlock()
		}
	}
	keys, err := r.keys(ctx)
	if err != nil {
		return err
	}
	next := change(slices.Clone(keys))
	slices.Sort(next)
	if next = slices.Compact(next); slices.Equal(next, keys) {
		return nil
	}
	return r.setKeys(ctx, next)
}

// keys reads the index. It is kept like a record, as it can be long.
func (r *ring) keys(ctx context.Context) ([]string, error) {
	c, _, err := r.load(ctx, indexItem)
	if err != nil {
		return nil, err
	}
	var keys []string
	for k := range c.Env {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys, nil
}

func (r *ring) setKeys(ctx context.Context, keys []string) error {
	c := Credential{ToolName: indexItem, Env: map[string]string{}}
	for _, k := range keys {
		c.Env[k] = ""
	}
	return r.store(ctx, indexItem, c)
}

// Get implements [Store].
func (r *ring) Get(ctx context.Context, contexts []string, name string) (Credential, bool, error) {
	contexts, err := orDefault(contexts)
	if err != nil {
		return Credential{}, false, err
	}
	for _, c := range contexts {
		if found, ok, err := r.load(ctx, key(c, name)); err != nil || ok {
			return found, ok, err
		}
	}
	return Credential{}, false, nil
}

// Put implements [Store].
func (r *ring) Put(ctx context.Context, c Credential) error {
	c, err := prepared(c)
	if err != nil {
		return err
	}
	k := key(c.Context, c.ToolName)
	if err := r.store(ctx, k, c); err != nil {
		return err
	}
	return r.changeIndex(ctx, func(keys []string) []string { return append(keys, k) })
}

// Delete implements [Store].
func (r *ring) Delete(ctx context.Context, context, name string) (bool, error) {
	context, err := single(context)
	if err != nil {
		return false, err
	}
	k := key(context, name)
	head, _, err := r.item(ctx, k)
	if err != nil {
		return false, err
	}
	ok, err := r.remove(ctx, k)
	if err != nil {
		return false, err
	}
	r.removeParts(ctx, k, head)
	return ok, r.changeIndex(ctx, func(keys []string) []string {
		return slices.DeleteFunc(keys, func(o string) bool { return o == k })
	})
}

// List implements [Store]. Records that somebody else removed from the keyring are left out.
func (r *ring) List(ctx context.Context, contexts []string) ([]Credential, error) {
	contexts, err := orDefault(contexts)
	if err != nil {
		return nil, err
	}
	keys, err := r.keys(ctx)
	if err != nil {
		return nil, err
	}
	var all []Credential
	for _, k := range keys {
		c, ok, err := r.load(ctx, k)
		if err != nil {
			return nil, err
		}
		if ok {
			all = append(all, c)
		}
	}
	return chosen(all, contexts), nil
}

// Kind implements [Store].
func (r *ring) Kind() string { return "keyring" }
