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
	burstKeys  = 24                     // so many keys in a row make a burst
	burstQuiet = 40 * time.Millisecond  // ends it
	burstEnter = 150 * time.Millisecond // after a key, an Enter waits for burstQuiet to see whether more follows
)

// Gap is the longest time between two keys of a paste. Nobody types so fast, and no key repeats so fast.
const Gap = 12 * time.Millisecond

// The times are those at which keys are handled, not those at which they came: on a busy machine
// the keys of a paste are handled further apart. So an Enter waits after a gap that is long enough
// for a typist, too, who does not notice burstQuiet; and a burst ends only when no key came between
// two ticks that go through the same queue as the keys.

type burst struct {
	last time.Time // of the last key
	run  int       // keys in a row
	text strings.Builder
	on   bool
	sure bool // a paste, whatever its end
	tag  int
}

// burstOver says that burstQuiet went by after the burst's tag; again for the second time.
type burstOver struct {
	tag   int
	again bool
}

// Entered says that an Enter which had to wait for the end of a burst sends.
type Entered struct{}

// Burst takes a key that is part of a burst. What it does not take is to be handled as usual. The
// owner passes its clock and whether it knows that the key is part of a paste, runs the command in
// any case, and gives its message to Update.
func (m *Model) Burst(msg tea.KeyPressMsg, now time.Time, pasted bool) (tea.Cmd, bool) {
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
	if gap > Gap && !(enter && gap < burstEnter) {
		b.run = 0
	}
	b.run++
	if !b.on && !pasted && b.run < burstKeys && (!enter || b.run == 1) {
		return nil, false
	}
	b.sure = b.sure || pasted
	b.text.WriteString(text)
	b.tag++
	if b.on {
		return nil, true // the tick that runs starts the next one
	}
	b.on = true
	return burstTick(burstOver{tag: b.tag}), true
}

func burstTick(over burstOver) tea.Cmd {
	return tea.Tick(burstQuiet/2, func(time.Time) tea.Msg { return over })
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

// endBurst puts the collected keys in when nothing came since the first of two ticks was started,
// else waits on.
func (m *Model) endBurst(over burstOver) tea.Cmd {
	b := &m.burst
	switch {
	case !b.on:
		return nil
	case over.tag != b.tag:
		return burstTick(burstOver{tag: b.tag})
	case !over.again:
		return burstTick(burstOver{tag: b.tag, again: true})
	}
	return m.flushBurst()
}

func (m *Model) flushBurst() tea.Cmd {
	b := &m.burst
	text := Lines(b.text.String())
	sure := b.sure
	b.text.Reset()
	b.on, b.run, b.sure = false, 0, false
	rest, ended := strings.CutSuffix(text, "\n")
	if ended && !sure && !strings.Contains(rest, "\n") {
		m.Paste(rest)
		return func() tea.Msg { return Entered{} }
	}
	m.Paste(text)
	return nil
}
