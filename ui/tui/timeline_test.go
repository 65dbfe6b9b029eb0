package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/agent/model"
	"parley/agent/record"
	"parley/toolrt"
)

// past is a session of two turns with a decision, for the timeline.
func past() (*fakeBackend, *fakeChat) {
	b, chat := newBackend(), newChat("s1")
	chat.calls = append(chat.calls, entry(1))
	find := leaf(1, 0, "sys.find", `{"pattern":"**/*login*_test.go"}`, toolrt.StatusSuccess)
	remove := leaf(2, 0, "sys.remove", `{"location":"tmp/"}`, toolrt.StatusDenied)
	remove.Decision = &toolrt.Decision{By: "user", Note: "keep the cache", At: epoch.Add(5 * time.Second)}
	remove.Started, remove.Finished = time.Time{}, time.Time{}
	say := func(turn int, role model.Role, text string, calls ...record.Call) {
		chat.row.Turns = turn
		chat.message(role, text, calls...)
		last := &chat.msgs[len(chat.msgs)-1]
		last.Turn, last.Time, last.Seq = turn, epoch.Add(time.Duration(len(chat.msgs))*time.Second), int64(10*len(chat.msgs))
	}
	say(1, model.User, "Find out why login fails")
	say(1, model.Assistant, "I look.", find)
	say(2, model.User, "Clean up")
	say(2, model.Assistant, "I remove the cache.", remove)
	denied, err := json.Marshal(remove.Decision)
	if err != nil {
		panic(err)
	}
	chat.entries = map[int][]record.Entry{
		1: {{Key: record.Key{Turn: 1, Path: find.Path}, Seq: 25, Kind: record.EntryExecution, Finished: true, Started: epoch.Add(3 * time.Second)}},
		2: {{Key: record.Key{Turn: 2, Path: remove.Path}, Seq: 45, Kind: record.EntryApproval, Finished: true, Result: denied, Started: epoch.Add(5 * time.Second)}},
	}
	return b, chat
}

func TestTimeline(t *testing.T) {
	for _, size := range sizes {
		t.Run(fmt.Sprintf("%dx%d", size.w, size.h), func(t *testing.T) {
			b, chat := past()
			term := start(t, size.w, size.h, Options{Backend: b, Chat: chat})
			term.shows("I remove the cache.")
			term.typed("<esc><esc>")
			term.shows("Timeline", "seq 45 of 45", "denied")
			term.typed("<left><left><left>")
			term.shows("seq 25 of 45")
			term.golden(fmt.Sprintf("timeline_%dx%d", size.w, size.h))
			term.typed("[")
			term.shows("seq 10 of 45")
			term.typed("]")
			term.shows("seq 30 of 45")
			term.typed("D")
			term.shows("Since seq 30", "1 denied")
			term.typed("<esc>")
			term.shows("seq 30 of 45")
			term.typed("q")
			term.hides("Timeline")
		})
	}
}

// A fork goes on in the copy, and the state shown is that of the step.
func TestTimelineFork(t *testing.T) {
	b, chat := past()
	copied := newChat("copy")
	copied.row.Draft = "Clean up"
	term := start(t, 120, 36, Options{Backend: forking{b, copied}, Chat: chat})
	term.shows("I remove the cache.")
	term.typed("/timeline<enter>")
	term.shows("seq 45 of 45")
	term.typed("<left><left>")
	term.until("the state without what was not said yet", func() bool { return strings.Count(term.text(), "I remove the cache.") == 1 })
	term.typed("f")
	term.shows("❯ Clean up")
	term.until("the end of the first session", func() bool { chat.mu.Lock(); defer chat.mu.Unlock(); return chat.closed })
}

// forking is a backend whose forks are a chat of the test.
type forking struct {
	*fakeBackend
	copy *fakeChat
}

func (f forking) Fork(context.Context, string, int64) (Chat, error) { return f.copy, nil }
