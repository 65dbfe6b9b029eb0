// Package export writes a chat as one self-contained HTML page: the conversation with its calls as a
// tree that folds, a search box, and a timeline of each turn drawn to scale, in dark and light.
//
// The page asks nothing of anybody: its policy allows its own style and script, by their hashes, and
// nothing else, so that no text of a model or tool can load or run something. Every such text is
// cleaned of control signs and escaped; replies are rendered as Markdown in which raw HTML is text
// and an image a link.
package export

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"strings"
	"time"

	"parley/agent/model"
	"parley/agent/record"
	"parley/themes"
	"parley/toolrt"
	"parley/ui/tui/text"
)

//go:embed page.css
var styles string

//go:embed page.js
var script string

// Chat is what the page shows.
type Chat struct {
	Session record.Session
	Program string // its name, for people
	Turns   []Turn
	// Messages is the conversation on screen, Inner those inside agents' calls by their paths.
	Messages []record.Message
	Inner    map[string][]record.Message
	Calls    []record.Call // of all turns, parents before children
}

// Turn is one turn with the times of its requests to models.
type Turn struct {
	record.Turn
	Completions []record.Entry
}

// HTML writes the page. The colours are those of a dark and a light theme.
func HTML(w io.Writer, c Chat, dark, light themes.Theme) error {
	out := bufio.NewWriter(w)
	p := &page{w: out, chat: c, children: map[string][]record.Call{}}
	for _, call := range c.Calls {
		p.children[call.Parent] = append(p.children[call.Parent], call)
	}
	p.write(dark, light)
	return out.Flush()
}

// page writes the parts of a page. Errors of the writer show at its Flush.
type page struct {
	w        *bufio.Writer
	chat     Chat
	children map[string][]record.Call // by the path of the caller
}

// raw writes markup of ours; %s takes only what esc or another function here has made.
func (p *page) raw(format string, args ...any) { fmt.Fprintf(p.w, format, args...) }

// esc makes foreign text safe in markup and in attributes.
func esc(s string) string { return html.EscapeString(text.Clean(s)) }

// hash names a text in the page's policy.
func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func (p *page) write(dark, light themes.Theme) {
	s := p.chat.Session
	style := palette(dark, light) + styles
	title := firstSet(text.Line(s.Title), s.ID)
	p.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	p.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src %s; script-src %s; base-uri 'none'; form-action 'none'\">\n",
		hash(style), hash(script))
	p.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n")
	p.raw("<title>%s</title>\n<style>%s</style>\n</head>\n<body>\n<header><h1>%s</h1>\n", esc(title), style, esc(title))
	p.raw("<p class=\"meta\">%s · %s · %s · %d turns, %d calls, %d tokens%s</p></header>\n", esc(text.Line(p.chat.Program)), esc(text.Line(s.Model)),
		esc(s.Created.Local().Format("2006-01-02 15:04")), s.Turns, s.Calls, s.Usage.PromptTokens+s.Usage.CompletionTokens, dollars(s.CostMicro))
	p.raw("<div class=\"tools\"><form role=\"search\"><input id=\"search\" type=\"search\" placeholder=\"Search\" aria-label=\"Search\"><span id=\"count\" class=\"when\" role=\"status\"></span>" +
		"<button type=\"button\" id=\"unfold\">Unfold all</button><button type=\"button\" id=\"fold\">Fold all</button><button type=\"button\" id=\"theme\">Dark or light</button></form></div>\n<main>\n")
	for _, t := range p.chat.Turns {
		p.turn(t)
	}
	p.raw("</main>\n<script>%s</script>\n</body>\n</html>\n", script)
}

func dollars(micros int64) string {
	if micros == 0 {
		return ""
	}
	return fmt.Sprintf(", $%.4f", float64(micros)/1e6)
}

func firstSet(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// palette gives the tokens of two themes as variables of the style: the light ones, the dark ones
// where the reader's system is dark, and either by the button.
func palette(dark, light themes.Theme) string {
	rules := func(t themes.Theme, scheme string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "color-scheme: %s;", scheme)
		if t.Background != "" {
			fmt.Fprintf(&b, " --background: %s;", t.Background)
		}
		for _, token := range themes.Tokens() {
			if c := t.Color(token); c != "" {
				fmt.Fprintf(&b, " --%s: %s;", token, c)
			}
		}
		return b.String()
	}
	return fmt.Sprintf(":root { %s }\n@media (prefers-color-scheme: dark) { :root { %s } }\n:root[data-theme=light] { %s }\n:root[data-theme=dark] { %[2]s }\n",
		rules(light, "light"), rules(dark, "dark"), rules(light, "light"))
}

func (p *page) turn(t Turn) {
	p.raw("<section class=\"turn\" id=\"turn-%d\"><h2 class=\"number\">Turn %d · <time>%s</time> · %s%s</h2>\n", t.Number, t.Number,
		esc(t.Started.Local().Format("2006-01-02 15:04:05")), esc(string(t.Status)), took(t.Started, t.Finished))
	p.timeline(t)
	for _, m := range p.chat.Messages {
		if m.Turn == t.Number {
			p.message(m)
		}
	}
	if t.Error != "" {
		p.raw("<p class=\"note xx\">%s</p>\n", esc(t.Error))
	}
	p.raw("</section>\n")
}

// took is how long something took, after a dot; "" when that is not known.
func took(from, to time.Time) string {
	if from.IsZero() || to.Before(from) {
		return ""
	}
	return " · " + duration(to.Sub(from))
}

func duration(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		d = d.Round(time.Second)
	case d >= time.Second:
		d = d.Round(10 * time.Millisecond)
	default:
		d = d.Round(time.Millisecond)
	}
	return d.String()
}

// message writes a message and the calls it made. Results stand with their calls.
func (p *page) message(m record.Message) {
	switch {
	case m.Notice != "":
		p.raw("<p class=\"note\">%s</p>\n", esc(m.Notice))
	case m.Message.Role == model.ToolRole || m.Message.Role == model.System:
	case m.Message.Role == model.User:
		who, said := "you", m.Message.Text()
		if m.ByCaller() {
			who, said = "to @"+m.Agent, model.PromptText(said)
		}
		p.raw("<article class=\"user\"><h3>%s</h3><div class=\"body\">%s</div></article>\n", esc(text.Line(who)), esc(said))
	default:
		p.raw("<article class=\"agent\"><h3>@%s</h3>", esc(text.Line(m.Agent)))
		if body := m.Message.Text(); body != "" {
			p.raw("<div class=\"body\">%s</div>", markdown(body))
		}
		if m.Message.Aborted {
			p.raw("<p class=\"note\">interrupted</p>")
		}
		for _, c := range p.madeBy(m) {
			p.call(c)
		}
		p.raw("</article>\n")
	}
}

// madeBy lists the calls of a reply in its order.
func (p *page) madeBy(m record.Message) []record.Call {
	var made []record.Call
	for _, tc := range m.Message.Calls() {
		for _, c := range p.children[m.Conversation] {
			if c.WireID == tc.ID && c.Turn == m.Turn {
				made = append(made, c)
			}
		}
	}
	return made
}

// anchor names a call within the page.
func anchor(path string) string { return esc("call-" + path) }

// call writes one call, folded, with what it made inside it.
func (p *page) call(c record.Call) {
	word, class := state(c.Status)
	p.raw("<details class=\"call\" id=\"%s\"><summary><span class=\"state %s\">%s</span> %s <b>%s</b> <code>%s</code> <span class=\"when\">%s</span></summary>\n",
		anchor(c.Path), class, word, esc(c.Label), esc(text.Line(c.Tool)), esc(short(c.Input)), strings.TrimPrefix(took(c.Started, c.Finished), " · "))
	p.facts(c)
	if c.Input != "" {
		p.raw("<pre>%s</pre>\n", esc(c.Input))
	}
	p.inside(c)
	if c.Result != "" {
		p.raw("<pre>%s</pre>\n", esc(c.Result))
	}
	p.raw("</details>\n")
}

// inside writes what an agent's call said and called; what is shown in the conversation itself is
// not repeated.
func (p *page) inside(c record.Call) {
	written := map[string]bool{}
	for _, m := range p.chat.Inner[c.Path] {
		if m.Shown || m.Message.Role == model.User && m.Index == 0 {
			continue
		}
		p.message(m)
		for _, made := range p.madeBy(m) {
			written[made.Path] = true
		}
	}
	for _, child := range p.children[c.Path] { // contexts, filters, credentials, and calls of a hand-off
		if !written[child.Path] && child.Category != "" {
			p.call(child)
		}
	}
}

func (p *page) facts(c record.Call) {
	p.raw("<dl>")
	fact := func(name, value string) {
		if value != "" {
			p.raw("<dt>%s</dt><dd>%s</dd>", name, esc(value))
		}
	}
	fact("part of", c.Category)
	fact("asked", c.Created.Local().Format("15:04:05.000"))
	if d := c.Decision; d != nil {
		verdict := "denied"
		if d.Allow {
			verdict = "allowed"
		}
		fact("decision", strings.Join(strings.Fields(fmt.Sprintf("%s by %s %s %s", verdict, d.By, d.Rule, d.Reason)), " "))
		fact("note", d.Note)
		if d.Wait > 0 {
			fact("waited", duration(d.Wait))
		}
	}
	if c.ExitCode != nil {
		fact("exit code", fmt.Sprint(*c.ExitCode))
	}
	if c.Truncated {
		fact("cut", fmt.Sprintf("the whole output had %d bytes in %d lines", c.OutputBytes, c.OutputLines))
	}
	p.raw("</dl>\n")
}

// state is the short word for how a call stands, and its class.
func state(s toolrt.Status) (word, class string) {
	switch s {
	case toolrt.StatusSuccess:
		return "ok", "ok"
	case toolrt.StatusDenied:
		return "no", "no"
	case toolrt.StatusFailed, toolrt.StatusTimeout:
		return "xx", "xx"
	case toolrt.StatusRunning:
		return "run", "run"
	case toolrt.StatusWaiting:
		return "ask", "ask"
	case toolrt.StatusPending:
		return "--", "cut"
	case toolrt.StatusCancelled, toolrt.StatusInterrupted, toolrt.StatusSkipped:
	}
	return "//", "cut"
}

// short is the beginning of a text on one line.
func short(s string) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return string(r)
}
