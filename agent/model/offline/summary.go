package offline

import (
	"strings"

	"parley/agent/model"
)

// summaryTask begins the instruction with which a long conversation is summed up.
const summaryTask = "You sum up the earlier part of a conversation"

// sumUp answers a request to sum up a conversation: a set of rules can only list what the person
// asked for. ok is false for any other request.
func sumUp(req model.Request) (text string, ok bool) {
	if len(req.Messages) == 0 || !strings.HasPrefix(req.Messages[0].Text(), summaryTask) {
		return "", false
	}
	var b strings.Builder
	b.WriteString("The person asked for, in this order:\n")
	asks := false
	for line := range strings.Lines(req.Messages[len(req.Messages)-1].Text()) {
		line = strings.TrimSpace(line)
		switch {
		case line == "<person>":
			asks = true
		case asks && line != "":
			b.WriteString("\n- " + cutRunes(line, 200))
			asks = false
		}
	}
	return b.String(), true
}
