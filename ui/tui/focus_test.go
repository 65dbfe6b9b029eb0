package tui

import (
	"strings"
	"testing"

	"parley/toolrt"
)

// A pane says that keys go there; a letter that has no meaning in it goes to the text and is typed.
func TestTypingLeavesThePane(t *testing.T) {
	for _, size := range sizes {
		b, chat := newBackend(), newChat("s1")
		term := start(t, size.w, size.h, Options{Backend: b, Chat: chat})
		term.shows("@planner")
		term.typed("<ctrl+t>")
		if size.w >= 110 { // it was there and is hidden
			term.typed("<ctrl+t>")
		}
		where := "keys go to the panel"
		if size.w < 60 {
			where = "keys: panel"
		}
		term.shows(where)
		term.typed("what")
		term.shows("❯ what")
		term.hides(where)
	}
}

// The panel shows the arguments that are asked for, and no call of parley's own contexts among the
// decisions.
func TestPanelShowsWhatIsAsked(t *testing.T) {
	b, chat, q := newBackend(), newChat("s1"), NewQuestions()
	own := leaf(4, 0, "sys.context.folder", "", toolrt.StatusSuccess)
	own.Category, own.Decision = "context", &toolrt.Decision{Allow: true, By: "rule", Rule: "sys.context.folder", Scope: "builtin"}
	asked := leaf(4, 2, "sys.exec", `{"command":"old words"}`, toolrt.StatusWaiting)
	asked.Path = "0/3.2"
	chat.message("assistant", "look", own, asked)
	term := start(t, 120, 36, Options{Backend: b, Chat: chat, Questions: q})
	term.shows("old words")
	a := approval("q1", "3", "sys.exec")
	a.Arguments = `{"command":"new words"}`
	ask(t, q, a)
	term.until("the new arguments in the panel", func() bool { return strings.Count(term.text(), "new words") >= 2 })
	term.armed()
	term.typed(".")
	term.shows("keys go to the panel")
	term.typed("2")
	term.shows("waits for you")
	if got := term.text(); strings.Contains(got, "allowed by") {
		t.Errorf("the program's own context is among the approvals:\n%s", got)
	}
	term.typed("/folder")
	term.shows("allowed by")
}
