package persist

import (
	"context"
	"fmt"
)

// Inputs returns up to limit messages that a person sent to the program, in all sessions that are
// not in the bin, newest first, none twice in a row.
func (s *Store) Inputs(ctx context.Context, program string, limit int) ([]string, error) {
	list, err := viewList(ctx, s, `SELECT turns.input FROM sessions JOIN turns ON turns.session = sessions.num
		WHERE sessions.program = ? AND sessions.deleted_ms IS NULL AND turns.input <> ''
		ORDER BY turns.started_ms DESC LIMIT ?`, []any{program, limit},
		func(row scanner) (input string, err error) { return input, row.Scan(&input) })
	if err != nil {
		return nil, fmt.Errorf("earlier messages: %w", err)
	}
	kept := list[:0]
	for _, input := range list {
		if len(kept) == 0 || kept[len(kept)-1] != input {
			kept = append(kept, input)
		}
	}
	return kept, nil
}
