// Package replay is the model of a session that is played from its record: its replies come from the
// journal, and it is never asked. It stands where the model of the session stood, so that requests
// are built alike, and needs neither key nor network.
package replay

import (
	"context"
	"errors"
	"fmt"

	"parley/agent/model"
)

// ErrAsked says that a replay came to a request that is not on record.
var ErrAsked = errors.New("a replay asks no model")

// recorded is a model that is known by its reference only.
type recorded struct {
	ref  string
	info model.Info
}

// New returns the model of that reference ("provider/name"). info is what is known about it: it
// decides how requests are built.
func New(ref string, info model.Info) model.Model { return recorded{ref, info} }

// Ref returns the reference.
func (m recorded) Ref() string { return m.ref }

// Info returns what is known about the model.
func (m recorded) Info() model.Info { return m.info }

// Stream fails with ErrAsked.
func (m recorded) Stream(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
	return model.Reply{}, fmt.Errorf("%s: %w", m.ref, ErrAsked)
}
