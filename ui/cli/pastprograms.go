package cli

import (
	"context"
	"errors"
	"fmt"

	"parley/agent"
	"parley/agent/program"
	"parley/agent/record"
	"parley/persist"
	"parley/toolrt/approval"
)

// pastPrograms tries rules on executions of the past, each with the program that its turn was pinned
// to. What many executions share is read once.
type pastPrograms struct {
	a        *app
	rules    []approval.Rule
	sessions map[string]record.Session
	trials   map[[2]string]*agent.Trial // by working folder and workspace
	hashes   map[pastTurn]string
	programs map[string]*program.Program // by the hash of their text; nil: it cannot be read
}

type pastTurn struct {
	session string
	turn    int
}

// matches reports whether the rules would have decided about the execution.
func (p *pastPrograms) matches(ctx context.Context, e persist.Execution) (bool, error) {
	if p.sessions == nil {
		p.sessions, p.trials = map[string]record.Session{}, map[[2]string]*agent.Trial{}
		p.hashes, p.programs = map[pastTurn]string{}, map[string]*program.Program{}
	}
	row, ok := p.sessions[e.Session]
	if !ok {
		var err error
		if row, err = p.a.store.Session(ctx, e.Session); err != nil {
			return false, err
		}
		p.sessions[e.Session] = row
	}
	prg, err := p.program(ctx, pastTurn{e.Session, e.Turn})
	if err != nil || prg == nil {
		return false, err
	}
	place := [2]string{row.Dir, row.Workspace}
	if p.trials[place] == nil {
		p.trials[place] = agent.NewTrial(row.Dir, row.Workspace, p.rules)
	}
	return p.trials[place].Matches(prg, p.a.builtins, e.Call, row.Dir, row.Workspace), nil
}

// program is the one that a turn was pinned to, nil when its text is gone.
func (p *pastPrograms) program(ctx context.Context, at pastTurn) (*program.Program, error) {
	hash, ok := p.hashes[at]
	if !ok {
		turn, err := p.a.store.Turn(ctx, at.session, at.turn)
		if err != nil {
			return nil, err
		}
		hash = turn.Program
		p.hashes[at] = hash
	}
	if prg, ok := p.programs[hash]; ok {
		return prg, nil
	}
	text, err := p.a.store.Text(ctx, hash)
	if errors.Is(err, agent.ErrNotFound) {
		p.programs[hash] = nil
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	prg, err := program.FromJSON([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("read the program of turn %d of session %s: %w", at.turn, at.session, err)
	}
	p.programs[hash] = prg
	return prg, nil
}
