package prompt

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"parley/agent"
	"parley/agent/record"
	"parley/themes"
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

func plainSet(t testing.TB) *style.Set {
	t.Helper()
	theme, err := themes.Load("mono", "")
	if err != nil {
		t.Fatal(err)
	}
	return style.New(theme, style.Options{ASCII: true, NoColor: true})
}

var armed = State{Armed: true, Place: 1, Total: 1}

// draw is a prompt's view without looks, checked for its size.
func draw(t testing.TB, p Prompt, w, h int, st State) string {
	t.Helper()
	s := plainSet(t)
	view := p.View(w, h, st, s)
	lines := strings.Split(view, "\n")
	if view == "" {
		lines = nil
	}
	if len(lines) > max(h, 0) {
		t.Fatalf("%d lines in %dx%d:\n%s", len(lines), w, h, view)
	}
	for i, l := range lines {
		if got := ansi.StringWidth(l); got > w || h >= minFrame && w >= 20 && got != w && len(lines) > 2 {
			t.Fatalf("line %d is %d cells in %dx%d: %q", i, got, w, h, l)
		}
		lines[i] = strings.TrimRight(ansi.Strip(l), " ")
	}
	if cur := p.Cursor(w, h, st, s); cur != nil && (cur.X < 0 || cur.X > w || cur.Y < 0 || cur.Y >= len(lines)) {
		t.Fatalf("cursor at %d,%d in %d lines of %d", cur.X, cur.Y, len(lines), w)
	}
	return strings.Join(lines, "\n")
}

// press gives keys to a prompt and returns it with the messages it sent.
func press(t testing.TB, p Prompt, keys ...string) (Prompt, []tea.Msg) {
	t.Helper()
	var msgs []tea.Msg
	for _, k := range keys {
		var cmd tea.Cmd
		p, cmd = p.Update(keyPress(k))
		if cmd == nil {
			continue
		}
		switch msg := cmd().(type) {
		case ApprovalAnswered, InputAnswered, ResumeResolved, ResumeClosed, EndProcess, WantPanel, WantEditor, WantText, MoveQuestion:
			msgs = append(msgs, msg)
		}
	}
	return p, msgs
}

func keyPress(k string) tea.KeyPressMsg {
	special := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown,
		"left": tea.KeyLeft, "right": tea.KeyRight, "space": tea.KeySpace, "pgdown": tea.KeyPgDown, "backspace": tea.KeyBackspace, "end": tea.KeyEnd}
	if rest, ok := strings.CutPrefix(k, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(rest[0]), Mod: tea.ModCtrl}
	}
	if code, ok := special[k]; ok {
		msg := tea.KeyPressMsg{Code: code}
		if k == "space" {
			msg.Text = " "
		}
		return msg
	}
	return tea.KeyPressMsg{Code: []rune(k)[0], Text: k}
}

func issue() agent.ApprovalQuestion {
	return agent.ApprovalQuestion{ID: "q3", Turn: 4, Path: "0/2.2", Label: "3", Agents: []string{"planner", "tester"},
		Tool: "github.create_issue", Source: "openapi:github.json",
		Arguments: `{"owner":"acme","repo":"shop","title":"Login test uses real clock","body":"The token clock is frozen in the test but not in the code.\nSecond line."}`,
		Preview:   toolrt.Preview{URL: "POST https://api.github.com/repos/acme/shop/issues"},
		Dir:       "/home/me/shop", Reason: "no rule covers it",
		Rules: []agent.RuleOffer{{Text: "github.create_issue(owner=acme, repo=shop)", Past: 2}, {Text: "github.create_issue(owner=acme)", Past: 5}},
		Place: 3, Batch: 4}
}

func shell(command string) agent.ApprovalQuestion {
	return agent.ApprovalQuestion{ID: "q1", Label: "2.2", Agents: []string{"planner"}, Tool: "sys.exec", Source: "builtin",
		Arguments: fmt.Sprintf(`{"command":%q,"directory":"."}`, command), Preview: toolrt.Preview{Command: command},
		Dir: "/home/me/shop", Reason: "no rule covers it", Rules: []agent.RuleOffer{{Text: "sys.exec(git *)"}}}
}

func TestApprovalScreens(t *testing.T) {
	for _, size := range []struct{ w, h int }{{120, 24}, {80, 22}, {80, 12}, {60, 10}, {40, 6}} {
		golden(t, fmt.Sprintf("approval-%dx%d", size.w, size.h), draw(t, NewApproval(issue()), size.w, size.h, armed))
	}
	golden(t, "approval-composing-80", draw(t, NewApproval(issue()), 80, 12, State{Composing: true, Place: 1, Total: 3}))
	p, _ := press(t, NewApproval(issue()), "a")
	golden(t, "approval-always-80", draw(t, p, 80, 12, armed))
	p, _ = press(t, NewApproval(issue()), "e")
	golden(t, "approval-edit-80", draw(t, p, 80, 12, armed))
	p, _ = press(t, NewApproval(issue()), "r", "n", "o", "ctrl+j", "t")
	golden(t, "approval-reason-80", draw(t, p, 80, 12, armed))
}

func TestApprovalKeys(t *testing.T) {
	narrow, wide := issue().Rules[0].Text, issue().Rules[1].Text
	edited := strings.Replace(indented(issue().Arguments), "Second line.\"\n}", "Second line.\"\n} ", 1)
	for _, c := range []struct {
		keys string
		want agent.ApprovalAnswer
	}{
		{"y", agent.ApprovalAnswer{Allow: true, Scope: "once"}},
		{"s", agent.ApprovalAnswer{Allow: true, Scope: "session", Rule: narrow}},
		{"m s", agent.ApprovalAnswer{Allow: true, Scope: "session", Rule: wide}},
		{"m m s", agent.ApprovalAnswer{Allow: true, Scope: "session", Rule: narrow}},
		{"a p", agent.ApprovalAnswer{Allow: true, Scope: "project", Rule: narrow}},
		{"a m g G", agent.ApprovalAnswer{Allow: true, Scope: "user", Rule: wide}},
		{"a n N", agent.ApprovalAnswer{Scope: "project", Rule: narrow}},
		{"a n n esc n", agent.ApprovalAnswer{Scope: "once"}},         // n alone never denies for good
		{"a g a i n esc esc n", agent.ApprovalAnswer{Scope: "once"}}, // a word that begins with a and g makes no rule
		{"a e ctrl+u x enter p", agent.ApprovalAnswer{Allow: true, Scope: "project", Rule: "x"}},
		{"n", agent.ApprovalAnswer{Scope: "once"}},
		{"esc", agent.ApprovalAnswer{Scope: "once"}},
		{"ctrl+c", agent.ApprovalAnswer{Scope: "once", Stop: true}},
		{"v ctrl+c", agent.ApprovalAnswer{Scope: "once", Stop: true}},
		{"a esc y", agent.ApprovalAnswer{Allow: true, Scope: "once"}},
		{"v esc n", agent.ApprovalAnswer{Scope: "once"}},
		{"x x y", agent.ApprovalAnswer{Allow: true, Scope: "once"}},
		{"e esc y", agent.ApprovalAnswer{Allow: true, Scope: "once"}},
		{"e enter y", agent.ApprovalAnswer{Allow: true, Scope: "once"}},
		{"e space enter", agent.ApprovalAnswer{Allow: true, Scope: "once", Arguments: &edited}},
		{"r n o ctrl+j y enter", agent.ApprovalAnswer{Scope: "once", Note: "no\ny"}}, // P-09
		{"r n esc y", agent.ApprovalAnswer{Allow: true, Scope: "once"}},
		{"y y n", agent.ApprovalAnswer{Allow: true, Scope: "once"}}, // P-06: one answer only
	} {
		t.Run(c.keys, func(t *testing.T) {
			p := NewApproval(issue())
			draw(t, p, 80, 22, armed)
			_, msgs := press(t, p, strings.Fields(c.keys)...)
			want := []tea.Msg{ApprovalAnswered{ID: "q3", Answer: c.want}}
			if !reflect.DeepEqual(msgs, want) {
				t.Errorf("got %+v, want %+v", msgs, want)
			}
		})
	}
}

func TestEnterSpaceAndDigitsAnswerNothing(t *testing.T) {
	keys := []string{"enter", "space", "tab", "0", "1", "2", "9", "Y", "N", "A", "S", "p", "g", "q", "z", "?", "up", "down", "pgdown"}
	p, msgs := press(t, NewApproval(issue()), keys...)
	if len(msgs) != 0 {
		t.Fatalf("answered: %+v", msgs)
	}
	_, msgs = press(t, p, append([]string{"a"}, "enter", "space", "1", "y", "a")...)
	if len(msgs) != 0 {
		t.Fatalf("after a: %+v", msgs)
	}
}

func TestProtectedOffersOnceOnly(t *testing.T) {
	q := issue()
	q.Protected = true
	p, msgs := press(t, NewApproval(q), "s", "a", "p", "m")
	if got := draw(t, p, 80, 22, armed); len(msgs) != 0 || strings.Contains(got, "this session") || !strings.Contains(got, "protected") {
		t.Errorf("sent %+v, shows\n%s", msgs, got)
	}
	if _, msgs = press(t, p, "y"); len(msgs) != 1 {
		t.Errorf("y sent %+v", msgs)
	}
}

func TestP01MarksTheUncoveredPart(t *testing.T) {
	q := shell("cd x && rm -rf y")
	q.Parts = []agent.CommandPart{{Text: "cd x", Covered: true}, {Text: "rm -rf y"}}
	got := draw(t, NewApproval(q), 80, 22, armed)
	if !strings.Contains(got, "asks for   rm -rf y") || strings.Contains(got, "asks for   cd x") {
		t.Errorf("shows\n%s", got)
	}
}

// Everything that will run can be reached, and it is said while it is not seen.
func TestP08WholeCommandIsReachable(t *testing.T) {
	var script []string
	for i := range 50 {
		script = append(script, fmt.Sprintf("echo %d", i))
	}
	script = append(script, strings.Repeat("\n", 39), "rm -rf \u202e/\u200b", strings.Repeat("x", 2000)+"DANGER", "p\u0430sswd")
	p := NewApproval(shell(strings.Join(script, "\n")))
	for _, size := range []struct{ w, h int }{{80, 12}, {40, 6}} {
		if got := draw(t, p, size.w, size.h, armed); !strings.Contains(got, "more below") && !strings.Contains(got, "v all") {
			t.Errorf("%dx%d does not say that there is more:\n%s", size.w, size.h, got)
		}
	}
	p, _ = press(t, p, "v")
	if !p.FullScreen() {
		t.Fatal("v does not take the screen")
	}
	var seen strings.Builder
	for range 200 {
		got := draw(t, p, 80, 24, armed)
		seen.WriteString(got)
		if !strings.Contains(got, "more below:") {
			break
		}
		p, _ = press(t, p, "pgdown")
	}
	all := strings.NewReplacer("\n", "", "|", "", " ", "").Replace(seen.String())
	for _, want := range []string{"echo0", "echo49", "rm-rf<U+202E>/<U+200B>", "DANGER", "p\u0430<U+0430>sswd"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q cannot be reached", want)
		}
	}
}

func TestDiffIsReachable(t *testing.T) {
	q := shell("")
	q.Tool, q.Preview = "sys.write", toolrt.Preview{Diff: "--- a\n+++ b\n@@ -1 +1 @@\n" + strings.Repeat("-old\n+new\n", 1500) + "+last"}
	p, _ := press(t, NewApproval(q), "d")
	draw(t, p, 80, 24, armed)
	p, _ = press(t, p, "G")
	if got := draw(t, p, 80, 24, armed); !strings.Contains(got, "+last") {
		t.Errorf("the end of the diff:\n%s", got)
	}
	if got := draw(t, NewApproval(q), 80, 12, armed); !strings.Contains(got, "+1501 -1500 lines") {
		t.Errorf("the count:\n%s", got)
	}
}

func TestEditRefusesBrokenJSONAndSecrets(t *testing.T) {
	p, msgs := press(t, NewApproval(issue()), "e", "x", "enter")
	if got := draw(t, p, 80, 14, armed); len(msgs) != 0 || !strings.Contains(got, "no valid JSON") {
		t.Errorf("sent %+v, shows\n%s", msgs, got)
	}
	q := issue()
	q.Arguments = `{"token":"••••••••"}`
	p, _ = press(t, NewApproval(q), "e")
	if got := draw(t, p, 80, 14, armed); p.Editing() || !strings.Contains(got, "hold a secret") {
		t.Errorf("shows\n%s", got)
	}
}

func TestOtherKeys(t *testing.T) {
	_, msgs := press(t, NewApproval(issue()), ".", "[", "]", "r", "ctrl+g")
	want := []tea.Msg{WantPanel{"0/2.2"}, MoveQuestion{-1}, MoveQuestion{1}, WantEditor{ID: "q3", Name: "reason.txt"}}
	if !reflect.DeepEqual(msgs, want) {
		t.Errorf("got %+v, want %+v", msgs, want)
	}
	p, _ := press(t, NewApproval(issue()), "r")
	p, _ = p.Update(Edited{ID: "q3", Text: "from the editor\n"})
	if _, msgs = press(t, p, "enter"); len(msgs) != 1 || msgs[0].(ApprovalAnswered).Answer.Note != "from the editor" {
		t.Errorf("got %+v", msgs)
	}
}

func credential() agent.InputQuestion {
	yes, no := true, false
	return agent.InputQuestion{ID: "i1", Path: "0/2.2", Label: "3", Agents: []string{"planner"}, Tool: "github.create_issue",
		Credential: "github", Sets: []string{"GITHUB_TOKEN"}, Keep: []string{"keyring", "file", "session", "call"},
		Question: toolrt.Question{Message: "Create a token with the issues scope", Fields: []toolrt.Field{
			{Name: "token", Sensitive: &yes}, {Name: "host", Sensitive: &no, Description: "github.com"}}}}
}

func TestInputScreens(t *testing.T) {
	p, _ := press(t, NewInput(credential()), "s", "3", "c")
	for _, size := range []struct{ w, h int }{{80, 18}, {80, 8}, {40, 6}} {
		golden(t, fmt.Sprintf("credential-%dx%d", size.w, size.h), draw(t, p, size.w, size.h, armed))
	}
	q := agent.InputQuestion{ID: "i2", Label: "1", Tool: "sys.prompt", Agents: []string{"planner"}, Question: toolrt.Question{
		Message: "Which one?\x1b[2J", Fields: []toolrt.Field{{Name: "pick", Options: []string{"first", "second", "third"}}, {Name: "note"}}}}
	p, _ = press(t, NewInput(q), "right", "down", "h", "i")
	golden(t, "prompt-80x14", draw(t, p, 80, 14, armed))
	golden(t, "prompt-composing-60", draw(t, p, 60, 14, State{Composing: true, Place: 1, Total: 1}))
}

func TestInputAnswers(t *testing.T) {
	p, _ := press(t, NewInput(credential()), "a")
	p, _ = p.Update(tea.PasteMsg{Content: "bc\n"})
	_, msgs := press(t, p, "enter", "h", "tab", "right", "right", "enter")
	want := []tea.Msg{InputAnswered{ID: "i1", Answer: agent.InputAnswer{Values: map[string]string{"token": "abc", "host": "h"}, Keep: "session"}}}
	if !reflect.DeepEqual(msgs, want) {
		t.Errorf("got %+v, want %+v", msgs, want)
	}
	for _, k := range []string{"esc", "ctrl+c"} {
		if _, msgs = press(t, NewInput(credential()), k, "enter"); !reflect.DeepEqual(msgs, []tea.Msg{InputAnswered{ID: "i1", Answer: agent.InputAnswer{Declined: true}}}) {
			t.Errorf("%s: %+v", k, msgs)
		}
	}
}

// The length of a secret cannot be seen, its letters only for three seconds after Ctrl+R.
func TestSecretsAreDots(t *testing.T) {
	short, _ := press(t, NewInput(credential()), "x")
	long, _ := press(t, NewInput(credential()), strings.Split("hunter2hunter2", "")...)
	if a, b := draw(t, short, 80, 18, armed), draw(t, long, 80, 18, armed); a != b || strings.Contains(b, "hunter") {
		t.Errorf("short\n%s\nlong\n%s", a, b)
	}
	s := plainSet(t)
	if a, b := short.Cursor(80, 18, armed, s), long.Cursor(80, 18, armed, s); a == nil || b == nil || a.X != b.X {
		t.Errorf("cursors %v and %v", a, b)
	}
	long, cmd := long.Update(keyPress("ctrl+r"))
	if got := draw(t, long, 80, 18, armed); cmd == nil || !strings.Contains(got, "hunter2hunter2") {
		t.Errorf("Ctrl+R shows\n%s", got)
	}
	long, _ = long.Update(hide{"i1", 7}) // an older moment
	if got := draw(t, long, 80, 18, armed); !strings.Contains(got, "hunter2") {
		t.Error("a late end of an earlier moment hides it")
	}
	long, _ = long.Update(hide{"i1", 1})
	if got := draw(t, long, 80, 18, armed); strings.Contains(got, "hunter2") {
		t.Errorf("still shown:\n%s", got)
	}
}

func open() []agent.OpenCall {
	return []agent.OpenCall{
		{Key: record.Key{Turn: 4, Path: "0/1.1"}, Call: call("2.2", "sys.exec", `{"command":"go test ./auth -run Login"}`), Printed: "=== RUN\x1b[2J\n", Effects: "may change something"},
		{Key: record.Key{Turn: 4, Path: "0/1.2"}, Call: call("2.3", "sys.exec", `{"command":"sleep 99"}`), Alive: true, Pgid: 4711},
	}
}

func call(label, tool, input string) record.Call {
	return record.Call{Path: "0/" + label, Label: label, Tool: tool, Input: input}
}

func TestResume(t *testing.T) {
	info := "Calls 1 and 2.1 are done and are not run again."
	golden(t, "resume-80x14", draw(t, NewResume(open(), info), 80, 14, armed))
	golden(t, "resume-40x6", draw(t, NewResume(open(), info), 40, 6, armed))
	first, second := open()[0].Key, open()[1].Key
	for _, c := range []struct {
		keys string
		want tea.Msg
	}{
		{"R", ResumeResolved{Key: first, Resolution: agent.ResolveRerun}},
		{"i i", ResumeResolved{Key: first, Resolution: agent.ResolveInterrupted}},
		{"k o k enter", ResumeResolved{Key: first, Resolution: agent.ResolveResult, Text: "ok"}},
		{"c esc R", ResumeResolved{Key: first, Resolution: agent.ResolveRerun}},
		{"down R i x", EndProcess{Key: second}},
		{"esc", ResumeClosed{}},
		{"ctrl+c", ResumeClosed{}},
		{"k x esc .", WantPanel{Path: "0/2.2"}},
	} {
		if _, msgs := press(t, NewResume(open(), info), strings.Fields(c.keys)...); !reflect.DeepEqual(msgs, []tea.Msg{c.want}) {
			t.Errorf("%s: got %+v, want %+v", c.keys, msgs, c.want)
		}
	}
	p, _ := press(t, NewResume(open(), info), "c")
	if got := draw(t, p, 80, 20, armed); !p.FullScreen() || !strings.Contains(got, "=== RUN␛[2J") {
		t.Errorf("c shows\n%s", got)
	}
	if _, msgs := press(t, NewResume(open(), info), "enter", "space", "y", "1"); len(msgs) != 0 {
		t.Errorf("answered by accident: %+v", msgs)
	}
}

// A process that ends while the dialog is open is noticed, and what x did is said.
func TestResumeTellsOfProcesses(t *testing.T) {
	calls := open()
	if !calls[1].Alive {
		t.Fatalf("the second call has no process: %+v", calls[1])
	}
	dead := open()
	dead[1].Alive, dead[1].Printed = false, "the last line"
	p, _ := press(t, NewResume(calls, ""), "down")
	p, _ = p.Update(Looked{Open: dead})
	if got := draw(t, p, 80, 20, armed); !strings.Contains(got, "has ended by itself") {
		t.Errorf("shows\n%s", got)
	}
	if _, msgs := press(t, p, "R"); len(msgs) != 1 {
		t.Errorf("a process that has ended still stands in the way: %+v", msgs)
	}
	p, _ = press(t, NewResume(open(), ""), "down", "x")
	p, _ = p.Update(Ended{Key: dead[1].Key, Open: dead})
	if got := draw(t, p, 80, 20, armed); !strings.Contains(got, "was ended") {
		t.Errorf("shows\n%s", got)
	}
	p, _ = press(t, NewResume(open(), ""), "down", "x")
	p, _ = p.Update(Ended{Key: dead[1].Key, Open: open(), Err: errors.New("not permitted")})
	if got := draw(t, p, 80, 20, armed); !strings.Contains(got, "not permitted") {
		t.Errorf("shows\n%s", got)
	}
}

// After the last field Tab gives the keys back to the text.
func TestTabLeavesTheLastField(t *testing.T) {
	one := credential()
	one.Question.Fields, one.Keep = one.Question.Fields[:1], nil
	if _, msgs := press(t, NewInput(one), "tab"); !reflect.DeepEqual(msgs, []tea.Msg{WantText{}}) {
		t.Errorf("one field: %+v", msgs)
	}
	if _, msgs := press(t, NewInput(credential()), "tab", "tab"); len(msgs) != 0 {
		t.Errorf("between fields: %+v", msgs)
	}
	if _, msgs := press(t, NewInput(credential()), "tab", "tab", "tab"); !reflect.DeepEqual(msgs, []tea.Msg{WantText{}}) {
		t.Errorf("after the last: %+v", msgs)
	}
}

func batch() (*Batch, []Prompt) {
	first, second := shell("git diff HEAD~3"), issue()
	first.Path, first.ID, first.Place, first.Batch = "0/2.1", "q1", 1, 4
	asks := []Prompt{NewApproval(first), NewApproval(second)}
	calls := []record.Call{
		{Path: "0/2.0", Label: "1", Round: 2, Tool: "sys.find", Input: `{"pattern":"**/*login*_test.go"}`, Status: toolrt.StatusSuccess, Decision: &toolrt.Decision{Allow: true, By: "rule"}},
		{Path: "0/2.1", Label: "2", Round: 2, Tool: "sys.exec", Input: first.Arguments, Status: toolrt.StatusWaiting},
		{Path: "0/2.2", Label: "3", Round: 2, Tool: "github.create_issue", Input: second.Arguments, Status: toolrt.StatusWaiting},
		{Path: "0/2.3", Label: "4", Round: 2, Tool: "tester", Agent: true, Input: "run the \x1b[2Jtests", Status: toolrt.StatusPending},
	}
	return NewBatch(asks[0], calls, asks), asks
}

// What reaches a protected target is allowed by an answer of its own, never with the rest (A9).
func TestA9TheRestOfABatchLeavesProtectedCalls(t *testing.T) {
	first, second := shell("git diff HEAD~3"), shell("touch ~/.bashrc")
	first.Path, first.ID = "0/2.0", "q1"
	second.Path, second.ID, second.Protected = "0/2.1", "q2", true
	asks := []Prompt{NewApproval(first), NewApproval(second)}
	b := NewBatch(asks[0], []record.Call{
		{Path: "0/2.0", Label: "1", Round: 2, Tool: "sys.exec", Input: first.Arguments, Status: toolrt.StatusWaiting},
		{Path: "0/2.1", Label: "2", Round: 2, Tool: "sys.exec", Input: second.Arguments, Status: toolrt.StatusWaiting},
	}, asks)
	view := b.View(100, 16, plainSet(t))
	if !strings.Contains(view, "! ?") {
		t.Errorf("the protected call is not marked:\n%s", view)
	}
	want := []tea.Msg{ApprovalAnswered{"q1", agent.ApprovalAnswer{Allow: true, Scope: "once"}}}
	if got := told(b.Update(keyPress("Y"))); !reflect.DeepEqual(got, want) {
		t.Errorf("Y answered %+v", got)
	}
	if view := b.View(100, 16, plainSet(t)); !strings.Contains(view, "answer each by itself") {
		t.Errorf("it does not say what is left:\n%s", view)
	}
}

func TestBatchScreens(t *testing.T) {
	for _, size := range []struct{ w, h int }{{120, 18}, {80, 14}, {60, 10}, {40, 6}} {
		b, _ := batch()
		view := b.View(size.w, size.h, plainSet(t))
		golden(t, fmt.Sprintf("batch-%dx%d", size.w, size.h), view)
		for _, l := range strings.Split(view, "\n") {
			if ansi.StringWidth(l) != size.w {
				t.Errorf("%d cells: %q", ansi.StringWidth(l), l)
			}
		}
	}
}

// The view answers one question or all that wait; no key that somebody types by accident answers.
func TestBatchKeys(t *testing.T) {
	once, deny := agent.ApprovalAnswer{Allow: true, Scope: "once"}, agent.ApprovalAnswer{Scope: "once"}
	rule := agent.ApprovalAnswer{Allow: true, Scope: "session", Rule: "sys.exec(git *)"}
	for _, c := range []struct {
		keys string
		want []tea.Msg
	}{
		{"y", []tea.Msg{ApprovalAnswered{"q1", once}}},
		{"y n", []tea.Msg{ApprovalAnswered{"q1", once}, ApprovalAnswered{"q3", deny}}},
		{"j n", []tea.Msg{ApprovalAnswered{"q3", deny}}},
		{"s", []tea.Msg{ApprovalAnswered{"q1", rule}}},
		{"Y", nil}, // the arguments of one are cut off
		{"Y Y", []tea.Msg{ApprovalAnswered{"q1", once}, ApprovalAnswered{"q3", once}, BatchClosed{}}},
		{"Y j Y", nil},
		{"y Y Y", []tea.Msg{ApprovalAnswered{"q1", once}, ApprovalAnswered{"q3", once}, BatchClosed{}}},
		{"j y", []tea.Msg{BatchOpens{"q3", keyPress("y")}}},
		{"y N", []tea.Msg{ApprovalAnswered{"q1", once}, ApprovalAnswered{"q3", deny}, BatchClosed{}}},
		{"esc", []tea.Msg{ApprovalAnswered{"q1", deny}, ApprovalAnswered{"q3", deny}, BatchClosed{}}},
		{"enter", []tea.Msg{BatchClosed{}}},
		{"a", []tea.Msg{BatchOpens{"q1", keyPress("a")}}},
		{"k y", nil}, // a call that needs no answer
		{"space 1 2", nil},
	} {
		b, _ := batch()
		b.View(80, 16, plainSet(t))
		var got []tea.Msg
		for _, k := range strings.Fields(c.keys) {
			got = append(got, told(b.Update(keyPress(k)))...)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.keys, got, c.want)
		}
	}
}

// told runs a command and returns its messages.
func told(cmd tea.Cmd) []tea.Msg {
	if cmd == nil {
		return nil
	}
	msg := cmd()
	batch, ok := msg.(tea.BatchMsg)
	if !ok {
		return []tea.Msg{msg}
	}
	var msgs []tea.Msg
	for _, c := range batch {
		msgs = append(msgs, told(c)...)
	}
	return msgs
}

// Every dialog keeps to its room at every size, in every state of it.
func TestAnySize(t *testing.T) {
	q := shell("echo 日本語 && " + strings.Repeat("y", 300))
	q.Preview.Diff = "+a\n-b\n"
	states := []State{armed, {Composing: true, Place: 2, Total: 3}, {Place: 2, Total: 3, Now: time.Now()}}
	kinds := map[string]func() Prompt{
		"approval": func() Prompt { return NewApproval(q) },
		"input":    func() Prompt { return NewInput(credential()) },
		"resume":   func() Prompt { return NewResume(open(), "info") },
	}
	for name, keys := range map[string][]string{
		"approval": {"", "a", "a g", "v", "d", "x", "r h i ctrl+j 日", "e", "a e", "s"},
		"input":    {"", "日 b", "tab ctrl+j c", "tab tab right"},
		"resume":   {"", "c", "k h i", "down x"},
	} {
		for _, k := range keys {
			p, _ := press(t, kinds[name](), strings.Fields(k)...)
			for w := 0; w <= 130; w += 1 + w/6 {
				for _, h := range []int{0, 1, 2, 3, 4, 5, 6, 8, 11, 16, 24} {
					for _, st := range states {
						draw(t, p, w, h, st)
					}
				}
			}
		}
	}
}

// A rule is made only after it stood on screen, every sign of it.
func TestSessionShowsItsRuleFirst(t *testing.T) {
	q := shell("git status")
	q.Rules = []agent.RuleOffer{{Text: "sys.exec(git status --short --branch --untracked-files=all)"}}
	p := NewApproval(q)
	if got := draw(t, p, 60, 8, armed); strings.Contains(got, "--short") || !strings.Contains(got, "why") {
		t.Fatalf("there is room for the rule after all, or not for the call:\n%s", got)
	}
	p, msgs := press(t, p, "s")
	got := strings.NewReplacer("\n", "", "|", "", " ", "").Replace(draw(t, p, 60, 8, armed))
	if len(msgs) != 0 || !strings.Contains(got, "rule:sys.exec(gitstatus--short--branch--untracked-files=all)") {
		t.Fatalf("sent %+v, shows\n%s", msgs, draw(t, p, 60, 8, armed))
	}
	if _, msgs = press(t, p, "s"); len(msgs) != 1 || msgs[0].(ApprovalAnswered).Answer.Scope != "session" {
		t.Errorf("sent %+v", msgs)
	}
}

// What was never on screen is not allowed: y and s show the whole of it first (P-08).
func TestP08NothingUnseenIsAllowed(t *testing.T) {
	for _, c := range []struct{ keys, scope string }{{"y", "once"}, {"s", "session"}, {"a p", "project"}, {"a g G", "user"}} {
		p := NewApproval(shell("echo 1\n" + strings.Repeat("echo 2\n", 40) + "touch evil"))
		if got := draw(t, p, 80, 12, armed); !strings.Contains(got, "y and s show all first") {
			t.Errorf("it is not said:\n%s", got)
		}
		keys := strings.Fields(c.keys)
		for _, k := range keys {
			var msgs []tea.Msg
			if p, msgs = press(t, p, k); len(msgs) != 0 {
				t.Fatalf("%s: allowed unseen: %+v", c.keys, msgs)
			}
		}
		if got := draw(t, p, 80, 12, armed); !p.FullScreen() || !strings.Contains(got, "read to its end") {
			t.Fatalf("%s shows\n%s", c.keys, got)
		}
		p, msgs := press(t, p, "y", "pgdown", "y")
		if draw(t, p, 80, 12, armed); len(msgs) != 0 {
			t.Fatalf("%s: allowed on the way: %+v", c.keys, msgs)
		}
		p, _ = press(t, p, "end")
		if got := draw(t, p, 80, 12, armed); !strings.Contains(got, "touch evil") || !strings.Contains(got, "y once") {
			t.Fatalf("%s: the end:\n%s", c.keys, got)
		}
		p, _ = press(t, p, "esc")
		draw(t, p, 80, 12, armed)
		if keys[0] == "s" { // its rule is shown first
			p, _ = press(t, p, "s")
		}
		if _, msgs = press(t, p, keys...); len(msgs) != 1 || msgs[0].(ApprovalAnswered).Answer.Scope != c.scope {
			t.Errorf("%s sent %+v", c.keys, msgs)
		}
	}
}

// The call comes before what the keys mean: a command of many parts, its folder and the reason are all
// on the screen of a wide terminal.
func TestFactsComeBeforeTheLegend(t *testing.T) {
	q := shell("echo 1; echo 2; echo 3; echo 4; echo 5; echo 6; echo 7; echo 8; touch evil; echo 9")
	q.Rules[0].Text = "sys.exec(echo 1)\nsys.exec(echo 2)\nsys.exec(touch evil)"
	for _, part := range strings.Split(q.Preview.Command, "; ") {
		q.Parts = append(q.Parts, agent.CommandPart{Text: part})
	}
	got := draw(t, NewApproval(q), 76, 12, armed)
	for _, want := range []string{"touch evil; echo 9", "in         /home/me/shop", "why        no rule", "y once"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	write := agent.ApprovalQuestion{ID: "q2", Label: "1", Tool: "sys.write", Source: "builtin", Arguments: `{"content":"hello world, this is a longer text","filename":"notes.txt"}`,
		Preview: toolrt.Preview{Paths: []string{"/home/me/shop/notes.txt"}, Diff: "--- /dev/null\n+++ notes.txt\n@@ -0,0 +1 @@\n+hello world, this is a longer text\n"},
		Dir:     "/home/me/shop", Reason: "it writes a file", Rules: []agent.RuleOffer{{Text: "sys.write(/notes.txt)"}}}
	for _, size := range []struct{ w, h int }{{40, 6}, {60, 10}, {76, 18}} {
		if got := draw(t, NewApproval(write), size.w, size.h, armed); !strings.Contains(got, "notes.txt") || size.h > 6 && !strings.Contains(got, "why") {
			t.Errorf("%dx%d:\n%s", size.w, size.h, got)
		}
	}
}

// A rule is broken between its words, and what it would have matched stays whole.
func TestRulesBreakAtWords(t *testing.T) {
	q := shell("x")
	q.Rules = []agent.RuleOffer{{Text: "sys.exec(echo one)\nsys.exec(echo two three)\nsys.exec(touch four five six)", Past: 1}}
	for w := 30; w < 90; w++ {
		p, _ := press(t, NewApproval(q), "a")
		got := draw(t, p, w, 24, armed)
		for _, want := range []string{"sys.exec(echo two three)", "sys.exec(touch four five", "1 past call"} {
			if !strings.Contains(got, want) {
				t.Fatalf("%d wide, %q is broken:\n%s", w, want, got)
			}
		}
	}
}

// At 40x12 the prompt has six lines: every answer's key must be on them.
func TestNarrowShowsEveryAnswer(t *testing.T) {
	got := draw(t, NewApproval(issue()), 40, 6, armed)
	for _, want := range []string{"y once", "s session", "a always", "n deny", "r reason", "v all", "github.create_issue", "POST https://api"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}
