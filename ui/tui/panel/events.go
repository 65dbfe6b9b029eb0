package panel

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/agent/monitor"
	"parley/agent/record"
	"parley/ui/tui/text"
	"parley/ui/tui/transcript"
)

// maxEvents is how many live events are kept.
const maxEvents = 1000

// events are what has happened: the journal of the turns that were asked for, and what came live
// since. Both are listed newest first.
type events struct {
	live    []event
	journal map[int][]event // by turn
	from    int             // oldest turn of the journal that is here, 0 when none
	stale   bool            // the newest turn is to be asked for again
	n       int             // numbers live events
}

// event is one line: an effect in the journal, or a live event.
type event struct {
	id   string
	at   time.Time
	kind string
	path string
	text string // beside the call's title
	word string
	body any // for its JSON
}

func (e event) json() string {
	b, err := json.MarshalIndent(e.body, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// eventWords are the live events that are listed, in a word each.
var eventWords = map[monitor.Type]string{
	monitor.RunStart: "turn", monitor.RunFinish: "turn ends", monitor.CallStart: "start", monitor.CallContinue: "goes on",
	monitor.CallSubCalls: "calls", monitor.CallChat: "model", monitor.CallFinish: "end", monitor.CallConfirm: "ask",
	monitor.Prompt: "prompt", monitor.Notice: "notice", monitor.JobChanged: "job",
}

// add takes a live event; pieces of text are none.
func (l *events) add(e monitor.Event) {
	kind, ok := eventWords[e.Type]
	if !ok {
		return
	}
	if e.Type == monitor.RunFinish {
		l.stale = true
	}
	if cc := e.CallContext; e.Type == monitor.CallChat && cc != nil && cc.Tool != nil && cc.Tool.IsCommand() {
		kind = "command"
	}
	// What was asked and offered is in the journal, by hash; here it would be kept whole.
	e.ChatRequest, e.Program, e.Messages, e.Calls = nil, nil, nil, nil
	if e.CallContext != nil {
		short := *e.CallContext
		short.Tool, short.InputContext = nil, nil
		e.CallContext = &short
	}
	l.n++
	one := event{id: fmt.Sprintf("live %d", l.n), at: e.Time, kind: kind, path: e.Path, body: e}
	switch {
	case e.Text != "":
		one.text = e.Text
	case e.Err != "" || e.Error != "":
		one.text, one.word = e.Err+e.Error, "xx"
	case e.Usage != nil && e.Usage.TotalTokens > 0:
		one.text = tokens(e.Usage.TotalTokens) + " tokens"
	}
	l.live = append(l.live, one)
	if len(l.live) > maxEvents {
		l.live = slices.Delete(l.live, 0, len(l.live)-maxEvents)
	}
}

// WantsJournal says which turn's journal is wanted next; see [Model.SetJournal].
func (m *Model) WantsJournal() (turn int, ok bool) {
	if m.tab != tabEvents || len(m.tree.order) == 0 {
		return 0, false
	}
	l := &m.events
	if l.stale {
		l.stale = false
		return m.tree.newest(), true
	}
	rows := m.eventRows()
	near := m.index(rows)+m.listHeight() >= len(rows)
	return l.from - 1, m.focused && near && l.from > 1
}

// SetJournal gives the effects of a turn, in order.
func (m *Model) SetJournal(turn int, entries []record.Entry) {
	l := &m.events
	if l.journal == nil {
		l.journal = map[int][]event{}
	}
	list := make([]event, 0, len(entries))
	for _, e := range entries {
		list = append(list, journalEvent(e))
	}
	l.journal[turn] = list
	m.eventList.rows = nil
	if l.from == 0 || turn < l.from {
		l.from = turn
	}
	m.drawn = ""
}

func journalEvent(e record.Entry) event {
	one := event{id: fmt.Sprintf("seq %d", e.Seq), at: e.Started, kind: string(e.Kind), path: e.Key.Path, word: "ok", body: e,
		text: fmt.Sprintf("seq %d", e.Seq)}
	switch {
	case !e.Finished:
		one.word = "run"
	case !e.Ended.IsZero() && e.Ended.After(e.Started):
		one.text += " " + transcript.Duration(e.Ended.Sub(e.Started))
	}
	var decided struct {
		Allow *bool `json:"allow"`
	}
	if e.Kind == record.EntryApproval && json.Unmarshal(e.Result, &decided) == nil && decided.Allow != nil && !*decided.Allow {
		one.word = "no"
	}
	return one
}

// eventKey is what the list of events depends on.
type eventKey struct {
	n, turns, from int
	filter         string
}

// eventList is the list as it was last made.
type eventList struct {
	key    eventKey
	rows   []row
	events map[string]event
}

// listed makes the list of what matches the filter, newest first, unless it is there already.
func (m *Model) listed() *eventList {
	key := eventKey{m.events.n, len(m.events.journal), m.events.from, m.filter.text}
	if l := &m.eventList; l.rows != nil && l.key == key {
		return l
	}
	m.eventList = eventList{key: key, rows: []row{}, events: map[string]event{}}
	m.list("live", m.events.live)
	for turn := m.tree.newest(); turn >= m.events.from && turn > 0; turn-- {
		m.list(fmt.Sprintf("journal of turn %d", turn), m.events.journal[turn])
	}
	return &m.eventList
}

// list adds what matches of a part, below its title.
func (m *Model) list(title string, part []event) {
	l := &m.eventList
	at := len(l.rows)
	l.rows = append(l.rows, row{id: title, left: title, head: true})
	for i := len(part) - 1; i >= 0; i-- {
		e := part[i]
		if m.filter.on() && !m.filter.holds(e.kind+" "+e.text+" "+m.about(e)) {
			continue
		}
		l.events[e.id] = e
		l.rows = append(l.rows, row{id: e.id, left: e.at.Local().Format("15:04:05") + " " + fmt.Sprintf("%-9s ", shortKind(e.kind)) + m.about(e),
			right: text.Line(e.text), word: orDash(e.word)})
	}
	if len(l.rows) == at+1 {
		l.rows = l.rows[:at]
	}
}

func (m *Model) eventRows() []row { return m.listed().rows }

// shortKind fits the kinds of effects into the column of words.
func shortKind(kind string) string {
	switch kind {
	case string(record.EntryCompletion):
		return "model"
	case string(record.EntryExecution):
		return "run"
	case string(record.EntryApproval):
		return "decision"
	case string(record.EntryCredential):
		return "secret"
	case string(record.EntrySteer):
		return "handed"
	}
	return kind
}

func orDash(word string) string {
	if word == "" {
		return "--"
	}
	return word
}

// about is the call that an event is about, in a line.
func (m *Model) about(e event) string {
	path := e.path
	if i := strings.LastIndexByte(path, '/'); i >= 0 && m.tree.nodes[path] == nil {
		path = path[:i] // an effect beside the call: a decision, a message handed over
	}
	n := m.tree.nodes[path]
	if n == nil {
		return ""
	}
	if n.call.Chat {
		return "@" + text.Line(n.call.Tool)
	}
	return strings.TrimSpace(text.Line(n.call.Label) + " " + transcript.Title(n.call))
}

// event is the one under the cursor, nil when there is none.
func (m *Model) event() *event {
	if m.tab != tabEvents {
		return nil
	}
	if e, ok := m.listed().events[m.current().id]; ok {
		return &e
	}
	return nil
}

// eventLines is the event under the cursor as JSON in h lines; over the whole panel it scrolls.
func (m *Model) eventLines(h int, full bool) []string {
	e := m.event()
	if e == nil || h <= 0 {
		return padded(nil, h)
	}
	head := text.Spread(" "+m.style.Strong.Render(e.kind)+" "+m.about(*e), m.style.Muted.Render(e.id+" "), m.w, m.style.Glyphs.Ellipsis)
	var lines []string
	for _, l := range text.Hard(text.Clean(e.json()), max(m.w-2, 1)) {
		lines = append(lines, " "+l)
	}
	if full {
		m.scroll = min(m.scroll, max(len(lines)-(h-1), 0))
		return padded(append([]string{head}, lines[m.scroll:]...), h)
	}
	if len(lines) > h-1 && h >= 2 {
		lines = append(lines[:h-2], m.style.Muted.Render(fmt.Sprintf(" %s %d more lines, Enter shows all", m.style.Glyphs.Down, len(lines)-h+2)))
	}
	return padded(append([]string{head}, lines...), h)
}
