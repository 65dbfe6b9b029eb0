package tui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"parley/agent/model"
	"parley/agent/monitor"
	"parley/agent/record"
	"parley/themes"
	"parley/toolrt"
)

// Sizes come and go while a reply streams, with each dialog open; afterwards all is right.
func TestR01ResizeStorm(t *testing.T) {
	for _, dialog := range []string{"none", "approval", "credential", "panel", "help", "picker"} {
		t.Run(dialog, func(t *testing.T) {
			b, chat := newBackend(), newChat("s1")
			hold := make(chan struct{})
			chat.turn = held(hold)
			q := NewQuestions()
			term := start(t, 120, 40, Options{Backend: b, Chat: chat, Questions: q})
			term.shows("@planner")
			term.typed("go<enter>")
			term.shows("thinking about go")
			switch dialog {
			case "approval":
				ask(t, q, approval("q1", "3", "github.create_issue"))
				term.shows("1 ask")
			case "credential":
				go func() { _, _ = q.Prompt(t.Context(), credential("q1")) }()
				term.shows("1 ask")
			case "panel":
				term.typed("<ctrl+t><ctrl+t>")
			case "help":
				term.typed("?")
				term.shows("Keys and commands")
			case "picker":
				term.typed("/resume<enter>")
				term.shows("Sessions")
			}
			for i, s := range []struct{ w, h int }{{1, 1}, {2, 1}, {1, 200}, {200, 2}, {20, 5}, {40, 12}, {120, 40}} {
				chat.piece(fmt.Sprintf(" piece%d", i))
				term.resize(s.w, s.h)
			}
			if dialog == "help" || dialog == "picker" {
				term.typed("<esc>")
			}
			term.shows("thinking about go piece0 piece1 piece2 piece3 piece4 piece5 piece6", "@planner")
			close(hold)
			term.shows("done with go")
		})
	}
}

func TestR01StartTiny(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	term := start(t, 1, 1, Options{Backend: b, Chat: chat})
	term.until("a drawing", func() bool { return term.count() > 0 })
	term.resize(12, 3)
	term.shows("too small")
	term.resize(80, 24)
	term.shows("@planner", "login-bug")
}

// Each message is there once after a storm of widths.
func TestR02EachMessageOnce(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	for i := range 300 {
		chat.message(model.User, fmt.Sprintf("message number %d end", i))
	}
	term := start(t, 200, 50, Options{Backend: b, Chat: chat})
	term.shows("message number 299 end")
	for _, w := range []int{70, 200, 70, 200, 70, 200} {
		term.resize(w, 50)
	}
	term.shows("message number 299 end")
	term.until("each message once", func() bool {
		s := term.text()
		for i := 290; i < 300; i++ {
			if strings.Count(s, fmt.Sprintf("message number %d end", i)) != 1 {
				return false
			}
		}
		return true
	})
}

// Nothing clears the screen while a reply streams, and a frame costs what it shows.
func TestR13StreamingIsCheap(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	for i := range 300 {
		chat.message(model.User, fmt.Sprintf("message number %d", i))
	}
	hold := make(chan struct{})
	chat.turn = held(hold)
	term := start(t, 120, 40, Options{Backend: b, Chat: chat})
	term.shows("message number 299")
	term.typed("go<enter>")
	term.shows("thinking about go")
	from := len(term.output())
	for i := range 1000 {
		chat.piece(fmt.Sprintf(" token%d", i))
		if i%10 == 0 {
			time.Sleep(time.Millisecond) // a stream comes over time
		}
	}
	term.shows("token999")
	out := term.output()[from:]
	if strings.Contains(out, "\x1b[2J") || strings.Contains(out, "\x1b[3J") {
		t.Error("the screen was cleared while streaming")
	}
	if n := len(out); n > 400_000 {
		t.Errorf("%d bytes for 1,000 tokens", n)
	}
	close(hold)
	term.shows("done with go")
}

// The terminal's cursor is the caret in every frame, also while a reply streams (I-06).
func TestI06CursorIsTheCaret(t *testing.T) {
	b, chat := newBackend(), newChat("s1")
	hold := make(chan struct{})
	defer close(hold)
	chat.turn = held(hold)
	term := start(t, 80, 24, Options{Backend: b, Chat: chat})
	term.shows("@planner")
	term.typed("go<enter>")
	term.shows("thinking about go")
	term.typed("둘째<ctrl+j>한글 줄<up>")
	prefix := ansi.StringWidth("│ @planner ❯ ")
	x := prefix + 4
	for _, r := range "가나다" {
		chat.piece(" more")
		term.typed(string(r))
		x += 2
		want := x
		term.until(fmt.Sprintf("the cursor behind %c", r), func() bool {
			p := term.em.CursorPosition()
			return p.X == want && p.Y == 20 && !term.em.CursorHidden()
		})
	}
}

// Whatever happens in whatever order at whatever size: no line is wider than the terminal, the
// screen has its height, the cursor is inside, and nothing panics.
func TestRandomEventsKeysAndSizes(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { randomWalk(t, rand.New(rand.NewPCG(seed, 7))) })
	}
}

func randomWalk(t *testing.T, rnd *rand.Rand) {
	b, chat := newBackend(), newChat("s1")
	b.sessions, b.greeting = sessions(), "Hello\nthere"
	theme, err := themes.Load(themes.Default, "")
	if err != nil {
		t.Fatal(err)
	}
	now := epoch
	o := Options{Backend: b, Chat: chat, Theme: theme, Now: func() time.Time { return now }, ASCII: rnd.IntN(2) == 0}.withDefaults()
	tk := &tasks{ctx: t.Context()}
	m := newScreen(o, tk)
	m.typedAt = func() time.Time { now = now.Add(time.Second); return now }
	m.adopt(chat)
	keys := []string{"enter", "tab", "esc", "up", "down", "left", "right", "ctrl+t", "ctrl+o", "ctrl+c", "ctrl+r", "ctrl+j", "ctrl+u", "shift+tab",
		"pgup", "pgdown", "a", "y", "n", "r", "v", "b", "e", "/", "?", "[", "]", "j", "k", "h", "l", "x", "f", ".", "1", "2", "3", "4", "漢", "G", "g", " ", "ctrl+x", "ctrl+p",
		"Y", "N", "D", "p", "@", "{", "}", "s", "m", "R", "q"}
	_, told := past()
	steps, err := readTimeline(t.Context(), told, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 250 {
		switch rnd.IntN(10) {
		case 0:
			m.Update(tea.WindowSizeMsg{Width: rnd.IntN(150), Height: rnd.IntN(50)})
		case 1:
			randomEvent(rnd, chat, i)
			if events := drain(m); len(events.events) > 0 {
				m.Update(events)
			}
		case 2:
			var open []*question
			for n := range rnd.IntN(4) {
				a := approval(fmt.Sprintf("q%d", rnd.IntN(6)), fmt.Sprint(n), "tool")
				open = append(open, &question{id: a.ID, approval: &a, answer: make(chan any, 1)})
				if rnd.IntN(3) == 0 {
					c := credential(fmt.Sprintf("c%d", rnd.IntN(6)))
					open = append(open, &question{id: c.ID, input: &c, answer: make(chan any, 1)})
				}
			}
			m.Update(questionsCame{open})
		case 3:
			m.Update(armDueFor(m))
		case 4:
			randomPage(rnd, m, steps)
			m.stale = true
		case 5:
			m.Update(tea.PasteMsg{Content: strings.Repeat("pasted\t\x1b[31m\u202e text\n", rnd.IntN(12))})
		default:
			send := pressed(keys[rnd.IntN(len(keys))])
			_, cmd := m.Update(send)
			follow(m, cmd, rnd)
		}
		checkScreen(t, m)
	}
}

// randomPage opens what commands and the answers to them open.
func randomPage(rnd *rand.Rand, m *screen, steps timeline) {
	hostile := "\x1b]52;c;aGk=\a 漢字 \u202e" + strings.Repeat("long ", 60)
	switch rnd.IntN(8) {
	case 0:
		m.palette()
	case 1:
		m.openBatch()
	case 2:
		m.read(reader{title: hostile, body: m.clean(strings.Repeat(hostile+"\n", 30))})
	case 3:
		m.Update(timelineRead{gen(m.session.gen), steps, nil})
	case 4:
		m.suggest.token = "@x"
		m.Update(filesFound{m.suggest.tag, []item{{value: hostile, detail: hostile}, {value: "b"}}})
	case 5:
		m.leader.on, m.leader.menu = true, true
	case 6:
		m.showHelp()
	default:
		m.showPicker("")
		m.Update(sessionsListed{tag: 0, list: sessions()})
	}
}

func armDueFor(m *screen) armDue { return armDue{m.asking.tag} }

// follow gives the messages of dialogs back, as the program would; commands that wait are left.
func follow(m *screen, cmd tea.Cmd, rnd *rand.Rand) {
	_ = rnd
	if len(m.asking.prompts) > 0 && m.asking.armed && cmd != nil && m.page == pageChat {
		done := make(chan tea.Msg, 1)
		go func() { done <- cmd() }()
		select {
		case msg := <-done:
			if _, batch := msg.(tea.BatchMsg); msg != nil && !batch {
				m.Update(msg)
			}
		case <-time.After(time.Millisecond):
		}
	}
}

func drain(m *screen) eventsCame {
	e := eventsCame{gen: gen(m.session.gen)}
	if msg, ok := m.waitEvents()().(eventsCame); ok {
		e = msg
	}
	return e
}

func randomEvent(rnd *rand.Rand, chat *fakeChat, i int) {
	hostile := "\x1b]52;c;aGk=\a\x1b[2J\x9b31m\u202eabc\a\x1b]0;title\x07 漢字 end"
	switch rnd.IntN(4) {
	case 0:
		chat.piece(hostile)
	case 1:
		chat.message(model.User, hostile)
	case 2:
		chat.message(model.Assistant, hostile, leaf(9, 1000+i, "sys.exec", hostile, toolrt.StatusRunning))
	default:
		c := leaf(9, rnd.IntN(i+1), "tool"+hostile, `{"a":"`+hostile+`"}`, toolrt.StatusFailed)
		c.Result = hostile
		chat.put(c)
	}
}

func pressed(name string) tea.KeyPressMsg {
	special := map[string]rune{"enter": tea.KeyEnter, "tab": tea.KeyTab, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown,
		"left": tea.KeyLeft, "right": tea.KeyRight, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown}
	if code, ok := special[name]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	if rest, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(rest[0]), Mod: tea.ModCtrl}
	}
	if name == "shift+tab" {
		return tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
	}
	r := []rune(name)[0]
	return tea.KeyPressMsg{Code: r, Text: name}
}

func checkScreen(t *testing.T, m *screen) {
	t.Helper()
	v := m.View()
	m.stale, m.drawnChat = true, chatCache{}
	m.panel.SetStyle(m.style)
	if again := m.View(); again.Content != v.Content {
		t.Fatalf("a redraw is another picture on %dx%d (page %d, focus %d):\n%s\nthen:\n%s", m.w, m.h, m.page, m.focus, v.Content, again.Content)
	}
	if !m.sized || m.w == 0 || m.h == 0 {
		return
	}
	lines := strings.Split(v.Content, "\n")
	if len(lines) != m.h {
		t.Fatalf("%d lines on %dx%d", len(lines), m.w, m.h)
	}
	for i, l := range lines {
		if w := ansi.StringWidth(l); w > m.w {
			t.Fatalf("line %d has %d columns on %dx%d (page %d, focus %d): %q", i, w, m.w, m.h, m.page, m.focus, l)
		}
		for _, bad := range []string{"\x1b]52", "\x1b]0", "\x1b[2J", "\a", "\u202e", "\u009b"} {
			if strings.Contains(l, bad) {
				t.Fatalf("%q reached the terminal: %q", bad, l)
			}
		}
	}
	if c := v.Cursor; c != nil && (c.X < 0 || c.X >= m.w || c.Y < 0 || c.Y >= m.h) {
		t.Fatalf("cursor at %d,%d on %dx%d", c.X, c.Y, m.w, m.h)
	}
}

// BenchmarkKey is a key and the frame after it, with 300 messages and 200 calls on a screen of
// 120x40. A frame has 8 ms at 120 a second; the key should take less than a tenth of that.
func BenchmarkKey(b *testing.B) {
	m := loaded(b)
	b.ReportAllocs()
	for i := range b.N {
		name := "a"
		if i%2 == 1 {
			name = "backspace"
		}
		msg := tea.KeyPressMsg{Code: 'a', Text: "a"}
		if name == "backspace" {
			msg = tea.KeyPressMsg{Code: tea.KeyBackspace}
		}
		m.Update(msg)
		_ = m.View()
	}
}

// BenchmarkPiece is a piece of a reply and the frame after it.
func BenchmarkPiece(b *testing.B) {
	m := loaded(b)
	b.ReportAllocs()
	for i := range b.N {
		if i%500 == 0 { // replies end
			m.transcript.Reset(nil, nil)
		}
		m.Update(eventsCame{gen(m.session.gen), []monitor.Event{{Type: monitor.CallProgress, Path: "0", Delta: &monitor.Delta{
			Kind: monitor.PieceText, Text: "four words and more. ", Conversation: "0", Index: 1000 + i/500, Shown: true, Agent: "planner",
		}}}})
		_ = m.View()
	}
}

func loaded(b *testing.B) *screen {
	backend, chat := newBackend(), newChat("s1")
	chat.calls = append(chat.calls, entry(1))
	for i := range 300 {
		chat.row.Turns = i
		var calls []record.Call
		if i%3 == 0 {
			calls = []record.Call{leaf(i, 0, "sys.read", `{"filename":"a.go"}`, toolrt.StatusSuccess), leaf(i, 1, "sys.exec", `{"command":"go test"}`, toolrt.StatusSuccess)}
		}
		chat.message(model.Assistant, fmt.Sprintf("message number %d with **some** words", i), calls...)
	}
	theme, err := themes.Load(themes.Default, "")
	if err != nil {
		b.Fatal(err)
	}
	m := newScreen(Options{Backend: backend, Chat: chat, Theme: theme}.withDefaults(), &tasks{ctx: b.Context()})
	at := epoch
	m.typedAt = func() time.Time { at = at.Add(time.Second); return at }
	m.adopt(chat)
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	m.Update(m.loadShown(0)())
	_ = m.View()
	return m
}

// After any events at any sizes, the session opened again shows the same (design, "Checked").
func TestOpenedAgainShowsTheSame(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 11))
			b, chat := newBackend(), newChat("s1")
			theme, err := themes.Load(themes.Default, "")
			if err != nil {
				t.Fatal(err)
			}
			o := Options{Backend: b, Chat: chat, Theme: theme, Now: func() time.Time { return epoch }}.withDefaults()
			open := func(w, h int) *screen {
				m := newScreen(o, &tasks{ctx: t.Context()})
				m.adopt(chat)
				m.Update(tea.WindowSizeMsg{Width: w, Height: h})
				m.Update(m.loadShown(0)())
				return m
			}
			m := open(80, 24)
			for i := range 120 {
				switch rnd.IntN(4) {
				case 0:
					m.Update(tea.WindowSizeMsg{Width: 20 + rnd.IntN(130), Height: 5 + rnd.IntN(45)})
				case 1:
					m.Update(pressed([]string{"pgup", "pgdown"}[rnd.IntN(2)]))
				default:
					randomEvent(rnd, chat, i)
					if events := drain(m); len(events.events) > 0 {
						m.Update(events)
					}
				}
				checkScreen(t, m)
			}
			chat.message(model.Assistant, "the end") // what was only streamed is in no store
			m.Update(drain(m))
			w, h := 40+rnd.IntN(100), 12+rnd.IntN(30)
			m.Update(tea.WindowSizeMsg{Width: w, Height: h})
			m.transcript.End()
			m.stale = true
			again := open(w, h)
			if live, stored := m.View().Content, again.View().Content; live != stored {
				t.Errorf("on %dx%d the live screen is\n%s\nopened again it is\n%s", w, h, live, stored)
			}
		})
	}
}
