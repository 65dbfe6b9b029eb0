package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// settingsWait is how long a change of settings waits for another process that changes them.
const settingsWait = 5 * time.Second

// changeSettings changes the settings file at path: edit gets its bytes ("{}" for a missing or empty
// file) and returns the new ones. Processes that change settings at the same time wait for each
// other, so that both changes survive (C-02); the file is replaced at once and a link stays a link.
func (a *app) changeSettings(path string, edit func(data []byte) ([]byte, error)) error {
	unlock, err := a.lockSettings(path)
	if err != nil {
		return err
	}
	defer unlock()
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read settings: %w", err)
	}
	data := before
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}\n")
	}
	after, err := edit(data)
	if err != nil {
		return fmt.Errorf("%s cannot be changed: %w", path, err)
	}
	if bytes.Equal(before, after) {
		return nil
	}
	return writeFile(path, after)
}

// lockSettings keeps other processes from changing the file. The lock lies in the data folder, not
// beside the settings, which may belong to a project. Without a data folder nothing is locked.
func (a *app) lockSettings(path string) (unlock func(), err error) {
	if a.paths.data == "" {
		return func() {}, nil
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	sum := sha256.Sum256([]byte(path))
	dir := filepath.Join(a.paths.data, "locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("lock settings: %w", err)
	}
	lock := flock.New(filepath.Join(dir, hex.EncodeToString(sum[:8])+".lock"))
	ctx, cancel := context.WithTimeout(context.Background(), settingsWait)
	defer cancel()
	if _, err := lock.TryLockContext(ctx, settingsWait/500); err != nil {
		return nil, errors.Join(fmt.Errorf("lock settings %s: %w", path, err), lock.Close())
	}
	return func() { _ = lock.Close() }, nil // the lock goes with the descriptor in any case
}

// member is where the value of a key stands in the text of an object.
type member struct{ start, end int }

// findMember finds a key of the object that data[from:] begins with. end is where the object ends,
// after its brace; empty says that it has no member.
func findMember(data []byte, from int, key string) (found *member, end int, empty bool, err error) {
	dec := json.NewDecoder(bytes.NewReader(data[from:]))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, 0, false, errors.Join(err, errors.New("it is no JSON object"))
	}
	empty = true
	for dec.More() {
		empty = false
		name, err := dec.Token()
		if err != nil {
			return nil, 0, false, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, 0, false, err
		}
		if stop := from + int(dec.InputOffset()); name == key {
			found = &member{stop - len(value), stop} // of several the last one counts, as for the reader
		}
	}
	_, err = dec.Token()
	return found, from + int(dec.InputOffset()), empty, err
}

// setMember gives the key of the object at from that value, and leaves every other byte as it is.
func setMember(data []byte, from int, key string, value []byte) ([]byte, error) {
	found, end, empty, err := findMember(data, from, key)
	if err != nil {
		return nil, err
	}
	if found != nil {
		return splice(data, found.start, found.end, value), nil
	}
	name, err := json.Marshal(key)
	if err != nil {
		return nil, err
	}
	return insertBefore(data, end-1, empty, fmt.Sprintf("%s: %s", name, value)), nil
}

// insertBefore puts a further member or item before the bracket at closing. It gets a line of its
// own where the last one has, or where the text is empty.
func insertBefore(data []byte, closing int, empty bool, text string) []byte {
	last := closing
	for last > 0 && strings.IndexByte(" \t\r\n", data[last-1]) >= 0 {
		last--
	}
	indent := lineIndent(data, closing)
	if empty {
		return splice(data, last, closing, []byte("\n"+indent+"  "+text+"\n"+indent))
	}
	if !bytes.ContainsRune(data[last:closing], '\n') {
		return splice(data, last, last, []byte(", "+text))
	}
	return splice(data, last, last, []byte(",\n"+lineIndent(data, last)+text))
}

// lineIndent is the white space that the line of that byte begins with.
func lineIndent(data []byte, at int) string {
	start := bytes.LastIndexByte(data[:at], '\n') + 1
	end := start
	for end < len(data) && (data[end] == ' ' || data[end] == '\t') {
		end++
	}
	return string(data[start:end])
}

func splice(data []byte, start, end int, text []byte) []byte {
	out := make([]byte, 0, len(data)+len(text))
	return append(append(append(out, data[:start]...), text...), data[end:]...)
}

// listItem is an item of a JSON list with its place in the text.
type listItem struct {
	value json.RawMessage
	member
}

// listItems returns the items of the list at from, and where the list ends, after its bracket.
func listItems(data []byte, from int) (items []listItem, end int, err error) {
	dec := json.NewDecoder(bytes.NewReader(data[from:]))
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return nil, 0, errors.Join(err, errors.New("it is no JSON list"))
	}
	for dec.More() {
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, 0, err
		}
		stop := from + int(dec.InputOffset())
		items = append(items, listItem{value, member{stop - len(value), stop}})
	}
	_, err = dec.Token()
	return items, from + int(dec.InputOffset()), err
}

// addRule adds a rule to the list of that effect under "permissions", unless it stands there.
func addRule(data []byte, effect, rule string) ([]byte, error) {
	text, err := json.Marshal(rule)
	if err != nil {
		return nil, err
	}
	all, _, _, err := findMember(data, 0, "permissions")
	if err != nil {
		return nil, err
	}
	if all == nil {
		return setMember(data, 0, "permissions", fmt.Appendf(nil, "{\n    %q: [\n      %s\n    ]\n  }", effect, text))
	}
	list, _, _, err := findMember(data, all.start, effect)
	if err != nil {
		return nil, fmt.Errorf("permissions: %w", err)
	}
	if list == nil {
		return setMember(data, all.start, effect, fmt.Appendf(nil, "[%s]", text))
	}
	items, end, err := listItems(data, list.start)
	if err != nil {
		return nil, fmt.Errorf("permissions.%s: %w", effect, err)
	}
	for _, item := range items {
		if ruleText(item.value) == rule {
			return data, nil
		}
	}
	return insertBefore(data, end-1, len(items) == 0, string(text)), nil
}

// removeRule takes the rules that match out of the list of that effect under "permissions".
func removeRule(data []byte, effect string, matches func(text string) bool) ([]byte, error) {
	for {
		all, _, _, err := findMember(data, 0, "permissions")
		if err != nil || all == nil {
			return data, err
		}
		list, _, _, err := findMember(data, all.start, effect)
		if err != nil || list == nil {
			return data, err
		}
		items, end, err := listItems(data, list.start)
		if err != nil {
			return nil, fmt.Errorf("permissions.%s: %w", effect, err)
		}
		i := slices.IndexFunc(items, func(item listItem) bool { return matches(ruleText(item.value)) })
		switch {
		case i < 0:
			return data, nil
		case i+1 < len(items): // with the comma after it
			data = splice(data, items[i].start, items[i+1].start, nil)
		case i > 0: // with the comma before it
			data = splice(data, items[i-1].end, items[i].end, nil)
		default:
			data = splice(data, list.start+1, end-1, nil)
		}
	}
}

// ruleText is the rule of an entry in the settings: a text, or an object with more to say.
func ruleText(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	var entry struct {
		Rule string `json:"rule"`
	}
	_ = json.Unmarshal(value, &entry) // what is neither has no rule
	return entry.Rule
}
