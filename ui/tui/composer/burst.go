package composer

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Terminals without bracketed paste send a paste as keys, faster than anyone types. Such keys are
// collected and put in as one paste, so that a line end in the middle does not send half of it
// (I-01). A line end at the very end of a burst without another one still sends, as a script that
// types a message and Enter expects.
const (
	burstGap   = 12 * time.Millisecond // between two keys of a burst, at most; nobody types so fast
	burstKeys  = 24                    // so many keys in a row make a burst
	burstQuiet = 40 * time.Millisecond // ends it
)

type burst struct {
	last time.Time // of the last key
	run  int       // keys in a row
	text strings.Builder
	on   bool
	tag  int
}

// burstOver says that no key came for burstQuiet after the burst's tag.
type burstOver struct{ tag int }

// Entered says that an Enter which had to wait for the end of a burst sends.
type Entered struct{}

// Burst takes a key that is part of a burst. What it does not take is to be handled as usual. The
// owner passes its clock, runs the command in any case, and gives its message to Update.
func (m *Model) Burst(msg tea.KeyPressMsg, now time.Time) (tea.Cmd, bool) {
	text, enter := burstText(msg)
	b := &m.burst
	gap := now.Sub(b.last)
	b.last = now
	if text == "" {
		b.run = 0
		if b.on {
			return m.flushBurst(), false
		}
		return nil, false
	}
	if gap > burstGap {
		b.run = 0
	}
	b.run++
	if !b.on && b.run < burstKeys && (!enter || b.run == 1) {
		return nil, false
	}
	b.text.WriteString(text)
	b.tag++
	if b.on {
		return nil, true // the tick that runs starts the next one
	}
	b.on = true
	return burstTick(b.tag), true
}

func burstTick(tag int) tea.Cmd {
	return tea.Tick(burstQuiet, func(time.Time) tea.Msg { return burstOver{tag} })
}

// burstText is the text of a key that a paste may hold, and whether it is an Enter.
func burstText(msg tea.KeyPressMsg) (text string, enter bool) {
	switch k := msg.String(); k {
	case "enter":
		return "\r", true
	case "ctrl+j":
		return "\n", false
	case "tab":
		return "\t", false
	}
	return msg.Text, false
}

// endBurst puts the collected keys in when nothing came since the tick was started, else waits on.
func (m *Model) endBurst(tag int) tea.Cmd {
	b := &m.burst
	if !b.on {
		return nil
	}
	if tag != b.tag {
		return burstTick(b.tag)
	}
	return m.flushBurst()
}

func (m *Model) flushBurst() tea.Cmd {
	b := &m.burst
	text := Lines(b.text.String())
	b.text.Reset()
	b.on, b.run = false, 0
	rest, ended := strings.CutSuffix(text, "\n")
	if ended && !strings.Contains(rest, "\n") {
		m.Paste(rest)
		return func() tea.Msg { return Entered{} }
	}
	m.Paste(text)
	return nil
}
