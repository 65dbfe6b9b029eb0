// Package transcript shows a conversation: messages with the calls made in them as a tree, and
// notices. It is built of blocks that keep their drawn lines, and a frame joins only the lines in
// view, so that neither its time nor its memory grows with the length of a session.
//
// Blocks are made from stored rows by one path, whether the rows come with live events ([Model.Apply])
// or from the store ([Model.Reset]): a session opened again shows the same cells.
//
// The parts: rows.go and live.go keep blocks and calls, block.go and tree.go draw them, view.go
// decides which lines are seen, select.go what is chosen in them.
package transcript

import (
	"time"

	"parley/ui/tui/markdown"
	"parley/ui/tui/style"
)

// Model is the conversation. It is used from Bubble Tea's Update and View only: not safe for
// concurrent use.
type Model struct {
	style    *style.Set
	markdown *markdown.Renderer
	w, h     int
	now      time.Time
	complete bool // no older messages exist

	blocks     []*block // the conversation, oldest first
	byKey      map[key]*block
	nodes      map[string]*node // calls by path
	loose      map[string][]*node
	unattached map[string][]*block
	onScreen   map[string]bool // conversations that are shown as messages
	notice     *block          // what happens right now, below everything

	folds   map[string]bool // what the person folded (true) or unfolded (false), by unit
	details bool            // everything is unfolded
	epoch   int             // changes when all drawn lines are void

	follow bool
	top    anchor // first line in view, when not following
	mark   mark   // where the conversation ended when following stopped
	warm   []*block

	focused  bool
	selected unit
	query    string
}

// New returns an empty conversation.
func New(s *style.Set) *Model {
	m := &Model{style: s, markdown: markdown.New(s)}
	m.clear()
	return m
}

func (m *Model) clear() {
	m.blocks, m.notice, m.warm = nil, nil, nil
	m.byKey = map[key]*block{}
	m.nodes = map[string]*node{}
	m.loose = map[string][]*node{}
	m.unattached = map[string][]*block{}
	m.onScreen = map[string]bool{}
	m.folds = map[string]bool{}
	m.details, m.complete = false, false
	m.follow, m.top, m.mark = true, anchor{}, mark{}
	m.selected, m.query = unit{}, ""
	m.epoch++
}

// SetSize sets the size of the view in cells.
func (m *Model) SetSize(w, h int) {
	w, h = max(w, 0), max(h, 0)
	if w != m.w {
		m.keepPlace(func() { m.w = w; m.epoch++ })
	}
	m.h = h
}

// SetStyle changes what the conversation is drawn with.
func (m *Model) SetStyle(s *style.Set) {
	m.keepPlace(func() {
		m.style, m.markdown = s, markdown.New(s)
		m.epoch++
	})
}

// SetComplete says that there are no older messages.
func (m *Model) SetComplete() { m.complete = true }

// older is how many lines above the view are kept ready.
const older = 40

// WantsOlder reports that the view is near the oldest message and that older ones may exist:
// those before seq are wanted. It is false once [Model.SetComplete] was called.
func (m *Model) WantsOlder() (before int64, ok bool) {
	if m.complete || len(m.blocks) == 0 || m.w == 0 || m.h == 0 {
		return 0, false
	}
	pos, off := m.first()
	for above := off; pos > 0; pos-- {
		if above >= older {
			return 0, false
		}
		above += m.height(pos - 1)
	}
	for _, b := range m.blocks {
		if b.msg.Seq > 0 {
			return b.msg.Seq, true
		}
	}
	return 0, false
}

// Tick sets the time that running calls are measured to.
func (m *Model) Tick(now time.Time) {
	if now.After(m.now) {
		m.now = now
	}
}

// Running reports whether something in view changes with time.
func (m *Model) Running() bool {
	if m.w == 0 || m.h == 0 {
		return false
	}
	pos, off := m.first()
	for rows := -off; pos < m.len() && rows < m.h; pos++ {
		rows += m.height(pos)
		if m.at(pos).timed { // known once it is drawn
			return true
		}
	}
	return false
}
