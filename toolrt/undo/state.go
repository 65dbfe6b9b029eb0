package undo

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Kind says what stands at a path.
type Kind string

// The kinds. The zero value means that it is not known.
const (
	None   Kind = "none"
	File   Kind = "file"
	Folder Kind = "folder"
	Link   Kind = "link"
	Other  Kind = "other" // a device, a socket: never touched
)

// State is what stands at a path.
type State struct {
	Kind Kind        `json:"kind"`
	Mode fs.FileMode `json:"mode,omitempty"` // permissions, with setuid, setgid and sticky
	Size int64       `json:"size,omitempty"` // of a file
	// Hash is the SHA-256 of a file's bytes in hex, "" when they could not be read.
	Hash string `json:"hash,omitempty"`
	Link string `json:"link,omitempty"` // where a link leads
	// Kept says that the bytes of the file are in the log.
	Kept bool `json:"kept,omitempty"`
}

const modeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// equal reports whether two states are the same to whoever reads the path. A file that could not be
// read equals nothing.
func (s State) equal(o State) bool {
	if s.Kind != o.Kind || s.Kind == "" || s.Kind == Other || s.Kind == File && s.Hash == "" {
		return false
	}
	return s.Mode == o.Mode && s.Hash == o.Hash && s.Link == o.Link
}

// look returns what stands at the path now. The bytes of a file go to each of the writers too.
func look(path string, to ...io.Writer) (State, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return State{Kind: None}, nil
	}
	if err != nil {
		return State{}, err
	}
	s := State{Mode: info.Mode() & modeBits}
	switch {
	case info.IsDir():
		s.Kind = Folder
	case info.Mode()&fs.ModeSymlink != 0:
		s.Kind, s.Mode = Link, 0
		s.Link, err = os.Readlink(path)
	case info.Mode().IsRegular():
		s.Kind, s.Size = File, info.Size()
		s.Hash, err = hashFile(path, to)
		if errors.Is(err, fs.ErrPermission) {
			err = nil // no hash: nobody can say whether it changes
		}
	default:
		s.Kind = Other
	}
	return s, err
}

func hashFile(path string, to []io.Writer) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() // only read from
	h := sha256.New()
	if _, err := io.Copy(io.MultiWriter(append(to, h)...), f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// describe names a state in words.
func (s State) describe() string {
	switch s.Kind {
	case None:
		return "not there"
	case File:
		return fmt.Sprintf("a file of %d bytes, mode %s", s.Size, s.Mode)
	case Folder:
		return "a folder"
	case Link:
		return "a link to " + s.Link
	case Other:
		return "no regular file"
	}
	return "unknown"
}
