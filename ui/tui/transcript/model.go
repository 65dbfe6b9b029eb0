// Package transcript shows a conversation: messages with the calls made in them as a tree, and
// notices. It is built of blocks that keep their drawn lines, and a frame joins only the lines in
// view, so that neither its time nor its memory grows with the length of a session.
//
// Blocks are made from stored rows by one path, whether the rows come with live events ([Model.Apply])
// or from the store ([Model.Reset]): a session opened again shows the same cells.
package transcript

import (
	"time"

	"parley/agent/monitor"
	"parley/agent/record"
	"parley/ui/tui/style"
)

// Model is the conversation. It is used from Bubble Tea's Update and View only: not safe for
// concurrent use.
type Model struct {
	style    *style.Set
	w, h     int
	complete bool
}

// New returns an empty conversation.
func New(s *style.Set) *Model { return &Model{style: s} }

// SetSize sets the size of the view in cells.
func (m *Model) SetSize(w, h int) { m.w, m.h = max(w, 0), max(h, 0) }

// SetStyle changes what the conversation is drawn with.
func (m *Model) SetStyle(s *style.Set) { m.style = s }

// Reset shows another conversation: the newest messages, oldest first, with the calls made in them
// and below. The view is at the end.
func (m *Model) Reset(msgs []record.Message, calls []record.Call) {}

// Prepend adds older messages, oldest first, with their calls. The view stays where it is.
func (m *Model) Prepend(msgs []record.Message, calls []record.Call) {}

// WantsOlder reports that the view is near the oldest message and that older ones may exist:
// those before seq are wanted. It is false while [Model.SetComplete] holds.
func (m *Model) WantsOlder() (before int64, ok bool) { return 0, false }

// SetComplete says that there are no older messages.
func (m *Model) SetComplete() { m.complete = true }

// WantsInner lists unfolded agent calls whose conversation is not known yet; see [Model.SetInner].
func (m *Model) WantsInner() []string { return nil }

// SetInner gives the conversation inside an agent's call.
func (m *Model) SetInner(path string, msgs []record.Message) {}

// Apply takes live events: pieces of text and output, and committed rows.
func (m *Model) Apply(events []monitor.Event) {}

// Tick sets the time that running calls are measured to.
func (m *Model) Tick(now time.Time) {}

// Running reports whether something on view changes with time.
func (m *Model) Running() bool { return false }

// Scroll moves the view by lines, negative towards the beginning.
func (m *Model) Scroll(lines int) {}

// Page moves the view by a page in direction dir.
func (m *Model) Page(dir int) {}

// Home moves the view to the oldest loaded line.
func (m *Model) Home() {}

// End moves the view to the newest line and follows it.
func (m *Model) End() {}

// Following reports whether the view stays at the newest line.
func (m *Model) Following() bool { return true }

// Below counts the lines that have come below the view since it was scrolled up.
func (m *Model) Below() int { return 0 }

// ToggleDetails unfolds the details of all calls, or folds them again.
func (m *Model) ToggleDetails() {}

// Focus marks a block as selected, the newest in view if none is.
func (m *Model) Focus() {}

// Blur takes the selection mark away.
func (m *Model) Blur() {}

// Move moves the selection by one message, call or code block.
func (m *Model) Move(dir int) {}

// ToggleSelected folds or unfolds the selected call.
func (m *Model) ToggleSelected() {}

// NextUser selects the next message of the person in direction dir.
func (m *Model) NextUser(dir int) {}

// SelectedPath is the path of the selected call, "" when none is selected.
func (m *Model) SelectedPath() string { return "" }

// Select selects a call and shows it; false when it is not loaded.
func (m *Model) Select(path string) bool { return false }

// Copy returns the source text of what is selected: a message, a code block as the model wrote it,
// or a call's result.
func (m *Model) Copy() string { return "" }

// Search looks for text, ignoring case, from the view upwards, and returns how many blocks hold
// it. An empty text ends the search.
func (m *Model) Search(q string) int { return 0 }

// SearchNext goes to the next (+1: newer, -1: older) block that holds the text.
func (m *Model) SearchNext(dir int) {}

// View draws exactly the height given with SetSize, each line at most its width. It is "" when
// either is 0.
func (m *Model) View() string { return "" }
