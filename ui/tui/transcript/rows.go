package transcript

import (
	"cmp"
	"slices"

	"parley/agent/model"
	"parley/agent/record"
	"parley/ui/tui/markdown"
)

// key names a message: its conversation and its place there.
type key struct {
	conversation string
	index        int
}

// node is a call in the tree.
type node struct {
	call     record.Call
	owner    *block // the message that shows it, or shows the call it is below
	children []*node
	asks     string // "$" while the person is asked for a value
	output   tail   // of a running command
	inner    []*innerMessage
	loaded   bool // inner holds the conversation from its start
}

// innerMessage is a message inside an agent's call.
type innerMessage struct {
	key  key
	role model.Role
	doc  markdown.Doc
	live bool
}

// Reset shows another conversation: the newest messages, oldest first, with the calls made in them
// and below. The view is at the end.
func (m *Model) Reset(msgs []record.Message, calls []record.Call) {
	m.clear()
	m.takeRows(msgs, calls)
}

// Prepend adds older messages, oldest first, with their calls. The view stays where it is.
func (m *Model) Prepend(msgs []record.Message, calls []record.Call) {
	m.takeRows(msgs, calls)
}

// takeRows adds or replaces committed rows.
func (m *Model) takeRows(msgs []record.Message, calls []record.Call) {
	m.addMessages(msgs)
	for _, c := range calls {
		m.takeCall(c)
	}
	m.attach()
	for _, msg := range msgs {
		if !msg.Shown && msg.Notice == "" {
			m.takeInner(msg)
		}
	}
}

// addMessages takes messages in order. A run of them that is older than all others is put before
// them at once.
func (m *Model) addMessages(msgs []record.Message) {
	var before []*block
	first := int64(0)
	if i := slices.IndexFunc(m.blocks, func(b *block) bool { return b.msg.Seq > 0 }); i >= 0 {
		first = m.blocks[i].msg.Seq
	}
	for _, msg := range msgs {
		k := key{msg.Conversation, msg.Index}
		switch {
		case !shows(msg):
		case m.byKey[k] != nil:
			m.replace(m.byKey[k], msg)
		case msg.Seq > 0 && msg.Seq < first:
			before = append(before, m.newBlock(k, msg))
		default:
			m.insert(m.newBlock(k, msg))
		}
	}
	if len(before) > 0 {
		if len(m.blocks) > 0 {
			m.blocks[0].rev++ // what stands before it has changed
		}
		m.blocks = append(before, m.blocks...)
		m.renumber(0)
	}
}

// shows reports whether a message has a block of its own: results are shown with their calls.
func shows(msg record.Message) bool {
	if msg.Notice != "" || !msg.Shown {
		return msg.Notice != ""
	}
	switch msg.Message.Role {
	case model.User:
		return msg.Message.Text() != ""
	case model.Assistant:
		return true
	}
	return false
}

// newBlock makes a block and remembers it, without a place.
func (m *Model) newBlock(k key, msg record.Message) *block {
	b := &block{key: k, msg: msg}
	m.byKey[k] = b
	if msg.Notice == "" {
		m.onScreen[k.conversation] = true
	}
	m.fill(b)
	return b
}

// fill sets what a block derives from its message.
func (m *Model) fill(b *block) {
	text := b.msg.Message.Text()
	if b.doc.Source() != text {
		b.doc = markdown.Doc{}
		b.doc.Append(text)
	}
	b.doc.Finish()
	b.live, b.writing, b.thought = false, nil, ""
	for _, r := range b.msg.Message.Reasoning {
		b.thought += r.Text
	}
	b.rev++
	if len(b.msg.Message.Calls()) > 0 && len(b.calls) == 0 {
		list := m.unattached[b.key.conversation]
		if !slices.Contains(list, b) {
			list = append(list, b)
			slices.SortFunc(list, func(x, y *block) int { return cmp.Compare(x.key.index, y.key.index) })
			m.unattached[b.key.conversation] = list
		}
	}
}

// replace gives a block, usually a live one, its committed message.
func (m *Model) replace(b *block, msg record.Message) {
	b.msg = msg
	m.fill(b)
}

// insert puts a block at its place by seq; one without goes to the end, but before live messages
// that follow it in its conversation.
func (m *Model) insert(b *block) {
	at := len(m.blocks)
	for at > 0 {
		prev := m.blocks[at-1]
		after := prev.live && (prev.key.conversation != b.key.conversation || prev.key.index > b.key.index)
		if !after && (b.msg.Seq == 0 || prev.msg.Seq <= b.msg.Seq) {
			break
		}
		at--
	}
	if at < len(m.blocks) {
		m.blocks[at].rev++
	}
	m.blocks = slices.Insert(m.blocks, at, b)
	m.renumber(at)
}

// remove takes a block out.
func (m *Model) remove(b *block) {
	m.blocks = slices.Delete(m.blocks, b.pos, b.pos+1)
	delete(m.byKey, b.key)
	if b.pos < len(m.blocks) {
		m.blocks[b.pos].rev++
	}
	m.renumber(b.pos)
	if m.top.block == b {
		m.top = anchor{}
		m.follow = true
	}
	if m.mark.block == b {
		m.mark = mark{}
	}
	if m.selected.block == b {
		m.selected = unit{}
	}
}

func (m *Model) renumber(from int) {
	for i := from; i < len(m.blocks); i++ {
		m.blocks[i].pos = i
	}
}

// takeCall adds or replaces a call. Contexts, filters, credentials and what they call are not part
// of the conversation.
func (m *Model) takeCall(c record.Call) {
	if c.Category != "" {
		return
	}
	n := m.nodes[c.Path]
	if n == nil {
		n = &node{}
		m.nodes[c.Path] = n
		m.loose[c.Parent] = append(m.loose[c.Parent], n)
	}
	n.call, n.asks = c, ""
	if c.Status.Terminal() {
		n.output = tail{}
		if folded, said := m.folds[callUnit(c.Path)]; !m.details && (!said || folded) {
			n.inner, n.loaded = nil, false
		}
	}
	m.touch(n)
}

// touch says that a call has changed.
func (m *Model) touch(n *node) {
	if n.owner != nil {
		n.owner.rev++
	}
}

// attach finds the place of calls that have none: in a message on screen, or below the call that
// made them.
func (m *Model) attach() {
	for conversation, nodes := range m.loose {
		if m.onScreen[conversation] {
			nodes = m.attachToMessages(conversation, nodes)
		} else if parent := m.nodes[conversation]; parent != nil {
			parent.children = append(parent.children, nodes...)
			slices.SortFunc(parent.children, byPlace)
			own(parent, parent.owner)
			m.touch(parent)
			nodes = nil
		}
		if len(nodes) == 0 {
			delete(m.loose, conversation)
		} else {
			m.loose[conversation] = nodes
		}
	}
}

func byPlace(a, b *node) int {
	return cmp.Or(cmp.Compare(a.call.Round, b.call.Round), cmp.Compare(a.call.Index, b.call.Index), cmp.Compare(a.call.Path, b.call.Path))
}

// own hands a block down to all calls below one.
func own(n *node, b *block) {
	n.owner = b
	for _, c := range n.children {
		own(c, b)
	}
}

// attachToMessages gives the messages of a conversation on screen the calls made in them, and
// returns the calls of no message that is loaded. The calls of one reply have one round; they
// belong to the first message still without calls whose calls they match.
func (m *Model) attachToMessages(conversation string, nodes []*node) []*node {
	slices.SortStableFunc(nodes, byPlace)
	waiting := m.unattached[conversation]
	var rest []*node
	for len(nodes) > 0 {
		n := 1
		for n < len(nodes) && nodes[n].call.Round == nodes[0].call.Round {
			n++
		}
		group := nodes[:n]
		nodes = nodes[n:]
		i := slices.IndexFunc(waiting, func(b *block) bool { return matches(b, group) })
		if i < 0 {
			rest = append(rest, group...)
			continue
		}
		b := waiting[i]
		for _, n := range group {
			b.calls = append(b.calls, n)
			own(n, b)
		}
		b.rev++
		waiting = slices.Delete(waiting, i, i+1)
	}
	m.unattached[conversation] = waiting
	if len(waiting) == 0 {
		delete(m.unattached, conversation)
	}
	return rest
}

// matches reports whether calls were made in a message: same places, same ids.
func matches(b *block, group []*node) bool {
	calls := b.msg.Message.Calls()
	for _, n := range group {
		if n.call.Index < 0 || n.call.Index >= len(calls) {
			return false
		}
		if id := calls[n.call.Index].ID; id != "" && n.call.WireID != "" && id != n.call.WireID {
			return false
		}
	}
	return true
}
