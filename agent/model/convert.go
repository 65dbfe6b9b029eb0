package model

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

const (
	// promptParameter is the one parameter of prompt tools that declare none (4.3).
	promptParameter = "defaultPromptParameter"
	imagePrefix     = "data:image/png;base64,"
)

// WireMessage is a message after the conversion rules of 4.2, ready to be put into a provider's own
// form.
type WireMessage struct {
	Role Role
	Text string
	// Images are the data URLs of PNG images that stood at the end of the text.
	Images []string
	// Calls are the tool calls of an assistant message. Their ids are filled and unique within
	// the conversation, their names such as wires take (WireName).
	Calls []ToolCall
	// Reasoning holds the blocks of the asked provider only.
	Reasoning []Reasoning
	// CallID and CallName say which call a tool message answers.
	CallID, CallName string
	IsError          bool
}

// WireMessages converts the messages of a request for a provider (4.2): the user message {} of a
// tool that is no chat is left out, {"defaultPromptParameter": TEXT} is sent as TEXT, image lines
// at the end become images, reasoning of other providers is left out, and missing or repeated call
// ids are replaced by unique ones. It changes nothing in req. An empty result means that there is
// nothing to ask and the reply is the empty text.
func WireMessages(req Request, provider string) []WireMessage {
	ids := callIDs{used: map[string]int{}}
	var out []WireMessage
	for _, m := range req.Messages {
		text := m.Text()
		if m.Role == User && !req.Chat && len(m.Content) == 1 && strings.TrimSpace(text) == "{}" {
			continue
		}
		w := WireMessage{Role: m.Role, IsError: m.IsError}
		w.Text, w.Images = splitImages(PromptText(text))
		for _, r := range m.Reasoning {
			if r.Provider == provider {
				w.Reasoning = append(w.Reasoning, r)
			}
		}
		switch m.Role {
		case Assistant:
			w.Calls = ids.begin(m.Calls())
			for i := range w.Calls {
				w.Calls[i].Function.Name = WireName(w.Calls[i].Function.Name)
			}
		case ToolRole:
			if m.ToolCall != nil {
				w.CallID, w.CallName = ids.answer(*m.ToolCall), WireName(m.ToolCall.Function.Name)
			}
		case System, User:
		}
		out = append(out, w)
	}
	return out
}

// maxWireName is how long providers let the name of a tool be.
const maxWireName = 64

var notInName = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// WireName returns the name of a call in a form that providers take. Names of offered tools have it
// already; a name that a model invented may not, and would have every later request of the chat
// refused.
func WireName(name string) string {
	if name == "" {
		return "unnamed"
	}
	name = notInName.ReplaceAllString(name, "_")
	return name[:min(len(name), maxWireName)]
}

// PromptText returns the prompt inside {"defaultPromptParameter": "…"}, which is how an agent
// without parameters is called, and any other text as it is.
func PromptText(text string) string {
	if !strings.HasPrefix(text, "{") || !strings.Contains(text, promptParameter) {
		return text
	}
	var object map[string]any
	if json.Unmarshal([]byte(text), &object) != nil || len(object) != 1 {
		return text
	}
	if prompt, ok := object[promptParameter].(string); ok && prompt != "" {
		return prompt
	}
	return text
}

// splitImages takes the trailing image lines off a text.
func splitImages(text string) (rest string, images []string) {
	if !strings.Contains(text, imagePrefix) {
		return text, nil
	}
	lines := strings.Split(text, "\n")
	end := len(lines)
	for end > 0 && strings.HasPrefix(lines[end-1], imagePrefix) {
		end--
	}
	return strings.Join(lines[:end], "\n"), lines[end:]
}

// CallID returns the id for a call that has none: "call_" and 8 hex digits of a hash of its name
// and arguments (4.4). Equal calls get equal ids; whoever needs unique ones uses UniqueCallID.
func CallID(f Function) string {
	sum := sha256.Sum256([]byte(f.Name + "\x00" + f.Arguments))
	return "call_" + hex.EncodeToString(sum[:4])
}

// UniqueCallID returns the call's id, or an invented one, with a number behind it if it is used
// already, and marks it as used (Q11). used has the last number given to each id, so that a server
// that numbers each reply's calls from the start costs no search through all of them.
func UniqueCallID(call ToolCall, used map[string]int) string {
	base := call.ID
	if base == "" {
		base = CallID(call.Function)
	}
	id := base
	for used[id] > 0 {
		used[base]++
		id = base + "_" + strconv.Itoa(used[base])
	}
	used[id] = 1
	return id
}

// ObjectArguments returns the arguments of an earlier call as the object that servers need: {} for
// none, and text that is no object inside one, so that the model sees what it wrote.
func ObjectArguments(text string) json.RawMessage {
	if strings.TrimSpace(text) == "" {
		return json.RawMessage("{}")
	}
	if strings.HasPrefix(strings.TrimSpace(text), "{") && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	wrapped, _ := json.Marshal(map[string]string{"arguments": text}) // a map of strings always encodes
	return wrapped
}

// callIDs gives the calls of a conversation unique ids and finds them again for the answers.
type callIDs struct {
	used map[string]int
	open []openCall // calls of the last assistant message that are not answered yet
}

type openCall struct {
	call ToolCall
	id   string
}

func (c *callIDs) begin(calls []ToolCall) []ToolCall {
	c.open = nil
	for i, call := range calls {
		id := UniqueCallID(call, c.used)
		c.open = append(c.open, openCall{call, id})
		calls[i].ID = id
	}
	return calls
}

// answer returns the wire id of the first unanswered call that the answer repeats: by id and
// name, else by id alone.
func (c *callIDs) answer(to ToolCall) string {
	match := func(same func(ToolCall) bool) (string, bool) {
		for i, o := range c.open {
			if same(o.call) {
				c.open = append(c.open[:i:i], c.open[i+1:]...)
				return o.id, true
			}
		}
		return "", false
	}
	if id, ok := match(func(o ToolCall) bool { return o.ID == to.ID && o.Function == to.Function }); ok {
		return id
	}
	if id, ok := match(func(o ToolCall) bool { return o.ID == to.ID }); ok {
		return id
	}
	if to.ID == "" {
		return CallID(to.Function)
	}
	return to.ID
}
