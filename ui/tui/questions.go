package tui

import (
	"context"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"parley/agent"
	"parley/ui/tui/panel"
	"parley/ui/tui/prompt"
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

// armDelay is how long no key must come before a question takes answers (spec/screen.md 4).
const armDelay = 500 * time.Millisecond

// asking is the state of the questions on screen.
type asking struct {
	prompts []prompt.Prompt
	at      int // the one shown
	// armed says that the one shown takes keys. held says that the person went back to the text
	// with Tab: it arms only by Tab then.
	armed, held bool
	tag         int // of the newest arming timer
}

// armDue says that no key came for armDelay after the timer with this tag was started.
type armDue struct{ tag int }

func (a armDue) apply(m *screen) tea.Cmd {
	if a.tag == m.asking.tag && m.mayArm() {
		m.asking.armed = true
	}
	return nil
}

// prompt is the question shown, nil when none waits.
func (m *screen) prompt() prompt.Prompt {
	if m.page != pageChat || len(m.asking.prompts) == 0 {
		return nil
	}
	return m.asking.prompts[m.asking.at]
}

// mayArm says whether the question shown may take keys by itself.
func (m *screen) mayArm() bool {
	return m.prompt() != nil && !m.asking.held && m.focus == onComposer && m.composer.Empty() && m.choice == nil
}

// rearm disarms the question shown and starts its timer anew. Each question arms anew, also after
// an answer.
func (m *screen) rearm() tea.Cmd {
	m.asking.armed = false
	m.asking.tag++
	if !m.mayArm() {
		return nil
	}
	return m.tasks.after(armDelay, armDue{m.asking.tag})
}

// questionsCame takes the new list. The question on screen stays there as long as it waits.
func (m *screen) questionsCame(msg questionsCame) tea.Cmd {
	a := &m.asking
	shown := ""
	if len(a.prompts) > 0 {
		shown = a.prompts[a.at].ID()
	}
	var next []prompt.Prompt
	for _, p := range a.prompts {
		if p.Kind() == prompt.Resume || slices.ContainsFunc(msg.open, func(q *question) bool { return q.id == p.ID() }) {
			next = append(next, p)
		}
	}
	for _, q := range msg.open {
		if slices.ContainsFunc(next, func(p prompt.Prompt) bool { return p.ID() == q.id }) {
			continue
		}
		if q.approval != nil {
			next = append(next, prompt.NewApproval(*q.approval))
		} else {
			next = append(next, prompt.NewInput(*q.input))
		}
	}
	a.prompts = next
	m.panel.SetWaiting(waiting(msg.open))
	return tea.Batch(m.show(shown), m.opts.Questions.wait(m.tasks))
}

// show puts the question with the id on screen, or the one that took its place. Another one than
// before is not armed.
func (m *screen) show(id string) tea.Cmd {
	a := &m.asking
	i := slices.IndexFunc(a.prompts, func(p prompt.Prompt) bool { return p.ID() == id })
	if i >= 0 {
		a.at = i
		return nil
	}
	a.at = min(a.at, max(len(a.prompts)-1, 0))
	a.held = false
	return m.rearm()
}

// removePrompt takes a question off the screen.
func (m *screen) removePrompt(id string) tea.Cmd {
	m.asking.prompts = slices.DeleteFunc(m.asking.prompts, func(p prompt.Prompt) bool { return p.ID() == id })
	return m.show(id)
}

func waiting(open []*question) []panel.Waiting {
	var out []panel.Waiting
	for _, q := range open {
		w := panel.Waiting{ID: q.id}
		if q.approval != nil {
			w.Path, w.Label, w.Tool = q.approval.Path, q.approval.Label, q.approval.Tool
		} else {
			w.Path, w.Label, w.Tool, w.Input = q.input.Path, q.input.Label, q.input.Tool, true
		}
		out = append(out, w)
	}
	return out
}

// toPrompt gives a message to the question shown.
func (m *screen) toPrompt(msg tea.Msg) tea.Cmd {
	a := &m.asking
	next, cmd := a.prompts[a.at].Update(msg)
	a.prompts[a.at] = next
	return cmd
}

// toPrompts gives a message of the prompts' own to each of them.
func (m *screen) toPrompts(msg tea.Msg) tea.Cmd {
	var cmds []tea.Cmd
	for i, p := range m.asking.prompts {
		next, cmd := p.Update(msg)
		m.asking.prompts[i] = next
		cmds = append(cmds, cmd)
	}
	return tea.Batch(cmds...)
}

// promptMessage takes what the questions say. It reports whether it was one of their messages.
func (m *screen) promptMessage(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case prompt.ApprovalAnswered:
		m.opts.Questions.answer(msg.ID, msg.Answer)
		return m.removePrompt(msg.ID), true
	case prompt.InputAnswered:
		m.opts.Questions.answer(msg.ID, msg.Answer)
		return m.removePrompt(msg.ID), true
	case prompt.MoveQuestion:
		n := len(m.asking.prompts)
		if n < 2 {
			return nil, true
		}
		m.asking.at = ((m.asking.at+msg.By)%n + n) % n
		m.asking.held = false
		return m.rearm(), true
	case prompt.WantPanel:
		return m.showInPanel(msg.Path), true
	case prompt.WantEditor:
		return m.editPrompt(msg), true
	case prompt.ResumeResolved:
		return m.resolve(msg), true
	case prompt.ResumeClosed:
		m.say("left as it was: a message goes on with \"interrupted\" for what is open, /resume asks again")
		return m.removePrompt("resume"), true
	case prompt.EndProcess:
		return m.endProcess(msg.Key), true
	}
	return nil, false
}
