package transcript

import (
	"fmt"
	"strings"

	"parley/agent/model"
	"parley/agent/monitor"
	"parley/agent/record"
	"parley/ui/tui/markdown"
	"parley/ui/tui/style"
	"parley/ui/tui/text"
)

// block is a message with the calls made in it, or a notice.
type block struct {
	key     key
	pos     int // place in Model.blocks
	msg     record.Message
	live    bool // not committed yet
	doc     markdown.Doc
	thought string
	writing []writing // calls being written by the model
	calls   []*node
	rev     int // changes with everything above

	drawn drawn
	rows  int  // how many lines drawn has; right as long as drawn.is is
	timed bool // what is drawn changes with time
}

// writing is a call whose arguments are still being written.
type writing struct {
	name  string
	bytes int
}

func (b *block) write(d *monitor.Delta) {
	for len(b.writing) <= d.Call && d.Call < 256 {
		b.writing = append(b.writing, writing{})
	}
	if d.Call < 0 || d.Call >= len(b.writing) {
		return
	}
	w := &b.writing[d.Call]
	if d.Name != "" {
		w.name = d.Name
	}
	w.bytes += len(d.Text)
}

// line is one drawn line, without the column at the left edge. Unit says what it belongs to.
type line struct {
	text string
	unit string
}

// drawing is the lines of a block: those above its text, the text, which is shared with its
// document so that a long reply that grows is not copied for each frame, and those below.
type drawing struct {
	head []line
	body []string
	tail []line
}

func (d *drawing) len() int { return len(d.head) + len(d.body) + len(d.tail) }

func (d *drawing) at(i int) line {
	if i < len(d.head) {
		return d.head[i]
	}
	if i -= len(d.head); i < len(d.body) {
		return line{text: d.body[i]}
	}
	return d.tail[i-len(d.body)]
}

// drawn is how a block looks, and what that depends on.
type drawn struct {
	is    look
	lines *drawing // nil when it was dropped
}

// look is everything the drawing of a block depends on.
type look struct {
	rev, epoch int
	follows    bool
	tenths     int64
}

// Units of a block: "" is the message itself, "reasoning" what was thought before it, "code 0" a
// code block, "call <path>" a call.
const reasoningUnit = "reasoning"

func callUnit(path string) string { return "call " + path }
func codeUnit(i int) string       { return fmt.Sprintf("code %d", i) }

// lines returns the drawn lines of block i.
func (m *Model) lines(i int) *drawing {
	b := m.at(i)
	is := m.look(b, i)
	if b.drawn.lines == nil || b.drawn.is != is {
		if b.drawn.lines == nil {
			m.warm = append(m.warm, b)
		}
		b.timed = false
		b.drawn = drawn{is: is, lines: m.draw(b, is.follows)}
		b.rows = b.drawn.lines.len()
		b.drawn.is = m.look(b, i) // drawing has told whether it depends on time
	}
	return b.drawn.lines
}

// height returns how many lines block i has, drawing it only if that is not known.
func (m *Model) height(i int) int {
	b := m.at(i)
	if b.rows > 0 && b.drawn.is == m.look(b, i) {
		return b.rows
	}
	return m.lines(i).len()
}

func (m *Model) look(b *block, i int) look {
	l := look{rev: b.rev, epoch: m.epoch, follows: m.follows(b, i)}
	if b.timed {
		l.tenths = m.now.UnixMilli() / 100
	}
	return l
}

// follows reports whether a block goes on with what the one before it began: a further reply of the
// same agent in the same turn.
func (m *Model) follows(b *block, i int) bool {
	if i == 0 || b.msg.Notice != "" || b.msg.Message.Role != model.Assistant {
		return false
	}
	prev := m.at(i - 1)
	return prev.msg.Notice == "" && prev.msg.Message.Role == model.Assistant &&
		prev.msg.Agent == b.msg.Agent && prev.msg.Turn == b.msg.Turn
}

// draw makes the lines of a block. The first is empty, as distance to the block before, unless the
// block holds only further calls.
func (m *Model) draw(b *block, follows bool) *drawing {
	p := &page{m: m, b: b, w: max(m.w-1, 1)}
	switch {
	case b.msg.Notice != "":
		p.notice()
	case b.msg.Message.Role == model.User:
		p.user()
	default:
		p.reply(follows)
	}
	if p.len() == 0 { // every block has a line, so that it can be counted and chosen
		p.add("", "")
	}
	return &p.drawing
}

// page collects the lines of one block.
type page struct {
	m *Model
	b *block
	w int
	drawing
}

// add adds a line, cut to the width, above the text or below it.
func (p *page) add(unit, s string) {
	l := line{text: text.Cut(s, p.w, ""), unit: unit}
	if p.body == nil {
		p.head = append(p.head, l)
	} else {
		p.tail = append(p.tail, l)
	}
}

func (p *page) style() *style.Set { return p.m.style }

func (p *page) notice() {
	s := p.style()
	p.add("", "")
	for _, l := range text.Wrap(text.Line(p.b.msg.Notice), max(p.w-4, 1)) {
		p.add("", text.Spaces((p.w-text.Width(l))/2)+s.Muted.Render(l))
	}
}

// userName stands before the person's messages.
const userName = "you"

// user shows what the person said, or what an agent asked an inner chat for.
func (p *page) user() {
	s := p.style()
	p.add("", "")
	name, said := s.User.Render(userName), p.b.msg.Message.Text()
	indent := len(userName) + 3
	asked := p.b.msg.ByCaller()
	if asked {
		name, said = s.Muted.Render("to ")+s.Agent.Render("@"+strings.TrimPrefix(text.Line(p.b.msg.Agent), "@")), model.PromptText(said)
	}
	if asked || p.w < 3*indent {
		p.add("", name)
		indent = 0
	}
	for i, l := range text.Wrap(strings.TrimRight(text.Clean(said), "\n"), p.w-indent) {
		switch {
		case indent == 0:
			p.add("", l)
		case i == 0:
			p.add("", name+text.Spaces(indent-len(userName))+l)
		default:
			p.add("", text.Spaces(indent)+l)
		}
	}
}

func (p *page) reply(follows bool) {
	b, s := p.b, p.style()
	said := b.doc.Lines(p.m.markdown, p.w)
	onlyCalls := len(said) == 0 && b.thought == ""
	if !follows || !onlyCalls {
		p.add("", "")
	}
	if !follows && !b.msg.Message.Own {
		name := s.Agent.Render("@" + strings.TrimPrefix(text.Line(b.msg.Agent), "@"))
		turn := ""
		if b.msg.Turn > 0 {
			turn = s.Muted.Render(fmt.Sprintf("turn %d ", b.msg.Turn))
		}
		p.add("", text.Spread(name, turn, p.w, s.Glyphs.Ellipsis))
	}
	p.reasoning()
	if len(said) > 0 {
		p.body = said
	}
	if b.msg.Message.Aborted {
		p.add("", s.Warning.Render("// interrupted"))
	}
	if len(b.calls) > 0 && len(said) > 0 {
		p.add("", "")
	}
	p.calls(b.calls, "")
	if len(b.calls) == 0 {
		p.unrun()
	}
}

// reasoning shows what the model thought: one line, or all of it when unfolded.
func (p *page) reasoning() {
	b, s := p.b, p.style()
	thought := strings.TrimSpace(b.thought)
	if thought == "" {
		return
	}
	unit := reasoningUnit
	if p.m.folded(b, unit) {
		first := text.Line(thought[:min(len(thought), maxTitle)])
		p.add(unit, s.Reasoning.Render(text.Cut(s.Glyphs.Folded+" thought  "+first, p.w, s.Glyphs.Ellipsis)))
		return
	}
	p.add(unit, s.Reasoning.Render(text.Cut(s.Glyphs.Unfolded+" thought", p.w, s.Glyphs.Ellipsis)))
	for _, l := range text.Wrap(text.Clean(thought), max(p.w-2, 1)) {
		p.add(unit, s.Reasoning.Render("  "+l))
	}
}

// unrun shows calls that have no row: they are still being written, or were never to run.
func (p *page) unrun() {
	s := p.style()
	for _, w := range p.b.writing {
		if w.name != "" {
			p.add("", s.Muted.Render(text.Cut(fmt.Sprintf("%s %s  writing, %d bytes", s.Glyphs.Pending, text.Line(w.name), w.bytes), p.w, s.Glyphs.Ellipsis)))
		}
	}
	if p.b.live {
		return
	}
	for _, c := range p.b.msg.Message.Calls() {
		p.add("", s.Muted.Render(text.Cut(fmt.Sprintf("%s %s %s  not run", s.Glyphs.Pending, text.Line(c.Function.Name), Arguments(c.Function.Arguments)), p.w, s.Glyphs.Ellipsis)))
	}
}
