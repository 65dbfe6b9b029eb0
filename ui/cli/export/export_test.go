//go:build unix

package export_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"parley/agent/model"
	"parley/agent/record"
	"parley/themes"
	"parley/toolrt"
	"parley/ui/cli/export"
)

// hostile tries to leave the text it stands in, by every door that a page has.
const hostile = `</pre></script><script>window.pwned=1</script><img src=x onerror="window.pwned=1">` +
	"\x1b]0;t\x07\u202e" + ` '"><svg onload=window.pwned=1> <style>*{display:none}</style> <iframe src="http://192.0.2.1/"></iframe>`

func chat() export.Chat {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	ms := func(n int) time.Time { return at.Add(time.Duration(n) * time.Millisecond) }
	call := func(wire, name, args string) model.Part {
		return model.Part{ToolCall: &model.ToolCall{ID: wire, Function: model.Function{Name: name, Arguments: args}}}
	}
	reply := model.Message{Role: model.Assistant, Content: []model.Part{
		{Text: "# Plan\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n" + hostile + "\n\n![pic](http://192.0.2.1/x.png) [bad](javascript:window.pwned=1) [good](https://example.com/)"},
		call("w1", "exec", hostile), call("w2", "helper", "{}")}}
	code := 1
	return export.Chat{
		Session: record.Session{ID: "0001", Title: hostile, Model: "openai/x", Turns: 1, Calls: 3, Created: at},
		Program: "work.gpt" + hostile,
		Turns: []export.Turn{{Turn: record.Turn{Number: 1, Status: record.TurnDone, Started: at, Finished: ms(1000)},
			Completions: []record.Entry{{Started: at, Ended: ms(200)}}}},
		Messages: []record.Message{
			{Turn: 1, Conversation: "1", Message: model.TextMessage(model.User, "please fix the needle\n"+hostile)},
			{Turn: 1, Conversation: "1", Agent: "worker" + hostile, Index: 1, Message: reply},
			{Turn: 1, Conversation: "1/x", Notice: "now with @" + hostile},
			{Turn: 1, Conversation: "1", Agent: "worker", Index: 4, Message: model.TextMessage(model.Assistant, "all done")},
		},
		Inner: map[string][]record.Message{"1/1.1": {
			{Turn: 1, Conversation: "1/1.1", Agent: "helper", Index: 1, Message: model.Message{Role: model.Assistant, Content: []model.Part{
				{Text: "looking"}, call("w3", "read", `{"filename":"haystack"}`)}}},
		}},
		Calls: []record.Call{
			{Path: "1", Turn: 1, Tool: "worker", Agent: true, Status: toolrt.StatusSuccess, Created: at, Started: at, Finished: ms(1000)},
			{Path: "1/1.0", Parent: "1", Turn: 1, WireID: "w1", Label: "1", Tool: "sys.exec", Input: hostile, Result: hostile, Status: toolrt.StatusFailed,
				ExitCode: &code, Created: ms(200), Started: ms(400), Finished: ms(500), Decision: &toolrt.Decision{Allow: true, By: "user", Reason: hostile, Wait: 200 * time.Millisecond}},
			{Path: "1/1.1", Parent: "1", Turn: 1, WireID: "w2", Label: "2", Tool: "helper", Agent: true, Input: "{}", Result: "helped", Status: toolrt.StatusSuccess,
				Created: ms(200), Started: ms(500), Finished: ms(900)},
			{Path: "1/1.1/1.0", Parent: "1/1.1", Turn: 1, WireID: "w3", Label: "2.1", Tool: "sys.read", Input: `{"filename":"haystack"}`, Result: "straw",
				Status: toolrt.StatusSuccess, Created: ms(600), Started: ms(600), Finished: ms(800)},
		},
	}
}

func page(t *testing.T) string {
	t.Helper()
	dark, err := themes.Load(themes.Default, "")
	if err != nil {
		t.Fatal(err)
	}
	light, err := themes.Load(themes.Light, "")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := export.HTML(&b, chat(), dark, light); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// No text of a model or tool becomes markup, and nothing in the page asks for anything.
func TestExportHostileText(t *testing.T) {
	t.Parallel()
	html := page(t)
	if n := strings.Count(html, "<script"); n != 1 {
		t.Errorf("%d scripts", n)
	}
	for _, bad := range []string{"<img", "<iframe", "<svg onload", "\x1b", "\u202e", "javascript:", "<style>*"} {
		if strings.Contains(html, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if urls := regexp.MustCompile(`(?:src|href)="[^"#][^"]*"`).FindAllString(html, -1); len(urls) != 1 || urls[0] != `href="https://example.com/"` {
		t.Errorf("addresses: %q", urls)
	}
	for _, want := range []string{"default-src 'none'", "<table>", "[image http://192.0.2.1/x.png]", "exit code"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// In a browser the tree folds, the search works, the timeline is to scale, no request leaves and
// nothing hostile runs.
func TestExportInBrowser(t *testing.T) {
	t.Parallel()
	b := startBrowser(t)
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(page(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	b.open("file://" + file)
	check := func(expression, want string) {
		t.Helper()
		var got any
		b.eval(expression, &got)
		if text, _ := json.Marshal(got); string(text) != want {
			t.Errorf("%s = %s, want %s", expression, text, want)
		}
	}
	check(`document.documentElement.dataset.ready`, `"yes"`)
	check(`typeof window.pwned`, `"undefined"`)
	check(`document.querySelectorAll("details.call").length`, `3`)
	check(`document.querySelectorAll("details.call[open]").length`, `0`)
	check(`document.getElementById("call-1/1.1/1.0").parentNode.closest("details").id`, `"call-1/1.1"`)

	const visible = `[...document.querySelectorAll("details.call, article")].filter(e => e.offsetParent && e.getClientRects().length).length`
	check(`document.getElementById("unfold").click(); document.querySelectorAll("details.call[open]").length`, `3`)
	check(`document.getElementById("fold").click(); document.querySelectorAll("details.call[open]").length`, `0`)
	const search = `s => { const b = document.getElementById("search"); b.value = s; b.dispatchEvent(new Event("input")); return document.getElementById("count").textContent; }`
	check(`(`+search+`)("haystack")`, `"1 found"`)
	check(`document.getElementById("call-1/1.1/1.0").open && document.getElementById("call-1/1.1").open`, `true`)
	check(`document.querySelector("mark").textContent`, `"haystack"`)
	check(`(`+search+`)("needle")`, `"1 found"`)
	check(visible, `1`)
	check(`(`+search+`)("nowhere")`, `"0 found"`)
	check(`(`+search+`)("")`, `""`)
	check(`document.querySelectorAll("details.call[open], mark, .hidden").length`, `0`)
	check(`location.hash = "#call-1/1.1/1.0"; dispatchEvent(new Event("hashchange")); document.getElementById("call-1/1.1/1.0").open`, `true`)
	check(`document.getElementById("theme").click(); ["dark","light"].includes(document.documentElement.dataset.theme)`, `true`)

	// Pixels for a millisecond are the same for every bar, and the whole is the turn's second.
	var bars []struct{ Ms, Width float64 }
	b.eval(`[...document.querySelectorAll("svg .ran")].map(r => ({ms: +r.dataset.ms, width: r.getBoundingClientRect().width}))`, &bars)
	var whole float64
	b.eval(`document.querySelector("svg.timeline").getBoundingClientRect().width`, &whole)
	if len(bars) != 4 || whole < 200 {
		t.Fatalf("bars %v in %v", bars, whole)
	}
	for _, bar := range bars {
		if math.Abs(bar.Width-whole*bar.Ms/1000) > 0.6 {
			t.Errorf("%v ms are %.2f of %.2f pixels", bar.Ms, bar.Width, whole)
		}
	}
	for _, e := range b.events {
		switch e.Method {
		case "Network.requestWillBeSent":
			if !strings.Contains(string(e.Params), "file://"+file) {
				t.Errorf("a request: %s", e.Params)
			}
		case "Log.entryAdded", "Runtime.exceptionThrown":
			t.Errorf("%s: %s", e.Method, e.Params)
		}
	}
}

// Whatever stands in a reply, its markup is that of a few harmless elements.
func FuzzExportMarkdown(f *testing.F) {
	f.Add(hostile)
	f.Add("[a](data:text/html,x) <a href=x>\n\n<!-- x -->\n\n```\n<b>\n```\n<http://x.y> &lt;script&gt;")
	open := regexp.MustCompile(`<([a-zA-Z!?][^\s/>]*)`)
	allowed := map[string]bool{"html": true}
	for _, name := range strings.Fields(`!DOCTYPE html head meta title style body header h1 h2 h3 h4 h5 h6 p div form input span button main section time article
		script details summary b code pre dl dt dd svg line text rect a ul ol li table thead tbody tr th td em strong del blockquote hr br`) {
		allowed[name] = true
	}
	f.Fuzz(func(t *testing.T, reply string) {
		c := export.Chat{Session: record.Session{ID: "x", Turns: 1}, Turns: []export.Turn{{Turn: record.Turn{Number: 1}}},
			Messages: []record.Message{{Turn: 1, Message: model.TextMessage(model.Assistant, reply)}}}
		var b strings.Builder
		if err := export.HTML(&b, c, themes.Theme{}, themes.Theme{}); err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(b.String(), "<main>")
		body, _, _ = strings.Cut(body, "</main>")
		for _, m := range open.FindAllStringSubmatch(body, -1) {
			if !allowed[m[1]] || m[1] == "script" || m[1] == "style" {
				t.Errorf("%q gives <%s", reply, m[1])
			}
		}
	})
}
