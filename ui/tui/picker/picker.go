// Package picker is the list of saved sessions: choose one to go on with, search, rename, delete
// and take back. It only shows rows and says what the person wants by messages ([Open], [Query],
// [Delete], ...), which the screen carries out.
package picker

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"parley/agent/record"
	"parley/ui/tui/composer"
	"parley/ui/tui/keymap"
	"parley/ui/tui/style"
)

// Open asks to go on with a session.
type Open struct{ ID string }

// New asks for a new session.
type New struct{}

// Back says that the list was left without a choice.
type Back struct{}

// Rename asks to give a session a title.
type Rename struct{ ID, Title string }

// Delete asks to move a session to the bin, Undelete to take it back.
type Delete struct{ ID string }

// Undelete asks to take a session back from the bin.
type Undelete struct{ ID string }

// Fork asks to go on in a copy of a session.
type Fork struct{ ID string }

// Timeline asks to step through a session.
type Timeline struct{ ID string }

// Export asks to write a session to a file.
type Export struct{ Session record.Session }

// Query asks for the sessions of this folder, or all, that hold the text; the answer goes to
// SetSessions with the same tag.
type Query struct {
	All  bool
	Text string
	Tag  int
}

// searchDue says that no letter was typed into the search line since the tag.
type searchDue struct{ tag int }

// searchWait is how long the search waits for the next letter.
const searchWait = 120 * time.Millisecond

// entry says what the input line is for.
type entry int

const (
	entryNone entry = iota
	entrySearch
	entryRename
	entryDelete // no line: y or n
)

// Model is the list. It is used by one goroutine, the screen's.
type Model struct {
	style *style.Set
	keys  *keymap.Map
	w, h  int
	now   time.Time

	all      bool
	text     string
	tag      int
	loading  bool
	found    []record.Session // the answer
	sessions []record.Session // those of it that the search line leaves, in order
	order    order
	cursor   string // id of the chosen one
	top      int
	current  string // id of the session that is open behind the list

	input   *composer.Model
	entry   entry
	preview bool // in one column: the facts instead of the list
	deleted *record.Session

	previewOf string // whose messages are here
	messages  []record.Message
	notice    string
}

// NewModel returns an empty list for the sessions of this folder. Start asks for them.
func NewModel(s *style.Set, keys *keymap.Map) *Model {
	return &Model{style: s, keys: keys, input: composer.New(s, keys)}
}

// Start asks for the sessions again, at time now; current is the id of the open one, "" for none.
func (m *Model) Start(now time.Time, current string) tea.Cmd {
	m.now, m.current = now, current
	m.entry, m.preview, m.notice, m.deleted = entryNone, false, "", nil
	return m.query()
}

// SetStyle changes what it is drawn with.
func (m *Model) SetStyle(s *style.Set) {
	m.style = s
	m.input.SetStyle(s)
}

// SetSize sets the size in cells.
func (m *Model) SetSize(w, h int) { m.w, m.h = max(w, 0), max(h, 0) }

// SetNotice shows a line, for example why a session could not be changed.
func (m *Model) SetNotice(line string) { m.notice = line }

// SetSessions gives the answer to a Query. An answer to an older one is ignored.
// The command asks for the preview of the chosen one.
func (m *Model) SetSessions(tag int, sessions []record.Session, err error) tea.Cmd {
	if tag != m.tag {
		return nil
	}
	m.loading = false
	if err != nil {
		m.notice = "the sessions cannot be listed: " + err.Error()
		return nil
	}
	m.found, m.sessions = sessions, nil
	m.narrow()
	return m.wantPreview()
}

// query asks for what is to be listed.
func (m *Model) query() tea.Cmd {
	m.tag++
	m.loading = true
	q := Query{All: m.all, Tag: m.tag}
	q.Text, _ = split(m.text)
	return func() tea.Msg { return q }
}

// Search lists what holds the text.
func (m *Model) Search(text string) tea.Cmd {
	m.text = text
	return m.query()
}

// Update takes pastes and the picker's own messages.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.PasteMsg:
		if m.entry == entrySearch || m.entry == entryRename {
			m.input.Update(msg)
			return m.typed()
		}
	case previewDue:
		if s := m.chosen(); s != nil && s.ID == msg.id {
			return send(Preview{msg.id})
		}
	case searchDue:
		if msg.tag == m.tag && m.entry == entrySearch {
			return m.query()
		}
	}
	return nil
}

// Key takes a key. It reports whether it had a meaning here.
func (m *Model) Key(msg tea.KeyPressMsg) (tea.Cmd, bool) {
	a := m.keys.Find(keymap.Picker, msg)
	switch m.entry {
	case entryDelete:
		return m.confirm(msg), true
	case entrySearch, entryRename:
		return m.inputKey(a, msg)
	}
	m.notice = ""
	cmd, ok := m.listKey(a)
	return tea.Batch(cmd, m.wantPreview()), ok
}

// inputKey takes keys while a line is typed.
func (m *Model) inputKey(a keymap.Action, msg tea.KeyPressMsg) (tea.Cmd, bool) {
	switch {
	case msg.Key().Code == tea.KeyEscape:
		cleared := m.entry == entrySearch && m.text != ""
		m.entry = entryNone
		if cleared {
			return m.Search(""), true
		}
		return nil, true
	case msg.Key().Code == tea.KeyEnter && m.entry == entryRename:
		m.entry = entryNone
		title := strings.TrimSpace(strings.ReplaceAll(m.input.Value(), "\n", " "))
		if s := m.chosen(); s != nil && title != "" {
			return send(Rename{s.ID, title}), true
		}
		return nil, true
	case msg.Key().Code == tea.KeyEnter:
		m.entry = entryNone
		return m.open(), true
	case m.entry == entrySearch && (a == keymap.PickerDown || a == keymap.PickerUp) && msg.Text == "":
		m.entry = entryNone
		return nil, true
	}
	if !m.input.Key(msg) {
		return nil, false
	}
	return m.typed(), true
}

// typed starts the search a moment after the last letter.
func (m *Model) typed() tea.Cmd {
	if m.entry != entrySearch || m.input.Value() == m.text {
		return nil
	}
	m.text = m.input.Value()
	m.narrow()
	m.tag++
	tag := m.tag
	return tea.Tick(searchWait, func(time.Time) tea.Msg { return searchDue{tag} })
}

// Writing reports whether text is being written, which keys change.
func (m *Model) Writing() bool {
	return (m.entry == entrySearch || m.entry == entryRename) && m.input.Value() != ""
}

// Entering says what Enter does while a line is typed, "delete" while that is asked, and "" in the list
// itself.
func (m *Model) Entering() string {
	switch m.entry {
	case entrySearch:
		return "resume"
	case entryRename:
		return "rename"
	case entryDelete:
		return "delete"
	}
	return ""
}

// confirm takes the answer to "delete?": y deletes, everything else does not.
func (m *Model) confirm(msg tea.KeyPressMsg) tea.Cmd {
	m.entry = entryNone
	s := m.chosen()
	if s == nil || msg.String() != "y" {
		return nil
	}
	gone := *s
	m.deleted = &gone
	return send(Delete{gone.ID})
}

func (m *Model) listKey(a keymap.Action) (tea.Cmd, bool) {
	s := m.chosen()
	switch a {
	case keymap.PickerOpen:
		return m.open(), true
	case keymap.PickerNew:
		return send(New{}), true
	case keymap.PickerBack:
		if m.preview && !m.twoColumns() {
			m.preview = false
			return nil, true
		}
		return send(Back{}), true
	case keymap.PickerPreview:
		m.preview = !m.preview
	case keymap.PickerAll:
		m.all = !m.all
		return m.query(), true
	case keymap.PickerSearch:
		m.entry = entrySearch
		m.input.Reset(m.text)
	case keymap.PickerSort:
		m.order = (m.order + 1) % orders
		m.order.sorted(m.sessions)
	case keymap.PickerFork, keymap.PickerTimeline, keymap.PickerExport:
		if s != nil {
			return m.concerning(a, *s), true
		}
	case keymap.PickerRename:
		if s != nil {
			m.entry = entryRename
			m.input.Reset(s.Title)
		}
	case keymap.PickerDelete:
		switch {
		case s == nil:
		case s.ID == m.current:
			m.notice = "the open session cannot be deleted: open another one first"
		default:
			m.entry = entryDelete
		}
	case keymap.PickerUndo:
		if m.deleted != nil {
			id := m.deleted.ID
			m.deleted = nil
			return send(Undelete{id}), true
		}
	default:
		return nil, m.move(a)
	}
	return nil, true
}

// concerning asks for what is done with a whole session.
func (m *Model) concerning(a keymap.Action, s record.Session) tea.Cmd {
	switch a {
	case keymap.PickerFork:
		return send(Fork{s.ID})
	case keymap.PickerTimeline:
		return send(Timeline{s.ID})
	}
	return send(Export{s})
}

func (m *Model) open() tea.Cmd {
	if s := m.chosen(); s != nil {
		return send(Open{s.ID})
	}
	return nil
}

func send(msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }

// Changed says that a session was renamed, deleted or taken back: the list is asked for again.
func (m *Model) Changed(err error) tea.Cmd {
	switch {
	case err != nil:
		m.notice = err.Error()
		m.deleted = nil
	case m.deleted != nil:
		m.notice = "deleted: " + m.deleted.Title + "   " + m.keys.Key(keymap.PickerUndo) + " takes it back"
		m.cursor = m.beside(m.deleted.ID)
	}
	return m.query()
}

// beside is the session to choose when one is gone: the next, or the one before at the end.
func (m *Model) beside(id string) string {
	i := m.index(id)
	switch {
	case i+1 < len(m.sessions):
		return m.sessions[i+1].ID
	case i > 0:
		return m.sessions[i-1].ID
	}
	return ""
}

func (m *Model) move(a keymap.Action) bool {
	step, ok := map[keymap.Action]int{
		keymap.PickerDown: 1, keymap.PickerUp: -1, keymap.PickerTop: -1 << 30, keymap.PickerEnd: 1 << 30,
		keymap.PickerPgDown: max(m.listHeight()-1, 1), keymap.PickerPgUp: -max(m.listHeight()-1, 1),
	}[a]
	if ok && len(m.sessions) > 0 {
		m.cursor = m.sessions[min(max(m.index(m.cursor)+step, 0), len(m.sessions)-1)].ID
	}
	return ok
}

// index is the place of a session in the list, 0 when it is not there.
func (m *Model) index(id string) int {
	for i := range m.sessions {
		if m.sessions[i].ID == id {
			return i
		}
	}
	return 0
}

// chosen is the session under the cursor, nil when the list is empty.
func (m *Model) chosen() *record.Session {
	if len(m.sessions) == 0 {
		return nil
	}
	return &m.sessions[m.index(m.cursor)]
}
