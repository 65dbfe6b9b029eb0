package prompt

import (
	tea "charm.land/bubbletea/v2"

	"parley/agent"
	"parley/ui/tui/style"
)

// NewApproval returns the dialog of an approval question.
func NewApproval(q agent.ApprovalQuestion) Prompt {
	return bare{id: q.ID, kind: Approval, path: q.Path, deny: ApprovalAnswered{ID: q.ID}}
}

// NewInput returns the dialog of an input question.
func NewInput(q agent.InputQuestion) Prompt {
	return bare{id: q.ID, kind: Input, path: q.Path, deny: InputAnswered{ID: q.ID, Answer: agent.InputAnswer{Declined: true}}}
}

// NewResume returns the dialog about calls that were running when the last process ended. Info is
// a sentence about what is not asked ("Calls 1 and 2.1 are done and are not run again.").
func NewResume(open []agent.OpenCall, info string) Prompt {
	return bare{id: "resume", kind: Resume, deny: ResumeClosed{}}
}

type bare struct {
	id, path string
	kind     Kind
	deny     tea.Msg
}

func (b bare) ID() string       { return b.id }
func (b bare) Kind() Kind       { return b.kind }
func (b bare) Path() string     { return b.path }
func (b bare) FullScreen() bool { return false }
func (b bare) Editing() bool    { return false }

func (b bare) Update(msg tea.Msg) (Prompt, tea.Cmd) {
	if key, ok := msg.(tea.KeyPressMsg); ok && key.String() == "esc" {
		return b, send(b.deny)
	}
	return b, nil
}

func (b bare) View(width, maxHeight int, st State, s *style.Set) string {
	return s.Warning.Render("Esc deny")
}

func (b bare) Cursor(int, int, State, *style.Set) *tea.Cursor { return nil }
