package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"parley/toolrt"
	"parley/ui/tui/keymap"
	"parley/ui/tui/text"
	"parley/ui/tui/transcript"
)

// playEvery is how long each step is shown while the timeline plays.
const playEvery = 700 * time.Millisecond

// playDue is the time for the next step.
type playDue struct{ tag int }

func (p playDue) apply(m *screen) tea.Cmd {
	t := &m.timeline
	if !t.playing || p.tag != t.tag || m.page != pageTimeline {
		return nil
	}
	t.at++
	m.timelineMoved()
	if t.at == len(t.steps)-1 {
		t.playing = false
		return nil
	}
	return m.tasks.after(playEvery, playDue{t.tag})
}

// timelineKey takes a key on the timeline's page.
func (m *screen) timelineKey(msg tea.KeyPressMsg) tea.Cmd {
	t := &m.timeline
	a := m.keys.Find(keymap.Timeline, msg)
	if a != keymap.TimePlay {
		t.playing = false
	}
	switch a {
	case keymap.TimeBack:
		t.at--
	case keymap.TimeOn:
		t.at++
	case keymap.TimePrevTurn:
		t.turn(-1)
	case keymap.TimeNextTurn:
		t.turn(1)
	case keymap.TimeFirst:
		t.at = 0
	case keymap.TimeLast:
		t.at = len(t.steps) - 1
	case keymap.TimeShow:
		t.full = !t.full
		return nil
	case keymap.TimeFork:
		return m.fork(m.session.row.ID, t.steps[t.at].seq)
	case keymap.TimeDiff:
		m.read(reader{title: fmt.Sprintf("Since seq %d", t.steps[t.at].seq), body: t.since()})
		m.reader.back = pageTimeline
		return nil
	case keymap.TimePlay:
		t.playing = !t.playing
		if !t.playing || t.at == len(t.steps)-1 && len(t.steps) == 1 {
			return nil
		}
		if t.at == len(t.steps)-1 {
			t.at = 0
		}
		t.tag++
		m.timelineMoved()
		return m.tasks.after(playEvery, playDue{t.tag})
	case keymap.TimeNow:
		m.page = pageChat
		return m.rearm()
	default:
		if k := m.keys.Find(keymap.Global, msg); k == keymap.PageUp || k == keymap.PageDown {
			t.state.Page(map[keymap.Action]int{keymap.PageUp: -1, keymap.PageDown: 1}[k])
		}
		return nil
	}
	m.timelineMoved()
	return nil
}

// turn goes to the beginning of the turn before or after.
func (t *timeline) turn(dir int) {
	for i := t.at + dir; i >= 0 && i < len(t.steps); i += dir {
		if i == 0 || strings.HasPrefix(t.steps[i].kind, "turn") {
			t.at = i
			return
		}
	}
	if dir > 0 {
		t.at = len(t.steps) - 1
	}
}

// since says what has happened after the step.
func (t *timeline) since() string {
	from := t.steps[t.at]
	turns, replies, ran, denied := 0, 0, 0, 0
	var lines []string
	for _, s := range t.steps[t.at+1:] {
		switch {
		case strings.HasPrefix(s.kind, "turn"):
			turns++
		case s.kind == "reply":
			replies++
		case s.kind == "call":
			ran++
		case s.kind == "denied":
			denied++
		}
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%s %4d %-9s %s  %s", s.at.Local().Format("15:04:05"), s.seq, s.kind, text.Line(s.text), s.right), " "))
	}
	head := fmt.Sprintf("%s, %s, %s, %d denied after seq %d.", count(turns, "turn"), strings.Replace(count(replies, "reply"), "replys", "replies", 1), count(ran, "call"), denied, from.seq)
	if len(lines) == 0 {
		return "Nothing has happened since: this is the end."
	}
	changed := t.changes(from.at)
	if changed != "" {
		changed = "\n\nCalls that may have changed something since:\n" + changed
	}
	return head + changed + "\n\n" + strings.Join(lines, "\n")
}

// changes lists the calls that ran after a time and were asked for: they may have changed something.
func (t *timeline) changes(since time.Time) string {
	var b strings.Builder
	for _, c := range t.calls {
		if c.Started.After(since) && !c.Agent && c.Category == "" && c.Decision != nil && c.Decision.By != "mode" && c.Decision.By != "safe" && c.Status != toolrt.StatusDenied {
			fmt.Fprintf(&b, "  %-4s turn %d  %s\n", transcript.Word(c), c.Turn, transcript.Title(c))
		}
	}
	return strings.TrimRight(b.String(), "\n")
}
