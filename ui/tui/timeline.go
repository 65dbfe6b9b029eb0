package tui

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	llm "parley/agent/model"
	"parley/agent/record"
	"parley/toolrt"
	"parley/ui/tui/panel"
	"parley/ui/tui/text"
	"parley/ui/tui/transcript"
)

// step is one thing that happened in a session: a message, a decision, a call.
type step struct {
	seq   int64
	turn  int
	at    time.Time
	kind  string // turn, reply, call, approve, denied, secret, handed, note
	text  string
	right string // state and time of a call
}

// timeline is the page that steps through a session. Nothing is run by it.
type timeline struct {
	steps []step
	msgs  []record.Message
	calls []record.Call
	at    int
	// state is the conversation as it was at the step, full says that it takes the whole page.
	state   *transcript.Model
	full    bool
	playing bool
	tag     int // of the newest tick of playing
}

// timelineTurns is how many turns a timeline goes back, and timelineMessages how many messages.
const (
	timelineTurns    = 200
	timelineMessages = 2000
)

func (m *screen) commandTimeline(string) tea.Cmd {
	s := m.session
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		t, err := readTimeline(ctx, s.chat, s.row.Turns)
		return timelineRead{gen(s.gen), t, err}
	})
}

// readTimeline reads the newest turns of a session.
func readTimeline(ctx context.Context, chat Chat, turns int) (timeline, error) {
	var t timeline
	first := max(turns-timelineTurns+1, 1)
	for before := int64(0); len(t.msgs) < timelineMessages; {
		page, _, err := chat.Shown(ctx, before, pageSize)
		if err != nil {
			return t, err
		}
		t.msgs = append(page, t.msgs...)
		if len(page) < pageSize || page[0].Turn < first {
			break
		}
		before = page[0].Seq
	}
	var err error
	if t.calls, err = chat.Calls(ctx, first, max(turns, 1)); err != nil {
		return t, err
	}
	for _, msg := range t.msgs {
		if one, ok := messageStep(msg); ok {
			t.steps = append(t.steps, one)
		}
	}
	journaled, ok := chat.(Journaled)
	for turn := first; ok && turn <= turns; turn++ {
		entries, err := journaled.Entries(ctx, turn)
		if err != nil {
			return t, err
		}
		for _, e := range entries {
			if one, ok := t.entryStep(e); ok {
				t.steps = append(t.steps, one)
			}
		}
	}
	slices.SortStableFunc(t.steps, func(a, b step) int { return cmp.Or(cmp.Compare(a.turn, b.turn), cmp.Compare(a.seq, b.seq)) })
	t.at = max(len(t.steps)-1, 0)
	return t, nil
}

func messageStep(msg record.Message) (step, bool) {
	s := step{seq: msg.Seq, turn: msg.Turn, at: msg.Time}
	line, _, _ := strings.Cut(strings.TrimSpace(msg.Message.Text()), "\n")
	switch {
	case msg.Notice != "":
		s.kind, s.text = "note", msg.Notice
	case msg.Message.Role == llm.User && msg.ByCaller():
		s.kind, s.text = "handed", "to @"+msg.Agent+": "+line
	case msg.Message.Role == llm.User:
		s.kind, s.text = fmt.Sprintf("turn %d", msg.Turn), "you: "+line
	case msg.Message.Role == llm.Assistant && line != "":
		s.kind, s.text = "reply", "@"+msg.Agent+": "+line
	default:
		return s, false // calls are steps of their own
	}
	return s, true
}

// entryStep makes a step of an effect. Replies are steps as messages.
func (t *timeline) entryStep(e record.Entry) (step, bool) {
	s := step{seq: e.Seq, turn: e.Key.Turn, at: e.Started}
	path := e.Key.Path
	var call record.Call
	for _, c := range t.calls {
		if c.Path == path || strings.HasPrefix(path, c.Path+"/") && len(c.Path) > len(call.Path) {
			call = c
		}
	}
	switch e.Kind {
	case record.EntryExecution:
		if call.Path != path || call.Category != "" {
			return s, false
		}
		s.kind, s.text = "call", transcript.Title(call)
		s.right = fmt.Sprintf("%-4s %6s", transcript.Word(call), transcript.Elapsed(call, time.Time{}))
	case record.EntryApproval:
		var d toolrt.Decision
		if json.Unmarshal(e.Result, &d) != nil || call.Path == "" || call.Category != "" {
			return s, false
		}
		s.kind, s.text = "approve", transcript.Title(call)+"  "+panel.Decided(d)
		if !d.Allow {
			s.kind = "denied"
		}
	case record.EntryCredential:
		s.kind, s.text = "secret", transcript.Title(call)
	default:
		return s, false
	}
	return s, true
}

type timelineRead struct {
	gen
	timeline timeline
	err      error
}

func (r timelineRead) take(m *screen) tea.Cmd {
	switch {
	case r.err != nil:
		m.trouble("the timeline cannot be read", r.err)
	case len(r.timeline.steps) == 0:
		m.say("nothing has happened here yet")
	default:
		m.timeline = r.timeline
		m.page = pageTimeline
		m.timelineMoved()
	}
	return nil
}

// timelineMoved makes the conversation as it was at the step.
func (m *screen) timelineMoved() {
	t := &m.timeline
	t.at = min(max(t.at, 0), len(t.steps)-1)
	now := t.steps[t.at]
	var msgs []record.Message
	for _, msg := range t.msgs {
		if msg.Turn < now.turn || msg.Turn == now.turn && msg.Seq <= now.seq {
			msgs = append(msgs, msg)
		}
	}
	calls := make([]record.Call, 0, len(t.calls))
	for _, c := range t.calls {
		if c.Turn <= now.turn {
			calls = append(calls, callAt(c, now.at))
		}
	}
	t.state = transcript.New(m.style)
	t.state.SetComplete()
	t.state.Tick(now.at)
	t.state.Reset(msgs, calls)
}

// callAt is a call as it was at a time.
func callAt(c record.Call, at time.Time) record.Call {
	switch {
	case c.Agent && c.Chat:
	case c.Started.After(at), c.Started.IsZero() && c.Decision != nil && c.Decision.At.After(at):
		c.Status, c.Started, c.Finished, c.Result, c.Decision = toolrt.StatusPending, time.Time{}, time.Time{}, "", nil
	case c.Finished.After(at):
		c.Status, c.Finished, c.Result = toolrt.StatusRunning, time.Time{}, ""
	}
	return c
}

// timelineLines draws the page in h lines of w columns.
func (m *screen) timelineLines(w, h int) []string {
	t := &m.timeline
	last := t.steps[len(t.steps)-1]
	now := t.steps[t.at]
	title := m.session.row.Title
	if title == "" {
		title = "this session"
	}
	left := " " + m.style.Title.Render("Timeline") + "  " + text.Cut(text.Line(title), max(w/3, 8), m.style.Glyphs.Ellipsis)
	place := fmt.Sprintf("seq %d of %d", now.seq, last.seq)
	if w >= 70 {
		place += "   view only, nothing is run"
	}
	lines := []string{text.Spread(left, m.style.Muted.Render("  "+place+" "), w, m.style.Glyphs.Ellipsis)}
	room := h - 2
	switch {
	case t.full:
		lines = append(lines, m.stateLines(w, room)...)
	case m.class() == wide:
		side := w / 2
		list, state := m.stepLines(side, room), m.stateLines(w-side-1, room)
		bar := m.style.Border.Render(m.style.Glyphs.Box.Left)
		for i := range list {
			lines = append(lines, text.Fit(list[i], side, "")+bar+state[i])
		}
	case room >= 12:
		list := room / 2
		lines = append(lines, m.stepLines(w, list)...)
		lines = append(lines, m.rule(w))
		lines = append(lines, m.stateLines(w, room-list-1)...)
	default:
		lines = append(lines, m.stepLines(w, room)...)
	}
	return pad(append(lines, m.timelineBar(w)), w, h)
}

// stepLines are the steps around the chosen one.
func (m *screen) stepLines(w, h int) []string {
	t := &m.timeline
	top := max(min(t.at-h/2, len(t.steps)-h), 0)
	lines := make([]string, 0, h)
	for i := top; i < min(top+h, len(t.steps)); i++ {
		s := t.steps[i]
		head := fmt.Sprintf("%s %4d %-9s", s.at.Local().Format("15:04:05"), s.seq, text.Line(s.kind))
		if w < 60 {
			head = fmt.Sprintf("%4d %-9s", s.seq, text.Line(s.kind))
		}
		kind := m.style.Muted
		switch {
		case strings.HasPrefix(s.kind, "turn"):
			kind = m.style.User
		case s.kind == "denied":
			kind = m.style.Warning
		}
		line := text.Spread(" "+kind.Render(head)+" "+text.Line(s.text), m.style.Muted.Render("  "+s.right+" "), w-1, m.style.Glyphs.Ellipsis)
		if i == t.at {
			line = m.style.Selection.Render(text.Fit(text.StripSGR(line), w-1, ""))
		}
		lines = append(lines, line)
	}
	return pad(lines, w, h)
}

// stateLines are the end of the conversation as it was at the step.
func (m *screen) stateLines(w, h int) []string {
	m.timeline.state.SetSize(w, h)
	return split(m.timeline.state.View(), w, h)
}

// timelineBar says where in the session the step is.
func (m *screen) timelineBar(w int) string {
	t := &m.timeline
	cells := max(w-4, 1)
	at := t.at * (cells - 1) / max(len(t.steps)-1, 1)
	var b strings.Builder
	for i := range cells {
		switch {
		case i == at:
			b.WriteString(m.style.Accent.Render(m.style.Glyphs.Cursor))
		case i%2 == 0:
			b.WriteString(m.style.Border.Render(m.style.Glyphs.Dot))
		default:
			b.WriteByte(' ')
		}
	}
	sign := m.style.Glyphs.Folded
	if t.playing {
		sign = m.style.Glyphs.Unfolded
	}
	return " " + sign + " " + b.String()
}
