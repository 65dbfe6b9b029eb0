package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"parley/agent"
	"parley/agent/record"
	"parley/persist"
)

// shortID is how much of an id names a chat at least.
const shortID = 4

// findSession finds a chat by its id or name, and by the beginning of its id, the short form of lists
// ("01a2..6ec9") or its title where only one chat has it.
func (a *app) findSession(ctx context.Context, ref string) (record.Session, error) {
	row, err := a.store.Session(ctx, ref)
	if !errors.Is(err, agent.ErrNotFound) {
		return row, err
	}
	rows, listErr := a.store.Sessions(ctx, persist.Query{Limit: 100_000})
	if listErr != nil {
		return row, listErr
	}
	var found []record.Session
	for _, r := range rows {
		if named(r, ref) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return row, sessionError(ref, err)
	case 1:
		return found[0], nil
	}
	var ids []string
	for _, r := range found[:min(len(found), 5)] {
		ids = append(ids, r.ID)
	}
	return row, usagef("%q is %d chats, name one by its id: %s", ref, len(found), strings.Join(ids, ", "))
}

// named reports whether a chat may be called ref.
func named(r record.Session, ref string) bool {
	if head, tail, short := strings.Cut(ref, ".."); short && head != "" && tail != "" {
		return strings.HasPrefix(r.ID, head) && strings.HasSuffix(r.ID, tail)
	}
	return len(ref) >= shortID && strings.HasPrefix(r.ID, ref) || r.Title != "" && strings.EqualFold(r.Title, ref)
}

// sessionError says how to find what there is.
func sessionError(id string, err error) error {
	if errors.Is(err, agent.ErrNotFound) {
		return fmt.Errorf("session %q: %w (parley sessions list --all shows what there is)", id, agent.ErrNotFound)
	}
	return err
}
