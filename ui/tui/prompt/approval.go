package prompt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"parley/agent"
	"parley/ui/tui/diff"
	"parley/ui/tui/style"
)

// stage says what an approval's keys mean.
type stage int

const (
	asking     stage = iota // the question itself
	scoping                 // after a: for how long
	widening                // after a and g: whether really everywhere
	forbidding              // after a and n: whether really never again
	ruling                  // the rule is edited
	giving                  // a reason is typed
	editing                 // the arguments are edited
	reading                 // the whole text is read
)

// approval is the dialog about one call.
type approval struct {
	q     agent.ApprovalQuestion
	stage stage
	rule  int    // which of the rules is offered
	own   string // a rule the person wrote, instead of it
	field *field // of ruling, giving and editing
	pager *pager // of reading
	note  string // why the last key did nothing
	// ruleSeen says that the rule that s makes stood on screen, whole, when the dialog was last
	// drawn.
	ruleSeen bool
	seen     seen
	// answered: an answer is on its way, further keys are for nobody.
	answered bool
}

// NewApproval returns the dialog of an approval question.
func NewApproval(q agent.ApprovalQuestion) Prompt { return &approval{q: q} }

func (a *approval) ID() string       { return a.q.ID }
func (a *approval) Kind() Kind       { return Approval }
func (a *approval) Path() string     { return a.q.Path }
func (a *approval) FullScreen() bool { return a.stage == reading }

// AtRest reports whether a question shows its answers: nothing is being typed, read or chosen in it.
func AtRest(p Prompt) bool {
	a, ok := p.(*approval)
	return ok && a.stage == asking
}

func (a *approval) Editing() bool {
	return a.stage == ruling || a.stage == giving || a.stage == editing
}

// Update takes keys while the dialog is armed. Enter, Space and digits answer nothing.
func (a *approval) Update(msg tea.Msg) (Prompt, tea.Cmd) {
	if a.answered {
		return a, nil
	}
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		a.note = ""
		return a, a.key(msg)
	case tea.PasteMsg:
		if a.field != nil {
			return a, a.field.update(msg)
		}
	case Edited:
		if msg.ID == a.q.ID && a.field != nil {
			a.field.area.SetValue(strings.TrimRight(msg.Text, "\n"))
		}
	default:
		if a.field != nil {
			return a, a.field.update(msg)
		}
	}
	return a, nil
}

func (a *approval) key(msg tea.KeyPressMsg) tea.Cmd {
	k := msg.String()
	if k == "ctrl+c" {
		return a.answer(agent.ApprovalAnswer{Stop: true})
	}
	switch a.stage {
	case scoping:
		return a.scopeKey(k)
	case widening, forbidding:
		return a.sureKey(k)
	case ruling, giving, editing:
		return a.textKey(k, msg)
	case reading:
		if a.pager.move(k) {
			return nil
		}
		if k == "esc" || k == "q" || k == a.pager.key {
			a.stage, a.pager = asking, nil
			return nil
		}
	}
	return a.askKey(k)
}

// askKey takes the keys of the question itself.
func (a *approval) askKey(k string) tea.Cmd {
	switch k {
	case "y":
		return a.allow(agent.ApprovalAnswer{Allow: true})
	case "s":
		if !a.mayRule() {
			return nil
		}
		if a.ruleSeen || !a.seen.all() {
			return a.allow(agent.ApprovalAnswer{Allow: true, Scope: "session", Rule: a.ruleText()})
		}
		a.stage, a.pager = scoping, nil // there was no room for it: show it first
	case "a":
		if a.mayRule() {
			a.stage, a.pager = scoping, nil
		}
	case "n", "esc":
		return a.answer(agent.ApprovalAnswer{})
	case "r":
		a.write(giving, "")
	case "e":
		if strings.Contains(a.q.Arguments, masked) {
			a.note = "the arguments hold a secret: they cannot be edited here"
			return nil
		}
		a.write(editing, indented(a.q.Arguments))
	case "m":
		if a.mayRule() && a.own == "" {
			a.rule = (a.rule + 1) % len(a.q.Rules)
		}
		a.own = ""
	case "v":
		a.read(k, a.whole())
	case "d":
		if a.q.Preview.Diff == "" {
			a.note = "there is no diff"
			return nil
		}
		a.read(k, "")
		a.pager.made = func(c *canvas) []string { return diff.Lines(a.q.Preview.Diff, c.w, c.Set) }
	case "x":
		a.read(k, a.explained())
	case ".":
		return send(WantPanel{Path: a.q.Path})
	case "b":
		return send(WantBatch{ID: a.q.ID})
	case "[":
		return send(MoveQuestion{By: -1})
	case "]":
		return send(MoveQuestion{By: 1})
	}
	return nil
}

// scopeKey takes the second key of a.
func (a *approval) scopeKey(k string) tea.Cmd {
	switch k {
	case "s":
		return a.allow(agent.ApprovalAnswer{Allow: true, Scope: "session", Rule: a.ruleText()})
	case "p":
		return a.allow(agent.ApprovalAnswer{Allow: true, Scope: "project", Rule: a.ruleText()})
	case "g":
		a.stage = widening
	case "n": // it denied once a moment ago: a rule for good takes another key
		a.stage = forbidding
	case "m":
		return a.askKey(k)
	case "e":
		a.write(ruling, a.ruleText())
	case "esc", "a":
		a.stage = asking
	}
	return nil
}

// sureKey takes the key that confirms a rule for every folder, or one that denies for good. No word
// that somebody might have begun to type goes on like this.
func (a *approval) sureKey(k string) tea.Cmd {
	switch {
	case k == "G" && a.stage == widening:
		return a.allow(agent.ApprovalAnswer{Allow: true, Scope: "user", Rule: a.ruleText()})
	case k == "N" && a.stage == forbidding:
		return a.answer(agent.ApprovalAnswer{Scope: "project", Rule: a.ruleText()})
	case k == "esc", k == "n":
		a.stage = scoping
	}
	return nil
}

// textKey takes keys while something is typed.
func (a *approval) textKey(k string, msg tea.KeyPressMsg) tea.Cmd {
	switch k {
	case "esc":
		if a.stage == ruling {
			a.stage, a.field = scoping, nil
		} else {
			a.stage, a.field = asking, nil
		}
		return nil
	case "ctrl+g":
		name := "reason.txt"
		if a.stage == editing {
			name = "arguments.json"
		}
		return send(WantEditor{ID: a.q.ID, Text: a.field.value(), Name: name})
	case "enter":
		return a.typed(strings.TrimSpace(a.field.value()))
	}
	return a.field.update(msg)
}

// typed takes a finished text.
func (a *approval) typed(value string) tea.Cmd {
	switch a.stage {
	case giving:
		return a.answer(agent.ApprovalAnswer{Note: value})
	case ruling:
		a.own, a.stage, a.field = value, scoping, nil
	case editing:
		value = a.field.value()
		if strings.HasPrefix(strings.TrimSpace(a.q.Arguments), "{") && !json.Valid([]byte(value)) {
			a.note = "this is no valid JSON: " + jsonError(value)
			return nil
		}
		if value == indented(a.q.Arguments) {
			a.stage, a.field = asking, nil
			return nil
		}
		return a.answer(agent.ApprovalAnswer{Allow: true, Arguments: &value})
	}
	return nil
}

func (a *approval) write(s stage, value string) {
	a.stage, a.pager, a.field = s, nil, newField(value)
}

func (a *approval) read(key, body string) {
	a.stage, a.pager = reading, &pager{key: key, body: body}
}

func (a *approval) answer(ans agent.ApprovalAnswer) tea.Cmd {
	if ans.Scope == "" {
		ans.Scope = "once"
	}
	a.answered = true
	return send(ApprovalAnswered{ID: a.q.ID, Answer: ans})
}

// mayRule reports whether an answer may make a rule, and says why not.
func (a *approval) mayRule() bool {
	switch {
	case a.q.Protected:
		a.note = "this target is protected: no rule may allow it"
	case len(a.q.Rules) == 0:
		a.note = "no rule can cover this call"
	default:
		return true
	}
	return false
}

// ruleText is the rule that s and a would make.
func (a *approval) ruleText() string {
	if a.own != "" || len(a.q.Rules) == 0 {
		return a.own
	}
	return a.q.Rules[a.rule].Text
}

// masked stands for the value of a secret argument.
const masked = "••••••••"

// indented is argument text for editing: objects one value a line, all else as it is.
func indented(args string) string {
	if !strings.HasPrefix(strings.TrimSpace(args), "{") {
		return args
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(args), "", "  ") != nil {
		return args
	}
	return b.String()
}

func jsonError(s string) string {
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		return err.Error()
	}
	return "unknown"
}

// View draws the dialog.
func (a *approval) View(width, maxHeight int, st State, s *style.Set) string {
	view, _ := a.paint(width, maxHeight, st, s)
	return view
}

// Cursor is where text is typed.
func (a *approval) Cursor(width, maxHeight int, st State, s *style.Set) *tea.Cursor {
	if !st.Armed {
		return nil
	}
	_, cursor := a.paint(width, maxHeight, st, s)
	return cursor
}

func (a *approval) paint(width, maxHeight int, st State, s *style.Set) (string, *tea.Cursor) {
	f := frame{title: "authorize " + strictLine(a.number()), right: "asked by " + askerOf(a.q), armed: st.Armed}
	if st.Total > 1 {
		f.title += fmt.Sprintf(" %s %d of %d waiting", s.Glyphs.Dot, st.Place, st.Total)
	}
	if f.small = st.Composing && !st.Armed; f.small {
		f.right = "press Tab to answer, or keep typing"
	} else {
		f.bottom = a.bottom(st, s, width)
	}
	return paint(width, maxHeight, s, f, func(c *canvas) {
		a.ruleSeen = false
		if f.small {
			a.seen.box = false
			a.summary(c)
			return
		}
		a.body(c)
	})
}

// number is the call's number; what runs beside the calls of the agent, a credential's tool for example,
// has none and is called by what it is for.
func (a *approval) number() string {
	if a.q.Label != "" {
		return a.q.Label
	}
	return strings.TrimSpace(a.q.Category + " " + a.q.Tool)
}

func (a *approval) bottom(st State, s *style.Set, width int) string {
	dot := " " + s.Glyphs.Dot + " "
	switch {
	case !st.Armed:
		return "Tab to answer"
	case a.Editing():
		if width < 70 {
			return "Enter send" + dot + "^J line" + dot + "Esc back"
		}
		return "Enter send" + dot + "Ctrl+J new line" + dot + "Ctrl+G editor" + dot + "Esc back"
	case a.stage == reading:
		return "j k PgUp PgDn" + dot + "Esc back"
	case a.stage != asking:
		return "Esc back"
	}
	if width < 70 {
		return "Tab text" + dot + "Esc deny" + dot + "^C stop"
	}
	return "Tab back to text" + dot + "Esc deny" + dot + "Ctrl+C deny and stop"
}
