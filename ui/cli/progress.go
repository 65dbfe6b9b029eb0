package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"parley/agent/model"
	"parley/agent/monitor"
	"parley/agent/record"
	"parley/toolrt"
	"parley/ui/tui/text"
)

// progress writes what a run does to a terminal or a log, a line for each call.
type progress struct {
	w    io.Writer
	said map[string]toolrt.Status
	// replies writes what agents say too.
	replies bool
	// held is the last line of the conversation that is no message. It waits for the next line: the
	// one that ends a failed turn is the error that the command ends with.
	held string
}

// run writes until the reader is closed.
func (p *progress) run(ctx context.Context, r *monitor.Reader) {
	p.said = map[string]toolrt.Status{}
	for {
		events, err := r.Next(ctx)
		for _, e := range events {
			p.event(e)
		}
		if err != nil {
			return
		}
	}
}

func (p *progress) event(e monitor.Event) {
	if e.Type == monitor.Notice {
		p.line("· %s", text.Clean(e.Text))
	}
	for _, c := range e.Calls {
		p.call(c)
	}
	for _, m := range e.Messages {
		if body := m.Message.Text(); p.replies && m.Shown && m.Message.Role == model.Assistant && body != "" {
			p.line("@%s\n%s", text.Line(m.Agent), text.Clean(body))
		}
		if m.Notice != "" {
			p.flush()
			p.held = m.Notice
		}
	}
}

// call writes a line when a call starts and one when it has ended.
func (p *progress) call(c record.Call) {
	if c.Category != "" || c.Parent == "" || p.said[c.Path] == c.Status {
		return
	}
	p.said[c.Path] = c.Status
	name := strings.TrimSpace(c.Label + " " + c.Tool)
	switch {
	case c.Status == toolrt.StatusRunning:
		p.line("> %s %s", text.Clean(name), oneLine(model.PromptText(c.Input)))
	case c.Taken:
		p.line("= %s (from the record, not run again)", text.Clean(name))
	case c.Status.Terminal():
		p.line("%s %s %s%s", word(c.Status), text.Clean(name), took(c), failure(c))
	}
}

func (p *progress) line(format string, args ...any) {
	p.flush()
	fmt.Fprintf(p.w, format+"\n", args...)
}

func (p *progress) flush() {
	if p.held != "" {
		fmt.Fprintf(p.w, "· %s\n", text.Clean(p.held))
		p.held = ""
	}
}

// rest writes what is held back after run has returned, unless err, which the command ends with,
// says the same. A nil progress has nothing.
func (p *progress) rest(err error) {
	if p != nil && (err == nil || err.Error() != p.held) {
		p.flush()
	}
}

// word is the short word for a state, as on the screen.
func word(s toolrt.Status) string {
	switch s {
	case toolrt.StatusSuccess:
		return "ok"
	case toolrt.StatusDenied:
		return "no"
	case toolrt.StatusCancelled, toolrt.StatusInterrupted, toolrt.StatusSkipped:
		return "//"
	case toolrt.StatusRunning:
		return "run"
	case toolrt.StatusWaiting:
		return "ask"
	case toolrt.StatusPending:
		return "--"
	}
	return "xx"
}

func took(c record.Call) string {
	if c.Started.IsZero() || c.Finished.Before(c.Started) {
		return string(c.Status)
	}
	d := c.Finished.Sub(c.Started).Round(10 * time.Millisecond).String()
	if c.Status == toolrt.StatusSuccess {
		return d
	}
	return string(c.Status) + " " + d
}

// failure is why a call failed or was denied, in short.
func failure(c record.Call) string {
	why := ""
	switch {
	case word(c.Status) == "xx":
		why = plain(c.Result)
	case c.Status == toolrt.StatusDenied && c.Decision != nil && c.Decision.By != "nobody":
		why = c.Decision.Reason
	}
	if why = oneLine(why); why != "" {
		return ": " + why
	}
	return ""
}

// plain is the message of an error in the form that models get it, and other text as it is.
func plain(result string) string {
	var told struct{ Error string }
	if json.Unmarshal([]byte(result), &told) == nil && told.Error != "" {
		return told.Error
	}
	return result
}

// oneLine shortens text to one safe line.
func oneLine(s string) string {
	s = text.Clean(strings.Join(strings.Fields(s), " "))
	const limit = 100
	if r := []rune(s); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return s
}
