package transcript

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"parley/agent/record"
	"parley/toolrt"
	"parley/ui/tui/text"
)

// Word is the state of a call in a word or sign: ok run ASK wait -- xx no // =.
func Word(c record.Call) string {
	switch c.Status {
	case toolrt.StatusCancelled, toolrt.StatusInterrupted: // taken from the log too, it did not end well
		return "//"
	}
	if c.Taken {
		return "="
	}
	switch c.Status {
	case toolrt.StatusPending:
		if c.Waits != "" {
			return "wait"
		}
		return "--"
	case toolrt.StatusWaiting:
		return "ASK"
	case toolrt.StatusRunning:
		return "run"
	case toolrt.StatusSuccess:
		return "ok"
	case toolrt.StatusFailed, toolrt.StatusTimeout:
		return "xx"
	case toolrt.StatusDenied:
		return "no"
	case toolrt.StatusSkipped:
		return "--"
	}
	return text.Line(string(c.Status))
}

// Facts is what is worth knowing about a call beside its state and time, in a few words: "3
// lines", "exit 1", "timeout", "for 3".
func Facts(c record.Call) string {
	switch c.Status {
	case toolrt.StatusPending:
		if c.Waits != "" {
			return "for " + text.Line(c.Waits)
		}
	case toolrt.StatusTimeout, toolrt.StatusSkipped, toolrt.StatusInterrupted:
		return string(c.Status)
	case toolrt.StatusFailed:
		if c.ExitCode != nil {
			return fmt.Sprintf("exit %d", *c.ExitCode)
		}
	case toolrt.StatusDenied:
		return "denied"
	case toolrt.StatusSuccess:
		if n := c.OutputLines; n == 1 {
			return "1 line"
		} else if n > 1 {
			return fmt.Sprintf("%d lines", n)
		}
	}
	return ""
}

// Title is a call in one clean line without its state: "sys.find **/*.go", "@tester run the tests".
func Title(c record.Call) string {
	name := text.Line(c.Tool)
	if c.Agent {
		name = "@" + strings.TrimPrefix(name, "@")
	}
	if args := Arguments(c.Input); args != "" {
		return name + " " + args
	}
	return name
}

// maxTitle bounds what is read of long arguments for a title.
const maxTitle = 400

// Arguments is argument text in one clean line: the first value as it is, others with their names.
// Text that is no object is shown as it is.
func Arguments(input string) string {
	dec := json.NewDecoder(strings.NewReader(input))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return clip(input)
	}
	var parts []string
	for size := 0; dec.More() && size < maxTitle; size += len(parts[len(parts)-1]) {
		name, err := dec.Token()
		if err != nil {
			return clip(input)
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return clip(input)
		}
		value := string(raw)
		var s string
		if json.Unmarshal(raw, &s) == nil {
			value = s
		}
		if value = clip(value); len(parts) > 0 {
			value = clip(fmt.Sprint(name)) + "=" + value
		}
		parts = append(parts, value)
	}
	return strings.Join(parts, " ")
}

func clip(s string) string {
	if len(s) > maxTitle {
		s = s[:maxTitle]
	}
	return text.Line(s)
}

// Elapsed is how long a call has run, or ran: "0.1s", "1m04s"; "" when it has not started.
func Elapsed(c record.Call, now time.Time) string {
	if c.Started.IsZero() {
		return ""
	}
	end := c.Finished
	if end.IsZero() {
		if c.Status.Terminal() {
			return ""
		}
		end = now
	}
	return Duration(end.Sub(c.Started))
}

// Duration is a time span in few signs: "0.1s", "59.9s", "1m04s", "2h03m".
func Duration(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute-50*time.Millisecond:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		d = d.Round(time.Second)
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	d = d.Round(time.Minute)
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}
