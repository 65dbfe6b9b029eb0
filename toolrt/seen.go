package toolrt

import (
	"crypto/sha256"
	"sync"
)

// Sum identifies the bytes of a file.
type Sum [sha256.Size]byte

// Seen remembers what files held when tools last read or wrote them, so that a later change by
// somebody else is noticed before it is overwritten. A runtime has one for all its calls; what was
// seen is forgotten with the process. A nil Seen remembers nothing. Safe for concurrent use.
type Seen struct {
	mu    sync.Mutex
	files map[string]Sum // guarded by mu; by resolved path
}

// Note remembers what the file at a resolved path holds now.
func (s *Seen) Note(path string, sum Sum) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files == nil {
		s.files = map[string]Sum{}
	}
	s.files[path] = sum
}

// Knows reports whether the file was seen.
func (s *Seen) Knows(path string) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known := s.files[path]
	return known
}

// Changed reports whether the file was seen and held something else then.
func (s *Seen) Changed(path string, sum Sum) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old, known := s.files[path]
	return known && old != sum
}
