package approval

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// ErrUntrusted is wrapped by the error that [Load] returns for a project file whose allow rules
// were left out because nobody trusted it yet.
var ErrUntrusted = errors.New("not trusted")

// UntrustedError says that a project file may not allow anything yet (A4).
type UntrustedError struct {
	File    string
	Hash    string // to be trusted
	Ignored int    // allow rules that have no effect
}

func (e *UntrustedError) Error() string {
	return fmt.Sprintf("%s is not trusted: its %d allow rules have no effect", e.File, e.Ignored)
}

// Is makes errors.Is(err, ErrUntrusted) hold.
func (e *UntrustedError) Is(target error) bool { return target == ErrUntrusted }

// FileHash names the content of a project file for trust: trust ends when the content changes.
func FileHash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// entry is a rule in a file: its text alone, or an object with more to say.
type entry struct {
	Rule    string    `json:"rule"`
	Expires time.Time `json:"expires"`
	Note    string    `json:"note"`
}

func (e *entry) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &e.Rule)
	}
	type plain entry
	return json.Unmarshal(b, (*plain)(e))
}

type permissions struct {
	Permissions struct {
		Allow []entry `json:"allow"`
		Ask   []entry `json:"ask"`
		Deny  []entry `json:"deny"`
	} `json:"permissions"`
}

// Load reads the rules under "permissions" of the project's and the user's config files. A missing
// file has none, an empty name is no file. trusted says whether a project file of that
// [FileHash] may allow things; nil trusts none, and then its allow rules are left out and an
// [*UntrustedError] is among the errors. A rule that cannot be read is an error naming file, key
// and column; the others hold.
func Load(projectFile, userFile string, trusted func(hash string) bool) ([]Rule, []error) {
	rules, errs := loadFile(projectFile, Project, trusted)
	more, moreErrs := loadFile(userFile, User, nil)
	return append(rules, more...), append(errs, moreErrs...)
}

// place is where in the data a JSON error is, as ":line:column", "" when that is unknown.
func place(data []byte, err error) string {
	var offset int64
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = syntax.Offset
	} else if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		offset = kind.Offset
	}
	if offset <= 0 || offset > int64(len(data)) {
		return ""
	}
	before := data[:offset-1]
	return fmt.Sprintf(":%d:%d", bytes.Count(before, []byte("\n"))+1, len(before)-bytes.LastIndexByte(before, '\n'))
}

func loadFile(file string, scope Scope, trusted func(string) bool) ([]Rule, []error) {
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []error{fmt.Errorf("read rules: %w", err)}
	}
	var p permissions
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, []error{fmt.Errorf("read rules of %s%s: %w", file, place(data, err), err)}
	}
	var errs []error
	if n := len(p.Permissions.Allow); n > 0 && scope == Project {
		if hash := FileHash(data); trusted == nil || !trusted(hash) {
			errs = append(errs, &UntrustedError{file, hash, n})
			p.Permissions.Allow = nil
		}
	}
	var rules []Rule
	for _, l := range []struct {
		effect  Effect
		entries []entry
	}{{Deny, p.Permissions.Deny}, {Ask, p.Permissions.Ask}, {Allow, p.Permissions.Allow}} {
		for i, e := range l.entries {
			r, err := ParseRule(l.effect, e.Rule, scope)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: permissions.%s[%d]: %w", file, l.effect, i, err))
				continue
			}
			r.Expires, r.Note, r.Creator = e.Expires, e.Note, file
			r.ID = stableID(r)
			rules = append(rules, r)
		}
	}
	return rules, errs
}
