package panel

import (
	"bytes"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"parley/agent/monitor"
	"parley/agent/record"
	"parley/toolrt"
	"parley/ui/tui/transcript"
)

// node is one call.
type node struct {
	call     record.Call
	children []string // paths, in order, of all turns
	tail     tail     // of the output while it runs
}

// tail keeps the end of what a running call prints.
type tail struct{ text []byte }

const tailBytes = 16 << 10

func (t *tail) add(s string) {
	t.text = append(t.text, s...)
	n := len(t.text)
	if n <= 2*tailBytes {
		return
	}
	rest := t.text[n-tailBytes:]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[i+1:]
	}
	t.text = append(t.text[:0], rest...)
}

// tree holds the calls of the session that are known.
type tree struct {
	nodes   map[string]*node
	turns   map[int][]string // calls that started in the turn, in the order of their coming
	order   []int            // turns, oldest first
	folds   map[string]bool  // by row id; unset means the default
	working int              // calls that run, agents one talks to left out
	live    string           // path of the call that began to run or to wait for the person last
}

func newTree() tree {
	return tree{nodes: map[string]*node{}, turns: map[int][]string{}, folds: map[string]bool{}}
}

// Reset forgets all calls and takes these, parents first.
func (m *Model) Reset(calls []record.Call) {
	m.tree = newTree()
	m.cursor, m.top = [tabs]string{}, [tabs]int{}
	m.full, m.scroll, m.filter = false, 0, filter{}
	m.rules, m.events, m.usage = nil, events{stale: true}, usage{}
	clear(m.outputs)
	m.Add(calls)
}

// Add takes calls of earlier turns, or newer rows of known ones.
func (m *Model) Add(calls []record.Call) {
	m.drawn = ""
	for _, c := range calls {
		m.tree.put(c)
	}
	m.followLive()
}

// Apply takes live events. The command asks for the whole output of a call that has just ended
// while its details fill the panel; it is nil otherwise.
func (m *Model) Apply(events []monitor.Event) tea.Cmd {
	for _, e := range events {
		m.events.add(e)
		for _, c := range e.Calls {
			m.tree.put(c)
			delete(m.outputs, c.Path)
			m.drawn = ""
		}
		if d := e.Delta; d != nil && d.Kind == monitor.PieceOutput {
			if n := m.tree.nodes[e.Path]; n != nil {
				n.tail.add(d.Text)
				m.drawn = ""
			}
		}
	}
	if !m.full {
		m.followLive()
		return nil
	}
	return m.wantOutput(m.selected())
}

// wantOutput asks for the whole output of a call that has ended, unless it is here.
func (m *Model) wantOutput(n *node) tea.Cmd {
	if n == nil || !n.call.Status.Terminal() {
		return nil
	}
	if _, ok := m.outputs[n.call.Path]; ok {
		return nil
	}
	return send(WantOutput{n.call.Path})
}

// WantsOlder says which turn is the oldest one known, and whether the cursor has come to it and
// there are earlier ones.
func (m *Model) WantsOlder() (turn int, ok bool) {
	if len(m.tree.order) == 0 || m.tree.order[0] <= 1 || !m.focused || m.tab != tabCalls {
		return 0, false
	}
	rows := m.rows()
	return m.tree.order[0], index(rows, m.cursor[tabCalls]) == 0 && m.cursor[tabCalls] != ""
}

// Siblings are the calls of the reply in which a call was made, in order; nil when it is not known.
func (m *Model) Siblings(path string) []record.Call {
	n := m.tree.nodes[path]
	if n == nil {
		return nil
	}
	var calls []record.Call
	for _, p := range m.tree.turns[n.call.Turn] {
		if c := m.tree.nodes[p].call; c.Parent == n.call.Parent && c.Round == n.call.Round && c.Category == "" {
			calls = append(calls, c)
		}
	}
	slices.SortStableFunc(calls, func(a, b record.Call) int { return a.Index - b.Index })
	return calls
}

// Working counts the calls that run.
func (m *Model) Working() int { return m.tree.working }

// Commands counts the commands that run, agents left out.
func (m *Model) Commands() int {
	n := 0
	for _, path := range m.tree.turns[m.tree.newest()] {
		if c := m.tree.nodes[path].call; c.Status == toolrt.StatusRunning && !c.Agent {
			n++
		}
	}
	return n
}

// runs reports whether a call is at work. The agent one talks to is not: it is there all the time.
func runs(c record.Call) bool { return c.Status == toolrt.StatusRunning && !c.Chat }

func (t *tree) put(c record.Call) {
	n := t.nodes[c.Path]
	if n != nil && runs(n.call) {
		t.working--
	}
	if runs(c) {
		t.working++
	}
	if !c.Agent && c.Category == "" && (c.Status == toolrt.StatusRunning || c.Status == toolrt.StatusWaiting) && (n == nil || n.call.Status != c.Status) {
		t.live = c.Path
	}
	if n != nil {
		n.call = c
		if c.Status.Terminal() {
			n.tail = tail{}
		}
		return
	}
	t.nodes[c.Path] = &node{call: c}
	if parent := t.nodes[c.Parent]; parent != nil {
		parent.children = append(parent.children, c.Path)
	}
	if _, ok := t.turns[c.Turn]; !ok {
		i, _ := slices.BinarySearch(t.order, c.Turn)
		t.order = slices.Insert(t.order, i, c.Turn)
	}
	t.turns[c.Turn] = append(t.turns[c.Turn], c.Path)
}

// row is one line of the list.
type row struct {
	id       string // of a turn or a call within a turn
	path     string // of the call, "" for a turn
	turn     int
	depth    int
	foldable bool
	folded   bool
	// left and right are the texts of a row that is no call and no turn; word is its state, head
	// says that it is the title of what follows.
	left, right, word string
	head              bool
}

// newest is the number of the newest turn, 0 when there is none.
func (t *tree) newest() int {
	if len(t.order) == 0 {
		return 0
	}
	return t.order[len(t.order)-1]
}

func turnID(turn int) string { return fmt.Sprintf("turn %d", turn) }

// rows lists what is unfolded, newest turn first.
func (t *tree) rows(f filter) []row {
	var rows []row
	for i := len(t.order) - 1; i >= 0; i-- {
		turn := t.order[i]
		if t.empty(turn) {
			continue
		}
		r := row{id: turnID(turn), turn: turn, foldable: true, folded: t.folded(turnID(turn), i != len(t.order)-1)}
		at := len(rows)
		rows = append(rows, r)
		if r.folded && !f.on() {
			continue
		}
		for _, path := range t.roots(turn) {
			rows = t.under(rows, path, turn, 1, f)
		}
		if f.on() && len(rows) == at+1 {
			rows = rows[:at]
		}
	}
	return rows
}

// empty reports whether nothing was called in a turn: the agent one talks to is no call of it.
func (t *tree) empty(turn int) bool {
	for _, path := range t.turns[turn] {
		if c := t.nodes[path].call; c.Parent != "" || !c.Agent {
			return false
		}
	}
	return true
}

func (t *tree) folded(id string, def bool) bool {
	if v, ok := t.folds[id]; ok {
		return v
	}
	return def
}

// roots are the calls at the top of a turn: those that have no caller, and callers of an earlier
// turn which made calls in this one, a chat's agent above all.
func (t *tree) roots(turn int) []string {
	var roots []string
	for _, path := range t.turns[turn] {
		for {
			n := t.nodes[path]
			parent := t.nodes[n.call.Parent]
			if parent == nil || n.call.Turn != turn {
				break
			}
			path = n.call.Parent
		}
		if !slices.Contains(roots, path) {
			roots = append(roots, path)
		}
	}
	return roots
}

// under appends a call and what is below it in the turn.
func (t *tree) under(rows []row, path string, turn, depth int, f filter) []row {
	n := t.nodes[path]
	var below []string
	for _, c := range n.children {
		if t.nodes[c].call.Turn == turn {
			below = append(below, c)
		}
	}
	id := path
	if n.call.Turn != turn {
		id = fmt.Sprintf("%s in turn %d", path, turn)
	}
	r := row{id: id, path: path, turn: turn, depth: depth, foldable: len(below) > 0, folded: t.folded(id, false)}
	at := len(rows)
	rows = append(rows, r)
	if r.folded && !f.on() {
		return rows
	}
	for _, c := range below {
		rows = t.under(rows, c, turn, depth+1, f)
	}
	if f.on() && len(rows) == at+1 && !f.match(n.call) {
		return rows[:at]
	}
	return rows
}

// open unfolds everything a call is in.
func (t *tree) open(path string) bool {
	n := t.nodes[path]
	if n == nil {
		return false
	}
	turn := n.call.Turn
	t.folds[turnID(turn)] = false
	for p := n.call.Parent; p != ""; {
		parent := t.nodes[p]
		if parent == nil {
			break
		}
		t.folds[p] = false
		t.folds[fmt.Sprintf("%s in turn %d", p, turn)] = false
		p = parent.call.Parent
	}
	return true
}

// followLive puts the cursor on the call that began to run or to wait last.
func (m *Model) followLive() {
	if !m.follow {
		return
	}
	n := m.tree.nodes[m.tree.live]
	if n == nil || m.cursor[tabCalls] == m.tree.live {
		return
	}
	m.cursor[tabCalls] = m.tree.live
	m.scroll = 0
}

// counts says how many of a turn's calls are in which state, in words, agents of chats left out.
func (t *tree) counts(turn int) []string {
	n := map[string]int{}
	var words []string
	for _, path := range t.turns[turn] {
		c := t.nodes[path].call
		if c.Agent && c.Parent == "" {
			continue
		}
		w := transcript.Word(c)
		if n[w] == 0 {
			words = append(words, w)
		}
		n[w]++
	}
	rank := map[string]int{"run": 1, "ASK": 2, "$": 3, "wait": 4, "--": 5, "xx": 6, "no": 7, "//": 8, "ok": 9}
	slices.SortStableFunc(words, func(a, b string) int { return rank[a] - rank[b] })
	for i, w := range words {
		words[i] = fmt.Sprintf("%d %s", n[w], w)
	}
	return words
}
