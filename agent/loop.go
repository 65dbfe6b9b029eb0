package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"parley/agent/model"
	"parley/agent/record"
	"parley/toolrt"
)

// LoopPolicy says when an agent goes round in circles (runtime specification, 4.1). The zero value
// of a field takes the default named with it.
type LoopPolicy struct {
	// Off switches the guard off.
	Off bool
	// Repeats is in how many consecutive replies the same call with the same result is a loop: 3.
	Repeats int
	// CycleMax is the longest cycle of replies that is looked for: 4.
	CycleMax int
	// Cycles is how often a cycle must have been gone through: 3.
	Cycles int
	// Window is how many of the last calls are looked at: 50.
	Window int
	// Polls is how often a tool that waits for something may be called alike: 30.
	Polls int
}

func (p LoopPolicy) withDefaults() LoopPolicy {
	for _, f := range []struct {
		v *int
		d int
	}{{&p.Repeats, 3}, {&p.CycleMax, 4}, {&p.Cycles, 3}, {&p.Window, 50}, {&p.Polls, 30}} {
		if *f.v <= 0 {
			*f.v = f.d
		}
	}
	return p
}

// pollTools are called alike again and again by their nature.
var pollTools = []string{"sys.jobs", "jobs"}

// loopStep is one reply with calls: what each distinct call was, and what it gave.
type loopStep map[string]string

// same reports whether two replies made the same calls, and got the same from them if results is
// set.
func (s loopStep) same(o loopStep, results bool) bool {
	if len(s) != len(o) {
		return false
	}
	for call, result := range s {
		other, ok := o[call]
		if !ok || results && other != result {
			return false
		}
	}
	return true
}

// loopFound is a loop that the calls of a reply would go on with.
type loopFound struct {
	pattern string // for the model
	calls   map[string]bool
}

// find says how the calls of the current reply, whose results are not known yet, continue a loop
// in those before. polls names the calls of tools that wait.
func (p LoopPolicy) find(before []loopStep, current loopStep, polls map[string]bool) (found loopFound) {
	found.calls = map[string]bool{}
	for call := range current {
		limit := p.Repeats
		if polls[call] {
			limit = p.Polls
		}
		if repeated(before, call) >= limit-1 {
			found.calls[call] = true
			found.pattern = fmt.Sprintf("the same call was made in %d replies in a row and gave the same result each time", limit-1)
		}
	}
	for size := 2; size <= p.CycleMax && len(found.calls) == 0; size++ {
		if p.cycles(before, current, size) {
			for call := range current {
				found.calls[call] = !polls[call]
			}
			found.pattern = fmt.Sprintf("the same %d replies with calls have followed each other %d times with the same results", size, p.Cycles)
		}
	}
	return found
}

// repeated counts the replies in a row, up to the last one, that made the call and got the same
// from it.
func repeated(before []loopStep, call string) int {
	n := 0
	for i := len(before) - 1; i >= 0; i-- {
		result, ok := before[i][call]
		if !ok || n > 0 && result != before[len(before)-1][call] {
			break
		}
		n++
	}
	return n
}

// cycles reports whether the current reply completes the last of p.Cycles rounds of size replies.
func (p LoopPolicy) cycles(before []loopStep, current loopStep, size int) bool {
	need := size*p.Cycles - 1 // before the current one
	if len(before) < need {
		return false
	}
	last := before[len(before)-need:]
	for i := size; i < need; i++ {
		if !last[i].same(last[i-size], true) {
			return false
		}
	}
	return current.same(last[need-size], false)
}

// callPrint tells calls apart: the name and the arguments, whatever the order of their keys.
func callPrint(name, arguments string) string {
	dec := json.NewDecoder(strings.NewReader(arguments))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) == nil && !dec.More() {
		if canonical, err := json.Marshal(v); err == nil {
			arguments = string(canonical)
		}
	}
	return name + "\x00" + arguments
}

// loopSteps are the replies with calls since the person's last message, from message index from
// on, the newest last and at most window calls. What a refused call would have given is what it gave
// before.
func loopSteps(messages []model.Message, from, window int) []loopStep {
	var steps []loopStep
	calls := 0
	for i := len(messages) - 1; i >= from && messages[i].Role != model.User && calls < window; i-- {
		made := messages[i].Calls()
		if messages[i].Role != model.Assistant || len(made) == 0 || i == len(messages)-1 {
			continue // the newest reply has no results yet
		}
		step := loopStep{}
		for n, tc := range made {
			result := ""
			if at := i + 1 + n; at < len(messages) && messages[at].Role == model.ToolRole {
				result = messages[at].Text()
			}
			step[callPrint(tc.Function.Name, tc.Function.Arguments)] = result
			calls++
		}
		steps = append(steps, step)
	}
	slices.Reverse(steps)
	for i, step := range steps {
		for call, result := range step {
			if i > 0 && refusedByGuard(result) {
				step[call] = earlier(steps[:i], call)
			}
		}
	}
	return steps
}

// earlier is what a call gave when it was made last.
func earlier(steps []loopStep, call string) string {
	for _, step := range slices.Backward(steps) {
		if result, ok := step[call]; ok {
			return result
		}
	}
	return ""
}

// loopHits counts the calls that the guard has refused since the person's last message.
func loopHits(messages []model.Message) int {
	hits := 0
	for i := len(messages) - 1; i >= 0 && messages[i].Role != model.User; i-- {
		if messages[i].Role == model.ToolRole && refusedByGuard(messages[i].Text()) {
			hits++
		}
	}
	return hits
}

func refusedByGuard(result string) bool { return strings.Contains(result, loopMark) }

// loopMark stands in the answer to a call that the guard has refused.
const loopMark = `"kind":"loop_detected"`

// guardLoop refuses the calls of the last reply that go on with a loop: the first time with a
// warning for the model; after that a person is asked, if one is there.
func (c *call) guardLoop(ctx context.Context) (refused map[int]*toolrt.Error, err error) {
	p := c.t.s.o.Loop.withDefaults()
	if p.Off || c.conv == nil {
		return nil, nil
	}
	made := lastCalls(c.conv.messages)
	current, polls := loopStep{}, map[string]bool{}
	for _, tc := range made {
		print := callPrint(tc.Function.Name, tc.Function.Arguments)
		current[print] = ""
		polls[print] = slices.Contains(pollTools, tc.Function.Name)
	}
	found := p.find(loopSteps(c.conv.messages, c.loopsFrom, p.Window), current, polls)
	if len(found.calls) == 0 {
		return nil, nil
	}
	note := ""
	if loopHits(c.conv.messages) > 0 && c.t.s.o.Prompter != nil {
		goOn, steer, err := c.askAboutLoop(ctx, found.pattern)
		if err != nil && !errors.Is(err, ErrNobody) {
			return nil, err
		}
		if goOn {
			c.loopsFrom = len(c.conv.messages) - 1
			return nil, nil
		}
		note = steer
	}
	refused = map[int]*toolrt.Error{}
	for i, tc := range made {
		if found.calls[callPrint(tc.Function.Name, tc.Function.Arguments)] {
			refused[i] = loopError(found.pattern, note)
		}
	}
	return refused, nil
}

func loopError(pattern, note string) *toolrt.Error {
	no := false
	return &toolrt.Error{Kind: toolrt.KindLoopDetected, Retryable: &no, Feedback: note,
		Message: "the call did not run: " + pattern + ". Calling it again will not change that: look at what you have, and try another way or say what is missing"}
}

// The answers to the question about a loop.
const (
	loopGoOn  = "go on"
	loopSteer = "steer"
	loopStop  = "stop"
)

// askAboutLoop asks the person what becomes of an agent that goes round in circles: it may go on,
// is told the person's note, or the turn is stopped.
func (c *call) askAboutLoop(ctx context.Context, pattern string) (goOn bool, note string, err error) {
	type answer struct {
		Answer string `json:"answer"`
		Note   string `json:"note,omitempty"`
	}
	var got answer
	key := record.Key{Turn: c.t.row.Number, Path: c.path + "/loop", Ordinal: c.state.Rounds}
	result, _, err := c.t.do(ctx, effect{kind: record.EntryPrompt, key: key, question: true},
		func(ctx context.Context) (any, record.Rows, error) {
			defer c.t.s.asking(ctx, record.StateAsk)()
			ans, err := c.t.s.o.Prompter.Prompt(ctx, InputQuestion{ID: fmt.Sprintf("loop:%s:%d", c.path, c.state.Rounds),
				Path: c.path, Label: c.state.Label, Agents: c.agents(), Tool: c.name(),
				Question: toolrt.Question{
					Message: fmt.Sprintf("@%s goes round in circles: %s. What now?", c.name(), pattern),
					Fields: []toolrt.Field{{Name: "answer", Options: []string{loopGoOn, loopSteer, loopStop}},
						{Name: "note", Description: "what to tell it, if you steer"}}}})
			if err != nil {
				return nil, record.Rows{}, err
			}
			got := answer{Answer: ans.Values["answer"], Note: c.t.s.redact(strings.TrimSpace(ans.Values["note"]))}
			if ans.Declined {
				got.Answer = loopStop
			}
			return got, record.Rows{}, nil
		})
	if err != nil {
		return false, "", err
	}
	if err := json.Unmarshal(result, &got); err != nil {
		return false, "", fmt.Errorf("read the answer about a loop of call %s: %w", c.path, err)
	}
	switch got.Answer {
	case loopGoOn:
		return true, "", nil
	case loopStop:
		return false, "", toolrt.ErrStopped
	}
	return false, got.Note, nil
}
