// Package prompt has the dialogs that stand above the composer: a call that needs a person's say,
// values that a tool or a credential asks for, and the calls that were running when the last
// process ended. A [Prompt] only draws itself and turns keys into an answer; the root decides when
// it is armed and gets keys, and answers arrive there as messages ([ApprovalAnswered],
// [InputAnswered], [ResumeResolved], ...).
//
// All text in a question is hostile: everything is shown with control, hidden and bidi signs
// escaped.
package prompt

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"parley/agent"
	"parley/agent/record"
	"parley/ui/tui/style"
)

// Kind says what a prompt asks for.
type Kind int

// The kinds of prompts.
const (
	Approval Kind = iota + 1
	Input
	Resume
)

// State is what the root knows about a prompt when it is drawn.
type State struct {
	// Armed says that the prompt gets keys.
	Armed bool
	// Composing says that the person is typing in the composer: the prompt shows itself in its
	// smallest form.
	Composing bool
	// Place and Total say which of how many waiting questions this is, from 1.
	Place, Total int
	// QueuedBehind counts questions that wait behind this one.
	QueuedBehind int
	Now          time.Time
}

// Prompt is one dialog. Update returns the prompt to go on with, as Bubble Tea models do; the
// prompt it was called on must not be used afterwards.
type Prompt interface {
	// ID is the question's id; "resume" for the resume dialog.
	ID() string
	Kind() Kind
	// Path is the call the prompt is about, "" for none.
	Path() string
	// Update takes a key press, a paste or a message of the prompt's own. The root passes key
	// presses and pastes only while the prompt is armed, except Tab, which is the root's, and all
	// other messages always.
	Update(msg tea.Msg) (Prompt, tea.Cmd)
	// View draws the prompt with its frame: exactly width columns, at most maxHeight lines.
	View(width, maxHeight int, st State, s *style.Set) string
	// Cursor is where the terminal's cursor stands within View's text, nil when no text is being
	// typed here. The arguments must be those of View.
	Cursor(width, maxHeight int, st State, s *style.Set) *tea.Cursor
	// FullScreen says that the prompt wants the whole screen (the view of v and d).
	FullScreen() bool
	// Editing says that letters are text now: a reason, a value, arguments.
	Editing() bool
}

// ApprovalAnswered carries the answer to an approval question.
type ApprovalAnswered struct {
	ID     string
	Answer agent.ApprovalAnswer
}

// InputAnswered carries the answer to an input question.
type InputAnswered struct {
	ID     string
	Answer agent.InputAnswer
}

// ResumeResolved carries the decision about one call of the resume dialog.
type ResumeResolved struct {
	Key        record.Key
	Resolution agent.Resolution
	Text       string // the result given by hand
}

// ResumeClosed says that the resume dialog was left with calls still open: the turn stays
// unfinished.
type ResumeClosed struct{}

// EndProcess asks to end the process group of a call that still runs.
type EndProcess struct{ Key record.Key }

// Looked has the calls of the resume dialog as they are now; the root sends it to the dialog.
type Looked struct{ Open []agent.OpenCall }

// Ended is the answer to [EndProcess], with the calls as they are then; the root sends it to the
// dialog.
type Ended struct {
	Key  record.Key
	Open []agent.OpenCall
	Err  error
}

// WantBatch asks to show all calls of the reply that a question belongs to.
type WantBatch struct{ ID string }

// WantText asks to give the keys back to the text.
type WantText struct{}

// WantPanel asks to show a call in the call panel.
type WantPanel struct{ Path string }

// WantEditor asks to edit a text in the external editor. The root answers with [Edited].
type WantEditor struct {
	ID   string // the prompt's
	Text string
	Name string // a file name that tells the editor the language
}

// Edited is the answer to [WantEditor]; the root sends it to the prompt.
type Edited struct {
	ID   string
	Text string
}

// MoveQuestion asks to show the next (+1) or previous (-1) of the waiting questions.
type MoveQuestion struct{ By int }

func send(msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }
