package offline

import (
	"strings"

	"parley/agent/model"
)

// answer decides what to say and which tools to call. It looks at nothing but the request.
func answer(req model.Request) (text string, calls []model.Function) {
	if text, ok := sumUp(req); ok {
		return text, nil
	}
	kit := newToolkit(req.Tools)
	asked, results := lookBack(req)
	if len(results) > 0 {
		return report(results), nil
	}
	if asked == "" {
		return greeting(speech{table: ruleTable, kit: kit}), nil
	}
	steps, ok := understand(asked, kit)
	if !ok {
		return unknown(asked, speech{table: ruleTable, kit: kit}), nil
	}
	var said []string
	for _, s := range steps {
		if s.call.Name == "" {
			said = append(said, s.text)
			continue
		}
		calls = append(calls, s.call)
	}
	if len(said) == 0 {
		return intent(calls), calls
	}
	return strings.Join(said, "\n\n"), calls
}

// result is a tool call with what came back.
type result struct {
	call model.ToolCall
	outcome
}

// lookBack returns what was asked last and the results of the tools called for it. Without a user
// message the request is the last paragraph of the system message, where a program's tool has it.
func lookBack(req model.Request) (asked string, results []result) {
	var system string
	for _, m := range model.WireMessages(req, "offline") {
		switch m.Role {
		case model.System:
			system = m.Text
		case model.User:
			asked, results = strings.TrimSpace(m.Text), nil
		case model.Assistant:
			// A new round: the results before it have been reported or are not the last.
			results = nil
			for _, c := range m.Calls {
				results = append(results, result{call: c, outcome: outcome{state: missing}})
			}
		case model.ToolRole:
			for i, r := range results {
				if r.call.ID == m.CallID {
					results[i].outcome = judge(m.Text, m.IsError)
				}
			}
		}
	}
	if asked == "" {
		paragraphs := strings.Split(strings.TrimSpace(system), "\n\n")
		asked = strings.TrimSpace(paragraphs[len(paragraphs)-1])
	}
	return asked, results
}

// intent says in a few words what is about to be done, before the calls.
func intent(calls []model.Function) string {
	if len(calls) < 2 {
		return ""
	}
	var names []string
	for _, c := range calls {
		names = append(names, "`"+c.Name+"`")
	}
	last := len(names) - 1
	return "I will call " + strings.Join(names[:last], ", ") + " and " + names[last] + "."
}
