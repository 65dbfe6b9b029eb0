package monitor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func piece(path, text string) Event {
	return Event{Type: CallProgress, Path: path, ChatCompletionID: path + "#1",
		Delta: &Delta{Kind: PieceText, Text: text, Conversation: path}}
}

// drain reads all that comes until the hub is closed.
func drain(t *testing.T, r *Reader) []Event {
	t.Helper()
	var all []Event
	for {
		events, err := r.Next(t.Context())
		all = append(all, events...)
		if errors.Is(err, ErrClosed) {
			return all
		}
		if err != nil {
			t.Error(err)
			return all
		}
	}
}

// Lifecycle events are never dropped and stay in order, pieces are joined without losing any, and
// nobody waits for a reader that does not read.
func TestNothingIsLost(t *testing.T) {
	var h Hub
	slow, fast := h.Subscribe(), h.Subscribe()
	var got []Event
	var wait sync.WaitGroup
	wait.Go(func() { got = drain(t, fast) })
	want := ""
	for i := range 1000 {
		h.Event(Event{Type: CallStart, Path: fmt.Sprint(i)})
		for j := range 20 {
			text := fmt.Sprintf("%d.%d ", i, j)
			h.Event(piece("p", text))
			want += text
		}
	}
	h.Close()
	wait.Wait()
	check(t, got, want)
	late := drain(t, slow)
	check(t, late, want)
	if len(late) != 2000 {
		t.Errorf("the slow reader got %d events: neighbouring pieces were not joined", len(late))
	}
	if events, err := h.Subscribe().Next(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("a reader of a closed hub got %v, %v", events, err)
	}
}

func check(t *testing.T, events []Event, want string) {
	t.Helper()
	n, text := 0, ""
	for _, e := range events {
		switch e.Type {
		case CallStart:
			if e.Path != fmt.Sprint(n) {
				t.Fatalf("event %d is %s", n, e.Path)
			}
			n++
		case CallProgress:
			text += e.Delta.Text
		}
	}
	if n != 1000 || text != want {
		t.Errorf("%d lifecycle events and %d bytes of text: want 1000 and %d", n, len(text), len(want))
	}
}

// Pieces of different calls, kinds or replies are kept apart, and so is a piece that voids what was
// streamed.
func TestPiecesKeptApart(t *testing.T) {
	var h Hub
	r := h.Subscribe()
	output, void, named := piece("a", "3"), piece("a", "4"), piece("a", "5")
	output.Delta.Kind, void.Delta.Kind, named.Delta.Name = PieceOutput, PieceVoid, "tool"
	for _, e := range []Event{piece("a", "1"), piece("b", "2"), output, void, named} {
		h.Event(e)
	}
	h.Close()
	if got := drain(t, r); len(got) != 5 {
		t.Errorf("%d events: want 5", len(got))
	}
}

func TestNextEndsWithItsContext(t *testing.T) {
	var h Hub
	r := h.Subscribe()
	defer r.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// The event format has the whole text so far; it is built where the stream is written, a line an
// event, and ends with the last piece.
func TestStreamWritesTheWholeText(t *testing.T) {
	var h Hub
	r := h.Subscribe()
	call := piece("a", `{"x":1}`)
	call.Delta.Kind, call.Delta.Name = PieceCall, "tool"
	for _, e := range []Event{{Type: CallStart, Path: "a"}, piece("a", "hel"), piece("a", "lo"), call, {Type: Notice, Text: "ours"},
		{Type: RowsChanged}, {Type: CallFinish, Path: "a", Content: "hello"}} {
		h.Event(e)
	}
	h.Close()
	var out bytes.Buffer
	s := Stream{W: &out, Separator: "\n"}
	if err := s.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	var types []string
	last := ""
	for line := range strings.Lines(out.String()) {
		var e Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		types = append(types, string(e.Type))
		if e.Type == CallProgress {
			last = e.Content
		}
	}
	if got, want := strings.Join(types, " "), "callStart callProgress callFinish"; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
	if want := "hello\n<tool call> tool -> {\"x\":1}"; last != want {
		t.Errorf("progress %q, want %q", last, want)
	}
}

// What a stream writes grows with the text, not with its square.
func BenchmarkStream(b *testing.B) {
	for _, n := range []int{2000, 20000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				var h Hub
				r := h.Subscribe()
				for range n {
					h.Event(piece("a", "word "))
				}
				h.Close()
				var out bytes.Buffer
				s := Stream{W: &out, Separator: "\n"}
				if err := s.Run(context.Background(), r); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(out.Len())/float64(5*n), "written/text")
			}
		})
	}
}
