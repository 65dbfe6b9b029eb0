package credential

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"filippo.io/age"
	"github.com/gofrs/flock"
)

// FileName is the name of the encrypted file in the data folder.
const FileName = "credentials.age"

const (
	// workFactor is scrypt's cost as a power of two: about a third of a second.
	workFactor = 16
	// maxWorkFactor bounds what a file may ask of us.
	maxWorkFactor = 20
	// maxFile bounds the file in bytes.
	maxFile = 16 << 20
	// fileLock is how long another process may hold the file.
	fileLock = 10 * time.Second
)

// ErrPassphrase says that the passphrase does not open the credential file.
var ErrPassphrase = errors.New("the passphrase does not open the credential file")

// file keeps credentials in one file, encrypted with a passphrase. It is decrypted when it is
// first needed and when another process has changed it.
type file struct {
	path       string
	passphrase string
	factor     int

	gate chan struct{} // held by the one operation in progress; guards the rest
	seen os.FileInfo   // of the file that kept was read from; nil when there was none
	read bool
	kept map[string]Credential
}

func newFile(dir, passphrase string) *file {
	return &file{path: filepath.Join(dir, FileName), passphrase: passphrase, factor: workFactor, gate: make(chan struct{}, 1)}
}

// fileContent is what is encrypted.
type fileContent struct {
	Version     int                   `json:"version"`
	Credentials map[string]Credential `json:"credentials"`
}

// with runs f with the file read in.
func (s *file) with(ctx context.Context, f func() error) error {
	select {
	case s.gate <- struct{}{}:
		defer func() { <-s.gate }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := s.load(); err != nil {
		return err
	}
	return f()
}

// change runs f with the file read in and no other process writing it, and writes it if f says so.
func (s *file) change(ctx context.Context, f func() (changed bool)) error {
	select {
	case s.gate <- struct{}{}:
		defer func() { <-s.gate }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return fmt.Errorf("keep credentials: %w", err)
	}
	lock := flock.New(s.path+".lock", flock.SetPermissions(0o600))
	lctx, cancel := context.WithTimeout(ctx, fileLock)
	defer cancel()
	if ok, err := lock.TryLockContext(lctx, 20*time.Millisecond); !ok {
		return fmt.Errorf("keep credentials: another process holds %s: %w", s.path, err)
	}
	defer lock.Unlock()
	if err := s.load(); err != nil {
		return err
	}
	if !f() {
		return nil
	}
	if err := s.write(); err != nil {
		s.read = false // what is in memory is not what is on disk
		return fmt.Errorf("keep credentials: %w", err)
	}
	return nil
}

// load reads the file unless it is the one that was read before.
func (s *file) load() error {
	info, err := os.Stat(s.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		s.kept, s.seen, s.read = map[string]Credential{}, nil, true
		return nil
	case err != nil:
		return fmt.Errorf("read credentials: %w", err)
	case s.read && s.seen != nil && os.SameFile(s.seen, info) && s.seen.ModTime().Equal(info.ModTime()) && s.seen.Size() == info.Size():
		return nil
	}
	kept, err := s.decrypt()
	if err != nil {
		return err
	}
	s.kept, s.seen, s.read = kept, info, true
	return nil
}

func (s *file) decrypt() (map[string]Credential, error) {
	f, err := os.Open(s.path)
	if err != nil {
		return nil, fmt.Errorf("read credentials: %w", err)
	}
	defer f.Close()
	id, err := age.NewScryptIdentity(s.passphrase)
	if err != nil {
		return nil, fmt.Errorf("read credentials: %w", err)
	}
	id.SetMaxWorkFactor(maxWorkFactor)
	r, err := age.Decrypt(f, id)
	if noMatch := (*age.NoIdentityMatchError)(nil); errors.As(err, &noMatch) {
		return nil, fmt.Errorf("%w %s: correct PARLEY_PASSPHRASE, or delete the file to start anew", ErrPassphrase, s.path)
	}
	if err != nil {
		return nil, fmt.Errorf("read credentials: %s is damaged: %w", s.path, err)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil || len(text) > maxFile {
		return nil, fmt.Errorf("read credentials: %s is damaged or too large: %w", s.path, err)
	}
	var c fileContent
	if json.Unmarshal(text, &c) != nil || c.Version != 1 {
		return nil, fmt.Errorf("read credentials: %s was written by another version of parley", s.path)
	}
	if c.Credentials == nil {
		c.Credentials = map[string]Credential{}
	}
	return c.Credentials, nil
}

// write replaces the file as a whole: a crash leaves the old one.
func (s *file) write() error {
	rcp, err := age.NewScryptRecipient(s.passphrase)
	if err != nil {
		return err
	}
	rcp.SetWorkFactor(s.factor)
	text, err := json.Marshal(fileContent{1, s.kept})
	if err != nil {
		return err
	}
	var out bytes.Buffer
	w, err := age.Encrypt(&out, rcp)
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := replace(s.path, out.Bytes()); err != nil {
		return err
	}
	s.seen, err = os.Stat(s.path)
	return err
}

// replace writes a file next to path, makes it durable and renames it into place.
func replace(path string, content []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".credentials-*") // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(content); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Get implements [Store].
func (s *file) Get(ctx context.Context, contexts []string, name string) (c Credential, ok bool, err error) {
	if contexts, err = orDefault(contexts); err != nil {
		return c, false, err
	}
	err = s.with(ctx, func() error {
		for _, in := range contexts {
			if c, ok = s.kept[key(in, name)]; ok {
				c = clone(c)
				return nil
			}
		}
		return nil
	})
	return c, ok, err
}

// Put implements [Store].
func (s *file) Put(ctx context.Context, c Credential) error {
	c, err := prepared(c)
	if err != nil {
		return err
	}
	return s.change(ctx, func() bool {
		s.kept[key(c.Context, c.ToolName)] = clone(c)
		return true
	})
}

// Delete implements [Store].
func (s *file) Delete(ctx context.Context, context, name string) (ok bool, err error) {
	if context, err = single(context); err != nil {
		return false, err
	}
	err = s.change(ctx, func() bool {
		_, ok = s.kept[key(context, name)]
		delete(s.kept, key(context, name))
		return ok
	})
	return ok, err
}

// List implements [Store].
func (s *file) List(ctx context.Context, contexts []string) ([]Credential, error) {
	contexts, err := orDefault(contexts)
	if err != nil {
		return nil, err
	}
	var all []Credential
	err = s.with(ctx, func() error {
		for _, c := range s.kept {
			all = append(all, clone(c))
		}
		return nil
	})
	return chosen(all, contexts), err
}

// Kind implements [Store].
func (s *file) Kind() string { return "file" }
