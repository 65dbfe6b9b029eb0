package tui

import (
	"context"
	"slices"
	"sync"

	tea "charm.land/bubbletea/v2"

	"parley/agent"
)

// Questions puts the questions of a run to the person at the screen: it is the runner's
// [agent.Authorizer] and [agent.Prompter]. Questions are shown in the order in which they come; one
// whose context ends disappears. When the screen has ended, and with it the only one who could
// answer, it returns [agent.ErrNobody]. Make it with [NewQuestions]. Safe for concurrent use.
type Questions struct {
	wake chan struct{} // one token: the list has changed

	mu    sync.Mutex // guards the fields below
	open  []*question
	ended bool
}

var (
	_ agent.Authorizer = (*Questions)(nil)
	_ agent.Prompter   = (*Questions)(nil)
)

// question is one that waits. Exactly one of approval and input is set.
type question struct {
	id       string
	approval *agent.ApprovalQuestion
	input    *agent.InputQuestion
	// answer takes an ApprovalAnswer or an InputAnswer once; it is closed without one when nobody
	// is there any more.
	answer chan any
}

// NewQuestions returns Questions with none open.
func NewQuestions() *Questions {
	return &Questions{wake: make(chan struct{}, 1)}
}

// Authorize asks about a call.
func (q *Questions) Authorize(ctx context.Context, a agent.ApprovalQuestion) (agent.ApprovalAnswer, error) {
	v, err := q.ask(ctx, &question{id: a.ID, approval: &a, answer: make(chan any, 1)}, a.Placed)
	answer, _ := v.(agent.ApprovalAnswer)
	return answer, err
}

// Prompt asks for values.
func (q *Questions) Prompt(ctx context.Context, i agent.InputQuestion) (agent.InputAnswer, error) {
	v, err := q.ask(ctx, &question{id: i.ID, input: &i, answer: make(chan any, 1)}, nil)
	answer, _ := v.(agent.InputAnswer)
	return answer, err
}

// ask puts a question on the list, says that it has its place (placed may be nil) and waits.
func (q *Questions) ask(ctx context.Context, one *question, placed func()) (any, error) {
	q.mu.Lock()
	if q.ended {
		q.mu.Unlock()
		return nil, agent.ErrNobody
	}
	q.open = append(q.open, one)
	q.mu.Unlock()
	q.changed()
	if placed != nil {
		placed()
	}
	select {
	case v, ok := <-one.answer:
		if !ok {
			return nil, agent.ErrNobody
		}
		return v, nil
	case <-ctx.Done():
		q.remove(one)
		return nil, ctx.Err()
	}
}

func (q *Questions) changed() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// remove takes a question off the list and reports whether it was there.
func (q *Questions) remove(one *question) bool {
	q.mu.Lock()
	i := slices.Index(q.open, one)
	if i >= 0 {
		q.open = slices.Delete(q.open, i, i+1)
	}
	q.mu.Unlock()
	q.changed()
	return i >= 0
}

// answer gives the person's answer to the question. One that is gone takes none.
func (q *Questions) answer(id string, v any) {
	q.mu.Lock()
	i := slices.IndexFunc(q.open, func(o *question) bool { return o.id == id })
	var one *question
	if i >= 0 {
		one = q.open[i]
		q.open = slices.Delete(q.open, i, i+1)
	}
	q.mu.Unlock()
	if one != nil {
		one.answer <- v
	}
	q.changed()
}

// list is the questions that wait, in order.
func (q *Questions) list() []*question {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.open)
}

// end says that nobody will answer any more.
func (q *Questions) end() {
	q.mu.Lock()
	open := q.open
	q.open, q.ended = nil, true
	q.mu.Unlock()
	for _, one := range open {
		close(one.answer)
	}
}

// questionsCame says that the list of waiting questions has changed.
type questionsCame struct{ open []*question }

// wait returns a command that gives the list when it has changed.
func (q *Questions) wait(t *tasks) tea.Cmd {
	return t.cmd(func(ctx context.Context) tea.Msg {
		select {
		case <-q.wake:
			return questionsCame{q.list()}
		case <-ctx.Done():
			return nil
		}
	})
}
