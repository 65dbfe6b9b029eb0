package tui

import (
	"context"

	"parley/agent/record"
	"parley/toolrt"
)

// What a Chat or a Backend may know beside what the screen cannot do without. Where it does not,
// the screen leaves out what depends on it.

// Journaled is a Chat whose journal can be read.
type Journaled interface {
	// Entries returns the effects of a turn, in the order in which they began.
	Entries(ctx context.Context, turn int) ([]record.Entry, error)
}

// Spender is a Chat that knows who has used what.
type Spender interface {
	// Spent says what the session has used by agent, model and tool.
	Spent(ctx context.Context) ([]record.Spent, error)
}

// Backgrounder is a Chat whose commands can go on in the background.
type Backgrounder interface {
	// Background moves a running command of the turn to the background. False means that it cannot
	// go on by itself. It returns at once.
	Background(path string) bool
	// Jobs lists the commands in the background, oldest first, with the last ones that have ended.
	Jobs() []toolrt.Job
	// JobOutput returns the last part of what one has printed.
	JobOutput(id string) (string, error)
	// EndJob ends one and returns when it is gone.
	EndJob(ctx context.Context, id string) error
}
