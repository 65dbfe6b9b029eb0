package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"parley/agent"
	"parley/ui/tui/panel"
	"parley/ui/tui/prompt"
	"parley/ui/tui/text"
)

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
	// batch is the view of all calls of a reply, nil when it is closed. away says that one question
	// of it is shown in its own dialog.
	batch *prompt.Batch
	away  bool
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
	if b := m.asking.batch; b != nil && m.asking.armed && b.Undecided() > 0 {
		return nil // the list stays as it is when one of its questions is answered
	}
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
	var told tea.Cmd
	for _, p := range a.prompts {
		if p.Kind() == prompt.Resume || slices.ContainsFunc(msg.open, func(q *question) bool { return q.id == p.ID() }) {
			next = append(next, p)
		}
	}
	for _, q := range msg.open {
		if slices.ContainsFunc(next, func(p prompt.Prompt) bool { return p.ID() == q.id }) {
			continue
		}
		told = m.notify("a question waits for you")
		if q.approval != nil {
			next = append(next, prompt.NewApproval(*q.approval))
		} else {
			next = append(next, prompt.NewInput(*q.input))
		}
	}
	a.prompts = next
	m.panel.SetWaiting(waiting(msg.open))
	m.setBatch()
	return tea.Batch(told, m.show(shown), m.opts.Questions.wait(m.tasks))
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

// sayRule says where the rule goes that an answer makes for good.
func (m *screen) sayRule(ans agent.ApprovalAnswer) {
	if ans.Rule == "" || ans.Scope != "project" && ans.Scope != "user" {
		return
	}
	verb, file := "denied from now on: ", ""
	if ans.Allow {
		verb = "allowed from now on: "
	}
	if k, ok := m.session.chat.(RuleKeeper); ok {
		file = k.RuleFile(ans.Scope)
	}
	line := verb + strings.ReplaceAll(text.Strict(ans.Rule), "\n", "  ")
	if file != "" {
		line += "\nkept in " + file + ", where it can be taken out; parley approvals revoke does it too"
	}
	m.say(line)
}

func waiting(open []*question) []panel.Waiting {
	var out []panel.Waiting
	for _, q := range open {
		w := panel.Waiting{ID: q.id}
		if q.approval != nil {
			w.Path, w.Label, w.Tool, w.Arguments = q.approval.Path, q.approval.Label, q.approval.Tool, q.approval.Arguments
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
		// Stopping is interrupting: what is queued is not sent by itself then.
		m.session.interrupted = m.session.interrupted || msg.Answer.Stop
		m.opts.Questions.answer(msg.ID, msg.Answer)
		m.sayRule(msg.Answer)
		m.asking.away = false
		cmd := m.removePrompt(msg.ID)
		m.setBatch()
		return cmd, true
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
	case prompt.WantBatch:
		m.openBatch()
		return nil, true
	case prompt.BatchClosed:
		return m.closeBatch(), true
	case prompt.BatchOpens:
		return m.fromBatch(msg), true
	case prompt.WantText:
		m.asking.armed, m.asking.held = false, true
		return nil, true
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
