// Reader is the floor that parley's turns are measured against: it asks a model with streaming,
// answers each tool call with the same text, and stores and draws nothing.
//
//	reader BASE_URL
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
)

type call struct {
	Index    int    `json:"index"`
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"`
	Function struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Calls   []call `json:"tool_calls,omitempty"`
	CallID  string `json:"tool_call_id,omitempty"`
}

type chunk struct {
	Choices []struct {
		Delta struct {
			Content string `json:"content"`
			Calls   []call `json:"tool_calls"`
		} `json:"delta"`
	} `json:"choices"`
}

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "reader:", err)
		os.Exit(1)
	}
}

// run asks until a reply has no calls, and prints that reply.
func run(base string) error {
	messages := []message{{Role: "user", Content: "go"}}
	for {
		reply, err := ask(base, messages)
		if err != nil {
			return err
		}
		if len(reply.Calls) == 0 {
			fmt.Println(reply.Content)
			return nil
		}
		messages = append(messages, reply)
		for _, c := range reply.Calls {
			messages = append(messages, message{Role: "tool", Content: "ok", CallID: c.ID})
		}
	}
}

// ask sends one request and reads its stream.
func ask(base string, messages []message) (message, error) {
	body, err := json.Marshal(map[string]any{"model": "test", "stream": true, "messages": messages})
	if err != nil {
		return message{}, err
	}
	resp, err := http.Post(base+"/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		return message{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return message{}, fmt.Errorf("the server answered %s", resp.Status)
	}
	reply := message{Role: "assistant"}
	var text strings.Builder
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok || string(data) == "[DONE]" {
			continue
		}
		var c chunk
		if err := json.Unmarshal(data, &c); err != nil {
			return message{}, err
		}
		for _, choice := range c.Choices {
			text.WriteString(choice.Delta.Content)
			reply.take(choice.Delta.Calls)
		}
	}
	reply.Content = text.String()
	return reply, lines.Err()
}

// take adds pieces of calls.
func (m *message) take(pieces []call) {
	for _, p := range pieces {
		if p.Index == len(m.Calls) {
			m.Calls = append(m.Calls, p)
			continue
		}
		m.Calls[p.Index].Function.Arguments += p.Function.Arguments
	}
}
