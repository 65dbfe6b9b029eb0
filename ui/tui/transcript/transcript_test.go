package transcript

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/agent/model"
	"parley/agent/monitor"
	"parley/agent/record"
	"parley/toolrt"
	"parley/ui/tui/style"
)

var update = flag.Bool("update", false, "rewrite the golden screens")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got+"\n" != string(want) {
		t.Errorf("%s:\n%s\nwant:\n%s", name, got, want)
	}
}

func TestScreens(t *testing.T) {
	for _, size := range []struct{ w, h int }{{40, 30}, {80, 26}, {120, 24}} {
		m := New(plainSet(t))
		m.SetSize(size.w, size.h)
		m.Reset(loginBug())
		m.Tick(at(10.8))
		m.Apply([]monitor.Event{
			{Type: monitor.CallProgress, Path: "0/1.1", Delta: &monitor.Delta{Kind: monitor.PieceText, Conversation: "0/1.1", Index: 1, Agent: "tester", Text: "The token clock is frozen in the test but not in the code under test."}},
			{Type: monitor.CallProgress, Path: "0/1.1/1.1", Delta: &monitor.Delta{Kind: monitor.PieceOutput, Text: "=== RUN TestLogin\n\x1b[31m--- FAIL: TestLogin (0.02s)\x1b[0m\n\x1b[2J"}},
		})
		golden(t, fmt.Sprintf("login-%d", size.w), screen(t, m, size.w, size.h))
		m.ToggleDetails()
		golden(t, fmt.Sprintf("details-%d", size.w), screen(t, m, size.w, size.h))
	}
}

func TestEndings(t *testing.T) {
	m := New(plainSet(t))
	m.SetSize(80, 30)
	aborted := reply(2, 1, 1, "I began to")
	aborted.Message.Aborted = true
	aborted.Message.Reasoning = []model.Reasoning{{Text: "The person wants\nthe tests."}}
	bad := reply(4, 3, 2, "", "a:exec:{\"command\":\"false\"}", "b:remove:{\"path\":\"tmp/\"}", "c:nothing:{}", "d:exec:sleep 9", "e:exec:x")
	failed := call("0/2.0", entry, 2, 0, "a", "1", "sys.exec", `{"command":"false"}`, toolrt.StatusFailed)
	code := 1
	failed.ExitCode, failed.Result = &code, "\n\x1b[31mERROR:\x1b[0m exit status 1\nmore"
	denied := call("0/2.1", entry, 2, 1, "b", "2", "sys.remove", `{"path":"tmp/"}`, toolrt.StatusDenied)
	denied.Decision = &toolrt.Decision{By: "user", Note: "keep the cache"}
	skipped := call("0/2.2", entry, 2, 2, "c", "3", "nothing", `{}`, toolrt.StatusSkipped)
	slow := call("0/2.3", entry, 2, 3, "d", "4", "sys.exec", `sleep 9`, toolrt.StatusTimeout)
	slow.Finished = at(64.4)
	cut := call("0/2.4", entry, 2, 4, "e", "5", "sys.exec", `x`, toolrt.StatusInterrupted)
	note := record.Message{Seq: 5, Conversation: "2/handoff", Shown: true, Notice: "now with @tester, for @planner", Turn: 2}
	m.Reset([]record.Message{user(1, 0, 1, "go\x1b[2J"), aborted, user(3, 2, 2, "again"), bad, note}, []record.Call{failed, denied, skipped, slow, cut})
	golden(t, "endings-80", screen(t, m, 80, 30))
}

// What came live looks the same as what is opened again.
func TestLiveEqualsReopened(t *testing.T) {
	for _, width := range []int{24, 60, 120} {
		live := New(set(t, "dark", style.Options{}))
		live.SetSize(width, 50)
		msgs, calls := loginBug()
		var pending, done []record.Call
		for _, c := range calls {
			if c.Parent == entry {
				p := c
				p.Status, p.Started, p.Finished, p.Waits = toolrt.StatusPending, time.Time{}, time.Time{}, ""
				pending = append(pending, p)
			}
			c.Status, c.Started, c.Finished, c.Waits = toolrt.StatusSuccess, at(2), at(3), ""
			done = append(done, c)
		}
		text := msgs[1].Message.Text()
		piece := func(kind monitor.DeltaKind, text string) monitor.Event {
			return monitor.Event{Type: monitor.CallProgress, Path: entry, Delta: &monitor.Delta{Kind: kind, Text: text, Conversation: entry, Index: 1, Shown: true, Agent: "planner", Name: "exec"}}
		}
		live.Apply([]monitor.Event{{Type: monitor.RowsChanged, Messages: msgs[:1]}})
		live.Apply([]monitor.Event{piece(monitor.PieceReasoning, "hm"), piece(monitor.PieceText, "void"), piece(monitor.PieceVoid, "")})
		for i := 0; i < len(text); i += 9 {
			live.Apply([]monitor.Event{piece(monitor.PieceText, text[i:min(i+9, len(text))])})
			screen(t, live, width, 50)
		}
		live.Apply([]monitor.Event{piece(monitor.PieceCall, "{\"a\":1}"), {Type: monitor.Notice, Text: "waiting"}})
		screen(t, live, width, 50)
		live.Apply([]monitor.Event{{Type: monitor.RowsChanged, Messages: msgs[1:], Calls: pending}})
		screen(t, live, width, 50)
		for _, c := range done {
			running := c
			running.Status = toolrt.StatusRunning
			live.Apply([]monitor.Event{{Type: monitor.CallStart, Calls: []record.Call{running}},
				{Type: monitor.CallProgress, Path: c.Path, Delta: &monitor.Delta{Kind: monitor.PieceOutput, Text: "out\n"}}})
			screen(t, live, width, 50)
		}
		live.Apply([]monitor.Event{{Type: monitor.CallFinish, Calls: done}, {Type: monitor.RunFinish}})

		again := New(set(t, "dark", style.Options{}))
		again.SetSize(width, 50)
		again.Reset(msgs, done)
		if got, want := live.View(), again.View(); got != want {
			t.Errorf("width %d: live\n%s\nopened again\n%s", width, got, want)
		}
		live.ToggleDetails()
		again.ToggleDetails()
		if got, want := screen(t, live, width, 50), screen(t, again, width, 50); got != want {
			t.Errorf("width %d, details: live\n%s\nopened again\n%s", width, got, want)
		}
	}
}

func TestR03ScrolledUpStaysPut(t *testing.T) {
	m := New(plainSet(t))
	m.SetSize(60, 20)
	msgs, calls := loginBug()
	m.Reset(msgs, calls)
	piece := func(text string) {
		m.Apply([]monitor.Event{{Type: monitor.CallProgress, Path: entry, Delta: &monitor.Delta{Kind: monitor.PieceText, Text: text, Conversation: entry, Index: 5, Shown: true, Agent: "planner"}}})
	}
	for i := range 200 {
		piece(fmt.Sprintf("line %d\n\n", i))
	}
	screen(t, m, 60, 20)
	m.Scroll(-30)
	top := func() string { first, _, _ := strings.Cut(screen(t, m, 60, 20), "\n"); return first }
	want := top()
	if m.Following() || m.Below() != 0 {
		t.Fatalf("following %v, %d below", m.Following(), m.Below())
	}
	for i := range 300 {
		piece(fmt.Sprintf("later %d\n\n", i))
		m.Apply([]monitor.Event{{Type: monitor.CallProgress, Path: "0/1.1/1.1", Delta: &monitor.Delta{Kind: monitor.PieceOutput, Text: "grows\n"}}})
		if got := top(); got != want {
			t.Fatalf("after %d pieces the top line is %q, want %q", i, got, want)
		}
	}
	if got := m.Below(); got != 600 {
		t.Errorf("%d lines below, want 600", got)
	}
	m.Scroll(5000)
	if !m.Following() || !strings.Contains(screen(t, m, 60, 20), "later 299") {
		t.Error("does not follow at the end")
	}
}

// The anchor holds inside a block too, when a call above it grows.
func TestR03CallAboveGrowsInTheSameBlock(t *testing.T) {
	m := New(plainSet(t))
	m.SetSize(60, 1)
	m.Reset(loginBug())
	m.Scroll(-1)
	want := screen(t, m, 60, 1)
	if !strings.HasPrefix(want, " > 3 github") {
		t.Fatalf("the line on top is %q", want)
	}
	m.Apply([]monitor.Event{{Type: monitor.CallProgress, Path: "0/1.1/1.1", Delta: &monitor.Delta{Kind: monitor.PieceOutput, Text: "a\nb\nc\n"}}})
	if got := screen(t, m, 60, 1); got != want {
		t.Errorf("the line on top is %q, want %q", got, want)
	}
}

func TestOlder(t *testing.T) {
	msgs, calls := long(100)
	m := New(plainSet(t))
	m.SetSize(60, 10)
	m.Reset(msgs[150:], calls[75:])
	if _, ok := m.WantsOlder(); ok {
		t.Error("wants older ones at the end")
	}
	m.Home()
	before, ok := m.WantsOlder()
	if !ok || before != msgs[150].Seq {
		t.Fatalf("wants before %d, %v", before, ok)
	}
	want := screen(t, m, 60, 10)
	m.Prepend(msgs[100:150], calls[50:75])
	if got := screen(t, m, 60, 10); got != want {
		t.Errorf("the view moved from\n%s\nto\n%s", want, got)
	}
	m.Scroll(-1)
	if got := screen(t, m, 60, 10); !strings.Contains(got, "sys.exec ls") {
		t.Errorf("above it is\n%s", got)
	}
	m.SetComplete()
	m.Home()
	if _, ok := m.WantsOlder(); ok {
		t.Error("wants older ones though there are none")
	}
}

// Lines far from the view are forgotten, and drawn the same when it comes back.
func TestFarBlocksAreForgotten(t *testing.T) {
	m := New(plainSet(t))
	m.SetSize(60, 20)
	m.Reset(long(1000))
	want := screen(t, m, 60, 20)
	for range 500 {
		m.Page(-1)
		screen(t, m, 60, 20)
	}
	drawn := 0
	for _, b := range m.blocks {
		if b.drawn.lines != nil {
			drawn++
		}
	}
	if drawn > warmBlocks+nearBlocks {
		t.Errorf("%d of %d blocks keep their lines", drawn, len(m.blocks))
	}
	m.End()
	if got := screen(t, m, 60, 20); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSelection(t *testing.T) {
	m := New(plainSet(t))
	m.SetSize(80, 26)
	msgs, calls := loginBug()
	m.Reset(msgs, calls)
	m.Focus()
	if got := m.Copy(); got != msgs[1].Message.Text() {
		t.Errorf("copies %q", got)
	}
	m.Move(1)
	if want := "// auth/login.go:41\nif tok.Expiry.Before(now) { return ErrExpired }\n"; m.Copy() != want {
		t.Errorf("R-09: copies %q, want %q", m.Copy(), want)
	}
	if got := marked(screen(t, m, 80, 26)); len(got) != 2 || !strings.Contains(got[0], "auth/login.go:41") {
		t.Errorf("marked: %q", got)
	}
	m.Move(1)
	if m.SelectedPath() != "0/1.0" {
		t.Fatalf("selected %q", m.SelectedPath())
	}
	m.ToggleSelected()
	if got := screen(t, m, 80, 26); !strings.Contains(got, "in    pattern: **/*login*_test.go") || !strings.Contains(got, "out   auth/login_test.go") {
		t.Errorf("unfolded:\n%s", got)
	}
	m.ToggleSelected()
	if got := screen(t, m, 80, 26); strings.Contains(got, "in    pattern") {
		t.Errorf("folded again:\n%s", got)
	}
	if !m.Select("0/1.1/1.1") || m.SelectedPath() != "0/1.1/1.1" {
		t.Errorf("selected %q", m.SelectedPath())
	}
	if m.Select("nowhere") {
		t.Error("selects what is not there")
	}
	m.NextUser(-1)
	if got := m.Copy(); got != msgs[0].Message.Text() {
		t.Errorf("the person's message: %q", got)
	}
	m.Blur()
	if got := marked(screen(t, m, 80, 26)); len(got) != 0 {
		t.Errorf("marked without focus: %q", got)
	}
}

func marked(screen string) []string {
	var lines []string
	for l := range strings.SplitSeq(screen, "\n") {
		if strings.HasPrefix(l, ">") {
			lines = append(lines, l)
		}
	}
	return lines
}

func TestInnerConversation(t *testing.T) {
	m := New(plainSet(t))
	m.SetSize(80, 40)
	msgs, calls := loginBug()
	for i := range calls {
		calls[i].Status, calls[i].Started, calls[i].Finished = toolrt.StatusSuccess, at(1), at(2)
	}
	m.Reset(msgs, calls)
	if got := screen(t, m, 80, 40); strings.Contains(got, "sys.read") || len(m.WantsInner()) != 0 {
		t.Errorf("a finished agent is open:\n%s", got)
	}
	m.Select("0/1.1")
	m.ToggleSelected()
	if got := m.WantsInner(); len(got) != 1 || got[0] != "0/1.1" {
		t.Fatalf("wants %q", got)
	}
	m.SetInner("0/1.1", []record.Message{
		{Conversation: "0/1.1", Index: 0, Message: model.TextMessage(model.User, "run the login tests")},
		{Conversation: "0/1.1", Index: 1, Message: model.TextMessage(model.Assistant, "They **fail**.")},
	})
	got := screen(t, m, 80, 40)
	if !strings.Contains(got, "| They fail.") || !strings.Contains(got, "2.1 sys.read") || len(m.WantsInner()) != 0 {
		t.Errorf("unfolded:\n%s", got)
	}
}

// A chat that takes over shows its messages in the conversation, not inside its call.
func TestHandOff(t *testing.T) {
	m := New(plainSet(t))
	m.SetSize(60, 20)
	over := call("0/1.0", entry, 1, 0, "a", "1", "tester", "take over", toolrt.StatusRunning)
	over.Agent, over.Chat = true, true
	task := user(3, 0, 1, `{"defaultPromptParameter":"take over"}`)
	inner := reply(4, 1, 1, "I am the tester.", "z:exec:{\"command\":\"ls\"}")
	for _, msg := range []*record.Message{&task, &inner} {
		msg.Conversation, msg.Agent = "0/1.0", "tester"
	}
	ls := call("0/1.0/1.0", "0/1.0", 1, 0, "z", "1.1", "sys.exec", `{"command":"ls"}`, toolrt.StatusSuccess)
	m.Reset([]record.Message{user(1, 0, 1, "hi"), reply(2, 1, 1, "", "a:tester:take over"), task, inner}, []record.Call{over, ls})
	golden(t, "handoff-60", screen(t, m, 60, 20))
	m.Focus()
	m.NextUser(-1)
	if got := m.Copy(); got != "hi" {
		t.Errorf("the last message of the person is %q", got) // not what the agent was asked for
	}
}

func TestSearch(t *testing.T) {
	msgs, calls := long(50)
	m := New(plainSet(t))
	m.SetSize(60, 10)
	m.Reset(msgs, calls)
	if n := m.Search("ANSWER 3"); n != 11 {
		t.Errorf("found in %d blocks, want 11", n)
	}
	m.Focus()
	if got := m.Copy(); !strings.HasPrefix(got, "answer 39") {
		t.Errorf("selected %q", got)
	}
	m.SearchNext(-1)
	if got := m.Copy(); !strings.HasPrefix(got, "answer 38") {
		t.Errorf("selected %q", got)
	}
	if got := screen(t, m, 60, 10); !strings.Contains(got, "answer 38") {
		t.Errorf("not in view:\n%s", got)
	}
	if !strings.Contains(m.View(), "\x1b[7m") {
		t.Error("what is found is not marked")
	}
	m.Search("")
}

// Whatever comes and however the person moves, the view has its size.
func TestAnySequence(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for round := range 12 {
		m := New(set(t, "dark", style.Options{ASCII: round%2 == 0}))
		w, h := 60, 20
		m.SetSize(w, h)
		msgs, calls := long(40)
		bug, bugCalls := loginBug()
		m.Reset(msgs[40:], calls[20:])
		for range 150 {
			step(m, random, msgs, calls, bug, bugCalls)
			if random.IntN(4) == 0 {
				w, h = random.IntN(130), random.IntN(40)
				if random.IntN(5) == 0 {
					w, h = random.IntN(3), random.IntN(3)
				}
				m.SetSize(w, h)
			}
			m.WantsOlder()
			m.WantsInner()
			m.Below()
			m.Running()
			screen(t, m, w, h)
		}
	}
}

func step(m *Model, random *rand.Rand, msgs []record.Message, calls []record.Call, bug []record.Message, bugCalls []record.Call) {
	dir := 1 - 2*random.IntN(2)
	switch random.IntN(19) {
	case 0:
		m.Scroll(random.IntN(60) - 30)
	case 1:
		m.Page(dir)
	case 2:
		m.Home()
	case 3:
		m.End()
	case 4:
		m.ToggleDetails()
	case 5:
		m.Focus()
	case 6, 7:
		m.Move(dir)
	case 8:
		m.ToggleSelected()
	case 9:
		m.NextUser(dir)
	case 10:
		m.Search([]string{"answer", "", "ls", "\x1b", "日"}[random.IntN(5)])
		m.SearchNext(dir)
	case 11:
		m.Select(bugCalls[random.IntN(len(bugCalls))].Path)
	case 12:
		m.Prepend(msgs[20:40], calls[10:20])
	case 13:
		for i := range bug {
			bug[i].Seq, bug[i].Index = int64(9000+i), 9000+i
		}
		m.Apply([]monitor.Event{{Type: monitor.RowsChanged, Messages: bug, Calls: bugCalls}})
	case 14:
		m.Apply([]monitor.Event{{Type: monitor.Notice, Text: "try 2 in 3s\x1b[2J"}})
	case 15:
		m.Apply([]monitor.Event{{Type: monitor.RunFinish}, {Type: monitor.Resumed}})
	case 16:
		m.SetInner("0/1.1", []record.Message{{Conversation: "0/1.1", Index: 1, Message: model.TextMessage(model.Assistant, "日本語 | a | b |\n|-|-|\n|1|2|")}})
	case 17:
		m.Tick(at(random.Float64() * 1000))
		_ = m.Copy()
	default:
		kinds := []monitor.DeltaKind{monitor.PieceText, monitor.PieceReasoning, monitor.PieceCall, monitor.PieceOutput, monitor.PieceVoid}
		m.Apply([]monitor.Event{{Type: monitor.CallProgress, Path: "0/1.1/1.1", Delta: &monitor.Delta{
			Kind: kinds[random.IntN(len(kinds))], Text: []string{"日本語のとても長い行です。", "# head\n- a\n", "```\n\tcode\n", "\x1b[31mred", "word word word "}[random.IntN(5)],
			Conversation: []string{entry, "0/1.1"}[random.IntN(2)], Index: 9100 + random.IntN(2), Shown: random.IntN(2) == 0, Agent: "planner", Call: random.IntN(3), Name: "exec"}}})
	}
}

func benchmarkView(b *testing.B, turns int) {
	m := New(set(b, "dark", style.Options{}))
	m.SetSize(100, 40)
	m.Reset(long(turns))
	m.View()
	b.ReportAllocs()
	for b.Loop() {
		m.Apply([]monitor.Event{{Type: monitor.CallProgress, Path: entry, Delta: &monitor.Delta{Kind: monitor.PieceText, Text: "word ", Conversation: entry, Index: 1 << 20, Shown: true, Agent: "planner"}}})
		m.View()
		if m.byKey[key{entry, 1 << 20}].doc.Len() > 2000 {
			m.Apply([]monitor.Event{{Type: monitor.RunFinish}})
		}
	}
}

// The two must take the same time: a frame knows only what is in view.
func BenchmarkApplyView200(b *testing.B)   { benchmarkView(b, 100) }
func BenchmarkApplyView10000(b *testing.B) { benchmarkView(b, 5000) }

// A reply of 20,000 tokens, a frame for every 20 of them.
func BenchmarkStream20000(b *testing.B) {
	s := set(b, "dark", style.Options{})
	source := strings.Repeat("Some **words** of a paragraph that goes on for a while, as they do.\nAnd on.\n\n- one\n- two\n\n", 900)[:80_000]
	for b.Loop() {
		m := New(s)
		m.SetSize(100, 40)
		for i := 0; i < len(source); i += 80 {
			m.Apply([]monitor.Event{{Type: monitor.CallProgress, Path: entry, Delta: &monitor.Delta{Kind: monitor.PieceText, Text: source[i : i+80], Conversation: entry, Shown: true, Agent: "planner"}}})
			m.View()
		}
	}
}
