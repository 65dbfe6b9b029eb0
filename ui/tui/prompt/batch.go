package prompt

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"parley/agent"
	"parley/agent/record"
	"parley/toolrt"
	"parley/ui/tui/style"
	"parley/ui/tui/text"
	"parley/ui/tui/transcript"
)

// Batch is the view of all calls of one reply, in the order in which they run, with what was decided
// about each. It answers the questions among them; [Batch.Update] sends the same messages as the
// dialogs themselves.
type Batch struct {
	turn, round int
	agents      []string
	rows        []batchRow
	at          string // path of the row under the cursor
	given       map[string]string
	note        string
	tight       bool // there is room for the most important keys only
	ruleSeen    bool // the rule of the row under the cursor stood on screen, whole
	warned      bool // that Y allows what is seen in part only
}

type batchRow struct {
	call record.Call
	ask  *approval // the question that waits, nil when there is none
	cut  bool      // not all of its line was seen when it was last drawn
}

// BatchClosed says that the view was left; what is undecided is asked as before.
type BatchClosed struct{}

// BatchOpens asks to show one question of the batch in its own dialog and to give it a key: for
// answers that need more than one.
type BatchOpens struct {
	ID  string
	Key tea.KeyPressMsg
}

// NewBatch returns the view of the calls, among which the question p is the chosen one. It is nil
// when p is no approval.
func NewBatch(p Prompt, calls []record.Call, waiting []Prompt) *Batch {
	a, ok := p.(*approval)
	if !ok {
		return nil
	}
	b := &Batch{turn: a.q.Turn, agents: a.q.Agents, at: a.q.Path, given: map[string]string{}}
	b.Set(calls, waiting)
	if len(b.rows) == 0 { // the panel does not know the call: it stands for itself
		b.rows = []batchRow{{call: record.Call{Path: a.q.Path, Label: a.q.Label, Tool: a.q.Tool, Input: a.q.Arguments, Status: toolrt.StatusWaiting}, ask: a}}
	}
	return b
}

// Set takes the calls of the reply and all questions that wait, as they are now.
func (b *Batch) Set(calls []record.Call, waiting []Prompt) {
	if len(calls) == 0 {
		return
	}
	b.round = calls[0].Round
	b.rows = b.rows[:0]
	for _, c := range calls {
		row := batchRow{call: c}
		for _, p := range waiting {
			if a, ok := p.(*approval); ok && a.q.Path == c.Path && !a.answered {
				row.ask = a
			}
		}
		b.rows = append(b.rows, row)
	}
}

// Path is the path of one of its calls.
func (b *Batch) Path() string {
	if len(b.rows) == 0 {
		return b.at
	}
	return b.rows[0].call.Path
}

// Undecided counts the questions of the batch that wait.
func (b *Batch) Undecided() int {
	n := 0
	for _, r := range b.rows {
		if r.ask != nil {
			n++
		}
	}
	return n
}

// place is the row under the cursor.
func (b *Batch) place() int {
	for i, r := range b.rows {
		if r.call.Path == b.at {
			return i
		}
	}
	return 0
}

// Update takes a key.
func (b *Batch) Update(msg tea.KeyPressMsg) tea.Cmd {
	b.note = ""
	warned := b.warned
	b.warned = false
	if len(b.rows) == 0 {
		return send(BatchClosed{})
	}
	at := b.place()
	row := b.rows[at]
	switch k := msg.String(); k {
	case "j", "down", "]":
		b.at = b.rows[min(at+1, len(b.rows)-1)].call.Path
	case "k", "up", "[":
		b.at = b.rows[max(at-1, 0)].call.Path
	case "enter", "b":
		return send(BatchClosed{})
	case "Y":
		if n := b.unseen(); n > 0 && !warned {
			b.note, b.warned = counted(n, "call")+" seen in part only: v shows one, Y again allows all", true
			return nil
		}
		return b.rest(agent.ApprovalAnswer{Allow: true}, "once")
	case "N", "esc":
		return b.rest(agent.ApprovalAnswer{}, "deny")
	case "ctrl+c":
		return b.rest(agent.ApprovalAnswer{Stop: true}, "deny")
	case ".":
		return send(WantPanel{Path: row.call.Path})
	case "y", "n", "s", "a", "r", "v", "e", "d", "x", "m":
		if row.ask == nil {
			b.note = "nothing is asked about this call"
			return nil
		}
		return b.one(row, k, msg)
	}
	return nil
}

// one takes a key that concerns the question under the cursor.
func (b *Batch) one(row batchRow, k string, msg tea.KeyPressMsg) tea.Cmd {
	switch k {
	case "y":
		if !row.cut || row.ask.seen.all() {
			return b.decide(row, agent.ApprovalAnswer{Allow: true}, "once")
		}
	case "n":
		return b.decide(row, agent.ApprovalAnswer{}, "deny")
	case "s":
		if !row.ask.mayRule() {
			b.note = row.ask.note
			return nil
		}
		if b.ruleSeen && (!row.cut || row.ask.seen.all()) {
			return b.decide(row, agent.ApprovalAnswer{Allow: true, Scope: "session", Rule: row.ask.ruleText()}, "session")
		}
	case "m":
		cmd := row.ask.askKey(k)
		b.note = row.ask.note
		return cmd
	}
	return send(BatchOpens{ID: row.ask.q.ID, Key: msg})
}

// unseen counts the questions that the list shows in part only and that were not read elsewhere (P-08).
func (b *Batch) unseen() int {
	n := 0
	for _, r := range b.rows {
		if r.ask != nil && r.cut && !r.ask.seen.all() {
			n++
		}
	}
	return n
}

// decide answers one question and goes on to the next that waits.
func (b *Batch) decide(row batchRow, ans agent.ApprovalAnswer, word string) tea.Cmd {
	b.given[row.call.Path] = word
	cmd := row.ask.answer(ans)
	at := b.place()
	b.rows[at].ask = nil
	for i := range b.rows {
		if r := b.rows[(at+i)%len(b.rows)]; r.ask != nil {
			b.at = r.call.Path
			break
		}
	}
	return cmd
}

// rest answers all questions of the batch that wait, and leaves. A protected target is allowed by an
// answer of its own only (A9): the view stays with what is left.
func (b *Batch) rest(ans agent.ApprovalAnswer, word string) tea.Cmd {
	var cmds []tea.Cmd
	left := 0
	for i, r := range b.rows {
		if r.ask == nil {
			continue
		}
		if ans.Allow && r.ask.q.Protected {
			b.at = r.call.Path
			left++
			continue
		}
		b.given[r.call.Path] = word
		cmds = append(cmds, r.ask.answer(ans))
		b.rows[i].ask = nil
	}
	if left > 0 {
		b.note = counted(left, "call") + " marked ! reach what is protected: answer each by itself"
		return tea.Batch(cmds...)
	}
	return tea.Batch(append(cmds, send(BatchClosed{}))...)
}

// View draws the view with its frame: exactly width columns, at most maxHeight lines.
func (b *Batch) View(width, maxHeight int, s *style.Set) string {
	dot := " " + s.Glyphs.Dot + " "
	f := frame{armed: true, right: "asked by " + asker(b.agents, s),
		title:  fmt.Sprintf("batch %d.%d: %s, in this order", b.turn, b.round, counted(len(b.rows), "call")),
		bottom: "Tab back to text" + dot + "Esc deny the undecided"}
	if width < 70 {
		f.title, f.bottom = fmt.Sprintf("batch %d.%d: %s", b.turn, b.round, counted(len(b.rows), "call")), "Esc deny the undecided"
	}
	view, _ := paint(width, maxHeight, s, f, b.body)
	return view
}

func (b *Batch) body(c *canvas) {
	if len(b.rows) == 0 {
		return
	}
	at := b.place()
	b.tight = c.h < 7
	keys := sub(c, b.keys)
	rule := sub(c, func(k *canvas) {
		if ask := b.rows[at].ask; ask != nil && ask.rulable() {
			ask.offered(k, "rule for s and a: ")
		}
	})
	b.ruleSeen = false
	if len(rule) > 0 && len(keys)+len(rule)+2 <= c.h {
		keys = append(rule, keys...)
		b.ruleSeen = true
	}
	head := 0
	if c.h >= 9 && c.w >= 56 {
		head = 1
		c.add(c.Muted.Render(b.columns(c, " ", "#", "tool", "arguments", "decision")))
	}
	room := max(c.h-head-len(keys), 1)
	for i := range b.rows {
		b.rows[i].cut = true
	}
	from := max(min(at-room/2, len(b.rows)-room), 0)
	for i := from; i < min(from+room, len(b.rows)); i++ {
		c.add(b.line(c, i, i == at))
	}
	if hidden := len(b.rows) - room; hidden > 0 && len(c.lines) > 0 {
		note := c.Warning.Render(fmt.Sprintf(" %d of %d", at+1, len(b.rows)))
		last := len(c.lines) - 1
		c.lines[last] = text.Spread(text.Cut(c.lines[last], c.w-text.Width(note), c.Glyphs.Ellipsis), note, c.w, "")
	}
	if head == 1 && c.left() > len(keys) {
		c.add("")
	}
	c.add(keys...)
}

// maxLine is the longest argument text that a line can show whole.
const maxLine = 300

// verdict is the width of a decision.
const verdict = 9

func (*Batch) toolWidth(c *canvas) int { return min(max(c.w/4, 8), 24) }

// columns lays out a row: mark, number, tool, arguments, decision.
func (b *Batch) columns(c *canvas, mark, label, tool, args, decision string) string {
	name := b.toolWidth(c)
	fit := func(s string, n int) string { return text.Fit(s, n, c.Glyphs.Ellipsis) }
	return mark + " " + fit(label, 4) + " " + fit(tool, name) + " " +
		fit(args, max(c.w-name-verdict-9, 0)) + " " + fit(decision, verdict)
}

func (b *Batch) line(c *canvas, i int, chosen bool) string {
	r := b.rows[i]
	mark := " "
	if chosen {
		mark = c.Glyphs.Cursor
	}
	tool := strictLine(r.call.Tool)
	if r.call.Agent {
		tool = "@" + strings.TrimPrefix(tool, "@")
	}
	args := transcript.Arguments(r.call.Input)
	if r.ask != nil {
		args = strictLine(r.ask.subject())
		if fs := fields(r.ask.q.Arguments); r.ask.q.Preview.Command == "" && len(fs) > 0 && r.ask.q.Preview.URL == "" {
			args = transcript.Arguments(r.ask.q.Arguments)
		}
	}
	b.rows[i].cut = text.Width(strictLine(args)) > c.w-b.toolWidth(c)-verdict-9 || text.Width(tool) > b.toolWidth(c) ||
		len(r.call.Input) > maxLine || strings.Contains(r.call.Input, `\n`)
	line := b.columns(c, mark, strictLine(r.call.Label), tool, strictLine(args), b.decision(r))
	if chosen {
		return c.Selection.Render(text.Fit(line, c.w, ""))
	}
	if r.ask == nil {
		return c.Muted.Render(line)
	}
	return line
}

// decision is what was decided about a call, in a word or two.
func (b *Batch) decision(r batchRow) string {
	d := r.call.Decision
	switch word := b.given[r.call.Path]; {
	case r.ask != nil && r.ask.q.Protected:
		return "! ?"
	case r.ask != nil:
		return "?"
	case word != "":
		return word
	case r.call.Agent && r.call.Status != toolrt.StatusDenied:
		return "agent"
	case d == nil && r.call.Status.Terminal():
		return transcript.Word(r.call)
	case d == nil:
		return "--"
	case !d.Allow:
		return "deny"
	case d.By == "user":
		return orElse(d.Scope, "once")
	}
	return d.By + " ok"
}

func (b *Batch) keys(k *canvas) {
	if b.note != "" {
		k.cut(k.Error.Render(strictLine(b.note)))
	}
	if b.tight {
		k.keys("y", "once", "n", "deny", "Y/N", "rest")
		return
	}
	k.keys("y", "once", "s", "session", "a", "always", "n", "deny", "r", "reason", "v", "view", "m", "wider")
	k.keys("Y", "rest once", "N", "rest deny", "Enter", "back", "j/k", "move")
}
