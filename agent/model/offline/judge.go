package offline

import (
	"encoding/json"
	"regexp"
	"strings"
)

// state says what became of a call.
type state int

const (
	missing state = iota // no result came
	done
	failed
	denied
	aborted
)

// outcome is a call's result as the report words it.
type outcome struct {
	state state
	text  string // what came back, without what says that it failed
	note  string // a person's reason, or the kind of failure
}

// The words of GPTScript and of its built-in tools for what went wrong.
var (
	deniedText = "Tool call request has been denied"
	abortText  = "ABORTED BY USER"
	complaints = regexp.MustCompile(`^(?:ERROR: |[Ff]ailed to |Failed writing|directory does not exist: |The file .* (?:does not exist|cannot be read))`)
)

// judge reads the text of a tool message.
func judge(text string, isError bool) outcome {
	var envelope struct {
		Error    string `json:"error"`
		Kind     string `json:"kind"`
		Feedback string `json:"feedback"`
		Partial  string `json:"partial"`
	}
	if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &envelope) == nil && envelope.Kind != "" {
		switch {
		case envelope.Kind == "denied":
			return outcome{state: denied, note: envelope.Feedback}
		case envelope.Partial != "":
			return outcome{state: failed, text: envelope.Error + "\n" + envelope.Partial, note: envelope.Kind}
		}
		return outcome{state: failed, text: envelope.Error, note: envelope.Kind}
	}
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed == deniedText:
		return outcome{state: denied}
	case strings.HasSuffix(trimmed, abortText):
		return outcome{state: aborted, text: strings.TrimSpace(strings.TrimSuffix(trimmed, abortText))}
	case isError || complaints.MatchString(text):
		return outcome{state: failed, text: strings.TrimPrefix(text, "ERROR: ")}
	}
	return outcome{state: done, text: text}
}
