package transcript

import (
	"strings"

	"parley/agent/model"
	"parley/agent/monitor"
	"parley/agent/record"
	"parley/ui/tui/markdown"
)

// Apply takes live events: pieces of text and output, and committed rows. A committed message or
// call takes the place of what was live of it.
func (m *Model) Apply(events []monitor.Event) {
	for _, e := range events {
		if !e.Time.IsZero() {
			m.Tick(e.Time)
		}
		if len(e.Messages)+len(e.Calls) > 0 {
			m.takeRows(e.Messages, e.Calls)
			m.setNotice("")
		}
		switch e.Type {
		case monitor.Notice:
			m.setNotice(e.Text)
		case monitor.Prompt:
			if n := m.nodes[e.Path]; n != nil {
				n.asks = "$"
				m.touch(n)
			}
		case monitor.Resumed:
			m.asked()
		case monitor.RunStart, monitor.RunFinish:
			m.dropLive()
			m.setNotice("")
		case monitor.CallProgress:
			if e.Delta != nil {
				m.takePiece(e.Path, e.Delta)
			}
		}
	}
}

// asked takes the mark of a question from the calls of the newest messages.
func (m *Model) asked() {
	var clear func(n *node)
	clear = func(n *node) {
		if n.asks != "" {
			n.asks = ""
			m.touch(n)
		}
		for _, c := range n.children {
			clear(c)
		}
	}
	for i := len(m.blocks) - 1; i >= max(len(m.blocks)-16, 0); i-- {
		for _, n := range m.blocks[i].calls {
			clear(n)
		}
	}
}

// setNotice shows a passing line below the conversation, "" for none.
func (m *Model) setNotice(text string) {
	switch {
	case text == "" && m.notice == nil:
	case text == "":
		if m.top.block == m.notice {
			m.follow = true
		}
		m.notice = nil
	case m.notice != nil:
		m.notice.msg.Notice = text
		m.notice.rev++
	default:
		m.notice = &block{msg: record.Message{Notice: text}}
	}
}

// dropLive removes messages that were never committed: what is shown as said is stored.
func (m *Model) dropLive() {
	for i := len(m.blocks) - 1; i >= 0 && i >= len(m.blocks)-16; i-- {
		if m.blocks[i].live {
			m.remove(m.blocks[i])
		}
	}
}

func (m *Model) takePiece(path string, d *monitor.Delta) {
	if d.Kind == monitor.PieceOutput {
		if n := m.nodes[path]; n != nil && !n.call.Status.Terminal() {
			n.output.add(d.Text)
			m.touch(n)
		}
		return
	}
	k := key{d.Conversation, d.Index}
	if !d.Shown {
		m.takeInnerPiece(k, d)
		return
	}
	b := m.byKey[k]
	if b != nil && !b.live {
		return // it is committed already
	}
	if d.Kind == monitor.PieceVoid {
		if b != nil {
			m.remove(b)
		}
		return
	}
	m.setNotice("")
	if b == nil {
		b = &block{key: k, live: true, msg: record.Message{Conversation: k.conversation, Index: k.index,
			Agent: d.Agent, Shown: true, Turn: m.liveTurn(), Message: model.Message{Role: model.Assistant}}}
		m.byKey[k] = b
		m.onScreen[k.conversation] = true
		m.blocks = append(m.blocks, b)
		b.pos = len(m.blocks) - 1
	}
	switch d.Kind {
	case monitor.PieceText:
		b.doc.Append(d.Text)
	case monitor.PieceReasoning:
		b.thought += d.Text
	case monitor.PieceCall:
		b.write(d)
	}
	b.rev++
}

// liveTurn is the turn of the newest message: pieces do not name theirs.
func (m *Model) liveTurn() int {
	if len(m.blocks) == 0 {
		return 0
	}
	return m.blocks[len(m.blocks)-1].msg.Turn
}

// takeInnerPiece takes a piece of the reply of an agent inside a call.
func (m *Model) takeInnerPiece(k key, d *monitor.Delta) {
	n := m.nodes[k.conversation]
	if n == nil || n.call.Status.Terminal() {
		return
	}
	i := n.innerAt(k)
	switch {
	case d.Kind == monitor.PieceVoid && i >= 0 && n.inner[i].live:
		n.inner = append(n.inner[:i:i], n.inner[i+1:]...)
	case d.Kind != monitor.PieceText:
		return
	case i < 0:
		msg := &innerMessage{key: k, role: model.Assistant, live: true}
		msg.doc.Append(d.Text)
		n.inner = append(n.inner, msg)
	case n.inner[i].live:
		n.inner[i].doc.Append(d.Text)
	}
	m.touch(n)
}

func (n *node) innerAt(k key) int {
	for i := len(n.inner) - 1; i >= 0; i-- {
		if n.inner[i].key == k {
			return i
		}
	}
	return -1
}

// takeInner takes a committed message inside an agent's call. The last ones are kept while the call
// runs, all of them once they were asked for.
func (m *Model) takeInner(msg record.Message) {
	n := m.nodes[msg.Conversation]
	if n == nil || (n.call.Status.Terminal() && !n.loaded) {
		return
	}
	n.putInner(msg)
	if !n.loaded && len(n.inner) > 2 {
		n.inner = n.inner[len(n.inner)-2:]
	}
	m.touch(n)
}

func (n *node) putInner(msg record.Message) {
	text := msg.Message.Text()
	if text == "" || (msg.Message.Role != model.Assistant && msg.Message.Role != model.User) {
		return
	}
	k := key{msg.Conversation, msg.Index}
	i := n.innerAt(k)
	if i < 0 {
		n.inner = append(n.inner, &innerMessage{key: k})
		i = len(n.inner) - 1
	}
	in := n.inner[i]
	if in.role, in.live = msg.Message.Role, false; in.doc.Source() != text {
		in.doc = markdown.Doc{}
		in.doc.Append(text)
	}
	in.doc.Finish()
}

// SetInner gives the conversation inside an agent's call.
func (m *Model) SetInner(path string, msgs []record.Message) {
	n := m.nodes[path]
	if n == nil {
		return
	}
	live := n.inner
	n.inner, n.loaded = nil, true
	for _, msg := range msgs {
		n.putInner(msg)
	}
	for _, in := range live {
		if in.live && n.innerAt(in.key) < 0 {
			n.inner = append(n.inner, in)
		}
	}
	m.touch(n)
}

// WantsInner lists unfolded agent calls in view whose conversation is not known yet; see
// [Model.SetInner].
func (m *Model) WantsInner() []string {
	if m.w == 0 || m.h == 0 {
		return nil
	}
	var paths []string
	var walk func(n *node)
	walk = func(n *node) {
		if !m.unfolded(n) {
			return
		}
		if n.call.Agent && !n.loaded && !m.onScreen[n.call.Path] && !n.call.Started.IsZero() {
			paths = append(paths, n.call.Path)
		}
		for _, c := range n.children {
			walk(c)
		}
	}
	pos, off := m.first()
	for rows := -off; pos < m.len() && rows < m.h; pos++ {
		for _, n := range m.at(pos).calls {
			walk(n)
		}
		rows += m.height(pos)
	}
	return paths
}

// tail keeps the end of a command's output.
type tail struct {
	text  string
	lines int // complete lines that were dropped or are in text
}

// maxTail is how many bytes of a running command's output are kept for the screen.
const maxTail = 16 << 10

func (t *tail) add(s string) {
	t.lines += strings.Count(s, "\n")
	if len(s) >= maxTail {
		t.text = s[len(s)-maxTail:]
		return
	}
	if len(t.text)+len(s) > 2*maxTail {
		t.text = t.text[len(t.text)+len(s)-maxTail:]
	}
	t.text += s
}

// last returns the last n lines.
func (t *tail) last(n int) []string {
	s := strings.TrimRight(t.text, "\n")
	if s == "" {
		return nil
	}
	start := len(s)
	for range n {
		if start = strings.LastIndexByte(s[:start], '\n'); start < 0 {
			return strings.Split(s, "\n")
		}
	}
	return strings.Split(s[start+1:], "\n")
}
