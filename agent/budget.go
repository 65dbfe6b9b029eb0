package agent

import "parley/agent/model"

// defaultBudget is how many tokens of conversation are sent when the model's window is unknown
// (4.5).
const defaultBudget = 400_000

// bytesPerToken is how long a token is on average.
const bytesPerToken = 3.8

// tokens estimates the size of a message.
func tokens(m model.Message) int {
	n := 8
	for _, p := range m.Content {
		n += len(p.Text)
		if p.ToolCall != nil {
			n += len(p.ToolCall.Function.Name) + len(p.ToolCall.Function.Arguments)
		}
	}
	return int(float64(n)/bytesPerToken) + 1
}

// budgetStart is the first message of the conversation that fits the model's window: the oldest
// are left out of the request, never out of the store. Only a chat forgets.
func (c *call) budgetStart() int {
	if !c.tool.Chat {
		return 0
	}
	budget := defaultBudget
	if w := c.model.Info().ContextWindow; w > 0 {
		budget = w - w/10
	}
	used, start := 0, len(c.conv.messages)
	for start > 0 {
		used += tokens(c.state.Digest.shorten(start-1, c.conv.messages[start-1]))
		if used > budget && start < len(c.conv.messages) {
			break
		}
		start--
	}
	return firstWhole(c.conv.messages, start)
}

// shrink drops the oldest tenth of a request's messages, the system message aside.
func (c *call) shrink(messages []model.Message) []model.Message {
	head := 0
	if messages[0].Role == model.System {
		head = 1
	}
	rest := messages[head:]
	start := firstWhole(rest, max(1, len(rest)/10))
	return append(messages[:head:head], rest[start:]...)
}

// firstWhole moves start forward past tool messages: a kept history never begins with one. The
// last message is always kept, with the reply that it belongs to.
func firstWhole(messages []model.Message, start int) int {
	for start < len(messages) && messages[start].Role == model.ToolRole {
		start++
	}
	if start < len(messages) {
		return start
	}
	start = max(0, len(messages)-1)
	for start > 0 && messages[start].Role == model.ToolRole {
		start--
	}
	return start
}
