// Package panel is the call panel: the tree of calls of all turns, live, with the details of the
// one under the cursor, and the approvals that wait and were given. It is fed the same rows as the
// chat ([Model.Add], [Model.Apply]) and says what the person wants by messages ([CancelCall],
// [ShowInChat], ...), which the screen carries out.
package panel

import (
	"encoding/json"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"parley/agent/record"
	"parley/toolrt/approval"
	"parley/ui/tui/keymap"
	"parley/ui/tui/style"
)

// CancelCall asks to cancel one running call.
type CancelCall struct{ Path string }

// ShowInChat asks to select a call in the chat.
type ShowInChat struct{ Path string }

// Copy asks to put text on the clipboard.
type Copy struct{ Text string }

// WantRerun asks to run a call again.
type WantRerun struct{ Call record.Call }

// WantBackground asks to move a running call to the background.
type WantBackground struct{ Path string }

// WantUsage asks for what the session has used, to be given to SetUsage.
type WantUsage struct{}

// WantOutput asks for the whole output of a call, to be given to SetOutput.
type WantOutput struct{ Path string }

// Leave asks to give the focus to the next pane.
type Leave struct{}

// Waiting is a question that waits for the person.
type Waiting struct {
	ID    string
	Path  string
	Label string
	Tool  string
	// Arguments are those that it is asked for; "" when they are the call's own.
	Arguments string
	// Input says that values are asked for, not an approval.
	Input bool
}

// The tabs that exist.
const (
	tabCalls = iota
	tabApprovals
	tabEvents
	tabUsage
	tabs
)

// Model is the panel. It is used by one goroutine, the screen's.
type Model struct {
	style *style.Set
	keys  *keymap.Map

	w, h    int
	focused bool
	now     time.Time
	running bool // a turn runs

	tree    tree
	waiting []Waiting
	rules   []approval.Rule
	events  events
	usage   usage

	eventList eventList

	tab    int
	follow bool
	cursor [tabs]string // id of the row under the cursor
	top    [tabs]int    // first row shown
	filter filter

	drawn   string // the last View, "" when something has changed since
	full    bool   // the details take the whole panel
	scroll  int    // of the details, from their end when live
	outputs map[string]string
}

// New returns an empty panel that follows what happens.
func New(s *style.Set, keys *keymap.Map) *Model {
	return &Model{style: s, keys: keys, follow: true, tree: newTree(), outputs: map[string]string{}}
}

// SetStyle changes what it is drawn with.
func (m *Model) SetStyle(s *style.Set) { m.style, m.drawn = s, "" }

// SetSize sets the size in cells.
func (m *Model) SetSize(w, h int) {
	if w, h = max(w, 0), max(h, 0); w != m.w || h != m.h {
		m.w, m.h, m.drawn = w, h, ""
	}
}

// Focus and Blur say whether keys come here.
func (m *Model) Focus() { m.focused, m.drawn = true, "" }

// Blur takes the focus away.
func (m *Model) Blur() { m.focused, m.filter.typing, m.drawn = false, false, "" }

// SetWaiting says which questions wait, in order.
func (m *Model) SetWaiting(w []Waiting) { m.waiting, m.drawn = w, "" }

// SetOutput gives the whole output of a call that WantOutput asked for.
func (m *Model) SetOutput(path, output string) { m.outputs[path], m.drawn = output, "" }

// Tick sets the time to which running calls are measured, and whether a turn runs.
func (m *Model) Tick(now time.Time, running bool) { m.now, m.running, m.drawn = now, running, "" }

// state is what is kept of the panel with the session.
type state struct {
	Tab    int  `json:"tab,omitempty"`
	Follow bool `json:"follow"`
}

// State is the panel's state as text, for Restore.
func (m *Model) State() json.RawMessage {
	s, err := json.Marshal(state{Tab: m.tab, Follow: m.follow})
	if err != nil {
		return nil
	}
	return s
}

// Restore takes up a state. What it cannot read it leaves as it is.
func (m *Model) Restore(s json.RawMessage) {
	st := state{Follow: true}
	if json.Unmarshal(s, &st) != nil {
		return
	}
	m.tab, m.follow, m.drawn = min(max(st.Tab, 0), tabs-1), st.Follow, ""
}

// Select puts the cursor on a call and unfolds what it is in. It reports whether the call is known.
func (m *Model) Select(path string) bool {
	if !m.tree.open(path) {
		return false
	}
	m.tab, m.follow, m.full = tabCalls, false, false
	m.filter = filter{}
	m.cursor[tabCalls] = path
	m.scroll, m.drawn = 0, ""
	return true
}

// Escape closes what is open inside the panel: the filter, then the full details. It reports
// whether there was something.
func (m *Model) Escape() bool {
	m.drawn = ""
	switch {
	case m.filter.typing || m.filter.text != "":
		m.filter = filter{}
	case m.full:
		m.full = false
	default:
		return false
	}
	return true
}

// Key takes a key while the panel has the focus. It reports whether it had a meaning.
func (m *Model) Key(msg tea.KeyPressMsg) (tea.Cmd, bool) {
	m.drawn = ""
	if m.filter.typing {
		return nil, m.filter.key(msg)
	}
	a := m.keys.Find(keymap.Panel, msg)
	switch a {
	case "":
		return nil, false
	case keymap.PanelDown, keymap.PanelUp, keymap.PanelTop, keymap.PanelEnd, keymap.PanelPgUp, keymap.PanelPgDown:
		m.move(a)
	case keymap.PanelFold, keymap.PanelUnfold:
		m.fold(a == keymap.PanelUnfold)
	case keymap.PanelFollow:
		m.follow = !m.follow
		m.followLive()
	case keymap.PanelFilter:
		m.filter.typing = true
	case keymap.PanelTab1, keymap.PanelTab2, keymap.PanelTab3, keymap.PanelTab4:
		return m.switchTab(map[keymap.Action]int{keymap.PanelTab1: tabCalls, keymap.PanelTab2: tabApprovals,
			keymap.PanelTab3: tabEvents, keymap.PanelTab4: tabUsage}[a]), true
	case keymap.PanelNextTab:
		if m.tab+1 == tabs {
			m.switchTab(tabCalls)
			return send(Leave{}), true
		}
		return m.switchTab(m.tab + 1), true
	default:
		return m.act(a), true
	}
	return nil, true
}

// act carries out what concerns the call under the cursor.
func (m *Model) act(a keymap.Action) tea.Cmd {
	n := m.selected()
	if n == nil {
		return m.actOnRow(a)
	}
	switch a {
	case keymap.PanelOpen:
		m.full, m.scroll = !m.full, 0
		if m.full {
			return m.wantOutput(n)
		}
	case keymap.PanelCancel:
		if !n.call.Status.Terminal() {
			return send(CancelCall{n.call.Path})
		}
	case keymap.PanelCopy:
		return send(Copy{m.copyText(n)})
	case keymap.PanelShow:
		return send(ShowInChat{n.call.Path})
	case keymap.PanelRerun:
		return send(WantRerun{n.call})
	case keymap.PanelBackground:
		if !n.call.Status.Terminal() {
			return send(WantBackground{n.call.Path})
		}
	}
	return nil
}

// actOnRow carries out what concerns a row that is no call.
func (m *Model) actOnRow(a keymap.Action) tea.Cmd {
	switch {
	case a == keymap.PanelOpen && m.tab == tabEvents:
		m.full, m.scroll = !m.full, 0
	case a == keymap.PanelOpen:
		m.fold(true)
	case a == keymap.PanelCopy && m.tab == tabEvents:
		if e := m.event(); e != nil {
			return send(Copy{e.json() + "\n"})
		}
	case a == keymap.PanelCopy:
		if r := m.current(); r.left != "" {
			return send(Copy{strings.TrimSpace(r.left+"  "+r.right) + "\n"})
		}
	}
	return nil
}

func send(msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }

// switchTab shows a tab and asks for what it needs.
func (m *Model) switchTab(tab int) tea.Cmd {
	m.tab, m.full, m.scroll = tab, false, 0
	switch tab {
	case tabEvents:
		m.events.stale = true
	case tabUsage:
		return send(WantUsage{})
	}
	return nil
}

// move moves the cursor, or the details when they fill the panel.
func (m *Model) move(a keymap.Action) {
	page := max(m.listHeight()-1, 1)
	step := map[keymap.Action]int{
		keymap.PanelDown: 1, keymap.PanelUp: -1, keymap.PanelPgDown: page, keymap.PanelPgUp: -page,
		keymap.PanelTop: -1 << 30, keymap.PanelEnd: 1 << 30,
	}[a]
	if m.full {
		m.scroll = max(m.scroll+step, 0)
		return
	}
	rows := m.rows()
	if len(rows) == 0 {
		return
	}
	m.follow = false
	i := min(max(index(rows, m.cursor[m.tab])+step, 0), len(rows)-1)
	m.cursor[m.tab] = rows[i].id
	m.scroll = 0
}

// fold folds or unfolds the row under the cursor; folding what is folded goes to the row above it.
func (m *Model) fold(unfold bool) {
	rows := m.rows()
	i := m.index(rows)
	if m.tab != tabCalls || i >= len(rows) {
		return
	}
	m.follow = false
	r := rows[i]
	if r.foldable && r.folded == unfold {
		m.tree.folds[r.id] = !unfold
		return
	}
	for j := i - 1; !unfold && j >= 0; j-- {
		if rows[j].depth < r.depth {
			m.cursor[m.tab] = rows[j].id
			return
		}
	}
}

// rows are the rows of the tab shown, and the cursor stands on one of them.
func (m *Model) rows() []row {
	switch m.tab {
	case tabApprovals:
		return m.approvalRows()
	case tabEvents:
		return m.eventRows()
	case tabUsage:
		return m.usageRows()
	}
	return m.tree.rows(m.filter)
}

// current is the row under the cursor, the zero row when there is none.
func (m *Model) current() row {
	rows := m.rows()
	if len(rows) == 0 {
		return row{}
	}
	return rows[m.index(rows)]
}

// index is the place of the cursor among the rows. In lists that grow at their beginning it is the
// first when its row is gone or none was chosen.
func (m *Model) index(rows []row) int {
	if m.tab == tabEvents || m.tab == tabUsage {
		for i := range rows {
			if rows[i].id == m.cursor[m.tab] {
				return i
			}
		}
		for i := range rows {
			if !rows[i].head {
				return i
			}
		}
		return 0
	}
	return index(rows, m.cursor[m.tab])
}

// index is the place of a row, the last when it is gone.
func index(rows []row, id string) int {
	for i := range rows {
		if rows[i].id == id {
			return i
		}
	}
	return max(len(rows)-1, 0)
}

// selected is the call under the cursor, nil when there is none.
func (m *Model) selected() *node { return m.tree.nodes[m.current().path] }
