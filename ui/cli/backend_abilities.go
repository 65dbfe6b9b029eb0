package cli

import (
	"context"

	"parley/agent/record"
	"parley/ui/tui"
)

var (
	_ tui.Journaled    = (*screenChat)(nil)
	_ tui.Spender      = (*screenChat)(nil)
	_ tui.Backgrounder = (*screenChat)(nil)
)

// Entries reads the effects of a turn (tui.Journaled).
func (c *screenChat) Entries(ctx context.Context, turn int) ([]record.Entry, error) {
	return c.journal.Entries(ctx, turn)
}

// Spent says what the session has used (tui.Spender).
func (c *screenChat) Spent(ctx context.Context) ([]record.Spent, error) {
	return c.store.Spent(ctx, c.Row().ID)
}
